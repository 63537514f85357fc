//! [`Clock`]: the time since the common start of a run.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Time since the common start, on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Duration,
}

impl Clock {
    /// A run that starts `lead` from now.
    pub fn starting_in(lead: Duration) -> Self {
        Self { start: monotonic() + lead }
    }

    /// A run that starts at `start_ns` nanoseconds since 1970.
    ///
    /// # Errors
    /// The start is in the past; the error is how long ago it was.
    pub fn starting_at(start_ns: u64) -> Result<Self, Duration> {
        let (start, now) = (Duration::from_nanos(start_ns), real());
        start.checked_sub(now).map(Self::starting_in).ok_or_else(|| now.saturating_sub(start))
    }

    /// Picoseconds since the start; 0 before it.
    pub fn now_ps(&self) -> u64 {
        picoseconds(monotonic().saturating_sub(self.start))
    }

    /// Whether the run has started.
    pub fn has_begun(&self) -> bool {
        monotonic() >= self.start
    }

    /// The instant `ps` after the start, on the monotonic clock.
    pub fn at_ps(&self, ps: u64) -> Duration {
        self.start + Duration::from_nanos(ps / 1_000)
    }

    /// The start in nanoseconds since 1970.
    pub fn start_ns(&self) -> u64 {
        let start = (real() + self.start).saturating_sub(monotonic());
        u64::try_from(start.as_nanos()).unwrap_or(u64::MAX)
    }
}

fn picoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos().saturating_mul(1_000)).unwrap_or(u64::MAX)
}

fn monotonic() -> Duration {
    read(ClockId::Monotonic)
}

fn real() -> Duration {
    read(ClockId::Realtime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_in_the_future_is_zero_until_then_and_one_in_the_past_is_refused() {
        let ahead = (real() + Duration::from_secs(50)).as_nanos() as u64;
        let clock = Clock::starting_at(ahead).unwrap();
        assert!(clock.now_ps() == 0 && !clock.has_begun());
        assert!(clock.start_ns().abs_diff(ahead) < 50_000_000);
        let over = Clock::starting_at(ahead - 60_000_000_000).unwrap_err();
        assert!((9..11).contains(&over.as_secs()), "{over:?}");
    }
}
