//! One link, fed with packets at chosen times: a single queue, as in queueing theory.

use weft_fabric::{FabricBuilder, LinkSpec};
use weft_sim::division::Division;
use weft_sim::event_queue::Due;
use weft_sim::network::{HostKind, Network};
use weft_sim::packet::Metadata;
use weft_switching::{DropReason, Header};
use weft_transport::{Ecn, Segment};
use weft_units::{Bytes, LinkId, PortId, Time};

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    pub tag: u32,
    pub arrived: Time,
    pub marked: bool,
}

/// A link from one host to another.
pub struct Wire {
    pub net: Network<'static>,
    link: u32,
    pub passed: Vec<Passed>,
}

impl Wire {
    pub fn new(spec: &LinkSpec) -> Self {
        let mut builder = FabricBuilder::new("wire");
        let hosts = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).expect("a good name"));
        builder.connect(hosts[0], hosts[1], spec).expect("a good link");
        let fabric = builder.build().expect("two hosts and a link");
        let fabric = Box::leak(Box::new(fabric));
        let kind = HostKind { subflow_bits: 1, paces: false, asks_telemetry: false };
        let mut net = Network::new(fabric, 1, &Division::of(fabric), 0, kind, 1_500, false);
        net.queue.set_end(Time::MAX);
        Self { link: net.link_at(hosts[0], PortId(0)), net, passed: Vec::new() }
    }

    /// Offers a packet of `ip_bytes` with a DSCP at `at`, after processing the events due until then.
    pub fn offer(&mut self, at: Time, tag: u32, ip_bytes: u16, dscp: u8, ecn: Ecn) -> Result<(), DropReason> {
        self.run_until(at);
        self.net.now = at;
        let segment = Segment { len: ip_bytes - 40, ecn, ..Segment::default() };
        let template = Header { traffic_class: dscp << 2, ..Header::default() };
        let packet = self.net.packets.packet_of(at, &template, tag, &segment, Metadata::default());
        let before = self.net.counters.packets_dropped;
        if self.net.send(self.link, packet) {
            return Ok(());
        }
        let drops = before.iter().zip(self.net.counters.packets_dropped);
        let reason = DropReason::ALL.into_iter().zip(drops).find(|(_, (before, after))| *before < after);
        Err(reason.expect("a refused packet is dropped for a reason").0)
    }

    /// Processes the events due until `at`.
    pub fn run_until(&mut self, at: Time) {
        let links = self.net.links.count();
        while let Some((time, due)) = self.net.next_event().filter(|(time, _)| *time <= at) {
            self.net.now = time;
            match due {
                Due::Leaf(link) if link < links => {
                    let (bound, next, _, port) = self.net.arrive(link);
                    self.net.queue.set(link, port.into(), next);
                    let found = self.net.packets.get(bound.packet);
                    let marked = found.header.traffic_class & Header::CE == Header::CE;
                    self.passed.push(Passed {
                        tag: found.endpoint().unwrap_or(u32::MAX),
                        arrived: time,
                        marked,
                    });
                    self.net.packets.remove(bound.packet);
                }
                Due::Leaf(line) => {
                    self.net.line_free(line - links);
                }
                Due::Far(_) => unreachable!("nothing of that kind is scheduled"),
            }
        }
    }

    /// Bytes not yet sent.
    pub fn backlog(&self) -> Bytes {
        self.net.backlog(self.link)
    }

    /// The counters of the link.
    pub fn counters(&self) -> weft_sim::line::LinkCounters {
        self.net.counters_of(LinkId(0))
    }
}
