//! [`Writer`]: fields one after another into a caller's buffer, whose length is checked once.

use crate::Error;

/// What is left to write of a frame.
pub struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    /// A writer of the first `need` bytes of `out`, all zero until written.
    ///
    /// # Errors
    /// [`Error::Buffer`] if `out` is shorter.
    pub fn new(out: &'a mut [u8], need: usize) -> Result<Self, Error> {
        let have = out.len();
        let rest = out.get_mut(..need).ok_or(Error::Buffer { need, have })?;
        rest.fill(0);
        Ok(Self { rest })
    }

    /// The next bytes. What is more than the writer was made for is left out.
    pub fn put(&mut self, bytes: &[u8]) {
        if let Some((next, rest)) = core::mem::take(&mut self.rest).split_at_mut_checked(bytes.len()) {
            next.copy_from_slice(bytes);
            self.rest = rest;
        }
    }

    /// Leaves the next `len` bytes zero.
    pub fn skip(&mut self, len: usize) {
        self.rest = core::mem::take(&mut self.rest).get_mut(len..).unwrap_or_default();
    }
}
