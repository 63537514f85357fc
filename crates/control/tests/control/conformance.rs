//! SMOC compared with the model: both receive the same segments, in any order that hosts may send them and in some
//! invalid ones; every segment must take the model's path, and the tables must match.

use proptest::prelude::*;
use weft_control::Duration;
use weft_control::{Controller, Join, Mptcp, Settings, Show, Smoc};
use weft_wire::mptcp::Version;

use crate::model::{Kind, Model, Says, hmac, token};
use crate::net::Net;
use crate::talk::{ACK, Flow, SYN, SYN_ACK};

/// 1-2, 1-3-2, 1-4-2, 3-4, and 5 behind 4: overlapping paths, and a pair with two edges in common.
const CABLES: [(u64, u64); 7] = [(1, 2), (1, 3), (3, 2), (1, 4), (4, 2), (3, 4), (4, 5)];
const PLACES: [u64; 5] = [1, 2, 1, 3, 5];

#[derive(Clone, Debug)]
enum Event {
    /// A segment of the opening of a connection.
    Open { flow: usize, segment: Segment },
    /// A segment of a join to the connection that a flow has opened, or to none.
    Join { flow: usize, of: usize, side: usize, segment: Segment, right: bool },
    /// Any other segment in a direction of a flow.
    Data { flow: usize, direction: usize, kind: Kind, malformed: bool },
    /// Rules idle out, and dormant flows may be forgotten.
    Wait { seconds: u64 },
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    kind: Kind,
    version: Version,
    /// The sender's and receiver's keys, out of a few; they need not be the true ones.
    keys: [u64; 2],
    bare: bool,
}

fn segment() -> impl Strategy<Value = Segment> {
    let kind = prop_oneof![Just(Kind::Syn), Just(Kind::SynAck), Just(Kind::Ack)];
    let version = prop_oneof![Just(Version::V0), Just(Version::V1)];
    (kind, version, [1..4_u64, 1..4_u64], prop::bool::weighted(0.08))
        .prop_map(|(kind, version, keys, bare)| Segment { kind, version, keys, bare })
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![Just(Kind::Syn), Just(Kind::SynAck), Just(Kind::Ack)];
    prop_oneof![
        5 => (0..6_usize, segment()).prop_map(|(flow, segment)| Event::Open { flow, segment }),
        6 => (0..12_usize, 0..6_usize, 0..2_usize, segment(), prop::bool::weighted(0.8)).prop_map(
            |(flow, of, side, segment, right)| Event::Join { flow, of, side, segment, right }
        ),
        3 => (0..18_usize, 0..2_usize, kind, prop::bool::weighted(0.2)).prop_map(
            |(flow, direction, kind, malformed)| Event::Data { flow, direction, kind, malformed }
        ),
        2 => prop_oneof![Just(15), Just(90)].prop_map(|seconds| Event::Wait { seconds }),
    ]
}

/// Flows that open connections, then flows that join; some between the same hosts, some from others.
fn flow(index: usize) -> Flow {
    const HOSTS: [[usize; 2]; 18] = [
        [0, 1],
        [0, 1],
        [1, 0],
        [2, 1],
        [3, 0],
        [0, 4],
        [0, 1],
        [0, 1],
        [0, 1],
        [1, 0],
        [1, 0],
        [2, 1],
        [2, 1],
        [3, 1],
        [1, 3],
        [4, 0],
        [0, 4],
        [0, 3],
    ];
    Flow { hosts: HOSTS[index], ports: [4000 + index as u16, 80 + index as u16] }
}

struct Pair {
    net: Net<Smoc>,
    model: Model,
    /// The last SYN that opened a connection on each flow, and both sides' keys.
    opened: Vec<(Version, [u64; 2])>,
    /// The token of the last join on each flow.
    joined: Vec<u32>,
}

impl Pair {
    fn new() -> Self {
        let settings = Settings { handshake_s: 60.0, ..Settings::default() };
        let mut net = Net::new(Smoc::new(settings).unwrap(), 7);
        net.slowest = Duration::from_us(500);
        net.build(5, &CABLES, &PLACES);
        net.announce();
        let model = Model::new(&PLACES, &CABLES, 8);
        Self { net, model, opened: vec![(Version::V1, [1, 2]); 6], joined: vec![0; 18] }
    }

    fn apply(&mut self, event: &Event) -> Result<(), TestCaseError> {
        match *event {
            Event::Open { flow: index, segment: Segment { kind, version, keys: [own, other], bare } } => {
                let (says, mptcp) = if bare {
                    (Says::Nothing, None)
                } else {
                    let (sender, receiver) = match (kind, version) {
                        (Kind::Syn, Version::V1) => (None, None),
                        (Kind::Syn, Version::V0) => (Some(own), None),
                        (Kind::SynAck, _) => (Some(other), None),
                        (Kind::Ack, _) => (Some(own), Some(other)),
                    };
                    self.opened[index] = (version, [own, other]);
                    let option = Mptcp::Capable { version, sender_key: sender, receiver_key: receiver };
                    (Says::Capable { version, own: sender, other: receiver }, Some(option))
                };
                self.say(flow(index), usize::from(kind == Kind::SynAck), kind, says, mptcp)?;
            }
            Event::Join { flow: index, of, side, segment: Segment { kind, bare, .. }, right } => {
                let (version, keys) = self.opened[of];
                let wanted = if bare { 0xdead_beef } else { token(version, keys[1 - side]) };
                let nonces = [7, 9 + index as u32];
                let (says, mptcp) = match kind {
                    Kind::Syn => {
                        self.joined[index] = wanted;
                        let nonce = nonces[0];
                        (Says::JoinSyn { token: wanted, nonce }, Join::Syn { token: wanted, nonce })
                    }
                    Kind::SynAck => {
                        let nonce = nonces[1];
                        (Says::JoinSynAck { nonce }, Join::SynAck { hmac: 0, nonce })
                    }
                    Kind::Ack => self.proof(6 + index, nonces, right),
                };
                let direction = usize::from(kind == Kind::SynAck);
                self.say(flow(6 + index), direction, kind, says, Some(Mptcp::Join(mptcp)))?;
            }
            Event::Data { flow: index, direction, kind, malformed } => {
                let (says, mptcp) =
                    if malformed { (Says::Malformed, Some(Mptcp::Malformed)) } else { (Says::Nothing, None) };
                // SYNs come from the opener.
                let direction = if kind == Kind::Syn { 0 } else { direction };
                self.say(flow(index), direction, kind, says, mptcp)?;
            }
            Event::Wait { seconds } => {
                self.net.run(Duration::from_secs(seconds));
                self.model.wait(seconds);
            }
        }
        self.compare()
    }

    /// The third segment of a join, with the HMAC from the model's connection if `right`.
    fn proof(&self, index: usize, nonces: [u32; 2], right: bool) -> (Says, Join) {
        let wanted = flow(index);
        let found =
            self.model.flows.iter().find(|flow| (flow.hosts, flow.ports) == (wanted.hosts, wanted.ports));
        let connection = found.and_then(|flow| {
            let number = flow.connection?;
            let known = self.model.connections.iter().find(|connection| connection.number == number)?;
            let side = usize::from(flow.by_listener);
            Some((known.version, known.keys[side]?, known.keys[1 - side]?))
        });
        // Keys not seen yet may be seen later.
        let (version, own, other) = connection.unwrap_or((Version::V1, 1, 2));
        let proof = if right { hmac(version, [own, other], nonces) } else { [0; 20] };
        (Says::JoinAck { hmac: proof }, Join::Ack { hmac: proof })
    }

    /// Sends the same segment to both.
    fn say(
        &mut self,
        flow: Flow,
        direction: usize,
        kind: Kind,
        says: Says,
        mptcp: Option<Mptcp>,
    ) -> Result<(), TestCaseError> {
        let flags = match kind {
            Kind::Syn => SYN,
            Kind::SynAck => SYN_ACK,
            Kind::Ack => ACK,
        };
        let packet = self.net.segment(flow, direction, flags, mptcp);
        let frame = self.net.send_and_run(flow.hosts[direction], packet, 6);
        let expected = self.model.segment(flow.hosts, flow.ports, direction, kind, says);
        prop_assert_eq!(self.net.way(frame), expected);
        Ok(())
    }

    /// Compares the tables.
    fn compare(&self) -> Result<(), TestCaseError> {
        let end = |flow: &crate::model::Flow, side: usize| {
            format!("{}:{}", self.net.hosts[flow.hosts[side]].ip, flow.ports[side])
        };
        let mut expected = Vec::new();
        for connection in &self.model.connections {
            let known = |side: usize| {
                connection.keys[side].map(|key| format!("{:08x}", token(connection.version, key)))
            };
            let mut subflows: Vec<String> = self
                .model
                .flows
                .iter()
                .filter(|flow| flow.connection == Some(connection.number))
                .map(|flow| format!("{} {} {} {}", end(flow, 0), end(flow, 1), flow.joined, flow.confirmed))
                .collect();
            subflows.sort();
            expected.push(format!("{} {:?} {:?} {subflows:?}", connection.established, known(0), known(1)));
        }
        expected.sort();
        let shown = self.net.controller.show(self.net.now, Show::Connections, 1000);
        let mut found = Vec::new();
        for connection in shown["connections"].as_array().unwrap() {
            let known = |side: &str| connection[side].as_str().map(str::to_owned);
            let mut subflows: Vec<String> = connection["subflows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|subflow| {
                    let text = |key: &str| subflow[key].as_str().unwrap();
                    let (joined, confirmed) = (subflow["kind"] == "join", subflow["confirmed"] == true);
                    format!("{} {} {joined} {confirmed}", text("source"), text("destination"))
                })
                .collect();
            subflows.sort();
            let (established, initiator) = (connection["state"] == "established", known("initiator_token"));
            found.push(format!("{established} {initiator:?} {:?} {subflows:?}", known("listener_token")));
        }
        found.sort();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(self.net.counter("flows_now"), self.model.flows.len() as u64);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn smoc_does_what_the_model_does(events in prop::collection::vec(event(), 1..60)) {
        let mut pair = Pair::new();
        for event in &events {
            pair.apply(event)?;
        }
        prop_assert_eq!(pair.net.held(), 0);
    }
}
