//! Traffic between hosts: TCP and MPTCP handshakes.

use weft_control::Duration;
use weft_control::{Content, Controller, End, Join, Mptcp, Packet, Tcp};
use weft_wire::mptcp::Version;

use crate::model;
use crate::net::{Net, address};

pub const SYN: u8 = Tcp::SYN;
pub const SYN_ACK: u8 = Tcp::SYN | Tcp::ACK;
pub const ACK: u8 = Tcp::ACK;

/// A TCP flow between two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub hosts: [usize; 2],
    pub ports: [u16; 2],
}

pub fn flow(from: usize, to: usize, port: u16) -> Flow {
    Flow { hosts: [from, to], ports: [port, 80] }
}

/// An MPTCP connection from its hosts' point of view.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    pub first: Flow,
    pub version: Version,
    pub keys: [u64; 2],
}

impl Connection {
    pub fn new(first: Flow, version: Version, seed: u64) -> Self {
        Self { first, version, keys: [seed * 2 + 1, seed * 2 + 2] }
    }

    /// The token of one side's key.
    pub fn token(&self, side: usize) -> u32 {
        model::token(self.version, self.keys[side])
    }

    /// The HMAC of `side`, which sent the first of the two nonces.
    pub fn hmac(&self, side: usize, nonces: [u32; 2]) -> [u8; 20] {
        model::hmac(self.version, [self.keys[side], self.keys[1 - side]], nonces)
    }

    /// The MP_CAPABLE option of the three segments.
    pub fn capable(&self, segment: usize) -> Mptcp {
        let [own, other] = self.keys;
        let (sender_key, receiver_key) = match (segment, self.version) {
            (0, Version::V0) => (Some(own), None),
            (0, Version::V1) => (None, None),
            (1, _) => (Some(other), None),
            _ => (Some(own), Some(other)),
        };
        Mptcp::Capable { version: self.version, sender_key, receiver_key }
    }
}

impl<C: Controller> Net<C> {
    /// A segment of a flow in a direction.
    pub fn segment(&self, flow: Flow, direction: usize, flags: u8, mptcp: Option<Mptcp>) -> Packet {
        let (from, to) = (flow.hosts[direction], flow.hosts[1 - direction]);
        let end =
            |side: usize| End { address: address(&self.hosts[flow.hosts[side]]), port: flow.ports[side] };
        let segment = Tcp {
            source: end(direction),
            destination: end(1 - direction),
            flags,
            sequence: u32::from(flow.ports[0]),
            mptcp,
        };
        Packet { eth_src: self.hosts[from].mac, eth_dst: self.hosts[to].mac, content: Content::Tcp(segment) }
    }

    /// Sends a segment and waits long enough for it to arrive.
    pub fn say(&mut self, flow: Flow, direction: usize, flags: u8, mptcp: Option<Mptcp>) -> u64 {
        let packet = self.segment(flow, direction, flags, mptcp);
        let frame = self.send(flow.hosts[direction], packet);
        self.run(Duration::from_ms(60));
        frame
    }

    /// Sends a segment like `say`; returns its path.
    pub fn say_on(&mut self, flow: Flow, direction: usize, flags: u8, mptcp: Option<Mptcp>) -> Vec<u64> {
        let frame = self.say(flow, direction, flags, mptcp);
        self.way(frame)
    }

    /// Sends some of the three segments of a connection's handshake; returns their paths.
    pub fn shake<const N: usize>(&mut self, connection: &Connection, segments: [usize; N]) -> [Vec<u64>; N] {
        segments.map(|segment| {
            let (direction, flags) = [(0, SYN), (1, SYN_ACK), (0, ACK)][segment];
            self.say_on(connection.first, direction, flags, Some(connection.capable(segment)))
        })
    }

    /// A segment sent up by an old rule although its flow's rule is installed; waits like `say`.
    pub fn straggle(&mut self, flow: Flow, direction: usize, flags: u8, mptcp: Option<Mptcp>) -> u64 {
        let packet = self.segment(flow, direction, flags, mptcp);
        let frame = self.send_up(flow.hosts[direction], packet);
        self.run(Duration::from_ms(60));
        frame
    }

    /// Performs the handshake of a connection. Returns the paths of its three segments.
    pub fn open(&mut self, connection: &Connection) -> [Vec<u64>; 3] {
        self.shake(connection, [0, 1, 2])
    }

    /// Performs the handshake of a join opened by `side` of the connection. Returns the path of both directions.
    pub fn join(&mut self, connection: &Connection, flow: Flow, side: usize) -> Vec<u64> {
        let [way, mut back] = self.join_ways(connection, flow, side);
        back.reverse();
        assert_eq!(back, way, "both directions take the same path");
        way
    }

    /// The same for directions that may take different paths: returns those of its SYN and of the answer.
    pub fn join_ways(&mut self, connection: &Connection, flow: Flow, side: usize) -> [Vec<u64>; 2] {
        let nonces = [u32::from(flow.ports[0]), 77];
        let token = connection.token(1 - side);
        let way = self.say_on(flow, 0, SYN, Some(Mptcp::Join(Join::Syn { token, nonce: nonces[0] })));
        let back = connection.hmac(1 - side, [nonces[1], nonces[0]]);
        let hmac = u64::from_be_bytes(back[..8].try_into().unwrap());
        let reply = Join::SynAck { hmac, nonce: nonces[1] };
        let answer = self.say_on(flow, 1, SYN_ACK, Some(Mptcp::Join(reply)));
        let hmac = connection.hmac(side, nonces);
        self.say(flow, 0, ACK, Some(Mptcp::Join(Join::Ack { hmac })));
        [way, answer]
    }
}
