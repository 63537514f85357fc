//! [`Sizes`]: a distribution of flow sizes as a piecewise linear CDF. Fixed and uniform sizes, the
//! published tables and a user's file all have this form, so truncating, clamping and scaling are
//! exact, and the mean is known before a flow is drawn.

use rand_core::RngCore;
use thiserror::Error;
use weft_units::Bytes;

use crate::random::unit;

/// One point of a CDF: a flow has at most `bytes` bytes with probability `probability`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CdfPoint {
    /// The size in bytes.
    pub bytes: f64,
    /// The probability of a size up to it, in [0, 1].
    pub probability: f64,
}

/// A distribution of flow sizes: linear between its knots. A first knot above probability 0 is a
/// size that occurs with that probability, and so is every vertical step.
#[derive(Clone, PartialEq, Debug)]
pub struct Sizes {
    knots: Vec<CdfPoint>,
    mean: f64,
    changes: Vec<String>,
}

/// Why a distribution of sizes is invalid.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SizesError {
    /// A CDF needs at least one knot.
    #[error("a distribution of sizes needs at least one size")]
    Empty,
    /// Sizes and probabilities must not decrease from one knot to the next.
    #[error("knot {index}: {what} falls from {before} to {after}; a CDF never falls")]
    Falls {
        /// The knot, counted from 1.
        index: usize,
        /// The decreasing value.
        what: &'static str,
        /// Its value in the previous knot.
        before: f64,
        /// Its value in this knot.
        after: f64,
    },
    /// A value out of range.
    #[error("knot {index}: {what} is {value}; expected {expected}")]
    Impossible {
        /// The knot, counted from 1.
        index: usize,
        /// The value concerned.
        what: &'static str,
        /// The value.
        value: f64,
        /// The valid range.
        expected: &'static str,
    },
    /// The last probability must be 1.
    #[error("the last probability is {0}; a CDF ends at 1")]
    NotWhole(f64),
    /// Every flow would be empty.
    #[error("every flow would be 0 bytes long")]
    Zero,
    /// A limit below the smallest size.
    #[error("the limit, {limit}, is below the smallest size, {smallest}")]
    LimitTooSmall {
        /// The requested limit.
        limit: Bytes,
        /// The smallest size of the distribution.
        smallest: Bytes,
    },
    /// A uniform range that ends before it starts.
    #[error("the range ends at {to}, below its start at {from}")]
    Reversed {
        /// The lower end given.
        from: Bytes,
        /// The upper end given.
        to: Bytes,
    },
}

impl Sizes {
    /// The distribution through `knots`.
    ///
    /// # Errors
    /// A CDF that is empty, decreases, has values outside [0, 1] or does not end at 1.
    pub fn new(knots: Vec<CdfPoint>) -> Result<Self, SizesError> {
        let last = knots.last().ok_or(SizesError::Empty)?;
        let mut before = CdfPoint { bytes: 0.0, probability: 0.0 };
        for (at, knot) in knots.iter().enumerate() {
            let index = at + 1;
            let impossible =
                |what, value, expected| Err(SizesError::Impossible { index, what, value, expected });
            if !(0.0..=1e18).contains(&knot.bytes) {
                return impossible("the size", knot.bytes, "a size of at least 0 bytes");
            }
            if !(0.0..=1.0).contains(&knot.probability) {
                return impossible("the probability", knot.probability, "a number from 0 to 1");
            }
            let falls = |what, before, after| Err(SizesError::Falls { index, what, before, after });
            if knot.bytes < before.bytes {
                return falls("the size", before.bytes, knot.bytes);
            }
            if knot.probability < before.probability {
                return falls("the probability", before.probability, knot.probability);
            }
            before = *knot;
        }
        if last.probability != 1.0 {
            return Err(SizesError::NotWhole(last.probability));
        }
        if last.bytes == 0.0 {
            return Err(SizesError::Zero);
        }
        let mean = mean(&knots);
        Ok(Self { knots, mean, changes: Vec::new() })
    }

    /// Every flow has size `size`.
    ///
    /// # Errors
    /// A size of zero.
    pub fn fixed(size: Bytes) -> Result<Self, SizesError> {
        Self::new(vec![CdfPoint { bytes: size.0 as f64, probability: 1.0 }])
    }

    /// Every size from `from` to `to` is equally likely.
    ///
    /// # Errors
    /// An empty range, or one that ends at zero.
    pub fn uniform(from: Bytes, to: Bytes) -> Result<Self, SizesError> {
        if from > to {
            return Err(SizesError::Reversed { from, to });
        }
        Self::new(vec![
            CdfPoint { bytes: from.0 as f64, probability: 0.0 },
            CdfPoint { bytes: to.0 as f64, probability: 1.0 },
        ])
    }

    /// The knots of the CDF.
    pub fn knots(&self) -> &[CdfPoint] {
        &self.knots
    }

    /// The expected size in bytes.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Descriptions of changes to the original distribution: cuts, scales.
    pub fn changes(&self) -> &[String] {
        &self.changes
    }

    /// The probability of a size of at most `bytes`.
    pub fn probability(&self, bytes: f64) -> f64 {
        let above = self.knots.partition_point(|knot| knot.bytes <= bytes);
        if above == 0 {
            return 0.0;
        }
        let low = self.knots[above - 1];
        match self.knots.get(above) {
            None => 1.0,
            Some(high) => {
                let share = (bytes - low.bytes) / (high.bytes - low.bytes);
                low.probability + share * (high.probability - low.probability)
            }
        }
    }

    /// Only the sizes up to `limit`, in unchanged proportions: larger flows do not occur (the
    /// conditional distribution).
    ///
    /// # Errors
    /// A limit below every size.
    pub fn truncate(&self, limit: Bytes) -> Result<Self, SizesError> {
        let (mut knots, whole) = self.up_to(limit)?;
        for knot in &mut knots {
            knot.probability = (knot.probability / whole).min(1.0);
        }
        if let Some(last) = knots.last_mut() {
            last.probability = 1.0;
        }
        let left_out = format!("sizes truncated at {limit} ({} of the flows removed)", percent(1.0 - whole));
        self.changed(Self::new(knots)?, &left_out)
    }

    /// Flows above `limit` get exactly this size.
    ///
    /// # Errors
    /// A limit of zero.
    pub fn clamp(&self, limit: Bytes) -> Result<Self, SizesError> {
        let end = CdfPoint { bytes: limit.0 as f64, probability: 1.0 };
        let mut knots = self.up_to(limit).map(|(knots, _)| knots).unwrap_or_default();
        if knots.last() != Some(&end) {
            knots.push(end);
        }
        let above = percent(1.0 - self.probability(limit.0 as f64));
        self.changed(Self::new(knots)?, &format!("sizes clamped to {limit} ({above} of the flows)"))
    }

    /// Scales every size by one factor so that the mean is `mean`.
    ///
    /// # Errors
    /// A mean of zero.
    pub fn scale_to_mean(&self, mean: Bytes) -> Result<Self, SizesError> {
        let factor = mean.0 as f64 / self.mean;
        let knots = self.knots.iter().map(|knot| CdfPoint { bytes: knot.bytes * factor, ..*knot }).collect();
        self.changed(Self::new(knots)?, &format!("sizes scaled by {factor:.4}"))
    }

    /// `new`, with a description of the change.
    fn changed(&self, new: Self, how: &str) -> Result<Self, SizesError> {
        let size = |bytes: f64| Bytes(bytes.round() as u64);
        let change = format!("{how}: mean {} instead of {}", size(new.mean), size(self.mean));
        let changes = self.changes.iter().cloned().chain([change]).collect();
        Ok(Self { changes, ..new })
    }

    /// Draws a size, at least 1 byte.
    pub fn draw(&self, rng: &mut impl RngCore) -> u64 {
        let share = unit(rng);
        let at = self.knots.partition_point(|knot| knot.probability <= share).min(self.knots.len() - 1);
        let high = self.knots[at];
        let bytes = if at == 0 {
            high.bytes
        } else {
            let low = self.knots[at - 1];
            let part = (share - low.probability) / (high.probability - low.probability);
            low.bytes + part * (high.bytes - low.bytes)
        };
        (bytes + 0.5).max(1.0) as u64
    }

    /// The knots up to `limit`, including one at `limit`, and the probability of sizes up to it.
    fn up_to(&self, limit: Bytes) -> Result<(Vec<CdfPoint>, f64), SizesError> {
        let bytes = limit.0 as f64;
        let probability = self.probability(bytes);
        if probability <= 0.0 {
            let smallest = Bytes(self.knots[0].bytes as u64);
            return Err(SizesError::LimitTooSmall { limit, smallest });
        }
        let mut knots: Vec<CdfPoint> =
            self.knots.iter().copied().take_while(|knot| knot.bytes <= bytes).collect();
        if knots.last().is_some_and(|last| last.bytes < bytes && last.probability < 1.0) {
            knots.push(CdfPoint { bytes, probability });
        }
        Ok((knots, probability))
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn mean(knots: &[CdfPoint]) -> f64 {
    let first = knots.first().map_or(0.0, |knot| knot.bytes * knot.probability);
    let between = knots
        .windows(2)
        .map(|pair| (pair[0].bytes + pair[1].bytes) / 2.0 * (pair[1].probability - pair[0].probability));
    first + between.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published;
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    /// The largest distance between the empirical CDF of `draws` and the distribution.
    fn kolmogorov_smirnov(sizes: &Sizes, draws: &mut [u64]) -> f64 {
        draws.sort_unstable();
        let n = draws.len() as f64;
        let mut largest: f64 = 0.0;
        for (i, &x) in draws.iter().enumerate() {
            let next = draws.get(i + 1).copied();
            if next == Some(x) {
                continue;
            }
            let expected = sizes.probability(x as f64 + 0.5);
            largest = largest.max(((i + 1) as f64 / n - expected).abs());
        }
        largest
    }

    #[test]
    fn draws_of_every_published_table_follow_its_cdf() {
        for table in published::ALL {
            let sizes = table.sizes();
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
            let mut draws: Vec<u64> = (0..50_000).map(|_| sizes.draw(&mut rng)).collect();
            let distance = kolmogorov_smirnov(&sizes, &mut draws);
            let critical = 1.63 / (draws.len() as f64).sqrt();
            assert!(distance < critical, "{}: {distance} >= {critical} (1 % level)", table.name);
        }
    }

    #[test]
    fn truncating_clamping_and_scaling_change_the_mean_as_they_should() {
        let sizes = published::named("data-mining").unwrap().sizes();
        let limit = Bytes(100_000_000);
        let below: f64 = mean(&sizes.knots()[..12]);
        let cases = [
            ("truncate", sizes.truncate(limit).unwrap(), below / 0.98),
            ("clamp", sizes.clamp(limit).unwrap(), below + 0.02 * 1e8),
            ("scale", sizes.scale_to_mean(Bytes(2_970_000)).unwrap(), 2_970_000.0),
            ("clamp far above", sizes.clamp(Bytes(5_000_000_000)).unwrap(), sizes.mean()),
        ];
        for (name, changed, expected) in cases {
            assert!((changed.mean() / expected - 1.0).abs() < 1e-9, "{name}: {} {expected}", changed.mean());
        }
        assert!(Sizes::fixed(Bytes(9_000)).unwrap().truncate(Bytes(10)).is_err());
        let clamped = Sizes::fixed(Bytes(9_000)).unwrap().clamp(Bytes(10)).unwrap();
        assert_eq!(clamped.knots(), Sizes::fixed(Bytes(10)).unwrap().knots());
        assert_eq!(
            clamped.changes(),
            ["sizes clamped to 10 B (100.00 % of the flows): mean 10 B instead of 9 kB"]
        );
    }

    proptest! {
        #[test]
        fn every_draw_lies_within_the_distribution(
            steps in proptest::collection::vec((0.0..1e6_f64, 0.0..1.0_f64), 1..8),
            limit in 1..2_000_000_u64,
            seed: u64,
        ) {
            let (mut bytes, mut probability) = (0.0, 0.0);
            let total: f64 = steps.iter().map(|step| step.1).sum::<f64>() + 1.0;
            let mut knots: Vec<CdfPoint> = steps
                .iter()
                .map(|step| {
                    bytes += step.0;
                    probability += step.1 / total;
                    CdfPoint { bytes, probability: f64::min(probability, 1.0) }
                })
                .collect();
            knots.push(CdfPoint { bytes: bytes + 1.0, probability: 1.0 });
            let sizes = Sizes::new(knots).unwrap();
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let most = (bytes + 1.5).max(1.0) as u64;
            prop_assert!((0..100).all(|_| (1..=most).contains(&sizes.draw(&mut rng))));
            let clamped = sizes.clamp(Bytes(limit)).unwrap();
            prop_assert!((0..100).all(|_| clamped.draw(&mut rng) <= limit));
            if let Ok(truncated) = sizes.truncate(Bytes(limit)) {
                prop_assert!(truncated.mean() <= clamped.mean() + 1.0);
                prop_assert!((0..100).all(|_| truncated.draw(&mut rng) <= limit));
            }
        }
    }
}
