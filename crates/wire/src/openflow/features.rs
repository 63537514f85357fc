//! A switch's [`Features`] (section 7.3.1) and [`SwitchDescription`] (section 7.3.5.1).

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The capabilities of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Features {
    /// The datapath id, by convention with the switch's MAC address in the lower 48 bits.
    pub datapath: u64,
    /// Packets that it can buffer for the controller.
    pub buffers: u32,
    /// Number of tables.
    pub tables: u8,
    /// 0 for the main connection, others for auxiliary connections.
    pub auxiliary: u8,
    /// Bits for the supported statistics and other features.
    pub capabilities: u32,
}

impl Features {
    /// Bit of `capabilities`: the switch counts packets per rule.
    pub const FLOW_STATS: u32 = 1;
    /// Bit of `capabilities`: the switch counts packets per port.
    pub const PORT_STATS: u32 = 4;

    pub(crate) const fn encoded_len(&self) -> usize {
        24
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let (datapath, buffers) = (reader.u64()?, reader.u32()?);
        let (tables, auxiliary) = (reader.u8()?, reader.u8()?);
        reader.skip(2)?;
        let capabilities = reader.u32()?;
        reader.skip(4)?;
        Ok(Self { datapath, buffers, tables, auxiliary, capabilities })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&self.datapath.to_be_bytes());
        writer.put(&self.buffers.to_be_bytes());
        writer.put(&[self.tables, self.auxiliary]);
        writer.skip(2);
        writer.put(&self.capabilities.to_be_bytes());
        writer.skip(4);
    }
}

/// Manufacturer, model and names of a switch, without terminating zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SwitchDescription<'a> {
    /// Manufacturer; up to 255 bytes.
    pub manufacturer: &'a [u8],
    /// Hardware; up to 255 bytes.
    pub hardware: &'a [u8],
    /// Software; up to 255 bytes.
    pub software: &'a [u8],
    /// Serial number; up to 31 bytes.
    pub serial: &'a [u8],
    /// Datapath name; up to 255 bytes.
    pub datapath: &'a [u8],
}

impl<'a> SwitchDescription<'a> {
    const LENS: [usize; 5] = [256, 256, 256, 32, 256];

    pub(crate) fn encoded_len(&self) -> usize {
        Self::LENS.iter().sum()
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let mut text = |len| {
            let bytes = reader.bytes(len)?;
            // The last byte is always read as a zero.
            let end = bytes.iter().take(len - 1).position(|byte| *byte == 0).unwrap_or(len - 1);
            Ok(bytes.get(..end).unwrap_or_default())
        };
        let [a, b, c, d, e] = Self::LENS;
        Ok(Self {
            manufacturer: text(a)?,
            hardware: text(b)?,
            software: text(c)?,
            serial: text(d)?,
            datapath: text(e)?,
        })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        let texts = [self.manufacturer, self.hardware, self.software, self.serial, self.datapath];
        for (text, len) in texts.into_iter().zip(Self::LENS) {
            let text = text.get(..len - 1).unwrap_or(text);
            writer.put(text);
            writer.skip(len - text.len());
        }
    }
}
