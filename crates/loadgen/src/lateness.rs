//! [`Lateness`]: how late flows were started.

use serde::Serialize;

/// The 99th percentile above which to warn, in picoseconds: 1 ms.
const WARN_PS: u64 = 1_000_000_000;

/// How late flows were started: the time from the scheduled start to the call of `connect`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Lateness {
    /// The median.
    pub p50_ps: u64,
    /// The 99th percentile.
    pub p99_ps: u64,
    /// The maximum.
    pub max_ps: u64,
}

impl Lateness {
    /// The statistics of `late`, in picoseconds per flow.
    pub fn of(mut late: Vec<u64>) -> Self {
        late.sort_unstable();
        let percentile = |share: f64| {
            let rank = (share * late.len() as f64).ceil().max(1.0) as usize - 1;
            late.get(rank).copied().unwrap_or(0)
        };
        Self { p50_ps: percentile(0.5), p99_ps: percentile(0.99), max_ps: percentile(1.0) }
    }

    /// A warning if this machine could not keep up.
    pub fn warning(&self) -> Option<String> {
        (self.p99_ps > WARN_PS).then(|| {
            format!(
                "1 % of the flows started more than {:.1} ms late: this machine is too slow for the workload",
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
