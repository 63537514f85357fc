//! [`Writer`]: writes fields into a caller's buffer, whose length is checked once.

use crate::Error;

/// The rest of a buffer to write.
pub struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    /// A writer of the first `need` bytes of `out`, which are zeroed.
    ///
    /// # Errors
    /// [`Error::Buffer`] if `out` is shorter.
    pub fn new(out: &'a mut [u8], need: usize) -> Result<Self, Error> {
        let have = out.len();
        let rest = out.get_mut(..need).ok_or(Error::Buffer { need, have })?;
        rest.fill(0);
        Ok(Self { rest })
    }

    /// Writes the next bytes, truncated at the writer's end.
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
