//! Handshake segments copied to the controller (Algorithm 2): keys, acceptance, HMACs.

use weft_wire::mptcp::{Key, Party, Version, join_hmac};

use super::rules::Changes;
use super::state::Smoc;
use crate::clock::Time;
use crate::command::{Command, at_once};
use crate::connections::{INITIATOR, LISTENER};
use crate::flows::{State, by};
use crate::handshakes::Handshake;
use crate::packet::{Join, Mptcp, Tcp};
use crate::rule::RuleChange;
use crate::slab::NONE;

impl Smoc {
    /// Updates a flow's handshake from a segment.
    pub(super) fn heard(
        &mut self,
        now: Time,
        flow: u32,
        direction: usize,
        segment: &Tcp,
        out: &mut Vec<Command>,
    ) {
        let state = self.flows.slab[flow].state;
        if !state.has(State::HANDSHAKE) || self.flows.slab[flow].connection == NONE {
            return;
        }
        match (state.has(State::JOIN), direction) {
            (false, 0) => self.initiator_said(now, flow, segment, out),
            (false, _) => self.listener_said(now, flow, segment, out),
            (true, _) => self.join_said(now, flow, direction, segment, out),
        }
    }

    /// Handles a segment from the listener of a connection being opened.
    fn listener_said(&mut self, now: Time, flow: u32, segment: &Tcp, out: &mut Vec<Command>) {
        if !segment.is_syn_ack() {
            return;
        }
        let connection = self.flows.slab[flow].connection;
        let entry = &mut self.connections.slab[connection];
        match segment.mptcp {
            Some(Mptcp::Capable { version, sender_key: Some(key), .. }) if version <= entry.version => {
                let [opened_with, early] = entry.keys;
                self.net.counters.keys_mismatched += u64::from(early.is_some_and(|early| early != key));
                entry.version = version;
                let in_syn = self.handshakes.of(flow).and_then(|handshake| handshake.key);
                let in_syn = in_syn.filter(|_| version == Version::V0);
                self.connections.set_key(connection, LISTENER, key, true);
                if let Some(key) = opened_with.or(in_syn) {
                    self.connections.set_key(connection, INITIATOR, key, true);
                }
                self.establish(connection, flow);
                self.stop_copy(flow, LISTENER, out);
                self.prove_all(now, connection, out);
            }
            _ => self.plain_after_all(flow, out),
        }
    }

    /// Handles a segment from the initiator.
    fn initiator_said(&mut self, now: Time, flow: u32, segment: &Tcp, out: &mut Vec<Command>) {
        let connection = self.flows.slab[flow].connection;
        if segment.is_syn() {
            let entry = &mut self.flows.slab[flow];
            if entry.sequence != segment.sequence && !self.connections.slab[connection].established {
                // The same endpoints, but a new connection.
                entry.sequence = segment.sequence;
                if let Some(Mptcp::Capable { version, sender_key, .. }) = segment.mptcp {
                    self.connections.slab[connection].version = version;
                    self.handshakes.watch(now, flow, None, sender_key);
                } else {
                    self.plain_after_all(flow, out);
                }
            }
            return;
        }
        if segment.flags & (Tcp::SYN | Tcp::ACK | Tcp::RST) != Tcp::ACK {
            return;
        }
        match segment.mptcp {
            Some(Mptcp::Capable { version, sender_key: Some(own), receiver_key: Some(other) }) => {
                let entry = &mut self.connections.slab[connection];
                match entry.keys[LISTENER] {
                    Some(key) => self.net.counters.keys_mismatched += u64::from(key != other),
                    None => {
                        entry.version = version.min(entry.version);
                        self.connections.set_key(connection, LISTENER, other, false);
                    }
                }
                self.connections.set_key(connection, INITIATOR, own, true);
                self.establish(connection, flow);
                self.stop_copy(flow, INITIATOR, out);
                self.prove_all(now, connection, out);
            }
            // The third segment was lost before the switch: nothing more to learn.
            Some(Mptcp::Capable { .. } | Mptcp::Join(_) | Mptcp::Other) => {}
            None | Some(Mptcp::Malformed) => self.plain_after_all(flow, out),
        }
    }

    /// Both sides have agreed to a connection.
    fn establish(&mut self, connection: u32, flow: u32) {
        if !std::mem::replace(&mut self.connections.slab[connection].established, true) {
            self.net.counters.established += 1;
            self.confirm(flow);
        }
    }

    /// The handshake has shown that the connection is plain TCP.
    fn plain_after_all(&mut self, flow: u32, out: &mut Vec<Command>) {
        self.net.counters.refused += 1;
        let connection = self.flows.slab[flow].connection;
        let flows = self.connections.slab[connection].flows.iter(by::CONNECTION, &self.flows.slab);
        for flow in flows.collect::<Vec<_>>() {
            self.give_up_proof(flow, out);
        }
    }

    /// Handles a segment of an unverified join.
    fn join_said(&mut self, now: Time, flow: u32, direction: usize, segment: &Tcp, out: &mut Vec<Command>) {
        let Some(handshake) = self.handshakes.of(flow) else { return };
        match (direction, segment.mptcp) {
            (0, Some(Mptcp::Join(Join::Ack { hmac }))) => handshake.proof = Some(hmac),
            (1, Some(Mptcp::Join(Join::SynAck { nonce, .. }))) => handshake.nonces[1] = Some(nonce),
            _ => return,
        }
        self.stop_copy(flow, direction, out);
        self.prove(now, flow, out);
    }

    /// Checks a join's HMAC once keys and nonces are known.
    fn prove(&mut self, now: Time, flow: u32, out: &mut Vec<Command>) {
        let entry = &self.flows.slab[flow];
        let connection = &self.connections.slab[entry.connection];
        let opener = if entry.state.has(State::FROM_LISTENER) { LISTENER } else { INITIATOR };
        let keys = [connection.keys[opener], connection.keys[1 - opener]];
        let Some(Handshake { nonces, proof: Some(proof), .. }) = self.handshakes.of(flow) else { return };
        let ([Some(own), Some(other)], [Some(first), Some(second)]) = (keys, *nonces) else { return };
        let joiner = Party { key: Key(own), nonce: first };
        let joined = Party { key: Key(other), nonce: second };
        if join_hmac(connection.version, joiner, joined) == *proof {
            self.net.counters.joins_proven += 1;
            self.confirm(flow);
            self.end_handshake(flow, out);
            if let Some(path) = self.better(flow) {
                self.move_flow(now, flow, path, out);
            }
        } else {
            self.net.counters.joins_forged += 1;
            self.give_up_proof(flow, out);
        }
    }

    /// A key of a connection became known: checks the joins that arrived before it.
    fn prove_all(&mut self, now: Time, connection: u32, out: &mut Vec<Command>) {
        let list = self.connections.slab[connection].flows;
        let unproven = |flow: &u32| !self.flows.slab[*flow].state.has(State::CONFIRMED);
        let flows: Vec<u32> = list.iter(by::CONNECTION, &self.flows.slab).filter(unproven).collect();
        for flow in flows {
            self.prove(now, flow, out);
        }
    }

    /// Removes an unverified flow from its connection; it keeps its path.
    pub(super) fn give_up_proof(&mut self, flow: u32, out: &mut Vec<Command>) {
        self.leave_connection(flow);
        self.end_handshake(flow, out);
    }

    /// Marks a flow's role in its connection as verified.
    pub(super) fn confirm(&mut self, flow: u32) {
        let entry = &mut self.flows.slab[flow];
        if !entry.state.has(State::CONFIRMED) {
            entry.state.set(State::CONFIRMED, true);
            self.connections.slab[entry.connection].confirmed += 1;
            self.dequeue(flow);
        }
    }

    /// A handshake has timed out.
    pub(super) fn handshake_overdue(&mut self, flow: u32, out: &mut Vec<Command>) {
        let entry = &self.flows.slab[flow];
        if !entry.state.has(State::CONFIRMED) && entry.connection != NONE {
            self.net.counters.handshakes_unfinished += 1;
            self.leave_connection(flow);
        }
        self.end_handshake(flow, out);
    }

    /// Stops watching a handshake.
    fn end_handshake(&mut self, flow: u32, out: &mut Vec<Command>) {
        self.stop_copy(flow, 0, out);
        self.stop_copy(flow, 1, out);
        self.handshakes.end(flow);
        self.flows.slab[flow].state.set(State::HANDSHAKE, false);
    }

    /// Stops copying one direction.
    fn stop_copy(&mut self, flow: u32, direction: usize, out: &mut Vec<Command>) {
        let state = &mut self.flows.slab[flow].state;
        if state.has(State::COPIES[direction]) {
            self.stop_copying(flow, direction, out);
        }
        // A join's HMAC may have arrived before the keys that verify it.
        let state = self.flows.slab[flow].state;
        let waits = state.has(State::JOIN) && !state.has(State::CONFIRMED);
        if !state.any(State::COPY_FORWARD.and(State::COPY_REVERSE)) && !waits {
            self.handshakes.end(flow);
            self.flows.slab[flow].state.set(State::HANDSHAKE, false);
        }
    }

    /// Replaces a rule with one that does not copy. Copying continues while the switch is disconnected.
    pub(super) fn stop_copying(&mut self, flow: u32, direction: usize, out: &mut Vec<Command>) {
        let entry = &self.flows.slab[flow];
        let station = entry.key.stations[direction];
        if entry.state.has(State::RULES[direction]) && !self.net.is_up(self.net.stations.slab[station].switch)
        {
            return;
        }
        self.flows.slab[flow].state.set(State::COPIES[direction], false);
        if self.flows.slab[flow].state.has(State::RULES[direction]) && self.flows.slab[flow].path != NONE {
            let (switch, rule) = self.flow_rule(flow, direction);
            let mut changes = Changes::new();
            self.net.change(&mut changes, switch, RuleChange::Modify(rule));
            at_once(changes, out);
        }
    }
}
