//! [`free_cores`]: the processor cores that other programs leave.

use std::time::Duration;

/// How often, and how far apart, the kernel is asked. Tasks that run only for a moment are not in all answers.
const SAMPLES: u32 = 5;
const APART: Duration = Duration::from_millis(1);

/// The cores of the machine beside the tasks that keep on running on it, the calling thread not included: at least one, and all of
/// them where the kernel does not tell. Takes 4 ms.
///
/// A run that is divided among threads is finished when the last of them is, so a thread without a core of its own makes it
/// slower than it would be on one thread.
pub fn free_cores() -> usize {
    let running = (0..SAMPLES).map(|sample| {
        if sample > 0 {
            std::thread::sleep(APART);
        }
        running(&std::fs::read_to_string("/proc/loadavg").ok()?)
    });
    let others = running.map(|running| running.map_or(0, |running| running.saturating_sub(1))).min();
    online().saturating_sub(others.unwrap_or(0)).max(1)
}

/// The number of tasks that run or could run, in the text of `/proc/loadavg` (proc(5)).
fn running(text: &str) -> Option<usize> {
    text.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

/// The cores of the machine, which may be more than the process may use.
fn online() -> usize {
    // SAFETY: the call reads a number.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(count).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn the_number_of_running_tasks_is_read() {
        assert_eq!(running("0.20 0.18 0.12 3/80 11206\n"), Some(3));
        for text in ["", "0.20 0.18 0.12", "0.20 0.18 0.12 3 11206", "0.20 0.18 0.12 x/80 11206"] {
            assert_eq!(running(text), None, "{text}");
        }
    }

    #[test]
    fn cores_on_which_others_compute_are_not_free() {
        let (is_over, started) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..online() {
                scope.spawn(|| {
                    started.fetch_add(1, Ordering::Relaxed);
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            while started.load(Ordering::Relaxed) < online() {
                std::thread::sleep(APART);
            }
            // The kernel does not count all threads under a quota, nor gVisor any.
            let counts = || running(&std::fs::read_to_string("/proc/loadavg").ok()?);
            let is_counted = || counts().is_some_and(|count| count >= online());
            let (before, free, after) = (is_counted(), free_cores(), is_counted());
            is_over.store(true, Ordering::Relaxed);
            if before && after {
                assert_eq!(free, 1);
            }
        });
    }
}
