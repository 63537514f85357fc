//! TCP without a matching rule: segments that open flows, and segments of flows whose rules are missing.

use weft_wire::mptcp::Version;

use super::rules::Changes;
use super::state::Smoc;
use crate::budget::FLOWS;
use crate::clock::{Duration, Time};
use crate::command::{Command, at_once};
use crate::connections::{INITIATOR, LISTENER};
use crate::cookie::Part;
use crate::flows::{Found, Key, State, by, mapped};
use crate::ids::{FrameRef, SwitchPort};
use crate::offences::OffenceKind;
use crate::packet::{Join, Mptcp, Tcp};
use crate::routes::From;
use crate::slab::NONE;

/// Maximum number of confirmed subflows per connection.
pub(super) const MAX_SUBFLOWS: u32 = 64;
/// Maximum number of unverified joins per connection and port.
const MAX_UNPROVEN: usize = 8;
/// How long segments sent up before a rule was installed may still arrive.
const STRAGGLERS: Duration = Duration::from_secs(1);

impl Smoc {
    /// Handles a segment that matched no flow's rule.
    pub(super) fn tcp(
        &mut self,
        now: Time,
        at: SwitchPort,
        stations: [u32; 2],
        segment: &Tcp,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        if segment.mptcp == Some(Mptcp::Malformed) {
            self.net.counters.options_malformed += 1;
        }
        let key = Key::new(stations, [segment.source, segment.destination]);
        if let Some(found @ Found { flow, direction }) = self.flows.find(&key) {
            let entry = &self.flows.slab[flow];
            let same = direction == 0 && entry.sequence == segment.sequence;
            if entry.state.has(State::INSTALLING) {
                return self.wait(flow, at, segment.is_syn() && same, frame, out);
            }
            if !segment.is_syn() || (same && !entry.state.has(State::DORMANT)) {
                return self.known(now, found, at, segment, frame, out);
            }
            // The same endpoints, but a new connection.
            let mut changes = Changes::new();
            self.drop_flow(now, flow, &mut changes, out);
            at_once(changes, out);
        }
        let port = self.net.stations.slab[stations[0]].port;
        if !segment.is_syn() && segment.flags & (Tcp::SYN | Tcp::FIN | Tcp::RST) != 0 {
            // Of an unknown flow: forwarded, but not worth rules.
            return self.net.relay(now, port, stations[1], frame, out);
        }
        let six = segment.source.address.is_ipv6();
        // Under a crowd route, new flows do not come up; segments already in flight do.
        let has_route = self.routes.find(From::PortTcp { port, six }, stations[1]).is_some();
        if has_route || !self.admit(now, port, stations, out) {
            return self.crowd(now, at, stations, six, frame, out);
        }
        self.open(now, at, key, segment, frame, out);
    }

    /// A frame of a flow that is being installed.
    fn wait(&mut self, flow: u32, at: SwitchPort, repeated: bool, frame: FrameRef, out: &mut Vec<Command>) {
        self.net.counters.syns_repeated += u64::from(repeated);
        let number = self.transactions.of_flow(flow);
        if !repeated && number.is_some_and(|number| self.transactions.hold(number, at, frame)) {
            return;
        }
        self.net.counters.frames_dropped += u64::from(!repeated);
        out.push(Command::Forget(frame));
    }

    /// A frame of a known flow that is not being installed.
    fn known(
        &mut self,
        now: Time,
        Found { flow, direction }: Found,
        at: SwitchPort,
        segment: &Tcp,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        let entry = &self.flows.slab[flow];
        let stations = entry.key.stations;
        let (from, to) = (stations[direction], stations[1 - direction]);
        if entry.state.has(State::RULES[direction]) && now.saturating_since(entry.since) < STRAGGLERS {
            let port = self.net.stations.slab[from].port;
            self.net.relay(now, port, to, frame, out);
            // Open vSwitch answers a barrier before its caches have a new rule: for some milliseconds segments still
            // come up by the old rule without a copy.
            return self.heard(now, flow, direction, segment, out);
        }
        if entry.path == NONE {
            let Some(path) = self.choose(flow) else {
                return self.net.drop_pathless(frame, out);
            };
            if !self.put_on(now, flow, path, out) {
                let port = self.net.stations.slab[from].port;
                return self.net.relay(now, port, to, frame, out);
            }
        }
        if !self.transactions.has_room() {
            return self.net.drop_frame(frame, out);
        }
        let port = self.net.stations.slab[from].port;
        if !self.has_budget(port, stations, FLOWS) {
            self.net.counters.flows_over_budget += 1;
            self.net.offend(port, OffenceKind::Rules);
            return self.net.relay(now, port, to, frame, out);
        }
        if self.flows.slab[flow].state.has(State::DORMANT) {
            self.dequeue(flow);
        }
        self.net.counters.flows_renewed += 1;
        self.install_flow(now, flow, Some((at, frame)), out);
    }

    /// Opens a flow: assigns it to a connection and a path.
    fn open(
        &mut self,
        now: Time,
        at: SwitchPort,
        key: Key,
        segment: &Tcp,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        if !self.transactions.has_room() {
            return self.net.drop_frame(frame, out);
        }
        let port = self.net.stations.slab[key.stations[0]].port;
        let flow = self.add_flow(now, key, port, segment.sequence);
        match segment.mptcp.filter(|_| segment.is_syn()) {
            Some(Mptcp::Capable { version, sender_key, .. }) => self.capable(now, flow, version, sender_key),
            Some(Mptcp::Join(Join::Syn { token, nonce })) => self.join(now, flow, token, nonce, out),
            _ => {}
        }
        let path = self.choose(flow);
        if !path.is_some_and(|path| self.put_on(now, flow, path, out)) {
            self.drop_flow(now, flow, &mut Changes::new(), out);
            if path.is_some() {
                return self.net.relay(now, port, key.stations[1], frame, out);
            }
            return self.net.drop_pathless(frame, out);
        }
        self.net.counters.flows_new += 1;
        self.net.counters.flows_plain += u64::from(self.flows.slab[flow].connection == NONE);
        self.install_flow(now, flow, Some((at, frame)), out);
        let entry = &self.flows.slab[flow];
        if entry.connection != NONE && !entry.state.has(State::JOIN) {
            let [from, to] = key.stations.map(|station| self.net.stations.slab[station].switch);
            self.prepare(now, port, [from, to], out);
        }
    }

    /// Adds an unknown, unconfirmed flow, and counts it and its rules at its port until it is dropped.
    pub(super) fn add_flow(&mut self, now: Time, key: Key, port: u32, sequence: u32) -> u32 {
        let flow = self.flows.insert(now, key, port, sequence);
        let rules = self.rules_of(key.stations);
        self.flows.slab[flow].state.set(State::LOCAL, rules == 2);
        let used = self.net.port_use(port);
        (used.flows, used.rules) = (used.flows + 1, used.rules + rules);
        let [opener, other] = key.stations;
        self.net.stations.slab[opener].flows[0].push(by::OPENER, &mut self.flows.slab, flow);
        self.net.stations.slab[other].flows[1].push(by::OTHER, &mut self.flows.slab, flow);
        self.enqueue(flow);
        flow
    }

    /// Adds a flow to a connection.
    pub(super) fn enter_connection(&mut self, flow: u32, connection: u32, part: Part) {
        let entry = &mut self.flows.slab[flow];
        (entry.connection, entry.part) = (connection, part);
        entry.state.set(State::JOIN, matches!(part, Part::Join(..)));
        entry.state.set(State::FROM_LISTENER, matches!(part, Part::Join(_, true)));
        self.connections.slab[connection].flows.push(by::CONNECTION, &mut self.flows.slab, flow);
    }

    /// A flow opens a connection.
    fn capable(&mut self, now: Time, flow: u32, version: Version, key: Option<u64>) {
        self.net.counters.capable += 1;
        let entry = &mut self.flows.slab[flow];
        let stations = entry.key.stations.map(|station| self.net.stations.slab.handle(station));
        let addresses = [INITIATOR, LISTENER].map(|side| entry.key.address(side));
        entry.state.set(State::HANDSHAKE.and(State::COPY_FORWARD).and(State::COPY_REVERSE), true);
        let connection = self.connections.insert(now, version, stations, addresses);
        self.enter_connection(flow, connection, Part::First(connection));
        self.handshakes.watch(now, flow, None, key);
    }

    /// A flow requests to join the connection with a token.
    fn join(&mut self, now: Time, flow: u32, token: u32, nonce: u32, out: &mut Vec<Command>) {
        let entry = &self.flows.slab[flow];
        let (key, port) = (entry.key, entry.port);
        let [opener, other] = key.stations.map(|station| self.net.stations.slab.handle(station));
        let with_token = self.connections.with_token(token, other, opener);
        let Some((connection, owner)) = with_token.or_else(|| self.found_between(opener, other)) else {
            self.net.counters.joins_unknown_token += 1;
            return;
        };
        if self.connections.slab[connection].confirmed >= MAX_SUBFLOWS {
            self.net.counters.joins_refused += 1;
            return;
        }
        let side = 1 - owner;
        let known = &self.connections.slab[connection];
        // A station's own addresses, and the one from which it opened the connection.
        let has = |station: u32, place: usize, side: usize| {
            let mut addresses = self.net.stations.slab[station].addresses.iter();
            let address = key.address(place);
            address == known.addresses[side] || addresses.any(|&own| mapped(own) == address)
        };
        let own = (known.stations[side], known.stations[owner]) == (opener, other)
            && has(opener.index, 0, side)
            && has(other.index, 1, owner);
        if !own {
            let list = known.flows;
            let unproven = |&flow: &u32| {
                let entry = &self.flows.slab[flow];
                entry.port == port && !entry.state.has(State::CONFIRMED)
            };
            let unproven: Vec<u32> = list.iter(by::CONNECTION, &self.flows.slab).filter(unproven).collect();
            if unproven.len() >= MAX_UNPROVEN {
                self.give_up_proof(unproven[0], out);
            }
        }
        self.net.counters.joins += 1;
        self.net.counters.joins_by_listener += u64::from(side == LISTENER);
        self.enter_connection(flow, connection, Part::Join(connection, side == LISTENER));
        if own {
            // No other station can send with these addresses from this port.
            self.confirm(flow);
        } else {
            let copies = State::HANDSHAKE.and(State::COPY_FORWARD).and(State::COPY_REVERSE);
            self.flows.slab[flow].state.set(copies, true);
            self.handshakes.watch(now, flow, Some(nonce), None);
        }
    }
}
