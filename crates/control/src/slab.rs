//! [`Slab`], numbered entries, each with a generation that distinguishes it from earlier entries with its number.

/// No entry.
pub(crate) const NONE: u32 = u32::MAX;

/// An entry and its generation: finds nothing once the entry is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Handle {
    pub index: u32,
    pub generation: u32,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Numbered entries. Numbers of removed entries are reused, the last removed first.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    /// The generation of the first entry with a number.
    first: u32,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::starting(0)
    }
}

impl<T> Slab<T> {
    /// Empty; the first entry of each number has this generation.
    pub const fn starting(first: u32) -> Self {
        Self { slots: Vec::new(), free: Vec::new(), first }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Adds an entry.
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.generation = slot.generation.wrapping_add(1);
            slot.value = Some(value);
            return index;
        }
        self.slots.push(Slot { generation: self.first, value: Some(value) });
        (self.slots.len() - 1) as u32
    }

    /// Removes an entry.
    pub fn remove(&mut self, index: u32) -> Option<T> {
        let value = self.slots.get_mut(index as usize)?.value.take();
        if value.is_some() {
            self.free.push(index);
        }
        value
    }

    /// An entry, if it exists.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.slots.get(index as usize)?.value.as_ref()
    }

    /// The entry of a handle, unless it was removed.
    pub fn find(&self, handle: Handle) -> Option<&T> {
        let slot = self.slots.get(handle.index as usize)?;
        slot.value.as_ref().filter(|_| slot.generation == handle.generation)
    }

    /// Whether an entry exists whose generation has these low `width` bits.
    pub fn has(&self, index: u32, generation: u32, width: u32) -> bool {
        self.get(index).is_some() && generation == self.handle(index).generation & ((1 << width) - 1)
    }

    /// The handle of an entry.
    pub fn handle(&self, index: u32) -> Handle {
        Handle { index, generation: self.slots[index as usize].generation }
    }

    /// All entries, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &T)> {
        let numbered = (0..self.slots.len() as u32).zip(&self.slots);
        numbered.filter_map(|(index, slot)| Some((index, slot.value.as_ref()?)))
    }

    /// Memory of the table in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<T>>() + self.free.capacity() * size_of::<u32>()
    }
}

/// Access to an entry that must exist.
impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        self.slots[index as usize].value.as_ref().expect("an existing entry")
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        self.slots[index as usize].value.as_mut().expect("an existing entry")
    }
}

/// The element of a vector with this index; the vector grows as needed.
pub(crate) fn grown<T: Clone + Default>(elements: &mut Vec<T>, index: u32) -> &mut T {
    if elements.len() <= index as usize {
        elements.resize(index as usize + 1, T::default());
    }
    &mut elements[index as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_does_not_find_the_next_entry_of_its_number() {
        let mut slab = Slab::default();
        let first = slab.insert('a');
        let handle = slab.handle(first);
        assert_eq!((slab.find(handle), slab.len()), (Some(&'a'), 1));
        assert_eq!((slab.remove(first), slab.remove(first), slab.len()), (Some('a'), None, 0));
        assert_eq!(slab.insert('b'), first);
        assert_eq!((slab.find(handle), slab.find(slab.handle(first))), (None, Some(&'b')));
        assert!(slab.has(first, 1, 8) && !slab.has(first, 0, 8) && !slab.has(first + 1, 0, 8));
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(first, &'b')]);
    }
}
