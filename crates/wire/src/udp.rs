//! UDP (RFC 768): the header. Hosts verify the checksum.

use crate::Error;
use crate::ip_common::cut;

/// A UDP datagram: its validated header and its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Udp<'a> {
    header: &'a [u8; Udp::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> Udp<'a> {
    /// Length of a header.
    pub const HEADER_LEN: usize = 8;

    /// Parses the datagram at the start of `bytes`. Data shorter than the length field is accepted: a
    /// switch only needs headers. A length of 0 means all bytes (jumbograms, RFC 2675, section 4).
    ///
    /// # Errors
    /// [`Error::Short`], and [`Error::HeaderLength`] if the length is below the minimum.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let short = Error::Short { need: Self::HEADER_LEN, have: bytes.len() };
        let header: &[u8; Udp::HEADER_LEN] = bytes.first_chunk().ok_or(short)?;
        let given = u16::from_be_bytes([header[4], header[5]]).into();
        if given != 0 && given < Self::HEADER_LEN {
            return Err(Error::HeaderLength { least: Self::HEADER_LEN, given });
        }
        let payload = cut(bytes, given).get(Self::HEADER_LEN..).ok_or(short)?;
        Ok(Self { header, payload })
    }

    /// The source port; 0 if the sender expects no reply.
    pub const fn source_port(&self) -> u16 {
        u16::from_be_bytes([self.header[0], self.header[1]])
    }

    /// The destination port.
    pub const fn destination_port(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// The available data.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_ends_where_its_length_says_if_that_is_there() {
        for (length, payload) in [
            (12, Ok(&[1, 2, 3, 4][..])),
            (8, Ok(&[])),
            (0, Ok(&[1, 2, 3, 4, 5])),
            (14, Ok(&[1, 2, 3, 4, 5])),
            (7, Err(Error::HeaderLength { least: 8, given: 7 })),
        ] {
            let datagram = [0xc0, 0, 0, 53, 0, length, 0xa5, 0xa5, 1, 2, 3, 4, 5];
            let read = Udp::parse(&datagram);
            assert_eq!(read.map(|udp| udp.payload()), payload, "{length}");
            if let Ok(udp) = read {
                assert_eq!((udp.source_port(), udp.destination_port()), (49152, 53));
            }
        }
        assert_eq!(Udp::parse(&[0; 7]), Err(Error::Short { need: 8, have: 7 }));
    }
}
