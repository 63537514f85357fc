//! ICMPv6 (RFC 4443), limited to neighbour discovery (RFC 4861), its counterpart of ARP.

use core::net::Ipv6Addr;

use crate::checksum::checksum;
use crate::ipv6::address;
use crate::writer::Writer;
use crate::{Error, EtherType, Ethernet, IpProtocol, Ipv6, Mac};

/// The options with a link-layer address.
const SOURCE_LINK_LAYER: u8 = 1;
const TARGET_LINK_LAYER: u8 = 2;

/// The operation of a neighbour discovery message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum NeighborOperation {
    /// Requests the target's MAC address.
    Solicitation = 135,
    /// Answers with it, or announces it unasked.
    Advertisement = 136,
}

/// A Neighbor Solicitation or Neighbor Advertisement, validated. Hosts verify the checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbor<'a> {
    message: &'a [u8; Neighbor::MIN_LEN],
    options: &'a [u8],
    operation: NeighborOperation,
}

impl<'a> Neighbor<'a> {
    /// Length of a message without options.
    pub const MIN_LEN: usize = 24;

    /// Parses the message in `ip`.
    ///
    /// # Errors
    /// [`Error::Protocol`], [`Error::Fragment`], [`Error::Short`], [`Error::Type`] for other messages, and
    /// [`Error::Unsupported`] if its code is not 0 or its hop limit not 255, which shows that a router
    /// forwarded it (RFC 4861, section 7.1).
    pub fn parse(ip: &Ipv6<'a>) -> Result<Self, Error> {
        if ip.protocol() != IpProtocol::ICMPV6 {
            return Err(Error::Protocol(ip.protocol()));
        }
        if ip.is_fragment() {
            return Err(Error::Fragment);
        }
        let short = |need| Error::Short { need, have: ip.payload().len() };
        // Other messages may be shorter: check the type first.
        let operation = match ip.payload().first().ok_or(short(Self::MIN_LEN))? {
            135 => NeighborOperation::Solicitation,
            136 => NeighborOperation::Advertisement,
            &other => return Err(Error::Type(other)),
        };
        let (message, options): (&[u8; Neighbor::MIN_LEN], _) =
            ip.payload().split_first_chunk().ok_or(short(Self::MIN_LEN))?;
        for (field, value, valid) in [("ICMPv6 code", message[1], 0), ("hop limit", ip.hop_limit(), 255)] {
            if value != valid {
                return Err(Error::Unsupported { field, value: value.into() });
            }
        }
        Ok(Self { message, options, operation })
    }

    /// The operation.
    pub const fn operation(&self) -> NeighborOperation {
        self.operation
    }

    /// The IPv6 address that is requested or announced.
    pub fn target(&self) -> Ipv6Addr {
        address(self.message, 8)
    }

    /// Its link-layer address option (RFC 4861, section 4.6.1): of the source in a Solicitation, of the target
    /// in an Advertisement. `None` if absent or malformed.
    pub fn link_layer(&self) -> Option<Mac> {
        let kind = match self.operation {
            NeighborOperation::Solicitation => SOURCE_LINK_LAYER,
            NeighborOperation::Advertisement => TARGET_LINK_LAYER,
        };
        let mut rest = self.options;
        loop {
            let &[other, words, ..] = rest else { return None };
            let (option, behind) = rest.split_at_checked(usize::from(words) * 8)?;
            match *option {
                [_, _, a, b, c, d, e, f] if other == kind => return Some(Mac([a, b, c, d, e, f])),
                // A length of 0 would loop.
                [] => return None,
                _ => rest = behind,
            }
        }
    }

    /// Length of a frame with a message and a link-layer address.
    pub const FRAME_LEN: usize = Ethernet::HEADER_LEN + Ipv6::HEADER_LEN + Self::MIN_LEN + 8;

    /// A Solicitation for `target`, or an Advertisement of the host at `source`, with its own link-layer
    /// address unless its address is `::` (RFC 4862, section 5.4.2). An Advertisement overrides older ones,
    /// and is marked as solicited unless it goes to a group.
    pub fn frame(
        operation: NeighborOperation,
        source: (Mac, Ipv6Addr),
        destination: (Mac, Ipv6Addr),
        target: Ipv6Addr,
    ) -> ([u8; Neighbor::FRAME_LEN], usize) {
        let tells = !source.1.is_unspecified();
        let len = Self::MIN_LEN + if tells { 8 } else { 0 };
        let (kind, flags) = match operation {
            NeighborOperation::Solicitation => (SOURCE_LINK_LAYER, 0),
            // Override, and Solicited if sent to one host (RFC 4861, section 4.4).
            NeighborOperation::Advertisement if destination.1.is_multicast() => (TARGET_LINK_LAYER, 0x20),
            NeighborOperation::Advertisement => (TARGET_LINK_LAYER, 0x60),
        };
        let mut message = [0; Neighbor::MIN_LEN + 8];
        if let Ok(mut writer) = Writer::new(&mut message, len) {
            writer.put(&[operation as u8, 0, 0, 0, flags, 0, 0, 0]);
            writer.put(&target.octets());
            writer.put(&[kind, 1]);
            writer.put(&source.0.0);
        }
        let message = message.get_mut(..len).unwrap_or_default();
        let sum = checksum_of(source.1, destination.1, message);
        if let Some(place) = message.get_mut(2..4) {
            place.copy_from_slice(&sum.to_be_bytes());
        }
        let mut frame = [0; Neighbor::FRAME_LEN];
        if let Ok(mut writer) = Writer::new(&mut frame, Self::FRAME_LEN) {
            writer.put(&destination.0.0);
            writer.put(&source.0.0);
            writer.put(&EtherType::IPV6.0.to_be_bytes());
            let [high, low] = (len as u16).to_be_bytes();
            writer.put(&[0x60, 0, 0, 0, high, low, IpProtocol::ICMPV6.0, 255]);
            writer.put(&source.1.octets());
            writer.put(&destination.1.octets());
            writer.put(message);
        }
        (frame, Ethernet::HEADER_LEN + Ipv6::HEADER_LEN + len)
    }
}

/// The checksum of an ICMPv6 message (RFC 4443, section 2.3) whose checksum field is 0.
fn checksum_of(source: Ipv6Addr, destination: Ipv6Addr, message: &[u8]) -> u16 {
    let pseudo = message.len() as u32 + u32::from(IpProtocol::ICMPV6.0);
    checksum(&[&source.octets(), &destination.octets(), &pseudo.to_be_bytes(), message])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_its_checksum_is_right() {
        let mac = Mac([2, 0, 0, 0, 0, 7]);
        let (own, asker) = (Ipv6Addr::LOCALHOST, "fd00::1:ffff".parse().unwrap());
        let (kind, all) = (NeighborOperation::Solicitation, Mac([0x33, 0x33, 0, 0, 0, 1]));
        for (operation, source, link_layer, len) in [
            (NeighborOperation::Advertisement, own, Some(mac), 86),
            (kind, own, Some(mac), 86),
            (kind, Ipv6Addr::UNSPECIFIED, None, 78),
        ] {
            let (frame, written) = Neighbor::frame(operation, (mac, source), (all, asker), own);
            assert_eq!(written, len);
            let ethernet = Ethernet::parse(&frame[..len]).unwrap();
            assert_eq!((ethernet.source(), ethernet.destination()), (mac, all));
            let ip = Ipv6::parse(ethernet.payload()).unwrap();
            assert_eq!((ip.source(), ip.destination(), ip.hop_limit()), (source, asker, 255));
            let message = Neighbor::parse(&ip).unwrap();
            assert_eq!((message.operation(), message.target()), (operation, own));
            assert_eq!(message.link_layer(), link_layer);
            // The sum over a message with a valid checksum is 0.
            assert_eq!(checksum_of(source, asker, ip.payload()), 0);
        }
        // To a group it is not solicited.
        let group = "ff02::1".parse().unwrap();
        for (to, flags) in [(asker, 0x60), (group, 0x20)] {
            let (frame, _) = Neighbor::frame(NeighborOperation::Advertisement, (mac, own), (all, to), own);
            assert_eq!(frame[58], flags);
        }
        // Computed separately from the pseudo header and the message.
        let (frame, _) = Neighbor::frame(kind, (mac, own), (all, own), own);
        assert_eq!(frame[56..58], [0x75, 0x9a]);
    }

    #[test]
    fn an_option_that_cannot_be_read_tells_no_address() {
        let mut packet = [0; 80];
        packet[..8].copy_from_slice(&[0x60, 0, 0, 0, 0, 40, 58, 255]);
        packet[40] = 135;
        for (options, link_layer) in [
            (&[1, 1, 2, 0, 0, 0, 0, 9][..], Some(9)),
            (&[14, 1, 0, 0, 0, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 8], Some(8)),
            (&[2, 1, 2, 0, 0, 0, 0, 9], None),
            (&[1, 0, 2, 0, 0, 0, 0, 9], None),
            (&[1, 9, 2, 0, 0, 0, 0, 9], None),
            (&[14, 0, 2, 0, 0, 0, 0, 9, 1, 1, 2, 0, 0, 0, 0, 9], None),
            (&[1], None),
        ] {
            packet[64..].fill(0);
            packet[64..64 + options.len()].copy_from_slice(options);
            packet[5] = 24 + options.len() as u8;
            let message = Neighbor::parse(&Ipv6::parse(&packet).unwrap()).unwrap().link_layer();
            assert_eq!(message.map(|mac| mac.0[5]), link_layer, "{options:?}");
        }
    }

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
