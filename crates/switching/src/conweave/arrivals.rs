//! [`Arrivals`]: the flows that end at a switch, and which of their packets wait for earlier ones.

use weft_units::{Duration, PortId, Time};

use super::flow_key::FlowKey;
use super::overlay::{Request, Stamp, Tag};
use super::queues::{Queue, Queues};
use crate::Actions;
use crate::soft_table::SoftTable;

/// A flow.
#[derive(Clone, Copy)]
struct Arrival {
    epoch: u8,
    /// Packets of the new path need not wait: the `TAIL` of the epoch is there, or was waited for in vain.
    is_clear: bool,
    /// When the last packet on the old path of the epoch left its switch and arrived here.
    old: Option<(Stamp, Time)>,
    queue: Option<u16>,
}

/// How a packet is handled on arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PacketAction {
    Leaves,
    /// Held in this slot.
    Waits(u32),
    /// Sent, followed by all packets of this queue.
    LeavesBefore(u16),
}

/// How long packets wait.
#[derive(Clone, Copy)]
pub(super) struct Waits {
    /// Without a prediction of the arrival of the `TAIL`.
    pub(super) unpredicted: Duration,
    /// After the predicted time, or without a prediction after [`Waits::unpredicted`].
    pub(super) slack: Duration,
    /// At most, from the packet's arrival.
    pub(super) longest: Duration,
}

/// The flows.
pub(super) struct Arrivals {
    flows: SoftTable<FlowKey, Arrival>,
    waits: Waits,
}

impl Arrivals {
    /// At most `size` flows, each forgotten `aging` after its last packet.
    pub(super) fn new(size: usize, aging: Duration, waits: Waits, secret: u64) -> Self {
        Self { flows: SoftTable::new(size, &[aging], secret), waits }
    }

    /// How to handle a packet that is to leave at `port`.
    pub(super) fn next(
        &mut self,
        flow: FlowKey,
        tag: Tag,
        now: Time,
        queues: &mut Queues,
        port: PortId,
        out: &mut Actions,
    ) -> PacketAction {
        let is_tail = tag.request == Request::Clear;
        if self.flows.refresh(&flow, now).is_none() {
            let fresh = Arrival { epoch: tag.epoch, is_clear: false, old: None, queue: None };
            let evicted = self.flows.insert(flow, fresh, 0, now);
            if let Some(place) = evicted.and_then(|evicted| queues.of(evicted)) {
                queues.close(place, out);
            }
        }
        let waits = self.waits;
        let Some(entry) = self.flows.refresh(&flow, now) else { return PacketAction::Leaves };
        let behind = tag.epoch.wrapping_sub(entry.epoch) as i8;
        if behind > 0 {
            *entry = Arrival { epoch: tag.epoch, is_clear: false, old: None, queue: entry.queue };
        }
        if behind >= 0 && !tag.rerouted {
            entry.old = Some((tag.sent, now));
            entry.is_clear |= is_tail;
        }
        let Some((place, queue)) =
            entry.queue.and_then(|place| queues.get_mut(place).map(|queue| (place, queue)))
        else {
            entry.queue = None;
            if behind < 0 || !tag.rerouted || entry.is_clear {
                return PacketAction::Leaves;
            }
            let until = predicted(entry.old, tag.tail_sent, now, waits);
            if until <= now {
                entry.is_clear = true;
                return PacketAction::Leaves;
            }
            entry.queue = queues.open(flow, tag.epoch, tag.tail_sent, until, port);
            let slot = entry.queue.and_then(|place| queues.push(place));
            return slot.map_or(PacketAction::Leaves, PacketAction::Waits);
        };
        if queue.epoch != tag.epoch || tag.rerouted {
            // Newer than those that wait; or older, and nothing waits for it.
            let is_older = (tag.epoch.wrapping_sub(queue.epoch) as i8) < 0;
            let slot = if is_older { None } else { queues.push(place) };
            return slot.map_or(PacketAction::Leaves, PacketAction::Waits);
        }
        if is_tail {
            entry.queue = None;
            return PacketAction::LeavesBefore(place);
        }
        // The old path may be slower than predicted. It may also be faster, but the timer is set already.
        queue.until = predicted(Some((tag.sent, now)), queue.tail_sent, now, waits).max(queue.until);
        PacketAction::Leaves
    }

    /// The packets of a queue have waited in vain.
    pub(super) fn gave_up(&mut self, queue: &Queue, now: Time) {
        if let Some(entry) = self.flows.refresh(&queue.flow, now) {
            entry.queue = None;
            entry.is_clear |= entry.epoch == queue.epoch;
        }
    }

    /// How many there are.
    pub(super) fn len(&mut self, now: Time) -> usize {
        self.flows.sweep(now);
        self.flows.len()
    }
}

/// Until when packets wait for the `TAIL` that left at `tail_sent`: it should take as long as the last packet on the old
/// path.
fn predicted(old: Option<(Stamp, Time)>, tail_sent: Stamp, now: Time, waits: Waits) -> Time {
    let until = match old {
        Some((sent, arrived)) => arrived + tail_sent.since(sent),
        None => now + waits.unpredicted,
    };
    (until + waits.slack).min(now + waits.longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;

    const FLOW: FlowKey = FlowKey(7);
    const WAITS: Waits = Waits {
        unpredicted: Duration::from_us(200),
        slack: Duration::from_us(16),
        longest: Duration::from_us(316),
    };

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    struct End {
        arrivals: Arrivals,
        queues: Queues,
        out: Actions,
    }

    impl End {
        fn new() -> Self {
            let arrivals = Arrivals::new(8, Duration::from_ms(2), WAITS, 1);
            Self { arrivals, queues: Queues::new(4), out: Actions::default() }
        }

        /// A packet of this epoch, sent at one time and arriving at another, after the `TAIL` of 100 us if it is rerouted.
        fn next(
            &mut self,
            epoch: u8,
            rerouted: bool,
            [sent, us]: [u64; 2],
            request: Request,
        ) -> PacketAction {
            let (sent, tail_sent) = (Stamp::new(at(sent)), Stamp::new(at(100)));
            let tag = Tag { request, rerouted, epoch, path: [0; 2], sent, tail_sent };
            self.arrivals.next(FLOW, tag, at(us), &mut self.queues, PortId(1), &mut self.out)
        }

        /// The slots of packets that leave once the queue is closed.
        fn closed(&mut self, place: u16) -> Vec<u32> {
            self.queues.close(place, &mut self.out);
            let slots = self.out.released_ahead().iter().map(|(slot, action)| {
                assert_eq!(*action, Action::Send(PortId(1)));
                *slot
            });
            let slots = slots.collect();
            self.out.clear();
            slots
        }
    }

    #[test]
    fn packets_of_the_new_path_wait_for_the_tail() {
        let mut end = End::new();
        assert_eq!(end.next(3, false, [60, 90], Request::RoundTrip), PacketAction::Leaves);
        assert_eq!(end.next(3, true, [101, 112], Request::Nothing), PacketAction::Waits(0));
        assert_eq!(end.next(3, true, [102, 113], Request::Nothing), PacketAction::Waits(1));
        assert_eq!(end.next(3, false, [99, 130], Request::Nothing), PacketAction::Leaves, "of the old path");
        let PacketAction::LeavesBefore(place) = end.next(3, false, [100, 131], Request::Clear) else {
            panic!()
        };
        assert_eq!(end.closed(place), [0, 1]);
        assert_eq!(end.next(3, true, [110, 132], Request::Nothing), PacketAction::Leaves);
        assert_eq!(end.next(4, false, [140, 150], Request::RoundTrip), PacketAction::Leaves);
        assert_eq!(end.next(4, true, [141, 151], Request::Nothing), PacketAction::Waits(1));
    }

    #[test]
    fn the_wait_ends_when_the_tail_should_have_come() {
        let mut end = End::new();
        end.next(3, false, [60, 90], Request::RoundTrip);
        end.next(3, true, [101, 112], Request::Nothing);
        // 40 us after the last packet on the old path, and the slack.
        let until = end.queues.next_due();
        assert!((until.ps() as f64 / 1e6 - 146.0).abs() < 0.2, "{until:?}");
        let [place] = end.queues.due(until)[..] else { panic!() };
        let queue = end.queues.close(place, &mut end.out).unwrap();
        end.arrivals.gave_up(&queue, until);
        assert_eq!(end.next(3, true, [103, 160], Request::Nothing), PacketAction::Leaves);
        let mut slower = End::new();
        slower.next(3, false, [60, 90], Request::RoundTrip);
        slower.next(3, true, [101, 112], Request::Nothing);
        slower.next(3, false, [70, 140], Request::Nothing);
        assert!(slower.queues.due(until).is_empty(), "the old path takes 70 us");
        let until = slower.queues.next_due();
        assert!((until.ps() as f64 / 1e6 - 186.0).abs() < 0.2, "{until:?}");
        let mut unknown = End::new();
        unknown.next(3, true, [101, 112], Request::Nothing);
        assert_eq!(unknown.queues.next_due(), at(112 + 216));
    }

    #[test]
    fn packets_of_a_later_epoch_wait_behind_and_those_of_an_earlier_one_do_not() {
        let mut end = End::new();
        end.next(3, true, [101, 112], Request::Nothing);
        assert_eq!(end.next(4, false, [200, 210], Request::RoundTrip), PacketAction::Waits(1));
        assert_eq!(end.next(2, true, [10, 211], Request::Nothing), PacketAction::Leaves);
        assert_eq!(end.next(3, true, [102, 212], Request::Nothing), PacketAction::Waits(2));
        let PacketAction::LeavesBefore(place) = end.next(3, false, [100, 213], Request::Clear) else {
            panic!()
        };
        assert_eq!(end.closed(place), [0, 1, 2]);
    }

    #[test]
    fn a_flow_that_the_table_loses_leaves_no_packet_behind() {
        let mut end = End::new();
        end.arrivals = Arrivals::new(1, Duration::from_ms(2), WAITS, 1);
        assert_eq!(end.next(3, true, [101, 112], Request::Nothing), PacketAction::Waits(0));
        let tag = Tag::default();
        end.arrivals.next(FlowKey(8), tag, at(113), &mut end.queues, PortId(2), &mut end.out);
        assert_eq!(end.out.released_ahead(), [(0, Action::Send(PortId(1)))]);
    }
}
