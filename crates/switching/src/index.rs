//! [`Index`]: maps the hash of a key to its slot in a table.
//!
//! Open addressing with linear probing in four-byte cells, at most half of them in use, a quarter if
//! they are few: a lookup seldom needs more than the first cell, and the slot number costs no further
//! cache line.

/// Bits of a cell for the slot number; the bits above are from the hash, so that slots of other keys
/// are seldom read.
const SLOT_BITS: u32 = 26;
const SLOT: u32 = (1 << SLOT_BITS) - 1;
const EMPTY: u32 = u32::MAX;
const FEW_CELLS: usize = 1 << 16;

/// Maximum number of slots.
pub(crate) const MOST_SLOTS: usize = SLOT as usize;

/// The index. The number of cells is a power of two.
pub(crate) struct Index {
    cells: Vec<u32>,
    len: usize,
}

const fn tag(hash: u64) -> u32 {
    (hash >> (32 + SLOT_BITS)) as u32 & (u32::MAX >> SLOT_BITS)
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { cells: vec![EMPTY; 16], len: 0 }
    }

    /// Number of slots in the index.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The slots in the index, in no particular order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().filter(|&&cell| cell != EMPTY).map(|cell| (cell & SLOT) as usize)
    }

    /// Bytes of memory used.
    pub(crate) fn memory(&self) -> usize {
        self.cells.capacity() * size_of::<u32>()
    }

    /// The slot under `hash` for which `is` returns true.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<usize> {
        let mask = self.cells.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let cell = self.cells[place];
            if cell >> SLOT_BITS == tag(hash) && cell != EMPTY && is((cell & SLOT) as usize) {
                return Some((cell & SLOT) as usize);
            }
            if cell == EMPTY {
                return None;
            }
            place = (place + 1) & mask;
        }
    }

    /// Adds a slot that is not in the index; `hash_of` returns the hash of any slot.
    pub(crate) fn insert(&mut self, slot: usize, hash_of: impl Fn(usize) -> u64) {
        self.len += 1;
        let share = if self.cells.len() <= FEW_CELLS { 4 } else { 2 };
        if self.len * share > self.cells.len() {
            let cells = vec![EMPTY; self.cells.len() * 2];
            let old = std::mem::replace(&mut self.cells, cells);
            for cell in old.into_iter().filter(|&cell| cell != EMPTY) {
                self.put(cell, hash_of((cell & SLOT) as usize));
            }
        }
        let hash = hash_of(slot);
        self.put(tag(hash) << SLOT_BITS | slot as u32, hash);
    }

    fn put(&mut self, cell: u32, hash: u64) {
        let mask = self.cells.len() - 1;
        let mut place = hash as usize & mask;
        while self.cells[place] != EMPTY {
            place = (place + 1) & mask;
        }
        self.cells[place] = cell;
    }

    /// Removes a slot that is in the index; `hash_of` returns the hash of any slot.
    pub(crate) fn remove(&mut self, slot: usize, hash_of: impl Fn(usize) -> u64) {
        let mask = self.cells.len() - 1;
        let mut hole = hash_of(slot) as usize & mask;
        while self.cells[hole] & SLOT != slot as u32 {
            hole = (hole + 1) & mask;
        }
        // Cells after the hole that a lookup would no longer find move into it.
        let mut place = hole;
        loop {
            place = (place + 1) & mask;
            let cell = self.cells[place];
            if cell == EMPTY {
                break;
            }
            let home = hash_of((cell & SLOT) as usize) as usize;
            if place.wrapping_sub(home) & mask >= place.wrapping_sub(hole) & mask {
                self.cells[hole] = cell;
                hole = place;
            }
        }
        self.cells[hole] = EMPTY;
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_slot_is_found_from_when_it_is_put_in_until_it_is_taken_out(
            // Few distinct hashes, so that runs of cells grow, meet and wrap around.
            hashes in prop::collection::vec((0_u64..40, 0_u64..3), 64),
            steps in prop::collection::vec(0_usize..64, 1..300),
        ) {
            let hash_of = |slot: usize| hashes[slot].0.wrapping_sub(8) | hashes[slot].1 << 58;
            let (mut index, mut within) = (Index::new(), [false; 64]);
            for slot in steps {
                match within[slot] {
                    true => index.remove(slot, hash_of),
                    false => index.insert(slot, hash_of),
                }
                within[slot] = !within[slot];
                for (slot, &within) in within.iter().enumerate() {
                    let found = index.find(hash_of(slot), |at| at == slot);
                    prop_assert_eq!(found, within.then_some(slot));
                }
                let mut slots: Vec<_> = index.slots().collect();
                slots.sort_unstable();
                prop_assert_eq!(slots.len(), index.len());
                prop_assert!(slots.into_iter().eq((0..64).filter(|&slot| within[slot])));
            }
        }
    }
}
