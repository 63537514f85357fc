//! [`Meeting`]: the nodes of all ranks that are one collective operation.

use std::collections::BTreeMap;

use super::communicators::Communicators;
use super::kind::Kind;
use super::operation::{RankTrace, What};
use crate::trace::error::{Place, TraceError};
use crate::words::short;

/// A collective operation.
pub struct Meeting {
    /// Its kind.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: u64,
    /// Its ranks, with the index of the node of each.
    pub members: Vec<(u32, u32)>,
}

/// A communicator: its name and its ranks.
type Communicator<'a> = (&'a str, &'a [u32]);

/// The nodes of a communicator's ranks, in the order in which each issues them.
type Calls = BTreeMap<u32, Vec<u32>>;

/// The collective operations of all ranks. The first node of each rank in a communicator is its first operation, and so
/// on.
///
/// # Errors
/// The nodes of an operation differ, or a rank has none.
pub fn meetings(traces: &[RankTrace], communicators: &Communicators<'_>) -> Result<Vec<Meeting>, TraceError> {
    let mut calls: BTreeMap<Communicator<'_>, Calls> = BTreeMap::new();
    for (rank, trace) in (0..).zip(traces) {
        for index in issued(trace) {
            if let What::Collective { communicator, .. } = &trace.operations[index].what {
                let ranks = communicators.ranks(communicator, rank, trace.place(rank, index))?;
                let of = calls.entry((communicator, ranks)).or_default();
                of.entry(rank).or_default().push(index as u32);
            }
        }
    }
    let mut meetings = Vec::new();
    for ((name, ranks), calls) in calls {
        let most = calls.values().map(Vec::len).max().unwrap_or_default();
        for number in 0..most {
            meetings.push(meeting(traces, name, ranks, &calls, number)?);
        }
    }
    Ok(meetings)
}

/// The nodes of a rank in the order in which it issues them; those of a circle, which is an error of its own, at the
/// end.
fn issued(trace: &RankTrace) -> Vec<usize> {
    let (count, mut issued) = (trace.operations.len(), trace.order.sorted());
    if issued.len() < count {
        let mut is_left = vec![true; count];
        issued.iter().for_each(|index| is_left[*index] = false);
        issued.extend((0..count).filter(|index| is_left[*index]));
    }
    issued
}

/// The operation with this number in a communicator.
fn meeting(
    traces: &[RankTrace],
    name: &str,
    ranks: &[u32],
    calls: &Calls,
    number: usize,
) -> Result<Meeting, TraceError> {
    let call = |rank: u32| Some((rank, *calls.get(&rank)?.get(number)?));
    let mut members = Vec::with_capacity(ranks.len());
    let mut first: Option<(Kind, u64, Place)> = None;
    let missing = ranks.iter().find(|rank| call(**rank).is_none());
    for (rank, index) in ranks.iter().filter_map(|rank| call(*rank)) {
        let trace = &traces[rank as usize];
        let place = trace.place(rank, index as usize);
        let What::Collective { kind, bytes, .. } = trace.operations[index as usize].what else { continue };
        let this = |of: &str| format!("{of} is number {} of {}", number + 1, spell(name));
        if let Some(missing) = missing {
            let why =
                format!("{}, in which rank {missing} has none of that number", this(&call_name(kind, bytes)));
            return Err(TraceError::at(place, why));
        }
        match first {
            None => first = Some((kind, bytes, place)),
            Some((other, of, _)) if (other, of) == (kind, bytes) => {}
            Some((other, of, there)) => {
                let why = format!(
                    "{}, but {} has {} as that",
                    this(&call_name(kind, bytes)),
                    there.name(),
                    call_name(other, of)
                );
                return Err(TraceError::at(place, why));
            }
        }
        members.push((rank, index));
    }
    let (kind, bytes, _) = first.unwrap_or((Kind::Barrier, 0, Place::File));
    Ok(Meeting { kind, bytes, members })
}

/// A kind and its bytes, in words.
fn call_name(kind: Kind, bytes: u64) -> String {
    match kind {
        Kind::Barrier => "this barrier".to_owned(),
        kind => format!("{} of {bytes} bytes", kind.name()),
    }
}

/// A communicator, in words.
fn spell(name: &str) -> String {
    if name.is_empty() {
        "the collectives of all ranks".to_owned()
    } else {
        format!("communicator `{}`", short(name))
    }
}
