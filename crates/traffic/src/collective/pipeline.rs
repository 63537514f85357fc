//! A pipeline: each rank computes one chunk after the other, and sends each on.

use weft_units::Duration;

use super::chunks::Chunks;
use crate::dependencies::{Node, Point};
use crate::program::Program;

/// Adds a pipeline from rank 0 to the last one.
pub(super) fn add(chunks: Chunks, program: &mut Program) {
    let ranks = program.ranks;
    // Of the last chunk: where each rank started to compute, and its flow.
    let mut last: Option<(Vec<Node>, Vec<Node>)> = None;
    for bytes in chunks.sizes() {
        let works: Vec<Node> = (0..ranks - 1).map(|rank| program.step(rank)).collect();
        let sent: Vec<Node> = (0..ranks - 1).map(|rank| program.flow(rank, rank + 1, bytes)).collect();
        for at in 0..works.len() {
            program.need(sent[at], works[at], Point::Started, chunks.compute);
            if let Some(before) = at.checked_sub(1) {
                program.need(works[at], sent[before], Point::Received, Duration::ZERO);
            }
            if let Some((last_works, last_sent)) = &last {
                program.need(works[at], last_works[at], Point::Started, chunks.compute);
                chunks.follow(sent[at], last_sent[at], program);
            }
        }
        last = Some((works, sent));
    }
}
