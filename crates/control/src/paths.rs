//! [`Paths`]: the paths that are known, with their labels and those who use them.
//!
//! A path joins two edge switches and is used in both directions, each with a label of its own. It is *held*
//! while a cache has it or somebody uses it, and *labelled* from its first use until nobody has used it for a
//! while: connections come and go, and installing a path takes a round to every switch on it.

use std::collections::VecDeque;

use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::hash::Keyed;
use crate::label::{Label, MAX_PATHS, Numbers};
use crate::list::List;
use crate::slab::{Handle, Slab};

/// A path between two edge switches.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The switches on it by number; the first is not the greater of the two ends.
    pub switches: Box<[u32]>,
    /// The cables between them by number, one less.
    pub cables: Box<[u32]>,
    /// In each direction, from the first switch on and back. `None` while it is not labelled, and on a path of
    /// one switch.
    pub labels: Option<[Label; 2]>,
    /// Tells it from earlier paths with its labels.
    pub serial: u32,
    /// Whether its rules are on their way to switches, or there.
    pub asked: bool,
    /// Whether all switches on it have confirmed them.
    pub installed: bool,
    /// Flows that go over it.
    pub flows: List,
    /// Routes that go over it.
    pub routes: List,
    /// Whether the cache of path sets has it.
    pub cached: bool,
    /// Since when nobody uses it.
    idle_since: Time,
    /// Whether it waits in the queue of idle ones.
    queued: bool,
}

impl Path {
    /// Whether anyone uses it.
    pub fn is_used(&self) -> bool {
        !self.flows.is_empty() || !self.routes.is_empty()
    }

    /// In which direction it leads from a switch that is one of its ends.
    pub fn direction_from(&self, switch: u32) -> usize {
        usize::from(self.switches[0] != switch)
    }

    /// The switch and the cable by which a frame leaves it, at each step in a direction.
    pub fn steps(&self, direction: usize) -> impl Iterator<Item = (u32, u32)> {
        let last = self.cables.len();
        (0..last).map(move |step| match direction {
            0 => (self.switches[step], self.cables[step]),
            _ => (self.switches[last - step], self.cables[last - step - 1]),
        })
    }
}

/// All paths.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    pub slab: Slab<Path>,
    by_way: HashTable<u32>,
    hash: Keyed,
    /// Of each switch, numbers of paths that end there.
    numbers: Vec<Numbers>,
    serial: u32,
    idle: VecDeque<(Time, Handle)>,
    linger: Duration,
}

impl Paths {
    /// None yet. Those that nobody uses keep their labels for `linger`.
    pub fn new(hash_key: u64, linger: Duration) -> Self {
        Self {
            slab: Slab::default(),
            by_way: HashTable::new(),
            hash: Keyed::new(hash_key, 1),
            numbers: Vec::new(),
            serial: 0,
            idle: VecDeque::new(),
            linger,
        }
    }

    /// The path over these cables, entered if it is not known.
    pub fn intern(&mut self, switches: &[u32], cables: &[u32]) -> u32 {
        let mut switches: SmallVec<[u32; 16]> = switches.into();
        let mut cables: SmallVec<[u32; 16]> = cables.into();
        if switches.first() > switches.last() {
            switches.reverse();
            cables.reverse();
        }
        let hash = self.hash.of(&(switches[0], &cables[..]));
        let slab = &self.slab;
        let same = |&path: &u32| {
            let path = &slab[path];
            path.cables[..] == cables[..] && path.switches[0] == switches[0]
        };
        if let Some(&known) = self.by_way.find(hash, same) {
            return known;
        }
        let path = self.slab.insert(Path {
            switches: switches.into_boxed_slice(),
            cables: cables.into_boxed_slice(),
            labels: None,
            serial: 0,
            asked: false,
            installed: false,
            flows: List::default(),
            routes: List::default(),
            cached: false,
            idle_since: Time::ZERO,
            queued: false,
        });
        let (slab, keyed) = (&self.slab, self.hash);
        let rehash = |&path: &u32| keyed.of(&(slab[path].switches[0], &slab[path].cables[..]));
        self.by_way.insert_unique(hash, path, rehash);
        path
    }

    /// Gives a path its labels where it has none. `false` where there are no more for one of its ends.
    pub fn label(&mut self, now: Time, index: u32) -> bool {
        let path = &self.slab[index];
        if path.labels.is_some() || path.cables.is_empty() {
            return true;
        }
        let ends = [path.switches[path.switches.len() - 1], path.switches[0]];
        let most = ends[0].max(ends[1]) as usize;
        if self.numbers.len() <= most {
            self.numbers.resize_with(most + 1, Numbers::default);
        }
        let mut take = |end: u32| self.numbers[end as usize].take(0, MAX_PATHS - 1);
        let Some(there) = take(ends[0]) else { return false };
        let Some(back) = take(ends[1]) else {
            self.numbers[ends[0] as usize].give_back(there);
            return false;
        };
        self.serial = self.serial.wrapping_add(1);
        let path = &mut self.slab[index];
        path.labels = Some([Label { end: ends[0], path: there }, Label { end: ends[1], path: back }]);
        path.serial = self.serial;
        self.unused(now, index);
        true
    }

    /// Somebody has stopped using a path, or it was labelled without being used.
    pub fn unused(&mut self, now: Time, index: u32) {
        let handle = self.slab.handle(index);
        let path = &mut self.slab[index];
        path.idle_since = now;
        if !path.is_used() && path.labels.is_some() && !std::mem::replace(&mut path.queued, true) {
            self.idle.push_back((now, handle));
        } else {
            self.release(index);
        }
    }

    /// When the next path may have been idle for long enough.
    pub fn deadline(&self) -> Time {
        self.idle.front().map_or(Time::MAX, |&(since, _)| since + self.linger)
    }

    /// Takes its labels from a path that has been idle for long enough, and returns it as it was.
    pub fn expire(&mut self, now: Time) -> Option<Path> {
        while let Some(&(since, handle)) = self.idle.front() {
            if since + self.linger > now {
                return None;
            }
            self.idle.pop_front();
            let Some(path) = self.slab.find(handle) else { continue };
            let (used, idle_since) = (path.is_used(), path.idle_since);
            self.slab[handle.index].queued = false;
            if used || self.slab[handle.index].labels.is_none() {
                continue;
            }
            if idle_since + self.linger > now {
                self.slab[handle.index].queued = true;
                // Behind others that became idle later: it is looked at again soon enough.
                self.idle.push_back((idle_since, handle));
                continue;
            }
            return Some(self.unlabel(handle.index));
        }
        None
    }

    /// Takes its labels from the path that has been idle for longest among those that share an end with
    /// `index`, and returns it as it was.
    pub fn reclaim(&mut self, index: u32) -> Option<Path> {
        let path = &self.slab[index];
        let ends = [path.switches[0], path.switches[path.switches.len() - 1]];
        let free = |other: &Path| {
            let theirs = [other.switches[0], other.switches[other.switches.len() - 1]];
            other.labels.is_some() && !other.is_used() && theirs.iter().any(|end| ends.contains(end))
        };
        let found =
            self.slab.iter().filter(|(_, other)| free(other)).min_by_key(|(_, other)| other.idle_since)?.0;
        Some(self.unlabel(found))
    }

    /// Takes its labels from a path and returns it as it was.
    pub fn unlabel(&mut self, index: u32) -> Path {
        let path = &mut self.slab[index];
        let was = path.clone();
        (path.asked, path.installed) = (false, false);
        for label in path.labels.take().into_iter().flatten() {
            self.numbers[label.end as usize].give_back(label.path);
        }
        self.release(index);
        was
    }

    /// Says whether the cache of path sets has a path.
    pub fn set_cached(&mut self, index: u32, cached: bool) {
        self.slab[index].cached = cached;
        self.release(index);
    }

    /// The bytes that the tables hold.
    pub fn bytes(&self) -> usize {
        let ways: usize =
            self.slab.iter().map(|(_, path)| 4 * (path.switches.len() + path.cables.len())).sum();
        self.slab.bytes() + ways + self.by_way.capacity() * 5
    }

    /// Forgets a path that nobody holds.
    fn release(&mut self, index: u32) {
        let path = &self.slab[index];
        if path.cached || path.labels.is_some() || path.is_used() {
            return;
        }
        let hash = self.hash.of(&(path.switches[0], &path.cables[..]));
        if let Ok(entry) = self.by_way.find_entry(hash, |&other| other == index) {
            entry.remove();
        }
        self.slab.remove(index);
    }
}
