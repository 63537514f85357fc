//! [`Messages`]: the messages of a file, each after its length.

use prost::Message;

use crate::trace::error::{Place, TraceError};

/// The messages of a rank's file that are not read yet.
pub struct Messages<'a> {
    rank: u32,
    file: &'a [u8],
    at: usize,
}

impl<'a> Messages<'a> {
    /// All messages of a file.
    pub const fn of(rank: u32, file: &'a [u8]) -> Self {
        Self { rank, file, at: 0 }
    }

    /// The next message; `None` at the end of the file.
    ///
    /// # Errors
    /// The bytes are no such message.
    pub fn next<M: Message + Default>(&mut self) -> Result<Option<M>, TraceError> {
        if self.at == self.file.len() {
            return Ok(None);
        }
        let (place, mut rest) = (self.place(), &self.file[self.at..]);
        let length = prost::decode_length_delimiter(&mut rest).map_err(|error| {
            TraceError::at(place, format!("the length of a message is expected: {error}"))
        })?;
        let body = rest.get(..length).ok_or_else(|| {
            let why = format!("a message of {length} bytes begins, and {} are left", rest.len());
            TraceError::at(place, why)
        })?;
        let message = M::decode(body);
        let message =
            message.map_err(|error| TraceError::at(place, format!("a message is wrong: {error}")))?;
        self.at = self.file.len() - rest.len() + length;
        Ok(Some(message))
    }

    /// The place of the next message.
    pub const fn place(&self) -> Place {
        Place::Byte { rank: self.rank, byte: self.at as u64 }
    }
}
