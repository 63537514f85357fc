//! [`Module`]: a scheme or congestion controller compiled into a file of its own, with its own copy of the engine, so that
//! no packet pays for the border between them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use weft_scenario::{Plan, Point, Scenario};

use crate::record::RunReport;
use crate::run::RunError;
use crate::setup::Progress;

/// A run for a module.
pub struct Job<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its run.
    pub point: &'a Point,
    /// The contents of the files that it names.
    pub files: &'a BTreeMap<String, Vec<u8>>,
    /// The result directory of the run.
    pub target: &'a Path,
    /// Threads within the run.
    pub threads: usize,
}

/// The size of a finished run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Packet-hops.
    pub packet_hops: u64,
    /// Memory of the engine's state.
    pub state_bytes: u64,
}

impl From<&RunReport> for Ended {
    fn from(report: &RunReport) -> Self {
        Self { packet_hops: report.counters.packet_hops, state_bytes: report.state_bytes }
    }
}

/// A module with one scheme or congestion controller.
pub trait Module: Sync {
    /// Its name in scenarios.
    fn name(&self) -> &'static str;

    /// Whether the run of `plan` has it.
    fn has(&self, plan: &Plan) -> bool;

    /// Carries out a run and writes its result; `None` if it was stopped.
    ///
    /// # Errors
    /// The run failed; no partial result is left.
    fn run(&self, job: &Job<'_>, progress: &Progress) -> Result<Option<Ended>, RunError>;
}
