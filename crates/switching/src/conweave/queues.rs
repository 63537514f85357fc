//! [`Queues`]: the packets of new paths that wait in a switch, in one queue for each flow.

use std::collections::VecDeque;

use weft_units::{PortId, Time};

use super::flow_key::FlowKey;
use super::overlay::Stamp;
use crate::Actions;

/// A queue of waiting packets.
pub(super) struct Queue {
    pub(super) flow: FlowKey,
    /// The epoch for whose `TAIL` the packets wait.
    pub(super) epoch: u8,
    /// When that one left.
    pub(super) tail_sent: Stamp,
    /// When they wait no longer.
    pub(super) until: Time,
    /// The port they leave by.
    pub(super) port: PortId,
    slots: VecDeque<u32>,
}

/// The queues of one switch.
pub(super) struct Queues {
    queues: Vec<Option<Queue>>,
    free: Vec<u16>,
    most: usize,
    free_slots: Vec<u32>,
    /// Slots from here on were never used.
    unused: u32,
    /// A lower bound on the ends of all queues.
    earliest: Time,
}

impl Queues {
    /// Creates an empty set of at most `most` queues.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            queues: Vec::new(),
            free: Vec::new(),
            most,
            free_slots: Vec::new(),
            unused: 0,
            earliest: Time::MAX,
        }
    }

    /// Opens a queue; `None` if there are too many.
    pub(super) fn open(
        &mut self,
        flow: FlowKey,
        epoch: u8,
        tail_sent: Stamp,
        until: Time,
        port: PortId,
    ) -> Option<u16> {
        let place = match self.free.pop() {
            Some(place) => place,
            None if self.queues.len() < self.most => {
                self.queues.push(None);
                (self.queues.len() - 1) as u16
            }
            None => return None,
        };
        self.queues[usize::from(place)] =
            Some(Queue { flow, epoch, tail_sent, until, port, slots: VecDeque::new() });
        self.earliest = self.earliest.min(until);
        Some(place)
    }

    /// The queue at this place.
    pub(super) fn get_mut(&mut self, place: u16) -> Option<&mut Queue> {
        self.queues.get_mut(usize::from(place))?.as_mut()
    }

    /// The slot for one more packet in a queue; `None` if the switch cannot hold more.
    pub(super) fn push(&mut self, place: u16) -> Option<u32> {
        let queue = self.queues.get_mut(usize::from(place))?.as_mut()?;
        let slot = self.free_slots.pop().or_else(|| {
            self.unused += 1;
            (self.unused <= Actions::SLOTS).then(|| self.unused - 1)
        });
        let Some(slot) = slot else {
            self.unused = Actions::SLOTS;
            return None;
        };
        queue.slots.push_back(slot);
        Some(slot)
    }

    /// Closes a queue: its packets leave.
    pub(super) fn close(&mut self, place: u16, out: &mut Actions) -> Option<Queue> {
        let mut queue = self.queues.get_mut(usize::from(place))?.take()?;
        self.free.push(place);
        for slot in queue.slots.drain(..) {
            out.release(slot, queue.port);
            self.free_slots.push(slot);
        }
        Some(queue)
    }

    /// The queue of a flow that is no longer in the switch's table.
    pub(super) fn of(&self, flow: FlowKey) -> Option<u16> {
        let is_of = |queue: &Option<Queue>| queue.as_ref().is_some_and(|queue| queue.flow == flow);
        self.queues.iter().position(is_of).map(|place| place as u16)
    }

    /// The next time at which [`Queues::due`] may find one.
    pub(super) const fn next_due(&self) -> Time {
        self.earliest
    }

    /// The queues whose time has come.
    pub(super) fn due(&mut self, now: Time) -> Vec<u16> {
        let all =
            (0_u16..).zip(&self.queues).filter_map(|(place, queue)| Some((place, queue.as_ref()?.until)));
        let (due, later): (Vec<_>, Vec<_>) = all.partition(|(_, until)| *until <= now);
        self.earliest = later.iter().map(|(_, until)| *until).min().unwrap_or(Time::MAX);
        due.into_iter().map(|(place, _)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use weft_units::Duration;

    use super::*;
    use crate::Action;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn open(queues: &mut Queues, flow: u32, us: u64) -> Option<u16> {
        queues.open(FlowKey(flow), 0, Stamp::default(), at(us), PortId(1))
    }

    #[test]
    fn packets_leave_in_order_and_their_slots_are_used_again() {
        let mut queues = Queues::new(2);
        let (a, b) = (open(&mut queues, 1, 50).unwrap(), open(&mut queues, 2, 20).unwrap());
        assert_eq!(open(&mut queues, 3, 10), None, "there are two queues");
        assert_eq!([a, b, a].map(|place| queues.push(place)), [Some(0), Some(1), Some(2)]);
        let mut out = Actions::default();
        queues.close(a, &mut out).unwrap();
        let send = Action::Send(PortId(1));
        assert_eq!(out.released_ahead(), [(0, send), (2, send)]);
        assert!(queues.close(a, &mut out).is_none());
        assert_eq!(queues.of(FlowKey(2)), Some(b));
        let c = open(&mut queues, 3, 30).unwrap();
        assert_eq!([c, b].map(|place| queues.push(place)), [Some(2), Some(0)]);
    }

    #[test]
    fn queues_are_due_at_their_times() {
        let mut queues = Queues::new(4);
        for (flow, us) in [(1, 50), (2, 20), (3, 30)] {
            open(&mut queues, flow, us);
        }
        assert_eq!(queues.next_due(), at(20));
        assert_eq!((queues.due(at(30)), queues.next_due()), (vec![1, 2], at(50)));
        assert_eq!(queues.due(at(49)), [1, 2], "they are still open");
    }

    #[test]
    fn the_packets_of_a_switch_are_limited() {
        let mut queues = Queues::new(1);
        let place = open(&mut queues, 1, 50).unwrap();
        let taken = (0..Actions::SLOTS + 9).filter(|_| queues.push(place).is_some()).count();
        assert_eq!(taken as u32, Actions::SLOTS);
    }
}
