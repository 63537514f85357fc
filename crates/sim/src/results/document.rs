//! The contents of `summary.json`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use weft_fabric::Fabric;
use weft_scenario::{LinkStates, Plan};
use weft_traffic::InterfaceRule;
use weft_units::{Duration, LinkId, NodeId};

use super::account::Account;
use super::jobs::jobs_json;
use super::links::Links;
use super::quantile::quantile;
use crate::deadlock::Deadlock;
use crate::fabric_json::{NodeEntry, nodes};
use crate::record::ControllerReport;

/// The maximum number of path setup times listed, the first ones.
const MAX_SETUPS: usize = 1_000;

/// Everything that a reader needs besides the tables, and nothing
/// that differs between two runs with the same seed.
pub(crate) struct Document<'a> {
    /// The object without the lists whose size grows with the fabric.
    head: Value,
    links: Links<'a>,
    nodes: Vec<NodeEntry<'a>>,
}

/// A value of a document.
#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Head(&'a Value),
    Links(&'a Links<'a>),
    Nodes(&'a [NodeEntry<'a>]),
}

impl Serialize for Document<'_> {
    /// Writes the keys in alphabetical order.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let head = self.head.as_object().into_iter().flatten();
        let mut parts: BTreeMap<&str, Part<'_>> =
            head.map(|(key, value)| (key.as_str(), Part::Head(value))).collect();
        parts.insert("links", Part::Links(&self.links));
        parts.insert("nodes", Part::Nodes(&self.nodes));
        parts.serialize(serializer)
    }
}

/// The document of a run of `plan`, with its sums by class and the judgement of its steady state.
pub(crate) fn summary<'a>(
    plan: &'a Plan,
    account: &'a Account,
    classes: Value,
    steady: Value,
) -> Document<'a> {
    let fabric = &plan.fabric;
    let links = Links { fabric, account };
    Document { head: head(plan, account, classes, steady), links, nodes: nodes(fabric) }
}

fn head(plan: &Plan, account: &Account, classes: Value, steady: Value) -> Value {
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
    let mut head = json!({
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
        "warnings": plan.warnings,
    });
    if plan.transport.protocol.tcp().is_none() {
        head["transport"]["protocol"] = plan.transport.protocol.name().into();
    }
    if plan.transport.interfaces != InterfaceRule::Hash {
        head["transport"]["interfaces"] = plan.transport.interfaces.word().into();
    }
    if !account.jobs.is_empty() {
        head["collectives"] = jobs_json(&plan.traffic, &account.jobs).into();
    }
    if let Some(controller) = &account.controller {
        head["controller"] = controller_json(controller);
    }
    if let Some(multipath) = &account.multipath {
        head["mptcp"] = json!(multipath);
    }
    if let Some(Deadlock { at, queues }) = &account.deadlock {
        let names: Vec<String> = queues
            .iter()
            .map(|(link, queue)| format!("{} queue {queue}", fabric.link_label(*link)))
            .collect();
        let warning = format!("deadlock of flow control at {at}: {} wait for each other", names.join(", "));
        head["deadlock"] = json!({ "at_ps": at.ps(), "queues": names });
        head["warnings"] = json!(plan.warnings.iter().chain([&warning]).collect::<Vec<_>>());
    }
    if let Some(emulated) = &account.emulated {
        head["emulated"] = emulated.clone();
    }
    head
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
    let switches = || fabric.switches().filter(|node| !fabric.node(*node).is_scale_up());
    let lowest = switches().map(tier).min()?;
    let indices = switches().filter(|&node| tier(node) == lowest).filter_map(|node| {
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
