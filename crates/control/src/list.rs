//! [`List`], an intrusive doubly linked list of [`Slab`] entries in insertion order: adding an entry, and
//! removing one anywhere, takes constant time.

use crate::slab::{NONE, Slab};

/// An entry's neighbours in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    previous: u32,
    next: u32,
}

impl Default for Link {
    fn default() -> Self {
        Self { previous: NONE, next: NONE }
    }
}

/// An entry that can be in several lists, with one link for each.
pub(crate) trait Linked {
    /// The links of the entry.
    fn links(&self) -> &[Link];
    /// The links of the entry.
    fn links_mut(&mut self) -> &mut [Link];
}

/// Entries in insertion order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, len: 0 }
    }
}

impl List {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry added first.
    pub fn first(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// Adds an entry by its link `which`, which must not be in any list.
    pub fn push<T: Linked>(&mut self, which: usize, entries: &mut Slab<T>, index: u32) {
        entries[index].links_mut()[which] = Link { previous: self.tail, next: NONE };
        match self.tail {
            NONE => self.head = index,
            tail => entries[tail].links_mut()[which].next = index,
        }
        self.tail = index;
        self.len += 1;
    }

    /// Removes an entry, which must be in this list.
    pub fn remove<T: Linked>(&mut self, which: usize, entries: &mut Slab<T>, index: u32) {
        let Link { previous, next } = std::mem::take(&mut entries[index].links_mut()[which]);
        match previous {
            NONE => self.head = next,
            previous => entries[previous].links_mut()[which].next = next,
        }
        match next {
            NONE => self.tail = previous,
            next => entries[next].links_mut()[which].previous = previous,
        }
        self.len -= 1;
    }

    /// The entries, oldest first.
    pub fn iter<T: Linked>(self, which: usize, entries: &Slab<T>) -> impl Iterator<Item = u32> {
        let known = |index: u32| (index != NONE).then_some(index);
        std::iter::successors(known(self.head), move |&index| known(entries[index].links()[which].next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Linked for [Link; 2] {
        fn links(&self) -> &[Link] {
            self
        }
        fn links_mut(&mut self) -> &mut [Link] {
            self
        }
    }

    #[test]
    fn entries_stay_in_order_whichever_is_removed() {
        for removed in 0..4 {
            let mut entries = Slab::default();
            let (mut list, mut other) = (List::default(), List::default());
            for _ in 0..4 {
                let index = entries.insert([Link::default(); 2]);
                list.push(0, &mut entries, index);
                other.push(1, &mut entries, index);
            }
            list.remove(0, &mut entries, removed);
            let left: Vec<u32> = (0..4).filter(|&index| index != removed).collect();
            assert_eq!(list.iter(0, &entries).collect::<Vec<_>>(), left);
            assert_eq!((list.len(), other.iter(1, &entries).count()), (3, 4));
            for index in left {
                list.remove(0, &mut entries, index);
            }
            assert!(list.is_empty() && list.first().is_none());
        }
    }
}
