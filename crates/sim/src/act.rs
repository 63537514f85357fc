//! Switch actions beyond forwarding one frame: copies, rewriting, frames that a switch originates,
//! deadlines. Also address resolution for hosts.

use weft_switching::{Action, Actions, DropReason, Header, Kind, Report, Switch};
use weft_units::{Duration, HostId, PortId, Time};

use crate::engine::{ASK, Engine, SWITCH, SwitchContext};
use crate::observe::Observer;
use crate::packet::PacketId;
use crate::record::Recorder;
use crate::resolver::{self, Question};
use crate::trace::TraceEvent;

/// Payload of the shortest Ethernet frame, in bytes.
const LEAST_PAYLOAD: u16 = 46;

impl<S: Switch> Engine<'_, S> {
    /// Carries out the actions of switch `number` on `packet`.
    #[cold]
    pub(crate) fn act<R: Recorder>(
        &mut self,
        number: usize,
        ingress: PortId,
        packet: PacketId,
        recorder: &mut R,
    ) {
        let mut actions = std::mem::take(&mut self.actions);
        let first_link = self.switches[number].first_link;
        let (now, count) = (self.net.now, actions.all().count());
        for report in actions.reports() {
            if let Report::Frame(cookie) = *report {
                self.report_frame((number, ingress), cookie, packet, count == 0);
            }
        }
        if actions.emits_ahead() {
            self.emit(first_link, &actions, recorder);
        }
        let frame = self.net.packets.get_mut(packet);
        if let Some(id) = frame.endpoint() {
            let seen = &mut self.connections.shared[id as usize / 2].seen;
            Observer::rewritten(self.net.now, frame.header.kind, actions.rewriting(), seen);
        }
        actions.rewriting().apply(&mut frame.header);
        if count == 0 && actions.reports().is_empty() {
            self.drop(packet, DropReason::NoRoute, recorder);
        }
        for (place, action) in actions.all().enumerate() {
            match action {
                Action::Send(port) | Action::Deliver(port) => {
                    let this = if place + 1 == count { packet } else { self.copy(packet) };
                    if R::TRACES && this != packet {
                        recorder.trace(now, TraceEvent::Copied { frame: this, of: packet });
                    }
                    if matches!(action, Action::Deliver(_)) {
                        let header = &mut self.net.packets.get_mut(this).header;
                        *header = header.as_sent();
                    }
                    // Copies leave 1 ps apart: in an idle fabric their order decides which one wins.
                    self.net.now = now + Duration::from_ps(place as u64);
                    self.send(first_link + u32::from(port.0), this, recorder);
                }
                Action::Drop(reason) => self.drop(packet, reason, recorder),
                Action::Consume => {
                    let header = &self.net.packets.get(packet).header;
                    if header.kind == Kind::RecoveryReply {
                        self.observer.answered(now, header, &mut self.connections);
                    }
                    if R::TRACES {
                        recorder.trace(now, TraceEvent::Consumed { frame: packet });
                    }
                    self.counters.packets_delivered += 1;
                    self.end(packet, false, recorder);
                }
            }
        }
        self.net.now = now;
        if !actions.emits_ahead() {
            self.emit(first_link, &actions, recorder);
        }
        actions.clear();
        self.actions = actions;
    }

    pub(crate) fn copy(&mut self, packet: PacketId) -> PacketId {
        if let Some(endpoint) = self.net.packets.get(packet).endpoint() {
            self.connections.shared[endpoint as usize / 2].in_flight += 1;
        }
        self.counters.packets_copied += 1;
        self.net.packets.duplicate(packet)
    }

    /// Sends the frames that a switch originates.
    fn emit<R: Recorder>(&mut self, first_link: u32, actions: &Actions, recorder: &mut R) {
        let now = self.net.now;
        let emitted = actions.emitted();
        for (place, &(port, mut header)) in emitted.iter().enumerate() {
            header.ip_bytes = header.ip_bytes.max(LEAST_PAYLOAD);
            let is_copy = place > 0 && emitted[place - 1].1 == emitted[place].1;
            if header.kind == Kind::RecoveryRequest && !is_copy {
                Observer::asked(now, &header, &mut self.connections);
            }
            self.counters.packets_of_switches += 1;
            self.net.now = now + Duration::from_ps(place as u64);
            self.send_alone(first_link + u32::from(port.0), &header, recorder);
        }
        self.net.now = now;
    }

    /// Sends a frame that belongs to no connection.
    fn send_alone<R: Recorder>(&mut self, link: u32, header: &Header, recorder: &mut R) {
        let packet = self.net.packets.packet_without_segment(header);
        self.send(link, packet, recorder);
    }

    /// Schedules the first deadline of every switch that has one.
    pub(crate) fn start_switches(&mut self) {
        for number in 0..self.switches.len() {
            self.arm(number);
        }
    }

    pub(crate) fn arm(&mut self, number: usize) {
        let switch = &mut self.switches[number];
        let deadline = switch.scheme.next_deadline();
        if deadline < switch.armed {
            switch.armed = deadline;
            self.net.queue.schedule(SWITCH | number as u32, deadline);
        }
    }

    /// Handles a switch's deadline, unless an earlier one replaced it.
    pub(crate) fn wake_switch<R: Recorder>(&mut self, number: usize, time: Time, recorder: &mut R) {
        if self.switches[number].armed == time {
            self.switches[number].armed = Time::MAX;
            self.tell_switch(number, recorder, |scheme, ctx, out| scheme.on_deadline(ctx, out));
        }
    }

    /// Calls a switch for an event other than a frame.
    pub(crate) fn tell_switch<R: Recorder>(
        &mut self,
        number: usize,
        recorder: &mut R,
        call: impl FnOnce(&mut S, &mut SwitchContext<'_>, &mut Actions),
    ) {
        let mut actions = std::mem::take(&mut self.actions);
        let switch = &mut self.switches[number];
        let first_link = switch.first_link;
        let mut context =
            SwitchContext { now: self.net.now, net: &self.net, first_link, random: &mut switch.random };
        call(&mut switch.scheme, &mut context, &mut actions);
        if R::TRACES {
            self.trace_kept(number, recorder);
        }
        self.emit(first_link, &actions, recorder);
        for report in actions.reports() {
            if let Report::RuleRemoved { cookie, packets, bytes } = *report {
                self.report_removed(number, cookie, packets, bytes);
            }
        }
        actions.clear();
        self.actions = actions;
        self.arm(number);
    }

    /// Holds flow `number` until its source knows the destination's address.
    pub(crate) fn resolve<R: Recorder>(&mut self, number: u32, recorder: &mut R) {
        let flow = self.setup.flows[number as usize];
        let question = (flow.src, flow.dst);
        if self.resolver.as_mut().is_some_and(|resolver| resolver.wait(question, number)) {
            self.ask(number, recorder);
        }
    }

    /// Sends an ARP Request from the source of flow `number` and schedules the retry.
    pub(crate) fn ask<R: Recorder>(&mut self, number: u32, recorder: &mut R) {
        let flow = self.setup.flows[number as usize];
        let question: Question = (flow.src, flow.dst);
        if !self.resolver.as_ref().is_some_and(|resolver| resolver.is_waiting(question)) {
            return;
        }
        self.counters.packets_sent += 1;
        let nic = self.nics(&flow)[0];
        self.send_alone(nic, &resolver::request(question), recorder);
        let again = self.net.now + resolver::RETRY;
        self.net.queue.schedule(ASK | number, again);
    }

    /// Delivers a frame that belongs to no connection to a host.
    #[cold]
    pub(crate) fn deliver_alone<R: Recorder>(&mut self, host: HostId, packet: PacketId, recorder: &mut R) {
        let header = self.net.packets.get(packet).header;
        let Some(sender) = header.source() else {
            return self.drop(packet, DropReason::NotForMe, recorder);
        };
        if R::TRACES {
            recorder.trace(self.net.now, TraceEvent::Delivered { frame: packet });
        }
        self.counters.packets_delivered += 1;
        self.end(packet, false, recorder);
        match header.kind {
            Kind::ArpRequest if resolver::target(&header) == host => {
                self.counters.packets_sent += 1;
                let nic = self.net.first_link[self.setup.fabric.host_node(host).index()];
                self.send_alone(nic, &resolver::reply(host, sender), recorder);
                self.learn((host, sender), recorder);
            }
            Kind::ArpReply if header.destination() == Some(host) => {
                self.learn((host, sender), recorder);
            }
            _ => {}
        }
    }

    /// Records that the first host knows the second's address, and opens the flows that waited for it.
    fn learn<R: Recorder>(&mut self, question: Question, recorder: &mut R) {
        let now = self.net.now;
        let flows = self.resolver.as_mut().map_or_else(Vec::new, |resolver| resolver.learn(question, now));
        flows.into_iter().for_each(|flow| self.open(flow, recorder));
    }
}
