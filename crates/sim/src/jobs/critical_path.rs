//! The critical path of a job: backwards from the node that ended last, always to the node that let this one start, to
//! the start of the job.

use weft_traffic::{Point, Processor};
use weft_units::{Duration, HostId, Time};

use super::course::Course;
use super::records::{Part, PathRecord};

/// The sums of the parts of a critical path, in the order of [`Part::ALL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathSums(pub [Duration; Part::ALL.len()]);

impl PathSums {
    /// The sum of one part.
    pub const fn of(&self, part: Part) -> Duration {
        self.0[part as usize]
    }

    /// The sum of all parts: the time of the job.
    pub fn total(&self) -> Duration {
        self.0.iter().copied().sum()
    }
}

/// The critical path of a job, while it is followed backwards.
pub(crate) struct CriticalPath<'a> {
    course: Course<'a>,
    job: usize,
    /// The start of the job, where the path ends.
    start: Time,
    /// The parts of the path so far, the last one first. They follow each other without gaps.
    parts: Vec<PathRecord>,
    /// The begin of the last part.
    at: Time,
}

/// A node, or a dependency of a step of which each starts something.
#[derive(Clone, Copy)]
enum Reached {
    Node(u32),
    Edge(u32),
}

impl<'a> CriticalPath<'a> {
    /// The parts of the path of a job from `start` to `end`, at which this node ended last, in order of time.
    pub(crate) fn of(course: Course<'a>, job: usize, start: Time, end: Time, last: u32) -> Vec<PathRecord> {
        let mut path = Self { course, job, start, parts: Vec::new(), at: end };
        let mut next = Some((last, Point::Received));
        while let Some((node, point)) = next.filter(|_| path.at > start) {
            next = path.before(node, point);
        }
        path.add(Part::Start, start, None, None);
        path.parts.reverse();
        path.parts
    }

    /// Adds the part from `from` up to the one before, if that takes any time.
    fn add(&mut self, part: Part, from: Time, node: Option<u32>, host: Option<HostId>) {
        let from = from.max(self.start);
        if from >= self.at {
            return;
        }
        let (flow, step) = match node {
            Some(node) if self.course.is_flow(node) => (Some(node), None),
            Some(node) => (None, Some(self.course.step(node))),
            None => (None, None),
        };
        self.parts.push(PathRecord { job: self.job, part, host, flow, step, start: from, end: self.at });
        self.at = from;
    }

    /// Adds the time of a node up to `at`, where it is at this point, and of all that follows from it. Returns the node
    /// before it.
    fn before(&mut self, node: u32, point: Point) -> Option<(u32, Point)> {
        let course = self.course;
        let host = Some(course.host(node));
        if course.is_flow(node) {
            if point == Point::Acknowledged
                && let Some(received) = course.span(node).end
            {
                self.add(Part::Acknowledgement, received.max(course.start(node)), Some(node), host);
            }
            let (first, network, delay) = course.least(node);
            let start = course.start(first);
            self.add(Part::Queueing, start + network + delay, Some(node), host);
            self.add(Part::Delay, start + network, Some(node), host);
            self.add(Part::Network, start, Some(node), host);
            return self.released(Reached::Node(first));
        } else if let Some(work) = course.work(node) {
            let kind = course.table.work(node).map(|(processor, _)| course.table.kind(processor));
            let part = if kind == Some(Processor::Interface) { Part::Network } else { Part::Compute };
            self.add(part, work.start, Some(node), host);
            if work.start > course.waiting.ready(node) {
                return Some((work.before?, Point::Started));
            }
        }
        self.released(Reached::Node(node))
    }

    /// Adds the time between a node and the one that let it start. Returns that.
    fn released(&mut self, mut what: Reached) -> Option<(u32, Point)> {
        let course = self.course;
        let waiting = course.waiting;
        loop {
            let number = match what {
                Reached::Node(node) => waiting.last(node)?,
                Reached::Edge(edge) => waiting.each(edge)?,
            };
            let (edge, source) = (course.table.edge(number), course.table.source(number));
            // When it was satisfied: until then, the delay had not begun.
            let satisfied = Time::from_ps(self.at.ps().checked_sub(edge.delay.ps())?);
            if course.table.is_each(source) {
                self.add(Part::Delay, satisfied, None, Some(course.host(edge.to)));
                what = Reached::Edge(number);
                continue;
            }
            let takes = course.table.work(source).map_or(Duration::ZERO, |(_, takes)| takes);
            // The delay of those that wait for a processor to be done is the processor's time.
            self.add(Part::Delay, satisfied + takes, None, Some(course.host(edge.to)));
            if course.is_flow(source) {
                let flow = course.flows[source as usize];
                let there = if edge.at == Point::Received { flow.dst } else { flow.src };
                let news = if course.host(edge.to) == there { Duration::ZERO } else { course.lookahead };
                let reached = Time::from_ps(satisfied.ps().saturating_sub(news.ps()));
                self.add(Part::Network, reached, Some(source), Some(flow.src));
            }
            if course.is_flow(source) || course.work(source).is_some() {
                return Some((source, edge.at));
            }
            what = Reached::Node(source);
        }
    }
}
