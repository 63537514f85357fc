//! [`Solo`]: when a run on a busy machine goes on without its helping threads.
//!
//! All threads finish a window together. A thread that has to share its processor keeps the others waiting, and a run may
//! then take longer than on one thread. So the leading thread compares, over some time, its waits with its work: alone, it
//! would also do the work of the others, with as much of its processor as now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time, and the windows, after which waits are compared with work.
const PERIOD: Duration = Duration::from_millis(10);
const WINDOWS: u32 = 4;
/// The time alone after the first comparison, and after many that had the same outcome.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);

/// Whether the leading thread works alone.
pub struct Solo {
    is_on: AtomicBool,
    /// Of the leading thread.
    record: Mutex<Record>,
}

struct Record {
    worked: Duration,
    waited: Duration,
    windows: u32,
    /// When helpers are tried again.
    until: Option<Instant>,
    /// How long the leading thread works alone next time.
    length: Duration,
}

impl Default for Solo {
    fn default() -> Self {
        let record = Record {
            worked: Duration::ZERO,
            waited: Duration::ZERO,
            windows: 0,
            until: None,
            length: SHORTEST,
        };
        Self { is_on: AtomicBool::new(false), record: Mutex::new(record) }
    }
}

impl Solo {
    /// Whether helping threads leave all work of the next window to the leading thread.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// A window starts at `now`.
    pub fn start_window(&self, now: Instant) {
        let mut record = self.record();
        if record.until.is_some_and(|until| now >= until) {
            record.until = None;
            self.is_on.store(false, Ordering::Relaxed);
        }
    }

    /// In a window of `threads` threads, the leading one `worked` and then `waited` for the others.
    pub fn end_window(&self, threads: usize, worked: Duration, waited: Duration, now: Instant) {
        let mut record = self.record();
        if threads == 1 || record.until.is_some() {
            return;
        }
        record.worked += worked;
        record.waited += waited;
        record.windows += 1;
        if record.worked + record.waited < PERIOD || record.windows < WINDOWS {
            return;
        }
        if record.waited > record.worked * (threads - 1) as u32 {
            record.until = Some(now + record.length);
            record.length = (record.length * 2).min(LONGEST);
            self.is_on.store(true, Ordering::Relaxed);
        } else {
            record.length = SHORTEST;
        }
        (record.worked, record.waited, record.windows) = (Duration::ZERO, Duration::ZERO, 0);
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of this work and wait, on two threads, for as long as `is_on` is not `until`; returns the time that they took.
    fn run(solo: &Solo, now: &mut Instant, [worked, waited]: [u64; 2], until: bool) -> Duration {
        let (start, [worked, waited]) = (*now, [worked, waited].map(Duration::from_micros));
        for _ in 0..1_000_000 {
            solo.start_window(*now);
            if solo.is_on() == until {
                break;
            }
            *now += worked + waited;
            solo.end_window(2, worked, waited, *now);
        }
        *now - start
    }

    #[test]
    fn a_run_that_waits_longer_than_it_works_goes_on_alone_for_longer_each_time() {
        let (solo, mut now) = (Solo::default(), Instant::now());
        let mut alone = Duration::ZERO;
        for round in 0..8 {
            let tried = run(&solo, &mut now, [400, 600], true);
            assert!(tried < PERIOD * 2, "{tried:?}");
            let this = run(&solo, &mut now, [800, 0], false);
            assert!(this > alone || this >= LONGEST, "{round}: {this:?} after {alone:?}");
            assert!(tried * 10 < this + Duration::from_millis(30), "{tried:?}, {this:?}");
            alone = this;
        }
        assert!(alone < LONGEST + Duration::from_millis(2));
    }

    #[test]
    fn a_run_that_gains_keeps_its_helpers() {
        let (solo, mut now) = (Solo::default(), Instant::now());
        assert!(run(&solo, &mut now, [400, 390], true) > Duration::from_secs(100));
        // Four threads gain as long as the waits are shorter than the work of three.
        for (waited, is_on) in [(1_100, false), (1_300, true)] {
            for _ in 0..100 {
                now += Duration::from_micros(400 + waited);
                solo.end_window(4, Duration::from_micros(400), Duration::from_micros(waited), now);
            }
            assert_eq!(solo.is_on(), is_on);
        }
    }
}
