//! [`PathWeights`]: the weights by which a host spreads flowlets over the paths to a leaf (Clove, section 3.2).

use weft_units::{Duration, Time};

use crate::hash::pick;

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

/// The paths from a host to a leaf.
#[derive(Default)]
pub struct PathWeights {
    ways: Vec<Way>,
}

impl PathWeights {
    /// The path of the next flowlet, one of `count`: weighted round robin, as even as possible, from a path drawn with the
    /// bits of `random`.
    pub(crate) fn next(&mut self, count: usize, random: u64) -> usize {
        if self.ways.len() != count {
            let (first, weight) = (pick(random, count), 1.0 / count as f64);
            let way = |place| {
                let turn = (place + count - first) % count;
                Way { weight, lag: 0.5 - (turn as f64 + 0.5) * weight, congested_until: Time::ZERO }
            };
            self.ways = (0..count).map(way).collect();
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;

    fn shares(weights: &mut PathWeights, count: usize) -> Vec<usize> {
        let mut shares = vec![0; count];
        (0..1200).for_each(|_| shares[weights.next(count, 0)] += 1);
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
        weights.next(2, 0);
        for path in [0, 1, 0, 1, 0] {
            weights.congested(path, Time::ZERO, US(100));
        }
        let after = shares(&mut weights, 2);
        assert!(after[0].abs_diff(400) <= 1 && after[1].abs_diff(800) <= 1, "{after:?}");
    }

    #[test]
    fn hosts_start_with_different_paths_and_take_all_in_turn() {
        let order = |random: u64| {
            let mut weights = PathWeights::default();
            (0..8).map(|_| weights.next(4, random)).collect::<Vec<_>>()
        };
        assert_eq!(order(0), [0, 1, 2, 3, 0, 1, 2, 3]);
        assert_eq!(order(3 << 62), [3, 0, 1, 2, 3, 0, 1, 2]);
    }

    #[test]
    fn a_report_about_a_path_that_does_not_exist_changes_nothing() {
        let mut weights = PathWeights::default();
        weights.congested(9, Time::ZERO, US(1));
        assert_eq!(shares(&mut weights, 2), [600, 600]);
    }
}
