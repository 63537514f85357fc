//! One run: from a [`Plan`] to a recorder, or to a result directory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use weft_fabric::Fabric;
use weft_scenario::{Change, LinkStates, Plan};
use weft_switching::host::distinct_paths::{DistinctPaths, PathFinder};
use weft_switching::host::selected::Selecting;
use weft_switching::{Blueprint, Forwarding, SchemeError, SchemeVisitor, visit_scheme};
use weft_units::{Duration, LinkId, Time};

use crate::capture::{self, Captured, RunCaptures};
use crate::engine::{self, Progress, Setup};
use crate::fault::{Fault, FaultKind};
use crate::probe::Probe;
use crate::record::{Recorder, RunReport, Unrecorded};
use crate::results::{Account, ResultError, ResultWriter, summary};

/// In fabrics with more switches than this, switch tables are not sampled.
const MAX_SAMPLED_SWITCHES: usize = 500;
/// In fabrics with more links than this, links are not sampled, so that the series stays small.
const MAX_SAMPLED_LINKS: usize = 2_000;

/// Runs `plan` on one thread.
///
/// # Errors
/// The scheme is unknown, or not available on this fabric.
pub fn run(plan: &Plan, progress: &Progress, recorder: &mut dyn Recorder) -> Result<RunReport, SchemeError> {
    run_with(plan, 1, progress, recorder)
}

/// Runs the plan on this number of threads. The results do not depend on it.
///
/// # Errors
/// The scheme is unknown, or not available on this fabric.
pub fn run_with(
    plan: &Plan,
    threads: usize,
    progress: &Progress,
    recorder: &mut dyn Recorder,
) -> Result<RunReport, SchemeError> {
    let faults = faults(plan);
    let setup = Setup { threads, ..setup(plan, &faults) };
    run_setup(setup, &plan.scheme, progress, recorder)
}

/// Runs `plan` with a scheme that is not in the registry: `scheme` builds the plan's scheme from the fabric's equal-cost
/// paths.
pub fn run_own<B: Blueprint>(
    plan: &Plan,
    scheme: impl FnOnce(&Arc<Forwarding>) -> B,
    threads: usize,
    progress: &Progress,
    recorder: &mut dyn Recorder,
) -> RunReport {
    let faults = faults(plan);
    let setup = Setup { threads, ..setup(plan, &faults) };
    let routes = setup.routes();
    let blueprint = scheme(&routes);
    engine::run(setup, routes, &blueprint, None, progress, recorder)
}

/// The links that a run samples: those of switches.
pub(crate) fn sampled_links(fabric: &Fabric) -> Vec<LinkId> {
    let mut links: Vec<LinkId> = (0..fabric.links().len() as u32).map(LinkId).collect();
    if links.len() > MAX_SAMPLED_LINKS {
        links.clear();
    }
    links.retain(|&id| !fabric.node(fabric.link(id).from).is_host());
    links
}

/// The inputs of a run of `plan`, with links and tables sampled.
pub(crate) fn setup<'a>(plan: &'a Plan, faults: &'a [Fault]) -> Setup<'a> {
    let (fabric, links) = (&plan.fabric, sampled_links(&plan.fabric));
    Setup {
        fabric: &plan.fabric,
        flows: &plan.traffic.flows,
        dependencies: &plan.traffic.dependencies,
        jobs: &plan.traffic.jobs,
        connections: &plan.traffic.connections,
        parts: &plan.traffic.parts,
        ring_steps: plan.measure.ring_steps,
        classes: plan.traffic.classes.len(),
        transport: &plan.transport.protocol,
        interfaces: plan.transport.interfaces,
        seed: plan.seed,
        warm: plan.run.warm,
        limit: Time::ZERO + plan.run.limit,
        window: plan.measure.window,
        probe: Probe::new(Some(plan.measure.interval), links, fabric.switch_count() <= MAX_SAMPLED_SWITCHES),
        faults,
        reaction: if plan.descriptor.is_routed(&plan.scheme) { plan.reaction } else { Duration::ZERO },
        threads: 1,
        rounds: None,
        rests: false,
    }
}

/// Runs `setup` with the scheme that `scheme` specifies.
///
/// # Errors
/// The scheme is unknown, or not available on this fabric.
pub fn run_setup(
    setup: Setup<'_>,
    scheme: &weft_switching::SchemeSpec,
    progress: &Progress,
    recorder: &mut dyn Recorder,
) -> Result<RunReport, SchemeError> {
    if let Some(info) = setup.transport.controller().filter(|info| info.sha256().is_some()) {
        return Err(SchemeError::OfModule { name: info.name });
    }
    let (fabric, seed) = (setup.fabric, setup.seed);
    let routes = setup.routes();
    let visitor = Visitor { setup, routes: Arc::clone(&routes), progress, recorder };
    visit_scheme(scheme, fabric, &routes, seed, visitor)
}

struct Visitor<'a, 'b> {
    setup: Setup<'a>,
    routes: Arc<Forwarding>,
    progress: &'b Progress,
    recorder: &'b mut dyn Recorder,
}

impl SchemeVisitor for Visitor<'_, '_> {
    type Output = RunReport;

    fn visit<B: Blueprint>(self, blueprint: B) -> RunReport {
        engine::run(self.setup, self.routes, &blueprint, None, self.progress, self.recorder)
    }

    fn visit_hosts<B: Blueprint + Sync>(self, hosts: Selecting, blueprint: B) -> RunReport {
        let paths = DistinctPaths::new(self.setup.fabric, &blueprint);
        let choice = Some((&hosts, &paths as &dyn PathFinder));
        engine::run(self.setup, self.routes, &blueprint, choice, self.progress, self.recorder)
    }
}

/// The effect of a plan's events on the links.
pub(crate) fn faults(plan: &Plan) -> Vec<Fault> {
    let mut state = LinkStates::of(&plan.fabric);
    // The steps of a flap share their links.
    let mut known = BTreeSet::<Arc<[LinkId]>>::new();
    let fault = |event: &weft_scenario::Event| {
        let links: Vec<_> =
            state.switch(&event.change).into_iter().flat_map(|link| [link, link.reverse()]).collect();
        let links = known.get(links.as_slice()).cloned().unwrap_or_else(|| links.into());
        known.insert(Arc::clone(&links));
        Fault {
            at: event.at,
            kind: match &event.change {
                Change::FailCables(_) | Change::FailNode(_) => FaultKind::Fail,
                Change::HealCables(_) | Change::HealNode(_) => FaultKind::Heal,
                Change::ChangeCables(_, change) => FaultKind::Change(*change),
            },
            links,
        }
    };
    plan.events.iter().map(fault).collect()
}

/// Runs `plan` and writes its result to `target`, unless there is one, and its captures. `None` if the run was stopped:
/// then there is neither.
///
/// # Errors
/// The scheme is unknown, or the result or a capture cannot be written; nothing partial is left.
pub fn run_to_directory(
    plan: &Plan,
    target: &Path,
    scenario: &str,
    captures: Option<RunCaptures>,
    threads: usize,
    progress: &Progress,
) -> Result<Option<(RunReport, Vec<Captured>)>, RunError> {
    let captures = captures.filter(|captures| !captures.is_empty());
    if target.exists() {
        return run_captured(plan, captures.unwrap_or_default(), threads, progress, &mut Unrecorded);
    }
    write_run(plan, target, scenario, |writer| match captures {
        Some(captures) => run_captured(plan, captures, threads, progress, writer),
        None => Ok(unless_stopped(run_with(plan, threads, progress, writer)?, Vec::new())),
    })
}

/// Runs as [`run_own`] and writes the result to `target`. `None` if the run was stopped: then there is no result.
///
/// # Errors
/// The result cannot be written; no partial result is left.
pub fn run_own_to_directory<B: Blueprint>(
    plan: &Plan,
    scheme: impl FnOnce(&Arc<Forwarding>) -> B,
    target: &Path,
    scenario: &str,
    threads: usize,
    progress: &Progress,
) -> Result<Option<RunReport>, RunError> {
    let run =
        |writer: &mut ResultWriter| Ok(unless_stopped(run_own(plan, scheme, threads, progress, writer), ()));
    Ok(write_run(plan, target, scenario, run)?.map(|(report, ())| report))
}

/// The outcome of a run, unless it was stopped.
fn unless_stopped<T>(report: RunReport, more: T) -> Option<(RunReport, T)> {
    (!report.stopped).then_some((report, more))
}

/// Writes the result of `run`, unless it was stopped.
fn write_run<T>(
    plan: &Plan,
    target: &Path,
    scenario: &str,
    run: impl FnOnce(&mut ResultWriter) -> Result<Option<(RunReport, T)>, RunError>,
) -> Result<Option<(RunReport, T)>, RunError> {
    let mut writer = ResultWriter::create(target, plan)?;
    let outcome = run(&mut writer);
    let Ok(Some((report, more))) = outcome else { return outcome };
    let classes = writer.summary().json(&plan.traffic.classes);
    let steady = writer.steady().json(report.controller.as_ref());
    writer.finish(&summary(plan, &Account::from(&report), classes, steady), scenario)?;
    Ok(Some((report, more)))
}

/// Runs `plan` with captures; `None` if the run was stopped.
fn run_captured(
    plan: &Plan,
    captures: RunCaptures,
    threads: usize,
    progress: &Progress,
    recorder: &mut dyn Recorder,
) -> Result<Option<(RunReport, Vec<Captured>)>, RunError> {
    let mut capturing = captures.begin(plan, recorder)?;
    let outcome = run_with(plan, threads, progress, &mut capturing);
    let stopped = outcome.as_ref().map_or(true, |report| report.stopped);
    let captured = capture::finish(capturing, stopped)?;
    Ok(Some((outcome?, captured)).filter(|_| !stopped))
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The result could not be written.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// There is no such scheme.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// A module could not carry it out.
    #[error("{why}")]
    Module {
        /// The reason.
        why: String,
        /// Whether the disk or the quota was full.
        is_disk_full: bool,
    },
}

impl RunError {
    /// Whether the disk or the quota was full.
    pub fn is_disk_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        match self {
            Self::Result(error) => matches!(error.source.kind(), StorageFull | QuotaExceeded),
            Self::Scheme(_) => false,
            Self::Module { is_disk_full, .. } => *is_disk_full,
        }
    }
}
