//! The id of a packet that a switch buffers, in packet-in, packet-out and flow-mod messages.

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The id of no buffer: the packet is in the message.
const NONE: u32 = 0xffff_ffff;

pub(super) fn read(reader: &mut Reader) -> Result<Option<u32>, Error> {
    reader.u32().map(|id| (id != NONE).then_some(id))
}

pub(super) fn write(id: Option<u32>, writer: &mut Writer) {
    writer.put(&id.unwrap_or(NONE).to_be_bytes());
}
