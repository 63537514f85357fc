//! The hosts' connections, each with two endpoints.
//!
//! A connection lives from the start of its flow until both sides have closed and the last of its
//! packets has left the network; then its slot is reused. Nothing refers to it by then, so the number
//! of the destination endpoint is all that a packet needs.

use weft_switching::{Header, Kind, Mac, flow_hash};
use weft_traffic::Flow;
use weft_transport::{Config, Endpoint};
use weft_units::{HostId, Time};

use crate::observe::Seen;

/// Number of an endpoint: twice its connection's number, plus one at the flow's destination.
pub type EndpointId = u32;

/// One side of a connection.
pub struct Side {
    /// The TCP state.
    pub endpoint: Endpoint,
    /// The earliest timer event scheduled for it.
    pub armed: Time,
    /// The earliest event scheduled for data that waits for the interface.
    pub wake: Time,
    /// The header of its packets.
    pub template: Header,
    /// The link on which it sends.
    pub nic: u32,
}

/// State shared by both sides.
pub struct Connection {
    /// The flow.
    pub flow: Flow,
    /// When the receiver got the last byte.
    pub end: Option<Time>,
    /// Packets of both sides in the network.
    pub in_flight: u32,
    /// Data packets of the flow dropped.
    pub drops: u32,
    /// Whether the slot is in use.
    pub live: bool,
    /// When the connection was opened.
    pub opened: Time,
    /// Observations of its path through the fabric.
    pub seen: Seen,
}

/// All connections of a run.
#[derive(Default)]
pub struct Connections {
    /// Two sides per connection.
    pub sides: Vec<Side>,
    /// The connections.
    pub shared: Vec<Connection>,
    free: Vec<u32>,
}

impl Connections {
    /// Opens a connection for `flow`; `nics` are the links on which the source and the destination
    /// send. Returns the number of the source's endpoint.
    pub fn open(&mut self, config: &Config, now: Time, flow: &Flow, nics: [u32; 2]) -> EndpointId {
        let isn = weft_switching::mix64(u64::from(flow.id.0)) as u32;
        let mut client = Endpoint::connect(config, now, isn);
        client.write(flow.bytes);
        client.close();
        let server = Endpoint::listen(config, isn.rotate_left(16));
        let side = |endpoint, nic, src: HostId, dst: HostId, sport, dport| Side {
            endpoint,
            armed: Time::MAX,
            wake: Time::MAX,
            template: Header {
                dst: Mac::of_host(dst.0),
                src: Mac::of_host(src.0),
                sport,
                dport,
                flow_hash: flow_hash(src, dst, sport, dport),
                kind: Kind::Tcp,
                traffic_class: flow.dscp << 2,
                ..Header::default()
            },
            nic,
        };
        let client = side(client, nics[0], flow.src, flow.dst, flow.sport, flow.dport);
        let server = side(server, nics[1], flow.dst, flow.src, flow.dport, flow.sport);
        let shared = Connection {
            flow: *flow,
            end: None,
            in_flight: 0,
            drops: 0,
            live: true,
            opened: now,
            seen: Seen::default(),
        };
        match self.free.pop() {
            Some(number) => {
                let at = number as usize;
                self.sides[at * 2] = client;
                self.sides[at * 2 + 1] = server;
                self.shared[at] = shared;
                number * 2
            }
            None => {
                self.sides.extend([client, server]);
                self.shared.push(shared);
                self.sides.len() as u32 - 2
            }
        }
    }

    /// Frees a connection's slot.
    pub fn close(&mut self, number: u32) {
        self.shared[number as usize].live = false;
        self.free.push(number);
    }

    /// The live connection from `src` and its port to `dst` and its port.
    pub fn find(&self, src: (HostId, u16), dst: (HostId, u16)) -> Option<usize> {
        self.shared.iter().position(|shared| {
            let flow = &shared.flow;
            shared.live && (flow.src, flow.sport) == src && (flow.dst, flow.dport) == dst
        })
    }

    /// The number of live connections.
    pub fn live(&self) -> usize {
        self.shared.len() - self.free.len()
    }

    /// Bytes of memory held, without the endpoints' own heap allocations.
    pub fn memory(&self) -> usize {
        self.sides.capacity() * size_of::<Side>() + self.shared.capacity() * size_of::<Connection>()
    }
}
