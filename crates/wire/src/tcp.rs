//! TCP (RFC 9293): the header fields that switches need. Hosts verify the checksum.

use crate::{Error, TcpFlags, TcpOptions};

/// A TCP segment: its validated header and its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tcp<'a> {
    header: &'a [u8; Tcp::MIN_HEADER_LEN],
    options: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Tcp<'a> {
    /// Length of a header without options.
    pub const MIN_HEADER_LEN: usize = 20;

    /// Parses the segment at the start of `bytes`.
    ///
    /// # Errors
    /// [`Error::Short`], and [`Error::HeaderLength`] if the data offset is below the minimum.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let short = |need| Error::Short { need, have: bytes.len() };
        let header: &[u8; Tcp::MIN_HEADER_LEN] = bytes.first_chunk().ok_or(short(Self::MIN_HEADER_LEN))?;
        let header_len = header_len(header);
        if header_len < Self::MIN_HEADER_LEN {
            return Err(Error::HeaderLength { least: Self::MIN_HEADER_LEN, given: header_len });
        }
        let (whole, payload) = bytes.split_at_checked(header_len).ok_or(short(header_len))?;
        let options = whole.get(Self::MIN_HEADER_LEN..).unwrap_or_default();
        Ok(Self { header, options, payload })
    }

    /// The source port.
    pub const fn source_port(&self) -> u16 {
        u16::from_be_bytes([self.header[0], self.header[1]])
    }

    /// The destination port.
    pub const fn destination_port(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// The sequence number; in a SYN the initial one.
    pub const fn sequence(&self) -> u32 {
        let h = self.header;
        u32::from_be_bytes([h[4], h[5], h[6], h[7]])
    }

    /// The acknowledgement number; in a SYN+ACK the SYN's sequence number + 1.
    pub const fn acknowledgement(&self) -> u32 {
        let h = self.header;
        u32::from_be_bytes([h[8], h[9], h[10], h[11]])
    }

    /// The control bits.
    pub const fn flags(&self) -> TcpFlags {
        TcpFlags(self.header[13])
    }

    /// Whether the segment requests a connection: SYN without ACK.
    pub const fn is_syn(&self) -> bool {
        self.flags().contains(TcpFlags::SYN) && !self.flags().contains(TcpFlags::ACK)
    }

    /// Whether the segment accepts a connection: SYN and ACK.
    pub const fn is_syn_ack(&self) -> bool {
        self.flags().contains(TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0))
    }

    /// The options, in order.
    pub const fn options(&self) -> TcpOptions<'a> {
        TcpOptions::new(self.options)
    }

    /// Length of the header, options included: the data offset.
    pub const fn header_len(&self) -> usize {
        header_len(self.header)
    }

    /// The available data.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

const fn header_len(header: &[u8; Tcp::MIN_HEADER_LEN]) -> usize {
    (header[12] >> 4) as usize * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment with this data offset (in words) and these flags.
    fn segment(offset: u8, flags: u8) -> [u8; 32] {
        let mut segment = [0xa5; 32];
        segment[12] = offset << 4 | 0x0f;
        segment[13] = flags;
        segment
    }

    #[test]
    fn a_data_offset_outside_of_the_segment_is_refused() {
        for (offset, parsed) in [
            (4, Err(Error::HeaderLength { least: 20, given: 16 })),
            (5, Ok(12)),
            (8, Ok(0)),
            (9, Err(Error::Short { need: 36, have: 32 })),
        ] {
            assert_eq!(Tcp::parse(&segment(offset, 0)).map(|tcp| tcp.payload().len()), parsed);
        }
    }

    #[test]
    fn opening_segments_are_distinguished_from_others_whatever_their_other_flags() {
        for (flags, syn, syn_ack) in [
            (0x02, true, false),
            (0xc2, true, false),
            (0x12, false, true),
            (0x52, false, true),
            (0x10, false, false),
        ] {
            let bytes = segment(5, flags);
            let tcp = Tcp::parse(&bytes).unwrap();
            assert_eq!((tcp.is_syn(), tcp.is_syn_ack()), (syn, syn_ack), "{flags:#x}");
        }
    }
}
