//! A sender, a switch and a receiver without transport: packets are offered at chosen times.

use weft_fabric::{Fabric, FabricBuilder, LinkSpec, Overhead, QueueSpec, SharedBuffer};
use weft_sim::division::Division;
use weft_sim::event_queue::Due;
use weft_sim::network::{HostKind, Network};
use weft_sim::packet::Content;
use weft_sim::served_port::PortCounters;
use weft_switching::{Header, Kind};
use weft_transport::roce::Telemetry;
use weft_units::{Duration, LinkId, PortId, Rate, Time};

/// A packet that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    pub tag: u16,
    pub at: Time,
    pub header: Header,
    pub telemetry: Option<Telemetry>,
}

/// A link of whole bytes: no overhead.
pub fn line(gbps: u64, delay: Duration, queue: QueueSpec) -> LinkSpec {
    LinkSpec::new(Rate::from_gbps(gbps), delay).with_overhead(Overhead::None).with_queue(queue)
}

/// `h0 - s0 - h1`.
pub struct Bare {
    pub net: Network<'static>,
    pub arrived: Vec<Arrived>,
}

impl Bare {
    /// The links from and to the sender are `first`, those from and to the receiver `second`.
    pub fn new(first: &LinkSpec, second: &LinkSpec, buffer: Option<SharedBuffer>, seed: u64) -> Self {
        Self::with(first, second, buffer, seed, false)
    }

    /// As [`Bare::new`]; packets may ask for telemetry.
    pub fn with(
        first: &LinkSpec,
        second: &LinkSpec,
        buffer: Option<SharedBuffer>,
        seed: u64,
        asks_telemetry: bool,
    ) -> Self {
        let mut builder = FabricBuilder::new("bare");
        let hosts = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
        let switch = builder.add_switch("s0", 1, None).unwrap();
        builder.connect(hosts[0], switch, first).unwrap();
        builder.connect(switch, hosts[1], second).unwrap();
        let fabric: &'static Fabric =
            Box::leak(Box::new(builder.build().unwrap().with_buffer(buffer).unwrap()));
        let kind = HostKind { subflow_bits: 1, paces: false, asks_telemetry };
        let mut net = Network::new(fabric, seed, &Division::of(fabric), 0, kind, 1_500, false);
        net.queue.set_end(Time::MAX);
        Self { net, arrived: Vec::new() }
    }

    /// The sender offers a packet of `bytes` at `at`.
    pub fn offer(&mut self, at: Time, tag: u16, bytes: u16, template: Header) {
        self.run_until(at);
        self.net.now = at;
        let header = Header { sport: tag, ip_bytes: bytes, payload: bytes - 40, ..template };
        let packet = self.net.packets.packet_without_segment(&header);
        self.net.counters.packets_sent += 1;
        let nic = self.net.link_at(self.net.fabric.host_node(weft_units::HostId(0)), PortId(0));
        self.net.send(nic, packet);
    }

    /// The sender offers a packet of `bytes` at `at`, with `telemetry`.
    pub fn offer_with(&mut self, at: Time, tag: u16, bytes: u16, telemetry: Option<Telemetry>) {
        self.run_until(at);
        self.net.now = at;
        let header = Header { sport: tag, ip_bytes: bytes, payload: bytes - 40, ..datagram() };
        let (content, telemetry) = (Content::default(), telemetry.map(Box::new));
        let packet = self.net.packets.packet_with(at, &header, 0, content, None, telemetry);
        self.net.counters.packets_sent += 1;
        let nic = self.net.link_at(self.net.fabric.host_node(weft_units::HostId(0)), PortId(0));
        self.net.send(nic, packet);
    }

    /// Processes the events due until `at`.
    pub fn run_until(&mut self, at: Time) {
        let links = self.net.links.count();
        let switch = self.net.fabric.switches().next().unwrap();
        while let Some((time, due)) = self.net.next_event().filter(|(time, _)| *time <= at) {
            self.net.now = time;
            let Due::Leaf(link) = due else { unreachable!("nothing of that kind is scheduled") };
            if link >= links {
                self.net.line_free(link - links);
                continue;
            }
            let (bound, next, far_end, port) = self.net.arrive(link);
            self.net.queue.set(link, port.into(), next);
            if self.net.is_pause_frame(bound.packet) {
                self.net.heed_pause_frame(link, bound.packet);
            } else if far_end.split().is_ok() {
                let egress = self.net.link_at(switch, PortId(1));
                self.net.send(egress, bound.packet);
            } else {
                let header = self.net.packets.get(bound.packet).header;
                let telemetry = self.net.packets.telemetry(bound.packet).copied();
                self.arrived.push(Arrived { tag: header.sport, at: time, header, telemetry });
                self.net.deliver(bound.packet);
            }
        }
    }

    /// Processes all events, and checks that every packet is accounted for.
    pub fn finish(&mut self) {
        self.run_until(Time::MAX);
        self.net.counters.packets_in_flight = self.net.packets.live() as u64;
        assert!(self.net.counters.is_conserved(), "{:?}", self.net.counters);
        assert_eq!(self.net.counters.packets_in_flight, 0);
    }

    /// Packets dropped.
    pub fn dropped(&self) -> u64 {
        self.net.counters.packets_dropped.iter().sum()
    }

    /// The counters of the port of link `id`.
    pub fn port(&self, id: u32) -> PortCounters {
        self.net.port_counters(LinkId(id)).unwrap()
    }
}

/// The header of a packet that may be cut.
pub fn datagram() -> Header {
    Header { kind: Kind::Other, ..Header::default() }
}
