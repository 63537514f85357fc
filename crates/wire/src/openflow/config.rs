//! [`SwitchConfig`]: the switch's handling of packets (section 7.3.2).

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The settings that the controller can set and request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SwitchConfig {
    /// Handling of fragments: 0, none; 1, they are dropped; 2, they are reassembled.
    pub flags: u16,
    /// Bytes of a buffered packet that are sent to the controller.
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
