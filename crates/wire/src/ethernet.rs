//! Ethernet: VLAN tags and the frame header (IEEE 802.3, IEEE 802.1Q), without the frame check
//! sequence, which interfaces add and remove.

use crate::ether_type::{EtherType, MAX_TAGS};
use crate::{Error, Mac};

/// Minimum frame length in bytes, without the frame check sequence (IEEE 802.3, clause 4.4.2).
pub const MIN_FRAME: usize = 60;

/// A VLAN tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VlanTag {
    /// [`EtherType::VLAN`] or [`EtherType::SERVICE_VLAN`].
    pub tpid: EtherType,
    /// Tag control information: priority (3 bits), drop eligible (1 bit), VLAN id (12 bits).
    pub tci: u16,
}

impl VlanTag {
    /// Length of a tag in bytes.
    pub const LEN: usize = 4;

    /// The tag's bytes on the wire.
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let ([a, b], [c, d]) = (self.tpid.0.to_be_bytes(), self.tci.to_be_bytes());
        [a, b, c, d]
    }
}

/// A frame: its validated header and its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ethernet<'a> {
    addresses: &'a [u8; 12],
    tags: &'a [u8],
    ethertype: EtherType,
    payload: &'a [u8],
}

impl<'a> Ethernet<'a> {
    /// Length of a header without VLAN tags.
    pub const HEADER_LEN: usize = 14;
    /// Maximum number of VLAN tags parsed: an S-tag and a C-tag. The type of a third is returned as the
    /// frame's EtherType.
    pub const MAX_TAGS: usize = MAX_TAGS;

    /// Parses the header of `frame`.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(frame: &'a [u8]) -> Result<Self, Error> {
        let short = |tags| Error::Short { need: Self::HEADER_LEN + tags * VlanTag::LEN, have: frame.len() };
        let (addresses, behind) = frame.split_first_chunk().ok_or(short(0))?;
        let mut count = 0;
        loop {
            let (tags, rest) = behind.split_at_checked(count * VlanTag::LEN).ok_or(short(count))?;
            let (ethertype, payload) = rest.split_first_chunk().ok_or(short(count))?;
            let ethertype = EtherType(u16::from_be_bytes(*ethertype));
            if count == Self::MAX_TAGS || !ethertype.is_tag() {
                return Ok(Self { addresses, tags, ethertype, payload });
            }
            count += 1;
        }
    }

    /// The destination address.
    pub const fn destination(&self) -> Mac {
        let [a, b, c, d, e, f, ..] = *self.addresses;
        Mac([a, b, c, d, e, f])
    }

    /// The source address.
    pub const fn source(&self) -> Mac {
        let [.., a, b, c, d, e, f] = *self.addresses;
        Mac([a, b, c, d, e, f])
    }

    /// The EtherType of the payload, after all tags.
    pub const fn ethertype(&self) -> EtherType {
        self.ethertype
    }

    /// The VLAN tags, the outer one first.
    pub fn tags(&self) -> impl Iterator<Item = VlanTag> + use<'a> {
        self.tags.as_chunks().0.iter().map(|&[a, b, c, d]| VlanTag {
            tpid: EtherType(u16::from_be_bytes([a, b])),
            tci: u16::from_be_bytes([c, d]),
        })
    }

    /// The VLAN tags' bytes on the wire.
    pub const fn tag_bytes(&self) -> &'a [u8] {
        self.tags
    }

    /// Length of the header, tags included.
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN + self.tags.len()
    }

    /// The bytes after the header, padding included.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The frame, if its EtherType is `ethertype`.
    ///
    /// # Errors
    /// [`Error::EtherType`].
    pub fn require(self, ethertype: EtherType) -> Result<Self, Error> {
        if self.ethertype == ethertype { Ok(self) } else { Err(Error::EtherType(self.ethertype)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with these TPIDs, then `ethertype` and a byte of payload.
    fn frame<'a>(out: &'a mut [u8; 40], tpids: &[u16], ethertype: u16) -> &'a [u8] {
        *out = [0xa5; 40];
        let mut at = 12;
        for tpid in tpids {
            out[at..at + 2].copy_from_slice(&tpid.to_be_bytes());
            at += 4;
        }
        out[at..at + 2].copy_from_slice(&ethertype.to_be_bytes());
        &out[..at + 3]
    }

    #[test]
    fn tags_are_skipped_and_kept_up_to_two_of_them() {
        for (tpids, ethertype, seen, tags) in [
            (&[][..], 0x0800, 0x0800, 0),
            (&[0x8100][..], 0x0800, 0x0800, 1),
            (&[0x88a8, 0x8100][..], 0x86dd, 0x86dd, 2),
            (&[0x8100, 0x8100][..], 0x0806, 0x0806, 2),
            (&[0x88a8, 0x8100, 0x8100][..], 0x0800, 0x8100, 2),
            // Not a tag of 802.1Q.
            (&[0x9100][..], 0x0800, 0x9100, 0),
        ] {
            let mut out = [0; 40];
            let frame = frame(&mut out, tpids, ethertype);
            let ethernet = Ethernet::parse(frame).unwrap();
            assert_eq!(ethernet.ethertype(), EtherType(seen), "{tpids:x?}");
            assert!(ethernet.tags().map(|tag| tag.tpid.0).eq(tpids[..tags].iter().copied()));
            assert!(ethernet.tags().all(|tag| tag.tci & 0x0fff == 0x5a5));
            assert_eq!(frame[12..].strip_prefix(ethernet.tag_bytes()).unwrap()[2..], *ethernet.payload());
            assert_eq!(ethernet.header_len() + ethernet.payload().len(), frame.len());
        }
    }

    #[test]
    fn a_header_that_ends_early_says_how_many_bytes_it_has() {
        let mut out = [0; 40];
        let whole = frame(&mut out, &[0x8100], 0x0800);
        for have in 0..18 {
            let need = if have < 14 { 14 } else { 18 };
            assert_eq!(Ethernet::parse(&whole[..have]), Err(Error::Short { need, have }));
        }
        assert!(Ethernet::parse(&whole[..18]).is_ok());
    }
}
