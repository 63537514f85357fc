//! [`ErrorMessage`]: what was refused, and why (section 7.4.4).

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The other side refused something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ErrorMessage<'a> {
    /// The kind of error.
    pub kind: u16,
    /// Which error of that kind.
    pub code: u16,
    /// The first bytes of the message that was refused; of a failed Hello, a text.
    pub data: &'a [u8],
}

#[allow(missing_docs, reason = "the specification's names")]
impl ErrorMessage<'_> {
    pub const HELLO_FAILED: u16 = 0;
    pub const BAD_REQUEST: u16 = 1;
    pub const BAD_ACTION: u16 = 2;
    pub const BAD_INSTRUCTION: u16 = 3;
    pub const BAD_MATCH: u16 = 4;
    pub const FLOW_MOD_FAILED: u16 = 5;
}

impl<'a> ErrorMessage<'a> {
    pub(crate) fn encoded_len(&self) -> usize {
        4 + self.data.len()
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        Ok(Self { kind: reader.u16()?, code: reader.u16()?, data: reader.rest() })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&self.kind.to_be_bytes());
        writer.put(&self.code.to_be_bytes());
        writer.put(self.data);
    }
}
