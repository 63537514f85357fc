//! Parses frames into the fields that a switch may use, with `weft-wire`.

use weft_switching::{Header, Kind};

use crate::conformance::membership::is_report;
use weft_wire::{
    Arp, ArpOperation, EtherType, Ethernet, Ip, IpProtocol, Mac, Neighbor, NeighborOperation, PathFrame,
    PathHeader, PathType, TcpFrame, Tuple,
};

/// The fields of a frame that a switch may use, or the counter of the error in a Path frame.
pub fn read(frame: &[u8]) -> Result<Header, &'static str> {
    let address = |at: usize| Mac(frame[at..at + 6].try_into().expect("six bytes"));
    let ip_bytes = u16::try_from(frame.len() - 14).expect("frames of a test are short");
    let plain = Header { dst: address(0), src: address(6), kind: Kind::Other, ip_bytes, ..Header::default() };
    let Ok(ethernet) = Ethernet::parse(frame) else { return Ok(plain) };
    match ethernet.ethertype() {
        EtherType::HELLO => Ok(Header { kind: Kind::Hello, ..plain }),
        EtherType::PATH => {
            let path = PathFrame::parse(frame, EtherType::PATH).map_err(|error| error.counter())?.header();
            read_path(&path, plain).ok_or("type")
        }
        _ => Ok(segment(frame, plain).unwrap_or_else(|| {
            let mut header = Header { kind: kind(&ethernet), ..plain };
            header.set_report(is_report(frame));
            header
        })),
    }
}

/// A TCP segment; one to a group address does not belong to a flow.
fn segment(frame: &[u8], plain: Header) -> Option<Header> {
    let read = TcpFrame::parse(frame).ok().filter(|_| !plain.dst.is_group())?;
    let (sport, dport, tcp_flags) =
        (read.tcp().source_port(), read.tcp().destination_port(), read.tcp().flags().0);
    let traffic_class = read.ip().dscp() << 2 | read.ip().ecn();
    let payload = u16::try_from(read.tcp().payload().len()).expect("frames of a test are short");
    let mut header = Header { kind: Kind::Tcp, sport, dport, tcp_flags, traffic_class, payload, ..plain };
    header.set_exploration_id(read.tcp().sequence());
    Some(header)
}

fn kind(ethernet: &Ethernet<'_>) -> Kind {
    if let Ok(arp) = Arp::parse(ethernet) {
        return match arp.operation() {
            ArpOperation::Request => Kind::ArpRequest,
            ArpOperation::Reply => Kind::ArpReply,
        };
    }
    if let Ok(Ip::V6(ip)) = Ip::parse(ethernet)
        && let Ok(neighbour) = Neighbor::parse(&ip)
    {
        return match neighbour.operation() {
            NeighborOperation::Solicitation => Kind::ArpRequest,
            NeighborOperation::Advertisement => Kind::ArpReply,
        };
    }
    Kind::Other
}

/// Path frames about two stations, not a flow, have types 3 to 5 and no TCP ports.
fn read_path(path: &PathHeader, plain: Header) -> Option<Header> {
    let Tuple { source_port: sport, destination_port: dport, destination, .. } = path.tuple;
    let flow = sport != 0 || dport != 0;
    let kind = match path.path_type {
        PathType::Request | PathType::Reply if !flow => return None,
        PathType::Request => Kind::PathRequest,
        PathType::Reply => Kind::PathReply,
        PathType::Fail => Kind::PathFail,
        PathType::RecoveryRequest if flow => Kind::RecoveryRequest,
        PathType::RecoveryRequest => Kind::PathRequest,
        PathType::RecoveryReply if flow => Kind::RecoveryReply,
        PathType::RecoveryReply => Kind::PathReply,
    };
    let mut header = Header { kind, sport, dport, dst: destination, ..plain };
    header.set_exploration_id(path.id);
    header.overlay[4] = path.hops;
    Some(header)
}

/// The ports and protocol that a flow is hashed by, and its flow label.
pub fn flow(frame: &[u8]) -> ([u16; 2], u8, u32) {
    let ip = Ethernet::parse(frame).ok().and_then(|ethernet| Ip::parse(&ethernet).ok());
    let label = if let Some(Ip::V6(ip)) = &ip { ip.flow_label() } else { 0 };
    let hashed = |ip: &Ip<'_>| {
        let known = [IpProtocol::TCP, IpProtocol::UDP].contains(&ip.protocol());
        known && !ip.is_fragment() && ip.payload().len() >= 8
    };
    match ip.filter(hashed) {
        Some(ip) => {
            let port = |at: usize| u16::from_be_bytes([ip.payload()[at], ip.payload()[at + 1]]);
            ([port(0), port(2)], ip.protocol().0, label)
        }
        None => ([0, 0], 0, label),
    }
}
