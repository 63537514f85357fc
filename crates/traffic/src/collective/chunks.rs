//! [`Chunks`]: the data of a channel in chunks, which ranks pass on one after the other.

use weft_units::Duration;

use crate::connections::Reuse;
use crate::dependencies::{Node, Point};
use crate::part::part;
use crate::program::Program;

/// The data of a channel in chunks.
#[derive(Clone, Copy)]
pub(super) struct Chunks {
    /// All bytes.
    pub(super) bytes: u64,
    /// The number of chunks.
    pub(super) count: u64,
    /// How long a rank computes between receiving data and sending the next data.
    pub(super) compute: Duration,
    /// Whether chunks from one rank to another share a connection.
    pub(super) reuse: Reuse,
}

impl Chunks {
    /// The bytes of each chunk.
    pub(super) fn sizes(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |chunk| part(self.bytes, self.count, chunk))
    }

    /// Makes a message of a rank to another follow that of the last chunk. On a connection that stays open, it waits behind that
    /// one; with a connection of its own, it would compete with it, so it starts once that one is acknowledged.
    pub(super) fn follow(self, now: Node, before: Node, program: &mut Program) {
        let at = match self.reuse {
            Reuse::Persistent => Point::Started,
            Reuse::PerMessage => Point::Acknowledged,
        };
        program.need(now, before, at, Duration::ZERO);
    }
}
