//! The events that a [`Smoc`] handles.

use std::net::IpAddr;

use serde_json::Value;
use weft_wire::Mac;

use super::neighbours::Question;
use super::state::Smoc;
use crate::clock::Time;
use crate::command::{Command, at_once};
use crate::controller::{Controller, Show};
use crate::cookie::{Cookie, CookieSlice, GENERATION_BITS, flow_direction};
use crate::flows::State;
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::learning::Sender;
use crate::offences::Offence;
use crate::packet::{Content, Mptcp, Packet};
use crate::rule::Rule;
use crate::show;

impl Smoc {
    /// The station that sent a frame; `None` if the frame must be dropped.
    fn sender(&mut self, now: Time, mac: Mac, port: u32, out: &mut Vec<Command>) -> Option<u32> {
        let sender = self.net.hear(now, mac, port, out);
        self.forget_stations(out);
        match sender {
            Sender::Known(station) => Some(station),
            Sender::Moved(station) => self.move_station(now, station, port, out).then_some(station),
            Sender::Nobody => None,
        }
    }

    /// Handles a frame from a possible host port.
    fn receive(
        &mut self,
        now: Time,
        port: u32,
        at: SwitchPort,
        packet: &Packet,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        let drop = |out: &mut Vec<Command>| out.push(Command::Forget(frame));
        let Some(source) = self.sender(now, packet.eth_src, port, out) else { return drop(out) };
        if packet.eth_dst.is_link_local() {
            self.net.counters.frames_filtered += 1;
            return drop(out);
        }
        let is_true = self.net.learn(now, source, packet, out);
        self.forget_claims(now, out);
        if !is_true {
            return drop(out);
        }
        match packet.content {
            Content::Arp(arp) => {
                let question = Question::of_arp(packet, &arp);
                return self.question(now, port, source, question, frame, out);
            }
            Content::Neighbour(message) => {
                let question = Question::of_neighbour(packet, &message);
                return self.question(now, port, source, question, frame, out);
            }
            _ if packet.eth_dst.is_group() => return self.net.flood(now, port, frame, out),
            _ => {}
        }
        // A station last seen at a port that is down may be anywhere.
        let target =
            self.net.stations.with_mac(packet.eth_dst).filter(|&target| self.net.is_there(now, target));
        let Some(target) = target else { return self.net.flood(now, port, frame, out) };
        if self.net.stations.slab[target].port == port {
            self.net.counters.frames_filtered += 1;
            return drop(out);
        }
        match packet.content {
            Content::Tcp(segment) => self.tcp(now, at, [source, target], &segment, frame, out),
            // TCP fragments match TCP rules, not a station's rule.
            Content::Ip { protocol: 6 } => self.net.relay(now, port, target, frame, out),
            _ => self.plain(now, at, [source, target], frame, out),
        }
    }
}

impl Controller for Smoc {
    fn switch_up(
        &mut self,
        now: Time,
        switch: SwitchId,
        ports: &[PortNo],
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) {
        self.connect(now, switch, ports, rules, out);
    }

    fn rules_read(
        &mut self,
        now: Time,
        switch: SwitchId,
        slice: CookieSlice,
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) -> usize {
        self.audit(now, switch, slice, rules, out)
    }

    /// A switch without a connection still forwards, so its links, stations and rules stay, and traffic through it is
    /// not moved. Only its unconfirmed transactions fail.
    fn switch_down(&mut self, now: Time, id: SwitchId, out: &mut Vec<Command>) {
        let Some(switch) = self.net.topology.switch_down(id) else { return };
        self.budget.forget(switch);
        self.net.stations.forget_claims_at(switch);
        for number in self.transactions.waiting_for(switch) {
            self.refused(now, number, id, "connection lost", out);
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
        self.changed(now, &change, out);
    }

    fn host_known(
        &mut self,
        now: Time,
        at: SwitchPort,
        mac: Mac,
        addresses: &[IpAddr],
        out: &mut Vec<Command>,
    ) {
        let Some(port) = self.net.topology.port_at(at) else { return };
        if self.net.topology.leads_to_switch(port) {
            return;
        }
        if let Some(station) = self.sender(now, mac, port, out) {
            for &address in addresses {
                if self.net.stations.with_address(address).is_none() {
                    self.net.stations.add_address(station, address);
                }
            }
            self.forget_claims(now, out);
        }
    }

    fn packet_in(
        &mut self,
        now: Time,
        at: SwitchPort,
        cookie: u64,
        packet: &Packet,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        self.net.counters.packet_ins += 1;
        if flow_direction(cookie).is_some() {
            // Frames sent up by a flow's rule were forwarded as well.
            self.net.counters.packet_ins_copied += 1;
            out.push(Command::Forget(frame));
            if let (Content::Tcp(segment), Some((flow, direction))) = (packet.content, self.flow_of(cookie)) {
                let is_malformed = segment.mptcp == Some(Mptcp::Malformed);
                if is_malformed && self.flows.slab[flow].state.has(State::HANDSHAKE) {
                    self.net.counters.options_malformed += 1;
                }
                self.heard(now, flow, direction, &segment, out);
            }
            return;
        }
        match self.net.ingress(now, at) {
            Some(port) => self.receive(now, port, at, packet, frame, out),
            None => out.push(Command::Forget(frame)),
        }
    }

    fn installed(&mut self, now: Time, transaction: u64, out: &mut Vec<Command>) {
        self.confirmed(now, transaction, out);
    }

    fn settled(&mut self, now: Time, switch: SwitchId, transaction: u64) {
        if let Some(switch) = self.net.topology.switch(switch) {
            self.budget.settle(now, transaction, switch);
        }
    }

    fn failed(
        &mut self,
        now: Time,
        transaction: u64,
        switch: SwitchId,
        reason: &str,
        out: &mut Vec<Command>,
    ) {
        self.refused(now, transaction, switch, reason, out);
    }

    fn rule_removed(
        &mut self,
        now: Time,
        _switch: SwitchId,
        cookie: u64,
        _packets: u64,
        _bytes: u64,
        out: &mut Vec<Command>,
    ) {
        match Cookie::read(cookie) {
            Some(Cookie::Flow(_)) => {
                if let Some((flow, direction)) = self.flow_of(cookie) {
                    self.rule_idle(now, flow, direction, out);
                }
            }
            Some(Cookie::Route(route, generation)) => {
                let is_known = self.routes.slab.has(route, generation, GENERATION_BITS);
                if is_known && !self.routes.slab[route].installing {
                    self.drop_route(now, route, &mut Vec::new(), out);
                }
            }
            _ => {}
        }
    }

    fn next_deadline(&self) -> Time {
        let dormant = self.flows.dormant.first();
        let dormant =
            dormant.map_or(Time::MAX, |flow| self.flows.slab[flow].since + self.net.settings.remember());
        [
            self.transactions.deadline(),
            self.handshakes.deadline(),
            self.net.stations.deadline(),
            self.paths.deadline(),
            self.spread.map_or(Time::MAX, |spread| spread.at),
            self.resumption.due,
            dormant,
        ]
        .into_iter()
        .min()
        .unwrap_or(Time::MAX)
    }

    fn on_deadline(&mut self, now: Time, out: &mut Vec<Command>) {
        while let Some(number) = self.transactions.overdue(now) {
            self.net.counters.installs_overdue += 1;
            self.refused(now, number, SwitchId(0), "install timed out", out);
        }
        while let Some(flow) = self.handshakes.overdue(now) {
            self.handshake_overdue(flow, out);
        }
        self.net.ask_again(now, out);
        while let Some((station, port)) = self.net.settle_claims(now, out) {
            self.forget_claims(now, out);
            self.move_station(now, station, port, out);
        }
        self.forget_claims(now, out);
        while let Some(path) = self.paths.expire(now) {
            at_once(self.path_removals(&path), out);
        }
        self.spread(now, out);
        if self.resumption.due <= now {
            self.resume(now, out);
        }
        let remember = self.net.settings.remember();
        while let Some(flow) = self.flows.dormant.first()
            && self.flows.slab[flow].since + remember <= now
        {
            debug_assert!(self.flows.slab[flow].state.has(State::DORMANT));
            self.drop_flow(now, flow, &mut Vec::new(), out);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.all_counters()
    }

    fn offences(&mut self) -> Vec<Offence> {
        self.net.offences.take()
    }

    fn show(&self, now: Time, what: Show, limit: usize) -> Value {
        match what {
            Show::Connections => self.show_connections(now, limit),
            Show::Paths => self.show_paths(limit),
            Show::Switches => show::switches(&self.net, now, limit),
            Show::Stations => show::stations(&self.net, now, limit),
        }
    }
}
