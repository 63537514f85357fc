//! Execution traces of Chakra (`mlcommons/chakra`), as ASTRA-sim reads them: a file for each rank, with messages of
//! protocol buffers, each after its length: the metadata, then nodes that wait for each other.
//!
//! A node starts when the nodes of its `ctrl_deps` and `data_deps` are done. PyTorch's converter writes the caller of an
//! operation into `ctrl_deps`, and the order of execution into `data_deps`, which alone the feeder of `mlcommons/chakra` reads;
//! where the callers of such a file form a circle, they are left out. As in ASTRA-sim, computations of a rank
//! run one after the other, those on its CPU (`is_cpu_op`) beside those on its accelerator, in the order in which they
//! become ready. Work on memory and storage takes its time beside them. A send is done when it is acknowledged, a
//! receive when its message has arrived: sends and receives with the same ranks and tag match in the order of issue.
//! Collective operations become flows by the algorithms of [`Collective`](crate::Collective); the operations of all
//! ranks of a communicator match in the order of issue. A rank issues nodes after those that they wait for, else in the
//! order of their ids.

mod circle;
mod communicators;
mod groups;
mod joining;
mod kind;
mod matching;
mod messages;
mod operation;
mod schema;

use self::communicators::Communicators;
use self::joining::Joining;
use self::operation::RankTrace;
use super::{Place, Read, TraceError};
use crate::program::Program;
use weft_units::plural;

/// Reads the execution traces of all ranks, a file for each; `communicators` is the content of ASTRA-sim's JSON file of
/// communicators.
///
/// # Errors
/// What is wrong, with its rank and node.
pub fn read_chakra(files: &[&[u8]], communicators: Option<&[u8]>) -> Result<Read<Program>, TraceError> {
    let ranks = u32::try_from(files.len()).map_err(|_| TraceError::file("it has too many ranks"))?;
    let traces = (0..).zip(files).map(|(rank, file)| RankTrace::read(rank, ranks, file));
    let traces = traces.collect::<Result<Vec<_>, _>>()?;
    let meetings = matching::meetings(&traces, &Communicators::of(&traces, communicators)?)?;
    let flows = Joining::program(&traces, &meetings)?;
    Ok(Read { flows, ignored: ignored(&traces) })
}

/// The parts of traces that Weft ignores, in words.
fn ignored(traces: &[RankTrace]) -> Vec<String> {
    let untimed = "`num_ops` of computations without a duration is ignored: they take no time";
    let untimed = traces.iter().any(|trace| trace.has_untimed).then(|| untimed.to_owned());
    let callers = (0..).zip(traces).filter_map(|(rank, trace)| Some((rank, trace.circle_of_callers?)));
    let callers: Vec<(u32, (u64, u64))> = callers.collect();
    let circle = callers.first().map(|(rank, (node, on))| {
        let place = Place::Node { rank: *rank, node: *node }.name();
        format!(
            "the `ctrl_deps` of {} are ignored, as they form circles: {place} waits for node {on}; PyTorch's converter \
             writes callers there, and the order of execution into `data_deps`",
            plural(callers.len() as u64, "rank")
        )
    });
    let count: usize = traces.iter().map(|trace| trace.lost.len()).sum();
    let first = (0..).zip(traces).find_map(|(rank, trace)| Some((rank, trace.lost.first()?)));
    let lost = first.map(|(rank, (node, on))| {
        let place = Place::Node { rank, node: *node }.name();
        format!("{count} of the `ctrl_deps` are ignored, as the files do not have these nodes: {place} waits for node {on}")
    });
    untimed.into_iter().chain(circle).chain(lost).collect()
}

#[cfg(test)]
mod tests;
