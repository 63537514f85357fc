//! [`Waiting`]: the flows that wait for others, and the points that each still waits for.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weft_traffic::{Dependencies, Flow, Point};
use weft_units::{HostId, Time};

use crate::journal::{FlowNumber, News};

/// The unsatisfied dependencies of all flows and steps. Only the partition of a node's host reads and writes the node's
/// state.
pub struct Waiting<'a> {
    table: &'a Dependencies,
    flows: &'a [Flow],
    /// The dependencies that are not satisfied yet, by node; the satisfied ones, if each of them starts something.
    left: Vec<AtomicU32>,
    /// The earliest time according to the satisfied dependencies, in picoseconds, by node.
    ready: Vec<AtomicU64>,
    /// When each processor is free, in picoseconds. Only the partition of its host reads and writes it.
    free: Vec<AtomicU64>,
}

/// The flows or steps that a satisfied dependency starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ready {
    /// A flow.
    Flow(FlowNumber),
    /// The dependencies of these edges, which wait for a step, are satisfied.
    Edges(Range<u32>),
    /// A step that its processor has to do.
    Work(u32),
}

impl<'a> Waiting<'a> {
    /// All `flows` that wait, before the start.
    pub fn new(table: &'a Dependencies, flows: &'a [Flow]) -> Self {
        let nodes = 0..table.nodes() as u32;
        let ready = nodes.clone().map(|node| AtomicU64::new(table.earliest(node, flows).ps())).collect();
        let left = |node| if table.is_each(node) { 0 } else { table.needs(node) };
        let free = std::iter::repeat_with(AtomicU64::default).take(table.processors()).collect();
        Self { table, flows, left: nodes.map(|node| AtomicU32::new(left(node))).collect(), ready, free }
    }

    /// The steps of processors that wait for nothing, each with its host and its earliest time.
    pub fn first_works(&self) -> impl Iterator<Item = (u32, HostId, Time)> {
        let steps = self.table.first_works();
        steps.map(|step| (step, self.table.host(step, self.flows), self.table.earliest(step, self.flows)))
    }

    /// A step joins the queue of its processor, now. Returns the edges that wait for it, and when the processor begins
    /// it: steps join in the order of time.
    pub fn begin_work(&self, step: u32, now: Time) -> (Range<u32>, Time) {
        let begins = self.table.work(step).map_or(now, |(processor, takes)| {
            let free = &self.free[processor as usize];
            let begins = now.max(Time::from_ps(free.load(Ordering::Relaxed)));
            free.store((begins + takes).ps(), Ordering::Relaxed);
            begins
        });
        (self.table.from(step), begins)
    }

    /// The host of a node.
    pub fn host(&self, node: u32) -> HostId {
        self.table.host(node, self.flows)
    }

    /// Whether a flow waits for others, from the start of the run.
    pub fn is_waiting(&self, flow: FlowNumber) -> bool {
        self.table.needs(flow) > 0
    }

    /// Whether anything waits for this point of a flow.
    pub fn awaits(&self, flow: FlowNumber, point: Point) -> bool {
        self.table.awaits(flow, point)
    }

    /// The edges to waiters for this point of a flow, each with its host, and whether the point is reached at that
    /// host.
    pub fn after(&self, flow: FlowNumber, point: Point) -> impl Iterator<Item = (u32, HostId, bool)> {
        let edges = self.table.from(flow).filter(move |number| self.table.edge(*number).at == point);
        edges.map(move |number| {
            let Flow { src, dst, .. } = self.flows[flow as usize];
            let host = self.table.host(self.table.edge(number).to, self.flows);
            (number, host, host == if point == Point::Received { dst } else { src })
        })
    }

    /// Satisfies the dependency of an edge at `at`. Returns the flow or the edges that are ready because of that, and the
    /// time.
    pub fn satisfy(&self, edge: u32, at: Time) -> Option<(Ready, Time)> {
        let edge = self.table.edge(edge);
        let (left, ready) = (&self.left[edge.to as usize], &self.ready[edge.to as usize]);
        let time = (at + edge.delay).ps();
        if self.table.is_each(edge.to) {
            let Range { start, end } = self.table.from(edge.to);
            let next = start + left.fetch_add(1, Ordering::Relaxed);
            let time = Time::from_ps(ready.load(Ordering::Relaxed).max(time));
            return (next < end).then_some((Ready::Edges(next..next + 1), time));
        }
        let time = ready.fetch_max(time, Ordering::Relaxed).max(time);
        let is_last = left.fetch_sub(1, Ordering::Relaxed) == 1;
        let what = match self.table.is_flow(edge.to) {
            true => Ready::Flow(edge.to),
            false if self.table.work(edge.to).is_some() => Ready::Work(edge.to),
            false => Ready::Edges(self.table.from(edge.to)),
        };
        is_last.then_some((what, Time::from_ps(time)))
    }
}

/// The point of a flow that news is about, if others may wait for it.
pub const fn point_of(news: &News) -> Option<(FlowNumber, Point)> {
    match news {
        News::Received(flow) => Some((*flow, Point::Received)),
        News::Acknowledged(flow) => Some((*flow, Point::Acknowledged)),
        _ => None,
    }
}
