//! [`Following`]: which data segments of a connection or subflow are followed, to see its path.

use weft_transport::{Flags, Segment};

use crate::packet::{WATCHED, Way};

/// The segments that one side sends.
pub struct Following {
    /// How many have been followed.
    count: u32,
    /// Whether to follow the next data segment.
    pub next: bool,
}

impl Following {
    /// None yet; with `next`, the first data segment.
    pub const fn new(next: bool) -> Self {
        Self { count: 0, next }
    }

    /// The owner of the packet of `segment`, watched if links observe it, and its way if it is followed.
    #[inline(always)]
    pub fn of(&mut self, segment: &Segment, owner: u32) -> (u32, Option<Box<Way>>) {
        if segment.len > 0 {
            return self.of_data(owner);
        }
        (if segment.flags.has(Flags::SYN) { owner | WATCHED } else { owner }, None)
    }

    /// The same for a packet with data.
    #[inline(always)]
    pub fn of_data(&mut self, owner: u32) -> (u32, Option<Box<Way>>) {
        if !self.next {
            return (owner, None);
        }
        self.next = false;
        self.count += 1;
        (owner | WATCHED, Some(Box::new(Way { number: self.count, links: Vec::new() })))
    }
}
