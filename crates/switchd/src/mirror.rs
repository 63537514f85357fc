//! [`mirrored!`]: structures of `bpf/*.h`, declared again in Rust. The tests compare both with clang: every field by
//! name, offset and size, every constant, and the key and value of every map.

/// Declares mirrors of the named structures of `bpf/*.h`, and `MIRRORED`, the list of them. `.. bytes` after one
/// means that the C structure continues with a field of that name, which the Rust one omits.
macro_rules! mirrored {
    ($($(#[$about:meta])* $vis:vis struct $name:ident = $c:literal {
        $($(#[$says:meta])* $field_vis:vis $field:ident: $type:ty,)*
    } $(.. $tail:ident)?)*) => {
        $(
            $(#[$about])*
            #[repr(C)]
            $vis struct $name { $($(#[$says])* $field_vis $field: $type,)* }

            const _: () = assert!(size_of::<$name>() == 0 $(+ size_of::<$type>())*, "padding");

            // SAFETY: integers and arrays of them without padding in between; any bytes are a value.
            unsafe impl aya::Pod for $name {}
        )*

        #[cfg(test)]
        pub(crate) const MIRRORED: &[$crate::mirror::Mirrored] = &[$($crate::mirror::Mirrored {
            c: $c,
            size: size_of::<$name>(),
            fields: &[$((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$type>())),*],
            tail: &[$(stringify!($tail))?],
        }),*];
    };
}
pub(crate) use mirrored;

/// The Rust layout of a structure.
#[cfg(test)]
pub(crate) struct Mirrored {
    pub c: &'static str,
    pub size: usize,
    /// Name, offset and size.
    pub fields: &'static [(&'static str, usize, usize)],
    /// The trailing field that only C has.
    pub tail: &'static [&'static str],
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use aya_obj::Object;
    use weft_fabric::gates::Direction;
    use weft_switching::arp_path::FloodKind;
    use weft_switching::exploration::Exploration;
    use weft_switching::hello::Way;
    use weft_switching::port_limits::FLOODED_AT_ONCE;
    use weft_switching::snooping::{ANSWER, Family};
    use weft_switching::tag_forward::Limits;
    use weft_switching::tfe::Classifier;
    use weft_switching::{Kind, arp_path, path_table};
    use weft_units::Bytes;
    use weft_wire::{EtherType, PathType, TAG_LEN};

    use super::*;
    use crate::clang::clang;
    use crate::event::EventKind;
    use crate::layout::{self, Settings};
    use crate::tags::gates::{FLAGS, NO_GATE};
    use crate::tags::layout as tags;
    use crate::{Mode, Reason, counters};

    /// Headers that together include all structures and constants.
    const HEADERS: [&str; 6] = ["tfe.h", "flooding.h", "routes.h", "steer.h", "tag_forward.h", "own.h"];

    /// Maps that Rust opens, with the key and value types that Rust assumes; ring buffers have neither.
    const MAPS: [(&str, &str, &str); 31] = [
        ("carried", "struct flow", "struct load"),
        ("counters", "__u32", "struct counters"),
        ("current", "__u32", "__u32"),
        ("floods", "struct flood_key", "struct flood"),
        ("flows_v4", "struct key_v4", "struct rule"),
        ("flows_v6", "struct key_v6", "struct rule"),
        ("gates", "__u32", "struct gates"),
        ("groups", "__u32", "struct group"),
        ("interfaces", "__u32", "__u32"),
        ("kinds", "__u32", "struct kinds"),
        ("limits", "__u32", "struct limits"),
        ("locked", "struct flow", "struct path"),
        ("longest", "__u32", "__u32"),
        ("members", "__u64", "struct members"),
        ("misses", "", ""),
        ("moves", "__u64", "struct move"),
        ("own_macs", "__u64", "__u32"),
        ("paths", "struct flow", "struct path"),
        ("peers", "__u32", "struct peer"),
        ("port_counters", "__u32", "struct port_counters"),
        ("ports", "__u32", "struct port"),
        ("repairs", "__u64", "__u64"),
        ("routes", "__u64", "struct route"),
        ("routers", "__u32", "struct members"),
        ("sent", "", ""),
        ("shares", "__u32", "__u64"),
        ("stations", "__u64", "struct station"),
        ("tag_counters", "__u32", "struct tag_counters"),
        ("test", "__u32", "struct test"),
        ("trace", "", ""),
        ("tracing", "__u32", "__u32"),
    ];

    /// Maps used only by programs.
    const INNER: [&str; 3] = ["frames", "order", "owns"];

    /// `PathRequest` as `PATH_REQUEST`, `flow locked` as `FLOW_LOCKED`.
    fn upper(name: &str) -> String {
        let mut upper = String::new();
        for (at, letter) in name.char_indices() {
            if at > 0 && letter.is_uppercase() {
                upper.push('_');
            }
            upper.push(if matches!(letter, ' ' | '-') { '_' } else { letter.to_ascii_uppercase() });
        }
        upper
    }

    /// The constants of an enumeration, by variant name.
    fn named<T: Debug>(
        prefix: &str,
        all: impl IntoIterator<Item = T>,
        number: impl Fn(T) -> u64,
    ) -> Vec<(String, u64)> {
        let constant = |one: T| (format!("{prefix}{}", upper(&format!("{one:?}"))), number(one));
        all.into_iter().map(constant).collect()
    }

    /// Names of C constants, with the values that Rust assumes.
    fn constants() -> Vec<(String, u64)> {
        let limits = Limits::default();
        let config = Exploration::default();
        let classifier = |of: Classifier| Settings::new(&config).classifying(&of).classifier.into();
        let mut all: Vec<(String, u64)> = [
            ("MAX_PORTS", layout::MAX_PORTS.into()),
            ("COPY_BYTES", layout::COPY_BYTES as u64),
            ("STATE_BITS", layout::STATE_BITS.into()),
            ("STARTED_HERE", layout::STARTED_HERE),
            ("MAX_KINDS", tags::MAX_KINDS as u64),
            ("MAX_KINDS", limits.kinds as u64),
            ("MAX_WAYS", tags::MAX_WAYS as u64),
            ("MAX_WAYS", limits.ways as u64),
            ("MAX_RULES", limits.rules as u64),
            ("MAX_GROUPS", limits.groups as u64),
            ("GATE_BITS", tags::GATE_BITS.into()),
            ("GATE_TABLES", tags::TABLES.into()),
            ("KIND_TABLES", tags::TABLES.into()),
            ("CURRENT_GATES", crate::tags::Turns::GATES.which.into()),
            ("CURRENT_KINDS", crate::tags::Turns::KINDS.which.into()),
            ("NO_GATE", NO_GATE.into()),
            ("PLAIN", FLAGS.iter().rposition(Option::is_none).unwrap_or_default() as u64),
            ("BY_PORTS", classifier(Classifier::Ports(1, 2))),
            ("BY_DSCP", classifier(Classifier::Dscp(1))),
            ("BY_BYTES", classifier(Classifier::Auto(Bytes(1)))),
            ("LOCKED", arp_path::LOCKED.into()),
            ("LEARNT", arp_path::LEARNT.into()),
            ("ATTACHED", arp_path::ATTACHED.into()),
            ("PATH_LOCKED", path_table::LOCKED.into()),
            ("PATH_CLOSING", path_table::CLOSING.into()),
            ("PATH_CONFIRMED", path_table::CONFIRMED.into()),
            ("UNKNOWN_DESTINATION", FloodKind::Unknown as u64),
            ("LOCATION", FloodKind::Location as u64),
            ("TOGETHER", arp_path::TOGETHER.ps() / 1_000),
            ("ETHERTYPE_ARP", EtherType::ARP.0.into()),
            ("ETHERTYPE_IPV4", EtherType::IPV4.0.into()),
            ("ETHERTYPE_IPV6", EtherType::IPV6.0.into()),
            ("ETHERTYPE_VLAN", EtherType::VLAN.0.into()),
            ("ETHERTYPE_SERVICE_VLAN", EtherType::SERVICE_VLAN.0.into()),
            ("TF_TAG_LEN", TAG_LEN as u64),
            ("SETTLE", arp_path::SETTLE.ps() / 1_000),
            ("FLOODED_AT_ONCE", FLOODED_AT_ONCE.ps() / 1_000),
            ("ANSWER", ANSWER.ps() / 1_000),
            ("FAMILY_V4", Family::V4 as u64),
            ("FAMILY_V6", Family::V6 as u64),
            ("REASONS", Reason::all().count() as u64),
            ("FLOW_REQUEST", PathType::RecoveryRequest as u64),
            ("FLOW_REPLY", PathType::RecoveryReply as u64),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        all.extend(Reason::all().enumerate().map(|(at, reason)| (upper(reason.name()), at as u64)));
        all.extend(EventKind::ALL.map(|what| (upper(what.name()), what as u64)));
        let frames = [Kind::Tcp, Kind::Other, Kind::ArpRequest, Kind::ArpReply, Kind::Hello];
        let paths = [Kind::PathRequest, Kind::PathReply, Kind::PathFail];
        let recovery = [Kind::RecoveryRequest, Kind::RecoveryReply];
        all.extend(named("", frames.into_iter().chain(paths).chain(recovery), |kind| kind as u64));
        all.extend(named("", Direction::ALL, |direction| direction as u64));
        let ways = [Way::Up, Way::Down, Way::Level, Way::Host, Way::Unknown];
        all.extend(named("WAY_", ways, |way| way as u64));
        all.extend(named("", [PathType::Request, PathType::Reply, PathType::Fail], |kind| kind as u64));
        let flags = FLAGS.iter().zip(0..).filter_map(|(flag, at)| Some((flag.as_ref()?, at)));
        all.extend(flags.flat_map(|(flag, at)| named("", [flag], |_| at)));
        all
    }

    /// Everything that both sides must agree on, as C assertions.
    fn assertions(structures: &[&Mirrored]) -> String {
        let mut text = String::new();
        let mut claim = |holds: String| text.push_str(&format!("_Static_assert({holds}, {holds:?});\n"));
        for Mirrored { c, size, fields, tail } in structures {
            for (field, offset, bytes) in *fields {
                claim(format!("__builtin_offsetof(struct {c}, {field}) == {offset}"));
                claim(format!("sizeof(((struct {c} *)0)->{field}) == {bytes}"));
            }
            match tail.first() {
                Some(field) => claim(format!("__builtin_offsetof(struct {c}, {field}) == {size}")),
                None => claim(format!("sizeof(struct {c}) == {size}")),
            }
        }
        for (name, value) in constants() {
            claim(format!("{name} == {value}"));
        }
        for (map, key, value) in MAPS.iter().filter(|(_, key, _)| !key.is_empty()) {
            claim(format!("__builtin_types_compatible_p(__typeof__(*weft_{map}.key), {key})"));
            claim(format!("__builtin_types_compatible_p(__typeof__(*weft_{map}.value), {value})"));
        }
        text
    }

    /// Clang's errors for assertions after the headers.
    fn against(assertions: &str) -> String {
        let bpf = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bpf");
        let headers: String = HEADERS.iter().map(|header| format!("#include \"{header}\"\n")).collect();
        let machine = format!("/usr/include/{}-linux-gnu", std::env::consts::ARCH);
        let arguments = ["-mcpu=v3", "-idirafter", &machine, "-fsyntax-only", "-ferror-limit=0", "-I", bpf];
        let output = clang(&arguments, &format!("{headers}{assertions}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), said.is_empty(), "{said}");
        said
    }

    fn structures() -> Vec<&'static Mirrored> {
        [layout::MIRRORED, tags::MIRRORED, counters::MIRRORED].into_iter().flatten().collect()
    }

    #[test]
    fn structures_constants_and_maps_are_as_the_headers_have_them() {
        assert_eq!(against(&assertions(&structures())), "");
    }

    #[test]
    fn a_field_that_has_moved_or_has_another_size_is_named() {
        let moved = Mirrored { c: "flow", size: 16, fields: &[("peer", 0, 8), ("host", 0, 4)], tail: &[] };
        let said = against(&assertions(&[&moved]));
        for wrong in ["__builtin_offsetof(struct flow, peer) == 0", "sizeof(((struct flow *)0)->host) == 4"] {
            assert!(said.contains(wrong), "{said}");
        }
        assert_eq!(said.matches("error: ").count(), 2, "{said}");
    }

    #[test]
    fn every_map_of_a_program_is_compared_or_used_by_programs_alone() {
        let mut known: Vec<&str> = MAPS.iter().map(|(map, ..)| *map).chain(INNER).collect();
        known.sort_unstable();
        let mut found: Vec<String> = Vec::new();
        for mode in Mode::all() {
            let object = Object::parse(mode.object()).expect("our own");
            found.extend(
                object.maps.keys().filter_map(|map| Some(crate::names::map_of_program(map)?.to_owned())),
            );
        }
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, known);
    }
}
