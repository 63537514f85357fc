//! [`Collective`]: an operation in which all ranks take part, as flows that wait for each other.

mod algorithm;
mod broadcast;
mod chunks;
mod double_tree;
pub(crate) mod experts;
mod halving_doubling;
mod hierarchical;
mod nvls;
mod pipeline;
mod ring;
mod tree;

use weft_units::{Duration, Time, plural};

pub use self::algorithm::Algorithm;
use self::chunks::Chunks;
use self::ring::Rings;
use crate::connections::Reuse;
use crate::dependencies::{Node, Point};
use crate::error::TrafficError;
use crate::part::part;
use crate::program::Program;
use crate::protocol::Protocol;
use crate::relay::Relay;

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

    /// The most chunks in which a broadcast or reduction of a trace goes along the chain of its ranks.
    pub(crate) const CHAIN_CHUNKS: u64 = 8;

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

    /// Why there is no round with this many ranks, as an error of a group.
    pub(crate) fn refused(&self, group: usize, ranks: u64, why: String) -> TrafficError {
        let enough = Self { bytes: u64::MAX, ..*self };
        match enough.flows(ranks) {
            Ok(_) => TrafficError::Bytes { group, why },
            Err(_) => TrafficError::Ranks { group, why },
        }
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
            Algorithm::NvlsAllReduce | Algorithm::NvlsReduceScatter | Algorithm::NvlsAllGather
                if groups > 1 =>
            {
                let among_several = match self.algorithm {
                    Algorithm::NvlsReduceScatter => Algorithm::ReduceScatter,
                    Algorithm::NvlsAllGather => Algorithm::AllGather,
                    _ => Algorithm::NvlsTreeAllReduce,
                };
                return Err(format!(
                    "`{name}` has ranks in {groups} scale-up domains; expected ranks of one, or `{among_several}`"
                ));
            }
            Algorithm::NvlsReduceScatter | Algorithm::NvlsAllGather => (group, ranks * (group - 1)),
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
            Algorithm::HalvingDoublingAllReduce => {
                halving_doubling::add(self.bytes, self.compute, &mut program);
            }
            Algorithm::TreeAllReduce => tree::add(self.in_chunks(), &mut program),
            Algorithm::DoubleTreeAllReduce => double_tree::add(self.in_chunks(), &mut program),
            Algorithm::HierarchicalAllReduce => {
                hierarchical::add(self.bytes, self.group, self.rings(&mut program));
            }
            Algorithm::NvlsAllReduce => nvls::add(self.in_chunks(), &mut program),
            Algorithm::NvlsReduceScatter | Algorithm::NvlsAllGather => {
                nvls::add_half(self.bytes, &mut program);
            }
            Algorithm::NvlsTreeAllReduce => nvls::add_tree(self.group, self.in_chunks(), &mut program),
            Algorithm::Broadcast => broadcast::add(self.in_chunks(), &mut program),
            Algorithm::SendRecv => {
                for rank in 0..ranks {
                    program.flow(rank, (rank + 1) % ranks, self.bytes);
                }
            }
            Algorithm::AllToAll => {
                for (src, hop) in (0..ranks).flat_map(|src| (1..ranks).map(move |hop| (src, hop))) {
                    program.flow(src, (src + hop) % ranks, part(self.bytes, ranks.into(), hop.into()));
                }
            }
            Algorithm::Pipeline => pipeline::add(self.in_chunks(), &mut program),
        }
        let start = Time::ZERO + self.start;
        program.flows.iter_mut().for_each(|flow| flow.start = start);
        program.steps.iter_mut().for_each(|step| step.start = start);
        program
    }

    /// All rounds, from one [`round`](Self::round).
    pub fn all(&self, round: &Program) -> Program {
        let mut all = round.clone();
        let [roots, inner] = round.beginnings();
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
            // Ranks that pass data on have computed once they have received it.
            for (nodes, compute) in [(&roots, self.compute), (&inner, Duration::ZERO)] {
                for node in nodes {
                    let end = ends[round.rank_of(*node).index()];
                    all.need(moved(*node), end, Point::Started, compute);
                }
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

    const fn in_chunks(&self) -> Chunks {
        Chunks { bytes: self.bytes, count: self.chunks, compute: self.compute, reuse: self.reuse }
    }

    fn rings<'a>(&self, program: &'a mut Program) -> Rings<'a> {
        Rings { program, compute: self.compute, in_parts: self.in_parts() }
    }

    /// Whether all that a rank sends to the next one of a ring is one flow in parts, since it is on one connection. A message that
    /// is passed on by a relay is a flow of its own.
    fn in_parts(&self) -> bool {
        self.reuse == Reuse::Persistent && self.relay == Relay::None
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
            // Two levels up and two down, each with two children on a link.
            (Algorithm::TreeAllReduce, 1, 7, 8.0 * whole),
            // Rank 1 receives all of it three times, and has two children that it sends the last chunk to.
            (Algorithm::TreeAllReduce, 10, 7, (3.0 + 2.0 / 10.0) * whole),
            (Algorithm::ReduceScatter, 1, 16, whole * 15.0 / 16.0),
            // Rings of 4, twice.
            (Algorithm::HierarchicalAllReduce, 1, 16, whole * (2.0 * 3.0 / 4.0 + 2.0 * 3.0 / 4.0 / 4.0)),
            // Four levels up and four down, each with half of the data and, but at the root, with two children.
            (Algorithm::DoubleTreeAllReduce, 1, 16, (2.0 * (3.0 * 2.0 + 1.0)) / 2.0 * whole),
            // Both ways, all data and the own part of it, among hosts that are one domain.
            (Algorithm::NvlsAllReduce, 1, 4, whole * (1.0 + 1.0 / 4.0)),
            // One way, all data; the other way as much.
            (Algorithm::NvlsReduceScatter, 1, 4, whole),
            (Algorithm::NvlsAllGather, 1, 4, whole),
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
    fn a_rank_that_passes_data_on_has_ended_the_last_round_before() {
        for (algorithm, ranks) in
            [(Algorithm::Pipeline, 3), (Algorithm::Broadcast, 3), (Algorithm::TreeAllReduce, 7)]
        {
            let repeated = Collective { rounds: 2, ..collective(algorithm, 40, 2) };
            let all = repeated.all(&repeated.round(ranks));
            let ends =
                all.needs.iter().filter(|need| need.at == Point::Acknowledged).map(|need| need.waiting);
            let mut ends: Vec<Node> = ends.collect();
            ends.dedup();
            let mut waits: Vec<HostId> = Vec::new();
            for need in all.needs.iter().filter(|need| ends.contains(&need.on)) {
                assert_eq!(all.rank_of(need.waiting), all.rank_of(need.on), "{algorithm:?}: {need:?}");
                waits.push(all.rank_of(need.waiting));
            }
            waits.sort_unstable();
            waits.dedup();
            // The last rank of a chain sends nothing.
            let expected = ranks - u32::from(algorithm != Algorithm::TreeAllReduce);
            assert_eq!(waits, (0..expected).map(HostId).collect::<Vec<_>>(), "{algorithm:?}");
        }
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
