//! How long a daemon waited for a processor, as the kernel counts it: a Hello that is late because the machine stood still is
//! told from one that the daemon held up itself.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use crate::daemons::net::Netns;
use crate::daemons::switch::Switch;
use crate::daemons::tap::Tap;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(5);

/// What a look at the threads of a daemon finds.
struct Look {
    /// When it began and ended.
    began: SystemTime,
    ended: SystemTime,
    /// By thread: for how long it could run and had no processor, ever.
    delays: HashMap<u32, Duration>,
    /// By how much this look, which takes turns with the daemon, is late itself: a virtual machine that stands still counts
    /// no delay of its threads.
    late: Duration,
}

/// The delays of the threads of a process: the second number of `schedstat`, in ns.
fn delays(process: u32) -> HashMap<u32, Duration> {
    let of = |thread: &Path| {
        let text = fs::read_to_string(thread.join("schedstat")).ok()?;
        let delay = text.split_whitespace().nth(1)?.parse().ok()?;
        Some((thread.file_name()?.to_str()?.parse().ok()?, Duration::from_nanos(delay)))
    };
    // A thread that ends meanwhile has no delay any more.
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| of(&thread.path())).collect()
}

fn between(from: SystemTime, until: SystemTime) -> Duration {
    until.duration_since(from).unwrap_or_default()
}

/// Hello messages that come in at an interface, and how long the daemon that sends them waited for a processor.
pub struct Watch {
    tap: Tap,
    stop: Arc<AtomicBool>,
    looks: JoinHandle<Vec<Look>>,
}

impl Watch {
    /// Begins to watch the Hello messages that `sender` sends to `interface`.
    pub fn start(sender: &Switch<'_>, netns: &Netns, interface: &str) -> Self {
        let (process, stop) = (sender.pid(), Arc::new(AtomicBool::new(false)));
        let ends = stop.clone();
        let looks = std::thread::spawn(move || {
            let mut looks: Vec<Look> = Vec::new();
            loop {
                let is_over = ends.load(Ordering::Relaxed);
                let began = SystemTime::now();
                let delays = delays(process);
                let since = looks.last().map_or(Duration::ZERO, |last| between(last.began, began));
                let late = since.saturating_sub(2 * EVERY);
                looks.push(Look { began, ended: SystemTime::now(), delays, late });
                if is_over {
                    return looks;
                }
                std::thread::sleep(EVERY);
            }
        });
        Self { tap: Tap::start(netns, interface), stop, looks }
    }

    /// What was seen until now.
    pub fn end(self) -> Watched {
        let hellos = self.tap.hellos();
        self.stop.store(true, Ordering::Relaxed);
        let looks = self.looks.join().expect("the looks");
        assert!(looks.iter().all(|look| !look.delays.is_empty()), "a daemon runs all the time");
        Watched { hellos, looks }
    }
}

/// Hello messages, and what the machine kept from their sender.
pub struct Watched {
    hellos: Vec<SystemTime>,
    looks: Vec<Look>,
}

impl Watched {
    /// For how long the machine kept the daemon from running between two times: as long as the thread that waited most did.
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

    /// The times that `count` Hello messages after another took, and how much of each the machine stood still.
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

    /// The longest time between two without that in which the machine kept the daemon from running.
    pub fn longest_of_its_own(&self) -> Duration {
        let own = self.times_of(1).map(|(took, stalled)| took.saturating_sub(stalled));
        own.max().expect("two Hello messages")
    }
}
