//! [`Places`]: where the ends of flows are.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::journal::FlowNumber;

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// No packet has reached it yet.
    New,
    /// Its place among the ends of its partition.
    At(u32),
    /// It has left.
    Gone,
}

const NEW: u32 = 0;
const GONE: u32 = u32::MAX;

/// The places of both ends of all flows. Only the partition of an end, and the engine between windows, reads and
/// writes its place.
pub struct Places(Vec<AtomicU32>);

impl Places {
    /// The ends of `flows` flows, all new.
    pub fn new(flows: usize) -> Self {
        Self(std::iter::repeat_with(|| AtomicU32::new(NEW)).take(2 * flows).collect())
    }

    /// The place of one side (0: the source) of a flow.
    #[inline]
    pub fn get(&self, flow: FlowNumber, side: usize) -> Place {
        match self.0[flow as usize * 2 + side].load(Ordering::Relaxed) {
            NEW => Place::New,
            GONE => Place::Gone,
            place => Place::At(place - 1),
        }
    }

    /// Sets the place of one side of a flow.
    pub fn set(&self, flow: FlowNumber, side: usize, place: Place) {
        let number = match place {
            Place::New => NEW,
            Place::At(place) => place + 1,
            Place::Gone => GONE,
        };
        self.0[flow as usize * 2 + side].store(number, Ordering::Relaxed);
    }
}
