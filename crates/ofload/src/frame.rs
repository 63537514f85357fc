//! Frames: the match fields a switch extracts, and the frames that hosts send.

use std::net::Ipv4Addr;

use weft_wire::openflow::{Masked, Match, PortNumber};
use weft_wire::{
    Arp, ArpOperation, Error, EtherType, Ethernet, Ip, IpProtocol, MIN_FRAME, Mac, Neighbor,
    NeighborOperation, Tcp, TcpFlags, TcpOption, Udp, checksum,
};

/// The bytes of payload in a full segment over Ethernet.
pub(crate) const MSS: u16 = 1_460;

/// All match fields of a frame received on `in_port`. Fields that cannot be parsed are absent.
pub fn fields(in_port: PortNumber, frame: &[u8]) -> Match {
    let mut fields = Match { in_port: Some(in_port), ..Match::default() };
    let Ok(ethernet) = Ethernet::parse(frame) else { return fields };
    fields.eth_dst = Some(Masked::exact(ethernet.destination()));
    fields.eth_src = Some(ethernet.source());
    fields.eth_type = Some(ethernet.ethertype());
    if let Ok(arp) = Arp::parse(&ethernet) {
        fields.arp_op = Some(arp.operation() as u16);
        (fields.arp_spa, fields.arp_sha) = (Some(arp.sender_ip()), Some(arp.sender()));
        fields.arp_tpa = Some(arp.target_ip());
    }
    let Ok(ip) = Ip::parse(&ethernet) else { return fields };
    fields.ip_proto = Some(ip.protocol());
    match ip {
        Ip::V4(ip) => (fields.ipv4_src, fields.ipv4_dst) = (Some(ip.source()), Some(ip.destination())),
        Ip::V6(ip) => {
            (fields.ipv6_src, fields.ipv6_dst) = (Some(ip.source()), Some(ip.destination()));
            if let Ok(message) = Neighbor::parse(&ip) {
                let mac = Some(message.link_layer().unwrap_or_default());
                fields.icmpv6_type = Some(message.operation() as u8);
                fields.ipv6_nd_target = Some(message.target());
                match message.operation() {
                    NeighborOperation::Solicitation => fields.ipv6_nd_sll = mac,
                    NeighborOperation::Advertisement => fields.ipv6_nd_tll = mac,
                }
            }
        }
    }
    if ip.is_fragment() {
        return fields;
    }
    match ip.protocol() {
        IpProtocol::TCP => {
            if let Ok(tcp) = Tcp::parse(ip.payload()) {
                (fields.tcp_src, fields.tcp_dst) = (Some(tcp.source_port()), Some(tcp.destination_port()));
            }
        }
        IpProtocol::UDP => {
            if let Ok(udp) = Udp::parse(ip.payload()) {
                (fields.udp_src, fields.udp_dst) = (Some(udp.source_port()), Some(udp.destination_port()));
            }
        }
        _ => {}
    }
    fields
}

/// A host's addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Station {
    /// Its MAC address.
    pub mac: Mac,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
}

/// An ARP request or reply from `sender`. A request is for `target`'s IP address and is broadcast.
pub fn arp(operation: ArpOperation, sender: Station, target: Station) -> Vec<u8> {
    let (to, asked) = match operation {
        ArpOperation::Request => (Mac::BROADCAST, Mac::default()),
        ArpOperation::Reply => (target.mac, target.mac),
    };
    let (sender, target) = ((sender.mac, sender.address), (asked, target.address));
    let mut frame = Arp::frame(operation, to, sender, target).to_vec();
    frame.resize(MIN_FRAME, 0);
    frame
}

/// One end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Socket {
    /// The host.
    pub station: Station,
    /// Its port.
    pub port: u16,
}

/// A TCP segment without data.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The sender.
    pub from: Socket,
    /// The receiver.
    pub to: Socket,
    /// The sequence number.
    pub sequence: u32,
    /// The acknowledgement number.
    pub acknowledgement: u32,
    /// The control bits.
    pub flags: TcpFlags,
    /// The options.
    pub options: &'a [TcpOption<'a>],
}

impl Segment<'_> {
    /// The frame with the segment, with all checksums.
    ///
    /// # Errors
    /// Those of [`TcpOption::write_all`].
    pub fn frame(&self) -> Result<Vec<u8>, Error> {
        let (Socket { station: from, port: from_port }, Socket { station: to, port: to_port }) =
            (self.from, self.to);
        let mut options = [0; 40];
        let options_len = TcpOption::write_all(self.options, &mut options)?;
        let mut tcp = Vec::with_capacity(60);
        tcp.extend([from_port.to_be_bytes(), to_port.to_be_bytes()].concat());
        tcp.extend([self.sequence.to_be_bytes(), self.acknowledgement.to_be_bytes()].concat());
        tcp.extend([((20 + options_len) << 2) as u8, self.flags.0, 0xfa, 0xf0, 0, 0, 0, 0]);
        tcp.extend(&options[..options_len]);
        let ends = [from.address.octets(), to.address.octets()].concat();
        let pseudo = [&ends[..], &[0, 6], &(tcp.len() as u16).to_be_bytes()].concat();
        let check = checksum(&[&pseudo, &tcp]);
        tcp[16..18].copy_from_slice(&check.to_be_bytes());

        let mut ip = vec![0x45, 0];
        ip.extend((20 + tcp.len() as u16).to_be_bytes());
        ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        ip.extend(&ends);
        let check = checksum(&[&ip]);
        ip[10..12].copy_from_slice(&check.to_be_bytes());

        Ok([&to.mac.0[..], &from.mac.0, &EtherType::IPV4.0.to_be_bytes(), &ip, &tcp].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Station = Station { mac: Mac([2, 0, 0, 0, 0, 1]), address: Ipv4Addr::new(10, 0, 0, 1) };
    const B: Station = Station { mac: Mac([2, 0, 0, 0, 0, 2]), address: Ipv4Addr::new(10, 0, 0, 2) };

    #[test]
    fn a_switch_reads_of_a_segment_what_a_match_may_ask() {
        let options = [TcpOption::MaximumSegmentSize(MSS), TcpOption::SackPermitted];
        let (from, to) = (Socket { station: A, port: 49152 }, Socket { station: B, port: 80 });
        let segment =
            Segment { from, to, sequence: 7, acknowledgement: 0, flags: TcpFlags::SYN, options: &options };
        let frame = segment.frame().unwrap();
        let expected = Match {
            in_port: Some(PortNumber(3)),
            eth_dst: Some(Masked::exact(B.mac)),
            eth_src: Some(A.mac),
            eth_type: Some(EtherType::IPV4),
            ip_proto: Some(IpProtocol::TCP),
            ipv4_src: Some(A.address),
            ipv4_dst: Some(B.address),
            tcp_src: Some(49152),
            tcp_dst: Some(80),
            ..Match::default()
        };
        assert_eq!(fields(PortNumber(3), &frame), expected);
        // The sum over data and checksum is all ones.
        assert_eq!(checksum(&[&frame[14..34]]), 0);
        let (ip, tcp) = frame[14..].split_at(20);
        assert_eq!(checksum(&[&ip[12..20], &[0, 6], &(tcp.len() as u16).to_be_bytes(), tcp]), 0);
    }

    #[test]
    fn arp_asks_all_and_answers_one() {
        let request = arp(ArpOperation::Request, A, B);
        let asked = fields(PortNumber(1), &request);
        assert_eq!((asked.arp_op, asked.eth_dst), (Some(1), Some(Masked::exact(Mac::BROADCAST))));
        let reply = arp(ArpOperation::Reply, B, A);
        let answered = fields(PortNumber(1), &reply);
        assert_eq!((answered.arp_op, answered.eth_dst), (Some(2), Some(Masked::exact(A.mac))));
        let ethernet = Ethernet::parse(&reply).unwrap();
        let read = Arp::parse(&ethernet).unwrap();
        assert_eq!((read.sender(), read.sender_ip(), read.target_ip()), (B.mac, B.address, A.address));
    }
}
