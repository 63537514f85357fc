//! [`SwitchConfig`]: what a switch does of its own with packets (section 7.3.2).

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// What the controller sets, and may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SwitchConfig {
    /// What is done with fragments: 0, as with others; 1, they are dropped; 2, they are put together.
    pub flags: u16,
    /// The bytes of a packet that the controller is sent if the switch holds it.
    pub miss_send_len: u16,
}

impl SwitchConfig {
    pub(crate) const fn encoded_len(&self) -> usize {
        4
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        Ok(Self { flags: reader.u16()?, miss_send_len: reader.u16()? })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&self.flags.to_be_bytes());
        writer.put(&self.miss_send_len.to_be_bytes());
    }
}
