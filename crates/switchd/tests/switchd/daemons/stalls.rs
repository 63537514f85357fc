//! Measures how long a daemon waited for a CPU, from the kernel's counters: distinguishes a Hello that is late because the
//! machine stalled from one that the daemon itself delayed.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use crate::daemons::switch::Switch;
use crate::daemons::tap::Tap;
use crate::net::Netns;
use crate::wait::Pace;

/// The sampling interval.
const EVERY: Duration = Duration::from_millis(5);

/// A sample of a daemon's threads.
struct Look {
    /// When the sample began and ended.
    began: SystemTime,
    ended: SystemTime,
    /// By thread: the total time that it was runnable without a CPU.
    delays: HashMap<u32, Duration>,
    /// The lateness of this sample itself, which shares the CPUs with the daemon: a stalled virtual machine counts no delay
    /// of its threads.
    late: Duration,
}

/// The delays of the threads of a process: the second number of `schedstat`, in ns.
fn delays(process: u32) -> HashMap<u32, Duration> {
    let of = |thread: &Path| {
        let text = fs::read_to_string(thread.join("schedstat")).ok()?;
        let delay = text.split_whitespace().nth(1)?.parse().ok()?;
        Some((thread.file_name()?.to_str()?.parse().ok()?, Duration::from_nanos(delay)))
    };
    // Threads that end during the sample are skipped.
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| of(&thread.path())).collect()
}

fn between(from: SystemTime, until: SystemTime) -> Duration {
    until.duration_since(from).unwrap_or_default()
}

/// Watches Hello messages that arrive at an interface, and how long their sender waited for a CPU.
pub struct Watch {
    tap: Tap,
    stop: Arc<AtomicBool>,
    looks: JoinHandle<Vec<Look>>,
}

impl Watch {
    /// Starts watching the Hello messages from `sender` to `interface`.
    pub fn start(sender: &Switch<'_>, netns: &Netns, interface: &str) -> Self {
        let (process, stop) = (sender.pid(), Arc::new(AtomicBool::new(false)));
        let ends = stop.clone();
        let looks = std::thread::spawn(move || {
            let (mut looks, mut pace) = (Vec::<Look>::new(), Pace::new(EVERY));
            loop {
                pace.turn();
                let is_over = ends.load(Ordering::Relaxed);
                let began = SystemTime::now();
                let delays = delays(process);
                let since = looks.last().map_or(Duration::ZERO, |last| between(last.began, began));
                let late = since.saturating_sub(2 * EVERY);
                looks.push(Look { began, ended: SystemTime::now(), delays, late });
                if is_over {
                    return looks;
                }
            }
        });
        Self { tap: Tap::start(netns, interface), stop, looks }
    }

    /// Waits until `more` Hello messages have arrived.
    pub fn wait_for_hellos(&self, more: usize) {
        self.tap.wait_for_hellos(more);
    }

    /// Stops and returns the result.
    pub fn end(self) -> Watched {
        let hellos = self.tap.hellos();
        self.stop.store(true, Ordering::Relaxed);
        let looks = self.looks.join().expect("the sampling thread");
        assert!(looks.iter().all(|look| !look.delays.is_empty()), "the daemon must run all the time");
        Watched { hellos, looks }
    }
}

/// Hello messages, and the stalls of their sender.
pub struct Watched {
    hellos: Vec<SystemTime>,
    looks: Vec<Look>,
}

impl Watched {
    /// How long the machine stalled the daemon between two times: the maximum over its threads.
    fn stalled(&self, from: SystemTime, until: SystemTime) -> Duration {
        let first = self.looks.iter().rposition(|look| look.ended <= from).unwrap_or(0);
        let last = self.looks.iter().position(|look| look.began >= until).unwrap_or(self.looks.len() - 1);
        let before = &self.looks[first].delays;
        let grown = |(thread, delay): (&u32, &Duration)| {
            delay.saturating_sub(before.get(thread).copied().unwrap_or_default())
        };
        let longest = self.looks[last].delays.iter().map(grown).max().unwrap_or_default();
        longest.max(self.looks[first + 1..=last].iter().map(|look| look.late).sum())
    }

    /// The durations of `count` consecutive intervals between Hello messages, each with the machine's stall during it.
    pub fn times_of(&self, count: usize) -> impl Iterator<Item = (Duration, Duration)> {
        self.hellos.windows(count + 1).map(move |hellos| {
            let (from, until) = (hellos[0], hellos[count]);
            (between(from, until), self.stalled(from, until))
        })
    }

    /// The longest time between two Hello messages.
    pub fn longest(&self) -> Duration {
        self.times_of(1).map(|(took, _)| took).max().expect("two Hello messages")
    }

    /// The longest time between two Hello messages, excluding stalls of the machine.
    pub fn longest_of_its_own(&self) -> Duration {
        let own = self.times_of(1).map(|(took, stalled)| took.saturating_sub(stalled));
        own.max().expect("two Hello messages")
    }
}
