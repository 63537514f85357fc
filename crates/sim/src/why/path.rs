//! [`PathTimes`]: the times of the flows of a critical path, explained while the run goes on, so that only the packets of the
//! message that the path follows at a time need to be kept. Of a flow in parts that is one part after the other around its ring.

use std::collections::{BTreeMap, HashMap};

use weft_fabric::EqualCost;
use weft_scenario::Plan;
use weft_units::{LinkId, Time};

use super::connection::Connection;
use super::split::{Cause, Part, split};
use crate::ideal::Ideal;
use crate::journal::FlowNumber;
use crate::ring_path::{PartTimes, RingPath};

/// The time of a flow by cause.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Picoseconds due to each cause.
    pub causes: BTreeMap<Cause, u64>,
    /// The data packets that waited in the queue of each link, and the sum of their time there in picoseconds.
    pub waits: BTreeMap<LinkId, [u64; 2]>,
}

impl Sums {
    /// Adds parts of the time from `start` to `end`.
    pub fn add(&mut self, connection: &Connection, parts: &[Part], start: Time, end: Time) {
        for part in parts {
            *self.causes.entry(part.cause).or_default() += part.to.saturating_since(part.from).ps();
        }
        connection.add_waits(start, end, &mut self.waits);
    }
}

/// A part of a flow: the flow, and the number of the part.
type PartId = (FlowNumber, u32);

/// A part on the path of a flow.
struct Step {
    /// The flow whose path it is on.
    asked: FlowNumber,
    /// The flow of the next part.
    next: Option<FlowNumber>,
}

/// The flows of a critical path.
pub struct PathTimes<'a> {
    plan: &'a Plan,
    steps: HashMap<PartId, Step>,
    /// When the source of a part on the path could send it.
    open: HashMap<PartId, Time>,
    /// The flow that feeds another.
    feeders: HashMap<FlowNumber, FlowNumber>,
    /// The parts that a flow has received from its feeder.
    fed: HashMap<FlowNumber, u32>,
    /// The times so far.
    pub sums: BTreeMap<FlowNumber, Sums>,
}

impl<'a> PathTimes<'a> {
    /// Nothing has happened yet on the path with these flows. Flows in parts have started at these times.
    pub fn new(
        plan: &'a Plan,
        flows: &[FlowNumber],
        starts: &HashMap<FlowNumber, Time>,
        routes: &EqualCost,
    ) -> Self {
        let (traffic, fabric) = (&plan.traffic, &plan.fabric);
        let mut steps = HashMap::new();
        let mut feeders = HashMap::new();
        let ideal = Ideal::new(fabric, &plan.transport.protocol);
        let of_part = |flow: FlowNumber| {
            let whole = &traffic.flows[flow as usize];
            let bytes = traffic.parts.of(flow).map_or(whole.bytes, |series| series.size(0));
            ideal.of_part(fabric, routes, whole, bytes)
        };
        let mut known = HashMap::<FlowNumber, PartTimes>::new();
        let mut times = |flow| *known.entry(flow).or_insert_with(|| of_part(flow));
        let start = |flow| starts.get(&flow).copied().unwrap_or(Time::ZERO);
        for &asked in flows {
            let Some(path) = RingPath::of(&traffic.parts, asked, start, &mut times) else { continue };
            for (number, &flow) in (0..).zip(&path.flows) {
                let next = path.flows.get(number as usize + 1).copied();
                steps.insert((flow, number), Step { asked, next });
            }
        }
        if !steps.is_empty() {
            let fed = |flow| traffic.parts.of(flow).map(|series| (series.feeds, flow));
            feeders = (0..traffic.flows.len() as FlowNumber).filter_map(fed).collect();
        }
        let sums = flows.iter().map(|flow| (*flow, Sums::default())).collect();
        Self { plan, steps, open: HashMap::new(), feeders, fed: HashMap::new(), sums }
    }

    /// The flows whose packets it needs.
    pub fn flows(&self) -> impl Iterator<Item = FlowNumber> {
        self.sums.keys().copied().chain(self.steps.keys().map(|(flow, _)| *flow))
    }

    /// A flow starts.
    pub fn start(&mut self, flow: FlowNumber, now: Time, connections: &mut BTreeMap<FlowNumber, Connection>) {
        let is_asked = self.sums.contains_key(&flow);
        if self.plan.traffic.parts.of(flow).is_none() {
            if is_asked {
                self.keep(flow, connections);
            }
        } else if self.steps.contains_key(&(flow, 0)) {
            self.keep(flow, connections);
            self.begin((flow, 0), now, connections);
        }
    }

    /// The source of `flow` may send one part more.
    pub fn feed(&mut self, flow: FlowNumber, now: Time, connections: &mut BTreeMap<FlowNumber, Connection>) {
        let Some(&feeder) = self.feeders.get(&flow) else { return };
        let number = self.fed.entry(flow).or_default();
        let part = (feeder, *number);
        *number += 1;
        let next = self.steps.get(&part).and_then(|step| step.next);
        let compute = self.plan.traffic.parts.of(feeder).map_or(0, |series| series.compute.ps());
        let arrived = Time::from_ps(now.ps().saturating_sub(compute));
        self.end(part, arrived, connections);
        if let Some(next) = next {
            let from = if next == feeder { arrived } else { now };
            self.begin((next, part.1 + 1), from, connections);
        }
    }

    /// A flow that was asked for has started and, if it did, ended at these times.
    pub fn finish(
        &mut self,
        flow: FlowNumber,
        start: Time,
        end: Time,
        connections: &mut BTreeMap<FlowNumber, Connection>,
    ) {
        match self.plan.traffic.parts.of(flow) {
            Some(series) => self.end((flow, series.count - 1), end, connections),
            None => self.explain(flow, flow, start, end, connections),
        }
        // Between parts, ranks compute.
        let Some(sums) = self.sums.get_mut(&flow) else { return };
        let known: u64 = sums.causes.values().sum();
        let rest = end.saturating_since(start).ps().saturating_sub(known);
        if rest > 0 {
            *sums.causes.entry(Cause::Part).or_default() += rest;
        }
    }

    fn begin(&mut self, part: PartId, from: Time, connections: &mut BTreeMap<FlowNumber, Connection>) {
        self.open.insert(part, from);
        // What arrives now may delay the next part.
        if let Some(next) = self.steps.get(&part).and_then(|step| step.next) {
            self.keep(next, connections);
        }
    }

    /// Keeps the packets of the connection of a flow from now on.
    fn keep(&self, flow: FlowNumber, connections: &mut BTreeMap<FlowNumber, Connection>) {
        if let Some(connection) = connections.get_mut(&self.plan.traffic.connections.owner(flow)) {
            connection.asked += 1;
        }
    }

    /// A part has arrived.
    fn end(&mut self, part: PartId, end: Time, connections: &mut BTreeMap<FlowNumber, Connection>) {
        let (Some(step), Some(from)) = (self.steps.get(&part), self.open.remove(&part)) else { return };
        self.explain(step.asked, part.0, from, end, connections);
    }

    /// Adds the time of `flow` from `start` to `end` to that of `asked`.
    fn explain(
        &mut self,
        asked: FlowNumber,
        flow: FlowNumber,
        start: Time,
        end: Time,
        connections: &mut BTreeMap<FlowNumber, Connection>,
    ) {
        let Some(connection) = connections.get_mut(&self.plan.traffic.connections.owner(flow)) else {
            return;
        };
        if start < end {
            let sums = self.sums.entry(asked).or_default();
            sums.add(connection, &split(connection, start, end, true), start, end);
        }
        connection.asked = connection.asked.saturating_sub(1);
        connection.forget();
    }
}
