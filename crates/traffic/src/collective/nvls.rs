//! Collectives that the switch of a scale-up domain reduces and multicasts (NVLink SHARP, NVLS of NCCL).
//!
//! In an all-reduce, each rank is the head of a part of the data. It loads its part from all ranks, reduced by the
//! switch, and stores the result to all, multicast by the switch. With `G` ranks, a rank's link carries all `B` bytes
//! and the `B / G` of its own part each way: the loads take `B` up and `B / G` down, the stores `B / G` up and `B`
//! down. NCCL's search for channels counts the same: twice for the head of a part and once for the others, on both ways
//! of their links (`ncclTopoSearchTryNvls` in `src/graph/search.cc` of NVIDIA/nccl 2.30).
//!
//! Between domains (NVLSTree), the heads of a part are the ranks of a double binary tree (`connectNvls` in
//! `src/graph/connect.cc`), and store what has come down.
//!
//! Switches here only forward, so loads and stores are an exchange between all ranks of a domain. It has two phases, each with half
//! of the bytes of every link and way: loads and stores of different data take place at the same time, and fill both ways.
//!
//! A reduce-scatter has only the loads, an all-gather only the stores. With `B` bytes in the whole buffer, one way of
//! each link carries `B`, also the rank's own part, for the switch reads and writes the memory of all ranks: NCCL
//! expects the bus bandwidth `(G - 1) / G R` at the rate `R` (`src/graph/tuning.cc`), so a time of `B / R`. Here, the
//! other way carries as much, not `B / G`.

use weft_units::Duration;

use super::chunks::Chunks;
use super::double_tree;
use crate::dependencies::{Node, Point};
use crate::part::part;
use crate::program::Program;

/// The half of the bytes that a flow belongs to.
#[derive(Clone, Copy)]
enum Phase {
    Load,
    Store,
}

/// The ranks of a domain: so many from `first` on.
#[derive(Clone, Copy)]
struct Domain {
    first: u32,
    ranks: u32,
}

impl Domain {
    fn all(ranks: u32, group: u32) -> impl Iterator<Item = Self> {
        (0..ranks / group).map(move |number| Self { first: number * group, ranks: group })
    }

    /// Adds a flow from each rank to each other one, in order of source, of these bytes to the rank so many places ahead. Returns
    /// them.
    fn exchange(self, bytes: impl Fn(u32) -> u64, program: &mut Program) -> Vec<Node> {
        let Self { first, ranks } = self;
        let ends = (0..ranks).flat_map(|src| (1..ranks).map(move |hop| (src, hop)));
        let flows = ends.map(|(src, hop)| program.flow(first + src, first + (src + hop) % ranks, bytes(hop)));
        flows.collect()
    }

    /// Adds the flows of a phase of an all-reduce of `bytes`. Returns them.
    fn phase(self, bytes: u64, phase: Phase, program: &mut Program) -> Vec<Node> {
        let (whole, peers) = (bytes.saturating_add(bytes.div_ceil(self.ranks.into())), self.ranks - 1);
        let share = |hop| part(whole, 2 * u64::from(peers), 2 * u64::from(hop - 1) + phase as u64);
        self.exchange(share, program)
    }

    /// Adds the loads of a chunk of `bytes`, after those of the chunk `before`. Returns their flows and, for each rank, the step
    /// at which it has its part.
    fn load(
        self,
        bytes: u64,
        before: &[Node],
        chunks: Chunks,
        program: &mut Program,
    ) -> (Vec<Node>, Vec<Node>) {
        let flows = self.phase(bytes, Phase::Load, program);
        for (flow, before) in flows.iter().zip(before) {
            chunks.follow(*flow, *before, program);
        }
        let steps: Vec<Node> = (0..self.ranks).map(|at| program.step(self.first + at)).collect();
        for (number, flow) in (0..).zip(&flows) {
            let (src, hop) = (number / (self.ranks - 1), number % (self.ranks - 1) + 1);
            let head = (src + hop) % self.ranks;
            program.need(steps[head as usize], *flow, Point::Received, chunks.compute);
        }
        (flows, steps)
    }

    /// Adds the stores of a chunk of `bytes`: those of each rank after its step.
    fn store(self, bytes: u64, after: &[Node], program: &mut Program) {
        let flows = self.phase(bytes, Phase::Store, program);
        for (flows, step) in flows.chunks(self.ranks as usize - 1).zip(after) {
            for flow in flows {
                program.need(*flow, *step, Point::Started, Duration::ZERO);
            }
        }
    }
}

/// Adds an all-reduce among all ranks, which are one domain.
pub(super) fn add(chunks: Chunks, program: &mut Program) {
    let domain = Domain { first: 0, ranks: program.ranks };
    for bytes in chunks.sizes() {
        let (_, steps) = domain.load(bytes, &[], chunks, program);
        domain.store(bytes, &steps, program);
    }
}

/// Adds a reduce-scatter or an all-gather of `bytes` in the whole buffer among all ranks, which are one domain.
pub(super) fn add_half(bytes: u64, program: &mut Program) {
    let ranks = program.ranks;
    let share = |hop| part(bytes, u64::from(ranks - 1), u64::from(hop - 1));
    Domain { first: 0, ranks }.exchange(share, program);
}

/// Adds an all-reduce among domains of `group` ranks. Loads, each of the two trees, and stores have connections of their own: none
/// waits for another on the way to the same rank.
pub(super) fn add_tree(group: u32, chunks: Chunks, program: &mut Program) {
    let ranks = program.ranks;
    // By chunk and rank.
    let mut loaded: Vec<Vec<Node>> = vec![Vec::new(); chunks.count as usize];
    for domain in Domain::all(ranks, group) {
        let mut before = Vec::new();
        for (loaded, bytes) in loaded.iter_mut().zip(chunks.sizes()) {
            let (flows, mut steps) = domain.load(bytes, &before, chunks, program);
            loaded.append(&mut steps);
            before = flows;
        }
    }
    let reduced: Vec<Vec<Node>> =
        loaded.iter().map(|_| (0..ranks).map(|rank| program.step(rank)).collect()).collect();
    for number in 0..2 {
        program.part_connections();
        for head in 0..group {
            let heads: Vec<u32> = Domain::all(ranks, group).map(|domain| domain.first + head).collect();
            let own = |bytes| part(part(bytes, group.into(), head.into()), 2, number as u64);
            let tree = &double_tree::both(&heads, chunks)[number];
            let mut last = None;
            for ((loaded, reduced), bytes) in loaded.iter().zip(&reduced).zip(chunks.sizes()) {
                let chunk =
                    tree.chunk(own(bytes), last.as_ref(), |rank| Some(loaded[rank as usize]), program);
                for (at, rank) in heads.iter().enumerate() {
                    for flow in tree.last(&chunk, at) {
                        program.need(reduced[*rank as usize], flow, Point::Received, chunks.compute);
                    }
                    let own = loaded[*rank as usize];
                    program.need(reduced[*rank as usize], own, Point::Started, Duration::ZERO);
                }
                last = Some(chunk);
            }
        }
    }
    program.part_connections();
    for domain in Domain::all(ranks, group) {
        for (reduced, bytes) in reduced.iter().zip(chunks.sizes()) {
            let own = domain.first as usize..(domain.first + group) as usize;
            domain.store(bytes, &reduced[own], program);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::Reuse;
    use weft_units::HostId;

    fn chunks(bytes: u64, count: u64, compute: Duration) -> Chunks {
        Chunks { bytes, count, compute, reuse: Reuse::Persistent }
    }

    /// The bytes that a rank sends to and receives from others of a kind.
    fn bytes(program: &Program, rank: u32, is_of_kind: impl Fn(u32) -> bool) -> [u64; 2] {
        let sum = |from: fn(&crate::listed::ListedFlow) -> [HostId; 2]| {
            let flows = program.flows.iter().map(|flow| (from(flow), flow.bytes));
            let own = flows.filter(|([own, other], _)| own.0 == rank && is_of_kind(other.0));
            own.map(|(_, bytes)| bytes).sum()
        };
        [sum(|flow| [flow.src, flow.dst]), sum(|flow| [flow.dst, flow.src])]
    }

    #[test]
    fn each_link_carries_all_bytes_and_those_of_the_own_part_each_way() {
        for (ranks, all) in [(2, 1_000), (3, 1_000), (8, 800_000), (72, 1_234_567)] {
            let mut program = Program { ranks, ..Program::default() };
            add(chunks(all, 1, Duration::ZERO), &mut program);
            let expected = all + all.div_ceil(ranks.into());
            assert!((0..ranks).all(|rank| bytes(&program, rank, |_| true) == [expected; 2]), "{ranks}");
            assert_eq!(program.flows.len() as u32, 2 * ranks * (ranks - 1));
            // Half of that in each phase.
            let loads: u64 = program.flows[..(ranks - 1) as usize].iter().map(|flow| flow.bytes).sum();
            assert!((2 * loads).abs_diff(expected) < 2 * u64::from(ranks), "{loads} of {expected}");
        }
    }

    #[test]
    fn each_link_carries_all_bytes_of_half_an_all_reduce() {
        for (ranks, all) in [(2, 1_000), (3, 1_001), (8, 800_000), (72, 1_234_567)] {
            let mut program = Program { ranks, ..Program::default() };
            add_half(all, &mut program);
            assert!((0..ranks).all(|rank| bytes(&program, rank, |_| true) == [all; 2]), "{ranks}");
            assert_eq!(program.flows.len() as u32, ranks * (ranks - 1));
            assert!(program.needs.is_empty());
        }
    }

    #[test]
    fn a_rank_stores_once_it_has_received_all_loads() {
        let mut program = Program { ranks: 4, ..Program::default() };
        add(chunks(4_000, 1, Duration::from_us(3)), &mut program);
        program.settle().unwrap();
        let step = program.needs.iter().find(|need| need.waiting == Node::Flow(12)).unwrap().on;
        let loads = program.needs.iter().filter(|need| need.waiting == step);
        let sources: Vec<HostId> = loads
            .map(|need| {
                let Node::Flow(flow) = need.on else { panic!("{need:?}") };
                assert_eq!((need.at, need.delay), (Point::Received, Duration::from_us(3)));
                assert_eq!(program.flows[flow as usize].dst, program.flows[12].src);
                program.flows[flow as usize].src
            })
            .collect();
        assert_eq!(sources, [1, 2, 3].map(HostId));
    }

    #[test]
    fn between_domains_each_rank_has_its_part_of_a_double_tree() {
        let (ranks, group, all) = (16, 4, 1_600_000);
        for count in [1, 10] {
            let mut program = Program { ranks, ..Program::default() };
            add_tree(group, chunks(all, count, Duration::ZERO), &mut program);
            program.settle().unwrap();
            let mut most = 0;
            for rank in 0..ranks {
                let within = bytes(&program, rank, |other| other / group == rank / group);
                assert_eq!(within, [all + all / 4; 2], "chunks: {count}");
                let rail = bytes(&program, rank, |other| other % group == rank % group);
                assert_eq!(bytes(&program, rank, |other| other / group != rank / group), rail);
                most = most.max(rail[0]);
            }
            // Two children and a parent in one tree, a parent in the other, each with half of the part.
            assert_eq!(most, 4 * all / 4 / 2);
        }
    }

    #[test]
    fn loads_trees_and_stores_have_connections_of_their_own() {
        let mut program = Program { ranks: 8, ..Program::default() };
        add_tree(4, chunks(80_000, 3, Duration::ZERO), &mut program);
        // Three chunks in two domains; up and down each tree of two ranks, for four parts.
        let (exchange, tree) = (3 * 2 * 12, 3 * 4 * 2);
        assert_eq!(program.parted, [exchange, exchange + tree, exchange + 2 * tree]);
        assert_eq!(program.flows.len() as u32, 2 * (exchange + tree));
    }
}
