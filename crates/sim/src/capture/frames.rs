//! [`Frames`]: a simulated frame as bytes on the wire.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use weft_fabric::Fabric;
use weft_scenario::Plan;
use weft_switching::exploration::Exploration;
use weft_switching::hello_loss::HelloCount;
use weft_switching::host::over::over;
use weft_switching::{Header, Kind, Overlay, Reception, descriptor, smoc};
use weft_transport::mptcp::Options;
use weft_transport::{Config, Flags, IP_HEADER, Mptcp, Segment, TCP_HEADER};
use weft_units::{HostId, LinkId, NodeId, Time};
use weft_wire::{
    Arp, ArpOperation, Echo, EtherType, Ethernet, Hello, Ipv4, MIN_FRAME, Mac, PathHeader, PathType,
    SwitchId, Tcp, Tuple, checksum, wrap,
};

use super::options::{options, window_scale};
use crate::hosts::{Format, format};
use crate::resolver;
use crate::trace::Seen;

/// The EtherType of frames whose format a scheme leaves open: IEEE 802's for local experiments.
const EXPERIMENTAL: EtherType = EtherType(0x88b5);
/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;
/// The maximum number of bytes stored of a frame: all headers.
pub const SNAPLEN: u32 = 256;
/// "Don't fragment", and the time to live that hosts send; switches do not change it.
const IP_FLAGS_TTL: [u8; 5] = [0, 0, 0x40, 0, 64];

/// A frame: the bytes up to its data, and its length with the data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// All headers, and the padding of a frame without data.
    pub bytes: Vec<u8>,
    /// The length on the wire, without the frame check sequence.
    pub length: u32,
}

/// The frames of a run.
pub struct Frames<'a> {
    fabric: &'a Fabric,
    /// TCP's parameters, if hosts use it.
    transport: Option<&'a Config>,
    scale: u8,
    overlay: Overlay,
    /// The hold time of Hello messages.
    hold_ms: u32,
    /// The initial sequence number of each end of a subflow, if hosts use Multipath TCP.
    starts: HashMap<[u64; 2], u32>,
    is_multipath: bool,
    datagrams: Format,
}

impl<'a> Frames<'a> {
    /// The frames of a run of `plan`.
    pub fn new(plan: &'a Plan) -> Self {
        let scheme = match descriptor(&plan.scheme.name) {
            Some(scheme) if scheme.is_at_hosts => descriptor(&over(&plan.scheme).name),
            scheme => scheme,
        };
        let hold = Exploration::from_spec(&plan.scheme).hold;
        let transport = plan.transport.protocol.tcp();
        Self {
            fabric: &plan.fabric,
            transport,
            scale: transport.map_or(0, window_scale),
            overlay: scheme.map_or(Overlay::Open, |scheme| scheme.overlay),
            hold_ms: u32::try_from(hold.ps() / 1_000_000_000).unwrap_or(u32::MAX),
            starts: HashMap::new(),
            datagrams: format(&plan.transport.protocol),
            is_multipath: transport.is_some_and(|config| config.mptcp != Mptcp::Off),
        }
    }

    /// Takes note of a frame that is sent: a SYN has its subflow's initial sequence number.
    pub fn note(&mut self, header: &Header) {
        if self.is_multipath && header.kind == Kind::Tcp && header.tcp_flags & Header::SYN != 0 {
            self.starts.insert(end(header), header.exploration_id());
        }
    }

    /// The frame `seen` on `link` at `time`.
    pub fn frame(&self, link: LinkId, seen: &Seen, time: Time) -> Frame {
        let header = &seen.header;
        match (header.kind, seen.segment) {
            (Kind::ArpRequest | Kind::ArpReply, _) => arp(header),
            (Kind::Hello, _) => self.hello(link, header, time),
            (Kind::Other, Some((segment, _))) => self.udp(link, header, &segment),
            // Hosts' own probes are packets without any flag of TCP.
            (_, Some((segment, options))) if segment.flags != Flags::NONE => {
                self.tcp(link, header, &segment, &options)
            }
            (Kind::PathRequest, _) => path(header, PathType::RecoveryRequest),
            (Kind::PathReply, _) => path(header, PathType::RecoveryReply),
            (Kind::PathFail, _) => path(header, PathType::Fail),
            (Kind::RecoveryRequest, _) => path(header, PathType::RecoveryRequest),
            (Kind::RecoveryReply, _) => path(header, PathType::RecoveryReply),
            (Kind::Tcp | Kind::Other | Kind::Probe, _) => open(header),
        }
    }

    fn tcp(&self, link: LinkId, header: &Header, segment: &Segment, multipath: &Options) -> Frame {
        let start = self.starts.get(&end(header)).copied().unwrap_or_default();
        let options = self.transport.map(|transport| options(transport, segment, multipath, start));
        let segment_bytes = self.segment(header, segment, &options.unwrap_or_default());
        let length = segment_bytes.len() + usize::from(segment.len);
        let (ip, ends) = ip(header, 6, length);
        let pseudo = [&ends[..], &[0, 6], &(length as u16).to_be_bytes()].concat();
        let mut tcp = segment_bytes;
        // The data, which is not stored, counts as zeros.
        let sum = checksum(&[&pseudo, &tcp]);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        self.packet(link, header, [ip, tcp].concat(), segment.len.into())
    }

    /// A packet of a protocol over UDP.
    fn udp(&self, link: LinkId, header: &Header, segment: &Segment) -> Frame {
        let length = usize::from(header.ip_bytes).saturating_sub(IP_HEADER as usize);
        let (mut packet, _) = ip(header, 17, length);
        packet.extend(header.sport.to_be_bytes());
        packet.extend(self.datagrams.port.unwrap_or(header.dport).to_be_bytes());
        packet.extend((length as u16).to_be_bytes());
        // None, which IPv4 permits.
        packet.extend([0, 0]);
        let transport = (self.datagrams.headers)(header, segment);
        let data = length.saturating_sub(UDP_HEADER + transport.len()) as u32;
        packet.extend(transport);
        self.packet(link, header, packet, data)
    }

    /// An IP packet with `data` bytes behind its headers, as it is on `link`.
    fn packet(&self, link: LinkId, header: &Header, packet: Vec<u8>, data: u32) -> Frame {
        let from_switch = !self.fabric.node(self.fabric.link(link).from).is_host();
        let destination =
            if from_switch && self.overlay == Overlay::Label { header.label() } else { header.dst };
        let ethernet = [&destination.0[..], &header.src.0, &EtherType::IPV4.0.to_be_bytes()].concat();
        let frame = Frame::new([ethernet, packet].concat(), data);
        match header.kind {
            Kind::PathRequest => frame.wrapped(header, PathType::Request),
            Kind::PathReply => frame.wrapped(header, PathType::Reply),
            _ => match header.tag().filter(|_| from_switch && self.overlay == Overlay::Tag) {
                Some((ethertype, tag)) => frame.tagged(ethertype, tag),
                None => frame,
            },
        }
    }

    /// The TCP header, with a checksum of 0.
    fn segment(&self, header: &Header, segment: &Segment, options: &[u8]) -> Vec<u8> {
        let shift = if segment.flags.has(Flags::SYN) { 0 } else { self.scale };
        let window = u16::try_from(segment.window >> shift).unwrap_or(u16::MAX);
        let offset = (Tcp::MIN_HEADER_LEN + options.len()) as u8 / 4 * 16;
        let mut bytes = Vec::with_capacity(TCP_HEADER as usize + options.len());
        bytes.extend(header.sport.to_be_bytes());
        bytes.extend(header.dport.to_be_bytes());
        bytes.extend(segment.seq.to_be_bytes());
        bytes.extend(segment.ack.to_be_bytes());
        bytes.extend([offset, segment.flags.0 & !Flags::TS.0]);
        bytes.extend(window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes
    }

    fn hello(&self, link: LinkId, header: &Header, time: Time) -> Frame {
        let HelloCount { number, misses } = HelloCount::of(header);
        let link = self.fabric.link(link);
        let switch = |node: NodeId| SwitchId(u64::from(node.0) + 1);
        let hello = Hello {
            tier: self.fabric.node(link.from).tier,
            hold_ms: self.hold_ms,
            switch: switch(link.from),
            port: link.from_port.0,
            sequence: time.ps() / 1000,
            echo: match Reception::of(header) {
                Reception::Unknown => None,
                Reception::Heard => Some(Echo::of(switch(link.to), link.to_port.0)),
                Reception::Nothing => Some(Echo::NOBODY),
            },
            number,
            misses,
        };
        let ([_, a, b, c], [_, d]) = (link.from.0.to_be_bytes(), link.from_port.0.to_be_bytes());
        let mut bytes = vec![0; MIN_FRAME];
        // The buffer is long enough.
        let _ = hello.write(Mac([0x02, 0x77, a, b, c, d]), EtherType::HELLO, None, &mut bytes);
        Frame::new(bytes, 0)
    }
}

impl Frame {
    /// A frame of these bytes and this much data, padded to the minimum length.
    fn new(mut bytes: Vec<u8>, data: u32) -> Self {
        let length = (bytes.len() as u32 + data).max(MIN_FRAME as u32);
        if data == 0 {
            bytes.resize(length as usize, 0);
        }
        Self { bytes, length }
    }

    /// Wrapped in a Path frame. A frame that cannot be wrapped stays as it is.
    fn wrapped(self, header: &Header, path_type: PathType) -> Self {
        let mut bytes = vec![0; self.bytes.len() + weft_wire::PATH_HEADER_LEN];
        if wrap(&self.bytes, path_type, header.exploration_id(), EtherType::PATH, &mut bytes).is_err() {
            return self;
        }
        bytes[Ethernet::HEADER_LEN + 2] = header.hops();
        Self { length: self.length + weft_wire::PATH_HEADER_LEN as u32, bytes }
    }

    /// Inserts a tag after the addresses.
    fn tagged(mut self, ethertype: EtherType, tag: [u8; 6]) -> Self {
        self.bytes.splice(12..12, ethertype.0.to_be_bytes().into_iter().chain(tag));
        Self { length: self.length + weft_wire::TAG_LEN as u32, ..self }
    }
}

/// The address and port of the sender, and those of the receiver.
fn end(header: &Header) -> [u64; 2] {
    [
        header.src.unmarked().bits() << 16 | u64::from(header.sport),
        header.dst.bits() << 16 | u64::from(header.dport),
    ]
}

/// The IPv4 address of the host with this MAC address.
fn address(mac: Mac) -> [u8; 4] {
    match mac.unmarked().host().map(|number| smoc::address(HostId(number))) {
        Some(IpAddr::V4(address)) => address.octets(),
        _ => [0; 4],
    }
}

/// The IPv4 header of a packet with `length` bytes behind it, and its two addresses.
fn ip(header: &Header, protocol: u8, length: usize) -> (Vec<u8>, Vec<u8>) {
    let ends = [address(header.src), address(header.dst)].concat();
    let mut ip = vec![0x45, header.traffic_class];
    ip.extend(((Ipv4::MIN_HEADER_LEN + length) as u16).to_be_bytes());
    ip.extend(IP_FLAGS_TTL);
    ip.extend([protocol, 0, 0]);
    ip.extend(&ends);
    let sum = checksum(&[&ip]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    (ip, ends)
}

fn arp(header: &Header) -> Frame {
    let station = |mac: Mac| (mac, Ipv4Addr::from(address(mac)));
    let sender = station(header.src.unmarked());
    let (operation, target) = match header.kind {
        Kind::ArpRequest => {
            let (_, ip) = station(Mac::of_host(resolver::target(header).0));
            (ArpOperation::Request, (Mac::default(), ip))
        }
        _ => (ArpOperation::Reply, station(header.dst)),
    };
    let mut bytes = Arp::frame(operation, header.dst, sender, target).to_vec();
    // A mark of switches is in the Ethernet header only.
    bytes[6..12].copy_from_slice(&header.src.0);
    Frame::new(bytes, 0)
}

/// A Path frame that carries no other frame.
fn path(header: &Header, path_type: PathType) -> Frame {
    let tuple = Tuple {
        source: header.src,
        source_port: header.sport,
        destination: header.dst,
        destination_port: header.dport,
    };
    let mut bytes = vec![0; MIN_FRAME];
    // The buffer is long enough, and these types carry no frame.
    let _ = PathHeader { path_type, hops: header.hops(), id: header.exploration_id(), tuple }.write(
        &[],
        EtherType::PATH,
        &mut bytes,
    );
    Frame::new(bytes, 0)
}

/// A frame whose format the scheme leaves open, with the overlay as its data.
fn open(header: &Header) -> Frame {
    let start = [&header.dst.0[..], &header.src.0, &EXPERIMENTAL.0.to_be_bytes(), &header.overlay].concat();
    Frame::new(start, 0)
}
