//! Follows a flow, and follows it again with its path cut.

use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;
use weft_scenario::Plan;
use weft_switching::exploration::Exploration;
use weft_switching::{SchemeError, explores, registry};
use weft_traffic::Flow;
use weft_units::{Bytes, Duration, LinkId, Time, plural};

use super::choice::Chooser;
use super::scene::{Follower, Scene, SceneStart};
use crate::engine::{Progress, Setup};
use crate::fault::{Fault, FaultKind};
use crate::flow_choice::FlowChoice;
use crate::probe::Probe;
use crate::run::{faults, run_setup, setup};

/// The maximum time from a flow's first data to the cut.
const CUT_AFTER: Duration = Duration::from_ms(1);
/// How long to wait for a recovery after the cut.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why there is no exploration to show.
#[derive(Debug, Error)]
pub enum ExploreError {
    /// The scheme does not explore paths.
    #[error("`{name}` does not explore paths: use one of {}", exploring())]
    SchemeDoesNotExplore {
        /// The scheme.
        name: String,
    },
    /// There is no such flow, or the scheme does not explore for it.
    #[error("{0}")]
    Flow(String),
    /// The run ended before the exploration did.
    #[error(
        "flow {flow} had delivered no data over an explored path when the run ended, at {end}: choose another"
    )]
    Unfinished {
        /// The flow.
        flow: u32,
        /// When the run ended.
        end: Time,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// A scheme that the registry does not have.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
}

/// The schemes that explore, as a message lists them.
fn exploring() -> String {
    let schemes = registry().iter().filter(|scheme| scheme.explores.is_some());
    schemes.map(|scheme| format!("`--set scheme.name={}`", scheme.name)).collect::<Vec<_>>().join(", ")
}

/// A run's [`Progress`], and the simulated time at which it is expected to finish.
#[derive(Default)]
pub struct RecordingProgress {
    /// The engine's progress.
    pub progress: Progress,
    /// Expected end in picoseconds; 0 until it is known.
    pub goal_ps: AtomicU64,
}

impl RecordingProgress {
    /// The part of the run that is over, from 0 to 1; `None` until the end is known.
    pub fn fraction(&self) -> Option<f64> {
        let goal = self.goal_ps.load(Ordering::Relaxed);
        let now = self.progress.time_ps.load(Ordering::Relaxed);
        (goal > 0).then(|| (now as f64 / goal as f64).min(1.0))
    }

    /// The packet-hops so far.
    pub fn packet_hops(&self) -> u64 {
        self.progress.packet_hops.load(Ordering::Relaxed)
    }
}

/// The run with the flow's path cut.
#[derive(Debug)]
pub struct Recovery {
    /// When the link failed.
    pub failed_at: Time,
    /// The link, in the direction of the flow.
    pub link: LinkId,
    /// The recorded scene; [`Scene::done`] is `None` if the flow did not recover in time.
    pub scene: Scene,
}

/// A recorded exploration.
#[derive(Debug)]
pub struct Explored {
    /// The flow.
    pub flow: Flow,
    /// How long an entry stays locked without a reply.
    pub lock: Duration,
    /// The scene from the first request to the first data over the path found.
    pub exploration: Scene,
    /// The recovery after the path is cut, or why there is none to show.
    pub recovery: Result<Recovery, String>,
}

/// Follows a flow of `plan`; the watches report the progress of the two runs, and can stop them.
///
/// # Errors
/// There is no exploration to show.
pub fn explore(
    plan: &Plan,
    choice: &FlowChoice,
    watches: &[RecordingProgress; 2],
) -> Result<Explored, ExploreError> {
    if explores(&plan.scheme.name).is_none() {
        return Err(ExploreError::SchemeDoesNotExplore { name: plan.scheme.name.clone() });
    }
    let chooser = Chooser::new(plan);
    let flow = chooser.choose(choice).map_err(ExploreError::Flow)?;
    let [first, second] = watches;
    first.goal_ps.store(flow.start.ps(), Ordering::Relaxed);
    let followed = follow(plan, &flow, SceneStart::With(chooser.first_kind()), None, first)?;
    let through = followed.scene.and_then(|scene| scene.done.map(|done| (scene, done)));
    let unfinished = ExploreError::Unfinished { flow: flow.id.0, end: followed.end };
    let (exploration, done) = through.ok_or(unfinished)?;
    let recovery = cut(plan, &flow, &exploration, done, chooser.bytes_after(&flow), second)?;
    let lock = Exploration::from_spec(&plan.scheme).lock;
    Ok(Explored { flow, lock, exploration, recovery })
}

/// Follows the flow again with a link of its path failing soon after `done`; about `left` bytes
/// remain to be sent by then.
fn cut(
    plan: &Plan,
    flow: &Flow,
    before: &Scene,
    done: Time,
    left: u64,
    watch: &RecordingProgress,
) -> Result<Result<Recovery, String>, ExploreError> {
    let fabric = &plan.fabric;
    let is_host = |node| fabric.node(node).is_host();
    let inner = |link: &&LinkId| !is_host(fabric.link(**link).from) && !is_host(fabric.link(**link).to);
    let between: Vec<LinkId> = before.path.iter().filter(inner).copied().collect();
    let (Some(&link), Some(nic)) = (between.get(between.len() / 2), before.path.first()) else {
        return Ok(Err("the path has no link between two switches to cut".to_owned()));
    };
    let too_short = || {
        format!(
            "flow {} ({}) ends before its path can be cut; use --flow to choose another",
            flow.id.0,
            plural(flow.bytes, "byte")
        )
    };
    let journey = before
        .frames
        .iter()
        .filter(|frame| frame.is_data())
        .filter_map(|frame| Some(frame.end?.0.saturating_since(frame.hops.first()?.sent)));
    let lead = journey.min().unwrap_or_default();
    let quarter = Duration::from_ps(fabric.link(*nic).rate.tx_time(Bytes(left)).ps() / 4);
    if quarter < lead {
        return Ok(Err(too_short()));
    }
    let failed_at = done + quarter.min(CUT_AFTER);
    watch.goal_ps.store(failed_at.ps(), Ordering::Relaxed);
    let begin = SceneStart::Before(Time::from_ps(failed_at.ps() - lead.ps()), failed_at);
    let followed = follow(plan, flow, begin, Some(Fault::of_cable(failed_at, FaultKind::Fail, link)), watch)?;
    let over = followed.all_delivered.is_some();
    Ok(match followed.scene {
        Some(scene) if scene.done.is_some() || !over => Ok(Recovery { failed_at, link, scene }),
        _ => Err(too_short()),
    })
}

/// The outcome of following a flow.
struct Followed {
    scene: Option<Scene>,
    /// When the destination had received the whole flow, if that was before the scene ended.
    all_delivered: Option<Time>,
    /// When the run ended.
    end: Time,
}

/// Runs `plan`, with one more fault, until the scene of `flow` is over.
fn follow(
    plan: &Plan,
    flow: &Flow,
    begin: SceneStart,
    fault: Option<Fault>,
    watch: &RecordingProgress,
) -> Result<Followed, ExploreError> {
    let limit = Time::ZERO + plan.run.limit;
    let limit = fault.as_ref().map_or(limit, |fault| limit.min(fault.at + PATIENCE));
    let mut faults = faults(plan);
    faults.extend(fault);
    faults.sort_by_key(|fault| fault.at);
    let setup = Setup { limit, probe: Probe::default(), ..setup(plan, &faults) };
    let mut follower = Follower::new(&plan.fabric, flow, begin, &watch.progress.stop);
    let report = run_setup(setup, &plan.scheme, &watch.progress, &mut follower)?;
    let all_delivered = follower.all_delivered();
    if report.stopped && !follower.is_over() && all_delivered.is_none() {
        return Err(ExploreError::Stopped);
    }
    Ok(Followed { scene: follower.into_scene(), all_delivered, end: report.end })
}
