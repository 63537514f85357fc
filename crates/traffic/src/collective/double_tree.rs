//! A double binary tree: each tree carries half of the data, and a rank that is inside of one is a leaf of the other (Sanders,
//! Speck and Träff, Parallel Computing 35, 2009), with the trees of NCCL 2.4 and later.

use super::chunks::Chunks;
use super::tree::{Around, Tree};
use crate::part::part;
use crate::program::Program;

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

/// The two trees of `members`, each with its half of the data.
pub(super) fn both(members: &[u32], chunks: Chunks) -> [Tree<'_>; 2] {
    let half = |number| Chunks { bytes: part(chunks.bytes, 2, number), ..chunks };
    [Tree::new(in_first, members, half(0)), Tree::new(in_second, members, half(1))]
}

/// Adds an all-reduce: up each tree and down again. Each tree has connections of its own, as each is a channel of NCCL: where a
/// rank is above another in one tree and below it in the other, none of their messages waits for the other tree.
pub(super) fn add(chunks: Chunks, program: &mut Program) {
    let members: Vec<u32> = (0..program.ranks).collect();
    let [first, second] = both(&members, chunks);
    first.add(program);
    program.part_connections();
    second.add(program);
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
