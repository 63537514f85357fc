//! Explains flows: repeats their run, records their packets, and divides their time.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use thiserror::Error;
use weft_scenario::Plan;
use weft_switching::SchemeError;
use weft_units::Time;

use super::connection::Connection;
use super::path::{PathTimes, Sums};
use super::recording::Recording;
use super::split::{Part, split};
use crate::columns::FlowRecord;
use crate::engine::{Progress, Setup};
use crate::journal::FlowNumber;
use crate::probe::Probe;
use crate::run::{faults, run_setup, setup};

/// Why flows cannot be explained.
#[derive(Debug, Error)]
pub enum WhyError {
    /// The run ended before the flow started.
    #[error("flow {0} did not start: the run ended before, or the flows that it waits for did not finish")]
    NotStarted(FlowNumber),
    /// It has too many packets.
    #[error("flow {0} has more than {most} packets, which Weft does not record: choose a smaller flow", most = Connection::MOST)]
    TooLong(FlowNumber),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// A scheme that the registry does not have.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
}

/// The course of a flow.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The flow's result.
    pub record: FlowRecord,
    /// When it ended or, if it did not, the run did.
    pub end: Time,
    /// Its time, divided among the causes; empty of a flow on a critical path.
    pub parts: Vec<Part>,
    /// The sums of the parts.
    pub sums: Sums,
    /// Its packets, and those of other flows on the same connection.
    pub connection: Rc<Connection>,
}

/// Repeats the run of `plan` until these flows have ended, and explains them in this order. With `on_path`, they are flows of a
/// critical path, of which only the sums are found, with the packets of one message in memory at a time; those of a flow in
/// parts follow its parts around the ring, whose flows start at these times.
///
/// # Errors
/// A flow has no explanation.
///
/// # Panics
/// If the plan has no such flow.
pub fn explain(
    plan: &Plan,
    flows: &[FlowNumber],
    on_path: Option<&HashMap<FlowNumber, Time>>,
    progress: &Progress,
) -> Result<Vec<Explanation>, WhyError> {
    let faults = faults(plan);
    let setup = Setup { probe: Probe::default(), ..setup(plan, &faults) };
    let path = on_path.map(|starts| PathTimes::new(plan, flows, starts, setup.routes().shared_routes()));
    let mut recording = Recording::new(plan, flows, path, &progress.stop);
    let report = run_setup(setup, &plan.scheme, progress, &mut recording)?;
    let Recording { connections, records, path, .. } = recording;
    let connections: BTreeMap<_, _> =
        connections.into_iter().map(|(owner, connection)| (owner, Rc::new(connection))).collect();
    let mut on_path = path.map(|path| path.sums);
    let is_stopped = report.stopped && flows.iter().any(|flow| !records.contains_key(flow));
    let explained = flows.iter().map(|flow| {
        let Some(record) = records.get(flow) else {
            return Err(if is_stopped { WhyError::Stopped } else { WhyError::NotStarted(*flow) });
        };
        let connection = &connections[&plan.traffic.connections.owner(*flow)];
        if connection.is_cut {
            return Err(WhyError::TooLong(*flow));
        }
        let (start, end) = (record.flow.start, record.end.unwrap_or(report.end));
        let (parts, sums) = match &mut on_path {
            Some(sums) => (Vec::new(), sums.remove(flow).unwrap_or_default()),
            None => {
                let parts = split(connection, start, end, record.end.is_some());
                let mut sums = Sums::default();
                sums.add(connection, &parts, start, end);
                (parts, sums)
            }
        };
        Ok(Explanation { record: record.clone(), end, parts, sums, connection: Rc::clone(connection) })
    });
    explained.collect()
}
