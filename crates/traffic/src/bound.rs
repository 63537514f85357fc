//! [`Bound`]: a lower bound of the time of a [`Program`], and the links that it follows from.

mod chain;
mod rings;

use weft_units::{Bytes, Duration, HostId, Rate, Time, plural};

use self::chain::Chain;
use self::rings::Rings;
use crate::connections::Reuse;
use crate::dependencies::{Need, Node, Point};
use crate::listed::ListedFlow;
use crate::places::Places;
use crate::program::{Program, place};

/// A lower bound of the time from the first start of a flow or computation to the last byte received or the last end of a
/// computation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The bound.
    pub time: Duration,
    /// What it follows from, such as `h3 sends into the network`.
    pub by: String,
}

/// The links of a host that count together: those into the network, or that into its scale-up domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Network,
    ScaleUp,
}

impl Bound {
    /// The bound of `program`, with hosts that send and receive at the rates of their links and nothing else in the network: the
    /// longest chain of flows that wait for each other, or the links of a host that have the most to send or to receive. Each
    /// link counts by its own rate: flows within a scale-up domain use its links, the others those into the network, all of
    /// which count together. Flows of a chain take the time for their bytes at the slower of the two hosts' rates, and the delay
    /// of the two hosts' links. With `Reuse::Persistent`, messages of one host to another that start in order follow each
    /// other. A step of [`StepKind::Each`](crate::StepKind::Each) does not make a chain longer, nor does waiting for a
    /// processor; its steps do. The program must have no circles.
    pub fn of(program: &Program, places: &Places, reuse: Reuse) -> Self {
        let (first, chain) = longest(program, places, reuse);
        let (busiest, by) = busiest(program, places);
        let nearest = program.flows.iter().map(|flow| places.delay(flow.src, flow.dst)).min();
        let (time, busiest) = (chain.at.saturating_since(first), busiest + nearest.unwrap_or(Duration::ZERO));
        let time = if chain.at == Time::MAX { Duration::MAX } else { time };
        if busiest > time {
            return Self { time: busiest, by };
        }
        let by = match chain.flows {
            0 => "computations".to_owned(),
            flows => format!("a chain of {}", plural(flows, "message")),
        };
        Self { time, by }
    }

    /// Whether it is a time, and not only the longest one.
    pub(crate) const fn is_finite(&self) -> bool {
        self.time.ps() < Duration::MAX.ps()
    }
}

/// The start of the first flow or step of a processor, and the chain that ends last. One that waits for nothing is the first:
/// nothing delays it.
fn longest(program: &Program, places: &Places, reuse: Reuse) -> (Time, Chain) {
    let rings = Rings::of(program);
    let ordered = rings.ordered(program);
    let program = &*ordered;
    let graph = program.graph();
    let starts = program.flows.iter().map(|flow| flow.start);
    let starts = starts.chain(program.steps.iter().map(|step| step.start));
    let mut chains: Vec<Chain> = starts.map(|at| Chain { at, flows: 0 }).collect();
    let mut last = Chain { at: Time::ZERO, flows: 0 };
    for node in program.order(&graph).unwrap_or_default() {
        let number = place(node, program.flows.len());
        let started = chains[number];
        if rings.is_step(node) {
            // All flows of the ring have started: their parts wait for each other.
            for (flow, received) in rings.ends(node, program, places, |flow| chains[flow as usize]) {
                if received.at > last.at {
                    last = received;
                }
                let ListedFlow { src, dst, .. } = program.flows[flow as usize];
                let answer = [Duration::ZERO, places.delay(dst, src)];
                for &need in graph.from(Node::Flow(flow)) {
                    let Need { waiting, at: point, delay, .. } = program.needs[need as usize];
                    if point != Point::Started {
                        let at = received.at + answer[usize::from(point == Point::Acknowledged)] + delay;
                        let waiting = place(waiting, program.flows.len());
                        chains[waiting].put_off(Chain { at, ..received });
                    }
                }
            }
            continue;
        }
        let is_whole = !rings.has(node);
        let (sent, received, acknowledged) = match node {
            Node::Flow(flow) => {
                let flow = &program.flows[flow as usize];
                let bytes = places.rate_between(flow.src, flow.dst).tx_time(Bytes(flow.bytes));
                let received = started.at + bytes + places.delay(flow.src, flow.dst);
                (started.at + bytes, received, received + places.delay(flow.dst, flow.src))
            }
            Node::Step(_) => (started.at, started.at, started.at),
        };
        let flows = started.flows + u64::from(matches!(node, Node::Flow(_)));
        // Steps that only wait, for acknowledgements for instance, are no end.
        let end = match node {
            Node::Flow(_) => Some(received),
            Node::Step(_) => takes(program, node).map(|takes| started.at + takes),
        };
        if let Some(at) = end.filter(|at| is_whole && *at > last.at) {
            last = Chain { at, flows };
        }
        for &need in graph.from(node) {
            let Need { waiting, at: point, delay, .. } = program.needs[need as usize];
            if !is_whole && point != Point::Started {
                continue;
            }
            let done = match point {
                Point::Started if reuse == Reuse::Persistent && share_ends(program, node, waiting) => sent,
                Point::Started => started.at,
                Point::Received => received,
                Point::Acknowledged => acknowledged,
            };
            let waiting = place(waiting, program.flows.len());
            chains[waiting].put_off(Chain { at: done + delay, flows });
        }
    }
    let works = (0..).zip(&program.steps).filter(|(_, step)| step.work().is_some());
    let works = works.map(|(step, _)| place(Node::Step(step), program.flows.len()));
    let first = (0..program.flows.len()).chain(works).map(|node| chains[node].at).min();
    (first.unwrap_or(Time::ZERO), last)
}

/// How long a processor is busy with a node, if any is.
fn takes(program: &Program, node: Node) -> Option<Duration> {
    let Node::Step(step) = node else { return None };
    program.steps[step as usize].work().map(|(_, takes)| takes)
}

/// Whether two nodes are flows of one host to another.
fn share_ends(program: &Program, a: Node, b: Node) -> bool {
    let ends = |node| match node {
        Node::Flow(flow) => Some((program.flows[flow as usize].src, program.flows[flow as usize].dst)),
        Node::Step(_) => None,
    };
    ends(a).is_some() && ends(a) == ends(b)
}

/// The time of the links of a host that have the most to send or to receive, and these links.
fn busiest(program: &Program, places: &Places) -> (Duration, String) {
    let mut loads = vec![[[0_u64; 2]; 2]; places.len()];
    for flow in &program.flows {
        let side = match places.share_domain(flow.src, flow.dst) {
            true => Side::ScaleUp,
            false => Side::Network,
        };
        for (host, way) in [(flow.src, 0), (flow.dst, 1)] {
            let load = &mut loads[host.index()][side as usize][way];
            *load = load.saturating_add(flow.bytes);
        }
    }
    let mut most = (Duration::ZERO, HostId(0), Side::Network, 0);
    for (host, loads) in (0..).map(HostId).zip(&loads) {
        let none = Rate::from_bps(0);
        let rates = [
            (Side::Network, [places.rate(host), places.rate_in(host)]),
            (Side::ScaleUp, places.domain_rates(host).unwrap_or([none; 2])),
        ];
        for (side, rates) in rates {
            for way in [0, 1] {
                let bytes = loads[side as usize][way];
                let time = if bytes == 0 { Duration::ZERO } else { rates[way].tx_time(Bytes(bytes)) };
                if time > most.0 {
                    most = (time, host, side, way);
                }
            }
        }
    }
    let (time, host, side, way) = most;
    let words = match (side, way) {
        (Side::Network, 0) => "sends into the network",
        (Side::Network, _) => "receives from the network",
        (Side::ScaleUp, 0) => "sends into its scale-up domain",
        (Side::ScaleUp, _) => "receives from its scale-up domain",
    };
    (time, format!("{} {words}", places.name(host)))
}

#[cfg(test)]
mod tests {
    use weft_fabric::{FabricBuilder, LinkSpec, build};

    use super::*;
    use crate::collective::{Algorithm, Collective};
    use crate::places::tests::spine_leaf;
    use crate::program::tests::there_and_back;

    const US: fn(u64) -> Duration = Duration::from_us;

    #[test]
    fn the_bound_is_the_longest_chain_or_the_busiest_host() {
        // Hosts of 1 Gbps, links without delay.
        let places = spine_leaf(2, 2, 2);
        let bound = |program: &Program| Bound::of(program, &places, Reuse::PerMessage);
        let chain = Bound { time: US(8 + 3 + 4 + 16), by: "a chain of 2 messages".into() };
        assert_eq!(bound(&there_and_back()), chain);
        let mut chunks = Program { ranks: 3, ..Program::default() };
        let first = [chunks.flow(0, 1, 1_000), chunks.flow(1, 2, 1_000)];
        let second = [chunks.flow(0, 1, 1_000), chunks.flow(1, 2, 1_000)];
        chunks.need(first[1], first[0], Point::Received, US(0));
        chunks.need(second[1], second[0], Point::Received, US(0));
        chunks.need(second[0], first[0], Point::Started, US(0));
        assert_eq!(bound(&chunks).time, US(16), "they may share the line");
        assert_eq!(Bound::of(&chunks, &places, Reuse::Persistent).time, US(24), "one after the other");
        let mut busy = there_and_back();
        busy.flow(2, 0, 10_000);
        let received = Bound { time: US(96), by: "h0 receives from the network".into() };
        assert_eq!(bound(&busy), received, "12 000 bytes");
    }

    #[test]
    fn the_bound_counts_from_the_first_flow() {
        let places = spine_leaf(2, 2, 2);
        let bound = |program: &Program| Bound::of(program, &places, Reuse::PerMessage).time;
        let mut program = there_and_back();
        program.flows[0].start = Time::ZERO + US(100);
        assert_eq!(bound(&program), US(8 + 3 + 4 + 16));
        // A computation before it counts, even if others wait behind it, and one after all flows, too.
        let mut program = there_and_back();
        let processor = program.processor();
        let (work, far) = (program.work(0, processor, US(50)), program.work(0, processor, US(50)));
        program.need(Node::Flow(0), work, Point::Started, US(50));
        let late = program.flow(0, 1, 1_000);
        program.need(late, far, Point::Started, US(400));
        assert_eq!(bound(&program), US(400 + 8));
        let last = program.work(1, processor, US(70));
        program.need(last, late, Point::Received, US(0));
        assert_eq!(bound(&program), US(400 + 8 + 70));
    }

    #[test]
    fn the_bound_ends_with_the_last_byte_not_with_its_acknowledgement() {
        let link = LinkSpec::new(Rate::from_gbps(1), US(1));
        let places = Places::of(&build::spine_leaf(1, 1, 2, &link, &link).unwrap());
        let mut program = Program { ranks: 2, ..Program::default() };
        let flow = program.flow(0, 1, 1_000);
        let end = program.step(0);
        program.need(end, flow, Point::Acknowledged, US(0));
        assert_eq!(Bound::of(&program, &places, Reuse::PerMessage).time, US(8 + 2));
        // Another flow after it counts.
        let next = program.flow(0, 1, 1_000);
        program.need(next, end, Point::Started, US(0));
        assert_eq!(Bound::of(&program, &places, Reuse::PerMessage).time, US(8 + 2 + 2 + 8 + 2));
    }

    #[test]
    fn links_into_a_scale_up_domain_count_by_their_own_rate() {
        // Two servers of two hosts on rails of 1 Gbps; 8 Gbps within a server. Network links take 1 us, the others 2 us.
        let link = |gbps, us| LinkSpec::new(Rate::from_gbps(gbps), US(us));
        let counts = build::Rails { pods: 1, servers: 2, gpus: 2, rails: 2, tors: 1, planes: 1, spines: 1 };
        let (host, scale_up) = (link(1, 1), link(8, 2));
        let links = build::RailLinks { host: &host, uplink: &host, scale_up: &scale_up };
        let places = Places::of(&build::rails(&counts, links).unwrap());
        assert_eq!(places.domains(), [vec![HostId(0), HostId(1)], vec![HostId(2), HostId(3)]]);
        let mut program = Program::default();
        program.flow(0, 1, 1_000_000);
        let within = Bound { time: US(1_000 + 4), by: "a chain of 1 message".into() };
        assert_eq!(Bound::of(&program, &places, Reuse::PerMessage), within);
        program.flow(0, 1, 1_000_000);
        let sends = Bound { time: US(2_000 + 4), by: "h0 sends into its scale-up domain".into() };
        assert_eq!(Bound::of(&program, &places, Reuse::PerMessage), sends);
        // A quarter of that, in four parts, takes longer out of the server.
        for _ in 0..4 {
            program.flow(0, 2, 125_000);
        }
        let network = Bound { time: US(4_000 + 2), by: "h0 sends into the network".into() };
        assert_eq!(Bound::of(&program, &places, Reuse::PerMessage), network);
    }

    #[test]
    fn the_bound_counts_all_links_of_a_host_by_their_directions() {
        let link = |gbps, us| LinkSpec::new(Rate::from_gbps(gbps), US(us));
        let mut fabric = FabricBuilder::new("two");
        let switches = [0, 1].map(|at| fabric.add_switch(format!("s{at}"), 1, None).unwrap());
        let hosts = [0, 1].map(|at| fabric.add_host(format!("h{at}"), 0, None).unwrap());
        for (switch, delay) in switches.into_iter().zip([3, 1]) {
            fabric.connect(hosts[0], switch, &link(1, delay)).unwrap();
            // h1 receives at 4 Gbps on each link, and sends at 1.
            fabric.connect_asymmetric(hosts[1], switch, &link(1, 7), &link(4, 2)).unwrap();
        }
        let places = Places::of(&fabric.build().unwrap());
        let mut program = Program::default();
        program.flow(0, 1, 1_000_000);
        assert_eq!(Bound::of(&program, &places, Reuse::PerMessage).time, US(4_000 + 3), "h0 sends at 2 Gbps");
        program.flow(1, 0, 1_000_000);
        assert_eq!(
            Bound::of(&program, &places, Reuse::PerMessage).time,
            US(4_000 + 8),
            "h1 sends at 2 Gbps, over 7 us and 1 us"
        );
        // Two hosts on one cable.
        let mut fabric = FabricBuilder::new("cable");
        let hosts = [0, 1].map(|at| fabric.add_host(format!("h{at}"), 0, None).unwrap());
        fabric.connect(hosts[0], hosts[1], &link(1, 10)).unwrap();
        let places = Places::of(&fabric.build().unwrap());
        let mut program = Program::default();
        program.flow(0, 1, 1_000);
        assert_eq!(Bound::of(&program, &places, Reuse::PerMessage).time, US(8 + 10));
    }

    /// Rings in parts and step by step have the same bounds, also one after the other and with computations.
    #[test]
    fn the_bound_does_not_depend_on_the_form_of_the_flows() {
        let places = spine_leaf(2, 4, 4);
        for algorithm in [Algorithm::RingAllReduce, Algorithm::AllGather, Algorithm::HierarchicalAllReduce] {
            for (bytes, compute, rounds, late) in
                [(1_600_003, 0, 1, 0), (1_600_003, 70, 1, 0), (1_600_000, 3, 2, 0), (1_600_000, 0, 1, 900)]
            {
                let of = |reuse| {
                    let collective = Collective {
                        reuse,
                        group: 4,
                        compute: Duration::from_us(compute),
                        rounds,
                        ..Collective::new(algorithm, bytes, 1)
                    };
                    let mut all = collective.all(&collective.round(16));
                    all.flows[3].start = Time::ZERO + Duration::from_us(late);
                    all.settle().unwrap();
                    (all.flows.len(), Bound::of(&all, &places, Reuse::Persistent).time)
                };
                let (parts, steps) = (of(Reuse::Persistent), of(Reuse::PerMessage));
                assert!(parts.0 < steps.0);
                // The parts of a late rank follow each other on its line, messages need not.
                let is_as_expected = if late == 0 { parts.1 == steps.1 } else { parts.1 >= steps.1 };
                assert!(is_as_expected, "{algorithm:?} {bytes} {compute} {rounds}: {parts:?}, {steps:?}");
            }
        }
    }
}
