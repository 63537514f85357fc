//! [`Bound`]: a lower bound of the time of a [`Program`], and the links that it follows from.

mod chain;
mod heads;
mod link;
mod ordered;
mod rings;
mod tails;

use weft_units::{Duration, Time, plural};

use self::heads::Heads;
use self::link::{Link, end_of};
use self::ordered::Ordered;
use self::rings::Rings;
use self::tails::Tails;
use crate::buckets::Buckets;
use crate::connections::Reuse;
use crate::listed::ListedFlow;
use crate::places::Places;
use crate::program::Program;

/// A lower bound of the time from the first start of a flow or computation to the last byte received or the last end of a
/// computation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The bound.
    pub time: Duration,
    /// What it follows from, such as `h3 sends into the network`.
    pub by: String,
}

impl Bound {
    /// The bound of `program`, with hosts that send and receive at the rates of their links and nothing else in the network: the
    /// longest chain of flows that wait for each other, or a link that takes longer for messages than lie between the first of
    /// their starts and the end. Each link counts by its own rate: flows within a scale-up domain use its links, the others those
    /// into the network: all of them together, or if it is known which interface each flow has, each interface for itself. Flows of
    /// a chain take the time for their bytes at the slower of the two hosts' rates, by one interface unless a flow may use several
    /// ([`Places::with_rule`]), and the delay of the two hosts' links; a node that waits for several over the same link waits for all their
    /// bytes. With `Reuse::Persistent`, messages of one host to another that start in order follow each other. A step of
    /// [`StepKind::Each`](crate::StepKind::Each) does not make a chain longer, nor does waiting for a processor; its steps do. The
    /// program must have no circles.
    pub fn of(program: &Program, places: &Places, reuse: Reuse) -> Self {
        let rings = Rings::of(program);
        let program = rings.ordered(program);
        let program = &*program;
        let graph = program.graph();
        let order = program.order(&graph).unwrap_or_default();
        let ordered = Ordered { program, graph: &graph, order: &order, rings: &rings, places, reuse };
        let (heads, tails) = (Heads::of(&ordered), Tails::of(&ordered));
        let (first, chain) = (heads.first(program), heads.last);
        let since = |end: Time| if end == Time::MAX { Duration::MAX } else { end.saturating_since(first) };
        let time = since(chain.at);
        if let Some((end, link)) = busiest(&ordered, &heads, &tails)
            && since(end) > time
        {
            return Self { time: since(end), by: link.words(places) };
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

/// The link whose flows end last, and that end.
fn busiest(ordered: &Ordered<'_>, heads: &Heads, tails: &Tails) -> Option<(Time, Link)> {
    let (program, places) = (ordered.program, ordered.places);
    let ends: [fn(&ListedFlow, &Places) -> Link; 2] = [Link::of_source, Link::of_destination];
    let mut last: Option<(Time, Link)> = None;
    for link_of in ends {
        let links = program.flows.iter().map(|flow| link_of(flow, places));
        let flows = Buckets::new(Link::count(places), links.map(|link| Some(link.number(places))));
        for flows in (0..flows.len()).map(|number| flows.of(number)).filter(|flows| !flows.is_empty()) {
            let link = link_of(&program.flows[flows[0] as usize], places);
            let transfers =
                flows.iter().map(|flow| ordered.transfer(*flow, link, heads.start(*flow), tails.end(*flow)));
            let end = end_of(&mut transfers.collect::<Vec<_>>());
            if last.is_none_or(|(latest, _)| end > latest) {
                last = Some((end, link));
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use weft_fabric::{FabricBuilder, LinkSpec, build};
    use weft_units::{HostId, Rate};

    use super::*;
    use crate::collective::{Algorithm, Collective};
    use crate::dependencies::{Node, Point};
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
        // Of two messages to h1, the second one leads on.
        let mut chunks = Program { ranks: 3, ..Program::default() };
        let (first, second) = (chunks.flow(0, 1, 10_000), chunks.flow(0, 1, 1_000));
        let on = chunks.flow(1, 2, 10_000);
        chunks.need(on, second, Point::Received, US(0));
        chunks.need(second, first, Point::Started, US(0));
        assert_eq!(bound(&chunks).time, US(8 + 80), "it may overtake the first one");
        assert_eq!(
            Bound::of(&chunks, &places, Reuse::Persistent).time,
            US(80 + 8 + 80),
            "one after the other"
        );
        let mut busy = there_and_back();
        busy.flow(2, 0, 10_000);
        let received = Bound { time: US(96), by: "h0 receives from the network".into() };
        assert_eq!(bound(&busy), received, "12 000 bytes");
    }

    #[test]
    fn a_message_counts_once_however_often_it_is_waited_for() {
        let places = spine_leaf(2, 2, 2);
        let bound = |program: &Program| Bound::of(program, &places, Reuse::PerMessage).time;
        let mut program = Program { ranks: 3, ..Program::default() };
        let (first, on) = (program.flow(0, 1, 1_000), program.flow(1, 2, 10_000));
        let end = program.work(2, 0, US(0));
        for _ in 0..3 {
            program.need(on, first, Point::Received, US(0));
            program.need(end, on, Point::Received, US(0));
        }
        assert_eq!(bound(&program), US(8 + 80));
    }

    #[test]
    fn a_message_behind_another_can_leave_while_that_waits_for_a_slow_receiver() {
        let link = |gbps| LinkSpec::new(Rate::from_gbps(gbps), US(0));
        let mut fabric = FabricBuilder::new("one switch");
        let switch = fabric.add_switch("s", 1, None).unwrap();
        for (at, gbps) in (0..).zip([4, 1, 4]) {
            let host = fabric.add_host(format!("h{at}"), 0, None).unwrap();
            fabric.connect(host, switch, &link(gbps)).unwrap();
        }
        let places = Places::of(&fabric.build().unwrap());
        let mut program = Program { ranks: 3, ..Program::default() };
        let (first, second) = (program.flow(0, 1, 10_000), program.flow(0, 1, 1_000));
        program.need(second, first, Point::Started, US(0));
        let late = program.flow(0, 2, 40_000);
        program.flows[2].start = Time::ZERO + US(80);
        for (at, flow) in (0..).zip([second, late]) {
            let work = program.work(at + 1, at, US(500));
            program.need(work, flow, Point::Received, US(0));
        }
        // h0 sends the first two until 22 us, at 4 Gbps.
        assert_eq!(Bound::of(&program, &places, Reuse::Persistent).time, US(80 + 80 + 500));
    }

    #[test]
    fn without_their_link_into_a_scale_up_domain_hosts_use_the_network() {
        let link = |gbps| LinkSpec::new(Rate::from_gbps(gbps), US(1));
        let counts = build::Rails {
            pods: 1,
            servers: 1,
            gpus: 3,
            rails: 3,
            tors: 1,
            planes: 1,
            spines: 1,
            domain: "server",
        };
        let (host, scale_up) = (link(4), link(1));
        let links = build::RailLinks { host: &host, uplink: &host, scale_up: &scale_up };
        let mut fabric = build::rails(&counts, links).unwrap().edit();
        fabric.fail("h0", "n0").unwrap();
        let places = Places::of(&fabric.build().unwrap());
        let bound = |src: u32| {
            let mut program = Program { ranks: 3, ..Program::default() };
            program.flow(src, 2, 1_000_000);
            Bound::of(&program, &places, Reuse::PerMessage).time
        };
        assert_eq!([bound(0), bound(1)], [US(2_000 + 2), US(8_000 + 2)]);
        assert_eq!(places.ranks_of_domains(&[0, 1, 2].map(HostId)), Ok(3), "it still belongs to the domain");
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
        let counts = build::Rails {
            pods: 1,
            servers: 2,
            gpus: 2,
            rails: 2,
            tors: 1,
            planes: 1,
            spines: 1,
            domain: "server",
        };
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

    #[test]
    fn messages_from_far_hosts_reach_the_link_of_their_destination_later() {
        let link = |us| LinkSpec::new(Rate::from_gbps(1), US(us));
        let mut fabric = FabricBuilder::new("one switch");
        let switch = fabric.add_switch("s", 1, None).unwrap();
        for (at, us) in [1, 100, 1].into_iter().enumerate() {
            let host = fabric.add_host(format!("h{at}"), 0, None).unwrap();
            fabric.connect(host, switch, &link(us)).unwrap();
        }
        let places = Places::of(&fabric.build().unwrap());
        let mut program = Program { ranks: 3, ..Program::default() };
        let (near, _far) = (program.flow(0, 2, 20_000), program.flow(1, 2, 20_000));
        let work = program.work(2, 0, US(90));
        program.need(work, near, Point::Received, US(0));
        // Until 162 us from h0, and the computation; until 261 us from h1. Both together end no earlier than 322 us.
        assert_eq!(Bound::of(&program, &places, Reuse::PerMessage).time, US(1 + 160 + 160 + 1));
    }

    #[test]
    fn a_flow_has_the_rate_of_one_interface_unless_it_may_use_several() {
        use crate::lane::{InterfaceRule, Lane};
        let link = |gbps, us| LinkSpec::new(Rate::from_gbps(gbps), US(us));
        let mut fabric = FabricBuilder::new("two networks");
        let switches = [0, 1].map(|at| fabric.add_switch(format!("s{at}"), 1, None).unwrap());
        for (at, rates) in [[1, 4], [1, 2]].into_iter().enumerate() {
            let host = fabric.add_host(format!("h{at}"), 0, None).unwrap();
            for ((switch, gbps), us) in switches.into_iter().zip(rates).zip([5, 1]) {
                fabric.connect(host, switch, &link(gbps, us)).unwrap();
            }
        }
        let whole = fabric.build().unwrap();
        let bound = |fabric, rule, is_several, lanes: &[Lane]| {
            let places =
                Places::of(fabric).with_rule(fabric, rule, is_several, &|link| Some(fabric.link(link).up));
            let mut program = Program { ranks: 2, ..Program::default() };
            for (at, lane) in lanes.iter().enumerate() {
                program.flow(0, 1, 1_000_000);
                program.flows[at].lane = *lane;
            }
            Bound::of(&program, &places, Reuse::PerMessage)
        };
        let time = |rule, is_several, lane| bound(&whole, rule, is_several, &[lane]).time;
        let [any, channel] = [Lane::Any, Lane::Channel(1)];
        // h0 sends at 4 Gbps, or at 5 on both; h1 receives at 2 Gbps, or at 3.
        let at_3_gbps = Rate::from_gbps(3).tx_time(weft_units::Bytes(1_000_000)) + US(2);
        assert_eq!(time(InterfaceRule::Hash, false, any), at_3_gbps, "packets go to the host");
        assert_eq!(time(InterfaceRule::LeastLoaded, false, any), US(4_000 + 2));
        assert_eq!(time(InterfaceRule::Rail, true, channel), at_3_gbps, "Multipath TCP");
        assert_eq!(time(InterfaceRule::Rail, false, any), US(8_000 + 10), "interface 0, as the source");
        assert_eq!(time(InterfaceRule::Rail, false, channel), US(4_000 + 2));
        assert_eq!(time(InterfaceRule::Listed, false, Lane::Interfaces([0, 0])), US(8_000 + 10));
        assert_eq!(
            time(InterfaceRule::Listed, false, Lane::Interfaces([0, 1])),
            US(4_000 + 2),
            "unconnected"
        );
        let both = [Lane::Channel(0), Lane::Channel(1), Lane::Channel(1), Lane::Channel(1)];
        let receives = Bound { time: US(12_000 + 2), by: "h1 receives on interface 1".into() };
        assert_eq!(bound(&whole, InterfaceRule::Rail, false, &both), receives);
        let of_one = bound(&whole, InterfaceRule::Rail, false, &[Lane::Channel(0); 2]);
        assert_eq!(of_one.by, "h0 sends on interface 0");
        // A failure moves flows to other interfaces.
        let mut failed = whole.edit();
        failed.fail("h0", "s0").unwrap();
        let failed = failed.build().unwrap();
        assert_eq!(bound(&failed, InterfaceRule::Rail, false, &[any]).time, US(4_000 + 2));
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
