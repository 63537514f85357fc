//! Thrift's compact protocol, used for Parquet's metadata, parsed without trusting any length
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>).

/// Maximum nesting of structures, more than Parquet uses.
const DEPTH: usize = 32;

const STOP: u8 = 0;
const STRUCT: u8 = 12;

/// A parser of the remaining bytes.
pub struct Compact<'a> {
    rest: &'a [u8],
    path: Vec<i16>,
}

impl<'a> Compact<'a> {
    /// A parser of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, path: Vec::new() }
    }

    /// Walks over one structure and passes every integer in it to `see`, with the field numbers on the
    /// path to it; the entries of a list have the path of the list. Returns the number of bytes left;
    /// `None` if the bytes are not a structure or a length exceeds them.
    pub fn structure(mut self, see: &mut impl FnMut(&[i16], i64)) -> Option<usize> {
        self.value(STRUCT, see)?;
        Some(self.rest.len())
    }

    fn value(&mut self, kind: u8, see: &mut impl FnMut(&[i16], i64)) -> Option<()> {
        match kind {
            // A boolean or a byte. A boolean field has its value in the field's type and does not get here.
            1..=3 => self.take(1).map(drop),
            4..=6 => {
                let number = self.varint()?;
                see(&self.path, (number >> 1) as i64 ^ -((number & 1) as i64));
                Some(())
            }
            7 => self.take(8).map(drop),
            8 => {
                let length = self.length()?;
                self.take(length).map(drop)
            }
            9 => self.list(see),
            STRUCT => self.fields(see),
            // Parquet has neither sets nor maps.
            _ => None,
        }
    }

    fn list(&mut self, see: &mut impl FnMut(&[i16], i64)) -> Option<()> {
        let head = self.take(1)?[0];
        // An entry takes at least one byte.
        let count = if head >> 4 == 15 { self.length()? } else { usize::from(head >> 4) };
        (0..count).try_for_each(|_| self.value(head & 15, see))
    }

    fn fields(&mut self, see: &mut impl FnMut(&[i16], i64)) -> Option<()> {
        if self.path.len() == DEPTH {
            return None;
        }
        self.path.push(0);
        loop {
            let head = self.take(1)?[0];
            let kind = head & 15;
            if kind == STOP {
                break;
            }
            let before = *self.path.last()?;
            let field = match head >> 4 {
                0 => {
                    let number = self.varint()?;
                    i16::try_from((number >> 1) as i64 ^ -((number & 1) as i64)).ok()?
                }
                step => before.checked_add(i16::from(step))?,
            };
            *self.path.last_mut()? = field;
            if kind > 2 {
                self.value(kind, see)?;
            }
        }
        self.path.pop();
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 127).wrapping_shl(shift);
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// A length that does not exceed the remaining bytes.
    fn length(&mut self) -> Option<usize> {
        let length = usize::try_from(self.varint()?).ok()?;
        (length <= self.rest.len()).then_some(length)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = Vec<(Vec<i16>, i64)>;

    fn walk(bytes: &[u8]) -> Option<(Seen, usize)> {
        let mut seen = Vec::new();
        let left = Compact::new(bytes).structure(&mut |path, number| seen.push((path.to_vec(), number)))?;
        Some((seen, left))
    }

    #[test]
    fn integers_are_seen_with_their_path_and_the_rest_is_left() {
        // 1: true, 2: 150, 3: "ab", 4: [{1: -1}, {1: 2}], then two bytes that belong to something else.
        let bytes =
            [0x11, 0x15, 0xac, 0x02, 0x18, 2, b'a', b'b', 0x19, 0x2c, 0x15, 1, 0, 0x15, 4, 0, 0, 9, 9];
        let seen = vec![(vec![2], 150), (vec![4, 1], -1), (vec![4, 1], 2)];
        assert_eq!(walk(&bytes), Some((seen, 2)));
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused() {
        assert_eq!(walk(&[0x18, 0xff, 0xff, 0xff, 0xff, 7, 0]), None, "a text");
        assert_eq!(walk(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 7, 0]), None, "a list");
        assert_eq!(walk(&[0x1c; 100]), None, "structures without end");
    }
}
