//! [`SoftTable`]: a bounded table of entries that expire unless they are used.
//!
//! Entries are in one of a few classes (locked, confirmed, ...), each with a life of its own. A use
//! gives an entry its class's whole life again, so each class, kept in order of last use, is in
//! order of expiry too: sweeping and evicting look at its head only. A full table evicts from the
//! lowest class that has an entry, the least recently used first.

use hashbrown::HashTable;
use weft_units::{Duration, Time};

use crate::hash::mix64;

/// No slot: the greatest number that [`Slot::before`] has room for.
const NONE: u32 = (1 << 30) - 1;

/// A key that folds into 64 bits for hashing; equal keys fold alike.
pub trait SoftKey: Copy + Eq {
    /// The bits, under a secret of the table so that no outsider can choose keys that collide.
    fn fold(&self, secret: u64) -> u64;
}

struct Slot<K, V> {
    key: K,
    value: V,
    /// The class in the upper two bits, the slot before it in the lower thirty.
    class_and_before: u32,
    after: u32,
    expiry: Time,
}

impl<K, V> Slot<K, V> {
    fn class(&self) -> u8 {
        (self.class_and_before >> 30) as u8
    }

    fn before(&self) -> u32 {
        self.class_and_before & NONE
    }

    fn link(&mut self, class: u8, before: u32) {
        self.class_and_before = u32::from(class) << 30 | before;
    }
}

#[derive(Clone, Copy)]
struct Class {
    life: Duration,
    oldest: u32,
    newest: u32,
}

/// The table.
pub struct SoftTable<K, V> {
    index: HashTable<u32>,
    slots: Vec<Slot<K, V>>,
    /// Slots free, linked by `after`.
    free: u32,
    classes: Box<[Class]>,
    size: usize,
    secret: u64,
}

/// What became of an insertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted<K> {
    /// There was room, or the key was there.
    Kept,
    /// The table was full: this entry had to go.
    Evicted(K),
}

impl<K: SoftKey, V> SoftTable<K, V> {
    /// An empty table of at most `size` entries (at least one), whose class `i`, of at most four,
    /// lasts `lives[i]` without use.
    pub fn new(size: usize, lives: &[Duration], secret: u64) -> Self {
        debug_assert!(lives.len() <= 4, "a slot has two bits for its class");
        let class = |&life| Class { life, oldest: NONE, newest: NONE };
        Self {
            index: HashTable::new(),
            slots: Vec::new(),
            free: NONE,
            classes: lives.iter().map(class).collect(),
            size: size.clamp(1, NONE as usize),
            secret,
        }
    }

    /// Entries held, expired ones that no sweep has met included.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether the table holds nothing.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    fn hash(&self, key: &K) -> u64 {
        mix64(key.fold(self.secret))
    }

    fn find(&self, key: &K) -> Option<u32> {
        self.index.find(self.hash(key), |&at| self.slots[at as usize].key == *key).copied()
    }

    fn find_live(&self, key: &K, now: Time) -> Option<usize> {
        self.find(key).map(|at| at as usize).filter(|&at| self.slots[at].expiry > now)
    }

    /// The value of `key`; an expired entry is no entry.
    pub fn get(&self, key: &K, now: Time) -> Option<&V> {
        self.find_live(key, now).map(|at| &self.slots[at].value)
    }

    /// The value of `key`, whose life starts anew.
    pub fn refresh(&mut self, key: &K, now: Time) -> Option<&mut V> {
        let at = self.find_live(key, now)?;
        let class = self.slots[at].class();
        if self.classes[class as usize].newest == at as u32 {
            self.slots[at].expiry = now + self.classes[class as usize].life;
        } else {
            self.unlink(at as u32);
            self.append(at as u32, class, now);
        }
        Some(&mut self.slots[at].value)
    }

    /// Sets the value of `key` and starts its life in `class`.
    pub fn insert(&mut self, key: K, value: V, class: u8, now: Time) -> Inserted<K> {
        if let Some(at) = self.find(&key) {
            self.slots[at as usize].value = value;
            self.unlink(at);
            self.append(at, class, now);
            return Inserted::Kept;
        }
        let evicted = if self.index.len() < self.size { None } else { self.make_room(now) };
        let at = self.place(key, value);
        self.append(at, class, now);
        let hash = self.hash(&key);
        let (slots, secret) = (&self.slots, self.secret);
        self.index.insert_unique(hash, at, |&at| mix64(slots[at as usize].key.fold(secret)));
        evicted.map_or(Inserted::Kept, Inserted::Evicted)
    }

    /// Moves `key` to another class and starts its life there.
    pub fn reclass(&mut self, key: &K, class: u8, now: Time) -> Option<&mut V> {
        let at = self.find_live(key, now)?;
        self.unlink(at as u32);
        self.append(at as u32, class, now);
        Some(&mut self.slots[at].value)
    }

    /// The class of `key`.
    pub fn class(&self, key: &K, now: Time) -> Option<u8> {
        self.find_live(key, now).map(|at| self.slots[at].class())
    }

    /// Takes out the entry of `key`.
    pub fn remove(&mut self, key: &K) -> bool {
        let hash = self.hash(key);
        let slots = &self.slots;
        let Ok(found) = self.index.find_entry(hash, |&at| slots[at as usize].key == *key) else {
            return false;
        };
        let (at, _) = found.remove();
        self.unlink(at);
        self.slots[at as usize].after = self.free;
        self.free = at;
        true
    }

    /// Takes out what has expired by `now`.
    pub fn sweep(&mut self, now: Time) {
        for class in 0..self.classes.len() {
            while let Some(slot) = self.slots.get(self.classes[class].oldest as usize) {
                if slot.expiry > now {
                    break;
                }
                let key = slot.key;
                self.remove(&key);
            }
        }
    }

    /// Takes out the entries of which `keep` says no.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        let gone = self.index.iter().map(|&at| &self.slots[at as usize]);
        let gone: Vec<K> = gone.filter(|slot| !keep(&slot.key, &slot.value)).map(|slot| slot.key).collect();
        for key in gone {
            self.remove(&key);
        }
    }

    /// When the next entry expires; [`Time::MAX`] where there is none.
    pub fn next_expiry(&self) -> Time {
        let oldest = self.classes.iter().filter_map(|class| self.slots.get(class.oldest as usize));
        oldest.map(|slot| slot.expiry).min().unwrap_or(Time::MAX)
    }

    /// Keys and values of what has not expired, in no promised order.
    pub fn iter(&self, now: Time) -> impl Iterator<Item = (&K, &V)> {
        self.index
            .iter()
            .map(|&at| &self.slots[at as usize])
            .filter(move |slot| slot.expiry > now)
            .map(|slot| (&slot.key, &slot.value))
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<K, V>>() + self.index.allocation_size()
    }

    /// Makes room for one entry; the entry that had to go, if it had not expired.
    fn make_room(&mut self, now: Time) -> Option<K> {
        self.sweep(now);
        if self.index.len() < self.size {
            return None;
        }
        let class = self.classes.iter().find(|class| class.oldest != NONE)?;
        let key = self.slots[class.oldest as usize].key;
        self.remove(&key);
        Some(key)
    }

    fn place(&mut self, key: K, value: V) -> u32 {
        let slot = Slot { key, value, class_and_before: NONE, after: NONE, expiry: Time::ZERO };
        if self.free != NONE {
            let at = self.free;
            self.free = self.slots[at as usize].after;
            self.slots[at as usize] = slot;
            return at;
        }
        if self.slots.len() == self.slots.capacity() {
            // An eighth at a time: a large table is not to hold twice what it needs.
            self.slots.reserve_exact((self.slots.len() / 8).max(16));
        }
        self.slots.push(slot);
        self.slots.len() as u32 - 1
    }

    fn unlink(&mut self, at: u32) {
        let slot = &self.slots[at as usize];
        let (before, after, class) = (slot.before(), slot.after, slot.class());
        match self.slots.get_mut(before as usize) {
            Some(slot) => slot.after = after,
            None => self.classes[class as usize].oldest = after,
        }
        match self.slots.get_mut(after as usize) {
            Some(slot) => slot.link(class, before),
            None => self.classes[class as usize].newest = before,
        }
    }

    /// Puts a slot that is in no class behind the newest of `class`.
    fn append(&mut self, at: u32, class: u8, now: Time) {
        let of = &mut self.classes[class as usize];
        let (newest, expiry) = (of.newest, now + of.life);
        of.newest = at;
        match self.slots.get_mut(newest as usize) {
            Some(slot) => slot.after = at,
            None => of.oldest = at,
        }
        let slot = &mut self.slots[at as usize];
        slot.link(class, newest);
        (slot.after, slot.expiry) = (NONE, expiry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl SoftKey for u16 {
        fn fold(&self, secret: u64) -> u64 {
            u64::from(*self) ^ secret
        }
    }

    const LIVES: [Duration; 2] = [Duration::from_ps(30), Duration::from_ps(100)];

    /// The same by the book: a list in order of last use.
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
        fn a_table_does_what_a_list_in_order_of_use_does(
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
                        let full = model.0.len() == 6;
                        let victim = full.then(|| {
                            let lowest = model.0.iter().map(|entry| entry.2).min().unwrap();
                            let place = model.0.iter().position(|entry| entry.2 == lowest).unwrap();
                            model.0.remove(place).0
                        });
                        model.0.push((key, number as u32, class, now));
                        let inserted = table.insert(key, number as u32, class, at);
                        prop_assert_eq!(inserted, victim.map_or(Inserted::Kept, Inserted::Evicted));
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
            prop_assert_eq!(table.next_expiry(), Time::MAX);
        }
    }
}
