//! The measurement window: the bytes sent on each link between its two ends.
//!
//! The engine reads the links' counters at both ends, so averages over the window are exact. If a run
//! ends earlier, they are read at its end, and the links count as idle for the rest of the window. So
//! the window has the same length under every scheme, whenever the last flow ends.

use weft_fabric::Fabric;
use weft_units::{LinkId, Time};

/// Bytes sent on each link up to the start and up to the end of the window.
pub struct Window {
    ends: [Time; 2],
    /// Bytes sent on each link, in the fabric's order, at each end that has passed.
    readings: Vec<Vec<u64>>,
}

impl Window {
    /// The window from the first time to the second, not yet started.
    pub const fn new((from, to): (Time, Time)) -> Self {
        Self { ends: [from, to], readings: Vec::new() }
    }

    /// When to read the counters next.
    pub fn next(&self) -> Option<Time> {
        self.ends.get(self.readings.len()).copied()
    }

    /// Reads the counters of all links for the end that is due.
    pub fn read(&mut self, fabric: &Fabric, wire_bytes: impl Fn(LinkId) -> u64) {
        let ids = (0..fabric.links().len() as u32).map(LinkId);
        self.readings.push(ids.map(wire_bytes).collect());
    }

    /// Bytes sent on `link` within the window; 0 until both ends have been read.
    pub fn bytes(&self, link: LinkId) -> u64 {
        match self.readings.as_slice() {
            [before, after, ..] => after[link.index()].saturating_sub(before[link.index()]),
            _ => 0,
        }
    }
}
