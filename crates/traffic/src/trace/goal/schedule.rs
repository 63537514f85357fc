//! [`Schedule`]: the operations of all ranks and their requirements, as both forms of a file describe them.

use std::collections::BTreeMap;

use weft_units::Duration;

use crate::trace::error::{Place, TraceError};
use crate::trace::order::Order;
use crate::trace::value::above;
use crate::words::short;

/// Any rank or any tag, in a receive, as LogGOPSim represents it.
pub const ANY: u32 = u32::MAX;

/// The ranks to which the schedule generators of LogGOPSim and ATLAHS let a rank send 0 bytes when a collective is done
/// (`create_chained_dissem` of `schedgen.cpp`, `logsim-interface.cpp`).
const MARKS: [u32; 2] = [9_999_999, 999_999_999];

/// The operations of all ranks.
#[derive(Default)]
pub struct Schedule<'a> {
    /// The number of ranks.
    pub ranks: u32,
    /// The ranks that have operations.
    pub blocks: BTreeMap<u32, Block<'a>>,
}

/// The operations of a rank.
#[derive(Default)]
pub struct Block<'a> {
    /// The operations, as in the file.
    pub operations: Vec<Operation<'a>>,
    /// Each operation that requires another, with that, and whether it requires only its start; by their indices.
    pub requirements: Vec<(u32, u32, bool)>,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// The work.
    pub what: What,
    /// The processor that does it.
    pub cpu: u8,
    /// The interface that sends it.
    pub nic: u8,
    /// Its label, in a text.
    pub label: Option<&'a str>,
    /// Its place in the file.
    pub place: Place,
}

/// The work of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A message to a rank, with a tag.
    Send { to: u32, bytes: u64, tag: u32 },
    /// A message from a rank, or any, with a tag, or any.
    Receive { from: Option<u32>, bytes: u64, tag: Option<u32> },
    /// A calculation.
    Calc(Duration),
    /// Nothing: it is done as soon as its requirements are.
    Mark,
}

impl What {
    /// A send of a rank.
    pub fn send(rank: u32, to: u32, bytes: u64, tag: u32, ranks: u32) -> Result<Self, String> {
        match (to, tag) {
            (ANY, _) => Err("a send to any rank; expected one rank".to_owned()),
            (_, ANY) => Err("a send with any tag; expected one tag".to_owned()),
            _ if bytes == 0 && to >= ranks && MARKS.contains(&to) => Ok(Self::Mark),
            _ => Self::peer(rank, to, ranks).map(|()| Self::Send { to, bytes, tag }),
        }
    }

    /// A receive of a rank.
    pub fn receive(rank: u32, from: u32, bytes: u64, tag: u32, ranks: u32) -> Result<Self, String> {
        let given = |number: u32| (number != ANY).then_some(number);
        given(from).map_or(Ok(()), |from| Self::peer(rank, from, ranks))?;
        Ok(Self::Receive { from: given(from), bytes, tag: given(tag) })
    }

    /// A calculation of so many nanoseconds.
    pub fn calc(nanoseconds: u64) -> Result<Self, String> {
        let picoseconds = nanoseconds.checked_mul(1_000);
        let took = picoseconds.ok_or_else(|| above("calc", &nanoseconds.to_string(), u64::MAX / 1_000))?;
        Ok(Self::Calc(Duration::from_ps(took)))
    }

    fn peer(rank: u32, peer: u32, ranks: u32) -> Result<(), String> {
        match peer {
            peer if peer == rank => Err(format!("rank {rank} sends to itself")),
            peer if peer >= ranks => Err(format!("there is no rank {peer}; `num_ranks` is {ranks}")),
            _ => Ok(()),
        }
    }
}

impl Operation<'_> {
    /// Its name in messages.
    pub fn name(&self, rank: u32) -> String {
        let verb = match self.what {
            What::Send { .. } | What::Mark => "send",
            What::Receive { .. } => "recv",
            What::Calc(_) => "calc",
        };
        let label = self.label.map(|label| format!(" `{}`", short(label))).unwrap_or_default();
        match self.place {
            Place::Operation { operation, .. } => format!("{verb} of rank {rank} (operation {operation})"),
            place => format!("{verb}{label} of rank {rank} ({})", place.name()),
        }
    }
}

impl Block<'_> {
    /// The requirements, in an order that is the same for both forms of a file, and as an [`Order`].
    pub fn order(&mut self) -> Order {
        self.requirements.sort_unstable();
        let mut order = Order::of(self.operations.len());
        for (waiting, on, is_start) in &self.requirements {
            order.require(*waiting as usize, *on as usize, *is_start);
        }
        order
    }
}

/// The error of an operation.
pub fn refuse(place: Place) -> impl FnOnce(String) -> TraceError {
    move |why| TraceError::at(place, why)
}
