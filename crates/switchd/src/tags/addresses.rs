//! [`addresses_of`]: the addresses that the rules of a flow table match, in a frame on the wire.

use std::net::IpAddr;

use weft_switching::tag_forward::Addresses;
use weft_wire::{Arp, Ethernet, Ip, Ipv6, Neighbor, NeighborOperation};

/// Source and destination of a frame with up to two VLAN tags: the addresses of its IP packet, sender and target of
/// ARP, source and target of a Neighbour Solicitation. Also the bytes that rules count: the packet length in its
/// header. `None` for a frame without addresses.
pub fn addresses_of(frame: &[u8]) -> Option<(Addresses, u16)> {
    let ethernet = Ethernet::parse(frame).ok()?;
    if let Ok(arp) = Arp::parse(&ethernet) {
        let (source, destination) = (IpAddr::V4(arp.sender_ip()), IpAddr::V4(arp.target_ip()));
        return Some((Addresses { source, destination }, Arp::LEN as u16));
    }
    let ip = Ip::parse(&ethernet).ok()?;
    let packet = ethernet.payload();
    let length =
        |at: usize| packet.get(at..at + 2).map_or(0, |two| usize::from(two[0]) << 8 | usize::from(two[1]));
    // A length of 0 stands for the whole packet.
    let (destination, said) = match &ip {
        Ip::V4(ip) => (IpAddr::V4(ip.destination()), length(2)),
        Ip::V6(ip) => {
            let solicited = Neighbor::parse(ip).ok();
            let solicited = solicited.filter(|found| found.operation() == NeighborOperation::Solicitation);
            let destination = solicited.map_or(ip.destination(), |found| found.target());
            (IpAddr::V6(destination), if length(4) == 0 { 0 } else { Ipv6::HEADER_LEN + length(4) })
        }
    };
    let bytes = if said == 0 { packet.len() } else { said.min(packet.len()) };
    Some((Addresses { source: ip.source(), destination }, u16::try_from(bytes).unwrap_or(u16::MAX)))
}
