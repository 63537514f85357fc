//! [`Arrivals`]: the start times of flows.

use rand_core::RngCore;
use weft_units::words;

use crate::random::{exponential, unit};

words! {
    /// The process by which flows arrive.
    pub enum Arrivals {
        /// Independently of each other: exponential gaps.
        Poisson = "poisson",
        /// At equal intervals, the first half an interval after the start.
        Fixed = "fixed",
        /// All at the start.
        AtOnce = "at-once",
    }
}

impl Arrivals {
    /// Arrivals at `per_ps` per picosecond within `span` picoseconds, as picoseconds, in order.
    pub(crate) fn at_rate(self, per_ps: f64, span: f64, mut rng: impl RngCore) -> impl Iterator<Item = u64> {
        let gap = 1.0 / per_ps;
        let mut at = if self == Self::Fixed { -0.5 * gap } else { 0.0 };
        std::iter::from_fn(move || {
            at += match self {
                Self::Poisson => exponential(&mut rng) * gap,
                Self::Fixed => gap,
                Self::AtOnce => 0.0,
            };
            (at < span).then_some(at as u64)
        })
    }

    /// Exactly `count` arrivals within `span` picoseconds, in order. Given `count` arrivals, the times of a
    /// Poisson process are independent and uniform.
    pub(crate) fn exactly(self, count: u64, span: f64, rng: &mut impl RngCore) -> Vec<u64> {
        let mut times: Vec<u64> = match self {
            Self::Poisson => (0..count).map(|_| (unit(rng) * span) as u64).collect(),
            Self::Fixed => (0..count).map(|i| ((i as f64 + 0.5) / count as f64 * span) as u64).collect(),
            Self::AtOnce => vec![0; count as usize],
        };
        times.sort_unstable();
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn poisson_arrivals_have_the_mean_and_the_variance_of_their_rate() {
        let span = 1e12;
        let counts: Vec<f64> = (0..400)
            .map(|seed| {
                let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                Arrivals::Poisson.at_rate(100.0 / span, span, rng).count() as f64
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance = counts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        assert!((mean - 100.0).abs() < 2.0, "{mean}");
        assert!((variance - 100.0).abs() < 25.0, "{variance}");
    }

    #[test]
    fn fixed_arrivals_are_equally_far_apart_and_fill_the_span() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let times: Vec<u64> = Arrivals::Fixed.at_rate(0.1, 100.0, rng.clone()).collect();
        assert_eq!(times, [5, 15, 25, 35, 45, 55, 65, 75, 85, 95]);
        assert_eq!(Arrivals::Fixed.exactly(10, 100.0, &mut rng), times);
        assert_eq!(Arrivals::AtOnce.exactly(2, 100.0, &mut rng), [0, 0]);
    }

    #[test]
    fn an_exact_number_of_poisson_arrivals_is_uniform_over_the_span() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let times = Arrivals::Poisson.exactly(10_000, 1e12, &mut rng);
        let mean = times.iter().sum::<u64>() as f64 / 1e4;
        assert!(times.is_sorted() && times.len() == 10_000 && (mean / 5e11 - 1.0).abs() < 0.02, "{mean}");
    }
}
