//! [`Hosts`]: the interface of a transport protocol, and what it sees of the run.

use std::sync::Arc;

use weft_switching::Forwarding;
use weft_traffic::{Connections, Flow};
use weft_transport::{Framing, Protocol};
use weft_units::{HostId, NodeId, Time};

use crate::journal::{FlowNumber, SideReport};
use crate::network::Network;
use crate::packet::PacketId;
use crate::trace::Tracer;
use crate::turns::Turns;

use super::places::Places;
use crate::waiting::Waiting;

/// [`Hosts::strand_bits`] of most protocols: those of Multipath TCP, which has the most subflows.
pub const STRAND_BITS: u32 = 6;

/// What all hosts of a run know.
pub struct World<'a> {
    /// The flows, in order of start time; of those that wait for others, the earliest.
    pub flows: &'a [Flow],
    /// The transport protocol, and how it divides flows into packets.
    pub transport: &'a Protocol,
    /// See `transport`.
    pub framing: Framing,
    /// The seed of the run.
    pub seed: u64,
    /// Whether hosts know all addresses and switches all stations from the start.
    pub warm: bool,
    /// The places of the flows' ends among those of their partitions.
    pub places: Places,
    /// The flows that wait for others.
    pub waiting: Waiting<'a>,
    /// The flows that share connections.
    pub connections: &'a Connections,
}

/// The links on which the hosts of flows send.
pub trait Nics {
    /// The link on which one side (0: the source) of a flow sends, by the flow's hash or by the number of the
    /// side's address.
    fn nic(&self, net: &Network<'_>, flow: &Flow, side: usize, address: Option<u8>) -> u32;

    /// The routes of the fabric.
    fn routes(&self) -> &Arc<Forwarding>;
}

/// The transport protocol of a partition's hosts.
///
/// It tells the engine of [`News::Opened`](crate::journal::News::Opened) at the source, then of
/// [`News::Received`](crate::journal::News::Received) at the destination as soon as all bytes of the flow are there and,
/// if [`Waiting::awaits`] says that a flow waits for it, of
/// [`News::Acknowledged`](crate::journal::News::Acknowledged) at the source as soon as it knows so. Both ends tell once
/// that they have closed or given up.
///
/// The owner of a packet is the number of its flow (on a connection that several flows share, of its last flow), then
/// [`Hosts::strand_bits`] bits of the subflow and the side.
pub trait Hosts: Send {
    /// Bits of a packet's owner below the flow's number.
    fn strand_bits(&self) -> u32 {
        STRAND_BITS
    }

    /// Whether [`Hosts::foresee_turn`] and [`Hosts::foresee_packet`] do anything.
    fn foresees(&self) -> bool {
        false
    }

    /// Opens the connection of a flow at its source.
    fn open<T: Tracer>(
        &mut self,
        flow: FlowNumber,
        net: &mut Network<'_>,
        nics: &impl Nics,
        world: &World<'_>,
        tracer: &mut T,
    );

    /// A packet of a connection reaches its host.
    fn deliver<T: Tracer>(
        &mut self,
        packet: PacketId,
        net: &mut Network<'_>,
        nics: &impl Nics,
        world: &World<'_>,
        tracer: &mut T,
    );

    /// A timer of the end at `place` may be due. Returns whether it was.
    fn timer<T: Tracer>(
        &mut self,
        place: u32,
        net: &mut Network<'_>,
        nics: &impl Nics,
        world: &World<'_>,
        tracer: &mut T,
    ) -> bool;

    /// There is space for the sources in this line for an interface.
    fn has_space<T: Tracer>(
        &mut self,
        _line: u32,
        _net: &mut Network<'_>,
        _nics: &impl Nics,
        _world: &World<'_>,
        _tracer: &mut T,
    ) {
    }

    /// Whether hosts send a packet when it is its turn on their link, rather than as soon as they have it.
    fn paces(&self) -> bool {
        false
    }

    /// The turn with this number is due ([`Turns`]): it is set again or never comes again.
    fn turn<T: Tracer>(&mut self, _number: u32, _net: &mut Network<'_>, _world: &World<'_>, _tracer: &mut T) {
    }

    /// Prefetches for the turn with this number, of the end at `place`: about 8 turns before it, and about 2 turns before it
    /// (`is_near`).
    fn foresee_turn(&self, _number: u32, _place: u32, _is_near: bool) {}

    /// Prefetches for a packet that reaches its host after about 4 events.
    fn foresee_packet(&self, _packet: PacketId, _net: &Network<'_>, _world: &World<'_>) {}

    /// Prefetches for an arrival that is due some time after that on link `link`.
    #[inline]
    fn foresee(&self, link: u32, net: &Network<'_>, world: &World<'_>) {
        let near = net.queue.first_near(link, 2);
        if near < net.links.count() && net.links.far_end(near).split().is_err() {
            self.foresee_packet(net.links.first(near).packet, net, world);
        }
    }

    /// Prefetches for turns that are due some time after that with this number.
    #[inline]
    fn foresee_turns(&self, number: u32, net: &Network<'_>) {
        for (among, is_near) in [(Turns::NEAR, true), (Turns::FAR, false)] {
            if let Some((number, turn)) = net.turns.first_near(number, among, &net.queue) {
                self.foresee_turn(number, turn.place, is_near);
            }
        }
    }

    /// Flow control lets queues of a host's port on `nic` go on ([`Network::can_send`]). What waited in the port follows
    /// without this call.
    fn resumed<T: Tracer>(
        &mut self,
        _host: HostId,
        _line: u32,
        _net: &mut Network<'_>,
        _nics: &impl Nics,
        _world: &World<'_>,
        _tracer: &mut T,
    ) {
    }

    /// Follows the source's next data segment of a flow, to see its path.
    fn watch(&mut self, flow: FlowNumber, subflow: u8, world: &World<'_>);

    /// One side of a flow leaves: its counts, and when it was opened. `None` if it never came.
    fn leave(
        &mut self,
        flow: FlowNumber,
        side: usize,
        net: &mut Network<'_>,
        world: &World<'_>,
    ) -> Option<(SideReport, Time)>;

    /// Bytes that the destination's application has received; `None` if the destination is not here.
    fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64>;

    /// Links have changed: hosts pick the links on which they send again.
    fn repick(&mut self, net: &mut Network<'_>, nics: &impl Nics, world: &World<'_>);

    /// Bytes of memory held.
    fn memory(&self) -> usize;
}

/// The node of a host.
pub fn node_of(net: &Network<'_>, host: HostId) -> NodeId {
    net.fabric.host_node(host)
}
