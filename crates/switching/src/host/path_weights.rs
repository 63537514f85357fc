//! [`PathWeights`]: the weights by which a host spreads flowlets over the paths to a leaf, and its reports about the paths
//! from there (Clove, section 3.2).

use weft_units::{Duration, Time};

/// Paths that can be told apart in a packet.
pub(crate) const MOST_PATHS: usize = 255;

/// One path to the other leaf.
#[derive(Clone, Copy)]
struct Way {
    /// Its share of the flowlets.
    weight: f64,
    /// How far it lags behind its share.
    lag: f64,
    /// Reports before this time make it count as congested.
    congested_until: Time,
}

/// The paths between a host and a leaf.
#[derive(Default)]
pub struct PathWeights {
    ways: Vec<Way>,
    /// By path from there: whether a mark has not been reported yet, and when the last one was.
    seen: Vec<(bool, Time)>,
    /// The path from which the search for the next report starts.
    turn: usize,
}

impl PathWeights {
    /// The path of the next flowlet, one of `count`: weighted round robin, as even as possible.
    pub(crate) fn next(&mut self, count: usize) -> usize {
        if self.ways.len() != count {
            let way = Way { weight: 1.0 / count as f64, lag: 0.0, congested_until: Time::ZERO };
            self.ways = vec![way; count];
        }
        let mut best = 0;
        for place in 0..count {
            self.ways[place].lag += self.ways[place].weight;
            if self.ways[place].lag > self.ways[best].lag {
                best = place;
            }
        }
        self.ways[best].lag -= 1.0;
        best
    }

    /// `path` is congested, and counts so for `lasting`: a third of its weight goes to the paths that are not.
    pub(crate) fn congested(&mut self, path: usize, now: Time, lasting: Duration) {
        if path >= self.ways.len() {
            return;
        }
        self.ways[path].congested_until = now + lasting;
        let free = self.ways.iter().filter(|way| way.congested_until <= now).count();
        if free == 0 {
            return;
        }
        let share = self.ways[path].weight / 3.0;
        self.ways[path].weight -= share;
        for way in self.ways.iter_mut().filter(|way| way.congested_until <= now) {
            way.weight += share / free as f64;
        }
    }

    /// A packet with a congestion mark has come over `path` from there.
    pub(crate) fn marked(&mut self, path: u8) {
        let path = usize::from(path);
        if path >= self.seen.len() {
            self.seen.resize(path + 1, (false, Time::ZERO));
        }
        self.seen[path].0 = true;
    }

    /// A path from there to report as congested, each at most once in `interval`.
    pub(crate) fn report(&mut self, now: Time, interval: Duration) -> Option<u8> {
        let count = self.seen.len();
        let due = |place: &usize| {
            let (is_marked, last) = self.seen[*place];
            is_marked && (last == Time::ZERO || now.saturating_since(last) >= interval)
        };
        let place = (self.turn..count).chain(0..self.turn.min(count)).find(due)?;
        self.seen[place] = (false, now);
        self.turn = place + 1;
        Some(place as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;

    fn shares(weights: &mut PathWeights, count: usize) -> Vec<usize> {
        let mut shares = vec![0; count];
        (0..1200).for_each(|_| shares[weights.next(count)] += 1);
        shares
    }

    #[test]
    fn a_congested_path_gives_a_third_of_its_share_to_the_others() {
        let (mut weights, start) = (PathWeights::default(), Time::ZERO);
        assert_eq!(shares(&mut weights, 4), [300; 4]);
        weights.congested(2, start, US(100));
        let after = shares(&mut weights, 4);
        assert!(after.iter().zip([333, 333, 200, 333]).all(|(a, b)| a.abs_diff(b) <= 1), "{after:?}");
        weights.congested(0, start + US(50), US(100));
        let after = shares(&mut weights, 4);
        assert!(after.iter().zip([222, 389, 200, 389]).all(|(a, b)| a.abs_diff(b) <= 1), "{after:?}");
    }

    #[test]
    fn if_all_paths_are_congested_the_weights_stay() {
        let mut weights = PathWeights::default();
        weights.next(2);
        for path in [0, 1, 0, 1, 0] {
            weights.congested(path, Time::ZERO, US(100));
        }
        let after = shares(&mut weights, 2);
        assert!(after[0].abs_diff(400) <= 1 && after[1].abs_diff(800) <= 1, "{after:?}");
    }

    #[test]
    fn a_path_is_reported_once_for_a_mark_and_once_in_the_interval_in_turn_with_others() {
        let (mut weights, start) = (PathWeights::default(), Time::from_ps(1));
        assert_eq!(weights.report(start, US(50)), None);
        [3, 1].into_iter().for_each(|path| weights.marked(path));
        let mut report = |at| weights.report(start + US(at), US(50));
        assert_eq!([report(0), report(0), report(0)], [Some(1), Some(3), None]);
        weights.marked(1);
        let mut report = |at| weights.report(start + US(at), US(50));
        assert_eq!([report(49), report(50), report(200)], [None, Some(1), None]);
    }

    #[test]
    fn a_report_about_a_path_that_does_not_exist_changes_nothing() {
        let mut weights = PathWeights::default();
        weights.congested(9, Time::ZERO, US(1));
        assert_eq!(shares(&mut weights, 2), [600, 600]);
    }
}
