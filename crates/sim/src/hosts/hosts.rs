//! [`Hosts`]: the interface of a transport protocol to the run.

use weft_units::Time;

use super::context::Ctx;
use super::world::World;
use crate::journal::{FlowNumber, SideReport};
use crate::network::{HostKind, Network};
use crate::packet::PacketId;

/// The transport protocol of a partition's hosts.
///
/// It reports to the engine [`News::Opened`](crate::journal::News::Opened) at the source, then
/// [`News::Received`](crate::journal::News::Received) at the destination as soon as all bytes of the flow are there and,
/// if [`Waiting::awaits`](crate::waiting::Waiting::awaits) says that a flow waits for it,
/// [`News::Acknowledged`](crate::journal::News::Acknowledged) at the source as soon as it knows so. Both ends report
/// once that they have closed or given up.
///
/// The owner of a packet is the number of its flow (on a connection that several flows share, of its last flow), then
/// [`HostKind::subflow_bits`] bits of the subflow and the side.
pub trait Hosts: Send {
    /// The kind of these hosts.
    fn kind(&self) -> HostKind;

    /// Opens the connection of a flow at its source.
    fn open(&mut self, flow: FlowNumber, cx: &mut Ctx<'_, '_>);

    /// The source of a flow in parts may send one part more.
    fn go_on(&mut self, flow: FlowNumber, cx: &mut Ctx<'_, '_>);

    /// A packet of a connection reaches its host.
    fn deliver(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_>);

    /// Prefetches the end to which packets with this owner go.
    fn prefetch(&self, owner: u32, world: &World<'_>);

    /// A timer of the end at `place` may be due. Returns whether it was.
    fn timer(&mut self, place: u32, cx: &mut Ctx<'_, '_>) -> bool;

    /// There is space for the sources in this line for an interface.
    fn serve_line(&mut self, line: u32, cx: &mut Ctx<'_, '_>);

    /// Receivers may grant credit for the link of the turn with this number.
    fn grant_credit(&mut self, number: u32, cx: &mut Ctx<'_, '_>);

    /// The turn with this number is due ([`Turns`]): it is set again or never comes again.
    fn turn(&mut self, number: u32, cx: &mut Ctx<'_, '_>);

    /// Flow control resumes queues of the port on a host's link `nic` ([`Network::can_send`]). Packets that waited in
    /// the port follow without this call.
    fn resume(&mut self, nic: u32, cx: &mut Ctx<'_, '_>);

    /// Follows the source's next data segment of a flow, to see its path.
    fn follow(&mut self, flow: FlowNumber, subflow: u8, world: &World<'_>);

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
    fn repick(&mut self, cx: &mut Ctx<'_, '_>);

    /// Bytes of memory held.
    fn memory(&self) -> usize;
}
