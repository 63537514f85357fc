//! One run: from a [`Plan`] to a recorder, or to a result directory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use weft_fabric::Fabric;
use weft_fabric::layout::layout;
use weft_scenario::{Change, LinkStates, Plan};
use weft_switching::host::distinct_paths::{DistinctPaths, PathFinder};
use weft_switching::host::selected::Selecting;
use weft_switching::{Blueprint, Forwarding, SchemeError, SchemeVisitor, visit_scheme};
use weft_units::{Duration, LinkId, NodeId, Time};

use crate::capture::{self, Captured, RunCaptures};
use crate::columns::FlowRecord;
use crate::deadlock::Deadlock;
use crate::engine::{self, Progress, Setup};
use crate::fault::{Fault, FaultKind};
use crate::probe::Probe;
use crate::record::{ControllerReport, Recorder, RunReport};
use crate::results::{Account, LinkAccount, LinkCounts, ResultError, ResultWriter, jobs_json, quantile};
use crate::sample::Sample;

/// In fabrics with more switches than this, switch tables are not sampled.
const MAX_SAMPLED_SWITCHES: usize = 500;
/// The maximum number of path setup times listed, the first ones.
const MAX_SETUPS: usize = 1_000;
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
    let routes = Arc::new(Forwarding::new(&plan.fabric, |link| plan.fabric.link(link).up));
    let blueprint = scheme(&routes);
    engine::run(Setup { threads, ..setup(plan, &faults) }, routes, &blueprint, None, progress, recorder)
}

/// The inputs of a run of `plan`, with links and tables sampled.
pub(crate) fn setup<'a>(plan: &'a Plan, faults: &'a [Fault]) -> Setup<'a> {
    let fabric = &plan.fabric;
    let mut links: Vec<LinkId> = (0..fabric.links().len() as u32).map(LinkId).collect();
    if links.len() > MAX_SAMPLED_LINKS {
        links.clear();
    }
    links.retain(|&id| !fabric.node(fabric.link(id).from).is_host());
    Setup {
        fabric: &plan.fabric,
        flows: &plan.traffic.flows,
        dependencies: &plan.traffic.dependencies,
        jobs: &plan.traffic.jobs,
        connections: &plan.traffic.connections,
        classes: plan.traffic.classes.len(),
        transport: &plan.transport.protocol,
        seed: plan.seed,
        warm: plan.run.warm,
        limit: Time::ZERO + plan.run.limit,
        window: plan.measure.window,
        probe: Probe::new(Some(plan.measure.interval), links, fabric.switch_count() <= MAX_SAMPLED_SWITCHES),
        faults,
        reaction: if plan.descriptor.is_routed(&plan.scheme) { plan.reaction } else { Duration::ZERO },
        threads: 1,
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
    let (fabric, seed) = (setup.fabric, setup.seed);
    let routes = Arc::new(Forwarding::new(fabric, |link| fabric.link(link).up));
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
    (target, scenario): (&Path, &str),
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
    let summary = summary(plan, &Account::from(&report), classes, steady);
    let text = serde_json::to_string_pretty(&summary).map_err(std::io::Error::other);
    let text = text.map_err(|source| ResultError { path: target.to_owned(), source })?;
    writer.finish(&[("summary.json", &text), ("scenario.toml", scenario)])?;
    Ok(Some((report, more)))
}

/// Records nothing: the results are there already.
struct Unrecorded;

impl Recorder for Unrecorded {
    fn flow(&mut self, _: &FlowRecord) {}

    fn sample(&mut self, _: &Sample) {}
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

/// The contents of `summary.json`: everything that a reader needs besides the tables, and nothing
/// that differs between two runs with the same seed.
pub(crate) fn summary(plan: &Plan, account: &Account, classes: Value, steady: Value) -> Value {
    let fabric = &plan.fabric;
    let packets = &account.packets;
    let groups = plan.traffic.groups.iter().map(|group| {
        json!({
            "class": group.class,
            "flows": group.flows,
            "bytes": group.bytes.0,
            "expected_mean_bytes": group.expected_mean,
            "asked_load": group.asked_load,
        })
    });
    let mut summary = json!({
        "name": plan.name,
        "version": env!("CARGO_PKG_VERSION"),
        "id": plan.id,
        "label": plan.label,
        "seed": plan.seed,
        "overrides": plan.overrides,
        "scheme": plan.scheme,
        "transport": { "profile": plan.transport.profile, "parameters": plan.transport.protocol },
        "fabric": {
            "name": fabric.name(),
            "hosts": fabric.host_count(),
            "switches": fabric.switch_count(),
            "links": fabric.cable_count(),
        },
        "traffic": {
            "flows": plan.traffic.flows.len(),
            "mean_bytes": plan.traffic.mean_bytes,
            "offered_load": plan.traffic.offered_load,
            "load_of": plan.traffic.load_of.word(),
            "groups": groups.collect::<Vec<_>>(),
            "notes": plan.traffic.notes,
        },
        "duration_ps": plan.run.duration.ps(),
        "simulated_ps": account.end.ps(),
        "window_ps": [plan.measure.window.0.ps(), plan.measure.window.1.ps()],
        "interval_ps": plan.measure.interval.ps(),
        "counters": {
            "flows_started": account.flows_started,
            "flows_finished": account.flows_finished,
            "packets_sent": packets.sent,
            "packets_copied": packets.copied,
            "packets_of_switches": packets.of_switches,
            "packets_delivered": packets.delivered,
            "packets_dropped": packets.dropped,
            "packets_in_flight": packets.in_flight,
            "packet_hops": packets.hops,
            "events": packets.events,
        },
        "steady": steady,
        "classes": classes,
        "events": events_json(plan, account),
        "path_evenness": path_evenness(fabric, account),
        "links": account.links.iter().map(|link| link_json(fabric, account.window, link)).collect::<Vec<_>>(),
        "nodes": nodes_json(fabric),
        "warnings": plan.warnings,
    });
    if plan.transport.protocol.tcp().is_none() {
        summary["transport"]["protocol"] = plan.transport.protocol.name().into();
    }
    if !account.jobs.is_empty() {
        summary["collectives"] = jobs_json(&plan.traffic, &account.jobs).into();
    }
    if let Some(controller) = &account.controller {
        summary["controller"] = controller_json(controller);
    }
    if let Some(multipath) = &account.multipath {
        summary["mptcp"] = json!(multipath);
    }
    if let Some(Deadlock { at, queues }) = &account.deadlock {
        let names: Vec<String> = queues
            .iter()
            .map(|(link, queue)| format!("{} queue {queue}", fabric.link_label(*link)))
            .collect();
        let warning = format!("deadlock of flow control at {at}: {} wait for each other", names.join(", "));
        summary["deadlock"] = json!({ "at_ps": at.ps(), "queues": names });
        summary["warnings"] = json!(plan.warnings.iter().chain([&warning]).collect::<Vec<_>>());
    }
    if let Some(emulated) = &account.emulated {
        summary["emulated"] = emulated.clone();
    }
    summary
}

/// The counters of the central controller.
fn controller_json(report: &ControllerReport) -> Value {
    let mut setups: Vec<f64> = report.setups.iter().map(|time| time.ps() as f64).collect();
    setups.sort_by(f64::total_cmp);
    let counters = report.counters.iter().map(|&(name, count)| (name.to_owned(), count.into()));
    let counters = counters.collect::<serde_json::Map<_, _>>();
    let at = |share| quantile(&setups, share).map(|ps| ps.round() as u64);
    json!({
        "packet_ins": report.packet_ins,
        "rules": report.rules,
        "path_setups": setups.len(),
        "path_setups_ps": report.setups.iter().take(MAX_SETUPS).map(|time| time.ps()).collect::<Vec<_>>(),
        "path_setup_p50_ps": at(0.5),
        "path_setup_p99_ps": at(0.99),
        "path_setup_max_ps": at(1.0),
        "counters": counters,
    })
}

/// How evenly lowest-tier switches with several uplinks use them: Jain's fairness index of the bytes
/// per uplink within the measurement window (1: all equal, 1/n: one of n carries all), averaged over
/// the switches that sent any.
fn path_evenness(fabric: &Fabric, account: &Account) -> Option<f64> {
    let tier = |node: NodeId| fabric.node(node).tier;
    let lowest = fabric.switches().map(tier).min()?;
    let indices = fabric.switches().filter(|&node| tier(node) == lowest).filter_map(|node| {
        let up = fabric.ports(node).iter().filter(|&&link| tier(fabric.link(link).to) > lowest);
        let bytes = up.map(|link| account.links[link.index()].counts.window_bytes.map(|bytes| bytes as f64));
        let bytes = bytes.collect::<Option<Vec<_>>>()?;
        let (sum, squares) = (bytes.iter().sum::<f64>(), bytes.iter().map(|b| b * b).sum::<f64>());
        (bytes.len() > 1 && sum > 0.0).then(|| sum * sum / (bytes.len() as f64 * squares))
    });
    let indices: Vec<f64> = indices.collect();
    (!indices.is_empty()).then(|| indices.iter().sum::<f64>() / indices.len() as f64)
}

/// The events that happened, with their cost.
fn events_json(plan: &Plan, account: &Account) -> Vec<Value> {
    let fabric = &plan.fabric;
    let mut states = LinkStates::of(fabric);
    let ends = |link: LinkId| {
        let link = fabric.link(link);
        [&fabric.node(link.from).name, &fabric.node(link.to).name]
    };
    let events = plan.events.iter().zip(&account.events);
    events
        .map(|(event, seen)| {
            let cost = seen.cost.as_ref();
            let links = states.switch(&event.change).into_iter().map(ends).collect::<Vec<_>>();
            json!({
                "at_ps": seen.at.ps(),
                "change": event.change.name(),
                "target": event.change.target(fabric),
                "up": event.change.goes_up(),
                "links": (!event.change.is_drawn()).then_some(links),
                "frames_lost": cost.map(|cost| cost.frames_lost),
                "flows_hit": cost.map(|cost| cost.flows_hit),
                "recovery_ps": cost.and_then(|cost| cost.recovery()).map(Duration::ps),
                "paths_broken": cost.map(|cost| cost.paths_broken),
                "paths_recovered": cost.map(|cost| cost.recovered.count),
                "mean_path_recovery_ps": cost.and_then(|cost| cost.recovered.mean()).map(Duration::ps),
                "longest_path_recovery_ps": cost.and_then(|cost| cost.recovered.longest()).map(Duration::ps),
                "flows_resumed": cost.map(|cost| cost.resumed.count),
                "mean_resumption_ps": cost.and_then(|cost| cost.resumed.mean()).map(Duration::ps),
                "longest_resumption_ps": cost.and_then(|cost| cost.resumed.longest()).map(Duration::ps),
            })
        })
        .collect()
}

fn link_json(fabric: &Fabric, (from, to): (Time, Time), account: &LinkAccount) -> Value {
    let (link, counts) = (fabric.link(account.id), &account.counts);
    let span = to.saturating_since(from).max(Duration::from_ps(1));
    let capacity = link.rate.bps() as f64 / 8.0 * span.as_secs_f64();
    json!(LinkEntry {
        from: &fabric.node(link.from).name,
        to: &fabric.node(link.to).name,
        rate_bps: link.rate.bps(),
        delay_ps: link.delay.ps(),
        utilisation: counts.window_bytes.map(|bytes| bytes as f64 / capacity),
        counts: *counts,
        up: account.up,
    })
}

/// A link in `summary.json`.
#[derive(Serialize)]
struct LinkEntry<'a> {
    from: &'a str,
    to: &'a str,
    rate_bps: u64,
    delay_ps: u64,
    utilisation: Option<f64>,
    #[serde(flatten)]
    counts: LinkCounts,
    up: bool,
}

/// The nodes with their positions on a drawing, for `summary.json` and `weft fabric`.
pub fn nodes_json(fabric: &Fabric) -> Vec<Value> {
    let points = layout(fabric).points;
    let nodes = fabric.nodes().iter().zip(points);
    nodes
        .map(|(node, (x, y))| {
            json!({
                "name": node.name,
                "role": if node.is_host() { "host" } else { "switch" },
                "tier": node.tier,
                "pod": node.pod,
                "x": x,
                "y": y,
            })
        })
        .collect()
}

/// The links of a fabric for `weft fabric`, one entry per direction.
pub fn links_json(fabric: &Fabric) -> Vec<Value> {
    let ids = (0..fabric.links().len() as u32).map(LinkId);
    ids.map(|id| {
        let link = fabric.link(id);
        json!({
            "from": fabric.node(link.from).name,
            "to": fabric.node(link.to).name,
            "rate_bps": link.rate.bps(),
            "delay_ps": link.delay.ps(),
            "queue": link.queue,
            "overhead": link.overhead,
            "up": link.up,
        })
    })
    .collect()
}
