//! How [`Network`] serves ports whose packets wait until the line is free, and pauses them.

use weft_switching::Header;
use weft_units::Bytes;

use crate::deposit::Deposit;
use crate::line::Offer;
use crate::network::{Network, line_port, mark};
use crate::packet::{Bound, PacketId};
use crate::pfc::paused_by;

impl Network<'_> {
    /// A packet reaches a served port. Returns the packet for which there is no space, if any.
    pub fn send_served(&mut self, link: u32, packet: PacketId) -> Option<PacketId> {
        let port = self.ports.get(link)?;
        let class = port.class_for(&self.packets.get(packet).header, self.ports.chosen_queue);
        let is_paused = port.paused() >> class & 1 == 1;
        if !port.line_busy && !is_paused {
            let wire_bytes = self.links.wire_bytes(link, self.packets.get(packet).header.ip_bytes);
            self.put_on_line(link, packet, wire_bytes);
            return None;
        }
        self.links.note_waiting(link, self.now, Bytes(port.queues.waiting().0));
        let links = &self.links;
        let wire = |header: &Header| links.wire_bytes(link, header.ip_bytes);
        let joined = self.ports.push(link, packet, &mut self.packets, wire, mark);
        if joined.marked {
            self.links.count_mark(link);
        }
        if joined.lost.is_some() {
            self.links.count_drop(link);
        }
        joined.charged.into_iter().flatten().for_each(|from| self.announce(from));
        joined.lost
    }

    fn put_on_line(&mut self, link: u32, packet: PacketId, wire_bytes: u32) {
        if let Some(port) = self.ports.get_mut(link) {
            port.line_busy = true;
        }
        self.ports.record_link(link, packet);
        let offer = self.links.push(link, self.now, Bound::undecided(packet), wire_bytes);
        let free = self.links.busy_until(link);
        match offer {
            Offer::First(arrival, port) => self.queue.bring_forward(link, port.into(), arrival),
            Offer::Leaves(arrival) => self.leave(link, arrival, packet),
            _ => {}
        }
        let port = line_port(self.fabric, self.id(link));
        self.queue.set(self.links.count() + link, port, free);
    }

    /// The line of a served port becomes free: it sends a pause frame that is due, or the scheduler's next packet.
    pub fn line_free(&mut self, link: u32) {
        if self.send_pause_frame(self.back(link)) || self.send_next(link) {
            return;
        }
        if let Some(port) = self.ports.get_mut(link) {
            port.line_busy = false;
        }
        self.queue.clear(self.links.count() + link);
    }

    /// Sends the next packet of a port with a free line; returns whether there was one.
    fn send_next(&mut self, link: u32) -> bool {
        let mut is_marked = false;
        let next = self.ports.pop(link, &mut self.packets, |header| is_marked = mark(header));
        let Some((waiting, charged)) = next else { return false };
        if is_marked {
            self.links.count_mark(link);
        }
        self.put_on_line(link, waiting.packet, waiting.wire_bytes);
        charged.into_iter().for_each(|from| self.announce(from));
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
        let Some(header) = self.ports.news_for(from) else { return false };
        let packet = self.packets.packet_without_segment(&header);
        self.counters.packets_of_switches += 1;
        if let Some(port) = self.ports.get_mut(back) {
            port.count_pause_frame();
        }
        let wire_bytes = self.links.wire_bytes(back, header.ip_bytes);
        self.put_on_line(back, packet, wire_bytes);
        true
    }

    /// A switch with the port of `link` holds a packet; `None` if there is no space.
    pub fn hold(&mut self, link: u32, packet: PacketId) -> Option<Deposit> {
        let header = self.packets.get(packet).header;
        let wire_bytes = self.links.wire_bytes(link, header.ip_bytes);
        let (deposit, charged) = self.ports.hold(link, packet, (&header, wire_bytes))?;
        charged.into_iter().for_each(|from| self.announce(from));
        Some(deposit)
    }

    /// Releases a packet that a switch held, by `leave`; its sender is notified of the freed space only after that.
    pub fn let_go(&mut self, deposit: &Deposit, leave: impl FnOnce(&mut Self)) {
        let charged = self.ports.refund(deposit);
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
            self.send_next(back);
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
