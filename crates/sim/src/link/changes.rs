//! How [`Links`] fail, heal and change their rates.

use weft_units::{Duration, Rate, Time, TxClock};

use super::Links;
use crate::link_state::{ASIDE, LEAVES, SLOW, UP};
use crate::packet::PacketId;

impl Links {
    /// Takes the link down and empties it; returns the lost packets. Those of a link that leaves are at its far end.
    pub fn fail(&mut self, link: u32, now: Time) -> Vec<PacketId> {
        let at = &mut self.links[link as usize];
        at.flags &= !UP;
        at.room = 0;
        let unsent = at.backlog(now).0;
        let rest = &mut self.rest[link as usize];
        let left = rest.bytes(at.wire_bytes).saturating_sub(unsent);
        (rest.byte_wraps, at.wire_bytes) = ((left >> 32) as u32, left as u32);
        at.busy_until = now;
        let mut lost = Vec::new();
        while at.head != at.tail {
            lost.push(self.arena[at.slot(at.head)].bound.packet);
            at.head = at.head.wrapping_add(1);
        }
        if at.flags & LEAVES != 0 {
            lost.clear();
        }
        lost
    }

    /// Brings the link back up.
    pub fn heal(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        at.flags |= UP;
        at.find_room(&self.rest[link as usize]);
    }

    /// Lets the network handle each packet first, or no longer.
    pub fn set_aside(&mut self, link: u32, aside: bool) {
        let at = &mut self.links[link as usize];
        at.flags = if aside { at.flags | ASIDE } else { at.flags & !ASIDE };
        at.find_room(&self.rest[link as usize]);
    }

    /// Changes the rate from `old` to `new`. All that has not left the port at `now` is sent at the new rate,
    /// including the rest of a packet on the wire.
    pub fn set_rate(&mut self, link: u32, now: Time, old: Rate, new: Rate) {
        let at = &mut self.links[link as usize];
        let rest = &mut self.rest[link as usize];
        let longest = Duration::from_ps(u64::from(at.max_backlog) << at.grain());
        rest.max_backlog = rest.max_backlog.max(at.clock.bytes_in(longest));
        at.max_backlog = 0;
        at.flags = if new < Rate::from_gbps(1) { at.flags | SLOW } else { at.flags & !SLOW };
        at.clock = TxClock::new(new);
        at.find_room(rest);
        let departure = |departure: Time| {
            let left = u128::from(departure.saturating_since(now).ps());
            let left = left * u128::from(old.bps()) / u128::from(new.bps());
            now + Duration::from_ps(u64::try_from(left).unwrap_or(u64::MAX / 4))
        };
        if at.busy_until > now {
            at.busy_until = departure(at.busy_until);
        }
        let (mut place, tail, delay) = (at.head, at.tail, at.delay);
        while place != tail {
            let arrival = &mut self.arena[at.slot(place)].arrival;
            if *arrival > (now + delay).ps() {
                *arrival = (departure(Time::from_ps(*arrival - delay.ps())) + delay).ps();
            }
            place = place.wrapping_add(1);
        }
    }
}
