//! How packets arrive over [`Links`].

use weft_units::{Duration, Time};

use super::Links;
use crate::line::FarEnd;
use crate::link_state::{InFlight, LEAVES};
use crate::packet::{Bound, PacketId};

impl Links {
    /// The port at the far end.
    #[inline(always)]
    pub fn far_port(&self, link: u32) -> u32 {
        self.links[link as usize].far_port.into()
    }

    /// Removes the packet that has arrived. Returns it, the next packet's arrival time ([`Time::MAX`] if
    /// there is none), the far end and its port.
    #[inline(always)]
    pub fn arrive(&mut self, link: u32) -> (Bound, Time, FarEnd, u16) {
        let at = &mut self.links[link as usize];
        let InFlight { bound, .. } = self.arena[at.slot(at.head)];
        at.head = at.head.wrapping_add(1);
        let next = self.arena[at.slot(at.head)].arrival;
        let empty = at.head == at.tail;
        let arrival = std::hint::select_unpredictable(empty, u64::MAX, next);
        (bound, Time::from_ps(arrival), at.far_end, at.far_port)
    }

    /// Removes the packets that arrive before `end`, which are passed to `take` with their arrival times and the port at the
    /// far end. Returns the next packet's arrival time; [`Time::MAX`] if there is none.
    #[inline(always)]
    pub fn take_before(&mut self, link: u32, end: Time, mut take: impl FnMut(Time, PacketId, u16)) -> Time {
        let at = &mut self.links[link as usize];
        while at.head != at.tail {
            let InFlight { arrival, bound } = self.arena[at.slot(at.head)];
            if arrival >= end.ps() {
                return Time::from_ps(arrival);
            }
            at.head = at.head.wrapping_add(1);
            take(Time::from_ps(arrival), bound.packet, at.far_port);
        }
        Time::MAX
    }

    /// When the next packet arrives in this partition; [`Time::MAX`] if there is none.
    pub fn first_arrival(&self, link: u32) -> Time {
        let at = &self.links[link as usize];
        if at.head == at.tail || at.flags & LEAVES != 0 {
            Time::MAX
        } else {
            Time::from_ps(self.arrival(at, 0))
        }
    }

    /// Adds a packet that another partition sent; returns its arrival if it is the only one.
    pub fn enter(&mut self, link: u32, arrival: Time, packet: PacketId) -> Option<Time> {
        let at = &self.links[link as usize];
        if at.tail.wrapping_sub(at.head) > at.mask() {
            self.grow(link);
        }
        let at = &mut self.links[link as usize];
        let first = at.tail == at.head;
        at.base = if first { at.tail } else { at.base };
        let slot = at.slot(at.tail);
        at.tail = at.tail.wrapping_add(1);
        self.arena[slot] = InFlight { arrival: arrival.ps(), bound: Bound::undecided(packet) };
        first.then_some(arrival)
    }

    /// Takes the packets out of the ring of a link that leaves that have reached the other partition. No event does.
    #[inline(always)]
    pub(super) fn forget_arrived(&mut self, link: u32, now: Time) {
        if self.links[link as usize].flags & LEAVES != 0 {
            self.take_before(link, now + Duration::PICOSECOND, |_, _, _| {});
        }
    }
}
