//! [`Departures`]: the flows that start at a switch, and when each of them changes its path.

use weft_units::{Duration, Time};

use super::flow_key::FlowKey;
use super::overlay::{Request, Stamp, Tag};
use crate::soft_table::SoftTable;

/// A flow.
#[derive(Clone, Copy)]
struct Departure {
    epoch: u8,
    path: [u8; 2],
    /// The path has changed in this epoch.
    rerouted: bool,
    /// The answer that ends the epoch has come.
    is_settled: bool,
    /// When the last packet left.
    last: Time,
    /// When the answer about the round trip is late; `MAX` if none is expected.
    deadline: Time,
    tail_at: Time,
}

/// How long a switch waits for answers, and remembers flows.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Flows are forgotten so long after their last packet. An answer that takes longer was lost.
    pub(super) aging: Duration,
    /// An answer is late so long after the idle round trip.
    pub(super) cutoff: Duration,
    /// After a pause of this length, a flow has no packets under way.
    pub(super) expiry: Duration,
}

/// The flows.
pub(super) struct Departures {
    flows: SoftTable<FlowKey, Departure>,
    limits: Limits,
}

impl Departures {
    /// A table of at most `size` flows.
    pub(super) fn new(size: usize, limits: Limits, secret: u64) -> Self {
        // The other end must not remember a flow, and its last epoch, for longer.
        Self { flows: SoftTable::new(size, &[limits.aging * 2], secret), limits }
    }

    /// The header of the next packet of a flow, to a switch at this idle round trip, with paths from `draw`.
    #[inline]
    pub(super) fn next(
        &mut self,
        flow: FlowKey,
        now: Time,
        idle: Duration,
        draw: &mut impl FnMut(Time) -> Draw,
    ) -> Tag {
        let Limits { aging, cutoff, expiry } = self.limits;
        let Some(entry) = self.flows.refresh(&flow, now) else {
            let path = draw(now).path;
            let deadline = now + idle + cutoff;
            let entry = Departure {
                epoch: 0,
                path,
                rerouted: false,
                is_settled: false,
                last: now,
                deadline,
                tail_at: now,
            };
            self.flows.insert(flow, entry, 0, now);
            return tag(&entry, now, Request::RoundTrip);
        };
        let is_expired = now.saturating_since(entry.last) > expiry;
        let is_stuck = entry.rerouted && now.saturating_since(entry.tail_at) > aging;
        entry.last = now;
        if is_expired || entry.is_settled || is_stuck {
            if is_expired {
                let drawn = draw(now);
                entry.path = if drawn.is_good { drawn.path } else { entry.path };
            }
            entry.epoch = entry.epoch.wrapping_add(1);
            (entry.rerouted, entry.is_settled) = (false, false);
            (entry.deadline, entry.tail_at) = (now + idle + cutoff, now);
            return tag(entry, now, Request::RoundTrip);
        }
        if entry.deadline < now {
            entry.deadline = Time::MAX;
            entry.tail_at = now;
            let tail = tag(entry, now, Request::Clear);
            let drawn = draw(now);
            entry.path = if drawn.is_good { drawn.path } else { entry.path };
            entry.rerouted = true;
            return tail;
        }
        tag(entry, now, Request::Nothing)
    }

    /// The other end has answered the request of an epoch.
    pub(super) fn replied(&mut self, flow: FlowKey, epoch: u8, now: Time) {
        if let Some(entry) = self.flows.refresh(&flow, now)
            && entry.epoch == epoch
            && !entry.rerouted
            && now <= entry.deadline
        {
            (entry.is_settled, entry.deadline) = (true, Time::MAX);
        }
    }

    /// The other end has all packets of the old path of an epoch.
    pub(super) fn cleared(&mut self, flow: FlowKey, epoch: u8, now: Time) {
        if let Some(entry) = self.flows.refresh(&flow, now)
            && entry.epoch == epoch
            && entry.rerouted
        {
            entry.is_settled = true;
        }
    }

    /// How many there are.
    pub(super) fn len(&mut self, now: Time) -> usize {
        self.flows.sweep(now);
        self.flows.len()
    }
}

/// A path drawn at random.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Draw {
    pub(super) path: [u8; 2],
    /// Whether it was not reported as congested lately.
    pub(super) is_good: bool,
}

const fn tag(entry: &Departure, now: Time, request: Request) -> Tag {
    Tag {
        request,
        rerouted: entry.rerouted,
        epoch: entry.epoch,
        path: entry.path,
        sent: Stamp::new(now),
        tail_sent: Stamp::new(entry.tail_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: FlowKey = FlowKey(7);
    const IDLE: Duration = Duration::from_us(10);

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn departures() -> Departures {
        let [aging, cutoff, expiry] = [2_000, 4, 300].map(Duration::from_us);
        Departures::new(8, Limits { aging, cutoff, expiry }, 1)
    }

    /// The next packet, with this path on offer: its epoch, whether it is on the new path, its path and request.
    fn next(of: &mut Departures, us: u64, path: u8, is_good: bool) -> (u8, bool, u8, Request) {
        let tag = of.next(FLOW, at(us), IDLE, &mut |_| Draw { path: [path, 0], is_good });
        (tag.epoch, tag.rerouted, tag.path[0], tag.request)
    }

    #[test]
    fn a_flow_with_timely_answers_keeps_its_path_and_asks_again() {
        let mut of = departures();
        assert_eq!(next(&mut of, 0, 1, true), (0, false, 1, Request::RoundTrip));
        assert_eq!(next(&mut of, 5, 2, true), (0, false, 1, Request::Nothing));
        of.replied(FLOW, 0, at(14));
        assert_eq!(next(&mut of, 40, 2, true), (1, false, 1, Request::RoundTrip));
        of.replied(FLOW, 0, at(41));
        assert_eq!(
            next(&mut of, 41, 2, true),
            (1, false, 1, Request::Nothing),
            "an answer of an earlier epoch"
        );
    }

    #[test]
    fn a_late_answer_moves_the_flow_once_until_the_old_path_is_clear() {
        let mut of = departures();
        next(&mut of, 0, 1, true);
        of.replied(FLOW, 0, at(15));
        assert_eq!(next(&mut of, 15, 2, true), (0, false, 1, Request::Clear), "the last one on the old path");
        for us in [16, 40, 100] {
            assert_eq!(next(&mut of, us, 3, true), (0, true, 2, Request::Nothing));
        }
        of.cleared(FLOW, 1, at(100));
        assert_eq!(next(&mut of, 101, 3, true), (0, true, 2, Request::Nothing), "another epoch");
        of.cleared(FLOW, 0, at(101));
        assert_eq!(next(&mut of, 102, 3, true), (1, false, 2, Request::RoundTrip));
    }

    #[test]
    fn a_flow_does_not_move_to_a_congested_path() {
        let mut of = departures();
        next(&mut of, 0, 1, false);
        assert_eq!(next(&mut of, 15, 2, false), (0, false, 1, Request::Clear));
        assert_eq!(next(&mut of, 16, 2, true), (0, true, 1, Request::Nothing));
        assert_eq!(next(&mut of, 500, 2, false), (1, false, 1, Request::RoundTrip), "after a pause");
        assert_eq!(next(&mut of, 801, 2, true), (2, false, 2, Request::RoundTrip));
    }

    #[test]
    fn a_flow_whose_answer_is_lost_goes_on() {
        let mut of = departures();
        next(&mut of, 0, 1, true);
        next(&mut of, 15, 2, true);
        for us in (215..=2_015).step_by(200) {
            assert_eq!(next(&mut of, us, 3, true), (0, true, 2, Request::Nothing));
        }
        assert_eq!(next(&mut of, 2_016, 3, true), (1, false, 2, Request::RoundTrip));
    }
}
