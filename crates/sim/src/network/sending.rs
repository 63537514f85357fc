//! How [`Network`] takes packets in: from nodes, and from other partitions.

use weft_switching::DropReason;

use super::{Crossing, Network, mark};
use crate::line::Offer;
use crate::packet::{Bound, PacketId};
use crate::served_port::Service;
use crate::trace::TraceEvent;

impl Network<'_> {
    /// Takes in a packet from another partition.
    pub fn enter(&mut self, crossing: Crossing) {
        let link = self.numbers[crossing.link.index()];
        let packet = self.packets.put(crossing.detached);
        self.ports.accounts.record_link(link, packet);
        if let Some(arrival) = self.links.enter(link, crossing.arrival, packet) {
            self.expect(link, self.links.far_port(link), arrival);
        }
    }

    /// Enqueues a packet on `link`, or drops it. Returns whether it was accepted.
    #[inline(always)]
    pub fn send(&mut self, link: u32, packet: PacketId) -> bool {
        self.send_on(link, Bound::undecided(packet))
    }

    /// Enqueues a packet for which the next switch may have decided already.
    #[inline(always)]
    pub fn send_on(&mut self, link: u32, bound: Bound) -> bool {
        let packet = bound.packet;
        self.trace(|net| TraceEvent::Sent { frame: packet, link: net.id(link), seen: net.seen(packet) });
        let header = &mut self.packets.get_mut(packet).header;
        match self.links.offer(link, self.now, bound, header.ip_bytes, || mark(header)) {
            Offer::First(arrival, port) => {
                self.expect(link, port.into(), arrival);
                true
            }
            Offer::Queued => true,
            Offer::Leaves(arrival) => {
                self.leave(link, arrival, packet);
                true
            }
            Offer::Full => self.refuse(link, packet, DropReason::QueueFull),
            Offer::Refused => self.send_aside(link, bound),
        }
    }

    /// [`Network::send`] for a link that is down or loses packets, and for a port with several queues.
    #[inline(never)]
    fn send_aside(&mut self, link: u32, bound: Bound) -> bool {
        let packet = bound.packet;
        if !self.links.is_up(link) {
            return self.refuse(link, packet, DropReason::LinkDown);
        }
        if !self.grays.is_empty() && self.is_lost_at_random(link, packet) {
            return false;
        }
        let lost = match self.ports.get(link).map(|port| port.service) {
            Some(Service::Coupled) => self.send_coupled(link, packet),
            Some(Service::Lazy | Service::Timed) => self.send_independent(link, packet),
            None => return self.send_checked(link, bound),
        };
        let Some(lost) = lost else { return true };
        let is_accepted = lost != packet;
        self.refuse(link, lost, DropReason::QueueFull);
        is_accepted
    }

    /// Whether a link that loses packets loses this one.
    #[cold]
    fn is_lost_at_random(&mut self, link: u32, packet: PacketId) -> bool {
        let Some(gray) = self.grays.get_mut(&link) else { return false };
        let Some(reason) = gray.draw_loss(&self.packets.get(packet).header) else { return false };
        let event = gray.event_of(reason);
        self.drop_because(Err(self.id(link)), packet, reason, Some(event));
        true
    }

    /// [`Network::send`] for a FIFO port of a link that loses packets.
    #[cold]
    fn send_checked(&mut self, link: u32, bound: Bound) -> bool {
        let header = &mut self.packets.get_mut(bound.packet).header;
        match self.links.offer_checked(link, self.now, bound, header.ip_bytes, || mark(header)) {
            Offer::First(arrival, port) => self.expect(link, port.into(), arrival),
            Offer::Leaves(arrival) => self.leave(link, arrival, bound.packet),
            Offer::Full => return self.refuse(link, bound.packet, DropReason::QueueFull),
            Offer::Queued | Offer::Refused => {}
        }
        true
    }

    #[cold]
    fn refuse(&mut self, link: u32, packet: PacketId, reason: DropReason) -> bool {
        self.lose(self.id(link), packet, reason);
        false
    }
}
