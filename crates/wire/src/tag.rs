//! The tag of Tag-and-Forward: the numbers by which fat-tree switches forward a frame without a table
//! (Ishimori, Cerqueira and Abelém, section III-E). The format is in `docs/wire-format.md`.

use core::fmt;
use core::str::FromStr;

use crate::writer::Writer;
use crate::{Error, EtherType};

/// Bytes that a tag of either width adds to a frame.
pub const TAG_LEN: usize = 8;

/// Offset of a tag: after the two addresses.
const AT: usize = 12;

/// The layout of a tag's bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum TagWidth {
    /// The paper's: 32 bits of UP, 13 of DOWN, for fat-trees up to k = 24.
    #[default]
    Narrow,
    /// Weft's own, of the same size: 23 bits of UP, 22 of DOWN, for fat-trees up to k = 202.
    Wide,
}

impl TagWidth {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Narrow, Self::Wide];

    /// Number of bits of DOWN.
    pub const fn down_bits(self) -> u32 {
        match self {
            Self::Narrow => 13,
            Self::Wide => 22,
        }
    }

    /// Number of bits of UP: 48 minus 3 of QUEUE and those of DOWN.
    pub const fn up_bits(self) -> u32 {
        45 - self.down_bits()
    }

    /// The maximum of DOWN.
    pub const fn max_down(self) -> u32 {
        u32::MAX >> (32 - self.down_bits())
    }

    /// The maximum of UP.
    pub const fn max_up(self) -> u32 {
        u32::MAX >> (32 - self.up_bits())
    }

    /// The default EtherType of tagged frames.
    pub const fn ethertype(self) -> EtherType {
        match self {
            Self::Narrow => EtherType::TAG,
            Self::Wide => EtherType::WIDE_TAG,
        }
    }
}

impl fmt::Display for TagWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Narrow => "narrow",
            Self::Wide => "wide",
        })
    }
}

impl FromStr for TagWidth {
    type Err = UnknownWidth;

    fn from_str(text: &str) -> Result<Self, UnknownWidth> {
        match text {
            "narrow" => Ok(Self::Narrow),
            "wide" => Ok(Self::Wide),
            _ => Err(UnknownWidth),
        }
    }
}

/// A text is neither `narrow` nor `wide`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownWidth;

impl fmt::Display for UnknownWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected `narrow` or `wide`")
    }
}

impl core::error::Error for UnknownWidth {}

/// The content of a tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tag {
    /// QID: the queue at every gate by which the frame leaves, 0 to [`Tag::MAX_QUEUE`].
    pub queue: u8,
    /// UP: the gate towards the core, or of an external link; 0 if the frame only goes down.
    pub up: u32,
    /// DOWN: the server's gate; 0 if the frame leaves the fabric through a core.
    pub down: u32,
}

impl Tag {
    /// The maximum queue.
    pub const MAX_QUEUE: u8 = 7;

    /// The bytes of the tag after its EtherType.
    ///
    /// # Errors
    /// [`Error::Range`] for a number too large for its field, [`Error::Missing`] without a gate.
    pub const fn to_bytes(self, width: TagWidth) -> Result<[u8; 6], Error> {
        if self.queue > Self::MAX_QUEUE {
            return Err(Error::Range {
                field: "QID",
                value: self.queue as u32,
                most: Self::MAX_QUEUE as u32,
            });
        }
        if self.up > width.max_up() {
            return Err(Error::Range { field: "UP", value: self.up, most: width.max_up() });
        }
        if self.down > width.max_down() {
            return Err(Error::Range { field: "DOWN", value: self.down, most: width.max_down() });
        }
        if self.up == 0 && self.down == 0 {
            return Err(Error::Missing { field: "gate" });
        }
        let bits = (self.queue as u64) << 45 | (self.up as u64) << width.down_bits() | self.down as u64;
        let [_, _, a, b, c, d, e, f] = bits.to_be_bytes();
        Ok([a, b, c, d, e, f])
    }

    /// Parses the bytes after the EtherType.
    ///
    /// # Errors
    /// [`Error::Missing`] if neither UP nor DOWN is set.
    pub const fn from_bytes(bytes: [u8; 6], width: TagWidth) -> Result<Self, Error> {
        let [a, b, c, d, e, f] = bytes;
        let bits = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let tag = Self {
            queue: (bits >> 45) as u8,
            up: (bits >> width.down_bits()) as u32 & width.max_up(),
            down: bits as u32 & width.max_down(),
        };
        if tag.up == 0 && tag.down == 0 { Err(Error::Missing { field: "gate" }) } else { Ok(tag) }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, up, down } = self;
        write!(f, "up {up} down {down} queue {queue}")
    }
}

/// A validated tagged frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaggedFrame<'a> {
    addresses: &'a [u8; AT],
    tag: Tag,
    original: &'a [u8],
}

impl<'a> TaggedFrame<'a> {
    /// Length of addresses, tag, and inner EtherType.
    const LEAST: usize = AT + TAG_LEN + 2;

    /// Parses `frame`, with `ethertype` as the EtherType of tagged frames. A tag directly follows the
    /// addresses; VLAN tags come after it and are not checked.
    ///
    /// # Errors
    /// [`Error::EtherType`]; [`Error::Short`]; [`Error::Missing`] if the tag has no gate; [`Error::Repeated`]
    /// if another tag follows.
    pub fn parse(frame: &'a [u8], width: TagWidth, ethertype: EtherType) -> Result<Self, Error> {
        let short = |need| Error::Short { need, have: frame.len() };
        let (addresses, behind) = frame.split_first_chunk().ok_or(short(AT + 2))?;
        let (outer, behind) = behind.split_first_chunk().ok_or(short(AT + 2))?;
        let outer = EtherType(u16::from_be_bytes(*outer));
        if outer != ethertype {
            return Err(Error::EtherType(outer));
        }
        let (tag, original) = behind.split_first_chunk().ok_or(short(Self::LEAST))?;
        let inner = original.first_chunk().ok_or(short(Self::LEAST))?;
        let tag = Tag::from_bytes(*tag, width)?;
        if EtherType(u16::from_be_bytes(*inner)) == ethertype {
            return Err(Error::Repeated { field: "tag" });
        }
        Ok(Self { addresses, tag, original })
    }

    /// Its tag.
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// The bytes after the addresses of the untagged frame: VLAN tags, EtherType and payload.
    pub const fn original(&self) -> &'a [u8] {
        self.original
    }
}

/// Writes `original` with a tag; returns its length, [`TAG_LEN`] more than the original's.
///
/// # Errors
/// [`Error::Short`]; those of [`Tag::to_bytes`]; [`Error::Repeated`] if tagged; [`Error::Buffer`].
pub fn push_tag(
    original: &[u8],
    tag: Tag,
    width: TagWidth,
    ethertype: EtherType,
    out: &mut [u8],
) -> Result<usize, Error> {
    let short = Error::Short { need: AT + 2, have: original.len() };
    let (addresses, behind) = original.split_first_chunk::<AT>().ok_or(short)?;
    let inner = behind.first_chunk().ok_or(short)?;
    if EtherType(u16::from_be_bytes(*inner)) == ethertype {
        return Err(Error::Repeated { field: "tag" });
    }
    let bytes = tag.to_bytes(width)?;
    let need = original.len() + TAG_LEN;
    let mut writer = Writer::new(out, need)?;
    writer.put(addresses);
    writer.put(&ethertype.0.to_be_bytes());
    writer.put(&bytes);
    writer.put(behind);
    Ok(need)
}

/// Writes a tagged frame without its tag, byte for byte as before tagging; returns its length.
///
/// # Errors
/// Those of [`TaggedFrame::parse`]; [`Error::Buffer`].
pub fn pop_tag(frame: &[u8], width: TagWidth, ethertype: EtherType, out: &mut [u8]) -> Result<usize, Error> {
    let tagged = TaggedFrame::parse(frame, width, ethertype)?;
    let need = AT + tagged.original.len();
    let mut writer = Writer::new(out, need)?;
    writer.put(tagged.addresses);
    writer.put(tagged.original);
    Ok(need)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    /// An IPv4 frame with `len` bytes of payload.
    fn frame(len: usize) -> ([u8; 40], usize) {
        let mut frame = [0xa5; 40];
        frame[12..14].copy_from_slice(&[8, 0]);
        (frame, 14 + len)
    }

    #[test]
    fn each_field_has_its_bits_and_no_other() {
        let tag = |queue, up, down| Tag { queue, up, down };
        let (narrow, wide) = (TagWidth::Narrow, TagWidth::Wide);
        for (width, tag, bytes) in [
            (narrow, tag(7, 0, 1), [0xe0, 0, 0, 0, 0, 1]),
            (narrow, tag(0, u32::MAX, 0), [0x1f, 0xff, 0xff, 0xff, 0xe0, 0]),
            (narrow, tag(0, 1, 0), [0, 0, 0, 0, 0x20, 0]),
            (narrow, tag(0, 0, 8191), [0, 0, 0, 0, 0x1f, 0xff]),
            // The paper's example: es1 to es8 over cs2, in queue 1.
            (narrow, tag(1, 48, 30), [0x20, 0, 0, 0x06, 0, 0x1e]),
            (wide, tag(7, 0, 1), [0xe0, 0, 0, 0, 0, 1]),
            (wide, tag(0, (1 << 23) - 1, 0), [0x1f, 0xff, 0xff, 0xc0, 0, 0]),
            (wide, tag(0, 0, (1 << 22) - 1), [0, 0, 0, 0x3f, 0xff, 0xff]),
        ] {
            assert_eq!(tag.to_bytes(width), Ok(bytes), "{width} {tag}");
            assert_eq!(Tag::from_bytes(bytes, width), Ok(tag));
        }
    }

    #[test]
    fn a_number_that_does_not_fit_says_what_does() {
        let tag = Tag { queue: 0, up: 1, down: 1 };
        let refused = |tag: Tag, width| tag.to_bytes(width).unwrap_err();
        for (tag, width, field, value, most) in [
            (Tag { queue: 8, ..tag }, TagWidth::Narrow, "QID", 8, 7),
            (Tag { down: 8192, ..tag }, TagWidth::Narrow, "DOWN", 8192, 8191),
            (Tag { down: 1 << 22, ..tag }, TagWidth::Wide, "DOWN", 1 << 22, (1 << 22) - 1),
            (Tag { up: 1 << 23, ..tag }, TagWidth::Wide, "UP", 1 << 23, (1 << 23) - 1),
        ] {
            assert_eq!(refused(tag, width), Error::Range { field, value, most });
        }
        let none = Tag { queue: 3, up: 0, down: 0 };
        assert_eq!(refused(none, TagWidth::Narrow), Error::Missing { field: "gate" });
        assert_eq!(
            Tag::from_bytes([0x60, 0, 0, 0, 0, 0], TagWidth::Wide),
            Err(Error::Missing { field: "gate" })
        );
    }

    #[test]
    fn what_is_cut_short_is_refused_with_the_bytes_it_needs() {
        let (original, len) = frame(0);
        let (tag, ethertype) = (Tag { queue: 1, up: 48, down: 30 }, EtherType::TAG);
        let mut out = [0xa5; 40];
        assert_eq!(push_tag(&original[..len], tag, TagWidth::Narrow, ethertype, &mut out), Ok(22));
        assert_eq!(out[22..], [0xa5; 18]);
        for have in 0..22 {
            let need = if have < 14 { 14 } else { 22 };
            let read = TaggedFrame::parse(&out[..have], TagWidth::Narrow, ethertype);
            assert_eq!(read.unwrap_err(), Error::Short { need, have });
        }
        assert_eq!(
            push_tag(&original[..13], tag, TagWidth::Narrow, ethertype, &mut out),
            Err(Error::Short { need: 14, have: 13 })
        );
        assert_eq!(
            push_tag(&original[..len], tag, TagWidth::Narrow, ethertype, &mut [0; 21]),
            Err(Error::Buffer { need: 22, have: 21 })
        );
    }

    #[test]
    fn a_frame_has_one_tag() {
        let (original, len) = frame(10);
        let (tag, ethertype) = (Tag { queue: 0, up: 0, down: 4 }, EtherType::TAG);
        let mut once = [0; 40];
        let len = push_tag(&original[..len], tag, TagWidth::Narrow, ethertype, &mut once).unwrap();
        let again = push_tag(&once[..len], tag, TagWidth::Narrow, ethertype, &mut [0; 60]);
        assert_eq!(again, Err(Error::Repeated { field: "tag" }));
        once[20..22].copy_from_slice(&ethertype.0.to_be_bytes());
        let read = TaggedFrame::parse(&once[..len], TagWidth::Narrow, ethertype);
        assert_eq!(read, Err(Error::Repeated { field: "tag" }));
        // The other width is a different protocol.
        let read = TaggedFrame::parse(&once[..len], TagWidth::Wide, EtherType::WIDE_TAG);
        assert_eq!(read, Err(Error::EtherType(ethertype)));
    }

    #[test]
    fn widths_have_names() {
        for width in TagWidth::ALL {
            assert_eq!(width.to_string().parse(), Ok(width));
            assert_eq!(width.up_bits() + width.down_bits(), 45);
        }
        assert_eq!("broad".parse::<TagWidth>(), Err(UnknownWidth));
    }
}
