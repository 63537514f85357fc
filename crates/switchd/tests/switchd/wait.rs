//! Helpers that wait for a state or send at a rate; tests sleep only here.

use std::time::{Duration, Instant};

/// A state that has not come by then never comes, however busy the machine is.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Sleeps for an interval whose end no state of the switch shows.
pub fn settle(time: Duration) {
    std::thread::sleep(time);
}

/// Whether `is` returns true before `deadline` is over.
pub fn comes(deadline: Duration, mut is: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    loop {
        if is() {
            return true;
        }
        if began.elapsed() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until `is` returns true, and fails if it never does.
pub fn wait_for(what: &str, is: impl FnMut() -> bool) {
    assert!(comes(DEADLINE, is), "timed out after {DEADLINE:?}: {what}");
}

/// Waits until a count has grown by `more`.
pub fn wait_for_more<T>(what: &str, more: T, count: impl Fn() -> T)
where
    T: Copy + PartialOrd + std::ops::Add<Output = T>,
{
    let before = count();
    wait_for(what, || count() >= before + more);
}

/// A rate. A sender that was late does not catch up, so that a busy machine sees no bursts.
pub struct Pace {
    every: Duration,
    next: Instant,
}

impl Pace {
    pub fn new(every: Duration) -> Self {
        Self { every, next: Instant::now() }
    }

    /// Waits until the next turn; the first one is at once.
    pub fn turn(&mut self) {
        let now = Instant::now();
        std::thread::sleep(self.next.saturating_duration_since(now));
        self.next = self.next.max(now) + self.every;
    }
}
