//! [`Multipath`]: hosts with Multipath TCP.
//!
//! A packet names its subflow by the source's number. The destination adds the subflow when the first packet with
//! that name arrives, which is a SYN that joins.

use std::collections::BTreeSet;

use weft_fabric::Interfaces;
use weft_switching::{Header, mix64};
use weft_traffic::{EPHEMERAL, Flow};
use weft_transport::mptcp::{Addresses, Config, Connection, MAX_SUBFLOWS, NewSubflow, Packet};
use weft_transport::{Machine, Mptcp};
use weft_units::{HostId, Time};

use super::context::Ctx;
use super::host_queue::HostQueue;
use super::protocol::{End, Opening, Protocol, template};
use super::reports::report_opened;
use super::shell::{Shell, Transmission, transmit};
use super::subflow::Subflow;
use super::tcp::initial_sequence;
use super::world::World;
use crate::journal::{FlowNumber, SubflowId};
use crate::network::Network;
use crate::packet::{Metadata, PacketId};
use crate::trace::TraceEvent;

/// Multipath TCP.
pub struct Multipath {
    config: Config,
    /// Addresses and ports in use by sources of this partition.
    taken: BTreeSet<(HostId, HostId, u16, u16)>,
}

/// A pseudo-random number for a flow; `purpose` separates its uses.
fn drawn(flow: &Flow, purpose: u64) -> u64 {
    mix64(mix64(u64::from(flow.id.0)) ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl Multipath {
    /// With the parameters of `config`, at hosts that send `flows`.
    pub fn new(config: Config, flows: &mut dyn Iterator<Item = &Flow>) -> Self {
        let taken = flows.map(|flow| (flow.src, flow.dst, flow.sport, flow.dport)).collect();
        Self { config, taken }
    }

    /// Whether there is a subflow for each pair of links, or of interfaces.
    fn is_mesh(&self) -> bool {
        self.config.plain().mptcp == Mptcp::Fullmesh
    }

    /// The addresses of the subflows of a full mesh: links, or if a rule chooses interfaces, pairs of these, which follow from the
    /// number of the subflow. Without any, there is one subflow.
    fn addresses(&self, flow: &Flow, cx: &Ctx<'_, '_>) -> Addresses {
        let most = |count: usize| count.min(MAX_SUBFLOWS) as u8;
        if self.uses_links(flow, cx.net) {
            let [local, remote] = cx.nics.all_links(cx.net.fabric, flow).map(|links| most(links.len()));
            return Addresses { local, remote };
        }
        let (first, all) = (cx.world.first_interfaces(flow), cx.net.interfaces.as_ref());
        let mesh = first.zip(all).map(|(first, all)| all.mesh(flow.src, flow.dst, first));
        Addresses { local: 1, remote: mesh.map_or(1, |mesh| most(mesh.take(MAX_SUBFLOWS).count())) }
    }

    /// A source port for subflow `number` of `flow` that no other connection between the hosts uses, if any is free.
    fn port(&mut self, flow: &Flow, number: usize) -> Option<u16> {
        let count = u64::from(EPHEMERAL.end - EPHEMERAL.start);
        let first = mix64(u64::from(flow.id.0) << 8 | number as u64);
        let mut ports = (0..count).map(|step| EPHEMERAL.start + (first.wrapping_add(step) % count) as u16);
        let taken = &mut self.taken;
        ports.find(|port| taken.insert((flow.src, flow.dst, *port, flow.dport)))
    }
}

impl Protocol for Multipath {
    type Machine = Connection;
    type Subflows = Vec<Subflow>;
    /// The lines in which it waits.
    type State = Vec<u32>;

    const HAS_HANDSHAKE: bool = true;

    fn config(&self, _is_within: bool) -> &Config {
        &self.config
    }

    fn template(&self, flow: &Flow, side: usize) -> Header {
        template(flow, side)
    }

    fn uses_links(&self, flow: &Flow, net: &Network<'_>) -> bool {
        self.is_mesh() && net.interfaces.is_none() && !net.fabric.share_scale_up(flow.src, flow.dst)
    }

    fn interfaces(&self, all: &Interfaces, flow: &Flow, first: [u8; 2], name: u8) -> [u8; 2] {
        if !self.is_mesh() {
            return all.next(flow.src, flow.dst, first, name);
        }
        all.mesh(flow.src, flow.dst, first).nth(name.into()).unwrap_or(first)
    }

    fn open(&mut self, opening: &Opening<'_>, cx: &Ctx<'_, '_>) -> (Connection, Vec<u32>) {
        let Opening { owner, flow, bytes, is_shared, .. } = *opening;
        let sequence = initial_sequence(flow, owner.side);
        if owner.side == 1 {
            return (Connection::listen(&self.config, drawn(flow, 2), sequence), Vec::new());
        }
        let addresses = self.addresses(flow, cx);
        let mut client = Connection::connect(&self.config, cx.net.now, drawn(flow, 1), sequence, addresses);
        client.write(bytes);
        if !is_shared {
            client.close();
        }
        (client, Vec::new())
    }

    fn read(&self, net: &Network<'_>, packet: PacketId, _side: usize, into: &mut Packet) {
        into.options = net.packets.options(packet);
        net.packets.read_segment(packet, &mut into.segment);
    }

    fn write(&self, net: &mut Network<'_>, subflow: &mut Subflow, owner: u32, packet: &Packet) -> PacketId {
        let address = subflow.addresses.destination_link();
        let (owner, way) = subflow.follow(&packet.segment, owner);
        let metadata = Metadata { options: packet.options, address, way, telemetry: None };
        net.packets.packet_of(net.now, &subflow.template, owner, &packet.segment, metadata)
    }

    fn receive(
        &mut self,
        end: &mut End<Self>,
        subflow: usize,
        _header: &Header,
        packet: &mut Packet,
        now: Time,
    ) {
        end.machine.on_segment(&self.config, subflow, now, &packet.segment, &packet.options);
    }

    fn sent(
        &self,
        connection: &mut Connection,
        packet: &Packet,
        nic: u32,
        is_accepted: bool,
        net: &Network<'_>,
    ) {
        let Packet { subflow, segment, .. } = packet;
        if self.config.plain().small_queues && is_accepted && segment.len > 0 {
            connection.leaves_at(*subflow, net.now, net.departure(nic), segment.len);
        }
    }

    /// In line, it is called when it is its turn. A timeout that has passed acts when it sends.
    fn deadlines(&mut self, end: &mut End<Self>, now: Time) -> (Time, Time) {
        let timeout = match end.state.is_empty() {
            true => end.machine.next_timeout(),
            false => end.machine.next_timeout_after(now),
        };
        (timeout, end.machine.held_until())
    }

    fn left(&mut self, end: &End<Self>, place: u32, queue: &mut HostQueue, world: &World<'_>) {
        end.state.iter().for_each(|line| queue.leave(*line, place));
        if !end.is_destination {
            let flow = &world.flows[end.flow as usize];
            for Subflow { template, .. } in &end.subflows {
                self.taken.remove(&(flow.src, flow.dst, template.sport, template.dport));
            }
        }
    }
}

impl Transmission for Multipath {
    fn pump(shell: &mut Shell<Self>, place: u32, cx: &mut Ctx<'_, '_>) {
        shell.send_subflows(place, None, cx);
        if shell.queue.has_waiting()
            && let Some(end) = shell.ends.get(place)
        {
            let used: BTreeSet<u32> = end.subflows.iter().map(|subflow| subflow.line).collect();
            used.into_iter().for_each(|line| Self::serve(shell, line, cx));
        }
    }

    fn serve(shell: &mut Shell<Self>, line: u32, cx: &mut Ctx<'_, '_>) {
        while let Some(place) = shell.queue.next(line, cx.net) {
            if let Some(end) = shell.ends.at(place) {
                end.state.retain(|joined| *joined != line);
                cx.net.trace(|_| TraceEvent::Turn { flow: end.flow, line });
                shell.send_subflows(place, Some(line), cx);
            }
        }
        shell.queue.call(line, cx.net);
    }

    fn subflow_named(
        shell: &mut Shell<Self>,
        place: u32,
        name: u8,
        packet: PacketId,
        cx: &Ctx<'_, '_>,
    ) -> usize {
        let Some(end) = shell.ends.at(place) else { return 0 };
        if let Some(number) = end.subflows.iter().position(|subflow| subflow.name == name) {
            return number;
        }
        let flow = &cx.world.flows[end.flow as usize];
        let (address, header) = (cx.net.packets.address(packet), cx.net.packets.get(packet).header);
        let random = drawn(flow, 0x100 + u64::from(name));
        let Some(number) = end.machine.accept(&shell.protocol.config, address, random) else {
            return usize::MAX >> 1;
        };
        let links = shell.protocol.uses_links(flow, cx.net).then_some([0, address]);
        let subflow = shell.subflow(name, &Flow { sport: header.sport, ..*flow }, 1, links, cx);
        if let Some(end) = shell.ends.at(place) {
            match end.subflows.get_mut(number) {
                Some(known) => *known = subflow,
                None => end.subflows.push(subflow),
            }
        }
        number
    }
}

impl Shell<Multipath> {
    /// Sends the pending segments of the end at `place`, or if it is its turn in a line, one of them on that link first.
    fn send_subflows(&mut self, place: u32, mut turn: Option<u32>, cx: &mut Ctx<'_, '_>) {
        let now = cx.net.now;
        loop {
            self.answer(place, cx);
            let Some(end) = self.ends.at(place) else { return };
            // The first SYN does not wait.
            let waits = self.queue.is_limited() && !end.is_destination && now > end.opened;
            let mut lines = Lines { place, subflows: &end.subflows, joined: &mut end.state };
            let blocked = if waits { lines.blocked(turn, &self.queue, cx.net) } else { 0 };
            end.machine.block(blocked);
            if u64::from(blocked) == (1 << end.subflows.len()) - 1 {
                lines.join(blocked, end.flow, &mut self.queue, cx.net);
            } else if Machine::poll_transmit(&mut end.machine, &self.protocol.config, now, &mut self.packet) {
                turn = None;
                let number = self.packet.subflow;
                let at = if number < end.subflows.len() { number } else { 0 };
                let is_accepted = transmit(&self.protocol, end, at, &self.packet, cx);
                let nic = end.subflows[at].nic;
                self.protocol.sent(&mut end.machine, &self.packet, nic, is_accepted, cx.net);
                continue;
            } else if end.machine.waiting() != 0 {
                if turn.take().is_some() {
                    // It had nothing for that link.
                    end.machine.block(lines.blocked(None, &self.queue, cx.net));
                    if end.machine.may_send() {
                        continue;
                    }
                }
                lines.join(end.machine.waiting(), end.flow, &mut self.queue, cx.net);
            }
            if !self.open_subflow(place, cx) {
                break;
            }
        }
        let Some(end) = self.ends.at(place) else { return };
        let (timeout, held) = self.protocol.deadlines(end, now);
        end.alarms.arm(place, end.subflows[0].nic, timeout, held, cx.net);
        if !end.is_over && (end.machine.is_closed() || end.machine.is_aborted()) {
            self.report_end(place, cx);
        }
    }

    /// Opens a subflow of the end at `place`, if it wants one; returns whether it did.
    fn open_subflow(&mut self, place: u32, cx: &mut Ctx<'_, '_>) -> bool {
        let Some(end) = self.ends.at(place).filter(|end| !end.is_destination) else { return false };
        let flow_number = end.flow;
        let flow = &cx.world.flows[flow_number as usize];
        let random = drawn(flow, 3 + end.subflows.len() as u64);
        let opened = end.machine.poll_open(&self.protocol.config, cx.net.now, random);
        let Some(NewSubflow { subflow: number, local, remote }) = opened else { return false };
        // If all ports are taken, two subflows share one, and switches cannot distinguish them.
        let sport = self.protocol.port(flow, number).unwrap_or(flow.sport);
        let name = number as u8;
        let links = self.protocol.uses_links(flow, cx.net).then(|| {
            // Fewer may work than when the first subflow was opened.
            let [own, others] = cx.nics.all_links(cx.net.fabric, flow);
            let of = |links: &[u8], number: u8| links[usize::from(number) % links.len()];
            [of(&own, local), of(&others, remote)]
        });
        let subflow = self.subflow(name, &Flow { sport, ..*flow }, 0, links, cx);
        if let Some(end) = self.ends.at(place) {
            end.subflows.push(subflow);
        }
        report_opened(cx.net, cx.world, SubflowId { flow: flow_number, subflow: name }, sport);
        true
    }
}

/// The lines of an end's subflows.
struct Lines<'a> {
    place: u32,
    subflows: &'a [Subflow],
    /// Those in which the end waits.
    joined: &'a mut Vec<u32>,
}

impl Lines<'_> {
    /// The subflows that may not send, one bit each; in a `turn` in a line, all that use others.
    fn blocked(&self, turn: Option<u32>, queue: &HostQueue, net: &Network<'_>) -> u32 {
        let is_blocked = |line: u32| match turn {
            Some(turn) => line != turn,
            None => self.joined.contains(&line) || !queue.is_free(line, net),
        };
        let bits = self.subflows.iter().zip(0..);
        bits.map(|(subflow, bit)| u32::from(is_blocked(subflow.line)) << bit).sum()
    }

    /// Waits in the lines of these subflows.
    fn join(&mut self, subflows: u32, flow: FlowNumber, queue: &mut HostQueue, net: &mut Network<'_>) {
        for (subflow, bit) in self.subflows.iter().zip(0..) {
            if subflows >> bit & 1 == 1 && !self.joined.contains(&subflow.line) {
                self.joined.push(subflow.line);
                queue.enter(subflow.line, self.place);
                net.trace(|net| TraceEvent::Waits { flow, line: subflow.line, from: net.now });
            }
        }
    }
}
