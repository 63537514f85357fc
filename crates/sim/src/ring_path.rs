//! [`RingPath`]: the messages of a ring that follow each other up to a rank's last one, and the least time that they need.

use weft_traffic::Parts;
use weft_units::{Duration, Time};

/// The times of a part alone on an idle fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartTimes {
    /// The time of a part by itself.
    pub alone: Duration,
    /// The time that a further part right behind it takes, at the slowest link of the way.
    pub behind: Duration,
}

/// The longest of the chains of parts that lead to the last part of a flow.
///
/// A part waits for the part of the step before from the rank before, and for the flow's own part before, which is on the same
/// links. So a chain goes around the ring and, where a link is slower than the others, stays at its rank for some steps:
/// parts arrive there faster than the link can pass them on. A chain from a rank that starts late is longer by that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RingPath {
    /// The flow of each part, in order of time: one for each step.
    pub flows: Vec<u32>,
    /// The time on the fabric.
    pub network: Duration,
    /// The time of computations between parts.
    pub delay: Duration,
}

impl RingPath {
    /// The longest chain to the last part of `flow`, of flows with these starts and parts with these times; `None` if it is not in
    /// parts.
    pub fn of(
        parts: &Parts,
        flow: u32,
        start: impl Fn(u32) -> Time,
        mut times: impl FnMut(u32) -> PartTimes,
    ) -> Option<Self> {
        let steps = parts.of(flow)?.count as usize;
        let next = |at: &u32| parts.of(*at).map(|series| series.feeds).filter(|next| *next != flow);
        let ring: Vec<u32> = std::iter::successors(Some(flow), next).take(steps.max(parts.len())).collect();
        // The flow that is this many ranks before.
        let before = |distance: usize| ring[(ring.len() - distance % ring.len()) % ring.len()];
        // The chain that comes from so many ranks before: its times, and the slowest of its ranks, where it stays for the rest.
        let (mut network, mut delay, mut slowest) = (Duration::ZERO, Duration::ZERO, (Duration::ZERO, 0));
        let mut best: Option<(Time, Self, usize, usize)> = None;
        for distance in 0..steps {
            let PartTimes { alone, behind } = times(before(distance));
            network += alone;
            if distance > 0 {
                delay += parts.of(before(distance)).map_or(Duration::ZERO, |series| series.compute);
            }
            slowest = slowest.max((behind, distance));
            let stays = (steps - 1 - distance) as u64;
            let whole = network + slowest.0 * stays;
            let end = start(before(distance)) + whole + delay;
            if best.as_ref().is_none_or(|(latest, ..)| end >= *latest) {
                let path = Self { flows: Vec::new(), network: whole, delay };
                best = Some((end, path, distance, slowest.1));
            }
        }
        let (_, mut path, distance, stay) = best?;
        path.flows = (stay..=distance).rev().map(before).collect();
        path.flows.resize(steps - stay, before(stay));
        path.flows.extend((0..stay).rev().map(before));
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_traffic::Series;

    /// A ring of `ranks` flows, which take `alone` and `behind` microseconds for each part.
    fn path(ranks: u32, steps: u32, compute: u64, flow: u32, times: &[(u64, u64)]) -> RingPath {
        path_from(ranks, steps, compute, flow, times, &|_| 0)
    }

    /// The same of flows that start at these microseconds.
    fn path_from(
        ranks: u32,
        steps: u32,
        compute: u64,
        flow: u32,
        times: &[(u64, u64)],
        start: &dyn Fn(u32) -> u64,
    ) -> RingPath {
        let series = |rank: u32| Series {
            whole: 1000,
            pieces: ranks,
            first: rank,
            count: steps,
            feeds: (rank + 1) % ranks,
            compute: Duration::from_us(compute),
        };
        let parts = Parts::new(ranks as usize, (0..ranks).map(|rank| (rank, series(rank))));
        let of = |flow: u32| {
            let (alone, behind) = times[flow as usize];
            PartTimes { alone: Duration::from_us(alone), behind: Duration::from_us(behind) }
        };
        let start = |flow: u32| Time::ZERO + Duration::from_us(start(flow));
        RingPath::of(&parts, flow, start, of).expect("it is in parts")
    }

    #[test]
    fn around_a_ring_of_equal_links_each_rank_waits_for_the_one_before() {
        let found = path(4, 6, 2, 1, &[(10, 8); 4]);
        assert_eq!(found.flows, [0, 1, 2, 3, 0, 1]);
        assert_eq!((found.network, found.delay), (Duration::from_us(60), Duration::from_us(10)));
    }

    #[test]
    fn at_a_slow_link_parts_wait_for_the_parts_before() {
        // Rank 2 takes 50 us for each part, as others take 5.
        let found = path(4, 6, 0, 0, &[(5, 4), (5, 4), (60, 50), (5, 4)]);
        assert_eq!(found.flows, [2, 2, 2, 2, 3, 0]);
        assert_eq!((found.network, found.delay), (Duration::from_us(60 + 3 * 50 + 2 * 5), Duration::ZERO));
    }

    #[test]
    fn a_chain_begins_at_the_rank_that_starts_late() {
        let found = path_from(4, 6, 0, 1, &[(10, 8); 4], &|flow| if flow == 3 { 100 } else { 0 });
        // From rank 3 there are two steps around the ring to rank 1. So it stays at one of them for three more.
        assert_eq!(found.flows[0], 3);
        assert_eq!(found.network, Duration::from_us(3 * 10 + 3 * 8));
    }
}
