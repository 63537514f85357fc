//! The encoding of match fields (OXM, section 7.2.3.2), by type of value.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::port::PortNumber;
use super::reader::Reader;
use crate::writer::Writer;
use crate::{Error, EtherType, IpProtocol, Mac};

/// The class of the specification's fields.
const BASIC: u16 = 0x8000;
/// Length of a field before its value.
pub const FIELD_HEADER_LEN: usize = 4;

/// A MAC address with a mask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Masked {
    value: Mac,
    mask: Mac,
}

impl Masked {
    /// An exact match.
    pub const fn exact(value: Mac) -> Self {
        Self { value, mask: Mac::BROADCAST }
    }

    /// Matches the bits that are 1 in `mask`.
    pub fn new(value: Mac, mask: Mac) -> Self {
        let mut cut = value;
        cut.0.iter_mut().zip(mask.0).for_each(|(byte, mask)| *byte &= mask);
        Self { value: cut, mask }
    }

    /// The value; unmasked bits are 0.
    pub const fn value(&self) -> Mac {
        self.value
    }

    /// The mask.
    pub const fn mask(&self) -> Mac {
        self.mask
    }

    const fn is_exact(&self) -> bool {
        matches!(self.mask, Mac::BROADCAST)
    }
}

/// A type of value of a field.
pub trait Value: Copy + PartialEq {
    /// Length of the value, and of its mask if any.
    fn encoded_len(&self) -> usize;
    /// Whether a mask follows.
    fn has_mask(&self) -> bool {
        false
    }
    /// Reads it, with its mask if `masked`.
    fn read(reader: &mut Reader, masked: bool) -> Result<Self, Error>;
    /// Writes it.
    fn put(&self, writer: &mut Writer);
    /// The value masked to the bits of `shape`; `None` if its own mask lacks some of them.
    fn cut(&self, shape: &Self) -> Option<Self>;
    /// The mask without the value: equal for all values with the same mask.
    fn shape(&self) -> Self;
}

macro_rules! values {
    ($($type:ty, $len:literal, $zero:expr, |$value:ident| $to:expr, |$bytes:ident| $from:expr;)*) => {$(
        impl Value for $type {
            fn encoded_len(&self) -> usize {
                $len
            }

            fn read(reader: &mut Reader, masked: bool) -> Result<Self, Error> {
                if masked {
                    return Err(Error::Unsupported { field: "mask of a match field", value: 1 });
                }
                let $bytes = reader.array::<$len>()?;
                Ok($from)
            }

            fn put(&self, writer: &mut Writer) {
                let $value = self;
                writer.put(&$to);
            }

            fn cut(&self, _: &Self) -> Option<Self> {
                Some(*self)
            }

            fn shape(&self) -> Self {
                $zero
            }
        }
    )*};
}

values! {
    u8, 1, 0, |value| value.to_be_bytes(), |bytes| u8::from_be_bytes(bytes);
    u16, 2, 0, |value| value.to_be_bytes(), |bytes| u16::from_be_bytes(bytes);
    PortNumber, 4, PortNumber(0), |port| port.0.to_be_bytes(), |bytes| PortNumber(u32::from_be_bytes(bytes));
    Mac, 6, Mac([0; 6]), |address| address.0, |bytes| Mac(bytes);
    EtherType, 2, EtherType(0), |of| of.0.to_be_bytes(), |bytes| EtherType(u16::from_be_bytes(bytes));
    IpProtocol, 1, IpProtocol(0), |protocol| [protocol.0], |bytes| IpProtocol(bytes[0]);
    Ipv4Addr, 4, Ipv4Addr::UNSPECIFIED, |address| address.octets(), |bytes| Ipv4Addr::from(bytes);
    Ipv6Addr, 16, Ipv6Addr::UNSPECIFIED, |address| address.octets(), |bytes| Ipv6Addr::from(bytes);
}

impl Value for Masked {
    fn encoded_len(&self) -> usize {
        if self.is_exact() { 6 } else { 12 }
    }

    fn has_mask(&self) -> bool {
        !self.is_exact()
    }

    fn read(reader: &mut Reader, masked: bool) -> Result<Self, Error> {
        let value = Mac(reader.array()?);
        let mask = if masked { Mac(reader.array()?) } else { Mac::BROADCAST };
        // Section 7.2.3.5: unmasked bits of the value are 0.
        let read = Self::new(value, mask);
        if read.value != value {
            return Err(Error::Unsupported { field: "match field bits outside its mask", value: 1 });
        }
        Ok(read)
    }

    fn put(&self, writer: &mut Writer) {
        writer.put(&self.value.0);
        if !self.is_exact() {
            writer.put(&self.mask.0);
        }
    }

    fn cut(&self, shape: &Self) -> Option<Self> {
        let known = shape.mask.0.iter().zip(self.mask.0).all(|(asked, mask)| asked & mask == *asked);
        known.then(|| Self::new(self.value, shape.mask))
    }

    fn shape(&self) -> Self {
        Self { value: Mac([0; 6]), mask: self.mask }
    }
}

/// Reads a field's header: number, whether it has a mask, and length of its value.
pub fn read_header(reader: &mut Reader) -> Result<(Option<u8>, bool, usize), Error> {
    let (class, [number, len]) = (reader.u16()?, reader.array()?);
    Ok(((class == BASIC).then_some(number >> 1), number & 1 == 1, len.into()))
}

/// Writes a field with its header.
pub fn put<T: Value>(writer: &mut Writer, number: u8, value: &T) {
    writer.put(&BASIC.to_be_bytes());
    // No value exceeds 16 bytes.
    writer.put(&[number << 1 | u8::from(value.has_mask()), value.encoded_len() as u8]);
    value.put(writer);
}
