//! How [`Network`] serves ports whose packets wait until the line is free, and pauses them.

use weft_switching::Header;
use weft_units::{Duration, Time};

use super::{Network, mark};
use crate::deposit::Deposit;
use crate::line::{FarEnd, Offer, line_port};
use crate::packet::{Bound, PacketId};
use crate::pfc::paused_by;
use crate::served_port::Service;

impl Network<'_> {
    /// A packet reaches a served port. Returns the packet for which there is no space, if any.
    #[inline]
    pub fn send_served(&mut self, link: u32, packet: PacketId) -> Option<PacketId> {
        // Served before it: those whose turn came by now, now included.
        let has_served = self.serve_before(link, self.now + Duration::PICOSECOND);
        let chosen_queue = self.ports.chosen_queue;
        let port = self.ports.get_mut(link)?;
        let (is_first, is_coupled) = (port.queues.is_empty(), port.service == Service::Coupled);
        let is_busy = match port.service {
            Service::Coupled => {
                let class = port.class_for(&self.packets.get(packet).header, chosen_queue);
                port.line_busy || port.paused() >> class & 1 == 1
            }
            Service::Lazy | Service::Timed => self.links.busy_until(link) > self.now,
        };
        if !is_busy {
            let wire_bytes = self.links.wire_bytes(link, self.packets.get(packet).header.ip_bytes);
            self.put_on_line(link, packet, wire_bytes, self.now);
            return None;
        }
        port.longest = port.longest.max(self.links.backlog(link, self.now) + port.queues.bytes());
        let links = &self.links;
        let wire = |header: &Header| links.wire_bytes(link, header.ip_bytes);
        let joined = self.ports.push(link, packet, &mut self.packets, wire, mark);
        if joined.marked {
            self.links.count_mark(link);
        }
        if joined.lost.is_some() {
            self.links.count_drop(link);
        }
        if has_served || is_first {
            self.time_line(link);
        }
        if is_coupled {
            joined.charged.into_iter().flatten().for_each(|from| self.announce(from));
        }
        joined.lost
    }

    /// Puts a packet on the line of a served port, which is free at `at`.
    #[inline(always)]
    fn put_on_line(&mut self, link: u32, packet: PacketId, wire_bytes: u32, at: Time) {
        self.ports.accounts.record_link(link, packet);
        let offer = self.links.push(link, at, Bound::undecided(packet), wire_bytes);
        match offer {
            Offer::First(arrival, port) => self.expect(link, port.into(), arrival),
            Offer::Leaves(arrival) => self.leave(link, arrival, packet),
            _ => {}
        }
        if let Some(port) = self.ports.get_mut(link)
            && port.service == Service::Coupled
        {
            port.line_busy = true;
            self.set_line(link, self.links.busy_until(link));
        }
    }

    /// Sets when the line of a port becomes free.
    pub fn set_line(&mut self, link: u32, free: Time) {
        if self.rounds.is_on() {
            return self.rounds.note_sender(link, free);
        }
        self.queue.set(self.links.count() + link, line_port(self.fabric, self.id(link)), free);
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

    /// The line of a served port becomes free. A coupled port sends a pause frame that is due, or the scheduler's next
    /// packet; another one all packets whose turn has come. Returns whether it counts as an event: the division decides
    /// if a port that is not coupled is served in one.
    pub fn line_free(&mut self, link: u32) -> bool {
        if self.ports.get(link).is_none_or(|port| port.service != Service::Coupled) {
            self.serve_before(link, self.now + Duration::PICOSECOND);
            self.time_line(link);
            return false;
        }
        self.counters.events += 1;
        if self.send_pause_frame(self.back(link)) || self.send_next(link, self.now) {
            return true;
        }
        if let Some(port) = self.ports.get_mut(link) {
            port.line_busy = false;
        }
        self.queue.clear(self.links.count() + link);
        true
    }

    /// Serves the packets of a port that is not coupled whose turn came before `end`; returns whether there were any.
    #[inline(always)]
    pub fn serve_before(&mut self, link: u32, end: Time) -> bool {
        let mut has_served = false;
        while let Some(free) = self.next_choice(link)
            && free < end
            && self.send_next(link, free)
        {
            has_served = true;
        }
        has_served
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

    /// Sends the next packet of a port whose line is free at `at`; returns whether there was one.
    #[inline(never)]
    fn send_next(&mut self, link: u32, at: Time) -> bool {
        let mut is_marked = false;
        let next = self.ports.pop(link, &mut self.packets, |header| is_marked = mark(header));
        let Some((waiting, charged)) = next else { return false };
        if is_marked {
            self.links.count_mark(link);
        }
        self.put_on_line(link, waiting.packet, waiting.wire_bytes, at);
        if let Some(from) = charged {
            self.announce(from);
        }
        true
    }

    /// Tells the sender of `from` which of its queues are paused, if that has changed and the line is free.
    fn announce(&mut self, from: u32) {
        let back = self.back(from);
        if self.ports.get(back).is_some_and(|port| !port.line_busy) && self.links.is_up(back) {
            self.send_pause_frame(from);
        }
    }

    /// Sends a pause frame to the sender of `from` over a line that is free; returns whether one was due.
    fn send_pause_frame(&mut self, from: u32) -> bool {
        let back = self.back(from);
        let Some(header) = self.ports.accounts.take_pause_frame(from) else { return false };
        let packet = self.packets.packet_without_segment(&header);
        self.counters.packets_of_switches += 1;
        if let Some(port) = self.ports.get_mut(back) {
            port.count_pause_frame();
        }
        let wire_bytes = self.links.wire_bytes(back, header.ip_bytes);
        self.put_on_line(back, packet, wire_bytes, self.now);
        true
    }

    /// A switch with the port of `link` holds a packet; `None` if there is no space.
    pub fn hold(&mut self, link: u32, packet: PacketId) -> Option<Deposit> {
        let header = self.packets.get(packet).header;
        let wire_bytes = self.links.wire_bytes(link, header.ip_bytes);
        let buffer = self.ports.get(link).and_then(|port| port.buffer);
        let (deposit, charged) = self.ports.accounts.hold(buffer, packet, &header, wire_bytes)?;
        charged.into_iter().for_each(|from| self.announce(from));
        Some(deposit)
    }

    /// Releases a packet that a switch held, by `leave`; its sender is notified of the freed space only after that.
    pub fn let_go(&mut self, deposit: &Deposit, leave: impl FnOnce(&mut Self)) {
        let charged = self.ports.accounts.refund(deposit);
        leave(self);
        charged.into_iter().for_each(|from| self.announce(from));
    }

    /// Whether a packet that belongs to no connection is a pause frame.
    #[cold]
    #[inline(never)]
    pub fn is_pause_frame(&self, packet: PacketId) -> bool {
        paused_by(&self.packets.get(packet).header).is_some()
    }

    /// A pause frame has come over `link`. Returns the link of the port whose queues resume, if any do.
    pub fn heed_pause_frame(&mut self, link: u32, packet: PacketId) -> Option<u32> {
        let paused = paused_by(&self.packets.get(packet).header)?;
        self.deliver(packet);
        let back = self.back(link);
        let now = self.now;
        let port = self.ports.get_mut(back)?;
        let resumes = port.heed(now, paused);
        if resumes && !port.line_busy {
            self.send_next(back, now);
        }
        resumes.then_some(back)
    }

    /// Whether a host's packets with this traffic class leave its port on `nic` when their turn comes: flow control has
    /// not paused their queue.
    pub fn can_send(&self, nic: u32, traffic_class: u8) -> bool {
        let header = Header { traffic_class, ..Header::default() };
        self.ports.get(nic).is_none_or(|port| port.paused() >> port.class_of(&header) & 1 == 0)
    }

    /// Empties the port of a link that goes down; returns its packets.
    pub fn clear_port(&mut self, link: u32) -> Vec<PacketId> {
        let (lost, charged) = self.ports.clear(link, self.now);
        charged.into_iter().for_each(|from| self.announce(from));
        lost
    }

    /// A link is up again: the paused queues are announced in both directions.
    pub fn resume_flow_control(&mut self, link: u32) {
        if self.ports.is_empty() {
            return;
        }
        for (link, back) in [(link, self.back(link)), (self.back(link), link)] {
            self.ports.reassess(link, back);
            self.announce(link);
        }
    }
}
