//! [`Observed`]: observations of links, switches and paths during an emulated run.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use weft_fabric::Fabric;
use weft_scenario::Plan;
use weft_units::{LinkId, Time};

use super::error::EmulatedError;
use crate::results::{LinkAccount, LinkCounts, Packets};
use crate::sample::{Entity, Metric, Sample};

/// Drop reason for full queues; the switches report their own reasons themselves.
const QUEUE_FULL: &str = "queue_full";

/// One direction of a link.
#[derive(Debug, Deserialize)]
struct LinkLine {
    from: String,
    to: String,
    #[serde(flatten)]
    counts: LinkCounts,
}

/// A sample.
#[derive(Debug, Deserialize)]
struct SeriesLine {
    time_ps: u64,
    metric: String,
    entity: String,
    value: f64,
}

/// A flow as seen by the switches.
#[derive(Debug, Deserialize)]
pub struct Seen {
    flow: u32,
    /// How long it waited for address resolution, in picoseconds.
    pub resolution_ps: Option<u64>,
    /// How long its exploration took, if there was one.
    pub exploration_ps: Option<u64>,
    /// How often it changed its path.
    pub moves: Option<u32>,
    /// The switches on its path.
    #[serde(default)]
    pub path: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Text {
    #[serde(default)]
    end_ps: u64,
    window_ps: Option<(u64, u64)>,
    #[serde(default)]
    links: Vec<LinkLine>,
    #[serde(default)]
    series: Vec<SeriesLine>,
    #[serde(default)]
    switches: Map<String, Value>,
    #[serde(default)]
    flows: Vec<Seen>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Observations of a run.
#[derive(Debug)]
pub struct Observed {
    /// When the run ended, if given.
    pub end: Time,
    /// When the links were read at the two ends of the measurement window, if given.
    pub window: Option<(Time, Time)>,
    /// Samples of links and switches.
    pub series: Vec<Sample>,
    /// Flows as seen by the switches, by flow number.
    pub flows: HashMap<u32, Seen>,
    /// All other fields, for `emulated` in the summary.
    pub rest: Map<String, Value>,
    links: HashMap<LinkId, LinkCounts>,
    /// Drops in switches, by reason.
    dropped: BTreeMap<String, u64>,
}

impl Observed {
    /// Reads the observations of a run of `plan`.
    ///
    /// # Errors
    /// The file is not JSON of this form, or names a link, switch, class or metric that the run does not have.
    pub fn read(path: &Path, plan: &Plan) -> Result<Self, EmulatedError> {
        let bytes =
            fs::read(path).map_err(|source| EmulatedError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&bytes, plan).map_err(|why| EmulatedError::Observed { path: path.to_owned(), why })
    }

    fn parse(bytes: &[u8], plan: &Plan) -> Result<Self, String> {
        let mut text: Text = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let names = Names::of(plan);
        let mut unmatched = names.links.clone();
        let mut links = HashMap::new();
        for (at, line) in text.links.into_iter().enumerate() {
            let label = format!("{}->{}", line.from, line.to);
            let id = unmatched.get_mut(&label).and_then(VecDeque::pop_front);
            let id = id.ok_or_else(|| format!("links[{at}]: the fabric has no other link `{label}`"))?;
            links.insert(id, line.counts);
        }
        let series = text.series.iter().enumerate();
        let series =
            series.map(|(at, line)| line.sample(&names).map_err(|why| format!("series[{at}]: {why}")));
        let flows = text.flows.into_iter().map(|seen| (seen.flow, seen));
        let dropped = drops(&text.switches);
        text.rest.insert("switches".to_owned(), json!(text.switches));
        Ok(Self {
            end: Time::from_ps(text.end_ps),
            window: text.window_ps.map(|(from, to)| (Time::from_ps(from), Time::from_ps(to))),
            series: series.collect::<Result<_, _>>()?,
            flows: flows.collect(),
            rest: text.rest,
            links,
            dropped,
        })
    }

    /// A link's counters.
    pub fn link(&self, id: LinkId, up: bool) -> LinkAccount {
        LinkAccount { id, counts: self.links.get(&id).copied().unwrap_or_default(), up }
    }

    /// Packet totals; packets sent and received by hosts are counted on the hosts' links.
    pub fn packets(&self, fabric: &Fabric) -> Packets {
        let sum = |which: &dyn Fn(LinkId) -> bool, of: &dyn Fn(&LinkCounts) -> Option<u64>| {
            let ids = (0..fabric.links().len() as u32).map(LinkId).filter(|id| which(*id));
            ids.map(|id| self.links.get(&id).and_then(of)).sum::<Option<u64>>()
        };
        let packets = |counts: &LinkCounts| counts.packets;
        let is_host = |node| fabric.node(node).is_host();
        let mut dropped = self.dropped.clone();
        if let Some(full) = sum(&|_| true, &|counts| counts.drops).filter(|full| *full > 0) {
            *dropped.entry(QUEUE_FULL.to_owned()).or_default() += full;
        }
        Packets {
            sent: sum(&|id| is_host(fabric.link(id).from), &packets),
            delivered: sum(&|id| is_host(fabric.link(id).to), &packets),
            hops: sum(&|_| true, &packets),
            dropped,
            ..Packets::default()
        }
    }
}

/// The names of a run's links, switches and classes.
struct Names {
    /// Links by label; parallel ones in order.
    links: HashMap<String, VecDeque<LinkId>>,
    /// The nodes of switches.
    switches: HashMap<String, u32>,
    classes: HashMap<String, u32>,
}

impl Names {
    fn of(plan: &Plan) -> Self {
        let fabric = &plan.fabric;
        let mut links: HashMap<String, VecDeque<LinkId>> = HashMap::new();
        for id in (0..fabric.links().len() as u32).map(LinkId) {
            links.entry(fabric.link_label(id)).or_default().push_back(id);
        }
        let switches = fabric.switches().map(|node| (fabric.node(node).name.clone(), node.0)).collect();
        Self { links, switches, classes: plan.traffic.classes.iter().cloned().zip(0..).collect() }
    }

    /// The number of the entity that a sample describes.
    fn entity(&self, metric: Metric, name: &str) -> Result<u32, String> {
        let (found, kind) = match metric.entity() {
            Entity::Link => (self.links.get(name).and_then(VecDeque::front).map(|id| id.0), "link"),
            Entity::Switch => (self.switches.get(name).copied(), "switch"),
            Entity::Class => (self.classes.get(name).copied(), "class"),
            Entity::All => (Some(0), "entity"),
        };
        found.ok_or_else(|| format!("the run has no {kind} `{name}`"))
    }
}

impl SeriesLine {
    fn sample(&self, names: &Names) -> Result<Sample, String> {
        let metric = Metric::ALL.iter().copied().find(|metric| metric.name() == self.metric);
        let metric = metric.ok_or_else(|| format!("unknown metric `{}`", self.metric))?;
        let entity = names.entity(metric, &self.entity)?;
        Ok(Sample { time: Time::from_ps(self.time_ps), metric, entity, value: self.value })
    }
}

/// The drops of all switches by reason, from each switch's `dropped`.
fn drops(switches: &Map<String, Value>) -> BTreeMap<String, u64> {
    let mut dropped = BTreeMap::new();
    let of_each = switches.values().filter_map(|switch| switch["dropped"].as_object());
    for (reason, count) in of_each.flatten() {
        *dropped.entry(reason.clone()).or_default() += count.as_u64().unwrap_or(0);
    }
    dropped.retain(|_, count| *count > 0);
    dropped
}
