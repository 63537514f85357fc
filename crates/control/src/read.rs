//! [`Packet::read`]: parses a frame's bytes as far as decisions need.

use weft_wire as wire;
use weft_wire::mptcp::{Capable, CapableFlags, Handshake};

use crate::packet::{Arp, Content, End, Join, Mptcp, Neighbour, Packet, Tcp};

impl Packet {
    /// Parses a frame, which may be truncated after its headers; `None` if it is too short for an Ethernet header.
    /// Anything that cannot be parsed further is [`Content::Ip`] or [`Content::Other`].
    pub fn read(frame: &[u8]) -> Option<Self> {
        let ethernet = wire::Ethernet::parse(frame).ok()?;
        let content = match ethernet.ethertype() {
            wire::EtherType::ARP => wire::Arp::parse(&ethernet).map_or(Content::Other, |arp| {
                Content::Arp(Arp {
                    is_reply: arp.operation() == wire::ArpOperation::Reply,
                    sender_mac: arp.sender(),
                    sender: arp.sender_ip(),
                    target: arp.target_ip(),
                })
            }),
            _ => wire::Ip::parse(&ethernet).map_or(Content::Other, |ip| of_ip(&ip)),
        };
        Some(Self { eth_src: ethernet.source(), eth_dst: ethernet.destination(), content })
    }
}

fn of_ip(ip: &wire::Ip) -> Content {
    let protocol = ip.protocol();
    if protocol == wire::IpProtocol::TCP
        && !ip.is_fragment()
        && let Ok(segment) = wire::Tcp::parse(ip.payload())
    {
        return Content::Tcp(Tcp {
            source: End { address: ip.source(), port: segment.source_port() },
            destination: End { address: ip.destination(), port: segment.destination_port() },
            flags: segment.flags().0,
            sequence: segment.sequence(),
            mptcp: of_options(&segment),
        });
    }
    if let wire::Ip::V6(packet) = ip
        && let Ok(message) = wire::Neighbor::parse(packet)
    {
        return Content::Neighbour(Neighbour {
            is_advertisement: message.operation() == wire::NeighborOperation::Advertisement,
            source: packet.source(),
            target: message.target(),
            link_layer: message.link_layer(),
        });
    }
    Content::Ip { protocol: protocol.0 }
}

/// The Multipath TCP option of a segment.
fn of_options(segment: &wire::Tcp) -> Option<Mptcp> {
    match Handshake::read(segment) {
        Err(_) => Some(Mptcp::Malformed),
        Ok(Some(Handshake::Capable(capable))) => of_capable(&capable),
        Ok(Some(Handshake::Join(join))) => Some(Mptcp::Join(match join {
            wire::mptcp::Join::Syn { token, nonce, .. } => Join::Syn { token: token.0, nonce },
            wire::mptcp::Join::SynAck { hmac, nonce, .. } => {
                Join::SynAck { hmac: u64::from_be_bytes(hmac), nonce }
            }
            wire::mptcp::Join::Ack { hmac } => Join::Ack { hmac },
        })),
        Ok(None) => {
            let mut options = segment.options();
            options.any(|option| matches!(option, Ok(wire::TcpOption::Mptcp(_)))).then_some(Mptcp::Other)
        }
    }
}

/// Without the HMAC algorithm (the only one defined), or with the extensibility bit, hosts fall back to TCP (RFC 8684,
/// section 3.1).
fn of_capable(capable: &Capable) -> Option<Mptcp> {
    let usable =
        capable.flags.contains(CapableFlags::HMAC) && !capable.flags.contains(CapableFlags::EXTENSIBILITY);
    usable.then_some(Mptcp::Capable {
        version: capable.version,
        sender_key: capable.sender_key().map(|key| key.0),
        receiver_key: capable.receiver_key().map(|key| key.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_is_read_as_far_as_it_goes() {
        let addresses = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        let frame = |behind: &[u8]| [&addresses[..], behind].concat();
        let ip = |protocol: u8, fragment: u8, payload: &[u8]| {
            let header = [0x45, 0, 0, 0, 0, 0, fragment, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            frame(&[&[8, 0][..], &header, payload].concat())
        };
        let tcp =
            [&[0x0f, 0xa0, 0, 80, 0, 0, 0, 5, 0, 0, 0, 0, 0x60, 2, 0, 0, 0, 0, 0, 0][..], &[30, 4, 1, 1]]
                .concat();
        let content = |frame: &[u8]| Packet::read(frame).map(|packet| packet.content);
        let Some(Content::Tcp(segment)) = content(&ip(6, 0, &tcp)) else { panic!("TCP") };
        assert_eq!((segment.source.to_string(), segment.destination.port), ("10.0.0.1:4000".to_owned(), 80));
        assert_eq!((segment.sequence, segment.is_syn()), (5, true));
        assert!(matches!(segment.mptcp, Some(Mptcp::Capable { sender_key: None, .. })));
        for (frame, expected) in [
            (ip(6, 0x20, &tcp), Some(Content::Ip { protocol: 6 })),
            (ip(6, 0, &tcp[..10]), Some(Content::Ip { protocol: 6 })),
            (ip(17, 0, &[]), Some(Content::Ip { protocol: 17 })),
            (frame(&[8, 0, 0x65]), Some(Content::Other)),
            (frame(&[8, 6, 0, 1]), Some(Content::Other)),
            (frame(&[0x88, 0xcc]), Some(Content::Other)),
            (frame(&[8]), None),
            (vec![], None),
        ] {
            assert_eq!(content(&frame), expected, "{frame:?}");
        }
    }

    #[test]
    fn an_offer_that_hosts_do_not_take_is_none() {
        for (flags, taken) in [(0x01, true), (0x81, true), (0x00, false), (0x41, false)] {
            let capable = Capable {
                version: wire::mptcp::Version::V1,
                flags: CapableFlags(flags),
                keys: wire::mptcp::Keys::None,
            };
            assert_eq!(of_capable(&capable).is_some(), taken, "{flags:#x}");
        }
    }
}
