//! Recursive halving, then doubling: ranks exchange halves, quarters and so on of the data with ranks ever closer, and back.

use weft_units::Duration;

use crate::dependencies::{Node, Point};
use crate::program::Program;

/// Adds an all-reduce of `bytes` among a power of two of ranks.
pub(super) fn add(bytes: u64, compute: Duration, program: &mut Program) {
    let (ranks, levels) = (program.ranks, program.ranks.ilog2());
    let mut before: Option<(u32, Vec<Node>)> = None;
    for level in (0..levels).chain((0..levels).rev()) {
        let distance = ranks >> (level + 1);
        let bytes = bytes.div_ceil(1 << (level + 1));
        let now = (0..ranks).map(|rank| {
            let flow = program.flow(rank, rank ^ distance, bytes);
            if let Some((last, sent)) = &before {
                let got = sent[(rank ^ last) as usize];
                program.need(flow, got, Point::Received, compute);
                // It has received all that came before that.
                program.need(flow, sent[rank as usize], Point::Started, Duration::ZERO);
            }
            flow
        });
        let now = now.collect();
        before = Some((distance, now));
    }
}
