//! [`Switches`]: the switches of one partition. Each frame that arrives is shown to its switch, and the actions are
//! carried out: frames sent, dropped, copied and rewritten, frames that a switch originates, deadlines.

use std::collections::BTreeSet;

use weft_fabric::Fabric;
use weft_switching::{
    Action, Actions, Blueprint, Context, DropReason, Header, Kind, Mac, Report, Rewrite, Stream, Switch,
    TableEntries, mix64, stream,
};
use weft_traffic::Flow;
use weft_units::{Duration, HostId, NodeId, PortId, Time};

use crate::event_queue::Order;
use crate::held::Held;
use crate::journal::{News, Reported};
use crate::network::Network;
use crate::packet::{Bound, PacketId, UNDECIDED};
use crate::ports::Deposit;
use crate::shown::shown;
use crate::timer::Timer;
use crate::trace::{TraceEvent, Tracer};

/// The ingress of a frame that did not arrive on a port.
const NO_PORT: PortId = PortId(u16::MAX);

struct SwitchNode<S> {
    scheme: S,
    random: Stream,
    first_link: u32,
    node: NodeId,
    /// The deadline that is scheduled.
    armed: Time,
}

struct SwitchContext<'a, 'n> {
    net: &'a Network<'n>,
    first_link: u32,
    random: &'a mut Stream,
}

impl Context for SwitchContext<'_, '_> {
    #[inline]
    fn now(&self) -> Time {
        self.net.now
    }

    #[inline]
    fn queue_bytes(&self, port: PortId) -> u64 {
        self.net.backlog(self.first_link + u32::from(port.0)).0
    }

    #[inline]
    fn random(&mut self) -> &mut Stream {
        self.random
    }
}

/// The switches, numbered in the order of their nodes.
pub struct Switches<S> {
    nodes: Vec<SwitchNode<S>>,
    actions: Actions,
    /// Each with the space that it takes.
    held: Held<(PacketId, Deposit)>,
}

impl<S: Switch> Switches<S> {
    /// The switches at these nodes, in a run with this seed.
    pub fn new<B: Blueprint<Switch = S>>(
        blueprint: &B,
        fabric: &Fabric,
        nodes: impl Iterator<Item = NodeId>,
        seed: u64,
        net: &Network<'_>,
    ) -> Self {
        let switch = |node: NodeId| SwitchNode {
            scheme: blueprint.switch(fabric, node),
            random: stream(seed, "switch", u64::from(node.0)),
            first_link: net.link_at(node, PortId(0)),
            node,
            armed: Time::MAX,
        };
        Self { nodes: nodes.map(switch).collect(), actions: Actions::default(), held: Held::default() }
    }

    /// The number of the switch at `node`.
    pub fn number_of(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search_by_key(&node, |switch| switch.node).ok()
    }

    /// The table entries of switch `number`.
    pub fn table_entries(&mut self, number: usize, now: Time) -> TableEntries {
        self.nodes[number].scheme.table_entries(now)
    }

    /// Teaches the switches the hosts of `flows`, if the scheme learns stations.
    pub fn learn<B: Blueprint<Switch = S>>(
        &mut self,
        blueprint: &B,
        fabric: &Fabric,
        flows: &[Flow],
        seed: u64,
    ) {
        let hosts: BTreeSet<HostId> = flows.iter().flat_map(|flow| [flow.src, flow.dst]).collect();
        for host in hosts {
            let random = mix64(seed ^ mix64(host.0.into()));
            let Some(ports) = blueprint.learnt(fabric, fabric.host_node(host), random) else { return };
            for switch in &mut self.nodes {
                if let Some(port) = ports[switch.node.index()] {
                    switch.scheme.knows(Mac::of_host(host.0), port, Time::ZERO);
                }
            }
        }
    }

    /// Schedules the first deadline of every switch that has one.
    pub fn start(&mut self, net: &mut Network<'_>) {
        for number in 0..self.nodes.len() {
            self.arm(number, net);
        }
    }

    /// Switch `number` processes a packet received on `ingress`.
    #[inline(always)]
    pub fn receive<T: Tracer>(
        &mut self,
        number: usize,
        ingress: PortId,
        Bound { packet, egress }: Bound,
        net: &mut Network<'_>,
        tracer: &mut T,
    ) {
        let switch = &mut self.nodes[number];
        let first = switch.first_link;
        let mut context = SwitchContext { net, first_link: first, random: &mut switch.random };
        let header = &net.packets.get(packet).header;
        if S::DECIDES_AHEAD && !T::TRACES {
            let mut link = egress;
            if egress == UNDECIDED {
                let Some(port) = switch.scheme.decide(header) else {
                    return net.drop(switch.node, packet, DropReason::NoRoute, tracer);
                };
                link = first + u32::from(port.0);
            }
            return self.forward(link, packet, net, tracer);
        }
        switch.scheme.receive(&mut context, ingress, header, &mut self.actions);
        if T::TRACES {
            self.trace_kept(number, net.now, tracer);
        }
        match self.actions.take_only() {
            Some(Action::Send(port)) => {
                net.send(first + u32::from(port.0), packet, tracer);
            }
            Some(Action::SendWith(port, overlay)) if S::WRITES_OVERLAY => {
                net.packets.get_mut(packet).header.overlay = overlay;
                net.send(first + u32::from(port.0), packet, tracer);
            }
            Some(Action::Drop(reason)) => net.drop(self.nodes[number].node, packet, reason, tracer),
            Some(Action::SendWith(port, overlay)) => {
                self.actions.send_with_overlay(port, overlay);
                self.act(number, ingress, packet, net, tracer);
            }
            _ => self.act(number, ingress, packet, net, tracer),
        }
    }

    /// Sends a packet on `link`, and decides for the switch at the far end.
    #[inline(always)]
    fn forward<T: Tracer>(&self, link: u32, packet: PacketId, net: &mut Network<'_>, tracer: &mut T) {
        let header = &net.packets.get(packet).header;
        // At a host and at a switch of another partition it is ignored: a branch would be mispredicted.
        let number = net.links.far_end(link).switch_or(0) as usize;
        let next = &self.nodes[number.min(self.nodes.len() - 1)];
        let egress = next.scheme.decide(header).map_or(UNDECIDED, |port| next.first_link + u32::from(port.0));
        net.send_on(link, Bound { packet, egress }, tracer);
    }

    /// Traces a switch's entries for the followed flow.
    fn trace_kept<T: Tracer>(&self, number: usize, now: Time, tracer: &mut T) {
        if let Some(header) = tracer.followed() {
            let switch = &self.nodes[number];
            let kept = switch.scheme.kept(&header, now);
            tracer.trace(now, TraceEvent::Kept { node: switch.node, kept });
        }
    }

    /// Carries out the actions of switch `number` on `packet`.
    #[cold]
    fn act<T: Tracer>(
        &mut self,
        number: usize,
        ingress: PortId,
        packet: PacketId,
        net: &mut Network<'_>,
        tracer: &mut T,
    ) {
        let mut actions = std::mem::take(&mut self.actions);
        let (node, first_link) = (self.nodes[number].node, self.nodes[number].first_link);
        let (now, count) = (net.now, actions.all().count());
        self.let_go(number, actions.released_ahead(), net, tracer);
        if actions.emits_ahead() {
            emit(node, first_link, &actions, net, tracer);
        }
        tell_of_rewriting(node, packet, actions.rewriting(), net);
        let waits = count == 0 && !actions.reports().is_empty();
        if !waits {
            for report in actions.reports() {
                report_frame(node, ingress, *report, packet, false, net);
            }
        }
        actions.rewriting().apply(&mut net.packets.get_mut(packet).header);
        if waits {
            // The frame waits at the controller; a switch reports such a frame once.
            let report = actions.reports()[0];
            report_frame(node, ingress, report, packet, true, net);
        } else if count == 0 {
            net.drop(node, packet, DropReason::NoRoute, tracer);
        }
        for (place, action) in actions.all().enumerate() {
            match action {
                Action::Send(port) | Action::SendWith(port, _) | Action::Deliver(port) => {
                    let this = one_of(packet, place + 1 == count, now, net, tracer);
                    let header = &mut net.packets.get_mut(this).header;
                    match action {
                        Action::SendWith(_, overlay) => header.overlay = overlay,
                        Action::Deliver(_) => *header = header.as_sent(),
                        _ => {}
                    }
                    // Copies leave 1 ps apart: in an idle fabric their order decides which one wins.
                    net.now = now + Duration::from_ps(place as u64);
                    net.ports.chosen_queue = actions.queued();
                    net.send(first_link + u32::from(port.0), this, tracer);
                    net.ports.chosen_queue = 0;
                }
                Action::Hold(slot) | Action::HoldAside(slot) => {
                    let this = one_of(packet, place + 1 == count, now, net, tracer);
                    let is_aside = matches!(action, Action::HoldAside(_));
                    let space = if is_aside { Some(Deposit::NOTHING) } else { net.hold(first_link, this) };
                    match space {
                        None => net.drop(node, this, DropReason::QueueFull, tracer),
                        Some(space) => {
                            if let Some((lost, space)) = self.held.put(number, slot, (this, space)) {
                                net.let_go(&space, |net| {
                                    net.drop(node, lost, DropReason::NotReleased, tracer)
                                });
                            }
                        }
                    }
                }
                Action::Drop(reason) => net.drop(node, packet, reason, tracer),
                Action::Consume => {
                    let header = &net.packets.get(packet).header;
                    if header.kind == Kind::RecoveryReply
                        && let (Some(src), Some(dst)) = (header.destination(), header.source())
                    {
                        let tuple = [(src, header.dport), (dst, header.sport)];
                        net.tell(node, News::Answered(tuple));
                    }
                    if T::TRACES {
                        tracer.trace(now, TraceEvent::Consumed { frame: packet });
                    }
                    net.deliver(packet);
                }
            }
        }
        net.now = now;
        if !actions.emits_ahead() {
            emit(node, first_link, &actions, net, tracer);
        }
        self.let_go(number, actions.released_behind(), net, tracer);
        let is_hold = |action| matches!(action, Action::Hold(_) | Action::HoldAside(_));
        let releases = !actions.released_ahead().is_empty() || !actions.released_behind().is_empty();
        let sets_deadline = releases || actions.all().any(is_hold);
        actions.clear();
        self.actions = actions;
        if sets_deadline {
            self.arm(number, net);
        }
    }

    /// Sends or drops frames that switch `number` holds.
    fn let_go<T: Tracer>(
        &mut self,
        number: usize,
        released: &[(u32, Action)],
        net: &mut Network<'_>,
        tracer: &mut T,
    ) {
        let (node, first_link) = (self.nodes[number].node, self.nodes[number].first_link);
        for &(slot, action) in released {
            let Some((packet, space)) = self.held.take(number, slot) else { continue };
            net.let_go(&space, |net| match action {
                Action::Send(port) => {
                    net.send(first_link + u32::from(port.0), packet, tracer);
                }
                Action::Drop(reason) => net.drop(node, packet, reason, tracer),
                _ => {}
            });
        }
    }

    /// Switch `number` sends a frame on behalf of the controller, out of these ports.
    pub fn send_out<T: Tracer>(
        &mut self,
        number: usize,
        ports: impl Iterator<Item = PortId>,
        packet: PacketId,
        net: &mut Network<'_>,
        tracer: &mut T,
    ) {
        ports.for_each(|port| self.actions.send(port));
        self.act(number, NO_PORT, packet, net, tracer);
    }

    /// Handles a switch's deadline, unless an earlier one replaced it.
    pub fn wake<T: Tracer>(&mut self, number: usize, net: &mut Network<'_>, tracer: &mut T) {
        if self.nodes[number].armed == net.now {
            self.nodes[number].armed = Time::MAX;
            self.call(number, net, tracer, |scheme, ctx, out| scheme.on_deadline(ctx, out));
        }
    }

    /// The port of a switch went down or came up.
    pub fn port_changed<T: Tracer>(
        &mut self,
        number: usize,
        port: PortId,
        up: bool,
        net: &mut Network<'_>,
        tracer: &mut T,
    ) {
        self.call(number, net, tracer, |scheme, ctx, out| scheme.port_changed(ctx, port, up, out));
    }

    /// Calls every scheme, without frames to send.
    pub fn for_each(&mut self, change: impl FnMut(&mut S)) {
        self.nodes.iter_mut().map(|switch| &mut switch.scheme).for_each(change);
    }

    /// Changes the tables of switch `number`.
    pub fn change(&mut self, number: usize, net: &mut Network<'_>, change: impl FnOnce(&mut S)) {
        change(&mut self.nodes[number].scheme);
        self.arm(number, net);
    }

    /// Calls a switch for an event other than a frame.
    fn call<T: Tracer>(
        &mut self,
        number: usize,
        net: &mut Network<'_>,
        tracer: &mut T,
        call: impl FnOnce(&mut S, &mut SwitchContext<'_, '_>, &mut Actions),
    ) {
        let mut actions = std::mem::take(&mut self.actions);
        let switch = &mut self.nodes[number];
        let (node, first_link) = (switch.node, switch.first_link);
        let mut context = SwitchContext { net, first_link, random: &mut switch.random };
        call(&mut switch.scheme, &mut context, &mut actions);
        if T::TRACES {
            self.trace_kept(number, net.now, tracer);
        }
        emit(node, first_link, &actions, net, tracer);
        self.let_go(number, actions.released_ahead(), net, tracer);
        for report in actions.reports() {
            if let Report::RuleRemoved { cookie, packets, bytes } = *report {
                net.tell(node, News::RuleRemoved { cookie, packets, bytes });
            }
        }
        actions.clear();
        self.actions = actions;
        self.arm(number, net);
    }

    fn arm(&mut self, number: usize, net: &mut Network<'_>) {
        let switch = &mut self.nodes[number];
        let deadline = switch.scheme.next_deadline();
        if deadline < switch.armed {
            switch.armed = deadline;
            net.queue.schedule(Timer::Switch(number as u32).into(), deadline, Order::Scheduled);
        }
    }
}

/// The packet itself for the last action on it, a copy for the others.
fn one_of<T: Tracer>(
    packet: PacketId,
    is_last: bool,
    now: Time,
    net: &mut Network<'_>,
    tracer: &mut T,
) -> PacketId {
    if is_last {
        return packet;
    }
    let copy = net.copy(packet);
    if T::TRACES {
        tracer.trace(now, TraceEvent::Copied { frame: copy, of: packet });
    }
    copy
}

/// Sends the frames that a switch originates.
fn emit<T: Tracer>(node: NodeId, first_link: u32, actions: &Actions, net: &mut Network<'_>, tracer: &mut T) {
    let now = net.now;
    let emitted = actions.emitted();
    for (place, &(port, mut header)) in emitted.iter().enumerate() {
        header.ip_bytes = header.ip_bytes.max(Header::SHORTEST);
        let is_copy = place > 0 && emitted[place - 1].1 == emitted[place].1;
        if header.kind == Kind::RecoveryRequest
            && !is_copy
            && let (Some(src), Some(dst)) = (header.source(), header.destination())
        {
            net.tell(node, News::Asked([(src, header.sport), (dst, header.dport)]));
        }
        net.counters.packets_of_switches += 1;
        net.now = now + Duration::from_ps(place as u64);
        let packet = net.packets.packet_without_segment(&header);
        net.ports.is_new(packet, None);
        net.send(first_link + u32::from(port.0), packet, tracer);
    }
    net.now = now;
}

/// Tells of an exploration that a rewritten frame begins or ends.
fn tell_of_rewriting(node: NodeId, packet: PacketId, rewrite: Rewrite, net: &mut Network<'_>) {
    let Some(strand) = net.strand(packet) else { return };
    match rewrite {
        Rewrite::Wrap(Kind::PathRequest, _) => net.tell(node, News::Explores(strand)),
        Rewrite::Unwrap if net.packets.get(packet).header.kind == Kind::PathReply => {
            net.tell(node, News::Explored(strand));
        }
        _ => {}
    }
}

/// Reports a frame to the controller, which gets it if it is `held`.
fn report_frame(
    node: NodeId,
    ingress: PortId,
    report: Report,
    packet: PacketId,
    held: bool,
    net: &mut Network<'_>,
) {
    let Report::Frame(cookie) = report else { return };
    let shown = shown(&net.packets, packet);
    let held = held.then(|| net.packets.take(packet));
    net.tell(node, News::Reported(Box::new(Reported { ingress, cookie, shown, held })));
}
