//! [`Collective`]: an operation in which all ranks take part, as flows that wait for each other.

mod double_tree;
pub(crate) mod experts;
mod hierarchical;
mod nvls;
mod ring;

use weft_units::{Duration, Time, plural, words};

use self::ring::Rings;
use crate::connections::Reuse;
use crate::dependencies::{Node, Point};
use crate::part::part;
use crate::program::Program;
use crate::protocol::Protocol;
use crate::relay::Relay;

words! {
    /// An algorithm. Each names the bytes at every rank `B` and the number of ranks `N`.
    pub enum Algorithm {
        /// Reduce-scatter, then all-gather, around a ring: 2 (N - 1) steps of B / N.
        RingAllReduce = "ring-all-reduce",
        /// Recursive halving, then doubling: 2 log2 N steps, of B / 2, B / 4, ... B / N and back.
        HalvingDoublingAllReduce = "halving-doubling-all-reduce",
        /// Up a binary tree and down again, in chunks.
        TreeAllReduce = "tree-all-reduce",
        /// The same over two trees, each of which carries half of the data, in chunks.
        DoubleTreeAllReduce = "double-tree-all-reduce",
        /// Reduce-scatter within scale-up domains, all-reduce between them, all-gather within, around rings.
        HierarchicalAllReduce = "hierarchical-all-reduce",
        /// Reduced and multicast by the switch of a scale-up domain.
        NvlsAllReduce = "nvls-all-reduce",
        /// The same in each scale-up domain, and over two trees between them, in chunks.
        NvlsTreeAllReduce = "nvls-tree-all-reduce",
        /// Around a ring: N - 1 steps of B / N.
        ReduceScatter = "reduce-scatter",
        /// Around a ring: N - 1 steps of B / N.
        AllGather = "all-gather",
        /// B / N from each rank to every other, all at once.
        AllToAll = "all-to-all",
        /// From each rank to the next, in chunks.
        Pipeline = "pipeline",
        /// From rank 0 to all others, around a ring, in chunks.
        Broadcast = "broadcast",
        /// B from each rank to the next one around a ring.
        SendRecv = "send-recv",
    }
}

impl Algorithm {
    /// Whether it sends its data in chunks.
    pub const fn has_chunks(self) -> bool {
        matches!(
            self,
            Self::TreeAllReduce
                | Self::DoubleTreeAllReduce
                | Self::NvlsTreeAllReduce
                | Self::Pipeline
                | Self::Broadcast
        )
    }

    /// Whether it treats ranks of a scale-up domain and others differently.
    pub(crate) const fn is_by_domain(self) -> bool {
        matches!(self, Self::HierarchicalAllReduce) || self.is_nvls()
    }

    /// Whether switches of scale-up domains reduce and multicast.
    const fn is_nvls(self) -> bool {
        matches!(self, Self::NvlsAllReduce | Self::NvlsTreeAllReduce)
    }

    /// Whether ranks send data in a round after they have received some.
    pub const fn passes_on(self) -> bool {
        !matches!(self, Self::AllToAll | Self::SendRecv)
    }

    /// The ratio of the bus bandwidth to the bytes at every rank over the time, as nccl-tests prints it (PERFORMANCE.md there);
    /// `None` for algorithms that it does not have.
    pub fn bus_factor(self, ranks: u32) -> Option<f64> {
        let ranks = f64::from(ranks);
        match self {
            Self::RingAllReduce
            | Self::HalvingDoublingAllReduce
            | Self::TreeAllReduce
            | Self::DoubleTreeAllReduce
            | Self::HierarchicalAllReduce
            | Self::NvlsAllReduce
            | Self::NvlsTreeAllReduce => Some(2.0 * (ranks - 1.0) / ranks),
            Self::AllGather | Self::ReduceScatter | Self::AllToAll => Some((ranks - 1.0) / ranks),
            Self::Broadcast | Self::SendRecv => Some(1.0),
            Self::Pipeline => None,
        }
    }
}

/// A collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collective {
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Bytes at every rank.
    pub bytes: u64,
    /// The number of chunks; 1 for algorithms without chunks.
    pub chunks: u64,
    /// The number of channels: equal parts of the data, with connections of their own.
    pub channels: u64,
    /// The exponent by which ranks receive different amounts in an all-to-all, in thousandths ([`experts`]); 0: all the same.
    pub skew: u32,
    /// How long a rank computes between receiving data and sending the next data.
    pub compute: Duration,
    /// How often it runs. A rank starts the next round, after computing, once it has received all of this one, and
    /// its own data is acknowledged.
    pub rounds: u64,
    /// When the first round starts.
    pub start: Duration,
    /// The upper bound of a random delay of each pair of ranks: none of its messages starts earlier.
    pub jitter: Duration,
    /// Whether messages between two ranks share a connection, in all rounds.
    pub reuse: Reuse,
    /// How messages between rails travel.
    pub relay: Relay,
    /// How the bytes of a message are sent.
    pub protocol: Protocol,
    /// The ranks of a scale-up domain, which are consecutive; 0: not known, or the algorithm does not depend on it.
    pub group: u32,
}

impl Collective {
    /// The most channels; NCCL has 64.
    pub const MOST_CHANNELS: u64 = 64;

    /// One round of `bytes` at every rank, from the start, with a connection for each message and no computation.
    pub const fn new(algorithm: Algorithm, bytes: u64, chunks: u64) -> Self {
        Self {
            algorithm,
            bytes,
            chunks,
            channels: 1,
            skew: 0,
            compute: Duration::ZERO,
            rounds: 1,
            start: Duration::ZERO,
            jitter: Duration::ZERO,
            reuse: Reuse::PerMessage,
            relay: Relay::None,
            protocol: Protocol::Simple,
            group: 0,
        }
    }

    /// The number of flows of a round with this many ranks, in all channels.
    ///
    /// # Errors
    /// A number of ranks, or of bytes, for which the algorithm is not defined.
    pub fn flows(&self, ranks: u64) -> Result<u64, String> {
        let flows = self.channel(self.channels - 1).flows_of_channel(ranks);
        let of_channels = |why| match self.channels {
            1 => why,
            several => format!("in each of {several} channels, {why}"),
        };
        flows.map(|flows| flows.saturating_mul(self.channels)).map_err(of_channels)
    }

    /// The part of a channel.
    pub fn channel(&self, number: u64) -> Self {
        Self { bytes: part(self.bytes, self.channels, number), channels: 1, ..*self }
    }

    fn flows_of_channel(&self, ranks: u64) -> Result<u64, String> {
        let name = self.algorithm.word();
        if ranks < 2 {
            return Err(format!("`{name}` has {}; expected at least 2", plural(ranks, "rank")));
        }
        let group = u64::from(self.group);
        let groups = ranks / group.max(1);
        let (parts, flows) = match self.algorithm {
            Algorithm::RingAllReduce => (ranks, self.ring_flows(ranks, 2 * (ranks - 1))),
            Algorithm::AllGather | Algorithm::ReduceScatter => (ranks, self.ring_flows(ranks, ranks - 1)),
            Algorithm::AllToAll => (ranks, ranks.saturating_mul(ranks - 1)),
            _ if self.algorithm.is_nvls() && self.protocol != Protocol::Simple => {
                let protocol = self.protocol.word();
                return Err(format!(
                    "`{name}` has the protocol `{protocol}`; NCCL has it with `simple` only"
                ));
            }
            // Known once ranks have their hosts.
            _ if self.algorithm.is_by_domain() && self.group == 0 => (1, 0),
            Algorithm::HierarchicalAllReduce => {
                let within = 2 * self.ring_flows(ranks, group.saturating_sub(1));
                let between = self.ring_flows(ranks, 2 * groups.saturating_sub(1));
                (ranks, within.saturating_add(between))
            }
            Algorithm::NvlsAllReduce if groups > 1 => {
                return Err(format!(
                    "`{name}` has ranks in {groups} scale-up domains; expected ranks of one, or `{}`",
                    Algorithm::NvlsTreeAllReduce.word()
                ));
            }
            Algorithm::NvlsAllReduce => (2 * group, 2 * ranks * (group - 1)),
            Algorithm::NvlsTreeAllReduce if groups == 1 => {
                return Err(format!(
                    "`{name}` has all ranks in one scale-up domain; expected ranks of several, or `{}`",
                    Algorithm::NvlsAllReduce.word()
                ));
            }
            Algorithm::NvlsTreeAllReduce => {
                let of_chunk = 2 * ranks * (group - 1) + 4 * group * (groups - 1);
                ((2 * group).saturating_mul(self.chunks), self.chunks.saturating_mul(of_chunk))
            }
            Algorithm::DoubleTreeAllReduce => (2 * self.chunks, self.chunks.saturating_mul(4 * (ranks - 1))),
            Algorithm::SendRecv => (1, ranks),
            Algorithm::HalvingDoublingAllReduce if !ranks.is_power_of_two() => {
                return Err(format!("`{name}` has {}; expected a power of two", plural(ranks, "rank")));
            }
            Algorithm::HalvingDoublingAllReduce => (ranks, 2 * ranks * u64::from(ranks.ilog2())),
            Algorithm::TreeAllReduce => (self.chunks, self.chunks.saturating_mul(2 * (ranks - 1))),
            Algorithm::Pipeline | Algorithm::Broadcast => {
                (self.chunks, self.chunks.saturating_mul(ranks - 1))
            }
        };
        if self.bytes < parts {
            return Err(format!(
                "`{name}` sends {} in {}; expected at least {}",
                plural(self.bytes, "byte"),
                plural(parts, "part"),
                plural(parts, "byte")
            ));
        }
        Ok(flows)
    }

    /// The number of flows of `steps` steps around rings, with all `ranks` ranks in one of them.
    fn ring_flows(&self, ranks: u64, steps: u64) -> u64 {
        ranks.saturating_mul(if self.in_parts() { steps.min(1) } else { steps })
    }

    /// One round of a channel among `ranks` ranks.
    pub fn round(&self, ranks: u32) -> Program {
        let mut program = Program { ranks, ..Program::default() };
        match self.algorithm {
            Algorithm::RingAllReduce => self.ring(2 * (ranks - 1), &mut program),
            Algorithm::AllGather | Algorithm::ReduceScatter => self.ring(ranks - 1, &mut program),
            Algorithm::DoubleTreeAllReduce => {
                double_tree::add(self.bytes, self.chunks, self.compute, &mut program);
            }
            Algorithm::HierarchicalAllReduce => {
                hierarchical::add(self.bytes, self.group, self.rings(&mut program));
            }
            Algorithm::NvlsAllReduce => nvls::add(self.bytes, self.compute, &mut program),
            Algorithm::NvlsTreeAllReduce => {
                nvls::add_tree(self.bytes, self.group, self.chunks, self.compute, &mut program);
            }
            Algorithm::Broadcast => self.broadcast(&mut program),
            Algorithm::SendRecv => {
                for rank in 0..ranks {
                    program.flow(rank, (rank + 1) % ranks, self.bytes);
                }
            }
            Algorithm::HalvingDoublingAllReduce => self.halving_doubling(&mut program),
            Algorithm::TreeAllReduce => self.tree(&mut program),
            Algorithm::AllToAll => {
                for (src, hop) in (0..ranks).flat_map(|src| (1..ranks).map(move |hop| (src, hop))) {
                    program.flow(src, (src + hop) % ranks, part(self.bytes, ranks.into(), hop.into()));
                }
            }
            Algorithm::Pipeline => self.pipeline(&mut program),
        }
        let start = Time::ZERO + self.start;
        program.flows.iter_mut().for_each(|flow| flow.start = start);
        program.steps.iter_mut().for_each(|step| step.start = start);
        program
    }

    /// All rounds, from one [`round`](Self::round).
    pub fn all(&self, round: &Program) -> Program {
        let mut all = round.clone();
        let roots = round.roots();
        for number in 1..self.rounds {
            // The end of the last round at each rank.
            let flows = all.flows.len() - round.flows.len();
            let ends: Vec<Node> = (0..round.ranks).map(|rank| all.step(rank)).collect();
            for (at, flow) in (flows as u32..).zip(&round.flows) {
                all.need(ends[flow.src.index()], Node::Flow(at), Point::Acknowledged, Duration::ZERO);
                all.need(ends[flow.dst.index()], Node::Flow(at), Point::Received, Duration::ZERO);
            }
            let (flows, steps) = (all.flows.len() as u32, all.steps.len() as u32);
            let moved = |node: Node| node.after(flows, steps);
            all.add_series(&round.series, flows);
            all.flows.extend_from_slice(&round.flows);
            all.steps.extend_from_slice(&round.steps);
            all.needs.extend(round.needs.iter().map(|need| need.between(moved)));
            for root in &roots {
                let rank = match root {
                    Node::Flow(flow) => round.flows[*flow as usize].src,
                    Node::Step(step) => round.steps[*step as usize].host,
                };
                all.need(moved(*root), ends[rank.index()], Point::Started, self.compute);
            }
            debug_assert_eq!(all.flows.len() as u64, (number + 1) * round.flows.len() as u64);
        }
        all
    }

    /// `steps` steps around the ring of all ranks.
    fn ring(&self, steps: u32, program: &mut Program) {
        let members: Vec<u32> = (0..program.ranks).collect();
        let mut before = vec![None; members.len()];
        self.rings(program).around(&members, self.bytes, steps, 0, &mut before);
    }

    fn rings<'a>(&self, program: &'a mut Program) -> Rings<'a> {
        Rings { program, compute: self.compute, in_parts: self.in_parts() }
    }

    /// Whether all that a rank sends to the next one of a ring is one flow in parts, since it is on one connection. A message that
    /// is passed on by a relay is a flow of its own.
    fn in_parts(&self) -> bool {
        self.reuse == Reuse::Persistent && self.relay == Relay::None
    }

    fn halving_doubling(&self, program: &mut Program) {
        let (ranks, levels) = (program.ranks, program.ranks.ilog2());
        let mut before: Option<(u32, Vec<Node>)> = None;
        for level in (0..levels).chain((0..levels).rev()) {
            let distance = ranks >> (level + 1);
            let bytes = self.bytes.div_ceil(1 << (level + 1));
            let now = (0..ranks).map(|rank| {
                let flow = program.flow(rank, rank ^ distance, bytes);
                if let Some((last, sent)) = &before {
                    let got = sent[(rank ^ last) as usize];
                    program.need(flow, got, Point::Received, self.compute);
                    // It has received all that came before that.
                    program.need(flow, sent[rank as usize], Point::Started, Duration::ZERO);
                }
                flow
            });
            let now = now.collect();
            before = Some((distance, now));
        }
    }

    fn tree(&self, program: &mut Program) {
        let ranks = program.ranks;
        let parent = |rank: u32| (rank - 1) / 2;
        let children =
            |rank: u32| [2 * rank + 1, 2 * rank + 2].into_iter().filter(move |child| *child < ranks);
        // The flows of the last chunk, by the lower of their two ranks in the tree; there is none at the root.
        let mut last: Option<(Vec<Node>, Vec<Node>)> = None;
        for chunk in 0..self.chunks {
            let bytes = part(self.bytes, self.chunks, chunk);
            let up: Vec<Node> = (1..ranks).map(|rank| program.flow(rank, parent(rank), bytes)).collect();
            let down: Vec<Node> = (1..ranks).map(|rank| program.flow(parent(rank), rank, bytes)).collect();
            let of = |flows: &[Node], rank: u32| flows[rank as usize - 1];
            for rank in 1..ranks {
                for child in children(rank) {
                    program.need(of(&up, rank), of(&up, child), Point::Received, self.compute);
                }
                match parent(rank) {
                    0 => {
                        for child in children(0) {
                            program.need(of(&down, rank), of(&up, child), Point::Received, self.compute);
                        }
                    }
                    above => program.need(of(&down, rank), of(&down, above), Point::Received, self.compute),
                }
                if let Some((last_up, last_down)) = &last {
                    program.need(of(&up, rank), of(last_up, rank), Point::Acknowledged, Duration::ZERO);
                    program.need(of(&down, rank), of(last_down, rank), Point::Acknowledged, Duration::ZERO);
                }
            }
            last = Some((up, down));
        }
    }

    /// Each rank sends each chunk on once it has received it.
    fn broadcast(&self, program: &mut Program) {
        let mut last: Vec<Node> = Vec::new();
        for chunk in 0..self.chunks {
            let bytes = part(self.bytes, self.chunks, chunk);
            let sent: Vec<Node> =
                (0..program.ranks - 1).map(|rank| program.flow(rank, rank + 1, bytes)).collect();
            for (at, flow) in sent.iter().enumerate() {
                if let Some(before) = at.checked_sub(1) {
                    program.need(*flow, sent[before], Point::Received, self.compute);
                }
                if let Some(before) = last.get(at) {
                    program.need(*flow, *before, Point::Started, Duration::ZERO);
                }
            }
            last = sent;
        }
    }

    /// Each rank computes one chunk after the other, and sends each on.
    fn pipeline(&self, program: &mut Program) {
        let ranks = program.ranks;
        // Of the last chunk: where each rank started to compute, and its flow.
        let mut last: Option<(Vec<Node>, Vec<Node>)> = None;
        for chunk in 0..self.chunks {
            let bytes = part(self.bytes, self.chunks, chunk);
            let works: Vec<Node> = (0..ranks - 1).map(|rank| program.step(rank)).collect();
            let sent: Vec<Node> = (0..ranks - 1).map(|rank| program.flow(rank, rank + 1, bytes)).collect();
            for at in 0..works.len() {
                program.need(sent[at], works[at], Point::Started, self.compute);
                if let Some(before) = at.checked_sub(1) {
                    program.need(works[at], sent[before], Point::Received, Duration::ZERO);
                }
                if let Some((last_works, last_sent)) = &last {
                    program.need(works[at], last_works[at], Point::Started, self.compute);
                    program.need(sent[at], last_sent[at], Point::Acknowledged, Duration::ZERO);
                }
            }
            last = Some((works, sent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Bound;
    use crate::places::tests::spine_leaf;
    use weft_units::HostId;

    fn collective(algorithm: Algorithm, bytes: u64, chunks: u64) -> Collective {
        Collective { reuse: Reuse::Persistent, group: 4, ..Collective::new(algorithm, bytes, chunks) }
    }

    /// The bound of one round among `ranks` hosts of 1 Gbps, without delays.
    fn bound(collective: &Collective, ranks: u32) -> f64 {
        let mut round = collective.round(ranks);
        assert_eq!(round.flows.len() as u64, collective.flows(ranks.into()).unwrap(), "{collective:?}");
        assert!(round.flows.iter().all(|flow| flow.bytes > 0 && flow.src != flow.dst));
        round.settle().expect("no circle");
        Bound::of(&round, &spine_leaf(2, 4, 4), collective.reuse).time.as_secs_f64()
    }

    #[test]
    fn bounds_are_those_of_the_literature() {
        let (bytes, rate) = (1_600_000, 1e9 / 8.0);
        let whole = bytes as f64 / rate;
        for (algorithm, chunks, ranks, expected) in [
            (Algorithm::RingAllReduce, 1, 16, whole * 2.0 * 15.0 / 16.0),
            (Algorithm::RingAllReduce, 1, 2, whole),
            (Algorithm::AllGather, 1, 16, whole * 15.0 / 16.0),
            (Algorithm::AllToAll, 1, 16, whole * 15.0 / 16.0),
            (Algorithm::HalvingDoublingAllReduce, 1, 16, whole * 2.0 * 15.0 / 16.0),
            // Two levels up and two down; in ten chunks, inner ranks send all of it three times.
            (Algorithm::TreeAllReduce, 1, 7, 4.0 * whole),
            (Algorithm::TreeAllReduce, 10, 7, 3.0 * whole),
            (Algorithm::ReduceScatter, 1, 16, whole * 15.0 / 16.0),
            // Rings of 4, twice.
            (Algorithm::HierarchicalAllReduce, 1, 16, whole * (2.0 * 3.0 / 4.0 + 2.0 * 3.0 / 4.0 / 4.0)),
            // Four levels up and four down, each with half of the data.
            (Algorithm::DoubleTreeAllReduce, 1, 16, 4.0 * whole),
            // Both ways, all data and the own part of it, among hosts that are one domain.
            (Algorithm::NvlsAllReduce, 1, 4, whole * (1.0 + 1.0 / 4.0)),
            (Algorithm::Broadcast, 10, 5, whole * (10.0 + 3.0) / 10.0),
            (Algorithm::SendRecv, 1, 16, whole),
            (Algorithm::Pipeline, 1, 5, 4.0 * whole),
            (Algorithm::Pipeline, 10, 5, whole * (10.0 + 3.0) / 10.0),
        ] {
            let found = bound(&collective(algorithm, bytes, chunks), ranks);
            assert!(
                (found / expected - 1.0).abs() < 1e-6,
                "{algorithm:?}, {chunks}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn every_rank_sends_and_receives_its_share_in_every_step_of_a_ring() {
        let ring = collective(Algorithm::RingAllReduce, 10, 1);
        let round = Collective { reuse: Reuse::PerMessage, ..ring }.round(4);
        let of = |rank: u32| round.flows.iter().filter(move |flow| flow.src == HostId(rank));
        assert!((0..4).all(|rank| of(rank).count() == 6));
        // Parts of 3, 3, 2 and 2 bytes go around.
        assert_eq!(of(1).map(|flow| flow.bytes).collect::<Vec<_>>(), [3, 3, 2, 2, 3, 3]);
        assert_eq!(round.needs.len(), 4 * 5);
        // On connections that stay open, they are parts of a flow of each rank.
        let round = collective(Algorithm::RingAllReduce, 10, 1).round(4);
        assert_eq!((round.flows.len(), round.flows[1].bytes, round.needs.len()), (4, 16, 0));
        let (flow, series) = round.series[1];
        let sizes: Vec<u64> = (0..series.count).map(|part| series.size(part)).collect();
        assert_eq!((flow, series.feeds, sizes), (1, 2, vec![3, 3, 2, 2, 3, 3]));
    }

    #[test]
    fn a_round_follows_when_a_rank_has_received_all_and_its_own_is_acknowledged() {
        let repeated = Collective { rounds: 3, ..collective(Algorithm::AllToAll, 30, 1) };
        let mut all = repeated.all(&repeated.round(3));
        all.settle().expect("no circle");
        assert_eq!((all.flows.len(), all.steps.len()), (18, 6));
        let ends = all.needs.iter().filter(|need| matches!(need.waiting, Node::Step(_)));
        assert_eq!(ends.clone().count(), 2 * 6 * 2);
        let received = ends.filter(|need| need.at == Point::Received);
        assert!(received.clone().count() == 12 && all.needs.len() == 24 + 12);
    }

    #[test]
    fn numbers_for_which_an_algorithm_is_not_defined_are_refused() {
        for (algorithm, bytes, ranks, message) in [
            (Algorithm::AllToAll, 10, 1, "`all-to-all` has 1 rank; expected at least 2"),
            (
                Algorithm::HalvingDoublingAllReduce,
                100,
                12,
                "`halving-doubling-all-reduce` has 12 ranks; expected a power of two",
            ),
            (
                Algorithm::RingAllReduce,
                3,
                4,
                "`ring-all-reduce` sends 3 bytes in 4 parts; expected at least 4 bytes",
            ),
        ] {
            assert_eq!(collective(algorithm, bytes, 1).flows(ranks), Err(message.to_owned()));
        }
    }
}
