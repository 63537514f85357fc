//! How [`Network`] loses, delivers and copies packets, and counts those that are watched.

use weft_switching::{DropReason, Header, Kind};
use weft_units::{LinkId, NodeId};

use super::Network;
use crate::journal::{Loss, News};
use crate::packet::{PacketId, Way};
use crate::trace::TraceEvent;

impl Network<'_> {
    /// A packet that is no pause frame has crossed `link`, in a round.
    #[inline(always)]
    pub fn cross(&mut self, link: u32, packet: PacketId) {
        self.counters.packet_hops += 1;
        if self.packets.get(packet).is_watched() {
            self.observe(link, packet);
        }
    }

    /// A watched packet has crossed `link`, to a host if it `ends`.
    #[cold]
    pub fn observe(&mut self, link: u32, packet: PacketId) {
        let (at, id) = (link as usize, self.id(link));
        let header = &self.packets.get(packet).header;
        let bytes = u64::from(self.links.wire_bytes(link, header.ip_bytes));
        let floods = &mut self.floods[at];
        if explores(header) {
            floods.explorations += 1;
            floods.exploration_bytes += bytes;
        } else if header.dst.is_group() && header.kind != Kind::Hello {
            floods.broadcasts += 1;
            floods.broadcast_bytes += bytes;
        } else if let Some(way) = self.packets.way(packet).filter(|way| way.links.len() < Way::MAX) {
            way.links.push(id);
        }
    }

    /// Drops a packet at `node`.
    #[cold]
    pub fn drop(&mut self, node: NodeId, packet: PacketId, reason: DropReason) {
        self.drop_because(Ok(node), packet, reason, None);
    }

    /// Drops a packet that link `id` refused or lost.
    #[cold]
    pub fn lose(&mut self, id: LinkId, packet: PacketId, reason: DropReason) {
        self.drop_because(Err(id), packet, reason, None);
    }

    /// Drops a packet at a node or at a link; if the link lost it silently, because of the event with this number.
    pub(super) fn drop_because(
        &mut self,
        place: Result<NodeId, LinkId>,
        packet: PacketId,
        reason: DropReason,
        gray_event: Option<u32>,
    ) {
        self.trace(|net| {
            let seen = net.seen(packet);
            TraceEvent::Dropped { frame: packet, reason, link: place.err(), seen }
        });
        let node = place.unwrap_or_else(|id| self.fabric.link(id).from);
        self.counters.count_drop(reason);
        if let Some(owner) = self.subflow_of(packet)
            && !matches!(reason, DropReason::NotForMe | DropReason::LateCopy)
        {
            let header = &self.packets.get(packet).header;
            // Only the headers of a trimmed packet are left.
            let has_data = header.payload > 0 || header.is_trimmed() && header.kind == Kind::Other;
            let is_control = header.kind.is_control();
            let followed = self.packets.way(packet).is_some();
            let loss = Loss { reason, has_data, followed, is_control, gray_event };
            self.report(node, News::Dropped(owner, loss));
        }
        self.packets.remove(packet);
    }

    /// Removes a packet that has reached its destination.
    pub fn deliver(&mut self, packet: PacketId) {
        self.counters.packets_delivered += 1;
        self.packets.remove(packet);
    }

    /// Copies a packet, for a flood.
    pub fn copy(&mut self, packet: PacketId) -> PacketId {
        self.counters.packets_copied += 1;
        let copy = self.packets.duplicate(packet);
        self.ports.accounts.record_made(copy, Some(packet));
        copy
    }
}

/// Whether switches flood the frame to find or measure paths.
const fn explores(header: &Header) -> bool {
    match header.kind {
        Kind::PathRequest | Kind::RecoveryRequest | Kind::Probe => true,
        // A Path Fail about a flow follows the flow's path.
        Kind::PathFail => !header.is_about_flow(),
        _ => false,
    }
}
