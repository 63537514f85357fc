//! Network events as the controller of a [`SpanningTree`] receives them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde_json::{Value, json};
use weft_wire::Mac;

use super::{Changes, SpanningTree, replaces};
use crate::clock::Time;
use crate::command::{Command, MadeFrame, at_once, send_held};
use crate::controller::{Controller, Show};
use crate::cookie::{Cookie, CookieSlice, GENERATION_BITS, is_own};
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::offences::Offence;
use crate::packet::Packet;
use crate::rule::{Match, Rule, RuleChange};
use crate::show;
use crate::slab::grown;

impl Controller for SpanningTree {
    fn switch_up(
        &mut self,
        now: Time,
        switch: SwitchId,
        ports: &[PortNo],
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) {
        let Some((index, change)) = self.net.topology.switch_up(now, switch, ports) else {
            self.net.counters.switches_refused += 1;
            return;
        };
        let (mut found, mut twice) = (BTreeMap::new(), BTreeSet::new());
        for rule in rules.iter().filter(|rule| is_own(rule.cookie)) {
            if found.insert(rule.cookie, rule.clone()).is_some() {
                twice.insert(rule.cookie);
            }
        }
        let entries = self.entries.all(|entry| entry.switch == index).into_iter();
        let rules: Vec<Rule> = entries.map(|entry| self.entries.rule(entry)).collect();
        let mut changes = Changes::new();
        for &cookie in &twice {
            // Rules with one cookie are removed together, and the right one is added again.
            found.remove(&cookie);
            self.net.change(&mut changes, index, RuleChange::Remove { cookie, matches: Match::ALL });
        }
        for rule in rules {
            // Station rules that it still has are kept, by cookie.
            if found.remove(&rule.cookie).is_none() {
                self.net.counters.rules_missing += 1;
                self.net.change(&mut changes, index, RuleChange::Add(rule));
            }
        }
        at_once(changes, out);
        // The others are compared with those that do not depend on stations.
        *grown(&mut self.constant, index) = found.clone();
        self.changed(now, &change, out);
        let constant = &self.constant[index as usize];
        found.retain(|cookie, old| !constant.get(cookie).is_some_and(|new| replaces(new, old)));
        self.net.counters.rules_stale += (found.len() + twice.len()) as u64;
    }

    fn rules_read(
        &mut self,
        _now: Time,
        switch: SwitchId,
        slice: CookieSlice,
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) -> usize {
        let Some(index) = self.net.topology.switch(switch).filter(|&index| self.net.is_up(index)) else {
            return 0;
        };
        let mut changes = Changes::new();
        for rule in self.constant[index as usize].values().filter(|rule| slice.has(rule.cookie)) {
            if !rules.contains(rule) {
                changes.push((switch, RuleChange::Add(rule.clone())));
            }
        }
        let missing = changes.len();
        self.net.counters.rules_repaired += missing as u64;
        at_once(changes, out);
        missing
    }

    fn switch_down(&mut self, now: Time, switch: SwitchId, out: &mut Vec<Command>) {
        let Some(index) = self.net.topology.switch_down(switch) else { return };
        self.net.stations.forget_claims_at(index);
        for number in self.transactions.waiting_for(index) {
            self.failed(now, number, switch, "connection lost", out);
        }
    }

    fn leave_alone(&mut self, switch: SwitchId, is_left_alone: bool) {
        self.net.expected.leave_alone(switch, is_left_alone);
    }

    fn port_changed(&mut self, now: Time, at: SwitchPort, up: bool, out: &mut Vec<Command>) {
        let change = self.net.topology.port_changed(now, at, up);
        self.changed(now, &change, out);
    }

    fn link_changed(
        &mut self,
        now: Time,
        from: SwitchPort,
        to: SwitchPort,
        up: bool,
        out: &mut Vec<Command>,
    ) {
        let change = self.net.topology.link_changed(from, to, up);
        if !change.ports.is_empty() {
            self.changed(now, &change, out);
        }
    }

    fn host_known(
        &mut self,
        now: Time,
        at: SwitchPort,
        mac: Mac,
        _addresses: &[IpAddr],
        out: &mut Vec<Command>,
    ) {
        if let Some(port) = self.net.topology.port_at(at)
            && !self.net.topology.leads_to_switch(port)
        {
            self.sender(now, mac, port, out);
        }
    }

    fn packet_in(
        &mut self,
        now: Time,
        at: SwitchPort,
        _cookie: u64,
        packet: &Packet,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        self.net.counters.packet_ins += 1;
        let port = self.net.ingress(now, at);
        let source = port.and_then(|port| self.sender(now, packet.eth_src, port, out));
        let (Some(port), Some(source)) = (port, source) else { return out.push(Command::Forget(frame)) };
        if !self.net.learn(now, source, packet, out) {
            return out.push(Command::Forget(frame));
        }
        if packet.eth_dst.is_link_local() || packet.eth_dst == MadeFrame::CONTROLLER {
            self.net.counters.frames_filtered += 1;
            return out.push(Command::Forget(frame));
        }
        // A station last seen at a port that is down may be anywhere.
        let target = self.net.stations.with_mac(packet.eth_dst);
        match target.filter(|&target| self.net.is_there(now, target)) {
            Some(target) if self.net.stations.slab[target].port == port => {
                self.net.counters.frames_filtered += 1;
                out.push(Command::Forget(frame));
            }
            Some(target) => self.deliver(now, at, [source, target], frame, out),
            None => self.flood(now, port, frame, out),
        }
    }

    fn installed(&mut self, _now: Time, transaction: u64, out: &mut Vec<Command>) {
        let Some(open) = self.close(transaction, out) else { return };
        self.net.counters.installs += 1;
        send_held(open.held, out);
    }

    fn failed(
        &mut self,
        _now: Time,
        transaction: u64,
        switch: SwitchId,
        reason: &str,
        out: &mut Vec<Command>,
    ) {
        let Some(open) = self.close(transaction, out) else { return };
        self.net.install_failed(switch, reason);
        let mut changes = Changes::new();
        for handle in &open.routes {
            if self.entries.slab.find(*handle).is_some() {
                let switch = self.entries.slab[handle.index].switch;
                self.net.change(&mut changes, switch, self.entries.rule(handle.index).removal());
                self.drop_entry(handle.index, out);
            }
        }
        for (_, frame) in open.held {
            self.net.drop_frame(frame, out);
        }
        at_once(changes, out);
    }

    fn rule_removed(
        &mut self,
        _now: Time,
        _switch: SwitchId,
        cookie: u64,
        _packets: u64,
        _bytes: u64,
        out: &mut Vec<Command>,
    ) {
        if let Some(Cookie::Tree(index, generation)) = Cookie::read(cookie)
            && self.entries.slab.has(index, generation, GENERATION_BITS)
            && self.transactions.of_route(index).is_none()
        {
            self.drop_entry(index, out);
        }
    }

    fn next_deadline(&self) -> Time {
        self.transactions.deadline().min(self.net.stations.deadline())
    }

    fn on_deadline(&mut self, now: Time, out: &mut Vec<Command>) {
        while let Some(number) = self.transactions.overdue(now) {
            self.net.counters.installs_overdue += 1;
            self.failed(now, number, SwitchId(0), "install timed out", out);
        }
        self.net.ask_again(now, out);
        while let Some((station, port)) = self.net.settle_claims(now, out) {
            self.move_station(now, station, port, out);
        }
    }

    fn offences(&mut self) -> Vec<Offence> {
        self.net.offences.take()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.net.counters();
        counters.extend([
            ("routes_now", self.entries.slab.len() as u64),
            ("transactions_now", self.transactions.len() as u64),
            ("held_frames_now", self.transactions.held() as u64),
            ("memory_bytes_now", (self.net.bytes() + self.entries.slab.bytes()) as u64),
        ]);
        counters
    }

    fn show(&self, now: Time, what: Show, limit: usize) -> Value {
        match what {
            Show::Connections => json!({ "connections": [], "total": 0, "flows": 0 }),
            Show::Paths => json!({ "paths": [], "total": 0 }),
            Show::Switches => show::switches(&self.net, now, limit),
            Show::Stations => show::stations(&self.net, now, limit),
        }
    }
}
