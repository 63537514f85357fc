//! How [`Network`] serves ports that do not depend on others: their choices are deferred ([`Service::Lazy`],
//! [`Service::Timed`]). Where ports have several queues or trim, most packets take this way.

use weft_units::{Duration, Time};

use super::{Network, mark};
use crate::charge::Charge;
use crate::class_queue::Waiting;
use crate::line::{FarEnd, Offer};
use crate::packet::{Bound, PacketId};
use crate::served_port::Service;

impl Network<'_> {
    /// A packet reaches a port that is not coupled. Returns the packet for which there is no space, if any.
    #[inline(always)]
    pub(super) fn send_independent(&mut self, link: u32, packet: PacketId) -> Option<PacketId> {
        // Served before it: those whose turn came by now, now included.
        let has_served = self.serve_before(link, self.now + Duration::PICOSECOND);
        let chosen_queue = self.ports.chosen_queue;
        let port = self.ports.get_mut(link)?;
        let header = &mut self.packets.get_mut(packet).header;
        let wire_bytes = self.links.wire_bytes(link, header.ip_bytes);
        if self.links.busy_until(link) <= self.now {
            self.put_on_link(link, packet, wire_bytes, self.now);
            return None;
        }
        let is_first = port.queues.is_empty();
        port.longest = self.links.longest_with(link, self.now, port.queues.bytes(), port.longest);
        let class = port.class_for(header, chosen_queue);
        let lost = if port.queues.fits(class, wire_bytes) {
            if port.draw_mark_joining(class) && mark(header) {
                self.links.count_mark(link);
            }
            port.queues.push(class, Waiting { packet, wire_bytes, charge: Charge::NOTHING });
            None
        } else {
            self.join(link, packet).lost
        };
        // With packets served, the next choice is later than the event that is set.
        if has_served || is_first {
            self.time_line(link);
        }
        lost
    }

    /// Puts a packet on a link whose line is free at `at`.
    #[inline(always)]
    pub(super) fn put_on_link(&mut self, link: u32, packet: PacketId, wire_bytes: u32, at: Time) {
        if self.asks_telemetry {
            self.tell(link, packet, at);
        }
        match self.links.push(link, at, Bound::undecided(packet), wire_bytes) {
            Offer::First(arrival, port) => self.expect(link, port.into(), arrival),
            Offer::Leaves(arrival) => self.leave(link, arrival, packet),
            _ => {}
        }
    }

    /// Sets when a timed port is served next, if packets wait; in rounds, also when the next choice of a lazy one is due.
    pub fn time_line(&mut self, link: u32) {
        let next = self.next_choice(link).unwrap_or(Time::MAX);
        match self.ports.get(link).map(|port| port.service) {
            Some(Service::Timed) => self.set_line(link, next),
            Some(Service::Lazy) if self.rounds.is_on() => self.rounds.note_sender(link, next),
            _ => {}
        }
    }

    /// Serves the packets of a port that is not coupled whose turn came before `end`; returns whether there were any.
    #[inline(always)]
    pub fn serve_before(&mut self, link: u32, end: Time) -> bool {
        let is_due = self.next_choice(link).is_some_and(|free| free < end);
        if is_due {
            self.serve_due(link, end);
        }
        is_due
    }

    /// Serves the packets whose turn came before `end`.
    #[inline(never)]
    fn serve_due(&mut self, link: u32, end: Time) {
        while let Some(free) = self.next_choice(link).filter(|free| *free < end)
            && let Some(port) = self.ports.get_mut(link)
            && let Some((waiting, is_drawn)) = port.take_next()
        {
            if is_drawn && mark(&mut self.packets.get_mut(waiting.packet).header) {
                self.links.count_mark(link);
            }
            self.put_on_link(link, waiting.packet, waiting.wire_bytes, free);
        }
    }

    /// When a port that is not coupled chooses the next packet, if any waits.
    #[inline(always)]
    fn next_choice(&self, link: u32) -> Option<Time> {
        let port = self.ports.get(link)?;
        (port.service != Service::Coupled && !port.queues.is_empty()).then(|| self.links.busy_until(link))
    }

    /// Serves the packets of all ports that are not coupled whose turn came before `end`: they are to be looked at.
    pub fn serve_all_before(&mut self, end: Time) {
        if self.ports.is_empty() {
            return;
        }
        for link in 0..self.links.count() {
            if self.serve_before(link, end) {
                self.time_line(link);
            }
        }
    }

    /// Serves the packets of a switch's ports whose turn came before `end`; returns when the first of those left is due.
    pub fn serve_switch_before(&mut self, switch: usize, end: Time) -> Time {
        let mut next = Time::MAX;
        if self.ports.is_empty() {
            return next;
        }
        for link in self.rounds.layout.outgoing(switch) {
            self.serve_before(link, end);
            next = next.min(self.next_choice(link).unwrap_or(Time::MAX));
        }
        next
    }

    /// Removes the packet that has arrived over a link, as [`Links::arrive`] does. If it was the last one there, a lazy
    /// port sends first: the next arrival is known.
    ///
    /// [`Links::arrive`]: crate::link::Links::arrive
    #[inline(always)]
    pub fn arrive(&mut self, link: u32) -> (Bound, Time, FarEnd, u16) {
        let (bound, next, far_end, far_port) = self.links.arrive(link);
        // A comparison of `next` here would turn the choice in `Links::arrive` into a branch that is mispredicted: fabrics
        // without such ports lost 7 %.
        let next = if self.has_lazy { self.refill(link, next) } else { next };
        (bound, next, far_end, far_port)
    }

    /// The next arrival over a link: `next` or, if the link is empty ([`Time::MAX`]), the first packet that its port sends.
    #[cold]
    #[inline(never)]
    fn refill(&mut self, link: u32, next: Time) -> Time {
        if next < Time::MAX {
            return next;
        }
        self.serve_before(link, self.now + Duration::PICOSECOND);
        self.links.first_arrival(link)
    }
}
