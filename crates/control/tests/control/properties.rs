//! Random networks with slow switches: every packet arrives once, over the path assigned to its flow, whichever links
//! are cut.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use weft_control::Duration;
use weft_control::{Content, Controller, Mptcp, Packet, Settings, Show, Smoc, SpanningTree};
use weft_wire::Mac;
use weft_wire::mptcp::Version;

use crate::net::{Net, Rng};
use crate::talk::{ACK, Connection, Flow, SYN, flow};

/// An event in a network.
#[derive(Clone, Debug)]
enum Step {
    /// A connection is opened, and `joins` subflows join it, some from the listener's side.
    Open { from: usize, to: usize, joins: u16 },
    /// A plain flow is opened.
    Plain { from: usize, to: usize },
    /// A frame that is not TCP.
    Datagram { from: usize, to: usize },
    /// A link is cut, detected by its ports or only by LLDP.
    Cut { which: usize, silently: bool },
    /// The link that was cut last is restored.
    Mend,
    /// A switch loses its connection, and possibly all rules, and reconnects.
    Restart { which: usize, forgets: bool },
    /// Flows are opened, and before their rules are installed a link is cut or a switch restarted.
    Rush { from: usize, to: usize, which: usize, after_us: u64, restarts: bool },
    /// Time passes, so that rules idle out.
    Wait { seconds: u64 },
}

#[derive(Clone, Debug)]
struct Case {
    switches: u64,
    cables: Vec<(u64, u64)>,
    hosts: Vec<u64>,
    steps: Vec<Step>,
    seed: u64,
}

fn step() -> impl Strategy<Value = Step> {
    let host = || 0..8_usize;
    prop_oneof![
        4 => (host(), host(), 0..5_u16).prop_map(|(from, to, joins)| Step::Open { from, to, joins }),
        2 => (host(), host()).prop_map(|(from, to)| Step::Plain { from, to }),
        2 => (host(), host()).prop_map(|(from, to)| Step::Datagram { from, to }),
        3 => (0..20_usize, any::<bool>()).prop_map(|(which, silently)| Step::Cut { which, silently }),
        2 => Just(Step::Mend),
        1 => (0..8_usize, any::<bool>()).prop_map(|(which, forgets)| Step::Restart { which, forgets }),
        3 => (host(), host(), 0..20_usize, 0..12_000_u64, any::<bool>()).prop_map(
            |(from, to, which, after_us, restarts)| Step::Rush { from, to, which, after_us, restarts }
        ),
        1 => (1..30_u64).prop_map(|seconds| Step::Wait { seconds }),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    (2..8_u64).prop_flat_map(|switches| {
        // A tree, so that all switches are connected at first, and extra links.
        let trunk = (2..=switches).map(|id| (1..id, Just(id))).collect::<Vec<_>>();
        let more = prop::collection::vec((1..=switches, 1..=switches), 0..10);
        let hosts = prop::collection::vec(1..=switches, 2..6);
        (trunk, more, hosts, prop::collection::vec(step(), 1..14), any::<u64>()).prop_map(
            move |(trunk, more, hosts, steps, seed)| {
                let cables = trunk.into_iter().chain(more.into_iter().filter(|(a, b)| a != b)).collect();
                Case { switches, cables, hosts, steps, seed }
            },
        )
    })
}

/// The path with the fewest hops, then the lowest ids, by exhaustive search.
fn shortest<C: Controller>(net: &Net<C>, from: u64, to: u64) -> Option<Vec<u64>> {
    let mut next: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (a, b) in net.wires() {
        next.entry(a.switch.0).or_default().insert(b.switch.0);
        next.entry(b.switch.0).or_default().insert(a.switch.0);
    }
    let mut level = VecDeque::from([vec![from]]);
    let mut best: Option<Vec<u64>> = None;
    while let Some(way) = level.pop_front() {
        if best.as_ref().is_some_and(|best| best.len() < way.len()) {
            break;
        }
        let last = *way.last()?;
        if last == to {
            best = Some(best.map_or(way.clone(), |best| best.min(way)));
            continue;
        }
        for &other in next.get(&last).into_iter().flatten().filter(|other| !way.contains(other)) {
            level.push_back([way.clone(), vec![other]].concat());
        }
    }
    best
}

struct Run<C> {
    net: Net<C>,
    flows: Vec<(Flow, Option<Mptcp>)>,
    cut: Vec<(weft_control::SwitchPort, weft_control::SwitchPort)>,
    port: u16,
    rng: Rng,
    /// Whether frames may also be delivered to other hosts.
    floods: bool,
}

impl<C: Controller> Run<C> {
    fn new(controller: C, case: &Case, floods: bool) -> Self {
        let mut net = Net::new(controller, case.seed);
        net.build(case.switches, &case.cables, &case.hosts);
        net.announce();
        Self { net, flows: Vec::new(), cut: Vec::new(), port: 4000, rng: Rng(case.seed), floods }
    }

    fn joined(&self, from: usize, to: usize) -> bool {
        let [a, b] = [from, to].map(|host| self.net.hosts[host].at.switch.0);
        shortest(&self.net, a, b).is_some()
    }

    /// Two of the hosts, if they differ.
    fn pair(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let count = self.net.hosts.len();
        (from % count != to % count).then_some((from % count, to % count))
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Open { from, to, joins } => {
                let Some((from, to)) = self.pair(from, to).filter(|&(from, to)| self.joined(from, to)) else {
                    return;
                };
                self.port += 20;
                let version = if self.port.is_multiple_of(40) { Version::V0 } else { Version::V1 };
                let connection = Connection::new(flow(from, to, self.port), version, self.port.into());
                self.net.open(&connection);
                self.flows.push((connection.first, Some(Mptcp::Other)));
                for number in 1..=joins {
                    let side = usize::from(self.rng.below(3) == 0);
                    let ends = if side == 0 { (from, to) } else { (to, from) };
                    let subflow = flow(ends.0, ends.1, self.port + number);
                    self.net.join(&connection, subflow, side);
                    self.flows.push((subflow, Some(Mptcp::Other)));
                }
            }
            Step::Plain { from, to } => {
                let Some((from, to)) = self.pair(from, to).filter(|&(from, to)| self.joined(from, to)) else {
                    return;
                };
                self.port += 20;
                let plain = flow(from, to, self.port);
                let frame = self.net.say(plain, 0, SYN, None);
                self.net.way(frame);
                self.flows.push((plain, None));
            }
            Step::Datagram { from, to } => {
                if let Some((from, to)) = self.pair(from, to) {
                    self.datagram(from, to);
                }
            }
            Step::Cut { which, silently } => {
                self.cut(which, silently);
                self.net.run(Duration::from_ms(60));
            }
            Step::Mend => {
                let Some((a, b)) = self.cut.pop() else { return };
                self.net.mend(a, b);
                self.net.run(Duration::from_ms(60));
            }
            Step::Restart { which, forgets } => {
                self.restart(which, forgets);
                self.net.run(Duration::from_ms(60));
            }
            Step::Rush { from, to, which, after_us, restarts } => {
                let Some((from, to)) = self.pair(from, to) else { return };
                for number in 0..4 {
                    self.port += 20;
                    let rushed = flow(from, to, self.port);
                    let connection = Connection::new(rushed, Version::V1, self.port.into());
                    let mptcp = (number % 2 == 0).then(|| connection.capable(0));
                    let packet = self.net.segment(rushed, 0, SYN, mptcp);
                    self.net.send(from, packet);
                    self.flows.push((rushed, None));
                    self.net.run(Duration::from_us(after_us / 4));
                }
                if restarts {
                    self.restart(which, after_us % 2 == 0);
                } else {
                    self.cut(which, after_us % 2 == 0);
                }
                self.net.run(Duration::from_ms(100));
            }
            Step::Wait { seconds } => self.net.run(Duration::from_secs(seconds)),
        }
        self.check();
    }

    fn cut(&mut self, which: usize, silently: bool) {
        let wires = self.net.wires();
        if !wires.is_empty() {
            let (a, b) = wires[which % wires.len()];
            self.net.cut(a, silently);
            self.cut.push((a, b));
        }
    }

    fn restart(&mut self, which: usize, forgets: bool) {
        let ids: Vec<_> = self.net.switches.keys().copied().collect();
        let id = ids[which % ids.len()];
        self.net.restart(id, forgets, 30, &self.cut);
    }

    /// A non-TCP frame arrives once if there is a path, and at no other host.
    fn datagram(&mut self, from: usize, to: usize) {
        let content = Content::Ip { protocol: 17 };
        let (eth_src, eth_dst) = (self.net.hosts[from].mac, self.net.hosts[to].mac);
        let frame = self.net.send_and_run(from, Packet { eth_src, eth_dst, content }, 60);
        let mut heard = self.net.heard(frame);
        heard.retain(|&host| host == to || !self.floods);
        assert_eq!(heard, if self.joined(from, to) { vec![to] } else { vec![] });
    }

    /// Every packet of every flow arrives once, unmodified, if there is a path.
    fn check(&mut self) {
        for (flow, mptcp) in self.flows.clone() {
            for direction in [0, 1] {
                let sent = self.net.segment(flow, direction, ACK, mptcp);
                let frame = self.net.say(flow, direction, ACK, mptcp);
                let [from, to] = [flow.hosts[direction], flow.hosts[1 - direction]];
                let mut heard = vec![0; self.net.hosts.len()];
                for delivery in self.net.deliveries(frame) {
                    assert_eq!(delivery.packet, sent);
                    heard[delivery.host] += 1;
                }
                let arrived = std::mem::take(&mut heard[to]);
                assert_eq!(arrived, usize::from(self.joined(from, to)), "{flow:?} {direction}");
                // Bridges flood frames to unknown stations.
                let most = usize::from(self.floods);
                assert!(heard.iter().all(|&times| times <= most), "{flow:?} {direction}: {heard:?}");
            }
        }
    }

    /// A broadcast reaches every other host once.
    fn flood(&mut self) {
        for host in 0..self.net.hosts.len() {
            let eth_src = self.net.hosts[host].mac;
            let packet = Packet { eth_src, eth_dst: Mac::BROADCAST, content: Content::Ip { protocol: 17 } };
            let frame = self.net.send_and_run(host, packet, 60);
            let others = 0..self.net.hosts.len();
            let expected: Vec<usize> =
                others.filter(|&other| other != host && self.joined(host, other)).collect();
            assert_eq!(self.net.heard(frame), expected);
        }
    }
}

/// The paths of subflows according to `show`, by their endpoints.
fn assigned(net: &Net<Smoc>) -> BTreeMap<(String, String), Vec<u64>> {
    let shown = net.controller.show(net.now, Show::Connections, 1000);
    let mut ways = BTreeMap::new();
    for connection in shown["connections"].as_array().unwrap() {
        for subflow in connection["subflows"].as_array().unwrap() {
            let text = |key: &str| subflow[key].as_str().unwrap().to_owned();
            let switches = subflow["switches"].as_array().unwrap().iter();
            let way = switches.map(|name| u64::from_str_radix(name.as_str().unwrap(), 16).unwrap());
            ways.insert((text("source"), text("destination")), way.collect());
        }
    }
    ways
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_arrives_once_over_the_path_that_its_flow_was_given(case in case()) {
        let mut run = Run::new(Smoc::new(Settings::default()).unwrap(), &case, false);
        for step in &case.steps {
            let cables = run.net.counter("cables_up");
            run.step(step);
            if run.net.counter("cables_up") > cables {
                // Subflows that shared a path are spread a second later.
                run.net.run(Duration::from_secs(4));
            }
            let ways = assigned(&run.net);
            for (flow, mptcp) in run.flows.clone().into_iter().filter(|(_, mptcp)| mptcp.is_some()) {
                let Content::Tcp(segment) = run.net.segment(flow, 0, ACK, mptcp).content else { unreachable!() };
                let ends = (segment.source.to_string(), segment.destination.to_string());
                let Some(way) = ways.get(&ends).filter(|way| !way.is_empty()) else { continue };
                let frame = run.net.say(flow, 0, ACK, mptcp);
                prop_assert_eq!(&run.net.way(frame), way);
                let frame = run.net.say(flow, 1, ACK, mptcp);
                let mut back = run.net.way(frame);
                back.reverse();
                prop_assert_eq!(&back, way);
            }
        }
        prop_assert_eq!(run.net.held(), 0);
        prop_assert_eq!(run.net.counter("transactions_now"), 0);
        // New flows take the shortest path.
        for from in 0..case.hosts.len() {
            let to = (from + 1) % case.hosts.len();
            let [a, b] = [from, to].map(|host| run.net.hosts[host].at.switch.0);
            if let Some(way) = shortest(&run.net, a, b) {
                let frame = run.net.say(flow(from, to, 9000), 0, SYN, None);
                prop_assert_eq!(run.net.way(frame), way);
            }
        }
        // Once all is idle, only base rules and delivery rules remain.
        run.net.run(Duration::from_secs(200));
        let left: BTreeSet<u64> = run.net.cookies().iter().map(|(_, cookie)| cookie >> 44 & 15).collect();
        prop_assert!(left.iter().all(|kind| matches!(kind, 8 | 9)), "{left:?}");
        for name in ["flows_now", "connections_now", "paths_now", "routes_now", "handshakes_now"] {
            prop_assert_eq!(run.net.counter(name), 0, "{}", name);
        }
    }

    #[test]
    fn on_the_tree_every_packet_arrives_once_and_floods_reach_everybody_once(case in case()) {
        let mut run = Run::new(SpanningTree::new(Settings::default()).unwrap(), &case, true);
        for step in &case.steps {
            run.step(step);
        }
        run.flood();
        prop_assert_eq!(run.net.held(), 0);
    }

    #[test]
    fn floods_reach_everybody_once_without_a_path_even(case in case()) {
        let mut run = Run::new(Smoc::new(Settings::default()).unwrap(), &case, false);
        for step in case.steps.iter().filter(|step| matches!(step, Step::Cut { .. } | Step::Mend)) {
            run.step(step);
        }
        for host in 0..run.net.hosts.len() {
            let packet = Packet {
                eth_src: run.net.hosts[host].mac,
                eth_dst: Mac::BROADCAST,
                content: Content::Ip { protocol: 17 },
            };
            let frame = run.net.send_and_run(host, packet, 60);
            prop_assert_eq!(run.net.deliveries(frame).len(), run.net.hosts.len() - 1);
        }
    }
}
