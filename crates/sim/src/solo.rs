//! [`Solo`]: when a run on a busy machine continues on one thread.
//!
//! All threads finish a window together. A thread that has to share its processor keeps the others waiting, and the run may
//! then take longer than on one thread. So where the leading thread waits long, both ways are tried for a short time, and the
//! faster one is kept for a longer one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The least time and the least number of windows of a trial.
const TRIAL: Duration = Duration::from_millis(30);
const WINDOWS: u32 = 4;
/// How long the result of a trial is valid: at first, and after many with the same result.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);

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
    /// Whether waits are long enough for one thread to be faster.
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
    windows: u32,
    /// The last result: whether one thread was faster.
    was_alone: bool,
    /// How long the next one is valid.
    length: Duration,
}

impl Solo {
    /// All threads work; if they `rest`, only the leading one in every other window.
    pub fn new(rests: bool) -> Self {
        let record = Record {
            phase: Phase::Together,
            sum: Measured::default(),
            windows: 0,
            was_alone: false,
            length: SHORTEST,
        };
        Self { rests, is_on: AtomicBool::new(false), record: Mutex::new(record) }
    }

    /// Whether helping threads leave all work of this window to the leading thread.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
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
        record.windows += 1;
        if record.sum.time() < TRIAL || record.windows < WINDOWS {
            return;
        }
        let sum = std::mem::take(&mut record.sum);
        record.windows = 0;
        match record.phase {
            Phase::Alone(together) => {
                let is_alone = sum.is_faster_than(&together);
                let is_same = is_alone == record.was_alone;
                record.length = if is_same { (record.length * 2).min(LONGEST) } else { SHORTEST };
                record.was_alone = is_alone;
                record.phase = Phase::Valid(now + record.length);
                self.is_on.store(is_alone, Ordering::Relaxed);
            }
            _ if sum.is_slow() => {
                record.phase = Phase::Alone(sum);
                self.is_on.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs windows of 100 events for a minute, each of which takes one of these times of work and waiting in microseconds:
    /// together, or alone. Returns the share of the time alone.
    fn share_alone(together: [u64; 2], alone: u64) -> f64 {
        let (solo, start) = (Solo::new(false), Instant::now());
        let (mut now, mut time_alone) = (start, Duration::ZERO);
        while now - start < Duration::from_secs(60) {
            solo.start_window(now);
            let [worked, waited] =
                if solo.is_on() { [alone, 0] } else { together }.map(Duration::from_micros);
            now += worked + waited;
            time_alone += if solo.is_on() { worked } else { Duration::ZERO };
            solo.end_window(Measured { worked, waited, events: 100 }, now);
        }
        time_alone.as_secs_f64() / 60.0
    }

    #[test]
    fn a_run_that_one_thread_would_finish_sooner_continues_alone() {
        for together in [[400, 600], [100, 5_000]] {
            let share = share_alone(together, 900);
            assert!((0.95..0.999).contains(&share), "{together:?}: {share}");
        }
    }

    #[test]
    fn a_run_that_gains_keeps_its_threads_however_unevenly_they_work() {
        // The leading thread has half of the work, or little, or none.
        for together in [[400, 150], [20, 780], [0, 800]] {
            let share = share_alone(together, 900);
            assert!(share < 0.05, "{together:?}: {share}");
        }
        // Nothing is tried where waits are short.
        assert!(share_alone([400, 90], 900) == 0.0);
    }

    #[test]
    fn a_run_notices_within_the_longest_time_that_the_load_has_ended() {
        let (solo, mut now) = (Solo::new(false), Instant::now());
        let window = |solo: &Solo, now: &mut Instant, together: [u64; 2]| {
            solo.start_window(*now);
            let [worked, waited] = if solo.is_on() { [900, 0] } else { together }.map(Duration::from_micros);
            *now += worked + waited;
            solo.end_window(Measured { worked, waited, events: 100 }, *now);
        };
        (0..20_000).for_each(|_| window(&solo, &mut now, [400, 700]));
        let end = now;
        while now - end < LONGEST + TRIAL * 3 {
            window(&solo, &mut now, [400, 50]);
        }
        assert!(!solo.is_on());
    }
}
