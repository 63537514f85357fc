//! [`Vacancies`]: the places of ends that have left.

use crate::event_queue::EventQueue;
use crate::timer::Timer;

/// So many ends leave before their timers are removed.
const MANY: usize = 512;

/// Places among the ends of a partition that are not in use.
#[derive(Default)]
pub struct Vacancies {
    free: Vec<u32>,
    /// Timers of the ends that were here may be pending.
    left: Vec<u32>,
}

impl Vacancies {
    /// Takes a place, if one is free.
    pub fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// The end at `place` has left. Once many of the `ends` places are empty, their timers are removed from `queue`:
    /// without that, they would pile up until they are due.
    pub fn leave(&mut self, place: u32, ends: usize, queue: &mut EventQueue) {
        self.left.push(place);
        if self.left.len() < MANY.max(ends / 2) {
            return;
        }
        let mut has_left = vec![false; ends];
        for place in &self.left {
            has_left[*place as usize] = true;
        }
        queue.retain(
            |id| !matches!(id.into(), Timer::End(place) if has_left.get(place as usize) == Some(&true)),
        );
        self.free.append(&mut self.left);
    }
}
