//! [`Waiting`]: the flows that wait for others, and the points that each still waits for.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weft_traffic::{Dependencies, Flow, Point};
use weft_units::{HostId, Time};

use crate::journal::{FlowNumber, News};
use crate::works::Works;

/// No edge.
const NONE: u32 = u32::MAX;

/// The unsatisfied dependencies of all flows and steps. Only the partition of a node's host reads and writes the node's
/// state.
pub struct Waiting<'a> {
    table: &'a Dependencies,
    flows: &'a [Flow],
    /// The dependencies that are not satisfied yet, by node; the satisfied ones, if each of them starts something.
    left: Vec<AtomicU32>,
    /// The earliest time according to the satisfied dependencies, in picoseconds, by node.
    ready: Vec<AtomicU64>,
    /// The edge of the dependency that was satisfied last, by node: that of `ready`.
    last: Vec<AtomicU32>,
    /// The edges whose dependencies have started something each, by the edges from there. Empty without such steps.
    each: Vec<AtomicU32>,
    /// The steps of processors.
    pub works: Works<'a>,
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
        let none = |count| std::iter::repeat_with(|| AtomicU32::new(NONE)).take(count).collect();
        let has_each = nodes.clone().any(|node| table.is_each(node));
        Self {
            table,
            flows,
            left: nodes.clone().map(|node| AtomicU32::new(left(node))).collect(),
            ready,
            last: none(nodes.len()),
            each: none(if has_each { table.len() } else { 0 }),
            works: Works::new(table),
        }
    }

    /// The steps of processors that wait for nothing, each with its host and its earliest time.
    pub fn first_works(&self) -> impl Iterator<Item = (u32, HostId, Time)> {
        let steps = self.table.first_works();
        steps.map(|step| (step, self.table.host(step, self.flows), self.table.earliest(step, self.flows)))
    }

    /// A step joins the queue of its processor, now. Returns the edges that wait for it, and when the processor begins it.
    pub fn begin_work(&self, step: u32, now: Time) -> (Range<u32>, Time) {
        (self.table.from(step), self.works.begin(step, now))
    }

    /// When everything was done that a node waits for, and not before its earliest time.
    pub fn ready(&self, node: u32) -> Time {
        match self.ready.get(node as usize) {
            Some(ready) => Time::from_ps(ready.load(Ordering::Relaxed)),
            None => self.table.earliest(node, self.flows),
        }
    }

    /// The edge of the dependency that let a node start, as the last one; `None` if it started at its earliest time.
    pub fn last(&self, node: u32) -> Option<u32> {
        let edge = self.last.get(node as usize)?.load(Ordering::Relaxed);
        (edge != NONE).then_some(edge)
    }

    /// The edge of the dependency that satisfied this one, of a node of which each starts something.
    pub fn each(&self, edge: u32) -> Option<u32> {
        let edge = self.each.get(edge as usize)?.load(Ordering::Relaxed);
        (edge != NONE).then_some(edge)
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
    pub fn satisfy(&self, number: u32, at: Time) -> Option<(Ready, Time)> {
        let edge = self.table.edge(number);
        let (left, ready) = (&self.left[edge.to as usize], &self.ready[edge.to as usize]);
        let time = (at + edge.delay).ps();
        if self.table.is_each(edge.to) {
            let Range { start, end } = self.table.from(edge.to);
            let next = start + left.fetch_add(1, Ordering::Relaxed);
            let time = Time::from_ps(ready.load(Ordering::Relaxed).max(time));
            if let Some(each) = self.each.get(next as usize).filter(|_| next < end) {
                each.store(number, Ordering::Relaxed);
            }
            return (next < end).then_some((Ready::Edges(next..next + 1), time));
        }
        let before = ready.fetch_max(time, Ordering::Relaxed);
        let last = &self.last[edge.to as usize];
        // Of several at the same time, the first in the table, in whatever order they come.
        match time.cmp(&before) {
            Less => {}
            Equal => drop(last.fetch_min(number, Ordering::Relaxed)),
            Greater => last.store(number, Ordering::Relaxed),
        }
        let time = before.max(time);
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
