//! The pending events of a [`Network`]: arrivals, lines that become free, turns and timers, in the event queue or in rounds.

use weft_fabric::Fabric;
use weft_units::{LinkId, Time};

use super::Network;
use crate::event_queue::Due;
use crate::line::line_port;
use crate::link::Links;
use crate::packet::Bound;
use crate::ports::Ports;
use crate::served_port::Service;
use crate::timer::Timer;
use crate::timer_heap::Order;
use crate::turns::Turn;

impl Network<'_> {
    /// Schedules the next arrival of a link whose first packet has arrived, and prefetches for later
    /// events: links about 128 events ahead, their rings 32, and the data of the first packet about 8 events ahead.
    #[inline(always)]
    pub fn advance(&mut self, link: u32, far_port: u16, next: Time, decides_ahead: bool) {
        if !self.prefetches {
            return self.queue.set(link, far_port.into(), next);
        }
        let [soon, later, last] = self.queue.set_and_look_ahead(link, far_port.into(), next);
        // Where nothing is due, any link will do: a branch would be mispredicted.
        let any = self.links.count() - 1;
        self.links.prefetch(last.min(any));
        self.links.prefetch_ring(later.min(any));
        let Bound { packet, egress } = self.links.first(soon.min(any));
        self.packets.prefetch(packet);
        if decides_ahead {
            self.links.prefetch(egress.min(any));
        }
    }

    /// The time of the first event; [`Time::MAX`] if there is none.
    pub fn first_event(&self) -> Time {
        let first = self.queue.first().min(self.rounds.first());
        if self.queue.is_distant() { first.min(self.first_distant()) } else { first }
    }

    /// The link was empty: its next packet arrives at this port of its far end at `arrival`.
    #[inline(always)]
    pub(super) fn expect(&mut self, link: u32, port: u32, arrival: Time) {
        if !self.rounds.is_on() {
            self.queue.bring_forward(link, port, arrival);
        } else if let Some(place) = self.rounds.layout.receiver(link) {
            self.rounds.note(place, arrival);
        }
    }

    /// Schedules a timer of the host that sends on the link `nic`.
    #[inline]
    pub fn schedule(&mut self, nic: u32, timer: Timer, at: Time, order: Order) {
        if !self.rounds.is_on() {
            self.queue.schedule(timer.into(), at, order);
        } else if let Some(place) = self.rounds.layout.sender(nic) {
            self.rounds.schedule(place, timer.into(), at, order);
        }
    }

    /// Removes the timers that `keep` refuses.
    pub fn retain_timers(&mut self, keep: impl Fn(Timer) -> bool) {
        self.queue.retain(|id| keep(id.into()));
        self.rounds.retain(|id| keep(id.into()));
    }

    /// Sets turn `number`, on the link `nic`.
    #[inline]
    pub fn set_turn(&mut self, number: u32, nic: u32, turn: Turn) {
        self.turns.set(number, turn);
        if self.rounds.is_on() {
            self.rounds.note_sender(nic, turn.at);
        } else {
            self.queue.set(self.turns.leaf(number), turn.port, turn.at);
        }
    }

    /// Sets turn `number`, on the link `nic`, if this one is earlier.
    #[inline]
    pub fn bring_turn_forward(&mut self, number: u32, nic: u32, turn: Turn) {
        if self.turns.get(number).is_none_or(|current| turn.at >= current.at) {
            return;
        }
        self.turns.set(number, turn);
        if self.rounds.is_on() {
            self.rounds.note_sender(nic, turn.at);
        } else {
            self.queue.bring_forward(self.turns.leaf(number), turn.port, turn.at);
        }
    }

    /// The next event before the end.
    #[inline(always)]
    pub fn next_event(&mut self) -> Option<(Time, Due)> {
        self.queue.first_leaf().or_else(|| self.next_other())
    }

    /// The next timer, or a distant link's event.
    #[inline(never)]
    fn next_other(&mut self) -> Option<(Time, Due)> {
        if self.queue.is_distant() {
            let first = self.first_distant();
            if first < self.queue.limit() {
                let (links, ports, turns) = (&self.links, &self.ports, &self.turns);
                let (ids, fabric) = (&self.ids, self.fabric);
                self.queue.renew(first, |leaf| match turns.of_leaf(leaf) {
                    Some(turn) => turns.get(turn).map_or((0, Time::MAX), |turn| (turn.port, turn.at)),
                    None => leaf_due(leaf, links, ports, ids, fabric),
                });
                return self.queue.first_leaf();
            }
        }
        self.queue.pop_timer()
    }

    /// The time of the first leaf.
    #[cold]
    fn first_distant(&self) -> Time {
        let leaves = 0..self.links.count() * if self.has_timed { 2 } else { 1 };
        let due = |leaf| leaf_due(leaf, &self.links, &self.ports, &self.ids, self.fabric).1;
        leaves.map(due).min().unwrap_or(Time::MAX).min(self.turns.first())
    }
}

/// The port of a leaf's link at its far end, and when the leaf is due.
fn leaf_due(leaf: u32, links: &Links, ports: &Ports, ids: &[LinkId], fabric: &Fabric) -> (u32, Time) {
    let Some(line) = leaf.checked_sub(links.count()) else {
        return (links.far_port(leaf), links.first_arrival(leaf));
    };
    let is_due = ports.get(line).is_some_and(|port| match port.service {
        Service::Lazy => false,
        Service::Timed => !port.queues.is_empty(),
        Service::Coupled => port.line_busy,
    });
    let free = if is_due { links.busy_until(line) } else { Time::MAX };
    (line_port(fabric, ids[line as usize]), free)
}
