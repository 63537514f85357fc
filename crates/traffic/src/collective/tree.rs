//! [`Tree`]: an all-reduce up a binary tree and down again, in chunks.

use weft_units::Duration;

use super::chunks::Chunks;
use crate::dependencies::{Node, Point};
use crate::program::Program;

/// The neighbours of a rank in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Around {
    /// That above it; none of the root.
    pub(super) parent: Option<u32>,
    /// Those below it.
    pub(super) children: [Option<u32>; 2],
}

/// The neighbours of `rank` in a tree filled level by level, rank 0 at the top.
fn by_levels(rank: u32, ranks: u32) -> Around {
    let child = |number: u32| rank.checked_mul(2)?.checked_add(number).filter(|child| *child < ranks);
    Around { parent: rank.checked_sub(1).map(|before| before / 2), children: [child(1), child(2)] }
}

/// Adds an all-reduce over the tree of all ranks.
pub(super) fn add(chunks: Chunks, program: &mut Program) {
    let members: Vec<u32> = (0..program.ranks).collect();
    Tree::new(by_levels, &members, chunks).add(program);
}

/// The flows of a chunk between each rank and its parent.
pub(super) struct Chunk {
    up: Vec<Option<Node>>,
    down: Vec<Option<Node>>,
}

/// A binary tree of some ranks.
pub(super) struct Tree<'a> {
    members: &'a [u32],
    around: Vec<Around>,
    chunks: Chunks,
}

impl<'a> Tree<'a> {
    /// The tree of `members` in which each, of a number out of so many, has these neighbours.
    pub(super) fn new(neighbours: fn(u32, u32) -> Around, members: &'a [u32], chunks: Chunks) -> Self {
        let count = members.len() as u32;
        Self { members, around: (0..count).map(|at| neighbours(at, count)).collect(), chunks }
    }

    /// Adds an all-reduce of the chunks: up the tree and down again.
    pub(super) fn add(&self, program: &mut Program) {
        let mut last = None;
        for bytes in self.chunks.sizes() {
            last = Some(self.chunk(bytes, last.as_ref(), |_| None, program));
        }
    }

    /// Adds the flows of a chunk: up and down again. They follow those of the chunk `before`. What a rank adds to the data is there
    /// once its node in `own` has started.
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
                    program.need(flow, got, Point::Received, self.chunks.compute);
                }
                if let Some(own) = own(members[at]) {
                    program.need(flow, own, Point::Started, Duration::ZERO);
                }
            }
            for flow in of_children(&chunk.down, around) {
                if let Some(got) = chunk.down[at] {
                    program.need(flow, got, Point::Received, self.chunks.compute);
                }
            }
        }
        if let Some(before) = before {
            let both = chunk.up.iter().zip(&before.up).chain(chunk.down.iter().zip(&before.down));
            for (now, before) in both.filter_map(|(now, before)| now.zip(*before)) {
                self.chunks.follow(now, before, program);
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
