//! [`Paths`]: the known paths, with their labels and users.
//!
//! A path joins two edge switches and is used in both directions, each with its own label. It is *held* while a
//! cache or a user refers to it, and *labelled* from its first use until it has been idle for a while:
//! connections come and go, and installing a path takes a round trip to every switch on it.

use std::collections::VecDeque;

use hashbrown::HashTable;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::hash::Keyed;
use crate::label::{Label, MAX_PATHS, MAX_SWITCHES, Numbers};
use crate::list::List;
use crate::slab::{Handle, Slab, grown};

/// A path between two edge switches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// Its switches by number; the first is not greater than the last.
    pub switches: Box<[u32]>,
    /// The links between them by number.
    pub cables: Box<[u32]>,
    /// One label per direction, first switch to last and back. `None` while unlabelled, and on a path of one
    /// switch.
    pub labels: Option<[Label; 2]>,
    /// Distinguishes it from earlier paths with its labels.
    pub serial: u32,
    /// Whether its rules are installed or being installed.
    pub asked: bool,
    /// Whether all its switches have confirmed the rules.
    pub installed: bool,
    /// Flows that use it.
    pub flows: List,
    /// Flows that use it for their reverse direction alone.
    pub backs: List,
    /// Routes that use it.
    pub routes: List,
    /// Whether the cache of path sets refers to it.
    pub cached: bool,
    /// When its last user left.
    idle_since: Time,
    /// Whether it is in the idle queue.
    queued: bool,
}

impl Path {
    /// Whether any flow or route uses it.
    pub fn is_used(&self) -> bool {
        !self.flows.is_empty() || !self.backs.is_empty() || !self.routes.is_empty()
    }

    /// Its direction seen from one of its end switches.
    pub fn direction_from(&self, switch: u32) -> usize {
        usize::from(self.switches[0] != switch)
    }

    /// The switch and outgoing link of each hop in a direction.
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
    /// Path numbers for each end switch, by its number in labels.
    numbers: Vec<Numbers>,
    serial: u32,
    idle: VecDeque<(Time, Handle)>,
    linger: Duration,
}

impl Paths {
    /// An empty table. Unused paths keep their labels for `linger`.
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

    /// The path over these links, added if unknown.
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
            ..Path::default()
        });
        let (slab, keyed) = (&self.slab, self.hash);
        let rehash = |&path: &u32| keyed.of(&(slab[path].switches[0], &slab[path].cables[..]));
        self.by_way.insert_unique(hash, path, rehash);
        path
    }

    /// Assigns labels to a path without any: in each direction `wanted` if that is free, otherwise one outside
    /// `reserved` (labels used by rules whose paths are unknown). `ends` are the numbers in labels of the switches
    /// where the directions end. `false` if labels have run out for one of them.
    pub fn label(
        &mut self,
        now: Time,
        index: u32,
        ends: [u32; 2],
        wanted: [Option<Label>; 2],
        reserved: &FxHashSet<u32>,
    ) -> bool {
        let path = &self.slab[index];
        if path.labels.is_some() || path.cables.is_empty() {
            return true;
        }
        let Some(there) = self.take(ends[0], wanted[0], reserved) else { return false };
        let Some(back) = self.take(ends[1], wanted[1], reserved) else {
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

    fn take(&mut self, end: u32, wanted: Option<Label>, reserved: &FxHashSet<u32>) -> Option<u32> {
        if end >= MAX_SWITCHES {
            return None;
        }
        let numbers = grown(&mut self.numbers, end);
        if let Some(label) = wanted.filter(|label| label.end == end)
            && numbers.claim(0, label.path)
        {
            return Some(label.path);
        }
        let mut passed_over = Vec::new();
        let found = loop {
            match numbers.take(0, MAX_PATHS - 1) {
                Some(path) if reserved.contains(&Label { end, path }.bits()) => passed_over.push(path),
                found => break found,
            }
        };
        passed_over.into_iter().for_each(|path| numbers.give_back(path));
        found
    }

    /// A user has left a path, or it was labelled without a user.
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

    /// Removes the labels of a path that has been idle for `linger`, and returns its previous state.
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
                // Behind paths that became idle later: it is checked again soon enough.
                self.idle.push_back((idle_since, handle));
                continue;
            }
            return Some(self.unlabel(handle.index));
        }
        None
    }

    /// Removes the labels of the longest idle path that shares an end with `index`, and returns its previous
    /// state.
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

    /// Removes a path's labels and returns its previous state.
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

    /// Sets whether the cache of path sets refers to a path.
    pub fn set_cached(&mut self, index: u32, cached: bool) {
        self.slab[index].cached = cached;
        self.release(index);
    }

    /// Memory of the tables in bytes.
    pub fn bytes(&self) -> usize {
        let ways: usize =
            self.slab.iter().map(|(_, path)| 4 * (path.switches.len() + path.cables.len())).sum();
        self.slab.bytes() + ways + self.by_way.capacity() * 5
    }

    /// Forgets a path without cache reference, labels or users.
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
