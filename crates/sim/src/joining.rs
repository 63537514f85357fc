//! [`Joining`]: a packet that has to wait joins a queue of its port, is cut, or finds no space.

use weft_switching::Header;

use crate::accounts::Accounts;
use crate::class_queue::Waiting;
use crate::deposit::Deposit;
use crate::packet::PacketId;
use crate::packet::slab::Slab;
use crate::served_port::{ServedPort, is_trimmable};

/// The outcome for a packet that has to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joined {
    /// The packet for which there was no space: it, or one that was cut in its place.
    pub lost: Option<PacketId>,
    /// Whether it was marked.
    pub marked: bool,
    /// A link with flow control whose account has changed, or two.
    pub charged: [Option<u32>; 2],
}

/// The port, the space in its switch, and the packets.
pub struct Joining<'a> {
    /// The port.
    pub port: &'a mut ServedPort,
    /// The space that packets take.
    pub accounts: &'a mut Accounts,
    /// The packets.
    pub packets: &'a mut Slab,
}

impl Joining<'_> {
    /// A packet has to wait, in queue `chosen` if its switch has chosen one and in that of its class with 0. `wire` returns
    /// lengths on the wire, `mark` marks.
    pub fn join(
        &mut self,
        packet: PacketId,
        chosen: u8,
        wire: impl Fn(&Header) -> u32,
        mark: impl Fn(&mut Header) -> bool,
    ) -> Joined {
        let header = &self.packets.get(packet).header;
        let (class, wire_bytes) = (self.port.class_for(header, chosen), wire(header));
        if let Some(charge) = self.accounts.admit(self.port, class, packet, header, wire_bytes) {
            let marked = self.port.draw_mark_joining(class) && mark(&mut self.packets.get_mut(packet).header);
            let charged = self.enter(class, Waiting { packet, wire_bytes, charge });
            return Joined { marked, charged: [charged, None], lost: None };
        }
        if !self.port.trims(header) {
            return Joined { lost: Some(packet), ..Joined::default() };
        }
        self.cut(class, packet, wire_bytes, wire)
    }

    /// A queue has no space for a packet: it is cut, or the last one of the queue is in its place.
    fn cut(
        &mut self,
        class: usize,
        packet: PacketId,
        wire_bytes: u32,
        wire: impl Fn(&Header) -> u32,
    ) -> Joined {
        let (mut joined, mut cut) = (Joined::default(), packet);
        let is_like = |last: &&Waiting| {
            last.wire_bytes >= wire_bytes && is_trimmable(&self.packets.get(last.packet).header)
        };
        if let Some(last) = self.port.queues.last(class).filter(is_like).copied()
            && self.port.draw_trim()
        {
            self.port.queues.take_last(class);
            joined.charged[1] = self.accounts.refund(&Deposit::of(self.port, &last));
            let header = &self.packets.get(packet).header;
            match self.accounts.admit(self.port, class, packet, header, wire_bytes) {
                Some(charge) => {
                    joined.charged[0] = self.enter(class, Waiting { packet, wire_bytes, charge });
                    cut = last.packet;
                }
                // Only another limit than that of the queue can be in the way: both are cut, one is lost.
                None => joined.lost = Some(last.packet),
            }
        }
        self.port.count_trimmed();
        self.packets.get_mut(cut).header.trim();
        let header = &self.packets.get(cut).header;
        let (class, wire_bytes) = (self.port.class_of(header), wire(header));
        match self.accounts.admit(self.port, class, cut, header, wire_bytes) {
            Some(charge) => {
                let charged = self.enter(class, Waiting { packet: cut, wire_bytes, charge });
                joined.charged[0] = joined.charged[0].or(charged);
            }
            None if joined.lost.is_none() => joined.lost = Some(cut),
            None => {}
        }
        joined
    }

    /// Puts a packet into a queue; returns the link with flow control whose account has changed.
    fn enter(&mut self, class: usize, waiting: Waiting) -> Option<u32> {
        self.port.queues.push(class, waiting);
        self.accounts.charge(&Deposit::of(self.port, &waiting))
    }
}
