//! [`Switches`]: the switches of one partition. Each frame that arrives is shown to its switch, and the actions are
//! carried out: frames sent, dropped, copied and rewritten, frames that a switch originates, deadlines.

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_control::{FlowCount, RuleChange};
use weft_fabric::Fabric;
use weft_switching::{
    Action, Actions, DropReason, Forwarding, Header, Kind, Mac, Report, TableEntries, mix64,
};
use weft_traffic::Flow;
use weft_units::{Duration, HostId, NodeId, PortId, Time};

use crate::deposit::Deposit;
use crate::fleet::{Fleet, FleetBuilder};
use crate::frame_reports::{report_frame, report_rewriting};
use crate::held::Held;
use crate::journal::News;
use crate::network::Network;
use crate::packet::{Bound, PacketId, UNDECIDED};
use crate::timer::Timer;
use crate::timer_heap::Order;
use crate::trace::TraceEvent;

/// The ingress of a frame that did not arrive on a port.
const NO_PORT: PortId = PortId(u16::MAX);

/// A switch: its place in the fabric, and its deadline.
struct Site {
    node: NodeId,
    first_link: u32,
    /// The deadline that is scheduled.
    armed: Time,
}

/// The switches, numbered in the order of their nodes.
pub struct Switches {
    sites: Vec<Site>,
    fleet: Box<dyn Fleet>,
    decides_ahead: bool,
    actions: Actions,
    /// Each with the space that it takes.
    held: Held<(PacketId, Deposit)>,
}

impl Switches {
    /// The switches at these nodes, in a run with this seed.
    pub fn new(builder: &dyn FleetBuilder, nodes: &[NodeId], seed: u64, net: &Network<'_>) -> Self {
        let site = |&node| Site { node, first_link: net.link_at(node, PortId(0)), armed: Time::MAX };
        let fleet = builder.fleet(nodes, seed, net);
        Self {
            sites: nodes.iter().map(site).collect(),
            decides_ahead: fleet.decides_ahead(),
            fleet,
            actions: Actions::default(),
            held: Held::default(),
        }
    }

    /// Whether switches decide before a frame arrives: [`Fleet::decides_ahead`].
    #[inline(always)]
    pub const fn decides_ahead(&self) -> bool {
        self.decides_ahead
    }

    /// The number of the switch at `node`.
    pub fn number_of(&self, node: NodeId) -> Option<usize> {
        self.sites.binary_search_by_key(&node, |site| site.node).ok()
    }

    /// The table entries of switch `number`.
    pub fn table_entries(&mut self, number: usize, now: Time) -> TableEntries {
        self.fleet.table_entries(number, now)
    }

    /// Teaches the switches the hosts of `flows`, if the scheme learns stations.
    pub fn learn(&mut self, builder: &dyn FleetBuilder, fabric: &Fabric, flows: &[Flow], seed: u64) {
        let hosts: BTreeSet<HostId> = flows.iter().flat_map(|flow| [flow.src, flow.dst]).collect();
        for host in hosts {
            let random = mix64(seed ^ mix64(host.0.into()));
            let Some(ports) = builder.learnt(fabric, fabric.host_node(host), random) else { return };
            for (number, site) in self.sites.iter().enumerate() {
                if let Some(port) = ports[site.node.index()] {
                    self.fleet.learn_station(number, Mac::of_host(host.0), port);
                }
            }
        }
    }

    /// Schedules the first deadline of every switch that has one.
    pub fn start(&mut self, net: &mut Network<'_>) {
        for number in 0..self.sites.len() {
            self.arm(number, net);
        }
    }

    /// Switch `number` processes a packet received on `ingress`.
    #[inline(always)]
    pub fn receive(
        &mut self,
        number: usize,
        ingress: PortId,
        Bound { packet, egress }: Bound,
        net: &mut Network<'_>,
    ) {
        let header = &net.packets.get(packet).header;
        if self.decides_ahead && net.trace.is_none() {
            let mut link = egress;
            if egress == UNDECIDED {
                let Some(decided) = self.fleet.decide(number, header) else {
                    return net.drop(self.sites[number].node, packet, DropReason::NoRoute);
                };
                link = decided;
            }
            return self.forward(link, packet, net);
        }
        self.fleet.receive(number, ingress, header, net, &mut self.actions);
        if net.trace.is_some() {
            self.trace_kept(number, net);
        }
        let Some(action) = self.actions.take_only() else {
            return self.act(number, ingress, packet, net);
        };
        let site = &self.sites[number];
        let port = match action {
            Action::Send(port) => port,
            Action::SendWith(port, overlay) => {
                net.packets.get_mut(packet).header.overlay = overlay;
                port
            }
            Action::Drop(reason) => return net.drop(site.node, packet, reason),
            _ => unreachable!("more than a send or a drop"),
        };
        net.send(site.first_link + u32::from(port.0), packet);
    }

    /// Sends a packet on `link`, and decides for the switch at the far end.
    #[inline(always)]
    fn forward(&self, link: u32, packet: PacketId, net: &mut Network<'_>) {
        if net.rounds.is_on() {
            net.send(link, packet);
            return;
        }
        let header = &net.packets.get(packet).header;
        // At a host and at a switch of another partition it is ignored: a branch would be mispredicted.
        let number = net.links.far_end(link).switch_or(0) as usize;
        let egress = self.fleet.decide(number.min(self.sites.len() - 1), header).unwrap_or(UNDECIDED);
        net.send_on(link, Bound { packet, egress });
    }

    /// Traces a switch's entries for the followed flow.
    fn trace_kept(&self, number: usize, net: &mut Network<'_>) {
        if let Some(header) = net.trace.as_ref().and_then(|trace| trace.followed) {
            let kept = self.fleet.kept(number, &header, net.now);
            net.trace(|_| TraceEvent::Kept { node: self.sites[number].node, kept });
        }
    }

    /// Carries out the actions of switch `number` on `packet`.
    #[cold]
    fn act(&mut self, number: usize, ingress: PortId, packet: PacketId, net: &mut Network<'_>) {
        let mut actions = std::mem::take(&mut self.actions);
        let Site { node, first_link, .. } = self.sites[number];
        let (now, count) = (net.now, actions.all().count());
        self.let_go(number, actions.released_ahead(), net);
        if actions.emits_ahead() {
            emit(node, first_link, &actions, net);
        }
        report_rewriting(node, packet, actions.rewriting(), net);
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
            net.drop(node, packet, DropReason::NoRoute);
        }
        for (place, action) in actions.all().enumerate() {
            match action {
                Action::Send(port) | Action::SendWith(port, _) | Action::Deliver(port) => {
                    let this = one_of(packet, place + 1 == count, net);
                    let header = &mut net.packets.get_mut(this).header;
                    match action {
                        Action::SendWith(_, overlay) => header.overlay = overlay,
                        Action::Deliver(_) => *header = header.as_sent(),
                        _ => {}
                    }
                    // Copies leave 1 ps apart: in an idle fabric their order decides which one wins.
                    net.now = now + Duration::from_ps(place as u64);
                    net.ports.chosen_queue = actions.queued();
                    net.send(first_link + u32::from(port.0), this);
                    net.ports.chosen_queue = 0;
                }
                Action::Hold(slot) | Action::HoldAside(slot) => {
                    let this = one_of(packet, place + 1 == count, net);
                    let is_aside = matches!(action, Action::HoldAside(_));
                    let space = if is_aside { Some(Deposit::NOTHING) } else { net.hold(first_link, this) };
                    match space {
                        None => net.drop(node, this, DropReason::QueueFull),
                        Some(space) => {
                            if let Some((lost, space)) = self.held.put(number, slot, (this, space)) {
                                net.let_go(&space, |net| net.drop(node, lost, DropReason::NotReleased));
                            }
                        }
                    }
                }
                Action::Drop(reason) => net.drop(node, packet, reason),
                Action::Consume => {
                    let header = &net.packets.get(packet).header;
                    if header.kind == Kind::RecoveryReply
                        && let (Some(src), Some(dst)) = (header.destination(), header.source())
                    {
                        let tuple = [(src, header.dport), (dst, header.sport)];
                        net.report(node, News::Answered(tuple));
                    }
                    net.trace(|_| TraceEvent::Consumed { frame: packet });
                    net.deliver(packet);
                }
            }
        }
        net.now = now;
        if !actions.emits_ahead() {
            emit(node, first_link, &actions, net);
        }
        self.let_go(number, actions.released_behind(), net);
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
    fn let_go(&mut self, number: usize, released: &[(u32, Action)], net: &mut Network<'_>) {
        let Site { node, first_link, .. } = self.sites[number];
        for &(slot, action) in released {
            let Some((packet, space)) = self.held.take(number, slot) else { continue };
            net.let_go(&space, |net| match action {
                Action::Send(port) => {
                    net.send(first_link + u32::from(port.0), packet);
                }
                Action::Drop(reason) => net.drop(node, packet, reason),
                _ => {}
            });
        }
    }

    /// Switch `number` sends a frame on behalf of the controller, out of these ports.
    pub fn send_out(
        &mut self,
        number: usize,
        ports: impl Iterator<Item = PortId>,
        packet: PacketId,
        net: &mut Network<'_>,
    ) {
        ports.for_each(|port| self.actions.send(port));
        self.act(number, NO_PORT, packet, net);
    }

    /// Handles a switch's deadline, unless an earlier one replaced it; returns whether it was due.
    pub fn wake(&mut self, number: usize, net: &mut Network<'_>) -> bool {
        let is_due = self.sites[number].armed == net.now;
        if is_due {
            self.sites[number].armed = Time::MAX;
            self.call(number, net, |fleet, net, out| fleet.on_deadline(number, net, out));
        }
        is_due
    }

    /// The next deadline of a switch.
    pub fn deadline(&self, number: usize) -> Time {
        self.sites[number].armed
    }

    /// Handles a switch's deadlines before `end`, at their times; returns the last of these.
    #[inline(always)]
    pub fn wake_before(&mut self, number: usize, end: Time, net: &mut Network<'_>) -> Time {
        let mut last = Time::ZERO;
        while self.sites[number].armed < end {
            last = self.sites[number].armed;
            net.now = last;
            net.counters.events += 1;
            self.wake(number, net);
        }
        last
    }

    /// The port of a switch went down or came up.
    pub fn port_changed(&mut self, number: usize, port: PortId, up: bool, net: &mut Network<'_>) {
        self.call(number, net, |fleet, net, out| fleet.port_changed(number, port, up, net, out));
    }

    /// The routes have changed.
    pub fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.fleet.routes_changed(routes);
    }

    /// The controller changes a rule of switch `number`.
    pub fn apply(&mut self, number: usize, change: &RuleChange, net: &mut Network<'_>) {
        self.fleet.apply(number, net.now, change);
        self.arm(number, net);
    }

    /// The flows of the hosts of switch `number` since the controller's last query.
    pub fn flow_counts(&mut self, number: usize, net: &mut Network<'_>) -> Vec<FlowCount> {
        let counts = self.fleet.flow_counts(number);
        self.arm(number, net);
        counts
    }

    /// Calls a switch for an event other than a frame.
    fn call(
        &mut self,
        number: usize,
        net: &mut Network<'_>,
        call: impl FnOnce(&mut dyn Fleet, &Network<'_>, &mut Actions),
    ) {
        let mut actions = std::mem::take(&mut self.actions);
        let Site { node, first_link, .. } = self.sites[number];
        call(&mut *self.fleet, net, &mut actions);
        if net.trace.is_some() {
            self.trace_kept(number, net);
        }
        emit(node, first_link, &actions, net);
        self.let_go(number, actions.released_ahead(), net);
        for report in actions.reports() {
            if let Report::RuleRemoved { cookie, packets, bytes } = *report {
                net.report(node, News::RuleRemoved { cookie, packets, bytes });
            }
        }
        actions.clear();
        self.actions = actions;
        self.arm(number, net);
    }

    fn arm(&mut self, number: usize, net: &mut Network<'_>) {
        let deadline = self.fleet.next_deadline(number);
        let site = &mut self.sites[number];
        if deadline < site.armed {
            site.armed = deadline;
            if net.rounds.is_on() {
                return net.rounds.note_own(number, deadline);
            }
            net.queue.schedule(Timer::Switch(number as u32).into(), deadline, Order::Scheduled);
        }
    }
}

/// The packet itself for the last action on it, a copy for the others.
fn one_of(packet: PacketId, is_last: bool, net: &mut Network<'_>) -> PacketId {
    if is_last {
        return packet;
    }
    let copy = net.copy(packet);
    net.trace(|_| TraceEvent::Copied { frame: copy, of: packet });
    copy
}

/// Sends the frames that a switch originates.
fn emit(node: NodeId, first_link: u32, actions: &Actions, net: &mut Network<'_>) {
    let now = net.now;
    let emitted = actions.emitted();
    for (place, &(port, mut header)) in emitted.iter().enumerate() {
        header.ip_bytes = header.ip_bytes.max(Header::SHORTEST);
        let is_copy = place > 0 && emitted[place - 1].1 == emitted[place].1;
        if header.kind == Kind::RecoveryRequest
            && !is_copy
            && let (Some(src), Some(dst)) = (header.source(), header.destination())
        {
            net.report(node, News::Asked([(src, header.sport), (dst, header.dport)]));
        }
        net.counters.packets_of_switches += 1;
        net.now = now + Duration::from_ps(place as u64);
        let packet = net.packets.packet_without_segment(&header);
        net.ports.accounts.record_made(packet, None);
        net.send(first_link + u32::from(port.0), packet);
    }
    net.now = now;
}
