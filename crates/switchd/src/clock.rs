//! Time, on the clock of the kernel programs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of the clock that `bpf_ktime_get_ns` reads, CLOCK_MONOTONIC.
pub fn now() -> u64 {
    // This clock always exists.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| Duration::from(time).as_nanos() as u64)
}

/// Nanoseconds since 1970.
pub fn since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// The time left until a time of [`now`].
pub fn until(time: u64) -> Duration {
    Duration::from_nanos(time.saturating_sub(now()))
}
