//! Concurrent events: hosts that send, retransmit and join while rules are being installed, links cut and switches
//! restarted in the middle. The sequential model does not apply here; instead, invariants are checked once the network
//! is quiet.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use weft_control::Duration;
use weft_control::{Content, Controller, Join, Mptcp, Packet, Settings, Show, Smoc, SwitchId, SwitchPort};
use weft_wire::mptcp::Version;

use crate::model::Model;
use crate::net::Net;
use crate::talk::{ACK, Connection, Flow, SYN, SYN_ACK};

/// The model's network: 1-2, 1-3-2, 1-4-2, 3-4, and 5 behind 4; fewer paths between any two than a set can have.
const CABLES: [(u64, u64); 7] = [(1, 2), (1, 3), (3, 2), (1, 4), (4, 2), (3, 4), (4, 5)];
const PLACES: [u64; 5] = [1, 2, 1, 3, 5];
/// The hosts of the connections.
const CONNECTIONS: [[usize; 2]; 3] = [[0, 1], [2, 1], [0, 4]];
const PATHS: usize = 8;

/// Paths as switches, each with whether its subflow is confirmed.
type Ways = Vec<(Vec<u64>, bool)>;

/// An event; it is followed by a pause.
#[derive(Clone, Debug)]
enum Step {
    /// A subflow's next segment if its last one has arrived; otherwise a retransmission.
    Go {
        subflow: usize,
    },
    /// A retransmission of a subflow's last segment, although it may be in flight.
    Repeat {
        subflow: usize,
    },
    /// A host of a connection opens a subflow, or another host does, with its own address.
    Join {
        connection: usize,
        side: usize,
        elsewhere: Option<usize>,
    },
    Cut {
        which: usize,
        silently: bool,
    },
    /// The link that was cut last is restored.
    Mend,
    Restart {
        which: usize,
        forgets: bool,
    },
    /// Waits until the network is quiet.
    Settle,
}

fn step(faults: bool) -> impl Strategy<Value = Step> {
    let weight = u32::from(faults);
    prop_oneof![
        12 => (0..12_usize).prop_map(|subflow| Step::Go { subflow }),
        3 => (0..12_usize).prop_map(|subflow| Step::Repeat { subflow }),
        6 => (0..3_usize, 0..2_usize, prop::option::weighted(0.25, 0..5_usize)).prop_map(
            |(connection, side, elsewhere)| Step::Join { connection, side, elsewhere }
        ),
        1 => (0..7_usize, any::<bool>()).prop_map(|(which, silently)| Step::Cut { which, silently }),
        weight => Just(Step::Mend),
        weight => (0..5_usize, any::<bool>()).prop_map(|(which, forgets)| Step::Restart { which, forgets }),
        1 => Just(Step::Settle),
    ]
}

fn steps(faults: bool) -> impl Strategy<Value = Vec<(Step, u64)>> {
    prop::collection::vec((step(faults), prop_oneof![Just(0), 0..12_000_u64]), 1..70)
}

/// A subflow from its hosts' point of view.
#[derive(Default)]
struct Subflow {
    flow: Flow,
    connection: usize,
    /// The side of the opener.
    side: usize,
    joins: bool,
    /// The number of handshake segments sent, and the last one's frames.
    sent: usize,
    frames: Vec<u64>,
    /// The path it was last seen on.
    way: Option<Vec<u64>>,
}

struct Run {
    net: Net<Smoc>,
    connections: Vec<Connection>,
    subflows: Vec<Subflow>,
    cut: Vec<(SwitchPort, SwitchPort)>,
    /// Whether paths have been restored: subflows are not always moved to them.
    has_grown: bool,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut net = Net::new(Smoc::new(Settings { paths: PATHS, ..Settings::default() }).unwrap(), seed);
        net.build(5, &CABLES, &PLACES);
        net.announce();
        net.slowest = Duration::from_ms(20);
        let versions = [Version::V1, Version::V0, Version::V1];
        let connections: Vec<Connection> = (0..CONNECTIONS.len())
            .map(|number| {
                let first = Flow { hosts: CONNECTIONS[number], ports: [4000 + number as u16, 80] };
                Connection::new(first, versions[number], number as u64)
            })
            .collect();
        let opening = |(connection, of): (usize, &Connection)| Subflow {
            flow: of.first,
            connection,
            ..Subflow::default()
        };
        let subflows = connections.iter().enumerate().map(opening).collect();
        Self { net, connections, subflows, cut: Vec::new(), has_grown: false }
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Go { subflow } => {
                let number = subflow % self.subflows.len();
                let subflow = &mut self.subflows[number];
                let arrived = subflow.frames.iter().any(|&frame| !self.net.deliveries(frame).is_empty());
                if (arrived || subflow.sent == 0) && subflow.sent < 3 {
                    (subflow.sent, subflow.frames) = (subflow.sent + 1, Vec::new());
                }
                self.send(number);
            }
            Step::Repeat { subflow } => {
                let number = subflow % self.subflows.len();
                if self.subflows[number].sent > 0 {
                    self.send(number);
                }
            }
            Step::Join { connection, side, elsewhere } => {
                let first = &self.subflows[connection];
                let opened = first.sent == 3
                    && first.frames.iter().any(|&frame| !self.net.deliveries(frame).is_empty());
                let own = CONNECTIONS[connection];
                let opener = elsewhere.unwrap_or(own[side]);
                if opened && opener != own[1 - side] && self.subflows.len() < 24 {
                    let ports = [5000 + self.subflows.len() as u16, 80];
                    let flow = Flow { hosts: [opener, own[1 - side]], ports };
                    let (joins, sent) = (true, 1);
                    self.subflows.push(Subflow { flow, connection, side, joins, sent, ..Subflow::default() });
                    self.send(self.subflows.len() - 1);
                }
            }
            Step::Cut { which, silently } => {
                let wires = self.net.wires();
                if !wires.is_empty() {
                    let (a, b) = wires[which % wires.len()];
                    self.net.cut(a, silently);
                    self.cut.push((a, b));
                }
            }
            Step::Mend => {
                if let Some((a, b)) = self.cut.pop() {
                    self.net.mend(a, b);
                    self.has_grown = true;
                }
            }
            Step::Restart { which, forgets } => {
                self.has_grown = true;
                self.net.restart(SwitchId(1 + which as u64), forgets, 5, &self.cut);
            }
            Step::Settle => self.check()?,
        }
        Ok(())
    }

    /// Sends the current segment of a subflow.
    fn send(&mut self, number: usize) {
        let subflow = &self.subflows[number];
        let connection = &self.connections[subflow.connection];
        let at = subflow.sent - 1;
        let nonces = [7, 900 + number as u32];
        let option = match (subflow.joins, at) {
            (false, _) => connection.capable(at),
            (true, 0) => {
                Mptcp::Join(Join::Syn { token: connection.token(1 - subflow.side), nonce: nonces[0] })
            }
            (true, 1) => Mptcp::Join(Join::SynAck { hmac: 0, nonce: nonces[1] }),
            (true, _) => Mptcp::Join(Join::Ack { hmac: connection.hmac(subflow.side, nonces) }),
        };
        let direction = usize::from(at == 1);
        let packet = self.net.segment(subflow.flow, direction, [SYN, SYN_ACK, ACK][at], Some(option));
        let frame = self.net.send(subflow.flow.hosts[direction], packet);
        self.subflows[number].frames.push(frame);
    }

    /// Checks the invariants of a quiet network.
    fn check(&mut self) -> Result<(), TestCaseError> {
        // After links are restored, subflows that shared a path are spread a second later.
        self.net.run(Duration::from_ms(if self.has_grown { 4000 } else { 300 }));
        self.tables()?;
        for number in 0..self.subflows.len() {
            let Subflow { flow, sent, frames, .. } = &self.subflows[number];
            let flow = *flow;
            if *sent < 3 || frames.iter().all(|&frame| self.net.deliveries(frame).is_empty()) {
                continue;
            }
            let [from, to] = flow.hosts.map(|host| PLACES[host]);
            let joined = !self.live().set(from, to).is_empty();
            let there = self.data(flow, 0);
            let back = self.data(flow, 1);
            prop_assert_eq!((there.len(), back.len()), if joined { (1, 1) } else { (0, 0) }, "{:?}", flow);
            if let ([there], [back]) = (&there[..], &back[..]) {
                let mirrored: Vec<u64> = back.iter().rev().copied().collect();
                prop_assert_eq!(there, &mirrored, "{:?}: the directions differ", flow);
                if let Some(way) = self.assigned().into_iter().find(|way| way.ends == self.ends(flow)) {
                    prop_assert_eq!(there, &way.switches, "{:?} does not take its path", flow);
                }
            }
        }
        self.tables()
    }

    /// The paths of a data segment's frame.
    fn data(&mut self, flow: Flow, direction: usize) -> Vec<Vec<u64>> {
        let packet = self.net.segment(flow, direction, ACK, Some(Mptcp::Other));
        let frame = self.net.send_and_run(flow.hosts[direction], packet, 200);
        let way = |at: &[SwitchPort]| at.iter().map(|at| at.switch.0).collect();
        self.net.deliveries(frame).iter().map(|delivery| way(&delivery.way)).collect()
    }

    fn ends(&self, flow: Flow) -> [String; 2] {
        let Packet { content: Content::Tcp(segment), .. } = self.net.segment(flow, 0, ACK, None) else {
            unreachable!("it is TCP")
        };
        [segment.source.to_string(), segment.destination.to_string()]
    }

    /// The model of the current network.
    fn live(&self) -> Model {
        let cables: Vec<_> = self.net.wires().iter().map(|(a, b)| (a.switch.0, b.switch.0)).collect();
        Model::new(&PLACES, &cables, PATHS)
    }

    /// Records the path of each subflow, and returns the endpoints of all subflows with their connections and, for dormant
    /// ones without a path, the last one.
    fn noted(&mut self) -> BTreeMap<[String; 2], (usize, Option<Vec<u64>>)> {
        let on_paths = self.assigned().into_iter().filter(|way| !way.switches.is_empty());
        let ways: BTreeMap<_, _> = on_paths.map(|way| (way.ends, way.switches)).collect();
        let mut noted = BTreeMap::new();
        for number in 0..self.subflows.len() {
            let Subflow { flow, connection, .. } = self.subflows[number];
            let ends = self.ends(flow);
            let ended = match ways.get(&ends) {
                Some(way) => {
                    self.subflows[number].way = Some(oriented(way.clone()));
                    None
                }
                None => self.subflows[number].way.clone(),
            };
            noted.insert(ends, (connection, ended));
        }
        noted
    }

    /// Every subflow is on a live path, and none shares one while another is free.
    fn tables(&mut self) -> Result<(), TestCaseError> {
        prop_assert_eq!((self.net.held(), self.net.counter("transactions_now")), (0, 0));
        let (live, noted) = (self.live(), self.noted());
        let mut uses: BTreeMap<(usize, [u64; 2]), Ways> = BTreeMap::new();
        // Subflows are not moved to a path that another subflow has left.
        let mut left: BTreeMap<usize, BTreeSet<Vec<u64>>> = BTreeMap::new();
        for way in self.assigned().into_iter().filter(|way| !way.switches.is_empty()) {
            let (first, last) = (way.switches[0], way.switches[way.switches.len() - 1]);
            prop_assert!(live.set(first, last).contains(&way.switches), "{:?} is not a live path", way);
            let pair = [first.min(last), first.max(last)];
            uses.entry((way.connection, pair)).or_default().push((oriented(way.switches), way.is_confirmed));
            if let Some((of, _)) = noted.get(&way.ends) {
                let ended = noted.values().filter(|(connection, _)| connection == of);
                left.entry(way.connection).or_default().extend(ended.filter_map(|(_, way)| way.clone()));
            }
        }
        if self.has_grown {
            return Ok(());
        }
        for ((connection, [first, last]), ways) in uses {
            let mut taken = left.get(&connection).cloned().unwrap_or_default();
            taken.extend(ways.iter().map(|(way, _)| way.clone()));
            let free: Vec<_> =
                live.set(first, last).into_iter().filter(|path| !taken.contains(path)).collect();
            let confirmed: Vec<_> = ways.iter().filter(|(_, confirmed)| *confirmed).collect();
            let apart: BTreeSet<_> = confirmed.iter().map(|(way, _)| way).collect();
            prop_assert!(
                apart.len() == confirmed.len() || free.is_empty(),
                "{ways:?} share while {free:?} are free"
            );
        }
        Ok(())
    }

    /// The subflows of all connections as shown by the controller.
    fn assigned(&self) -> Vec<Way> {
        let shown = self.net.controller.show(self.net.now, Show::Connections, 1000);
        let mut ways = Vec::new();
        for (number, connection) in shown["connections"].as_array().unwrap().iter().enumerate() {
            for subflow in connection["subflows"].as_array().unwrap() {
                let switches = subflow["switches"].as_array().unwrap().iter();
                ways.push(Way {
                    connection: number,
                    ends: ["source", "destination"].map(|key| subflow[key].as_str().unwrap().to_owned()),
                    switches: switches
                        .map(|name| u64::from_str_radix(name.as_str().unwrap(), 16).unwrap())
                        .collect(),
                    is_confirmed: subflow["confirmed"] == true,
                });
            }
        }
        ways
    }
}

/// A path from the end with the lower number.
fn oriented(mut switches: Vec<u64>) -> Vec<u64> {
    if switches.first() > switches.last() {
        switches.reverse();
    }
    switches
}

/// A subflow as shown by the controller.
#[derive(Debug)]
struct Way {
    connection: usize,
    ends: [String; 2],
    /// Empty while it has no path.
    switches: Vec<u64>,
    is_confirmed: bool,
}

fn run(steps: &[(Step, u64)], seed: u64) -> Result<Run, TestCaseError> {
    let mut run = Run::new(seed);
    for (step, pause) in steps {
        run.step(step)?;
        run.net.run(Duration::from_us(*pause));
    }
    run.check()?;
    Ok(run)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn subflows_opened_at_once_are_on_live_paths_of_their_own_whatever_is_cut_meanwhile(
        steps in steps(false), seed: u64,
    ) {
        run(&steps, seed)?;
    }

    #[test]
    fn subflows_are_on_live_paths_whatever_is_cut_mended_or_restarted_in_the_middle(
        steps in steps(true), seed: u64,
    ) {
        run(&steps, seed)?;
    }
}

#[test]
fn four_joins_during_each_others_installation_take_four_paths() {
    let go = |subflow| (Step::Go { subflow }, 100_000);
    let join = (Step::Join { connection: 0, side: 0, elsewhere: None }, 0);
    let opened = [go(0), go(0), go(0)];
    let steps = [&opened[..], &vec![join; 4]].concat();
    let run = run(&steps, 3).unwrap();
    let ways: BTreeSet<Vec<u64>> = run.assigned().into_iter().map(|way| way.switches).collect();
    assert_eq!(ways.len(), 5, "{ways:?}: one for the connection and for each of its four joins");
}
