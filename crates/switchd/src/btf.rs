//! The layouts of maps, from the type information that the compiler puts into an object (BTF,
//! Documentation/bpf/btf.rst of the kernel): names, types and offsets of all fields of keys and values. Two programs
//! share a map only if its layout is the same, not just its sizes.

use std::collections::BTreeMap;

use aya_obj::{Map, Object};

use crate::error::PlaneError;

/// Version of the meaning of map contents beyond their layout: numbers of classes, ways and kinds, clocks of times,
/// byte order of addresses. Must be incremented when any of these changes while the structures stay the same.
const MEANING: u32 = 1;
/// Maximum nesting depth of types.
const DEEPEST: u32 = 16;

/// The layout of each map of an object, as a hash of its full description. It does not cover the settings, which are
/// read-only data of each program (`.rodata`) and never shared. Entries store when they expire; where a program derives
/// other values from that with its own lifetimes and rates (the age of a flood, the level of a bucket), these are wrong
/// after a change of settings until the entries have expired, a matter of seconds.
///
/// # Errors
/// [`PlaneError::Missing`] if the object has no type information for a map.
pub fn layouts(object: &Object) -> Result<BTreeMap<String, String>, PlaneError> {
    let types = object.btf.as_ref().map(aya_obj::btf::Btf::to_bytes);
    let types = types.as_deref().and_then(Types::parse).ok_or(PlaneError::Missing("types of maps"))?;
    let layout = |(name, map): (&String, &Map)| {
        let Map::Btf(btf) = map else { return None };
        let (key, value) = (btf.def.btf_key_type_id, btf.def.btf_value_type_id);
        let described = types.describe(key, DEEPEST).zip(types.describe(value, DEEPEST));
        let described = described.map(|(key, value)| {
            hash(&format!("{MEANING} type {} flags {} {key} -> {value}", map.map_type(), map.map_flags()))
        });
        Some(described.map(|hash| (name.clone(), hash)).ok_or(PlaneError::Missing("types of a map")))
    };
    object.maps.iter().filter_map(layout).collect()
}

/// FNV-1a, 128 bits, in hexadecimal: the same for all builds and machines.
fn hash(text: &str) -> String {
    let (basis, prime) =
        (0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, 0x0000_0000_0100_0000_0000_0000_0000_013b);
    let hash = text.bytes().fold(basis, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(prime));
    format!("{hash:032x}")
}

/// Kinds of types, as numbered in `include/uapi/linux/btf.h`.
mod kind {
    pub const INT: u32 = 1;
    pub const PTR: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const STRUCT: u32 = 4;
    pub const UNION: u32 = 5;
    pub const ENUM: u32 = 6;
    pub const TYPEDEF: u32 = 8;
    pub const VOLATILE: u32 = 9;
    pub const CONST: u32 = 10;
    pub const RESTRICT: u32 = 11;
    pub const FUNC_PROTO: u32 = 13;
    pub const VAR: u32 = 14;
    pub const DATASEC: u32 = 15;
    pub const DECL_TAG: u32 = 17;
    pub const TYPE_TAG: u32 = 18;
    pub const ENUM64: u32 = 19;
}

/// One type: `struct btf_type`, and the data that follows it.
struct Type<'a> {
    name: u32,
    kind: u32,
    /// The number of members.
    count: usize,
    /// The size in bytes, or the id of another type.
    other: u32,
    more: &'a [u8],
}

/// All types of an object, by id.
struct Types<'a> {
    types: Vec<Type<'a>>,
    strings: &'a [u8],
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl<'a> Types<'a> {
    /// Parses a `.BTF` section in the byte order of this machine.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let part = |offset: usize| {
            let start = number(bytes, 4)? as usize + number(bytes, offset)? as usize;
            bytes.get(start..start + number(bytes, offset + 4)? as usize)
        };
        let (mut rest, strings) = (part(8)?, part(16)?);
        // Id 0 is void.
        let mut types = vec![Type { name: 0, kind: 0, count: 0, other: 0, more: &[] }];
        while !rest.is_empty() {
            let info = number(rest, 4)?;
            let (kind, count) = (info >> 24 & 0x1f, (info & 0xffff) as usize);
            let length = match kind {
                kind::INT | kind::VAR | kind::DECL_TAG => 4,
                kind::ARRAY => 12,
                kind::STRUCT | kind::UNION | kind::DATASEC | kind::ENUM64 => count * 12,
                kind::ENUM | kind::FUNC_PROTO => count * 8,
                _ => 0,
            };
            let more = rest.get(12..12 + length)?;
            types.push(Type { name: number(rest, 0)?, kind, count, other: number(rest, 8)?, more });
            rest = &rest[12 + length..];
        }
        Some(Self { types, strings })
    }

    fn text(&self, at: u32) -> Option<&'a str> {
        let text = self.strings.get(at as usize..)?;
        std::str::from_utf8(&text[..text.iter().position(|byte| *byte == 0)?]).ok()
    }

    /// A type with all its members. Names of structures are left out: only their contents count.
    fn describe(&self, id: u32, deep: u32) -> Option<String> {
        let ty = self.types.get(id as usize)?;
        let deeper = |id: u32| self.describe(id, deep.checked_sub(1)?);
        Some(match ty.kind {
            // Size and signedness; the name depends on the machine.
            kind::INT => format!("i{}.{:x}", ty.other, number(ty.more, 0)? >> 24),
            kind::ARRAY => format!("[{}]{}", number(ty.more, 8)?, deeper(number(ty.more, 0)?)?),
            kind::STRUCT | kind::UNION => {
                let member = |at: usize| {
                    let (name, id, place) =
                        (number(ty.more, at)?, number(ty.more, at + 4)?, number(ty.more, at + 8)?);
                    Some(format!("{}@{place}:{}", self.text(name)?, deeper(id)?))
                };
                let members = (0..ty.count).map(|number| member(number * 12)).collect::<Option<Vec<_>>>()?;
                format!("{{{}}}{}", members.join(","), ty.other)
            }
            kind::ENUM | kind::ENUM64 => {
                let size = if ty.kind == kind::ENUM { 8 } else { 12 };
                let value =
                    |value: &[u8]| Some(format!("{}={:x?}", self.text(number(value, 0)?)?, &value[4..]));
                let values = ty.more.chunks_exact(size).map(value).collect::<Option<Vec<_>>>()?;
                format!("e{}({})", ty.other, values.join(","))
            }
            // `__be32` is not `__u32`.
            kind::TYPEDEF => format!("{}={}", self.text(ty.name)?, deeper(ty.other)?),
            kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG => deeper(ty.other)?,
            kind::PTR => "pointer".to_owned(),
            0 => "nothing".to_owned(),
            other => format!("kind {other}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;
    use crate::clang::clang;

    /// The layout of a map whose values are the structure, as clang compiles it.
    fn layout(structure: &str) -> String {
        let source = format!(
            "typedef unsigned int __u32; typedef __u32 __be32; typedef unsigned long long __u64;\n\
             typedef unsigned short __u16; enum way {{ UP, DOWN }};\n{structure}\n\
             struct {{ int (*type)[1]; int (*max_entries)[4]; __u64 *key; struct value *value; }} \
             map __attribute__((section(\".maps\"), used));"
        );
        let output = clang(&["-O2", "-g", "-c", "-o", "/dev/stdout"], &source);
        assert!(output.status.success(), "{source}");
        let object = Object::parse(&output.stdout).expect("an object");
        layouts(&object).expect("types")["map"].clone()
    }

    #[test]
    fn fields_that_swap_their_meaning_are_another_layout_and_comments_and_names_of_types_are_not() {
        let first = layout("struct value { __u64 expiry; __u32 lock; __u32 learnt; __u16 ports[4]; };");
        let same = [
            "struct value { __u64 expiry; /* when */ __u32 lock; __u32 learnt; __u16 ports[4]; };",
            "struct other { int x; }; struct value { __u64 expiry; __u32 lock, learnt; __u16 ports[4]; };",
        ];
        for source in same {
            assert_eq!(layout(source), first, "{source}");
        }
        let others = [
            "struct value { __u64 expiry; __u32 learnt; __u32 lock; __u16 ports[4]; };",
            "struct value { __u64 expiry; __be32 lock; __u32 learnt; __u16 ports[4]; };",
            "struct value { __u64 expiry; int lock; __u32 learnt; __u16 ports[4]; };",
            "struct value { __u64 expiry; __u32 lock; __u32 learnt; __u32 ports[2]; };",
            "struct value { __u64 expiry; struct { __u32 lock; __u32 learnt; } times; __u16 ports[4]; };",
            "struct value { __u64 expiry; __u32 lock; enum way learnt; __u16 ports[4]; };",
            "struct value { __u64 expiry; __u32 lock; __u32 learnt; __u16 ports[3]; __u16 reserved; };",
        ];
        let mut seen = vec![first];
        for source in others {
            let other = layout(source);
            assert!(!seen.contains(&other), "{source}");
            seen.push(other);
        }
    }

    #[test]
    fn every_map_has_a_layout_and_the_same_one_in_all_programs() {
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        for mode in Mode::all() {
            let object = Object::parse(mode.object()).expect("our own");
            let layouts = layouts(&object).expect("types");
            for name in object.maps.keys().filter(|name| !name.starts_with('.')) {
                let layout = layouts.get(name).unwrap_or_else(|| panic!("{name} has no layout"));
                assert_eq!(
                    known.entry(name.clone()).or_insert_with(|| layout.clone()),
                    layout,
                    "{mode:?}: {name}"
                );
            }
        }
        assert!(known.len() > 15, "{known:?}");
    }
}
