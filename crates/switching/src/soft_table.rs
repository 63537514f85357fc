//! [`SoftTable`]: a bounded table of entries that expire unless they are used.
//!
//! Entries are in one of several classes (locked, confirmed, ...), each with its own lifetime. A
//! use restarts an entry's lifetime, so within a class the order of last use is that of expiry
//! ([`crate::expiry_order`]). A full table evicts from the lowest non-empty class, the least
//! recently used first; of two inserted at the same time, the one inserted first.

use weft_units::{Duration, Time};

use crate::expiry_order::ExpiryOrder;
use crate::hash::mix64;
use crate::index::{Index, MOST_SLOTS};
use crate::slot::{Links, NONE, Slot};

/// A key of the table.
pub trait SoftKey: Copy + Eq {
    /// 64 random-looking bits, keyed with secrets of the table, so that outsiders cannot choose
    /// colliding keys.
    fn hash(&self, secrets: [u64; 2]) -> u64;
}

/// The table.
pub struct SoftTable<K, V> {
    index: Index,
    slots: Vec<Slot<K, V>>,
    secrets: [u64; 2],
    lives: [Duration; CLASSES],
    /// Free slots, linked by [`Links::after`].
    free: u32,
    classes: Box<[ExpiryOrder]>,
    size: usize,
}

/// Maximum number of classes.
const CLASSES: usize = 4;

impl<K: SoftKey, V> SoftTable<K, V> {
    /// An empty table of at most `size` entries (at least one). Class `i`, of at most four, has the
    /// lifetime `lives[i]` without use.
    pub fn new(size: usize, lives: &[Duration], secret: u64) -> Self {
        Self {
            index: Index::new(),
            slots: Vec::new(),
            secrets: [secret, mix64(secret)],
            lives: std::array::from_fn(|class| lives.get(class).copied().unwrap_or(Duration::ZERO)),
            free: NONE,
            classes: vec![ExpiryOrder::default(); lives.len().min(CLASSES)].into(),
            size: size.clamp(1, MOST_SLOTS),
        }
    }

    /// Number of entries, including expired ones not yet swept.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.index.len() == 0
    }

    #[inline]
    fn find(&self, key: &K) -> Option<usize> {
        self.index.find(key.hash(self.secrets), |at| self.slots[at].key == *key)
    }

    #[inline]
    fn find_live(&self, key: &K, now: Time) -> Option<usize> {
        self.find(key).filter(|&at| self.slots[at].expiry > now)
    }

    /// The value of `key`, unless expired.
    #[inline]
    pub fn get(&self, key: &K, now: Time) -> Option<&V> {
        self.find_live(key, now).map(|at| &self.slots[at].value)
    }

    /// The value of `key`, unless expired, to change without restarting its lifetime.
    pub fn get_mut(&mut self, key: &K, now: Time) -> Option<&mut V> {
        self.find_live(key, now).map(|at| &mut self.slots[at].value)
    }

    /// The value of `key`; restarts its lifetime.
    #[inline]
    pub fn refresh(&mut self, key: &K, now: Time) -> Option<&mut V> {
        let at = self.find_live(key, now)?;
        let slot = &mut self.slots[at];
        slot.expiry = now + self.lives[usize::from(slot.class) % CLASSES];
        Some(&mut slot.value)
    }

    /// Sets the value of `key` and starts its lifetime in `class`. Returns the entry evicted from a full table, if any.
    pub fn insert(&mut self, key: K, value: V, class: u8, now: Time) -> Option<K> {
        if let Some(at) = self.find(&key) {
            self.slots[at].value = value;
            self.unlink(at);
            self.link(at, class, now);
            return None;
        }
        let evicted = if self.index.len() < self.size { None } else { self.make_room(now) };
        let at = self.place(key, value);
        self.link(at, class, now);
        let (slots, secrets) = (&self.slots, self.secrets);
        self.index.insert(at, |at| slots[at].key.hash(secrets));
        evicted
    }

    /// Moves `key` to another class and starts its lifetime there.
    pub fn reclass(&mut self, key: &K, class: u8, now: Time) -> Option<&mut V> {
        let at = self.find_live(key, now)?;
        self.unlink(at);
        self.link(at, class, now);
        Some(&mut self.slots[at].value)
    }

    /// When the entry of `key` expires.
    pub fn expiry(&self, key: &K, now: Time) -> Option<Time> {
        self.find_live(key, now).map(|at| self.slots[at].expiry)
    }

    /// The class of `key`.
    pub fn class(&self, key: &K, now: Time) -> Option<u8> {
        self.find_live(key, now).map(|at| self.slots[at].class)
    }

    /// Removes the entry of `key`.
    pub fn remove(&mut self, key: &K) -> bool {
        let found = self.find(key);
        if let Some(at) = found {
            self.take_out(at);
        }
        found.is_some()
    }

    fn take_out(&mut self, at: usize) {
        let (slots, secrets) = (&self.slots, self.secrets);
        self.index.remove(at, |at| slots[at].key.hash(secrets));
        self.unlink(at);
        self.slots[at].links.after = self.free;
        self.free = at as u32;
    }

    /// Removes the entries that expired by `now`.
    pub fn sweep(&mut self, now: Time) {
        for class in 0..self.classes.len() {
            while let Some(at) = self.classes[class].first(&mut self.slots) {
                if self.slots[at].expiry > now {
                    break;
                }
                self.take_out(at);
            }
        }
    }

    /// Removes the entries for which `keep` returns false.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        let gone = |&at: &usize| !keep(&self.slots[at].key, &self.slots[at].value);
        let gone: Vec<usize> = self.index.slots().filter(gone).collect();
        gone.into_iter().for_each(|at| self.take_out(at));
    }

    /// Keys and values of unexpired entries, in no particular order.
    pub fn iter(&self, now: Time) -> impl Iterator<Item = (&K, &V)> {
        self.entries(now).map(|(key, value, ..)| (key, value))
    }

    /// Unexpired entries with their class and expiry time, in no particular order.
    pub fn entries(&self, now: Time) -> impl Iterator<Item = (&K, &V, u8, Time)> {
        let live = self.index.slots().map(|at| &self.slots[at]).filter(move |slot| slot.expiry > now);
        live.map(|slot| (&slot.key, &slot.value, slot.class, slot.expiry))
    }

    /// Bytes of memory used.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<K, V>>() + self.index.memory() + size_of_val(&*self.classes)
    }

    /// Makes room for one entry; returns the evicted entry, if it had not expired.
    fn make_room(&mut self, now: Time) -> Option<K> {
        self.sweep(now);
        if self.index.len() < self.size {
            return None;
        }
        let at = self.classes.iter_mut().find_map(|class| class.first(&mut self.slots))?;
        self.take_out(at);
        Some(self.slots[at].key)
    }

    fn place(&mut self, key: K, value: V) -> usize {
        let slot = Slot { expiry: Time::ZERO, key, class: 0, list: 0, value, links: Links::default() };
        if self.free != NONE {
            let at = self.free as usize;
            self.free = self.slots[at].links.after;
            self.slots[at] = slot;
            return at;
        }
        if self.slots.len() == self.slots.capacity() {
            // By an eighth at a time: a large table must not allocate twice its size.
            self.slots.reserve_exact((self.slots.len() / 8).max(16));
        }
        self.slots.push(slot);
        self.slots.len() - 1
    }

    fn unlink(&mut self, at: usize) {
        let class = self.slots[at].class;
        self.classes[usize::from(class)].unlink(&mut self.slots, at);
    }

    /// Starts the lifetime of a slot that is in no class in `class`.
    fn link(&mut self, at: usize, class: u8, now: Time) {
        let slot = &mut self.slots[at];
        slot.class = class;
        slot.expiry = now + self.lives[usize::from(class)];
        self.classes[usize::from(class)].link(&mut self.slots, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl SoftKey for u16 {
        fn hash(&self, secrets: [u64; 2]) -> u64 {
            mix64(u64::from(*self) ^ secrets[0])
        }
    }

    const LIVES: [Duration; 2] = [Duration::from_ps(30), Duration::from_ps(100)];

    /// Reference model: a list of keys, values, classes and times of last use.
    #[derive(Default)]
    struct Model(Vec<(u16, u32, u8, u64)>);

    impl Model {
        fn live(&mut self, key: u16, now: u64) -> Option<usize> {
            self.0.iter().position(|(k, _, class, used)| *k == key && used + life(*class) > now)
        }
    }

    fn life(class: u8) -> u64 {
        LIVES[class as usize].ps()
    }

    proptest! {
        #[test]
        fn a_table_does_what_a_list_with_times_of_use_does(
            steps in prop::collection::vec((0_u8..6, 0_u16..12, 0_u8..2, 0_u64..25), 1..400),
        ) {
            let mut table = SoftTable::new(6, &LIVES, 7);
            let (mut model, mut now) = (Model::default(), 0);
            for (number, (what, key, class, wait)) in steps.into_iter().enumerate() {
                now += wait;
                let at = Time::from_ps(now);
                let known = model.live(key, now);
                match what {
                    0 | 1 => {
                        let known = model.0.iter().position(|entry| entry.0 == key);
                        if let Some(place) = known {
                            model.0.remove(place);
                        } else if model.0.len() == 6 {
                            model.0.retain(|(_, _, class, used)| used + life(*class) > now);
                        }
                        let oldest = model.0.iter().map(|(_, _, class, used)| (*class, *used)).min();
                        match table.insert(key, number as u32, class, at) {
                            None => prop_assert!(model.0.len() < 6),
                            Some(victim) => {
                                prop_assert_eq!(model.0.len(), 6);
                                let place = model.0.iter().position(|entry| entry.0 == victim).unwrap();
                                let (_, _, class, used) = model.0.remove(place);
                                prop_assert_eq!(Some((class, used)), oldest);
                            }
                        }
                        model.0.push((key, number as u32, class, now));
                    }
                    2 => {
                        let expected = known.map(|place| {
                            let mut entry = model.0.remove(place);
                            entry.3 = now;
                            model.0.push(entry);
                            entry.1
                        });
                        prop_assert_eq!(table.refresh(&key, at).copied(), expected);
                    }
                    3 => {
                        let expected = known.map(|place| {
                            let (key, value, ..) = model.0.remove(place);
                            model.0.push((key, value, class, now));
                            value
                        });
                        prop_assert_eq!(table.reclass(&key, class, at).copied(), expected);
                    }
                    4 => {
                        model.0.retain(|entry| entry.0 != key);
                        table.remove(&key);
                    }
                    _ => {
                        model.0.retain(|(_, _, class, used)| used + life(*class) > now);
                        table.sweep(at);
                        prop_assert_eq!(table.len(), model.0.len());
                    }
                }
                let known = model.live(key, now).map(|place| model.0[place]);
                prop_assert_eq!(table.get(&key, at).copied(), known.map(|entry| entry.1));
                prop_assert_eq!(table.class(&key, at), known.map(|entry| entry.2));
            }
            table.sweep(Time::from_ps(now + 100));
            prop_assert!(table.is_empty());
        }
    }

    #[test]
    fn a_full_table_evicts_in_order_of_last_use() {
        const SIZE: u16 = 5_000;
        let life = Duration::from_secs(1_000_000);
        let mut table = SoftTable::new(usize::from(SIZE), &[life], 7);
        for key in 0..SIZE {
            table.insert(key, 0, 0, Time::ZERO);
        }
        // A tenth is never used and expires in insertion order.
        let mut used = vec![Time::ZERO; usize::from(SIZE)];
        for step in 1..200_000_u64 {
            let key = mix64(step) % u64::from(SIZE / 10 * 9);
            let now = Time::from_ps(step * step * step);
            table.refresh(&(key as u16), now);
            used[key as usize] = now;
        }
        let mut oldest: Vec<u16> = (0..SIZE).collect();
        oldest.sort_by_key(|&key| used[usize::from(key)]);
        let now = Time::from_ps(1 << 54);
        for (new, old) in (SIZE..).zip(oldest) {
            assert_eq!(table.insert(new, 0, 0, now), Some(old));
        }
        assert_eq!(table.len(), usize::from(SIZE));
    }
}
