//! [`Kind`]: a collective operation of Chakra, and the flows of one.

use weft_units::HostId;

use crate::collective::{Algorithm, Collective};
use crate::program::Program;

/// A collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    AllReduce,
    Reduce,
    AllGather,
    Gather,
    Scatter,
    Broadcast,
    AllToAll,
    ReduceScatter,
    Barrier,
}

impl Kind {
    /// The operation with this number in the schema.
    pub const fn of(number: u64) -> Option<Self> {
        Some(match number {
            0 => Self::AllReduce,
            1 => Self::Reduce,
            2 => Self::AllGather,
            3 => Self::Gather,
            4 => Self::Scatter,
            5 => Self::Broadcast,
            6 => Self::AllToAll,
            // The variant in which all parts have the same size.
            7 | 8 => Self::ReduceScatter,
            9 => Self::Barrier,
            _ => return None,
        })
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::Reduce => "reduce",
            Self::AllGather => "all-gather",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Broadcast => "broadcast",
            Self::AllToAll => "all-to-all",
            Self::ReduceScatter => "reduce-scatter",
            Self::Barrier => "barrier",
        }
    }

    /// The number of flows among so many ranks, at least 2.
    ///
    /// # Errors
    /// It has too many bytes.
    pub fn flows(self, bytes: u64, ranks: u32) -> Result<u64, String> {
        match self.collective(bytes, ranks)? {
            Some(collective) => collective.flows(ranks.into()),
            None => Ok(u64::from(ranks) - 1),
        }
    }

    /// The flows among so many ranks, at least 2, for which there are [`flows`](Self::flows). The root is rank 0.
    pub fn round(self, bytes: u64, ranks: u32) -> Program {
        let collective = self.collective(bytes, ranks).unwrap_or_default();
        let mut program = Program { ranks, ..Program::default() };
        match (self, collective) {
            // The chain of a broadcast, backwards.
            (Self::Reduce, Some(chain)) => {
                program = chain.round(ranks);
                let back = |host: &mut HostId| host.0 = ranks - 1 - host.0;
                program.flows.iter_mut().for_each(|flow| {
                    back(&mut flow.src);
                    back(&mut flow.dst);
                });
                program.steps.iter_mut().for_each(|step| back(&mut step.host));
            }
            (_, Some(collective)) => program = collective.round(ranks),
            (_, None) => {
                for rank in 1..ranks {
                    let (src, dst) = if self == Self::Gather { (rank, 0) } else { (0, rank) };
                    program.flow(src, dst, self.part(bytes, ranks));
                }
            }
        }
        program
    }

    /// The bytes of a message of a gather or scatter.
    fn part(self, bytes: u64, ranks: u32) -> u64 {
        let parts = if self == Self::Gather { 1 } else { ranks.into() };
        bytes.div_ceil(parts).max(1)
    }

    /// The algorithm that carries it out; `None` for messages between the root and all others.
    fn collective(self, bytes: u64, ranks: u32) -> Result<Option<Collective>, String> {
        let parts = u64::from(ranks);
        let (algorithm, bytes, chunks) = match self {
            Self::AllReduce => (Algorithm::RingAllReduce, bytes.max(parts), 1),
            Self::ReduceScatter => (Algorithm::ReduceScatter, bytes.max(parts), 1),
            // The size is that of each rank's part.
            Self::AllGather => {
                let all = bytes.max(1).checked_mul(parts);
                let all = all.ok_or_else(|| format!("{ranks} parts of {bytes} bytes are too many bytes"))?;
                (Algorithm::AllGather, all, 1)
            }
            Self::AllToAll => (Algorithm::AllToAll, bytes.max(parts), 1),
            Self::Broadcast | Self::Reduce => {
                let bytes = bytes.max(1);
                (Algorithm::Pipeline, bytes, bytes.min(Collective::CHAIN_CHUNKS))
            }
            Self::Barrier => (Algorithm::TreeAllReduce, 1, 1),
            Self::Gather | Self::Scatter => return Ok(None),
        };
        Ok(Some(Collective::new(algorithm, bytes, chunks)))
    }
}
