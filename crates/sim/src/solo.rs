//! [`Solo`]: when a run on a busy machine continues on one thread.
//!
//! All threads finish a window together. A thread that has to share its processor keeps the others waiting, and the run may
//! then take longer than on one thread. So where the leading thread waits long, both ways are tried for a short time, and the
//! faster one is kept for a longer one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long either way is measured at least.
const TRIAL: Duration = Duration::from_millis(30);
/// How long a result is valid, as a multiple of the time that was measured: at first, and after many with the same result.
const FIRST: u32 = 2;
const MOST: u32 = 32;
/// How long a thread that does not help sleeps between checks; in tests it should help in some windows of a short run.
const NAP: Duration = Duration::from_millis(1);
const SHORT_NAP: Duration = Duration::from_micros(50);

/// What the leading thread has measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// The time for which it worked.
    pub worked: Duration,
    /// The time for which it waited for the others.
    pub waited: Duration,
    /// The events that all threads have handled.
    pub events: u64,
}

impl Measured {
    /// Whether waits are long enough that one thread may be faster.
    fn is_slow(&self) -> bool {
        self.waited > self.worked / 4
    }

    fn time(&self) -> Duration {
        self.worked + self.waited
    }

    /// Whether events took less time than in `other`.
    fn is_faster_than(&self, other: &Self) -> bool {
        let product = |time: Duration, events: u64| time.as_nanos() * u128::from(events);
        product(other.time(), self.events) > product(self.time(), other.events)
    }
}

/// A part of the run.
#[derive(Clone, Copy)]
enum Phase {
    /// All threads work, and are measured.
    Together,
    /// The leading thread works alone, and is measured, after all threads together.
    Alone(Measured),
    /// The result of a trial is valid until then.
    Valid(Instant),
}

/// Whether the leading thread works alone.
pub struct Solo {
    /// Whether helping threads rest in every other window, for tests.
    rests: bool,
    is_on: AtomicBool,
    /// Only the leading thread uses it.
    record: Mutex<Record>,
}

struct Record {
    phase: Phase,
    sum: Measured,
    /// The last result since waits were short: whether one thread was faster.
    was_alone: Option<bool>,
    /// How long it is valid, as a multiple of the time that was measured.
    factor: u32,
}

impl Solo {
    /// All threads work; if they `rest`, only the leading one in every other window.
    pub fn new(rests: bool) -> Self {
        let record =
            Record { phase: Phase::Together, sum: Measured::default(), was_alone: None, factor: FIRST };
        Self { rests, is_on: AtomicBool::new(false), record: Mutex::new(record) }
    }

    /// Whether helping threads leave all work of this window to the leading thread.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Lets a thread that does not help wait.
    pub fn rest(&self) {
        std::thread::sleep(if self.rests { SHORT_NAP } else { NAP });
    }

    /// A window starts at `now`.
    pub fn start_window(&self, now: Instant) {
        if self.rests {
            self.is_on.fetch_not(Ordering::Relaxed);
            return;
        }
        let mut record = self.record();
        if matches!(record.phase, Phase::Valid(until) if now >= until) {
            record.phase = Phase::Together;
            self.is_on.store(false, Ordering::Relaxed);
        }
    }

    /// A window ends at `now`.
    pub fn end_window(&self, window: Measured, now: Instant) {
        let mut record = self.record();
        if self.rests || matches!(record.phase, Phase::Valid(_)) {
            return;
        }
        record.sum.worked += window.worked;
        record.sum.waited += window.waited;
        record.sum.events += window.events;
        if record.sum.time() < TRIAL {
            return;
        }
        let sum = std::mem::take(&mut record.sum);
        match record.phase {
            Phase::Alone(together) => {
                let is_alone = sum.is_faster_than(&together);
                let is_same = record.was_alone.replace(is_alone) == Some(is_alone);
                record.factor = if is_same { (record.factor * 2).min(MOST) } else { FIRST };
                record.phase = Phase::Valid(now + (together.time() + sum.time()) * record.factor);
                self.is_on.store(is_alone, Ordering::Relaxed);
            }
            _ if sum.is_slow() => {
                record.phase = Phase::Alone(sum);
                self.is_on.store(true, Ordering::Relaxed);
            }
            _ => record.was_alone = None,
        }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run in virtual time.
    struct Run {
        solo: Solo,
        now: Instant,
    }

    impl Run {
        fn new() -> Self {
            Self { solo: Solo::new(false), now: Instant::now() }
        }

        /// Windows of 100 events for `seconds`, each of which takes one of these times in microseconds: to work and to wait
        /// together, or to work alone. Returns the share of the time alone.
        fn go(&mut self, seconds: f64, together: [u64; 2], alone: u64) -> f64 {
            let (start, mut time_alone) = (self.now, Duration::ZERO);
            while (self.now - start).as_secs_f64() < seconds {
                self.solo.start_window(self.now);
                let is_alone = self.solo.is_on();
                let [worked, waited] =
                    if is_alone { [alone, 0] } else { together }.map(Duration::from_micros);
                self.now += worked + waited;
                time_alone += if is_alone { worked } else { Duration::ZERO };
                self.solo.end_window(Measured { worked, waited, events: 100 }, self.now);
            }
            time_alone.as_secs_f64() / (self.now - start).as_secs_f64()
        }
    }

    #[test]
    fn a_run_that_one_thread_would_finish_sooner_continues_alone() {
        for together in [[400, 600], [100, 5_000], [400_000, 600_000]] {
            let alone = together[0] + together[1] - 100;
            let share = Run::new().go(60.0, together, alone);
            assert!((0.9..0.999).contains(&share), "{together:?}: {share}");
        }
    }

    #[test]
    fn a_run_that_gains_keeps_its_threads_however_unevenly_they_work() {
        // The leading thread has half of the work, or little, or none; windows are short or long.
        for (together, alone) in
            [([400, 150], 900), ([20, 780], 900), ([0, 800], 900), ([400_000, 150_000], 900_000)]
        {
            let share = Run::new().go(60.0, together, alone);
            assert!(share < 0.1, "{together:?}: {share}");
        }
    }

    #[test]
    fn nothing_is_tried_where_waits_are_short() {
        assert!(Run::new().go(60.0, [400, 90], 100) == 0.0);
    }

    #[test]
    fn a_run_notices_that_load_has_ended_and_forgets_it() {
        let mut run = Run::new();
        assert!(run.go(60.0, [400, 700], 900) > 0.9);
        run.go((TRIAL * 2 * (MOST + 2)).as_secs_f64(), [400, 50], 900);
        assert!(run.go(60.0, [400, 50], 900) == 0.0);
        // A bad moment costs no more than the first one.
        assert!(run.go(0.3, [400, 700], 900) > 0.0);
        let share = run.go(2.0, [400, 50], 900);
        assert!(share < 0.2, "{share}");
    }
}
