//! [`PathStates`]: the paths to a leaf, and the choice among them (Hermes, sections 3.1 and 3.2).

use weft_units::{Duration, Time};

use super::path_state::{Condition, Limits, PathState};
use crate::hash::{mix64, pick};

/// The paths from a host to a leaf.
#[derive(Default)]
pub struct PathStates {
    paths: Vec<PathState>,
    /// The shortest round-trip time measured.
    base: Option<Duration>,
    next_probe: Time,
    draws: u64,
}

impl PathStates {
    /// Sets the number of paths; forgets all states if it has changed. The bits of `random` decide ties.
    pub(crate) fn set_count(&mut self, count: usize, random: u64) {
        if self.paths.len() != count {
            *self = Self { paths: vec![PathState::default(); count], draws: random, ..Self::default() };
        }
    }

    /// Whether `path` has failed.
    pub(crate) fn has_failed(&self, path: usize, now: Time) -> bool {
        self.paths.get(path).is_some_and(|path| path.has_failed(now))
    }

    /// Whether `path` is congested.
    pub(crate) fn is_congested(&self, path: usize, limits: &Limits, now: Time) -> bool {
        self.paths
            .get(path)
            .is_some_and(|path| path.condition(self.base, limits, now) == Condition::Congested)
    }

    /// The path with the lowest sending rate among those that are in `condition` and `fit`; ties are drawn.
    fn least(
        &mut self,
        condition: impl Fn(Condition) -> bool,
        fits: impl Fn(usize, &PathState) -> bool,
        limits: &Limits,
        now: Time,
    ) -> Option<usize> {
        let count = self.paths.len();
        self.draws = self.draws.wrapping_add(1);
        let first = pick(mix64(self.draws), count);
        let order = (first..count).chain(0..first);
        let fitting = order.filter(|place| {
            let path = &self.paths[*place];
            condition(path.condition(self.base, limits, now)) && fits(*place, path)
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
        let fits = |place: usize, _: &PathState| may(place);
        self.least(|condition| condition == Condition::Good, fits, limits, now)
            .or_else(|| self.least(|condition| condition == Condition::Gray, fits, limits, now))
            .or_else(|| self.least(|condition| condition != Condition::Failed, fits, limits, now))
    }

    /// A path that is notably better than `path`: good, else gray.
    pub(crate) fn better_than(&mut self, path: usize, limits: &Limits, now: Time) -> Option<usize> {
        let PathState { time, marked, .. } = *self.paths.get(path)?;
        let better = |_: usize, other: &PathState| {
            let is_faster = other.time.zip(time).is_some_and(|(other, own)| other + limits.better_by < own);
            is_faster && other.marked + limits.better_marked < marked
        };
        self.least(|condition| condition == Condition::Good, better, limits, now)
            .or_else(|| self.least(|condition| condition == Condition::Gray, better, limits, now))
    }

    /// A packet of `bytes` is sent on `path`.
    pub(crate) fn sends(&mut self, path: usize, bytes: u64, now: Time) {
        if let Some(path) = self.paths.get_mut(path) {
            path.sends(bytes, now);
        }
    }

    /// `path` took `time` there and back.
    pub(crate) fn measured(&mut self, path: usize, time: Duration) {
        let Some(path) = self.paths.get_mut(path) else { return };
        path.measured(time);
        self.base = Some(self.base.map_or(time, |base| base.min(time)));
    }

    /// A packet on `path` was acknowledged, with a mark or without.
    pub(crate) fn acked(&mut self, path: usize, is_marked: bool, limits: &Limits, now: Time) {
        if let Some(path) = self.paths.get_mut(path) {
            path.acked(is_marked, self.base, limits, now);
        }
    }

    /// A packet that was sent on `path` was lost.
    pub(crate) fn lost(&mut self, path: usize) {
        if let Some(path) = self.paths.get_mut(path) {
            path.lost();
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
        let known = self.paths.iter().enumerate().filter(|(_, path)| !path.has_failed(now));
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
        states.set_count(times.len(), 0);
        times.iter().enumerate().for_each(|(path, time)| states.measured(path, US(*time)));
        states
    }

    fn mark(states: &mut PathStates, path: usize) {
        (0..100).for_each(|_| states.acked(path, true, &limits(), Time::ZERO));
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
