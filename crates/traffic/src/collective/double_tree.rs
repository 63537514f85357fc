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
pub(super) struct Chunk {
    up: Vec<Option<Node>>,
    down: Vec<Option<Node>>,
}

/// One of the two trees, of some ranks.
pub(super) struct Tree<'a> {
    members: &'a [u32],
    around: Vec<Around>,
    /// How long a rank computes between receiving data and sending the next data.
    compute: Duration,
}

impl<'a> Tree<'a> {
    /// The tree of number 0 or 1.
    pub(super) fn new(number: usize, members: &'a [u32], compute: Duration) -> Self {
        let neighbours = [in_first, in_second][number];
        let count = members.len() as u32;
        Self { members, around: (0..count).map(|at| neighbours(at, count)).collect(), compute }
    }

    /// Adds the flows of a chunk: up and down again. They follow those of the chunk `before` once these have started: they share a
    /// connection, or compete. What a rank adds to the data is there once its node in `own` has started.
    pub(super) fn chunk(
        &self,
        bytes: u64,
        before: Option<&Chunk>,
        own: impl Fn(u32) -> Option<Node>,
        program: &mut Program,
    ) -> Chunk {
        let (members, around) = (self.members, &self.around);
        let parents = || members.iter().zip(around);
        let parent = |around: &Around| around.parent.map(|parent| members[parent as usize]);
        let mut flow = |src: u32, dst: u32| program.flow(src, dst, bytes);
        let up: Vec<_> = parents().map(|(rank, at)| parent(at).map(|above| flow(*rank, above))).collect();
        let down: Vec<_> = parents().map(|(rank, at)| parent(at).map(|above| flow(above, *rank))).collect();
        let chunk = Chunk { up, down };
        for (at, around) in around.iter().enumerate() {
            let sends = match chunk.up[at] {
                Some(flow) => vec![flow],
                // The root has all.
                None => of_children(&chunk.down, around).collect(),
            };
            for flow in sends {
                for got in of_children(&chunk.up, around) {
                    program.need(flow, got, Point::Received, self.compute);
                }
                if let Some(own) = own(members[at]) {
                    program.need(flow, own, Point::Started, Duration::ZERO);
                }
            }
            for flow in of_children(&chunk.down, around) {
                if let Some(got) = chunk.down[at] {
                    program.need(flow, got, Point::Received, self.compute);
                }
            }
        }
        if let Some(before) = before {
            let both = chunk.up.iter().zip(&before.up).chain(chunk.down.iter().zip(&before.down));
            for (now, before) in both.filter_map(|(now, before)| now.zip(*before)) {
                program.need(now, before, Point::Started, Duration::ZERO);
            }
        }
        chunk
    }

    /// The flows of a chunk with which a member has all of it.
    pub(super) fn last(&self, chunk: &Chunk, at: usize) -> Vec<Node> {
        match chunk.down[at] {
            Some(down) => vec![down],
            None => of_children(&chunk.up, &self.around[at]).collect(),
        }
    }
}

/// Those of `flows`, by rank, that belong to a rank's children.
fn of_children(flows: &[Option<Node>], around: &Around) -> impl Iterator<Item = Node> {
    around.children.into_iter().flatten().filter_map(|child| flows[child as usize])
}

/// Adds an all-reduce of `bytes` in `chunks`: up each tree and down again. Each tree has connections of its own, as each is a
/// channel of NCCL: where a rank is above another in one tree and below it in the other, none of their messages waits for the
/// other tree.
pub(super) fn add(bytes: u64, chunks: u64, compute: Duration, program: &mut Program) {
    let members: Vec<u32> = (0..program.ranks).collect();
    for number in 0..2 {
        if number > 0 {
            program.part_connections();
        }
        let tree = Tree::new(number, &members, compute);
        let half = part(bytes, 2, number as u64);
        let mut last = None;
        for chunk in 0..chunks {
            last = Some(tree.chunk(part(half, chunks, chunk), last.as_ref(), |_| None, program));
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
