//! The measurement window: how many bytes left each link between its two ends.
//!
//! The engine reads the links' counters at both ends, so averages over the window are exact. A run
//! that ends earlier is read at its end: for the rest of the window its links are idle. So the
//! window is equally long under every scheme, however late the last flow ends.

use weft_fabric::Fabric;
use weft_units::{LinkId, Time};

use crate::network::Network;

/// What left each link until the start and until the end of the window.
pub struct Window {
    ends: [Time; 2],
    /// Bytes that had left each link, in the fabric's order, at the ends that have passed.
    readings: Vec<Vec<u64>>,
}

impl Window {
    /// The window from the first time to the second, none of it passed.
    pub const fn new((from, to): (Time, Time)) -> Self {
        Self { ends: [from, to], readings: Vec::new() }
    }

    /// When the counters are to be read next.
    pub fn next(&self) -> Option<Time> {
        self.ends.get(self.readings.len()).copied()
    }

    /// Reads the counters of all links for the end that is due.
    pub fn read(&mut self, fabric: &Fabric, net: &Network) {
        let ids = (0..fabric.links().len() as u32).map(LinkId);
        self.readings.push(ids.map(|id| net.counters(id).wire_bytes).collect());
    }

    /// Bytes that left `link` within the window; 0 until both ends have been read.
    pub fn bytes(&self, link: LinkId) -> u64 {
        match self.readings.as_slice() {
            [before, after, ..] => after[link.index()].saturating_sub(before[link.index()]),
            _ => 0,
        }
    }
}
