//! A central controller's view of packets.

use weft_control::{Content, End, Join as SeenJoin, Mptcp as SeenMptcp, Packet, Tcp, Version};
use weft_switching::Kind;
use weft_switching::smoc::address;
use weft_transport::mptcp::{Join, Options};

use crate::packet::PacketId;
use crate::packet::slab::Slab;

/// The controller's view of a packet.
pub fn shown(packets: &Slab, id: PacketId) -> Packet {
    let header = &packets.get(id).header;
    let hosts = header.source().zip(header.destination());
    let content = match (header.kind, hosts) {
        (Kind::Tcp, Some((src, dst))) => Content::Tcp(Tcp {
            source: End { address: address(src), port: header.sport },
            destination: End { address: address(dst), port: header.dport },
            flags: header.tcp_flags & !0x20,
            sequence: packets.sequence(id),
            mptcp: option(&packets.options(id)),
        }),
        _ => Content::Other,
    };
    Packet { eth_src: header.src, eth_dst: header.label(), content }
}

/// The controller's view of a Multipath TCP option.
fn option(options: &Options) -> Option<SeenMptcp> {
    Some(match *options {
        Options::None => return None,
        Options::Capable(capable) => SeenMptcp::Capable {
            version: if capable.version == 0 { Version::V0 } else { Version::V1 },
            sender_key: capable.sender_key,
            receiver_key: capable.receiver_key,
        },
        Options::Join(Join::Syn { token, nonce, .. }) => SeenMptcp::Join(SeenJoin::Syn { token, nonce }),
        Options::Join(Join::SynAck { hmac, nonce, .. }) => SeenMptcp::Join(SeenJoin::SynAck { hmac, nonce }),
        Options::Join(Join::Ack { hmac }) => SeenMptcp::Join(SeenJoin::Ack { hmac }),
        Options::Dss(_) => SeenMptcp::Other,
    })
}
