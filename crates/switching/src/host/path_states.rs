//! [`PathStates`]: a host's knowledge about the paths to a leaf (Hermes, sections 3.1 and 3.2).

use weft_units::{Duration, Time};

use crate::hash::{mix64, pick};

/// Share of retransmissions above which a path that is not congested has failed: a switch that drops at random.
const RESENT: f64 = 0.01;
/// Shortest window in which retransmissions are counted.
const LOSS_WINDOW: Duration = Duration::from_ms(10);
/// Packets from which the share of retransmissions means something; Weft's value.
const LEAST_PACKETS: u32 = 100;
/// After this time a failed path is tried again, because the failure may have been mended; Weft's value.
const FAILED_FOR: Duration = Duration::from_secs(1);
/// Weights of a new sample in the averages of round-trip times and marks; the paper does not state them.
const TIME_WEIGHT: f64 = 1.0 / 8.0;
const MARK_WEIGHT: f64 = 1.0 / 16.0;
/// Window of the rate of a path.
const RATE_WINDOW: Duration = Duration::from_us(500);

/// The thresholds (table 3 of the paper).
pub(crate) struct Limits {
    /// Share of marks above which a path is congested.
    pub(crate) marked: f64,
    /// Delay over the shortest round-trip time below which a path is good.
    pub(crate) low: Duration,
    /// The same above which it is congested.
    pub(crate) high: Duration,
    /// Difference of round-trip times that makes a path notably better.
    pub(crate) better_by: Duration,
    /// Difference of shares of marks that does.
    pub(crate) better_marked: f64,
}

/// The condition of a path (table 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Condition {
    Good,
    Gray,
    Congested,
    Failed,
}

/// One path.
#[derive(Clone, Default)]
struct Path {
    /// Average round-trip time, if any was measured.
    time: Option<Duration>,
    /// Average share of marks.
    marked: f64,
    /// Bytes sent recently, decaying, and when the last were sent.
    bytes: f64,
    sent_at: Time,
    /// The window in which losses are counted, with the packets and the retransmissions in it.
    window: Time,
    packets: u32,
    resent: u32,
    /// It counts as failed before this time.
    failed_until: Time,
}

impl Path {
    /// Bytes that decay with the window of the rate.
    fn load(&self, now: Time) -> f64 {
        let passed = now.saturating_since(self.sent_at).ps() as f64 * (1.0 / RATE_WINDOW.ps() as f64);
        self.bytes * (1.0 - passed).max(0.0)
    }
}

/// The paths from a host to a leaf.
#[derive(Default)]
pub struct PathStates {
    paths: Vec<Path>,
    /// The shortest round-trip time measured.
    base: Option<Duration>,
    next_probe: Time,
    draws: u64,
}

impl PathStates {
    /// There are `count` paths. The bits of `random` decide ties.
    pub(crate) fn has(&mut self, count: usize, random: u64) {
        if self.paths.len() != count {
            *self = Self { paths: vec![Path::default(); count], draws: random, ..Self::default() };
        }
    }

    /// Algorithm 1.
    fn condition(&self, path: &Path, limits: &Limits, now: Time) -> Condition {
        if now < path.failed_until {
            return Condition::Failed;
        }
        let (Some(time), Some(base)) = (path.time, self.base) else { return Condition::Gray };
        if path.marked < limits.marked && time < base + limits.low {
            Condition::Good
        } else if path.marked > limits.marked && time > base + limits.high {
            Condition::Congested
        } else {
            Condition::Gray
        }
    }

    /// Whether `path` has failed.
    pub(crate) fn has_failed(&self, path: usize, now: Time) -> bool {
        self.paths.get(path).is_some_and(|path| now < path.failed_until)
    }

    /// Whether `path` is congested.
    pub(crate) fn is_congested(&self, path: usize, limits: &Limits, now: Time) -> bool {
        self.paths.get(path).is_some_and(|path| self.condition(path, limits, now) == Condition::Congested)
    }

    /// The path with the lowest sending rate among those that are in `condition` and `fit`; ties are drawn.
    fn least(
        &mut self,
        condition: impl Fn(Condition) -> bool,
        fits: impl Fn(usize, &Path) -> bool,
        limits: &Limits,
        now: Time,
    ) -> Option<usize> {
        let count = self.paths.len();
        self.draws = self.draws.wrapping_add(1);
        let first = pick(mix64(self.draws), count);
        let order = (first..count).chain(0..first);
        let fitting = order.filter(|place| {
            let path = &self.paths[*place];
            condition(self.condition(path, limits, now)) && fits(*place, path)
        });
        fitting.min_by(|a, b| self.paths[*a].load(now).total_cmp(&self.paths[*b].load(now)))
    }

    /// The path of a new flow, or of one that leaves, among those that `may` be taken: good, else gray, else any that has
    /// not failed.
    pub(crate) fn choose(
        &mut self,
        may: impl Fn(usize) -> bool,
        limits: &Limits,
        now: Time,
    ) -> Option<usize> {
        let fits = |place: usize, _: &Path| may(place);
        self.least(|condition| condition == Condition::Good, fits, limits, now)
            .or_else(|| self.least(|condition| condition == Condition::Gray, fits, limits, now))
            .or_else(|| self.least(|condition| condition != Condition::Failed, fits, limits, now))
    }

    /// A path that is notably better than `path`: good, else gray.
    pub(crate) fn better_than(&mut self, path: usize, limits: &Limits, now: Time) -> Option<usize> {
        let Path { time, marked, .. } = self.paths.get(path)?.clone();
        let better = |_: usize, other: &Path| {
            let is_faster = other.time.zip(time).is_some_and(|(other, own)| other + limits.better_by < own);
            is_faster && other.marked + limits.better_marked < marked
        };
        self.least(|condition| condition == Condition::Good, better, limits, now)
            .or_else(|| self.least(|condition| condition == Condition::Gray, better, limits, now))
    }

    /// A packet of `bytes` is sent on `path`.
    pub(crate) fn sends(&mut self, path: usize, bytes: u64, now: Time) {
        let Some(path) = self.paths.get_mut(path) else { return };
        path.bytes = path.load(now) + bytes as f64;
        path.sent_at = now;
        path.packets += 1;
    }

    /// `path` took `time` there and back.
    pub(crate) fn measured(&mut self, path: usize, time: Duration) {
        let Some(path) = self.paths.get_mut(path) else { return };
        let average = path.time.map_or(time, |before| {
            Duration::from_ps(
                (before.ps() as f64 * (1.0 - TIME_WEIGHT) + time.ps() as f64 * TIME_WEIGHT) as u64,
            )
        });
        path.time = Some(average);
        self.base = Some(self.base.map_or(time, |base| base.min(time)));
    }

    /// A packet on `path` was acknowledged, with a mark or without.
    pub(crate) fn acked(&mut self, path: usize, is_marked: bool, limits: &Limits, now: Time) {
        let base = self.base;
        let Some(path) = self.paths.get_mut(path) else { return };
        path.marked += (f64::from(u8::from(is_marked)) - path.marked) * MARK_WEIGHT;
        if now.saturating_since(path.window) < LOSS_WINDOW || path.packets < LEAST_PACKETS {
            return;
        }
        // Losses of a path with marks or long queues are no sign of a failure.
        let is_lossy = f64::from(path.resent) > RESENT * f64::from(path.packets);
        let is_slow = path.time.zip(base).is_some_and(|(time, base)| time > base + limits.high);
        if is_lossy && path.marked < MARK_WEIGHT && !is_slow {
            path.failed_until = now + FAILED_FOR;
        }
        (path.window, path.packets, path.resent) = (now, 0, 0);
    }

    /// A packet that was sent on `path` was lost.
    pub(crate) fn lost(&mut self, path: usize) {
        if let Some(path) = self.paths.get_mut(path) {
            path.resent += 1;
        }
    }

    /// If `interval` has passed, the paths to probe are written to `probes`: two random ones and the best. Returns when the
    /// next ones are due.
    pub(crate) fn probes(&mut self, interval: Duration, now: Time, probes: &mut Vec<u8>) -> Time {
        if now < self.next_probe || self.paths.is_empty() {
            return self.next_probe;
        }
        self.next_probe = now + interval;
        probes.clear();
        for _ in 0..2 {
            self.draws = self.draws.wrapping_add(1);
            probes.push(pick(mix64(self.draws), self.paths.len()) as u8);
        }
        let known = self.paths.iter().enumerate().filter(|(_, path)| path.failed_until <= now);
        let timed = known.filter_map(|(place, path)| Some((path.time?, place)));
        probes.extend(timed.min().map(|(_, place)| place as u8));
        self.next_probe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;

    fn limits() -> Limits {
        Limits { marked: 0.4, low: US(30), high: US(120), better_by: US(80), better_marked: 0.05 }
    }

    fn states(times: &[u64]) -> PathStates {
        let mut states = PathStates::default();
        states.has(times.len(), 0);
        times.iter().enumerate().for_each(|(path, time)| states.measured(path, US(*time)));
        states
    }

    fn mark(states: &mut PathStates, path: usize) {
        (0..100).for_each(|_| states.acked(path, true, &limits(), Time::ZERO));
    }

    #[test]
    fn conditions_are_those_of_table_2() {
        let mut states = states(&[20, 20 + 29, 20 + 60, 20 + 200, 20 + 200]);
        mark(&mut states, 4);
        let conditions: Vec<_> =
            states.paths.iter().map(|path| states.condition(path, &limits(), Time::ZERO)).collect();
        use Condition::{Congested, Failed, Good, Gray};
        assert_eq!(conditions, [Good, Good, Gray, Gray, Congested]);
        mark(&mut states, 0);
        assert_eq!(states.condition(&states.paths[0], &limits(), Time::ZERO), Gray, "marks without delay");
        states.paths[1].failed_until = Time::ZERO + US(5);
        let at = |us| states.condition(&states.paths[1], &limits(), Time::ZERO + US(us));
        assert_eq!((at(4), at(5)), (Failed, Good));
    }

    #[test]
    fn a_flow_takes_the_good_path_with_the_lowest_rate_and_gray_ones_only_if_none_is_good() {
        let mut states = states(&[20, 21, 100]);
        states.sends(0, 1_000, Time::ZERO);
        assert_eq!(states.choose(|_| true, &limits(), Time::ZERO), Some(1));
        assert_eq!(states.choose(|path| path != 1, &limits(), Time::ZERO), Some(0));
        states.paths[0].failed_until = Time::MAX;
        states.paths[1].failed_until = Time::MAX;
        assert_eq!(states.choose(|_| true, &limits(), Time::ZERO), Some(2));
        assert_eq!(states.choose(|path| path != 2, &limits(), Time::ZERO), None);
    }

    #[test]
    fn only_a_notably_better_path_is_better() {
        let mut states = states(&[300, 240, 20]);
        mark(&mut states, 0);
        states.paths[2].failed_until = Time::MAX;
        assert_eq!(states.better_than(0, &limits(), Time::ZERO), None, "60 us are not enough");
        states.paths[2].failed_until = Time::ZERO;
        assert_eq!(states.better_than(0, &limits(), Time::ZERO), Some(2));
    }

    #[test]
    fn a_path_fails_if_it_loses_packets_without_marks_and_without_delay() {
        for (marks, time, fails) in [(false, 20, true), (true, 20, false), (false, 500, false)] {
            let mut states = states(&[20]);
            (0..50).for_each(|_| states.measured(0, US(time)));
            if marks {
                mark(&mut states, 0);
            }
            (0..99).for_each(|_| states.sends(0, 1500, Time::ZERO));
            (0..2).for_each(|_| states.lost(0));
            let end = Time::ZERO + LOSS_WINDOW;
            states.acked(0, false, &limits(), end);
            assert!(!states.has_failed(0, end), "too few packets to tell");
            states.sends(0, 1500, Time::ZERO);
            states.acked(0, false, &limits(), end);
            assert_eq!(states.has_failed(0, end), fails);
            assert!(!states.has_failed(0, end + FAILED_FOR), "it is tried again");
        }
    }

    #[test]
    fn probes_go_out_once_in_the_interval_to_two_paths_and_the_best() {
        let (mut states, mut probes) = (states(&[90, 20, 90]), Vec::new());
        let start = Time::ZERO + US(1);
        states.probes(US(500), start, &mut probes);
        assert_eq!((probes.len(), probes.pop()), (3, Some(1)));
        probes.clear();
        states.probes(US(500), start + US(499), &mut probes);
        assert!(probes.is_empty());
        states.probes(US(500), start + US(500), &mut probes);
        assert_eq!(probes.len(), 3);
    }
}
