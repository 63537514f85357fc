//! A straightforward model of Algorithm 2 with the additions of `docs/smoc.md`: linear searches in lists, and
//! path sets computed as all simple paths, sorted.

use std::collections::BTreeSet;

use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use weft_wire::mptcp::Version;

/// A TCP flow of the model.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    pub hosts: [usize; 2],
    pub ports: [u16; 2],
    /// From its opener; `None` while dormant.
    pub path: Option<Vec<u64>>,
    pub connection: Option<usize>,
    pub joined: bool,
    pub confirmed: bool,
    /// The listener's side opened it.
    pub by_listener: bool,
    /// Whether each direction is still copied to the controller.
    pub copied: [bool; 2],
    /// The nonces of a join from elsewhere.
    pub nonces: [Option<u32>; 2],
    /// The HMAC of such a join.
    pub proof: Option<[u8; 20]>,
    /// Seconds it has been dormant, roughly.
    pub slept: u64,
    /// The key in the SYN of a version 0 connection.
    pub key_in_syn: Option<u64>,
}

/// `pending_capable` and `mptcp_connections`.
#[derive(Clone, Debug)]
pub struct Connection {
    pub number: usize,
    pub version: Version,
    pub keys: [Option<u64>; 2],
    pub established: bool,
    pub hosts: [usize; 2],
}

/// The option of a segment.
#[derive(Clone, Copy, Debug)]
pub enum Says {
    Nothing,
    Capable { version: Version, own: Option<u64>, other: Option<u64> },
    JoinSyn { token: u32, nonce: u32 },
    JoinSynAck { nonce: u32 },
    JoinAck { hmac: [u8; 20] },
    Malformed,
}

/// The kind of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Syn,
    SynAck,
    Ack,
}

pub struct Model {
    /// The switch of each host.
    pub places: Vec<u64>,
    pub cables: Vec<(u64, u64)>,
    pub flows: Vec<Flow>,
    pub connections: Vec<Connection>,
    opened: usize,
    paths: usize,
}

pub fn token(version: Version, key: u64) -> u32 {
    let first = |hash: &[u8]| u32::from_be_bytes(hash[..4].try_into().unwrap());
    match version {
        Version::V0 => first(&Sha1::digest(key.to_be_bytes())),
        Version::V1 => first(&Sha256::digest(key.to_be_bytes())),
    }
}

pub fn hmac(version: Version, keys: [u64; 2], nonces: [u32; 2]) -> [u8; 20] {
    let key = [keys[0].to_be_bytes(), keys[1].to_be_bytes()].concat();
    let message = [nonces[0].to_be_bytes(), nonces[1].to_be_bytes()].concat();
    if version == Version::V0 {
        let mut hmac = Hmac::<Sha1>::new_from_slice(&key).unwrap();
        hmac.update(&message);
        hmac.finalize().into_bytes().into()
    } else {
        let mut hmac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        hmac.update(&message);
        hmac.finalize().into_bytes()[..20].try_into().unwrap()
    }
}

impl Model {
    pub fn new(places: &[u64], cables: &[(u64, u64)], paths: usize) -> Self {
        Self {
            places: places.to_vec(),
            cables: cables.to_vec(),
            flows: Vec::new(),
            connections: Vec::new(),
            opened: 0,
            paths,
        }
    }

    /// Algorithm 1.
    pub fn set(&self, from: u64, to: u64) -> Vec<Vec<u64>> {
        let mut all = vec![];
        let mut open = vec![vec![from]];
        while let Some(way) = open.pop() {
            let last = way[way.len() - 1];
            if last == to {
                all.push(way);
                continue;
            }
            for &(a, b) in &self.cables {
                for (x, y) in [(a, b), (b, a)] {
                    if x == last && !way.contains(&y) {
                        open.push([way.clone(), vec![y]].concat());
                    }
                }
            }
        }
        let edges = |way: &[u64]| -> BTreeSet<(u64, u64)> {
            way.windows(2).map(|pair| (pair[0].min(pair[1]), pair[0].max(pair[1]))).collect()
        };
        all.sort_by_key(|way| (way.len(), way.clone()));
        let Some(primary) = all.first().map(|way| edges(way)) else { return vec![] };
        all[1..].sort_by_key(|way| (edges(way).intersection(&primary).count(), way.len(), way.clone()));
        all.truncate(self.paths);
        all
    }

    /// A segment is sent in a direction of a flow between `hosts`, the first of which sends SYNs. Returns the
    /// switches on its path.
    pub fn segment(
        &mut self,
        hosts: [usize; 2],
        ports: [u16; 2],
        direction: usize,
        kind: Kind,
        says: Says,
    ) -> Vec<u64> {
        let backward = ([hosts[1], hosts[0]], [ports[1], ports[0]]);
        let same = |flow: &Flow| (flow.hosts, flow.ports) == (hosts, ports);
        let mirrored = |flow: &Flow| (flow.hosts, flow.ports) == backward;
        if let Some(index) = self.flows.iter().position(|flow| same(flow) || mirrored(flow)) {
            let direction = if mirrored(&self.flows[index]) { 1 - direction } else { direction };
            let asleep = self.flows[index].path.is_none();
            if kind == Kind::Syn && asleep {
                // The same endpoints, but a new connection.
                self.forget(index);
            } else {
                if asleep {
                    let path = self.choose(index);
                    (self.flows[index].path, self.flows[index].slept) = (Some(path), 0);
                }
                let way = self.way(index, direction);
                if !asleep && self.flows[index].copied[direction] {
                    self.see(index, direction, kind, says);
                }
                return way;
            }
        }
        let sends = [hosts[direction], hosts[1 - direction]];
        if kind == Kind::SynAck {
            // The flow is unknown: the controller delivers the frame directly.
            return vec![self.places[sends[1]]];
        }
        let ports = if direction == 0 { ports } else { [ports[1], ports[0]] };
        self.flows.push(Flow { hosts: sends, ports, ..Flow::default() });
        let index = self.flows.len() - 1;
        match says {
            Says::Capable { version, own, .. } if kind == Kind::Syn => {
                // pending_capable
                self.opened += 1;
                let (number, keys) = (self.opened, [None; 2]);
                self.connections.push(Connection { number, version, keys, established: false, hosts: sends });
                let flow = &mut self.flows[index];
                (flow.connection, flow.copied, flow.key_in_syn) = (Some(number), [true; 2], own);
            }
            Says::JoinSyn { token, nonce } if kind == Kind::Syn => self.join(index, token, nonce),
            _ => {}
        }
        let path = self.choose(index);
        self.flows[index].path = Some(path);
        self.way(index, 0)
    }

    /// Lets `seconds` pass without traffic, more than the idle timeout of 10 s. Flows dormant for 60 s are
    /// forgotten.
    pub fn wait(&mut self, seconds: u64) {
        for index in (0..self.flows.len()).rev() {
            let flow = &mut self.flows[index];
            flow.slept += if flow.path.is_some() { seconds - 10 } else { seconds };
            if flow.confirmed && flow.connection.is_some() && flow.slept < 60 {
                (flow.path, flow.copied) = (None, [false; 2]);
            } else {
                self.forget(index);
            }
        }
    }

    fn forget(&mut self, index: usize) {
        let connection = self.flows.remove(index).connection;
        if !self.flows.iter().any(|flow| flow.connection == connection) {
            self.connections.retain(|other| Some(other.number) != connection);
        }
    }

    fn way(&self, index: usize, direction: usize) -> Vec<u64> {
        let mut way = self.flows[index].path.clone().unwrap();
        if direction == 1 {
            way.reverse();
        }
        way
    }

    fn connection(&mut self, number: usize) -> &mut Connection {
        self.connections.iter_mut().find(|connection| connection.number == number).unwrap()
    }

    /// The path of the set with the fewest subflows, the first of several.
    fn choose(&self, index: usize) -> Vec<u64> {
        let flow = &self.flows[index];
        let [a, b] = flow.hosts.map(|host| self.places[host]);
        if flow.connection.is_none() {
            return self.set(a, b).swap_remove(0);
        }
        let set = if flow.by_listener { self.set(b, a) } else { self.set(a, b) };
        let uses = |path: &Vec<u64>| {
            let mut others = self.flows.clone();
            others.remove(index);
            others.retain(|other| other.connection == flow.connection);
            others.retain(|other| other.confirmed || other.hosts[0] == flow.hosts[0]);
            others.iter().filter(|other| same_way(other, path)).count()
        };
        let mut best = &set[0];
        for path in &set {
            if uses(path) < uses(best) {
                best = path;
            }
        }
        oriented(best.clone(), flow.by_listener)
    }

    fn join(&mut self, index: usize, wanted: u32, nonce: u32) {
        let [from, to] = self.flows[index].hosts;
        let mut best: Option<(u32, usize, usize)> = None;
        for connection in &self.connections {
            for side in [0, 1] {
                let known = connection.keys[side].map(|key| token(connection.version, key));
                if connection.established && known == Some(wanted) {
                    let fits = 2 * u32::from(connection.hosts[side] == to)
                        + u32::from(connection.hosts[1 - side] == from);
                    if best.is_none_or(|(most, _, _)| fits > most) {
                        best = Some((fits, connection.number, side));
                    }
                }
            }
        }
        let Some((fits, number, owner)) = best else { return };
        let unproven =
            |flow: &Flow| flow.connection == Some(number) && !flow.confirmed && flow.hosts[0] == from;
        if fits < 3 {
            let waiting: Vec<usize> =
                (0..self.flows.len()).filter(|&other| unproven(&self.flows[other])).collect();
            if waiting.len() >= 8 {
                self.give_up(waiting[0]);
            }
        }
        let flow = &mut self.flows[index];
        (flow.connection, flow.joined, flow.by_listener) = (Some(number), true, owner == 0);
        if fits == 3 {
            flow.confirmed = true;
        } else {
            (flow.copied, flow.nonces) = ([true; 2], [Some(nonce), None]);
        }
    }

    /// Removes a flow from its connection.
    fn give_up(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        (flow.connection, flow.confirmed, flow.joined, flow.by_listener) = (None, false, false, false);
        flow.copied = [false; 2];
    }

    /// Sets a key. A token is unique at its host.
    fn set_key(&mut self, number: usize, side: usize, key: u64, certain: bool) {
        let (version, host) = (self.connection(number).version, self.connection(number).hosts[side]);
        let mut taken = false;
        for connection in &mut self.connections {
            for other in [0, 1] {
                let same = connection.hosts[other] == host
                    && connection.keys[other].map(|key| token(connection.version, key))
                        == Some(token(version, key));
                if same && (connection.number, other) != (number, side) {
                    taken = true;
                    if certain {
                        connection.keys[other] = None;
                    }
                }
            }
        }
        if certain || !taken {
            self.connection(number).keys[side] = Some(key);
        }
    }

    /// The controller receives a copy.
    fn see(&mut self, index: usize, direction: usize, kind: Kind, says: Says) {
        let Some(number) = self.flows[index].connection else { return };
        if self.flows[index].joined {
            match (direction, says) {
                (1, Says::JoinSynAck { nonce }) if kind == Kind::SynAck => {
                    self.flows[index].nonces[1] = Some(nonce);
                    self.flows[index].copied[1] = false;
                    self.prove(index, number);
                }
                (0, Says::JoinAck { hmac }) if kind == Kind::Ack => {
                    self.flows[index].proof = Some(hmac);
                    self.flows[index].copied[0] = false;
                    self.prove(index, number);
                }
                _ => {}
            }
            return;
        }
        match (direction, kind, says) {
            (1, Kind::SynAck, Says::Capable { version, own: Some(key), .. })
                if version <= self.connection(number).version =>
            {
                self.connection(number).version = version;
                let opened_with = self.connection(number).keys[0];
                let in_syn = self.flows[index].key_in_syn.filter(|_| version == Version::V0);
                self.set_key(number, 1, key, true);
                if let Some(key) = opened_with.or(in_syn) {
                    self.set_key(number, 0, key, true);
                }
                self.connection(number).established = true;
                self.flows[index].confirmed = true;
                self.flows[index].copied[1] = false;
                self.prove_all(number);
            }
            (0, Kind::Ack, Says::Capable { version, own: Some(own), other: Some(other) }) => {
                if self.connection(number).keys[1].is_none() {
                    let connection = self.connection(number);
                    connection.version = version.min(connection.version);
                    self.set_key(number, 1, other, false);
                }
                self.set_key(number, 0, own, true);
                self.connection(number).established = true;
                self.flows[index].confirmed = true;
                self.flows[index].copied[0] = false;
                self.prove_all(number);
            }
            (1, Kind::SynAck, _) | (0, Kind::Ack, Says::Nothing | Says::Malformed) => {
                for other in 0..self.flows.len() {
                    if self.flows[other].connection == Some(number) {
                        self.give_up(other);
                    }
                }
                self.connections.retain(|connection| connection.number != number);
            }
            _ => {}
        }
    }

    fn prove_all(&mut self, number: usize) {
        for index in 0..self.flows.len() {
            let flow = &self.flows[index];
            if flow.connection == Some(number) && !flow.confirmed {
                self.prove(index, number);
            }
        }
    }

    fn prove(&mut self, index: usize, number: usize) {
        let connection = self.connection(number).clone();
        let flow = &self.flows[index];
        let opener = usize::from(flow.by_listener);
        let [Some(own), Some(other)] = [connection.keys[opener], connection.keys[1 - opener]] else { return };
        let ([Some(first), Some(second)], Some(proof)) = (flow.nonces, flow.proof) else { return };
        if hmac(connection.version, [own, other], [first, second]) != proof {
            return self.give_up(index);
        }
        self.flows[index].confirmed = true;
        self.flows[index].copied = [false; 2];
        // Before its confirmation, others may have been assigned its path.
        let flow = self.flows[index].clone();
        let [a, b] = flow.hosts.map(|host| self.places[host]);
        let set = if flow.by_listener { self.set(b, a) } else { self.set(a, b) };
        let uses = |path: &Vec<u64>| {
            let mut others = self.flows.clone();
            others.remove(index);
            others
                .iter()
                .filter(|other| other.connection == Some(number) && other.confirmed && same_way(other, path))
                .count()
        };
        let least = set.iter().min_by_key(|path| uses(path)).unwrap().clone();
        let own = oriented(flow.path.clone().unwrap(), flow.by_listener);
        if set.contains(&own) && uses(&least) < uses(&own) {
            self.flows[index].path = Some(oriented(least, flow.by_listener));
        }
    }
}

fn oriented(mut path: Vec<u64>, reversed: bool) -> Vec<u64> {
    if reversed {
        path.reverse();
    }
    path
}

/// Whether a flow takes a path, in either direction.
fn same_way(flow: &Flow, path: &[u64]) -> bool {
    let Some(own) = &flow.path else { return false };
    let mut back = own.clone();
    back.reverse();
    own == path || back == path
}
