//! [`Connections`]: what the hosts at both ends know of each connection, from its first SYN on.
//!
//! A connection's first subflow is opened with MP_CAPABLE, the others with MP_JOIN once the first is there, with
//! real tokens and HMACs. Its hosts send nothing else: what they cost the controller is what counts. Without
//! Multipath TCP a connection has one subflow and no options of it.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hashbrown::HashMap;
use hdrhistogram::Histogram;
use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use weft_wire::mptcp::{self, Capable, CapableFlags, Join, Key, Keys, Party, Version};
use weft_wire::openflow::Match;
use weft_wire::{Ethernet, Ip, Tcp, TcpFlags, TcpOption};

use crate::frame::{Segment, Station};
use crate::network::{Host, Network};

/// The port that all servers listen on.
pub const SERVER_PORT: u16 = 5001;
/// The ports of clients begin here.
const FIRST_PORT: u16 = 10_000;
/// The longest latency that is told apart, in nanoseconds.
const LONGEST: u64 = 120_000_000_000;

/// What is opened.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// The version of Multipath TCP; `None` for TCP alone.
    pub version: Option<Version>,
    /// The subflows of a connection.
    pub subflows: usize,
    /// Whether each connection comes from a MAC address of its own.
    pub fresh_addresses: bool,
    /// Whether its hosts are at the same switch.
    pub is_local: bool,
}

/// A subflow's two ends: the client's address and port, the server's address.
type Ends = (Ipv4Addr, u16, Ipv4Addr);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Not begun.
    Waiting,
    /// The SYN is on its way.
    Opened,
    /// The server has it and has granted the subflow.
    Granted,
    /// The client has that, and has confirmed it.
    Confirmed,
    /// The server has that too.
    Established,
}

#[derive(Clone, Copy, Debug)]
struct Subflow {
    port: u16,
    stage: Stage,
    /// When a switch asked the controller about its SYN.
    asked: Option<u64>,
    /// Of the client and of the server.
    nonces: [u32; 2],
    /// The switches that its SYN went over, as a hash.
    path: u64,
}

#[derive(Debug)]
struct Connection {
    client: Station,
    /// Hosts, by place.
    hosts: [usize; 2],
    /// Of the client and of the server.
    keys: [Key; 2],
    opened: u64,
    subflows: Vec<Subflow>,
    is_complete: bool,
}

/// A connection, and a subflow of it. A number is never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SubflowId {
    /// The connection's number, in the order in which they were opened.
    pub connection: u64,
    /// 0 for the one that opens it.
    pub index: u8,
}

/// What a host does about a segment.
#[derive(Debug, Default)]
pub struct Reaction {
    /// It answers with this frame.
    pub answer: Option<Vec<u8>>,
    /// From now on the connection's other subflows may be opened.
    pub joins: Option<u64>,
    /// The connection has all of its subflows now.
    pub is_complete: bool,
}

/// Why subflows were not established in time.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Failures {
    /// The SYN did not come to the server: the controller never released it, or a wrong rule took it.
    pub syn: u64,
    /// The server's answer did not come to the client.
    pub syn_ack: u64,
    /// The client's answer did not come to the server.
    pub ack: u64,
    /// Segments that came to another host, or with another MAC address.
    pub misdelivered: u64,
    /// Segments that came again.
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
    /// How many were opened.
    pub opened: u64,
    /// How many have all of their subflows.
    pub completed: u64,
    /// How many were given up.
    pub failed: u64,
    /// Why.
    pub failures: Failures,
    /// From a SYN's packet-in until the server has it, in nanoseconds: SYNs with MP_CAPABLE, or of TCP alone.
    pub capable: Histogram<u64>,
    /// Those with MP_JOIN.
    pub join: Histogram<u64>,
    /// From a connection's first SYN until its last subflow is established.
    pub whole: Histogram<u64>,
    /// SYNs that came to the server and that no switch had asked about.
    pub unasked: u64,
    /// The different paths of complete connections, added up.
    pub distinct_paths: u64,
    /// When the last one became complete.
    pub last: u64,
}

impl Connections {
    /// None yet, between the hosts of `network`.
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

    /// Those that were opened and have neither all their subflows nor been given up.
    pub fn in_progress(&self) -> u64 {
        self.opened - self.completed - self.failed
    }

    /// The subflows of a connection.
    pub fn subflows(&self) -> usize {
        self.offer.subflows
    }

    /// Those that have all their subflows, and have not ended.
    pub fn alive(&self) -> u64 {
        self.order.len() as u64
    }

    /// Forgets what was measured of all before.
    pub fn start_over(&mut self) {
        for histogram in [&mut self.capable, &mut self.join, &mut self.whole] {
            histogram.reset();
        }
        (self.unasked, self.distinct_paths, self.failures) = (0, 0, Failures::default());
        self.opened = self.in_progress();
        (self.completed, self.failed) = (0, 0);
    }

    /// Opens a connection between two hosts drawn at random, of one switch where switches are alone; gives its
    /// number, the client's place and the SYN.
    pub fn open(&mut self, now: u64) -> (u64, usize, Vec<u8>) {
        let number = self.next;
        self.next += 1;
        self.opened += 1;
        let hosts = self.pair();
        let [client, server] = hosts.map(|host| &self.hosts[host]);
        let mut station = Station { mac: client.mac, address: client.address };
        if self.offer.fresh_addresses {
            let [.., a, b, c, d] = number.to_be_bytes();
            station.mac.0 = [2, 1, a, b, c, d];
        }
        let server = server.address;
        let mut subflows = Vec::with_capacity(self.offer.subflows);
        for index in 0..self.offer.subflows as u8 {
            let port = self.port(hosts[0], station.address, server);
            self.ends.insert((station.address, port, server), SubflowId { connection: number, index });
            let nonces = [self.random.next_u32(), self.random.next_u32()];
            subflows.push(Subflow { port, stage: Stage::Waiting, asked: None, nonces, path: 0 });
        }
        let keys = [Key(self.random.next_u64()), Key(self.random.next_u64())];
        let connection =
            Connection { client: station, hosts, keys, opened: now, subflows, is_complete: false };
        self.live.insert(number, connection);
        let syn = self.syn(SubflowId { connection: number, index: 0 }).unwrap_or_default();
        (number, hosts[0], syn)
    }

    /// The SYN of a subflow that is not opened yet, to be sent now by the host [`Connections::client`].
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
        let (from, to) = ((connection.client, subflow.port), (station(server), SERVER_PORT));
        Some(segment(from, to, TcpFlags::SYN, option, [subflow.nonces[0], 0]))
    }

    /// The place of a connection's client.
    pub fn client(&self, connection: u64) -> Option<usize> {
        self.live.get(&connection).map(|connection| connection.hosts[0])
    }

    /// A switch asks the controller about a packet with these fields: counts from now if it is a SYN that has not
    /// come to its server. Says whether it is.
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

    /// Whether the packets of a match are those of a connection that has not ended.
    pub fn is_alive(&self, matching: &Match) -> bool {
        let ends = (matching.ipv4_src, matching.tcp_src, matching.ipv4_dst, matching.tcp_dst);
        let (Some(source), Some(from), Some(destination), Some(to)) = ends else { return false };
        let ends = if to == SERVER_PORT { (source, from, destination) } else { (destination, to, source) };
        self.ends.contains_key(&ends)
    }

    /// A frame with a TCP segment has come to a host, over switches of which `path` is a hash.
    pub fn receive(&mut self, now: u64, host: usize, frame: &[u8], path: u64) -> Reaction {
        self.react(now, host, frame, path).unwrap_or_default()
    }

    fn react(&mut self, now: u64, host: usize, frame: &[u8], path: u64) -> Option<Reaction> {
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
        let server = station(&self.hosts[connection.hosts[1]]);
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
        let (at_client, at_server) = ((client, subflow.port), (server, SERVER_PORT));
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
                Some(Reaction { answer: Some(answer), ..Reaction::default() })
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
                Some(Reaction { answer: Some(answer), joins, is_complete: false })
            }
            (true, Stage::Confirmed) if !tcp.is_syn() => {
                subflow.stage = Stage::Established;
                let is_complete =
                    connection.subflows.iter().all(|subflow| subflow.stage == Stage::Established);
                if is_complete {
                    self.complete(now, id.connection);
                }
                Some(Reaction { is_complete, ..Reaction::default() })
            }
            _ => {
                self.failures.repeated += 1;
                None
            }
        }
    }

    /// Gives a connection up unless it is complete; says so.
    pub fn give_up(&mut self, connection: u64) -> bool {
        let Some(found) = self.live.get(&connection).filter(|found| !found.is_complete) else { return false };
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
        true
    }

    /// Ends the connections that have been complete for longest until `most` are left.
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

    /// A client and a server: of different switches, unless no others can be reached.
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

    /// A port of a client that has no connection to the server from it.
    fn port(&mut self, host: usize, client: Ipv4Addr, server: Ipv4Addr) -> u16 {
        loop {
            let port = self.ports[host];
            self.ports[host] = port.checked_add(1).unwrap_or(FIRST_PORT);
            if !self.ends.contains_key(&(client, port, server)) {
                return port;
            }
        }
    }
}

fn station(host: &Host) -> Station {
    Station { mac: host.mac, address: host.address }
}

fn capable(version: Version, keys: Keys) -> mptcp::Option<'static> {
    mptcp::Option::Capable(Capable { version, flags: CapableFlags::HMAC, keys })
}

/// A segment with the options that Linux sends beside that of Multipath TCP.
fn segment(
    from: (Station, u16),
    to: (Station, u16),
    flags: TcpFlags,
    option: Option<mptcp::Option<'static>>,
    [sequence, acknowledgement]: [u32; 2],
) -> Vec<u8> {
    let mut options = Vec::with_capacity(5);
    if flags.contains(TcpFlags::SYN) {
        options.extend([
            TcpOption::MaximumSegmentSize(1460),
            TcpOption::SackPermitted,
            TcpOption::WindowScale(7),
        ]);
    }
    options.push(TcpOption::Timestamps { value: sequence, echo: acknowledgement });
    options.extend(option.map(TcpOption::Mptcp));
    let segment = Segment { from, to, sequence, acknowledgement, flags, options: &options };
    segment.frame().expect("the options of a handshake fit a header")
}
