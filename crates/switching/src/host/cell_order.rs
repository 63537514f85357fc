//! [`CellOrder`]: a destination that restores the order of a flow's cells (Presto, section 3.2 and algorithm 2).
//!
//! A gap within a cell is a loss, because the packets of a cell keep their order; TCP learns of it at once. A gap before a
//! cell may be reordering: its packets are kept back until the gap closes, or for a multiple of the time that such gaps
//! lasted before.

use weft_transport::Segment;
use weft_units::{Duration, Time};

use super::round_trips::is_before;

/// Segments that one connection can keep back.
const MOST_HELD: usize = 512;
/// A gap is waited for this many times the estimate: the paper's alpha.
const PATIENCE: u64 = 2;
/// The wait is extended if a segment has arrived within this part of the estimate: the paper's beta.
const FRESH: u64 = 2;
/// Weight of a new sample in the estimate; the paper does not state it.
const WEIGHT: u64 = 8;

/// A segment kept back.
struct Held {
    cell: u32,
    since: Time,
    segment: Segment,
}

/// The segments of one direction of a connection.
pub(crate) struct CellOrder {
    /// The cell of the newest segment passed on, and the end of its data.
    newest: Option<(u32, u32)>,
    /// Held segments, by sequence number.
    held: Vec<Held>,
    /// When the last one was added.
    last_held: Time,
    /// Average duration of reordering.
    estimate: Duration,
}

fn end_of(segment: &Segment) -> u32 {
    segment.seq.wrapping_add(segment.len.into())
}

impl CellOrder {
    /// Creates an empty state; reordering is expected to last for `estimate`.
    pub(crate) const fn new(estimate: Duration) -> Self {
        Self { newest: None, held: Vec::new(), last_held: Time::ZERO, estimate }
    }

    /// The first byte of data will have sequence number `seq`.
    pub(crate) fn begin(&mut self, seq: u32) {
        self.newest.get_or_insert((0, seq));
    }

    /// Holds back `segment`, with data of `cell`, if data of an earlier cell is missing before it and there is room; returns
    /// whether it is held.
    pub(crate) fn hold_back(&mut self, cell: u32, segment: &Segment, now: Time) -> bool {
        let Some((newest, expected)) = self.newest else {
            self.newest = Some((cell, end_of(segment)));
            return false;
        };
        if is_before(cell, newest) {
            return false;
        }
        if cell != newest && is_before(expected, segment.seq) && self.held.len() < MOST_HELD {
            let place = self.held.partition_point(|held| !is_before(segment.seq, held.segment.seq));
            self.held.insert(place, Held { cell, since: now, segment: *segment });
            self.last_held = now;
            return true;
        }
        self.pass(cell, end_of(segment));
        false
    }

    fn pass(&mut self, cell: u32, end: u32) {
        let (newest, expected) = self.newest.unwrap_or((cell, end));
        let later = |a: u32, b: u32| if is_before(a, b) { b } else { a };
        self.newest = Some((later(newest, cell), later(expected, end)));
    }

    /// Whether a segment can be passed on at `now`; it is written to `out`.
    pub(crate) fn release(&mut self, now: Time, out: &mut Segment) -> bool {
        let (Some(first), Some((newest, expected))) = (self.held.first(), self.newest) else { return false };
        let is_in_order = !is_before(newest, first.cell) || !is_before(expected, first.segment.seq);
        if !is_in_order && now < self.wakes_at() {
            return false;
        }
        let Held { cell, since, segment } = self.held.remove(0);
        if is_in_order && cell != newest {
            let lasted = now.saturating_since(since);
            self.estimate = (self.estimate * (WEIGHT - 1) + lasted) / WEIGHT;
        }
        self.pass(cell, end_of(&segment));
        *out = segment;
        true
    }

    /// When the first gap has been waited for long enough; [`Time::MAX`] if there is none.
    pub(crate) fn wakes_at(&self) -> Time {
        let fresh = self.last_held + self.estimate / FRESH;
        self.held.first().map_or(Time::MAX, |first| (first.since + self.estimate * PATIENCE).max(fresh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;

    fn data(seq: u32) -> Segment {
        Segment { seq, len: 100, ..Segment::default() }
    }

    fn order() -> CellOrder {
        let mut order = CellOrder::new(US(10));
        order.begin(u32::MAX - 99);
        order
    }

    /// Passes on all that can be at `now`.
    fn released(order: &mut CellOrder, now: Time) -> Vec<u32> {
        let mut segment = Segment::default();
        std::iter::from_fn(|| order.release(now, &mut segment).then_some(segment.seq)).collect()
    }

    #[test]
    fn a_cell_that_overtakes_waits_for_the_one_before_across_the_end_of_the_number_space() {
        let (mut order, start) = (order(), Time::ZERO);
        assert!(order.hold_back(1, &data(100), start));
        assert!(order.hold_back(1, &data(200), start));
        assert!(released(&mut order, start + US(9)).is_empty());
        assert!(!order.hold_back(0, &data(u32::MAX - 99), start + US(9)));
        assert!(released(&mut order, start + US(9)).is_empty(), "the second packet of cell 0 is missing");
        assert!(!order.hold_back(0, &data(0), start + US(10)));
        assert_eq!(released(&mut order, start + US(10)), [100, 200]);
        assert_eq!(order.wakes_at(), Time::MAX);
    }

    #[test]
    fn a_gap_within_a_cell_is_passed_on_at_once() {
        let mut order = order();
        assert!(!order.hold_back(0, &data(0), Time::ZERO), "TCP sees the loss");
        assert!(!order.hold_back(0, &data(200), Time::ZERO));
    }

    #[test]
    fn a_gap_before_a_cell_is_waited_for_twice_the_estimate() {
        let (mut order, start) = (order(), Time::ZERO);
        assert!(order.hold_back(1, &data(0), start));
        assert_eq!(order.wakes_at(), start + US(20));
        assert_eq!(released(&mut order, start + US(20)), [0]);
        assert!(!order.hold_back(0, &data(u32::MAX - 99), start + US(21)), "what comes too late goes to TCP");
    }

    #[test]
    fn a_cell_that_is_no_longer_the_newest_waits_for_nothing() {
        let mut order = order();
        assert!(order.hold_back(2, &data(100), Time::ZERO));
        assert!(!order.hold_back(3, &data(u32::MAX - 99), Time::ZERO), "resent in a later cell");
        assert_eq!(released(&mut order, Time::ZERO), [100]);
    }

    #[test]
    fn the_wait_is_longer_while_segments_arrive_and_the_estimate_follows_the_gaps() {
        let (mut order, start) = (order(), Time::ZERO);
        assert!(order.hold_back(1, &data(0), start));
        assert!(order.hold_back(1, &data(100), start + US(18)));
        assert_eq!(order.wakes_at(), start + US(23));
        assert!(!order.hold_back(0, &data(u32::MAX - 99), start + US(18)));
        assert_eq!(released(&mut order, start + US(18)), [0, 100]);
        assert_eq!(order.estimate, US(11), "(7 * 10 + 18) / 8");
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let mut order = order();
        let held = (1..2000).filter(|number| order.hold_back(1, &data(number * 100), Time::ZERO)).count();
        assert_eq!(held, MOST_HELD);
    }
}
