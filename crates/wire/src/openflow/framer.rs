//! [`Messages`]: splits a received stream into messages.

use super::header::Header;
use crate::Error;

/// The complete messages at the start of a stream's bytes, in order. The remainder is kept until more is
/// received: [`Messages::rest`].
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    rest: &'a [u8],
    lost: bool,
}

impl<'a> Messages<'a> {
    /// The messages in `bytes`, which start with a message.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, lost: false }
    }

    /// The remaining bytes: an incomplete message or nothing.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Messages<'a> {
    /// A message's bytes, header included. [`Error::HeaderLength`] for a length below that of a header: the
    /// start of the next message is then unknown, and iteration ends.
    type Item = Result<&'a [u8], Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.lost || self.rest.len() < Header::LEN {
            return None;
        }
        match Header::parse(self.rest) {
            Ok(header) => {
                let (message, rest) = self.rest.split_at_checked(header.length.into())?;
                self.rest = rest;
                Some(Ok(message))
            }
            Err(error) => {
                self.lost = true;
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_cut_at_its_messages_and_what_is_not_whole_is_left() {
        let stream = [4, 2, 0, 8, 0, 0, 0, 1, 4, 2, 0, 10, 0, 0, 0, 2, 0xaa, 0xbb, 4, 20, 0, 8];
        for (len, whole, rest) in [(0, 0, 0), (7, 0, 7), (8, 1, 0), (17, 1, 9), (18, 2, 0), (22, 2, 4)] {
            let mut messages = Messages::new(&stream[..len]);
            assert_eq!(messages.by_ref().filter(Result::is_ok).count(), whole, "{len}");
            assert_eq!(messages.rest(), &stream[len - rest..len]);
        }
    }

    #[test]
    fn a_length_that_no_message_has_ends_the_stream() {
        let stream = [4, 2, 0, 8, 0, 0, 0, 1, 4, 2, 0, 7, 0, 0, 0, 2, 4, 2, 0, 8, 0, 0, 0, 3];
        let mut messages = Messages::new(&stream);
        assert_eq!(messages.next(), Some(Ok(&stream[..8])));
        assert_eq!(messages.next(), Some(Err(Error::HeaderLength { least: 8, given: 7 })));
        assert_eq!(messages.next(), None);
    }
}
