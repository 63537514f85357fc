//! [`Shell`]: the hosts of a partition, with any protocol. It owns the ends, their timers, interfaces and reports; a
//! [`Protocol`] has the rest.

use weft_traffic::Flow;
use weft_transport::Machine;
use weft_units::Time;

use super::chosen::OpenFlows;
use super::context::Ctx;
use super::ends::Ends;
use super::flow_end::FlowEnd;
use super::host_queue::HostQueue;
use super::hosts::Hosts;
use super::messages::Messages;
use super::pacers::Pacers;
use super::places::Place;
use super::protocol::{End, PacketOf, Protocol};
use super::reports::{report_opened, report_way};
use super::stream::{Counts, Piece, Unit};
use super::subflow::{Addresses, Subflow};
use super::world::World;
use crate::journal::{FlowNumber, SideReport, SubflowId};
use crate::network::{HostKind, Network};
use crate::packet::PacketId;
use crate::trace::TraceEvent;

/// The hosts of a partition.
pub struct Shell<P: Protocol> {
    /// The protocol.
    pub protocol: P,
    /// The ends of its connections.
    pub ends: Ends<End<P>>,
    /// The lines of its interfaces, if it does not pace.
    pub queue: HostQueue,
    /// The turns on its interfaces, if it paces.
    pub pacers: Pacers,
    /// The flows on shared connections.
    pub messages: Messages,
    /// Pieces of them that are written next.
    pub pieces: Vec<Piece>,
    /// The open flows that choose interfaces by load.
    pub open_flows: OpenFlows,
    /// The packet that is read or written.
    pub packet: PacketOf<P>,
}

/// How the hosts of a protocol send its packets.
pub trait Transmission: Protocol {
    /// The end at `place` may have packets to send: sends those that the interface takes.
    #[inline(always)]
    fn pump(shell: &mut Shell<Self>, place: u32, cx: &mut Ctx<'_, '_>) {
        if Self::PACES { shell.pump_paced(place, cx) } else { shell.pump_queued(place, cx) }
    }

    /// There is space for the ends in this line for an interface.
    fn serve(shell: &mut Shell<Self>, line: u32, cx: &mut Ctx<'_, '_>) {
        shell.serve_queued(line, cx);
    }

    /// Receivers may grant credit for the link of the turn with this number.
    fn grant_credit(_shell: &mut Shell<Self>, _number: u32, _cx: &mut Ctx<'_, '_>) {}

    /// The number of the subflow with this name at the end at `place`, which `packet` has reached. A destination opens it if
    /// it is new.
    #[inline(always)]
    fn subflow_named(
        _shell: &mut Shell<Self>,
        _place: u32,
        _name: u8,
        _packet: PacketId,
        _cx: &Ctx<'_, '_>,
    ) -> usize {
        0
    }
}

impl<P: Protocol> Shell<P> {
    /// No end yet, at hosts with interfaces of this queue.
    pub fn new(protocol: P, queue: HostQueue) -> Self {
        Self {
            protocol,
            queue,
            ends: Ends::default(),
            pacers: Pacers::default(),
            messages: Messages::new(P::UNIT),
            pieces: Vec::new(),
            open_flows: OpenFlows::default(),
            packet: PacketOf::<P>::default(),
        }
    }
}

/// The number of the line or pacer of a subflow.
pub fn line<P: Protocol>(
    queue: &mut HostQueue,
    pacers: &mut Pacers,
    side: usize,
    subflow: &Subflow,
    net: &Network<'_>,
) -> u32 {
    match (P::PACES, side) {
        (false, _) => queue.line(subflow.nic, &subflow.template, net),
        (true, 0) => pacers.of(subflow.nic, net),
        (true, _) => 0,
    }
}

/// Sends a packet from its host. Returns whether the interface accepted it.
#[inline(always)]
pub fn transmit<P: Protocol>(
    protocol: &P,
    end: &mut End<P>,
    subflow: usize,
    packet: &PacketOf<P>,
    cx: &mut Ctx<'_, '_>,
) -> bool {
    let FlowEnd { flow, side } = end.owner();
    let subflow = &mut end.subflows.as_mut()[subflow];
    let owner = flow << P::SUBFLOW_BITS | u32::from(subflow.name) << 1 | (1 - side as u32);
    let packet = protocol.write(cx.net, subflow, owner, packet);
    cx.net.counters.packets_sent += 1;
    cx.net.send(subflow.nic, packet)
}

impl<P: Transmission> Shell<P> {
    /// Sends the packets of the end at `place`; then adds its congestion window to the trace, if it can send and has one.
    #[inline(always)]
    pub fn pump(&mut self, place: u32, cx: &mut Ctx<'_, '_>) {
        P::pump(self, place, cx);
        if cx.net.trace.is_some()
            && let Some(end) = self.ends.at(place)
            && !end.is_destination
            && let Some(bytes) = end.machine.window(self.protocol.config(end.is_within))
        {
            cx.net.trace(|_| TraceEvent::Window { flow: end.flow, bytes });
        }
    }
}

impl<P: Transmission> Hosts for Shell<P> {
    fn kind(&self) -> HostKind {
        HostKind {
            subflow_bits: P::SUBFLOW_BITS,
            paces: P::PACES,
            asks_telemetry: self.protocol.asks_telemetry(),
        }
    }

    fn open(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_>) {
        let sport = cx.world.flows[number as usize].sport;
        report_opened(cx.net, cx.world, SubflowId { flow: number, subflow: 0 }, sport);
        if cx.world.connections.last(number).is_some() {
            return self.open_shared(number, cx);
        }
        let bytes = cx.world.flows[number as usize].bytes;
        let place = self.add(FlowEnd { flow: number, side: 0 }, bytes, cx);
        self.pump(place, cx);
    }

    fn go_on(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_>) {
        if cx.world.places.get(cx.world.connections.owner(number), 0) != Place::Gone {
            cx.net.trace(|_| TraceEvent::Part { flow: cx.world.connections.owner(number), message: number });
            self.messages.allow(number, &mut self.pieces, cx.net.now, cx.world);
            self.write_pieces(number, cx);
        }
    }

    #[inline]
    fn deliver(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_>) {
        let Some(to) = cx.net.packets.get(packet).endpoint() else { return };
        let id = SubflowId::of_owner(to, P::SUBFLOW_BITS);
        let owner = FlowEnd { flow: id.flow, side: to as usize & 1 };
        let place = match cx.world.places.get(owner.flow, owner.side) {
            Place::At(place) => place,
            Place::New if owner.side == 1 => self.listen(owner, cx),
            Place::New | Place::Gone => return cx.net.deliver(packet),
        };
        let number = P::subflow_named(self, place, id.subflow, packet, cx);
        let Some(end) = self.ends.at(place) else { return cx.net.deliver(packet) };
        self.protocol.read(cx.net, packet, owner.side, &mut self.packet);
        let header = cx.net.packets.get(packet).header;
        let is_cut = header.is_trimmed();
        if owner.side == 1 && !is_cut {
            cx.net.counters.data_packets += u64::from(header.payload > 0);
        }
        if (P::HAS_HANDSHAKE || owner.side == 1 && !is_cut)
            && let Some(subflow) = end.subflows.as_mut().get_mut(number)
        {
            end.delays.count(cx.net.packets.age(packet, cx.net.now), &mut subflow.last);
        }
        report_way(cx.net, cx.world, id, packet);
        cx.net.deliver(packet);
        if P::HAS_HANDSHAKE || P::TAKES_TRIMMED || !is_cut {
            self.protocol.receive(end, number, &header, &mut self.packet, cx.net.now);
            self.pump(place, cx);
        }
    }

    #[inline]
    fn prefetch(&self, owner: u32, world: &World<'_>) {
        let flow = SubflowId::of_owner(owner, P::SUBFLOW_BITS).flow;
        if let Place::At(place) = world.places.get(flow, owner as usize & 1) {
            self.ends.prefetch(place);
        }
    }

    fn timer(&mut self, place: u32, cx: &mut Ctx<'_, '_>) -> bool {
        let now = cx.net.now;
        let Some(end) = self.ends.at(place) else { return false };
        if !end.alarms.take_due(now) {
            return false;
        }
        self.protocol.time_out(end, &mut self.packet, now);
        self.pump(place, cx);
        true
    }

    fn serve_line(&mut self, line: u32, cx: &mut Ctx<'_, '_>) {
        P::serve(self, line, cx);
    }

    fn grant_credit(&mut self, number: u32, cx: &mut Ctx<'_, '_>) {
        P::grant_credit(self, number, cx);
    }

    #[inline]
    fn turn(&mut self, pacer: u32, cx: &mut Ctx<'_, '_>) {
        self.serve_paced(pacer, cx);
        let pacer = self.pacers.at(pacer);
        pacer.arm_again(cx.net.departure(pacer.nic), cx.net);
    }

    fn resume(&mut self, nic: u32, cx: &mut Ctx<'_, '_>) {
        if let Some(pacer) = self.pacers.get(nic, cx.net) {
            self.pacers.at(pacer).resume();
            self.serve_paced(pacer, cx);
        }
    }

    fn follow(&mut self, flow: FlowNumber, subflow: u8, world: &World<'_>) {
        let owner = FlowEnd { flow: world.connections.owner(flow), side: 0 };
        if let Some(end) = self.ends.of(owner, world)
            && let Some(subflow) = end.subflows.as_mut().get_mut(usize::from(subflow))
        {
            subflow.follows = true;
        }
    }

    fn leave(
        &mut self,
        flow: FlowNumber,
        side: usize,
        net: &mut Network<'_>,
        world: &World<'_>,
    ) -> Option<(SideReport, Time)> {
        let last = world.connections.last(flow);
        let shared = last.and_then(|last| {
            let end = self.ends.of(FlowEnd { flow: last, side }, world);
            let multipath = end.as_ref().and_then(|end| end.machine.multipath_stats());
            let counts = end.map(|end| Counts { stats: end.machine.stats(), delays: &mut end.delays });
            let (report, opened) = self.messages.leave(flow, side, counts, world)?;
            Some((SideReport { multipath, ..report }, opened))
        });
        if last.is_some_and(|last| last != flow) {
            return shared;
        }
        let Some((end, place)) = self.ends.remove(FlowEnd { flow, side }, net, world) else { return shared };
        self.protocol.left(&end, place, &mut self.queue, world);
        if side == 0 && world.chosen.is_used() {
            self.close_chosen(end.subflows.as_ref(), &world.flows[end.flow as usize], net);
        }
        if last.is_some() {
            return shared;
        }
        let (tcp, multipath) = (end.machine.stats(), end.machine.multipath_stats());
        let report = SideReport { side, tcp, multipath, delays: end.delays, ..SideReport::default() };
        Some((report, end.opened))
    }

    fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64> {
        let Place::At(place) = world.places.get(world.connections.owner(flow), 1) else { return None };
        let end = self.ends.get(place)?;
        let bytes = match world.connections.last(flow) {
            None => end.machine.received_bytes(self.protocol.config(end.is_within)),
            Some(_) => {
                let positions = self.messages.progress(flow, end.machine.delivered(), world)?;
                positions
                    * if P::UNIT == Unit::Packet {
                        u64::from(world.framings.of_flow(&world.flows[flow as usize]).payload)
                    } else {
                        1
                    }
            }
        };
        Some(bytes.min(world.flows[flow as usize].bytes))
    }

    fn repick(&mut self, cx: &mut Ctx<'_, '_>) {
        let (queue, pacers) = (&mut self.queue, &mut self.pacers);
        for (place, end) in self.ends.all() {
            let FlowEnd { flow, side } = end.owner();
            let whole = &cx.world.flows[flow as usize];
            let instead = cx.nics.instead(cx.net.fabric, whole, side, end.subflows.as_ref());
            for subflow in end.subflows.as_mut() {
                let sport = if side == 0 { subflow.template.sport } else { subflow.template.dport };
                let flow = Flow { sport, ..*whole };
                let addresses = match (&instead, subflow.addresses) {
                    (Some(links), Addresses::Links(both)) => {
                        Addresses::Links(both.map(|number| links[usize::from(number) % links.len()]))
                    }
                    (_, own) => own,
                };
                subflow.nic = cx.nics.attach(cx.net, &flow, side, addresses, &mut subflow.template);
                let line = line::<P>(queue, pacers, side, subflow, cx.net);
                if !P::PACES && end.is_waiting {
                    queue.change(place, subflow.line, line, cx.net);
                }
                subflow.line = line;
            }
        }
        self.protocol.repick(&mut self.ends, cx);
    }

    fn memory(&self) -> usize {
        let ends = self.ends.memory(|end| size_of_val(end.subflows.as_ref()) + end.machine.heap_bytes());
        ends + self.pacers.memory() + self.protocol.memory()
    }
}
