//! A broadcast around a ring: each rank sends each chunk on once it has received it.

use super::chunks::Chunks;
use crate::dependencies::{Node, Point};
use crate::program::Program;

/// Adds a broadcast from rank 0.
pub(super) fn add(chunks: Chunks, program: &mut Program) {
    let mut last: Vec<Node> = Vec::new();
    for bytes in chunks.sizes() {
        let sent: Vec<Node> =
            (0..program.ranks - 1).map(|rank| program.flow(rank, rank + 1, bytes)).collect();
        for (at, flow) in sent.iter().enumerate() {
            if let Some(before) = at.checked_sub(1) {
                program.need(*flow, sent[before], Point::Received, chunks.compute);
            }
            if let Some(before) = last.get(at) {
                chunks.follow(*flow, *before, program);
            }
        }
        last = sent;
    }
}
