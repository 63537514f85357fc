//! [`Lateness`]: how long after their time flows were started.

use serde::Serialize;

/// Lateness that is worth a warning, in picoseconds at the 99th percentile: 1 ms.
const WARN_PS: u64 = 1_000_000_000;

/// How long after their time flows were started: when `connect` was called, against when it should have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Lateness {
    /// Half of the flows were later than this.
    pub p50_ps: u64,
    /// One of a hundred was.
    pub p99_ps: u64,
    /// The latest.
    pub max_ps: u64,
}

impl Lateness {
    /// Of flows that were late by `late` picoseconds each.
    pub fn of(mut late: Vec<u64>) -> Self {
        late.sort_unstable();
        let percentile = |share: f64| {
            let rank = (share * late.len() as f64).ceil().max(1.0) as usize - 1;
            late.get(rank).copied().unwrap_or(0)
        };
        Self { p50_ps: percentile(0.5), p99_ps: percentile(0.99), max_ps: percentile(1.0) }
    }

    /// What to tell a user of a machine that cannot keep up.
    pub fn warning(&self) -> Option<String> {
        (self.p99_ps > WARN_PS).then(|| {
            format!(
                "one of a hundred flows started more than {:.1} ms late: this machine is too busy for the workload",
                self.p99_ps as f64 * 1e-9
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        assert_eq!(Lateness::of(Vec::new()), Lateness::default());
        let lateness = Lateness::of((1..=200).rev().collect());
        assert_eq!((lateness.p50_ps, lateness.p99_ps, lateness.max_ps), (100, 198, 200));
        assert_eq!(lateness.warning(), None);
        assert!(Lateness { p99_ps: 2_500_000_000, ..lateness }.warning().unwrap().contains("2.5 ms"));
    }
}
