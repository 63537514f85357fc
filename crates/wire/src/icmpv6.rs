//! ICMPv6 (RFC 4443), as far as neighbour discovery (RFC 4861) plays the part of ARP in it.

use core::net::Ipv6Addr;

use crate::ipv6::address;
use crate::{Error, IpProtocol, Ipv6};

/// What a message of neighbour discovery does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum NeighborOperation {
    /// Asks for the target's MAC address.
    Solicitation = 135,
    /// Answers with it, or announces it unasked.
    Advertisement = 136,
}

/// A Neighbor Solicitation or Neighbor Advertisement, checked. Its checksum is left to hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbor<'a> {
    message: &'a [u8; Neighbor::MIN_LEN],
    operation: NeighborOperation,
}

impl<'a> Neighbor<'a> {
    /// The bytes of a message without options.
    pub const MIN_LEN: usize = 24;

    /// Reads the message in `ip`.
    ///
    /// # Errors
    /// [`Error::Protocol`], [`Error::Fragment`], [`Error::Short`], [`Error::Type`] where it is another
    /// message, and [`Error::Unsupported`] where its code is not 0 or its hop limit not 255, which shows that
    /// a router has forwarded it (RFC 4861, section 7.1).
    pub fn parse(ip: &Ipv6<'a>) -> Result<Self, Error> {
        if ip.protocol() != IpProtocol::ICMPV6 {
            return Err(Error::Protocol(ip.protocol()));
        }
        if ip.is_fragment() {
            return Err(Error::Fragment);
        }
        let short = |need| Error::Short { need, have: ip.payload().len() };
        // Other messages may be shorter: the type is looked at first.
        let operation = match ip.payload().first().ok_or(short(Self::MIN_LEN))? {
            135 => NeighborOperation::Solicitation,
            136 => NeighborOperation::Advertisement,
            &other => return Err(Error::Type(other)),
        };
        let message: &[u8; Neighbor::MIN_LEN] = ip.payload().first_chunk().ok_or(short(Self::MIN_LEN))?;
        for (field, value, valid) in [("ICMPv6 code", message[1], 0), ("hop limit", ip.hop_limit(), 255)] {
            if value != valid {
                return Err(Error::Unsupported { field, value: value.into() });
            }
        }
        Ok(Self { message, operation })
    }

    /// What it does.
    pub const fn operation(&self) -> NeighborOperation {
        self.operation
    }

    /// The IPv6 address that is asked for, or answered for.
    pub fn target(&self) -> Ipv6Addr {
        address(self.message, 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbour_discovery_of_this_link_is_read() {
        let mut good = [0xa5; 64];
        good[..8].copy_from_slice(&[0x60, 0, 0, 0, 0, 24, 58, 255]);
        good[40..42].copy_from_slice(&[135, 0]);
        let neighbor =
            |bytes: &[u8]| Neighbor::parse(&Ipv6::parse(bytes)?).map(|message| message.operation());
        assert_eq!(neighbor(&good), Ok(NeighborOperation::Solicitation));
        assert_eq!(neighbor(&good[..63]), Err(Error::Short { need: 24, have: 23 }));
        assert_eq!(neighbor(&good[..40]), Err(Error::Short { need: 24, have: 0 }));
        for (at, value, read) in [
            (40, 136, Ok(NeighborOperation::Advertisement)),
            (40, 134, Err(Error::Type(134))),
            (41, 1, Err(Error::Unsupported { field: "ICMPv6 code", value: 1 })),
            (7, 254, Err(Error::Unsupported { field: "hop limit", value: 254 })),
            (6, 17, Err(Error::Protocol(IpProtocol::UDP))),
        ] {
            let mut packet = good;
            packet[at] = value;
            assert_eq!(neighbor(&packet), read);
        }
    }
}
