//! [`Course`]: when the flows and steps of a run started and ended, and the dependency that let each of them start.

use weft_traffic::{Dependencies, Flow, Jobs, Parts};
use weft_units::{Duration, HostId, Time};

use crate::part_arrivals::PartArrivals;
use crate::ring_path::{PartTimes, RingPath};
use crate::waiting::Waiting;
use crate::works::Work;

/// The end of a flow, and its time alone on an idle fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowSpan {
    /// When its destination had all bytes.
    pub end: Option<Time>,
    /// Its ideal times, of a flow in parts those of a part; zero without a path.
    pub ideal: PartTimes,
}

/// The flows and steps of a run that has ended.
#[derive(Clone, Copy)]
pub struct Course<'a> {
    pub(crate) flows: &'a [Flow],
    pub(crate) table: &'a Dependencies,
    pub(crate) jobs: &'a Jobs,
    pub(crate) parts: &'a Parts,
    pub(crate) arrivals: &'a PartArrivals,
    pub(crate) waiting: &'a Waiting<'a>,
    /// The ends of flows. Empty without jobs.
    pub(crate) spans: &'a [FlowSpan],
    /// The time that the news of a flow takes to another host.
    pub(crate) lookahead: Duration,
    /// The latest time at which the run could end.
    pub(crate) limit: Time,
}

impl Course<'_> {
    /// When a flow started.
    pub(crate) fn start(&self, flow: u32) -> Time {
        self.waiting.ready(flow)
    }

    /// The end of a flow, and its ideal time.
    pub(crate) fn span(&self, flow: u32) -> FlowSpan {
        self.spans.get(flow as usize).copied().unwrap_or_default()
    }

    /// The flow with which the longest chain to the end of a flow begins, and the least times from its start on, on the fabric and
    /// of delays. It is another flow only if this one is in parts: [`RingPath`].
    pub(crate) fn least(&self, flow: u32) -> (u32, Duration, Duration) {
        match RingPath::of(self.parts, flow, |flow| self.start(flow), |flow| self.span(flow).ideal) {
            Some(path) => (path.flows[0], path.network, path.delay),
            None => (flow, self.span(flow).ideal.alone, Duration::ZERO),
        }
    }

    /// A step of a processor, if it has begun.
    pub(crate) fn work(&self, node: u32) -> Option<Work> {
        self.waiting.works.work(node)
    }

    /// The steps of processors that have begun.
    pub(crate) fn works(&self) -> impl Iterator<Item = (u32, Work)> {
        self.table.works().filter_map(|node| Some((node, self.work(node)?)))
    }

    /// The number of a node among the steps.
    pub(crate) fn step(&self, node: u32) -> u32 {
        node - self.table.flows()
    }

    pub(crate) fn is_flow(&self, node: u32) -> bool {
        self.table.is_flow(node)
    }

    pub(crate) fn host(&self, node: u32) -> HostId {
        self.table.host(node, self.flows)
    }
}
