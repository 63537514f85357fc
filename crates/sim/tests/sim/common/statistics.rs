//! Tolerances for measured values.

use std::fmt::Debug;

/// The relative error of `measured`.
pub fn error(measured: f64, expected: f64) -> f64 {
    measured / expected - 1.0
}

/// Prints the values (the rows of `validation/theory/README.md`) and checks them against the
/// tolerance.
pub fn holds(what: &str, measured: f64, expected: f64, tolerance: f64, seed: impl Debug) {
    let error = error(measured, expected);
    println!(
        "| {what} | {expected:.5} | {measured:.5} | {:+.2} % | {} % |",
        error * 100.0,
        tolerance * 100.0
    );
    assert!(
        error.abs() <= tolerance,
        "{what}: measured {measured}, expected {expected}, {:+.2} % apart (at most {} %), seed {seed:?}",
        error * 100.0,
        tolerance * 100.0
    );
}

/// Pearson's statistic of counts that should be equal.
pub fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
}

/// The value that [`chi_square`] exceeds by chance once in a thousand times (Wilson and Hilferty 1931).
pub fn chi_square_limit(classes: usize) -> f64 {
    const Z: f64 = 3.0902;
    let freedom = classes as f64 - 1.0;
    let step = 2.0 / (9.0 * freedom);
    freedom * (1.0 - step + Z * step.sqrt()).powi(3)
}

/// Asserts that `counts` are consistent with equal probabilities.
pub fn is_even(what: &str, counts: &[u64], seed: impl Debug) {
    let (statistic, limit) = (chi_square(counts), chi_square_limit(counts.len()));
    assert!(statistic < limit, "{what}: chi-square {statistic:.1} of {limit:.1}, {counts:?}, seed {seed:?}");
}
