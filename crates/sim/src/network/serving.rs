//! How [`Network`] serves ports whose packets wait until the line is free, and pauses them. Ports that do not depend on
//! others: `independent.rs`.

use weft_switching::Header;
use weft_units::{Duration, Time};

use super::{Network, mark};
use crate::deposit::Deposit;
use crate::joining::Joined;
use crate::line::line_port;
use crate::packet::PacketId;
use crate::pfc::paused_by;
use crate::served_port::Service;

impl Network<'_> {
    /// A packet reaches a coupled port. Returns the packet for which there is no space, if any.
    #[inline(never)]
    pub(super) fn send_coupled(&mut self, link: u32, packet: PacketId) -> Option<PacketId> {
        let chosen_queue = self.ports.chosen_queue;
        let port = self.ports.get_mut(link)?;
        let header = &self.packets.get(packet).header;
        let class = port.class_for(header, chosen_queue);
        if !port.line_busy && port.paused() >> class & 1 == 0 {
            let wire_bytes = self.links.wire_bytes(link, header.ip_bytes);
            self.put_on_line(link, packet, wire_bytes, self.now);
            return None;
        }
        port.longest = self.links.longest_with(link, self.now, port.queues.bytes(), port.longest);
        let joined = self.join(link, packet);
        joined.charged.into_iter().flatten().for_each(|from| self.announce(from));
        joined.lost
    }

    /// A packet that has to wait joins a queue of its port, is cut or finds no space.
    pub(super) fn join(&mut self, link: u32, packet: PacketId) -> Joined {
        let links = &self.links;
        let wire = |header: &Header| links.wire_bytes(link, header.ip_bytes);
        let joined = self.ports.push(link, packet, &mut self.packets, wire, mark);
        if joined.marked {
            self.links.count_mark(link);
        }
        if joined.lost.is_some() {
            self.links.count_drop(link);
        }
        joined
    }

    /// Puts a packet on the line of a coupled port, which is free at `at`.
    #[inline(always)]
    fn put_on_line(&mut self, link: u32, packet: PacketId, wire_bytes: u32, at: Time) {
        self.ports.accounts.record_link(link, packet);
        self.put_on_link(link, packet, wire_bytes, at);
        if let Some(port) = self.ports.get_mut(link) {
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

    /// Sends the next packet of a coupled port whose line is free at `at`; returns whether there was one.
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
