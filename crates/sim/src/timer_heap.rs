//! [`TimerHeap`]: timers in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_units::Time;

/// The place of a timer among simultaneous ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Before all others, in the order of this number.
    First(u8),
    /// Ordered as scheduled.
    Scheduled,
}

/// Sequence numbers up to this one belong to [`Order::First`].
const FIRST: u32 = u8::MAX as u32;

/// Any number of timers.
pub struct TimerHeap {
    /// The time of the first timer; [`Time::MAX`] if there is none. Here as well, so that looking needs no other cache line.
    first: Time,
    /// Of each timer: its time, the sequence number, and its name.
    heap: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// Timers scheduled so far, modulo the range.
    scheduled: u32,
}

impl Default for TimerHeap {
    fn default() -> Self {
        Self { first: Time::MAX, heap: BinaryHeap::new(), scheduled: 0 }
    }
}

impl TimerHeap {
    /// Schedules timer `id` at `time`.
    pub fn schedule(&mut self, id: u32, time: Time, order: Order) {
        let place = match order {
            Order::First(place) => u32::from(place),
            Order::Scheduled => {
                self.scheduled = if self.scheduled == u32::MAX - FIRST { 1 } else { self.scheduled + 1 };
                FIRST + self.scheduled
            }
        };
        self.heap.push(Reverse((time.ps(), place, id)));
        self.first = self.first.min(time);
    }

    /// The time of the first timer; [`Time::MAX`] if there is none.
    #[inline(always)]
    pub const fn first(&self) -> Time {
        self.first
    }

    fn find_first(&mut self) {
        self.first = self.heap.peek().map_or(Time::MAX, |Reverse((time, ..))| Time::from_ps(*time));
    }

    /// Takes out the first timer: its time and its name.
    pub fn pop(&mut self) -> Option<(Time, u32)> {
        let Reverse((time, _, id)) = self.heap.pop()?;
        self.find_first();
        Some((Time::from_ps(time), id))
    }

    /// Removes the timers that `keep` refuses.
    pub fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.heap.retain(|Reverse((_, _, id))| keep(*id));
        self.find_first();
    }

    /// Bytes of memory held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.heap.capacity() * size_of::<Reverse<(u64, u32, u32)>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simultaneous_timers_come_first_by_place_and_then_as_scheduled() {
        let mut timers = TimerHeap { scheduled: u32::MAX - FIRST - 2, ..TimerHeap::default() };
        assert_eq!(timers.first(), Time::MAX);
        let at = Time::from_ps;
        for (id, time, order) in [
            (9, 5, Order::Scheduled),
            (8, 5, Order::Scheduled),
            (7, 5, Order::First(1)),
            (6, 5, Order::First(0)),
            (3, 4, Order::Scheduled),
            (5, 6, Order::First(0)),
        ] {
            timers.schedule(id, at(time), order);
        }
        timers.retain(|id| id != 8);
        let order: Vec<_> = std::iter::from_fn(|| {
            let first = timers.first();
            timers.pop().inspect(|(time, _)| assert_eq!(*time, first))
        })
        .collect();
        assert_eq!(order, [(at(4), 3), (at(5), 6), (at(5), 7), (at(5), 9), (at(6), 5)]);
        assert_eq!((timers.first(), timers.pop()), (Time::MAX, None));
    }
}
