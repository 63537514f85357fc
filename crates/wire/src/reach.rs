//! [`Reach`]: which stations the sender of a Hello does not reach.

use crate::{Error, Mac};

/// Length of the announcement before its list.
const HEAD: usize = 14;
/// Length of an item of the list.
const ITEM: usize = 12;

/// Two addresses: all stations from the first to the last.
pub type MacRange = [[u8; 6]; 2];

/// Of the stations from `first` to `last`, the sender of a Hello reaches all but those in `unreached`. Addresses are in
/// the order of [`Mac::bits`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reach<'a> {
    /// The first station that it is about.
    pub first: Mac,
    /// The last station that it is about.
    pub last: Mac,
    /// The stations that the sender does not reach, ascending.
    pub unreached: &'a [MacRange],
}

impl<'a> Reach<'a> {
    /// The most ranges of one announcement: it fits the smallest MTU of a port.
    pub const MOST: usize = 40;

    /// Its length.
    pub(crate) const fn len(&self) -> usize {
        HEAD + ITEM * self.unreached.len()
    }

    /// Parses it at the beginning of `bytes`, `before` bytes behind the start of the payload; returns it, its bytes and
    /// the rest.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub(crate) fn parse(bytes: &'a [u8], before: usize) -> Result<(Self, &'a [u8], &'a [u8]), Error> {
        let short = |need: usize| Error::Short { need: before + need, have: before + bytes.len() };
        let (head, behind) = bytes.split_first_chunk::<HEAD>().ok_or(short(HEAD))?;
        let [a, b, c, d, e, f, g, h, i, j, k, l, high, low] = *head;
        let count = usize::from(u16::from_be_bytes([high, low]));
        let len = HEAD + ITEM * count;
        let (list, rest) = behind.split_at_checked(ITEM * count).ok_or(short(len))?;
        let (own, _) = bytes.split_at_checked(len).ok_or(short(len))?;
        let (addresses, _) = list.as_chunks();
        let (unreached, _) = addresses.as_chunks();
        let (first, last) = (Mac([a, b, c, d, e, f]), Mac([g, h, i, j, k, l]));
        Ok((Self { first, last, unreached }, own, rest))
    }

    /// Its bytes, in pieces.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = [u8; 2]> {
        let count = (self.unreached.len() as u16).to_be_bytes();
        let addresses = self.unreached.as_flattened().iter();
        let pairs = |address: &[u8; 6]| {
            let [a, b, c, d, e, f] = *address;
            [[a, b], [c, d], [e, f]]
        };
        let head = pairs(&self.first.0).into_iter().chain(pairs(&self.last.0)).chain([count]);
        head.chain(addresses.flat_map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: [MacRange; 2] = [[[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 9]], [[2, 0, 0, 0, 1, 0]; 2]];
    const REACH: Reach<'_> = Reach { first: Mac([0; 6]), last: Mac([0xff; 6]), unreached: &LIST };

    /// Its bytes and three more.
    fn written() -> [u8; 41] {
        let mut bytes = [0xa5; 41];
        let (pieces, _) = bytes.as_chunks_mut();
        pieces.iter_mut().zip(REACH.pieces()).for_each(|(to, from)| *to = from);
        bytes
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let bytes = written();
        let (read, own, rest) = Reach::parse(&bytes, 28).unwrap();
        assert_eq!((read, own.len(), rest), (REACH, REACH.len(), &[0xa5; 3][..]));
    }

    #[test]
    fn a_list_that_ends_early_is_refused() {
        let bytes = written();
        for have in 0..38 {
            let need = 28 + if have < 14 { 14 } else { 38 };
            assert_eq!(Reach::parse(&bytes[..have], 28), Err(Error::Short { need, have: 28 + have }));
        }
    }
}
