//! The clock of the timestamp option (RFC 7323, section 4.1).

use weft_units::Time;

use crate::config::{Config, TimestampClock};

/// Ticks of the clock.
#[inline]
pub(crate) fn clock(cfg: &Config, now: Time) -> u32 {
    // Two divisions by constants are faster than one by a variable.
    match cfg.timestamp_clock {
        TimestampClock::Millisecond => (now.ps() / 1_000_000_000) as u32,
        TimestampClock::Microsecond => (now.ps() / 1_000_000) as u32,
    }
}

/// Picoseconds since the timestamp `echo` was sent.
#[inline]
pub(crate) fn elapsed(cfg: &Config, now: Time, echo: u32) -> u64 {
    let ticks = clock(cfg, now).wrapping_sub(echo);
    if ticks == 0 { cfg.zero_rtt_sample.ps() } else { u64::from(ticks) * tick(cfg) }
}

/// Picoseconds since the tick in which the timestamp `echo` was sent; 0 if it is not over.
pub(crate) fn after_echo(cfg: &Config, now: Time, echo: u32) -> u64 {
    match clock(cfg, now).wrapping_sub(echo) {
        ticks @ 1..=0x7fff_ffff => u64::from(ticks - 1) * tick(cfg) + now.ps() % tick(cfg),
        _ => 0,
    }
}

/// Picoseconds per tick.
#[inline]
fn tick(cfg: &Config) -> u64 {
    match cfg.timestamp_clock {
        TimestampClock::Millisecond => 1_000_000_000,
        TimestampClock::Microsecond => 1_000_000,
    }
}
