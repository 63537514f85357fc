//! [`PartitionSet`]: all partitions of a run, and the packets between them. All threads work on the same window of
//! time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use weft_fabric::Fabric;
use weft_units::{Duration, LinkId, NodeId, Time};

use crate::division::Division;
use crate::hosts::{Hosts, World};
use crate::line::LinkCounters;
use crate::network::Crossing;
use crate::partition::{Partition, Pause};
use crate::solo::{Measured, Solo};

/// How often a thread looks for the others before it lets them have the processor, and before it sleeps.
const LOOKS: u32 = 200;
const YIELDS: u32 = 2_000;
/// How long a thread sleeps that finds no work: nobody waits for it.
const SLEEP: std::time::Duration = std::time::Duration::from_micros(50);

/// All partitions.
pub struct PartitionSet<'a, H> {
    fabric: &'a Fabric,
    /// State shared by all hosts.
    pub world: World<'a>,
    division: Division,
    slots: Vec<Slot<'a, H>>,
    /// Counts windows; changing it starts the threads on the next one.
    window: AtomicU64,
    end_ps: AtomicU64,
    /// When the first event of all partitions is due.
    first_ps: AtomicU64,
    /// Whether a journal has entries.
    has_news: AtomicBool,
    /// Partitions that have been worked through in this window, and their events.
    done: AtomicUsize,
    handled: AtomicU64,
    /// The panics of this window.
    panics: Mutex<Vec<Box<dyn Any + Send>>>,
    over: AtomicBool,
    solo: Solo,
}

/// The packets from each partition, and one bit for each that sent any.
struct Mailbox {
    from: Vec<Mutex<Vec<Crossing>>>,
    senders: AtomicU64,
}

impl Mailbox {
    fn new(parts: usize) -> Self {
        let from = std::iter::repeat_with(Mutex::default).take(parts).collect();
        Self { from, senders: AtomicU64::new(0) }
    }
}

/// A partition, and other threads' view of it.
struct Slot<'a, H> {
    partition: Mutex<Partition<'a, H>>,
    /// Packets from other partitions, sent in windows of even and of odd numbers: those of one window are taken in
    /// during the next.
    mail: [Mailbox; 2],
    /// The last window that a thread has claimed.
    claimed: AtomicU64,
}

impl<'a, H: Hosts> PartitionSet<'a, H> {
    /// The partitions of `division`, which divides `fabric`, made by `make`; `solo` decides when one thread works alone.
    pub fn new(
        fabric: &'a Fabric,
        world: World<'a>,
        division: Division,
        solo: Solo,
        mut make: impl FnMut(&World<'a>, &Division, usize) -> Partition<'a, H>,
    ) -> Self {
        let slot = |part| Slot {
            partition: Mutex::new(make(&world, &division, part)),
            mail: [0; 2].map(|_| Mailbox::new(division.parts())),
            claimed: AtomicU64::new(0),
        };
        let slots = (0..division.parts()).map(slot).collect();
        Self {
            fabric,
            world,
            division,
            slots,
            window: AtomicU64::new(0),
            end_ps: AtomicU64::new(0),
            first_ps: AtomicU64::new(0),
            has_news: AtomicBool::new(true),
            done: AtomicUsize::new(0),
            handled: AtomicU64::new(0),
            panics: Mutex::default(),
            over: AtomicBool::new(false),
            solo,
        }
    }

    /// The number of partitions.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Partition `part`, while nobody else uses it.
    pub fn part(&self, part: usize) -> MutexGuard<'_, Partition<'a, H>> {
        lock(&self.slots[part].partition)
    }

    /// The partition of a node.
    pub fn part_of(&self, node: NodeId) -> MutexGuard<'_, Partition<'a, H>> {
        self.part(self.division.part_of(node))
    }

    /// The partition of a link's sending end.
    pub fn sender_of(&self, link: LinkId) -> MutexGuard<'_, Partition<'a, H>> {
        self.part_of(self.fabric.link(link).from)
    }

    /// The counters of a link.
    pub fn counters_of(&self, link: LinkId) -> LinkCounters {
        self.sender_of(link).net.counters_of(link)
    }

    /// Every partition in turn.
    pub fn parts(&self) -> impl Iterator<Item = MutexGuard<'_, Partition<'a, H>>> {
        self.slots.iter().map(|slot| lock(&slot.partition))
    }

    /// When the first event is due.
    pub fn first(&self) -> Time {
        Time::from_ps(self.first_ps.load(Ordering::Relaxed))
    }

    /// Something has been scheduled for `at`.
    pub fn expect(&self, at: Time) {
        self.first_ps.fetch_min(at.ps(), Ordering::Relaxed);
    }

    /// Whether there has been news since the last call.
    pub fn take_news(&self) -> bool {
        self.has_news.load(Ordering::Relaxed) && self.has_news.swap(false, Ordering::Relaxed)
    }

    /// Takes in all packets between partitions, and finds out when the first event is due, before or after
    /// partitions are changed from outside.
    pub fn settle(&self) {
        for (from, mut part) in self.parts().enumerate() {
            // The packets of the last window are still in the other half.
            self.post(from, &mut part, self.window.load(Ordering::Relaxed) + 1);
        }
        let mut first = Time::MAX;
        for slot in &self.slots {
            let mut part = lock(&slot.partition);
            slot.mail.iter().for_each(|mail| fetch(mail, &mut part));
            first = first.min(part.net.first_event());
        }
        self.first_ps.store(first.ps(), Ordering::Relaxed);
        self.has_news.store(true, Ordering::Relaxed);
    }

    /// Sends off the packets for other partitions.
    fn post(&self, from: usize, part: &mut Partition<'a, H>, window: u64) {
        if std::mem::replace(&mut part.net.first_leaving, Time::MAX) == Time::MAX {
            return;
        }
        for (to, leaving) in part.net.leaving.iter_mut().enumerate() {
            if !leaving.is_empty() {
                let mail = &self.slots[to].mail[window as usize % 2];
                std::mem::swap(&mut *lock(&mail.from[from]), leaving);
                mail.senders.fetch_or(1 << from, Ordering::Relaxed);
            }
        }
    }

    /// Works through the only partition up to `end`, or up to urgent news, or for this many events.
    pub fn work_alone(&self, end: Time, most: u32) {
        let mut part = self.part(0);
        if part.run(end, most, true, &self.world) != Pause::End {
            // All that happens at the same time belongs together.
            let now = part.net.now;
            part.run((now + Duration::PICOSECOND).min(end), u32::MAX, false, &self.world);
        }
        self.first_ps.store(part.net.first_event().ps(), Ordering::Relaxed);
        self.has_news.store(!part.net.journal.entries.is_empty(), Ordering::Relaxed);
    }

    /// Works through the window up to `end` in all partitions. Threads of [`PartitionSet::help`] that have a processor help.
    ///
    /// # Panics
    /// With the panic of one of the threads, once all are done.
    pub fn work(&self, end: Time) {
        self.end_ps.store(end.ps(), Ordering::Relaxed);
        self.first_ps.store(u64::MAX, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.handled.store(0, Ordering::Relaxed);
        let start = (self.count() > 1).then(Instant::now);
        if let Some(start) = start {
            self.solo.start_window(start);
        }
        let window = self.window.fetch_add(1, Ordering::Release) + 1;
        self.work_slots(0, window, end);
        let wait_start = start.map(|_| Instant::now());
        let mut looks = 0;
        while self.done.load(Ordering::Acquire) < self.count() {
            looks += 1;
            pause(looks.min(YIELDS - 1));
        }
        if let (Some(start), Some(wait_start)) = (start, wait_start) {
            let (now, events) = (Instant::now(), self.handled.load(Ordering::Relaxed));
            let window = Measured { worked: wait_start - start, waited: now - wait_start, events };
            self.solo.end_window(window, now);
        }
        if let Some(panic) = lock(&self.panics).pop() {
            resume_unwind(panic);
        }
    }

    /// Helps until [`PartitionSet::close`], with partition `from` first.
    pub fn help(&self, from: usize) {
        let (mut window, mut looks) = (0, 0);
        while !self.over.load(Ordering::Relaxed) {
            let current = self.window.load(Ordering::Acquire);
            if self.solo.is_on() {
                self.solo.rest();
            } else if current == window {
                looks += 1;
                pause(looks);
            } else {
                (window, looks) = (current, 0);
                self.work_slots(from, window, Time::from_ps(self.end_ps.load(Ordering::Relaxed)));
            }
        }
    }

    /// Ends the helping threads.
    pub fn close(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Works through the partitions that no other thread has claimed, from `from` on: mostly the same in every window,
    /// so that their state stays in the thread's cache.
    fn work_slots(&self, from: usize, window: u64, end: Time) {
        for place in 0..self.count() {
            let number = (from + place) % self.count();
            let slot = &self.slots[number];
            // Fails, too, if this thread is late and the window is over.
            let claim =
                slot.claimed.compare_exchange(window - 1, window, Ordering::Relaxed, Ordering::Relaxed);
            if claim.is_err() {
                continue;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.work_slot(number, window, end))) {
                lock(&self.panics).push(panic);
            }
            self.done.fetch_add(1, Ordering::Release);
        }
    }

    fn work_slot(&self, number: usize, window: u64, end: Time) {
        let slot = &self.slots[number];
        let mut part = lock(&slot.partition);
        let before = part.net.counters.all_events();
        fetch(&slot.mail[(window as usize + 1) % 2], &mut part);
        part.run(end, u32::MAX, false, &self.world);
        let first = part.net.first_event().min(part.net.first_leaving);
        self.first_ps.fetch_min(first.ps(), Ordering::Relaxed);
        if !part.net.journal.entries.is_empty() {
            self.has_news.store(true, Ordering::Relaxed);
        }
        self.post(number, &mut part, window);
        self.handled.fetch_add(part.net.counters.all_events() - before, Ordering::Relaxed);
    }
}

/// Takes in the packets from other partitions.
fn fetch<H: Hosts>(mail: &Mailbox, part: &mut Partition<'_, H>) {
    let mut senders = mail.senders.swap(0, Ordering::Relaxed);
    while senders != 0 {
        let mut from = lock(&mail.from[senders.trailing_zeros() as usize]);
        from.drain(..).for_each(|crossing| part.net.enter(crossing));
        senders &= senders - 1;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits a little, longer after many `looks`: a thread without a processor of its own lets others have it.
fn pause(looks: u32) {
    match looks {
        ..LOOKS => std::hint::spin_loop(),
        LOOKS..YIELDS => std::thread::yield_now(),
        _ => std::thread::sleep(SLEEP),
    }
}
