//! [`Reader`]: reads the fields of a message; fails if the message is too short.

use crate::Error;

/// The rest of a message to read.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// Offset of `rest` in the message.
    before: usize,
}

impl<'a> Reader<'a> {
    /// A reader of all of `message`.
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message, before: 0 }
    }

    /// The next `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let short = Error::Short { need: self.before + len, have: self.before + self.rest.len() };
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(short)?;
        self.before += len;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next bytes, as many as the array's length.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let short = Error::Short { need: self.before + N, have: self.before + self.rest.len() };
        let (array, rest) = self.rest.split_first_chunk().ok_or(short)?;
        self.before += N;
        self.rest = rest;
        Ok(*array)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_be_bytes)
    }

    /// The next two bytes.
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    /// The next four bytes.
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_be_bytes)
    }

    /// The next eight bytes.
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_be_bytes)
    }

    /// Skips bytes.
    pub fn skip(&mut self, len: usize) -> Result<(), Error> {
        self.bytes(len).map(|_| ())
    }

    /// A reader of the next `len` bytes, which are skipped here.
    pub fn part(&mut self, len: usize) -> Result<Self, Error> {
        let before = self.before;
        self.bytes(len).map(|rest| Self { rest, before })
    }

    /// The remaining bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether no bytes remain.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}
