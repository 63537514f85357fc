//! A small engine that processes simultaneous events in the same order as ns-3.
//!
//! On links of equal rate, packets often arrive at the same picosecond, and the order decides which of
//! them a full queue refuses. Weft's order is (time, hash of time and port), ns-3's is (time, order of scheduling);
//! neither is more correct, but runs diverge from the first such tie on. This engine has two events per
//! packet and hop, like ns-3's devices, and uses Weft's endpoints, routes and schemes: if its completion
//! times equal ns-3's, these agree with ns-3, and the only difference left between Weft and ns-3 is the
//! order of simultaneous events.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rand_core::SeedableRng;
use weft_fabric::{Fabric, Limit};
use weft_switching::{
    Action, Actions, Blueprint, Context, Forwarding, Header, Kind, Mac, SchemeSpec, SchemeVisitor, Stream,
    Switch, flow_hash, pick, visit_scheme,
};
use weft_traffic::Flow;
use weft_transport::{Config, Endpoint, Flags, Segment};
use weft_units::{Bytes, FlowId, HostId, LinkId, NodeId, PortId, Time};

use crate::ns3::case::{Input, Outcome};
use crate::ns3::mersenne::Mersenne;
use crate::ns3::run::transport;

/// The outcome of each flow of `input`.
pub fn run(input: &Input) -> BTreeMap<FlowId, Outcome> {
    let fabric = &input.fabric;
    let routes = Arc::new(Forwarding::new(fabric, |link| fabric.link(link).up));
    let spray = input.scheme == "spray";
    let visitor = Visitor {
        fabric,
        flows: &input.flows,
        cfg: &transport(&input.tcp),
        routes: &routes,
        draws: spray.then(|| Mersenne::new(input.seed)),
    };
    let scheme = SchemeSpec { name: input.scheme.clone(), params: BTreeMap::new() };
    visit_scheme(&scheme, fabric, &routes, input.seed, visitor).unwrap()
}

struct Visitor<'a> {
    fabric: &'a Fabric,
    flows: &'a [Flow],
    cfg: &'a Config,
    routes: &'a Arc<Forwarding>,
    draws: Option<Mersenne>,
}

impl SchemeVisitor for Visitor<'_> {
    type Output = BTreeMap<FlowId, Outcome>;

    fn visit<B: Blueprint>(self, blueprint: B) -> Self::Output {
        let Self { fabric, flows, cfg, routes, draws } = self;
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let forward = |node| -> Forward {
            let mut switch = blueprint.switch(fabric, node);
            Box::new(move |now, ingress, header| {
                let mut actions = Actions::default();
                let mut context = Quiet(now, Stream::seed_from_u64(0));
                switch.receive(&mut context, ingress, header, &mut actions);
                match actions.take_only() {
                    Some(Action::Send(port)) => Some(port),
                    _ => None,
                }
            })
        };
        let switch = |node| (!fabric.node(node).is_host()).then(|| forward(node));
        let mut engine = Engine {
            fabric,
            flows,
            cfg,
            routes,
            draws,
            switches: nodes.map(switch).collect(),
            lines: fabric.links().iter().map(|_| Line::default()).collect(),
            sides: Vec::new(),
            now: Time::ZERO,
            events: BTreeMap::new(),
            scheduled: 0,
            unfinished: flows.len(),
        };
        engine.run()
    }
}

enum Event {
    Start(usize),
    /// The line of a link becomes free.
    Free(LinkId),
    Arrive(LinkId, Box<Packet>),
    /// A segment is processed; ns-3 uses a separate event for the first SYN.
    Segment(Box<Packet>),
    Timer(usize),
}

/// The key of a timer that is not running.
const NEVER: (Time, u64) = (Time::MAX, 0);

struct Packet {
    header: Header,
    to: usize,
    segment: Segment,
}

/// An ns-3 device: the packet on the line is not in the queue.
#[derive(Default)]
struct Line {
    busy: bool,
    queue: VecDeque<Box<Packet>>,
}

/// One end of a flow: an even number at the source, the next at the destination.
struct Side {
    endpoint: Endpoint,
    /// The key of its timer among the events.
    armed: (Time, u64),
    header: Header,
    nic: LinkId,
    heard: bool,
    end: Option<Time>,
}

/// A switch of any scheme: the egress of a frame, by the time and the port of its arrival.
type Forward = Box<dyn FnMut(Time, PortId, &Header) -> Option<PortId>>;

struct Engine<'a> {
    fabric: &'a Fabric,
    flows: &'a [Flow],
    cfg: &'a Config,
    routes: &'a Arc<Forwarding>,
    draws: Option<Mersenne>,
    switches: Vec<Option<Forward>>,
    lines: Vec<Line>,
    sides: Vec<Side>,
    now: Time,
    events: BTreeMap<(Time, u64), Event>,
    scheduled: u64,
    unfinished: usize,
}

struct Quiet(Time, Stream);

impl Context for Quiet {
    fn now(&self) -> Time {
        self.0
    }

    fn queue_bytes(&self, _port: PortId) -> u64 {
        0
    }

    fn random(&mut self) -> &mut Stream {
        &mut self.1
    }
}

impl Engine<'_> {
    fn run(&mut self) -> BTreeMap<FlowId, Outcome> {
        for (number, flow) in self.flows.iter().enumerate() {
            self.open(flow);
            self.schedule(flow.start, Event::Start(number));
        }
        while self.unfinished > 0 {
            let Some(((time, _), event)) = self.events.pop_first() else { break };
            self.now = time;
            match event {
                Event::Start(number) => self.start(number),
                Event::Free(link) => {
                    self.lines[link.index()].busy = false;
                    self.start_line(link);
                }
                Event::Arrive(link, packet) => self.arrive(link, packet),
                Event::Segment(packet) => self.receive(packet.to, &packet.segment),
                Event::Timer(side) => self.timer(side),
            }
        }
        self.flows.iter().enumerate().map(|(number, flow)| (flow.id, self.outcome(number, flow))).collect()
    }

    fn outcome(&self, number: usize, flow: &Flow) -> Outcome {
        let stats = self.sides[2 * number].endpoint.stats();
        Outcome {
            fct: self.sides[2 * number + 1].end.map(|end| end.saturating_since(flow.start)),
            retransmitted: u64::from(stats.retransmissions),
            timeouts: u64::from(stats.timeouts),
        }
    }

    fn schedule(&mut self, at: Time, event: Event) -> (Time, u64) {
        let place = (at, self.scheduled);
        self.events.insert(place, event);
        self.scheduled += 1;
        place
    }

    fn open(&mut self, flow: &Flow) {
        let side = |endpoint, src: HostId, dst: HostId, sport, dport| Side {
            endpoint,
            armed: NEVER,
            header: Header {
                dst: Mac::of_host(dst.0),
                src: Mac::of_host(src.0),
                sport,
                dport,
                flow_hash: flow_hash(src, dst, sport, dport),
                kind: Kind::Tcp,
                ..Header::default()
            },
            nic: self.fabric.ports(self.fabric.host_node(src))[0],
            heard: false,
            end: None,
        };
        let client = Endpoint::listen(self.cfg, 0);
        let server = Endpoint::listen(self.cfg, 0);
        let there = side(client, flow.src, flow.dst, flow.sport, flow.dport);
        let back = side(server, flow.dst, flow.src, flow.dport, flow.sport);
        self.sides.extend([there, back]);
    }

    fn start(&mut self, number: usize) {
        let mut client = Endpoint::connect(self.cfg, self.now, 0);
        client.write(self.flows[number].bytes);
        client.close();
        self.sides[2 * number].endpoint = client;
        self.sides[2 * number].heard = true;
        self.pump(2 * number);
    }

    fn pump(&mut self, number: usize) {
        let side = &mut self.sides[number];
        let bytes = self.flows[number / 2].bytes;
        if number % 2 == 1 && side.end.is_none() && side.endpoint.delivered() >= bytes {
            side.end = Some(self.now);
            side.endpoint.close();
            self.unfinished -= 1;
        }
        let (header, nic) = (side.header, side.nic);
        let mut segment = Segment::default();
        while self.sides[number].endpoint.poll_transmit(self.cfg, self.now, &mut segment) {
            let packet = Packet { header, to: number ^ 1, segment };
            self.offer(nic, Box::new(packet));
        }
        let (deadline, armed) = (self.sides[number].endpoint.next_timeout(), self.sides[number].armed);
        if deadline != armed.0 {
            self.events.remove(&armed);
            let idle = deadline == Time::MAX;
            self.sides[number].armed =
                if idle { NEVER } else { self.schedule(deadline, Event::Timer(number)) };
        }
    }

    fn timer(&mut self, number: usize) {
        let side = &mut self.sides[number];
        side.armed = NEVER;
        side.endpoint.on_timeout(self.cfg, self.now);
        self.pump(number);
    }

    fn receive(&mut self, number: usize, segment: &Segment) {
        self.sides[number].endpoint.on_segment(self.cfg, self.now, segment);
        self.pump(number);
    }

    fn offer(&mut self, link: LinkId, packet: Box<Packet>) {
        let Limit::Packets(limit) = self.fabric.link(link).queue.limit else { return };
        let line = &mut self.lines[link.index()];
        if line.queue.len() < limit as usize {
            line.queue.push_back(packet);
            if !line.busy {
                self.start_line(link);
            }
        }
    }

    fn start_line(&mut self, id: LinkId) {
        let Some(packet) = self.lines[id.index()].queue.pop_front() else { return };
        self.lines[id.index()].busy = true;
        let link = self.fabric.link(id);
        let bytes = link.overhead.wire_bytes(packet.segment.ip_bytes());
        let free = self.now + link.rate.tx_time(Bytes(u64::from(bytes)));
        self.schedule(free, Event::Free(id));
        self.schedule(free + link.delay, Event::Arrive(id, packet));
    }

    fn arrive(&mut self, link: LinkId, packet: Box<Packet>) {
        let node = self.fabric.link(link).to;
        let Some(switch) = &mut self.switches[node.index()] else {
            let first = !std::mem::replace(&mut self.sides[packet.to].heard, true);
            if first && packet.segment.flags.has(Flags::SYN) {
                self.schedule(self.now, Event::Segment(packet));
            } else {
                self.receive(packet.to, &packet.segment);
            }
            return;
        };
        let port = if let Some(draws) = &mut self.draws {
            // The reference draws from one Mersenne twister for all switches.
            let to = packet.header.destination().unwrap();
            let ports = self.routes.at(node);
            let ports = ports.all(to);
            let choice = if ports.len() > 1 { pick(draws.next(), ports.len()) } else { 0 };
            ports[choice]
        } else {
            let Some(port) = switch(self.now, self.fabric.link(link).to_port, &packet.header) else { return };
            port
        };
        self.offer(self.fabric.ports(node)[port.index()], packet);
    }
}
