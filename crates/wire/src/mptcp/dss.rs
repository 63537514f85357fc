//! DSS: maps a subflow's bytes to the connection's and acknowledges the latter (RFC 6824 and RFC 8684,
//! section 3.3), the same in both versions.

use super::length::length_error;
use crate::Error;
use crate::writer::Writer;

/// A data sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataSequence {
    /// The lower 32 bits.
    Short(u32),
    /// All 64 bits.
    Long(u64),
}

impl DataSequence {
    fn read(bytes: &[u8], long: bool) -> Option<(Self, &[u8])> {
        if long {
            let (number, rest) = bytes.split_first_chunk()?;
            Some((Self::Long(u64::from_be_bytes(*number)), rest))
        } else {
            let (number, rest) = bytes.split_first_chunk()?;
            Some((Self::Short(u32::from_be_bytes(*number)), rest))
        }
    }

    const fn len(self) -> usize {
        match self {
            Self::Short(_) => 4,
            Self::Long(_) => 8,
        }
    }

    fn write(self, writer: &mut Writer) {
        match self {
            Self::Short(number) => writer.put(&number.to_be_bytes()),
            Self::Long(number) => writer.put(&number.to_be_bytes()),
        }
    }
}

/// Maps a range of subflow bytes to the connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mapping {
    /// The data sequence number of the first byte.
    pub data_sequence: DataSequence,
    /// Its subflow sequence number, relative to the SYN. 0 for a DATA_FIN without data.
    pub subflow_sequence: u32,
    /// The length in bytes, a DATA_FIN counting as one. 0: all following bytes (an infinite mapping, after
    /// fallback to TCP).
    pub length: u16,
    /// The checksum of the bytes and this mapping, if the ends agreed on checksums.
    pub checksum: Option<u16>,
}

/// DSS, the data sequence signal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dss {
    /// Whether the connection's data ends with this mapping (DATA_FIN).
    pub data_fin: bool,
    /// The next data sequence number that the sender expects (Data ACK).
    pub acknowledgement: Option<DataSequence>,
    /// The mapping of this segment's data, and maybe that of later ones.
    pub mapping: Option<Mapping>,
}

const DATA_FIN: u8 = 0x10;
const LONG_SEQUENCE: u8 = 0x08;
const MAPPING: u8 = 0x04;
const LONG_ACKNOWLEDGEMENT: u8 = 0x02;
const ACKNOWLEDGEMENT: u8 = 0x01;

impl Dss {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        let wrong = || length_error("DSS", data.len());
        let (&[_, flags], mut rest) = data.split_first_chunk().ok_or(wrong())?;
        let has = |flag| flags & flag != 0;
        let mut sequence = |long| {
            let (number, behind) = DataSequence::read(rest, long).ok_or(wrong())?;
            rest = behind;
            Ok(number)
        };
        let acknowledgement =
            has(ACKNOWLEDGEMENT).then(|| sequence(has(LONG_ACKNOWLEDGEMENT))).transpose()?;
        let data_sequence = has(MAPPING).then(|| sequence(has(LONG_SEQUENCE))).transpose()?;
        let mapping = match (data_sequence, rest) {
            (None, []) => None,
            (Some(data_sequence), &[a, b, c, d, e, f, ref rest @ ..]) => Some(Mapping {
                data_sequence,
                subflow_sequence: u32::from_be_bytes([a, b, c, d]),
                length: u16::from_be_bytes([e, f]),
                checksum: match *rest {
                    [] => None,
                    [a, b] => Some(u16::from_be_bytes([a, b])),
                    _ => return Err(wrong()),
                },
            }),
            _ => return Err(wrong()),
        };
        Ok(Self { data_fin: has(DATA_FIN), acknowledgement, mapping })
    }

    pub(super) fn len(&self) -> usize {
        let mapping = |mapping: Mapping| mapping.data_sequence.len() + 6 + mapping.checksum.map_or(0, |_| 2);
        4 + self.acknowledgement.map_or(0, DataSequence::len) + self.mapping.map_or(0, mapping)
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        let mut flags = if self.data_fin { DATA_FIN } else { 0 };
        flags |= match self.acknowledgement {
            None => 0,
            Some(DataSequence::Short(_)) => ACKNOWLEDGEMENT,
            Some(DataSequence::Long(_)) => ACKNOWLEDGEMENT | LONG_ACKNOWLEDGEMENT,
        };
        flags |= match self.mapping.map(|mapping| mapping.data_sequence) {
            None => 0,
            Some(DataSequence::Short(_)) => MAPPING,
            Some(DataSequence::Long(_)) => MAPPING | LONG_SEQUENCE,
        };
        writer.put(&[0x20, flags]);
        if let Some(acknowledgement) = self.acknowledgement {
            acknowledgement.write(writer);
        }
        if let Some(mapping) = self.mapping {
            mapping.data_sequence.write(writer);
            writer.put(&mapping.subflow_sequence.to_be_bytes());
            writer.put(&mapping.length.to_be_bytes());
            mapping.checksum.iter().for_each(|checksum| writer.put(&checksum.to_be_bytes()));
        }
    }
}
