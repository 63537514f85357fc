//! Time, on the clock of the kernel programs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Nanoseconds of the clock that `bpf_ktime_get_ns` reads, CLOCK_MONOTONIC.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value that lives until the call returns; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds since 1970.
pub fn since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// The time left until a time of [`now`].
pub fn until(time: u64) -> Duration {
    Duration::from_nanos(time.saturating_sub(now()))
}
