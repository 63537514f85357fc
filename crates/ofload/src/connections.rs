//! [`Connections`]: the state of each connection at its two hosts, from the first SYN on.
//!
//! A connection's first subflow is opened with MP_CAPABLE, the others with MP_JOIN once the first is established, with
//! real tokens and HMACs. Hosts send only handshakes: the cost to the controller is measured. Without
//! Multipath TCP a connection has one subflow and none of its options.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hashbrown::HashMap;
use hdrhistogram::Histogram;
use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use weft_wire::mptcp::{self, Join, Key, Keys, Party, Version};
use weft_wire::openflow::Match;
use weft_wire::{Ethernet, Ip, Tcp, TcpFlags};

use crate::connection::{Connection, Stage, Subflow, SubflowId};
use crate::frame::{Socket, Station};
use crate::handshake::{capable, segment};
use crate::network::{Host, Network};

/// The port that all servers listen on.
pub const SERVER_PORT: u16 = 5001;
/// The first client port.
const FIRST_PORT: u16 = 10_000;
/// The largest latency that a histogram resolves, in nanoseconds.
const LONGEST: u64 = 120_000_000_000;

/// The kind of connections to open.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// The version of Multipath TCP; `None` for plain TCP.
    pub version: Option<Version>,
    /// Subflows per connection.
    pub subflows: usize,
    /// Whether each connection has its own source MAC address.
    pub fresh_addresses: bool,
    /// Whether client and server are on the same switch.
    pub is_local: bool,
}

/// A subflow's two ends: the client's address and port, the server's address.
type Ends = (Ipv4Addr, u16, Ipv4Addr);

/// A host's reaction to a segment.
#[derive(Debug)]
pub struct Reaction {
    /// The frame that it answers with.
    pub answer: Vec<u8>,
    /// A connection whose other subflows may now be opened.
    pub joins: Option<u64>,
}

/// Why subflows were not established in time.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Failures {
    /// The SYN did not reach the server: the controller never released it, or a wrong rule misrouted it.
    pub syn: u64,
    /// The SYN+ACK did not reach the client.
    pub syn_ack: u64,
    /// The ACK did not reach the server.
    pub ack: u64,
    /// Segments that reached the wrong host or had the wrong MAC address.
    pub misdelivered: u64,
    /// Duplicate segments.
    pub repeated: u64,
}

/// All connections.
pub struct Connections {
    offer: Offer,
    hosts: Vec<Host>,
    random: Xoshiro256PlusPlus,
    ports: Vec<u16>,
    live: HashMap<u64, Connection>,
    ends: HashMap<Ends, SubflowId>,
    /// Complete ones, in that order.
    order: VecDeque<u64>,
    next: u64,
    /// Connections opened.
    pub opened: u64,
    /// Connections that got all of their subflows.
    pub completed: u64,
    /// Connections that timed out.
    pub failed: u64,
    /// The causes.
    pub failures: Failures,
    /// Latency from a SYN's packet-in to its arrival at the server, in nanoseconds: SYNs with MP_CAPABLE or of plain TCP.
    pub capable: Histogram<u64>,
    /// Latency of SYNs with MP_JOIN.
    pub join: Histogram<u64>,
    /// Time from a connection's first SYN until its last subflow is established.
    pub whole: Histogram<u64>,
    /// SYNs that reached the server without a packet-in.
    pub unasked: u64,
    /// The number of distinct paths of each complete connection, summed.
    pub distinct_paths: u64,
    /// When the last connection became complete.
    pub last: u64,
}

impl Connections {
    /// No connections yet, between the hosts of `network`.
    pub fn new(network: &Network, offer: Offer, random: Xoshiro256PlusPlus) -> Self {
        let histogram = || Histogram::new_with_bounds(1, LONGEST, 3).expect("these bounds are possible");
        Self {
            offer,
            hosts: network.hosts.clone(),
            random,
            ports: vec![FIRST_PORT; network.hosts.len()],
            live: HashMap::new(),
            ends: HashMap::new(),
            order: VecDeque::new(),
            next: 0,
            opened: 0,
            completed: 0,
            failed: 0,
            failures: Failures::default(),
            capable: histogram(),
            join: histogram(),
            whole: histogram(),
            unasked: 0,
            distinct_paths: 0,
            last: 0,
        }
    }

    /// Connections that are neither complete nor timed out.
    pub fn in_progress(&self) -> u64 {
        self.opened - self.completed - self.failed
    }

    /// Subflows per connection.
    pub fn subflows(&self) -> usize {
        self.offer.subflows
    }

    /// Complete connections that have not ended.
    pub fn alive(&self) -> u64 {
        self.order.len() as u64
    }

    /// Resets all measurements.
    pub fn start_over(&mut self) {
        for histogram in [&mut self.capable, &mut self.join, &mut self.whole] {
            histogram.reset();
        }
        (self.unasked, self.distinct_paths, self.failures) = (0, 0, Failures::default());
        self.opened = self.in_progress();
        (self.completed, self.failed) = (0, 0);
    }

    /// Opens a connection between two random hosts, on the same switch if [`Offer::is_local`]; returns its number, the
    /// client's index and the SYN. `None` if the client has too few free ports to the server.
    pub fn open(&mut self, now: u64) -> Option<(u64, usize, Vec<u8>)> {
        let hosts = self.pair();
        let [mut station, Station { address: server, .. }] = hosts.map(|host| self.hosts[host].station());
        let ports = self.ports(hosts[0], station.address, server)?;
        let number = self.next;
        self.next += 1;
        self.opened += 1;
        if self.offer.fresh_addresses {
            let [.., a, b, c, d] = number.to_be_bytes();
            station.mac.0 = [2, 1, a, b, c, d];
        }
        let mut subflows = Vec::with_capacity(ports.len());
        for (index, port) in (0..).zip(ports) {
            self.ends.insert((station.address, port, server), SubflowId { connection: number, index });
            let nonces = [self.random.next_u32(), self.random.next_u32()];
            subflows.push(Subflow { port, stage: Stage::Waiting, asked: None, nonces, path: 0 });
        }
        let keys = [Key(self.random.next_u64()), Key(self.random.next_u64())];
        let connection =
            Connection { client: station, hosts, keys, opened: now, subflows, is_complete: false };
        self.live.insert(number, connection);
        let syn = self.syn(SubflowId { connection: number, index: 0 }).unwrap_or_default();
        Some((number, hosts[0], syn))
    }

    /// The SYN of a subflow that is not opened yet, for [`Connections::client`] to send now.
    pub fn syn(&mut self, id: SubflowId) -> Option<Vec<u8>> {
        let offer = self.offer;
        let connection = self.live.get_mut(&id.connection)?;
        let (server, keys) = (&self.hosts[connection.hosts[1]], connection.keys);
        let subflow = connection.subflows.get_mut(usize::from(id.index))?;
        if subflow.stage != Stage::Waiting {
            return None;
        }
        subflow.stage = Stage::Opened;
        let option = offer.version.map(|version| match id.index {
            0 => capable(version, if version == Version::V0 { Keys::Sender(keys[0]) } else { Keys::None }),
            address_id => mptcp::Option::Join(Join::Syn {
                backup: false,
                address_id,
                token: keys[1].token(version),
                nonce: subflow.nonces[0],
            }),
        });
        let from = Socket { station: connection.client, port: subflow.port };
        let to = Socket { station: server.station(), port: SERVER_PORT };
        Some(segment(from, to, TcpFlags::SYN, option, [subflow.nonces[0], 0]))
    }

    /// The index of a connection's client.
    pub fn client(&self, connection: u64) -> Option<usize> {
        self.live.get(&connection).map(|connection| connection.hosts[0])
    }

    /// Records a packet-in with these fields: starts the latency measurement if it is a SYN that has not reached its
    /// server. Returns whether it is.
    pub fn asked(&mut self, now: u64, fields: &Match) -> bool {
        let ends = match (fields.ipv4_src, fields.tcp_src, fields.ipv4_dst, fields.tcp_dst) {
            (Some(client), Some(port), Some(server), Some(SERVER_PORT)) => (client, port, server),
            _ => return false,
        };
        let subflow = self
            .ends
            .get(&ends)
            .and_then(|id| self.live.get_mut(&id.connection)?.subflows.get_mut(usize::from(id.index)));
        match subflow {
            Some(subflow) if subflow.stage == Stage::Opened => {
                subflow.asked.get_or_insert(now);
                true
            }
            _ => false,
        }
    }

    /// Whether a match describes packets of a connection that has not ended.
    pub fn is_alive(&self, matching: &Match) -> bool {
        let ends = (matching.ipv4_src, matching.tcp_src, matching.ipv4_dst, matching.tcp_dst);
        let (Some(source), Some(from), Some(destination), Some(to)) = ends else { return false };
        let ends = if to == SERVER_PORT { (source, from, destination) } else { (destination, to, source) };
        self.ends.contains_key(&ends)
    }

    /// Handles a TCP segment that has reached a host; `path` is a hash of the switches on its path.
    pub fn receive(&mut self, now: u64, host: usize, frame: &[u8], path: u64) -> Option<Reaction> {
        let ethernet = Ethernet::parse(frame).ok()?;
        let Ok(Ip::V4(ip)) = Ip::parse(&ethernet) else { return None };
        let tcp = Tcp::parse(ip.payload()).ok()?;
        let to_server = tcp.destination_port() == SERVER_PORT;
        let ends = match to_server {
            true => (ip.source(), tcp.source_port(), ip.destination()),
            false => (ip.destination(), tcp.destination_port(), ip.source()),
        };
        let id = *self.ends.get(&ends)?;
        let connection = self.live.get_mut(&id.connection)?;
        let server = self.hosts[connection.hosts[1]].station();
        let (client, keys) = (connection.client, connection.keys);
        let (here, receiver) = match to_server {
            true => (connection.hosts[1], server),
            false => (connection.hosts[0], client),
        };
        if (host, ethernet.destination()) != (here, receiver.mac) {
            self.failures.misdelivered += 1;
            return None;
        }
        let subflow = &mut connection.subflows[usize::from(id.index)];
        let parties = [0, 1].map(|end| Party { key: keys[end], nonce: subflow.nonces[end] });
        let at_client = Socket { station: client, port: subflow.port };
        let at_server = Socket { station: server, port: SERVER_PORT };
        let version = self.offer.version;
        let [a, b] = subflow.nonces;
        let is_syn_ack = tcp.is_syn_ack();
        match (to_server, subflow.stage) {
            (true, Stage::Opened) if tcp.is_syn() => {
                subflow.stage = Stage::Granted;
                subflow.path = path;
                match subflow.asked {
                    None => self.unasked += 1,
                    Some(asked) => {
                        let latencies = if id.index == 0 { &mut self.capable } else { &mut self.join };
                        latencies.saturating_record(now - asked);
                    }
                }
                let option = version.map(|version| match id.index {
                    0 => capable(version, Keys::Sender(keys[1])),
                    address_id => {
                        let hmac = mptcp::join_hmac(version, parties[1], parties[0]);
                        let hmac = *hmac.first_chunk().unwrap_or(&[0; 8]);
                        mptcp::Option::Join(Join::SynAck { backup: false, address_id, hmac, nonce: b })
                    }
                });
                let flags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);
                let answer = segment(at_server, at_client, flags, option, [b, a.wrapping_add(1)]);
                Some(Reaction { answer, joins: None })
            }
            (false, Stage::Granted) if is_syn_ack => {
                subflow.stage = Stage::Confirmed;
                let option = version.map(|version| match id.index {
                    0 => capable(version, Keys::Both { sender: keys[0], receiver: keys[1], data: None }),
                    _ => mptcp::Option::Join(Join::Ack {
                        hmac: mptcp::join_hmac(version, parties[0], parties[1]),
                    }),
                });
                let numbers = [a.wrapping_add(1), b.wrapping_add(1)];
                let answer = segment(at_client, at_server, TcpFlags::ACK, option, numbers);
                let joins = (id.index == 0).then_some(id.connection);
                Some(Reaction { answer, joins })
            }
            (true, Stage::Confirmed) if !tcp.is_syn() => {
                subflow.stage = Stage::Established;
                if connection.subflows.iter().all(|subflow| subflow.stage == Stage::Established) {
                    self.complete(now, id.connection);
                }
                None
            }
            _ => {
                self.failures.repeated += 1;
                None
            }
        }
    }

    /// Times a connection out unless it is complete.
    pub fn give_up(&mut self, connection: u64) {
        let Some(found) = self.live.get(&connection).filter(|found| !found.is_complete) else { return };
        for subflow in &found.subflows {
            match subflow.stage {
                Stage::Opened => self.failures.syn += 1,
                Stage::Granted => self.failures.syn_ack += 1,
                Stage::Confirmed => self.failures.ack += 1,
                Stage::Waiting | Stage::Established => {}
            }
        }
        self.failed += 1;
        self.end(connection);
    }

    /// Ends the oldest complete connections until `most` are left.
    pub fn end_all_but(&mut self, most: u64) {
        while self.alive() > most {
            if let Some(oldest) = self.order.pop_front() {
                self.end(oldest);
            }
        }
    }

    fn complete(&mut self, now: u64, number: u64) {
        let Some(connection) = self.live.get_mut(&number) else { return };
        connection.is_complete = true;
        self.whole.saturating_record(now - connection.opened);
        let mut paths: Vec<u64> = connection.subflows.iter().map(|subflow| subflow.path).collect();
        paths.sort_unstable();
        paths.dedup();
        self.distinct_paths += paths.len() as u64;
        self.completed += 1;
        self.last = now;
        self.order.push_back(number);
    }

    fn end(&mut self, number: u64) {
        if let Some(connection) = self.live.remove(&number) {
            let server = self.hosts[connection.hosts[1]].address;
            for subflow in &connection.subflows {
                self.ends.remove(&(connection.client.address, subflow.port, server));
            }
        }
    }

    /// A client and a server: on different switches, unless only hosts of the same switch are reachable.
    fn pair(&mut self) -> [usize; 2] {
        let count = self.hosts.len() as u64;
        let client = (self.random.next_u64() % count) as usize;
        let first = (self.random.next_u64() % count) as usize;
        let others = (first..self.hosts.len()).chain(0..first).filter(|other| *other != client);
        let near = |other: &usize| self.hosts[*other].at.0 == self.hosts[client].at.0;
        let server = match self.offer.is_local {
            true => others.clone().find(near),
            false => others.clone().find(|other| !near(other)),
        };
        [client, server.or(others.clone().next()).unwrap_or(client)]
    }

    /// Client ports without connections to the server, one for each subflow; `None` if there are too few.
    fn ports(&mut self, host: usize, client: Ipv4Addr, server: Ipv4Addr) -> Option<Vec<u16>> {
        let next = self.ports[host];
        let all = (next..=u16::MAX).chain(FIRST_PORT..next);
        let free = all.filter(|port| !self.ends.contains_key(&(client, *port, server)));
        let ports: Vec<u16> = free.take(self.offer.subflows).collect();
        self.ports[host] = ports.last()?.checked_add(1).unwrap_or(FIRST_PORT);
        (ports.len() == self.offer.subflows).then_some(ports)
    }
}
