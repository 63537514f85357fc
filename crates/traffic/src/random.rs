//! Draws from a random stream: unbiased integers, reals, exponential gaps, shuffles. The results are
//! the same on every machine: the logarithm is `libm`'s, not the platform's.

use rand_core::RngCore;

/// A real in [0, 1) with 53 random bits.
pub(crate) fn unit(rng: &mut impl RngCore) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// An integer in `0..n`, every one equally likely; 0 if `n` is 0.
///
/// Lemire, "Fast random integer generation in an interval" (2019): the high half of a product, redrawn
/// in the few cases that would favour small values.
pub(crate) fn below(rng: &mut impl RngCore, n: u64) -> u64 {
    let mut product = u128::from(rng.next_u64()) * u128::from(n);
    if (product as u64) < n {
        let threshold = n.wrapping_neg() % n;
        while (product as u64) < threshold {
            product = u128::from(rng.next_u64()) * u128::from(n);
        }
    }
    (product >> 64) as u64
}

/// An exponentially distributed real of mean 1.
pub(crate) fn exponential(rng: &mut impl RngCore) -> f64 {
    -libm::log(1.0 - unit(rng))
}

/// Shuffles `items`, every order equally likely.
pub(crate) fn shuffle<T>(rng: &mut impl RngCore, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn integers_fill_their_range_evenly() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[below(&mut rng, 7) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }

    #[test]
    fn exponential_gaps_have_mean_one_and_variance_one() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let draws: Vec<f64> = (0..100_000).map(|_| exponential(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 1.0).abs() < 0.01 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }
}
