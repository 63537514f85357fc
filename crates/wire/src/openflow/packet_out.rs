//! [`PacketOut`]: the controller sends a packet (section 7.3.7).

use super::reader::Reader;
use super::{Action, List, PortNumber, buffer};
use crate::Error;
use crate::writer::Writer;

/// A packet sent by the controller.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacketOut<'a> {
    /// Its buffer id, if the switch buffers it.
    pub buffer: Option<u32>,
    /// Its real or assumed ingress port; [`PortNumber::CONTROLLER`] for none.
    pub in_port: PortNumber,
    /// Its actions.
    pub actions: List<'a, Action>,
    /// The packet, unless the switch buffers it.
    pub data: &'a [u8],
}

impl<'a> PacketOut<'a> {
    pub(crate) fn encoded_len(&self) -> usize {
        16 + self.actions.encoded_len() + self.data.len()
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let (buffer, in_port) = (buffer::read(reader)?, PortNumber(reader.u32()?));
        let len = reader.u16()?;
        reader.skip(6)?;
        let actions = List::read(reader.part(len.into())?)?;
        Ok(Self { buffer, in_port, actions, data: reader.rest() })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        buffer::write(self.buffer, writer);
        writer.put(&self.in_port.0.to_be_bytes());
        // Longer lists do not fit a message, whose length is checked.
        writer.put(&(self.actions.encoded_len() as u16).to_be_bytes());
        writer.skip(6);
        self.actions.put(writer);
        writer.put(self.data);
    }
}
