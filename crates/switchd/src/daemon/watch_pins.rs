//! Restores pins that others remove, and programs that others detach, while the daemon runs: within a quarter of the
//! hold time, at most 1 s; filters of the clsact qdisc within half a second if that is longer.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::shared::Shared;
use super::switch::Switch;
use crate::clock;
use crate::filters;
use crate::held::Found;
use crate::pins::{Hook, Pins};

/// Checks per hold time, and the longest and shortest time between two.
const LOOKS: u32 = 4;
const LONGEST: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(20);
/// The shortest time between two checks of filters. The kernel lists the filters of one interface at a time, so a check
/// takes a netlink dump per port, while checking links takes one cheap system call each.
const FILTERS: Duration = Duration::from_millis(250);

/// When filters are checked next.
struct FilterLooks {
    next: Instant,
}

impl FilterLooks {
    /// If filters are to be checked `now`, schedules the next check at least [`FILTERS`] later and returns true.
    fn take_due(&mut self, now: Instant) -> bool {
        let due = now >= self.next;
        if due {
            self.next = now + FILTERS;
        }
        due
    }
}

/// The time between two checks.
fn pause(hold: Duration) -> Duration {
    (hold / LOOKS).clamp(SHORTEST, LONGEST)
}

/// Checks all pins periodically, on a thread of its own.
pub fn watch(shared: &Shared) {
    let shared = shared.clone();
    let mut looks = FilterLooks { next: Instant::now() };
    std::thread::spawn(move || {
        loop {
            let (held, hook, hold, pins) = {
                let switch = shared.lock();
                (switch.held.clone(), switch.hook, Duration::from_nanos(switch.hold()), switch.pins.clone())
            };
            sleep(pause(hold));
            let detached = || match hook {
                Hook::Tcx => held.detached_links(),
                Hook::Clsact => missing_filters(&pins),
            };
            let found = held.restore();
            if found != Found::default() {
                shared.lock().log_restored(&found, clock::now());
            }
            let is_due = hook == Hook::Tcx || looks.take_due(Instant::now());
            if is_due && !detached().is_empty() {
                let mut switch = shared.lock();
                // Checked again under the lock: since then, the switch may have been taken down, or a port attached.
                switch.attach_again(&detached(), clock::now());
            }
        }
    });
}

/// The pins of filters that are no longer attached; an interface that cannot be queried counts as attached.
fn missing_filters(pins: &Pins) -> Vec<PathBuf> {
    let pinned = pins.attachments().unwrap_or_default().into_iter();
    let filters = pinned.filter(|(hook, ..)| *hook == Hook::Clsact);
    filters
        .filter(|(_, _, interface, _)| filters::is_missing(interface).unwrap_or(false))
        .map(|(.., path)| path)
        .collect()
}

impl Switch {
    /// Logs restored pins.
    fn log_restored(&mut self, found: &Found, now: u64) {
        let pins = self.pins.path().display().to_string();
        self.restored.pins += found.restored as u64;
        self.restored.failures += u64::from(found.failed.is_some());
        if found.restored > 0
            && let Some(left_out) = self.log_limit.admit(0, "pins", now)
        {
            tracing::warn!(
                pins,
                restored = found.restored,
                left_out,
                "pins of this switch were removed and have been restored (to take it down: weftctl down)"
            );
        }
        if let Some((path, error)) = &found.failed
            && let Some(left_out) = self.log_limit.admit(0, "no pins", now)
        {
            tracing::error!(
                path = %path.display(), error, left_out,
                "a removed pin cannot be restored: the data plane will end with this daemon"
            );
        }
    }

    /// Attaches the programs of these pins again, and logs it.
    fn attach_again(&mut self, detached: &[PathBuf], now: u64) {
        for number in 0..self.ports.len() as u16 {
            let name = self.ports[usize::from(number)].name.clone();
            let path = self.pins.attachment(self.hook, number, &name);
            // A port without an interface has lost its link along with it.
            if !detached.contains(&path) || self.ports[usize::from(number)].socket.is_none() {
                continue;
            }
            let done = self.attach(number).err();
            match done {
                None => self.restored.programs += 1,
                Some(_) => self.restored.failures += 1,
            }
            if let Some(left_out) = self.log_limit.admit(number, "detached", now) {
                match done {
                    None => tracing::warn!(
                        port = number,
                        interface = name,
                        left_out,
                        "the data plane was detached from a port and has been reattached"
                    ),
                    Some(error) => tracing::error!(
                        port = number, interface = name, %error, left_out,
                        "the data plane was detached from a port and cannot be reattached"
                    ),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_looked_at_four_times_a_hold_at_least_once_a_second_and_not_all_the_time() {
        for (hold, expected) in [(300, 75), (1, 20), (80, 20), (4000, 1000), (30_000, 1000)] {
            assert_eq!(pause(Duration::from_millis(hold)).as_millis(), expected, "{hold} ms");
        }
    }

    #[test]
    fn filters_are_looked_at_four_times_a_second_at_most_however_short_the_hold_is() {
        let start = Instant::now();
        let mut looks = FilterLooks { next: start };
        let steps = 10_000 / SHORTEST.as_millis() as u32;
        let due = (0..steps).filter(|step| looks.take_due(start + SHORTEST * *step)).count();
        // In steps of 20 ms, the first check after 250 ms comes every 260 ms.
        assert_eq!(due, 39);
        let seldom = (1..=10).filter(|second| looks.take_due(start + LONGEST * (10 + second))).count();
        assert_eq!(seldom, 10, "with a long hold time every check is due");
    }
}
