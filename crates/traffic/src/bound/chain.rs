//! [`Chain`]: the longest chain of flows to a node.

use weft_units::{Duration, Time};

/// The longest chain of flows to a node.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    /// The end of its time.
    pub(super) at: Time,
    /// Its flows.
    pub(super) flows: u64,
}

impl Chain {
    /// Comes no earlier than after `other`.
    pub(super) fn put_off(&mut self, other: Self) {
        if other.at > self.at {
            *self = other;
        }
    }

    pub(super) fn after(self, delay: Duration) -> Self {
        Self { at: self.at + delay, ..self }
    }
}
