//! [`Due`]: the nodes with events in a window, one after the other.

/// The places of nodes with events, in order.
#[derive(Default)]
pub struct Due {
    places: Vec<u32>,
    next: usize,
}

impl Due {
    /// These places, in the memory of an earlier list.
    pub fn again(mut self, places: impl Iterator<Item = u32>) -> Self {
        self.places.clear();
        self.places.extend(places);
        Self { next: 0, ..self }
    }

    /// The places after those that [`Iterator::next`] has returned.
    pub fn ahead(&self) -> &[u32] {
        &self.places[self.next..]
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.places.capacity() * size_of::<u32>()
    }
}

impl Iterator for Due {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let place = *self.places.get(self.next)?;
        self.next += 1;
        Some(place as usize)
    }
}
