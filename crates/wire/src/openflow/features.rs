//! What a switch says of itself: [`Features`] (section 7.3.1) and [`SwitchDescription`] (section 7.3.5.1).

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// What a switch can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Features {
    /// The switch's name among switches: by convention its MAC address in the lower 48 bits.
    pub datapath: u64,
    /// The packets that it holds while it asks the controller.
    pub buffers: u32,
    /// Its tables.
    pub tables: u8,
    /// 0 for the main connection, others for those beside it.
    pub auxiliary: u8,
    /// Bits for statistics and the like that it has.
    pub capabilities: u32,
}

impl Features {
    /// In `capabilities`: it counts what rules match.
    pub const FLOW_STATS: u32 = 1;
    /// In `capabilities`: it counts what its ports send and receive.
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

/// Who made a switch and which one it is, as texts without a zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SwitchDescription<'a> {
    /// Who made it; up to 255 bytes.
    pub manufacturer: &'a [u8],
    /// Its hardware; up to 255 bytes.
    pub hardware: &'a [u8],
    /// Its software; up to 255 bytes.
    pub software: &'a [u8],
    /// Its serial number; up to 31 bytes.
    pub serial: &'a [u8],
    /// What it is called; up to 255 bytes.
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
            // The last byte is a zero, whatever is sent there.
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
