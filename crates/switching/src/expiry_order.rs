//! [`ExpiryOrder`]: which entry of a class of a [`crate::SoftTable`] expires first.
//!
//! Entries are used far more often than the first to expire is needed, so a use only writes the new
//! expiry into the entry. The order is a radix heap (Ahuja et al., Journal of the ACM 37(2), 1990):
//! entries are in lists by the highest bit in which their expiry differs from a base, a lower bound
//! that only grows. A later expiry belongs in the same list or a higher one, so a used entry is at
//! most in too low a list, and is moved when that list becomes the lowest.

use weft_units::Time;

use crate::slot::{Links, NONE, Slot};

/// Lists per class.
const LISTS: usize = 64;

/// The slots of one class.
#[derive(Clone)]
pub(crate) struct ExpiryOrder {
    base: Time,
    /// The non-empty lists, one bit each.
    filled: u64,
    /// The first and the last slot of each list.
    firsts: [u32; LISTS],
    lasts: [u32; LISTS],
}

impl Default for ExpiryOrder {
    fn default() -> Self {
        Self { base: Time::ZERO, filled: 0, firsts: [NONE; LISTS], lasts: [NONE; LISTS] }
    }
}

impl ExpiryOrder {
    /// The list of an entry: 0 if it expires at the base.
    fn list_of(&self, expiry: Time) -> usize {
        if expiry <= self.base {
            return 0;
        }
        let highest = (expiry.ps() ^ self.base.ps()).ilog2() as usize;
        (highest + 1).min(LISTS - 1)
    }

    /// Adds a slot that is in no list, after those added with the same expiry.
    pub(crate) fn link<K, V>(&mut self, slots: &mut [Slot<K, V>], at: usize) {
        let list = self.list_of(slots[at].expiry);
        let before = std::mem::replace(&mut self.lasts[list], at as u32);
        match slots.get_mut(before as usize) {
            Some(slot) => slot.links.after = at as u32,
            None => self.firsts[list] = at as u32,
        }
        self.filled |= 1 << list;
        slots[at].links = Links { before, after: NONE };
        slots[at].list = list as u8;
    }

    /// Removes a slot.
    pub(crate) fn unlink<K, V>(&mut self, slots: &mut [Slot<K, V>], at: usize) {
        let Links { before, after } = slots[at].links;
        let list = usize::from(slots[at].list);
        match slots.get_mut(after as usize) {
            Some(slot) => slot.links.before = before,
            None => self.lasts[list] = before,
        }
        match slots.get_mut(before as usize) {
            Some(slot) => slot.links.after = after,
            None => self.firsts[list] = after,
        }
        if self.firsts[list] == NONE {
            self.filled &= !(1 << list);
        }
    }

    /// The slot that expires first, if any.
    pub(crate) fn first<K, V>(&mut self, slots: &mut [Slot<K, V>]) -> Option<usize> {
        while self.filled != 0 {
            let list = self.filled.trailing_zeros() as usize;
            let first = self.firsts[list] as usize;
            if list == 0 && slots[first].expiry <= self.base {
                return Some(first);
            }
            self.spread(slots, list);
        }
        None
    }

    /// Distributes the slots of the lowest list. The earliest expiry becomes the base, so that slot
    /// moves to list 0 and the others to lower lists.
    fn spread<K, V>(&mut self, slots: &mut [Slot<K, V>], list: usize) {
        let mut at = std::mem::replace(&mut self.firsts[list], NONE);
        self.lasts[list] = NONE;
        self.filled &= !(1 << list);
        let expiries = chain(slots, at).map(|slot| slot.expiry);
        let least = expiries.filter(|&expiry| self.list_of(expiry) == list).min();
        self.base = least.unwrap_or(self.base);
        while at != NONE {
            let after = slots[at as usize].links.after;
            self.link(slots, at as usize);
            at = after;
        }
    }
}

/// The slots from `first` to the end of its list.
fn chain<K, V>(slots: &[Slot<K, V>], first: u32) -> impl Iterator<Item = &Slot<K, V>> {
    let first = slots.get(first as usize);
    std::iter::successors(first, |slot| slots.get(slot.links.after as usize))
}
