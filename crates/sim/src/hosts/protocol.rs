//! [`Hosts`]: the interface of a transport protocol, and what it sees of the run.

use weft_units::{HostId, Time};

use super::context::Ctx;
use super::world::World;
use crate::journal::{FlowNumber, SideReport};
use crate::network::Network;
use crate::packet::PacketId;
use crate::trace::Tracer;
use crate::turns::Turns;

/// [`Hosts::strand_bits`] of most protocols: those of Multipath TCP, which has the most subflows.
pub const STRAND_BITS: u32 = 6;

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
    fn open<T: Tracer>(&mut self, flow: FlowNumber, cx: &mut Ctx<'_, '_, T>);

    /// A packet of a connection reaches its host.
    fn deliver<T: Tracer>(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_, T>);

    /// A timer of the end at `place` may be due. Returns whether it was.
    fn timer<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) -> bool;

    /// There is space for the sources in this line for an interface.
    fn has_space<T: Tracer>(&mut self, _line: u32, _cx: &mut Ctx<'_, '_, T>) {}

    /// Whether hosts send a packet when it is its turn on their link, rather than as soon as they have it.
    fn paces(&self) -> bool {
        false
    }

    /// The turn with this number is due ([`Turns`]): it is set again or never comes again.
    fn turn<T: Tracer>(&mut self, _number: u32, _cx: &mut Ctx<'_, '_, T>) {}

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
    fn resumed<T: Tracer>(&mut self, _host: HostId, _line: u32, _cx: &mut Ctx<'_, '_, T>) {}

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
    fn repick(&mut self, cx: &mut Ctx<'_, '_, impl Tracer>);

    /// Bytes of memory held.
    fn memory(&self) -> usize;
}
