//! [`Ends`]: the ends of a partition's flows, by their places.

use super::flow_end::FlowEnd;
use super::places::Place;
use super::world::World;
use crate::huge;
use crate::network::Network;
use crate::prefetch::prefetch;
use crate::timer::Timer;

/// Ends for which there is room at first.
const FIRST_ENDS: usize = 16;
/// Bytes of a cache line.
const LINE: usize = 64;
/// So many ends leave before their timers are removed.
const MANY: usize = 512;

/// The ends that are there.
pub struct Ends<E> {
    ends: Vec<Option<E>>,
    /// Places that are not in use.
    free: Vec<u32>,
    /// Places that are not in use, but timers of the ends that were there may be pending.
    left: Vec<u32>,
}

impl<E> Default for Ends<E> {
    fn default() -> Self {
        Self { ends: Vec::new(), free: Vec::new(), left: Vec::new() }
    }
}

impl<E> Ends<E> {
    /// Adds an end; returns its place.
    pub fn add(&mut self, owner: FlowEnd, end: E, world: &World<'_>) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            if self.ends.len() == self.ends.capacity() {
                huge::reserve(&mut self.ends, FIRST_ENDS);
            }
            self.ends.push(None);
            self.ends.len() as u32 - 1
        });
        self.ends[place as usize] = Some(end);
        world.places.set(owner.flow, owner.side, Place::At(place));
        place
    }

    /// The end at `place`, if there is one.
    #[inline(always)]
    pub fn at(&mut self, place: u32) -> Option<&mut E> {
        self.ends.get_mut(place as usize)?.as_mut()
    }

    /// Prefetches the end at `place`.
    #[inline]
    pub fn prefetch(&self, place: u32) {
        let end = self.ends.as_ptr().wrapping_add(place as usize).cast::<u8>();
        (0..size_of::<Option<E>>()).step_by(LINE).for_each(|at| prefetch(end.wrapping_add(at)));
    }

    /// Reads the end at `place`, if there is one.
    #[inline(always)]
    pub fn get(&self, place: u32) -> Option<&E> {
        self.ends.get(place as usize)?.as_ref()
    }

    /// An end of a flow, if it is there.
    pub fn of(&mut self, owner: FlowEnd, world: &World<'_>) -> Option<&mut E> {
        match world.places.get(owner.flow, owner.side) {
            Place::At(place) => self.at(place),
            Place::New | Place::Gone => None,
        }
    }

    /// Removes an end, which never comes again; returns it and its place. Once many places are empty, the timers of their
    /// ends are removed: without that, they would pile up until they are due.
    pub fn remove(&mut self, owner: FlowEnd, net: &mut Network<'_>, world: &World<'_>) -> Option<(E, u32)> {
        let place = world.places.get(owner.flow, owner.side);
        world.places.set(owner.flow, owner.side, Place::Gone);
        let Place::At(place) = place else { return None };
        let end = self.ends.get_mut(place as usize)?.take()?;
        self.left.push(place);
        if self.left.len() >= MANY.max(self.ends.len() / 2) {
            self.remove_timers(net);
        }
        Some((end, place))
    }

    fn remove_timers(&mut self, net: &mut Network<'_>) {
        let mut has_left = vec![false; self.ends.len()];
        for place in &self.left {
            has_left[*place as usize] = true;
        }
        net.retain_timers(
            |timer| !matches!(timer, Timer::End(place) if has_left.get(place as usize) == Some(&true)),
        );
        self.free.append(&mut self.left);
    }

    /// All ends that are there, with their places.
    pub fn all(&mut self) -> impl Iterator<Item = (u32, &mut E)> {
        (0..).zip(&mut self.ends).filter_map(|(place, end)| Some((place, end.as_mut()?)))
    }

    /// Bytes of memory held, with `heap` bytes of each end elsewhere.
    pub fn memory(&self, heap: impl Fn(&E) -> usize) -> usize {
        let heap: usize = self.ends.iter().flatten().map(heap).sum();
        self.ends.capacity() * size_of::<Option<E>>() + heap
    }
}
