//! A double binary tree: each tree carries half of the data, and a rank that is inside of one is a leaf of the other (Sanders,
//! Speck and Träff, Parallel Computing 35, 2009), with the trees of NCCL 2.4 and later.

use weft_units::Duration;

use crate::dependencies::{Node, Point};
use crate::part::part;
use crate::program::Program;

/// The neighbours of a rank in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Around {
    parent: Option<u32>,
    children: [Option<u32>; 2],
}

/// The neighbours of `rank` in the first tree: the ranks by the lowest bit that they have set, rank 0 at the top.
fn in_first(rank: u32, ranks: u32) -> Around {
    if rank == 0 {
        let below = ranks.checked_sub(1).filter(|last| *last > 0).map(|last| 1 << last.ilog2());
        return Around { parent: None, children: [below, None] };
    }
    let bit = rank & rank.wrapping_neg();
    let above = (rank ^ bit) | (bit << 1);
    let parent = if above < ranks { above } else { rank ^ bit };
    let half = bit >> 1;
    if half == 0 {
        return Around { parent: Some(parent), children: [None, None] };
    }
    let highest = std::iter::successors(Some(half), |bit| Some(bit >> 1)).take_while(|bit| *bit > 0);
    let right = highest.map(|bit| rank + bit).find(|child| *child < ranks);
    Around { parent: Some(parent), children: [Some(rank - half), right] }
}

/// The neighbours of `rank` in the second tree: the first one with its ranks in reverse or, if their number is odd, moved by
/// one.
fn in_second(rank: u32, ranks: u32) -> Around {
    let is_even = ranks.is_multiple_of(2);
    let to = if is_even { ranks - 1 - rank } else { (rank + ranks - 1) % ranks };
    let back = |rank: u32| if is_even { ranks - 1 - rank } else { (rank + 1) % ranks };
    let Around { parent, children } = in_first(to, ranks);
    Around { parent: parent.map(back), children: children.map(|child| child.map(back)) }
}

/// The flows of a chunk between each rank and its parent.
struct Chunk {
    up: Vec<Option<Node>>,
    down: Vec<Option<Node>>,
}

/// Adds the flows of a chunk through a tree.
fn chunk(around: &[Around], bytes: u64, compute: Duration, program: &mut Program) -> Chunk {
    let flow = |(rank, around): (u32, &Around)| around.parent.map(|parent| program.flow(rank, parent, bytes));
    let up: Vec<Option<Node>> = (0..).zip(around).map(flow).collect();
    let flow = |(rank, around): (u32, &Around)| around.parent.map(|parent| program.flow(parent, rank, bytes));
    let down: Vec<Option<Node>> = (0..).zip(around).map(flow).collect();
    for (rank, around) in around.iter().enumerate() {
        let children = || around.children.iter().flatten().map(|child| *child as usize);
        for got in children().filter_map(|child| up[child]) {
            match up[rank] {
                Some(flow) => program.need(flow, got, Point::Received, compute),
                // The root has all.
                None => {
                    for flow in children().filter_map(|child| down[child]) {
                        program.need(flow, got, Point::Received, compute);
                    }
                }
            }
        }
        for (flow, got) in children().filter_map(|child| down[child].zip(down[rank])) {
            program.need(flow, got, Point::Received, compute);
        }
    }
    Chunk { up, down }
}

/// Adds an all-reduce of `bytes` in `chunks`: up each tree and down again. Chunks of a rank to another follow each other once
/// the one before has started: they share a connection, or compete.
pub(super) fn add(bytes: u64, chunks: u64, compute: Duration, program: &mut Program) {
    let ranks = program.ranks;
    for (tree, neighbours) in [in_first, in_second].into_iter().enumerate() {
        let half = part(bytes, 2, tree as u64);
        let around: Vec<Around> = (0..ranks).map(|rank| neighbours(rank, ranks)).collect();
        let mut last: Option<Chunk> = None;
        for number in 0..chunks {
            let now = chunk(&around, part(half, chunks, number), compute, program);
            if let Some(last) = &last {
                let both = now.up.iter().zip(&last.up).chain(now.down.iter().zip(&last.down));
                for (now, before) in both.filter_map(|(now, before)| now.zip(*before)) {
                    program.need(now, before, Point::Started, Duration::ZERO);
                }
            }
            last = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each rank reaches the root, and is the child of its parent.
    fn check(neighbours: fn(u32, u32) -> Around, ranks: u32) -> Vec<bool> {
        let all: Vec<Around> = (0..ranks).map(|rank| neighbours(rank, ranks)).collect();
        assert_eq!(all.iter().filter(|around| around.parent.is_none()).count(), 1, "{ranks}: one root");
        for (rank, around) in (0..ranks).zip(&all) {
            for child in around.children.iter().flatten() {
                assert_eq!(all[*child as usize].parent, Some(rank), "{ranks}: child {child} of {rank}");
            }
            let ways = std::iter::successors(Some(rank), |at| all[*at as usize].parent);
            assert!(ways.take(ranks as usize + 1).count() <= ranks.ilog2() as usize + 2, "{ranks}: depth");
        }
        let children: usize = all.iter().map(|around| around.children.iter().flatten().count()).sum();
        assert_eq!(children, ranks as usize - 1, "{ranks}");
        all.iter().map(|around| around.children.iter().flatten().count() == 2).collect()
    }

    #[test]
    fn both_are_trees_and_no_rank_has_two_children_in_both() {
        for ranks in 2..200 {
            let inner = [check(in_first, ranks), check(in_second, ranks)];
            let both = inner[0].iter().zip(&inner[1]).filter(|(a, b)| **a && **b).count();
            assert_eq!(both, 0, "{ranks}");
        }
    }
}
