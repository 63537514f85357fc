//! [`Hello`]: the supported versions of each side (section 7.5.1).

use super::VERSION;
use super::padding::padding;
use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The type of the version bitmap element.
const VERSION_BITMAP: u16 = 1;
/// Length of an element before its content.
const ELEMENT_LEN: usize = 4;

/// The first message of each side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hello {
    /// The sender's highest version, from the header.
    pub version: u8,
    /// The sender's versions 0 to 31, one bit each, if given.
    pub bitmap: Option<u32>,
}

impl Hello {
    /// OpenFlow 1.3 and no other.
    pub const ONLY_1_3: Self = Self { version: VERSION, bitmap: Some(1 << VERSION) };

    /// Whether its sender supports a version: by the bitmap, or any up to its highest.
    pub const fn speaks(&self, version: u8) -> bool {
        match self.bitmap {
            Some(bitmap) => version < 32 && bitmap >> version & 1 == 1,
            None => version <= self.version,
        }
    }

    pub(crate) fn encoded_len(&self) -> usize {
        if self.bitmap.is_some() { ELEMENT_LEN + 4 } else { 0 }
    }

    /// Reads the message after its header, which had `version`.
    pub(crate) fn read(version: u8, reader: &mut Reader) -> Result<Self, Error> {
        let mut bitmap = None;
        while !reader.is_empty() {
            let (kind, len) = (reader.u16()?, usize::from(reader.u16()?));
            let least = Error::HeaderLength { least: ELEMENT_LEN, given: len };
            let mut element = reader.part(len.checked_sub(ELEMENT_LEN).ok_or(least)?)?;
            reader.skip(padding(len).min(reader.rest().len()))?;
            if kind == VERSION_BITMAP && bitmap.replace(element.u32()?).is_some() {
                return Err(Error::Repeated { field: "versions" });
            }
        }
        Ok(Self { version, bitmap })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        if let Some(bitmap) = self.bitmap {
            writer.put(&VERSION_BITMAP.to_be_bytes());
            writer.put(&(self.encoded_len() as u16).to_be_bytes());
            writer.put(&bitmap.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_of_a_bitmap_count_before_the_highest() {
        for (version, bitmap, spoken) in [
            (4, None, [true, true, false]),
            (4, Some(1 << 4), [false, true, false]),
            (6, Some(1 << 1 | 1 << 6), [true, false, true]),
            (1, None, [true, false, false]),
        ] {
            let hello = Hello { version, bitmap };
            assert_eq!([1, 4, 6].map(|version| hello.speaks(version)), spoken, "{hello:?}");
        }
        assert!(!Hello { version: 255, bitmap: Some(u32::MAX) }.speaks(32));
    }

    #[test]
    fn elements_are_padded_and_those_not_known_left_out() {
        let elements = [0, 9, 0, 6, 1, 2, 0, 0, 0, 1, 0, 12, 0, 0, 0, 0x12, 0, 0, 0, 1, 0, 0, 0, 0];
        let read = |len| Hello::read(4, &mut Reader::new(&elements[..len]));
        assert_eq!(read(24), Ok(Hello { version: 4, bitmap: Some(0x12) }));
        // The last element's padding may be missing.
        assert_eq!(read(20), read(24));
        assert_eq!(read(6), Ok(Hello { version: 4, bitmap: None }));
        assert_eq!(read(19), Err(Error::Short { need: 20, have: 19 }));
        let endless = [0, 0, 0, 0, 0, 0, 0, 0];
        let least = Error::HeaderLength { least: 4, given: 0 };
        assert_eq!(Hello::read(4, &mut Reader::new(&endless)), Err(least));
    }
}
