//! [`Dependencies`]: the dependencies between the flows of a run, in a table separate from the flows.

use std::collections::BTreeMap;
use std::ops::Range;

use weft_units::{Duration, HostId, Time};

use crate::flow::Flow;
use crate::processor::Processor;

/// Maximum number of flows of collectives and of traces between ranks: planning takes about 100 bytes for each, besides needs.
pub(crate) const MAX_ORDERED: u64 = 10_000_000;

/// A point in the life of a flow, at which others may start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Point {
    /// The source has started it. Only nodes of the source's host may wait for this.
    Started,
    /// The destination has received all bytes.
    Received,
    /// The source knows that the destination has received all bytes.
    Acknowledged,
}

/// A flow, or a step: a point in the work of a host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// A flow, by its index.
    Flow(u32),
    /// A step, by its index.
    Step(u32),
}

impl Node {
    /// The node in a list that has this many flows and steps before it.
    pub(crate) const fn after(self, flows: u32, steps: u32) -> Self {
        match self {
            Self::Flow(flow) => Self::Flow(flow + flows),
            Self::Step(step) => Self::Step(step + steps),
        }
    }
}

/// A point in the work of a host. Only nodes of the same host may wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The host.
    pub host: HostId,
    /// The earliest time at which it is reached.
    pub start: Time,
    /// How it is reached.
    pub kind: StepKind,
}

impl Step {
    /// Its processor, and how long that is busy with it, if it has one.
    pub const fn work(&self) -> Option<(u32, Duration)> {
        match self.kind {
            StepKind::Work { processor, takes } => Some((processor, takes)),
            StepKind::All | StepKind::Each => None,
        }
    }
}

/// How a step is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// Once, when all that it waits for is done.
    All,
    /// Each time that something it waits for is done. The first time starts the first node that waits for it, the
    /// second time the second one, in their order.
    Each,
    /// When a processor begins it. That does one step after the other, in the order in which all is done that they wait
    /// for, and in the order of their numbers where that is at the same time.
    Work {
        /// The processor, by its number; all its steps are of one host.
        processor: u32,
        /// How long the processor is busy with it.
        takes: Duration,
    },
}

/// A dependency: `waiting` starts no earlier than `delay` after `on`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Need {
    /// The flow or step that waits.
    pub waiting: Node,
    /// The node it waits for.
    pub on: Node,
    /// The point of that flow; steps have only [`Point::Started`].
    pub at: Point,
    /// The time from there.
    pub delay: Duration,
}

impl Need {
    /// The need between the nodes that `moved` puts in place of its own.
    pub(crate) fn between(self, moved: impl Fn(Node) -> Node) -> Self {
        Self { waiting: moved(self.waiting), on: moved(self.on), ..self }
    }
}

/// A need, seen from the node that is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The number of the node that waits.
    pub to: u32,
    /// The point of the flow that it waits for.
    pub at: Point,
    /// The time from there.
    pub delay: Duration,
}

/// The needs of a run. A node's number is the flow's, or the number of flows plus the step's. Empty if no flow waits and no
/// processor works.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Dependencies {
    flows: u32,
    steps: Vec<Step>,
    edges: Vec<Edge>,
    /// Index of the first edge of each node, and the end of the last.
    first: Vec<u32>,
    needs: Vec<u32>,
    /// The kinds of the processors that do not compute.
    kinds: BTreeMap<u32, Processor>,
}

impl Dependencies {
    /// The table of `needs` between `flows` and `steps`.
    ///
    /// # Panics
    /// If a need names a flow or step that does not exist.
    pub fn new(flows: usize, steps: Vec<Step>, list: Vec<Need>) -> Self {
        let has_works = steps.iter().any(|step| step.work().is_some());
        let flows = flows as u32;
        if list.is_empty() && !has_works {
            return Self { flows, ..Self::default() };
        }
        let number = |node| match node {
            Node::Flow(flow) => flow,
            Node::Step(step) => flows + step,
        };
        let count = flows as usize + steps.len();
        let (mut first, mut needs) = (vec![0; count + 1], vec![0; count]);
        for need in &list {
            first[number(need.on) as usize + 1] += 1;
            needs[number(need.waiting) as usize] += 1;
        }
        for at in 0..count {
            first[at + 1] += first[at];
        }
        // Each need in the place of its node, since comparing all of them takes seconds for millions.
        let none = Edge { to: 0, at: Point::Started, delay: Duration::ZERO };
        let (mut edges, mut next) = (vec![none; list.len()], first.clone());
        for Need { waiting, on, at, delay } in list {
            let slot = &mut next[number(on) as usize];
            edges[*slot as usize] = Edge { to: number(waiting), at, delay };
            *slot += 1;
        }
        for node in first.windows(2) {
            edges[node[0] as usize..node[1] as usize]
                .sort_unstable_by_key(|edge| (edge.to, edge.at, edge.delay));
        }
        Self { flows, steps, edges, first, needs, kinds: BTreeMap::new() }
    }

    /// The same, with the kinds of the processors that do not compute.
    #[must_use]
    pub fn with_kinds(self, kinds: BTreeMap<u32, Processor>) -> Self {
        Self { kinds, ..self }
    }

    /// The kind of a processor.
    pub fn kind(&self, processor: u32) -> Processor {
        self.kinds.get(&processor).copied().unwrap_or_default()
    }

    /// The number of flows, below which a node is a flow.
    pub const fn flows(&self) -> u32 {
        self.flows
    }

    /// The steps, in the order of their numbers.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The node from which an edge leads.
    pub fn source(&self, edge: u32) -> u32 {
        self.first.partition_point(|first| *first <= edge) as u32 - 1
    }

    /// Whether no flow waits.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The number of needs.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// The number of flows and steps; 0 if no flow waits.
    pub fn nodes(&self) -> usize {
        self.needs.len()
    }

    /// The step with this number; `None` for a flow.
    fn step(&self, node: u32) -> Option<&Step> {
        self.steps.get(node.checked_sub(self.flows)? as usize)
    }

    /// Whether each satisfied dependency starts one of the nodes that wait for this one.
    pub fn is_each(&self, node: u32) -> bool {
        self.step(node).is_some_and(|step| step.kind == StepKind::Each)
    }

    /// The processor of a step, and how long it is busy with that step.
    pub fn work(&self, node: u32) -> Option<(u32, Duration)> {
        self.step(node)?.work()
    }

    /// The number of processors.
    pub fn processors(&self) -> usize {
        let works = self.works().filter_map(|node| self.work(node));
        works.map(|(processor, _)| processor as usize + 1).max().unwrap_or_default()
    }

    /// The steps of processors.
    pub fn works(&self) -> impl Iterator<Item = u32> {
        (self.flows..).take(self.steps.len()).filter(|node| self.work(*node).is_some())
    }

    /// The steps of processors that wait for nothing.
    pub fn first_works(&self) -> impl Iterator<Item = u32> {
        self.works().filter(|node| self.needs(*node) == 0)
    }

    /// How many needs a node has.
    pub fn needs(&self, node: u32) -> u32 {
        self.needs.get(node as usize).copied().unwrap_or_default()
    }

    /// The number of flows that wait.
    pub fn waiting(&self) -> usize {
        self.needs.iter().take(self.flows as usize).filter(|needs| **needs > 0).count()
    }

    /// The numbers of the edges from a node.
    pub fn from(&self, node: u32) -> Range<u32> {
        let start = |node: usize| self.first.get(node).copied().unwrap_or_default();
        start(node as usize)..start(node as usize + 1)
    }

    /// An edge, by its number.
    pub fn edge(&self, number: u32) -> Edge {
        self.edges[number as usize]
    }

    /// Whether anything waits for this point of a flow.
    pub fn awaits(&self, flow: u32, point: Point) -> bool {
        self.from(flow).any(|edge| self.edge(edge).at == point)
    }

    /// Whether a node is a flow.
    pub fn is_flow(&self, node: u32) -> bool {
        node < self.flows
    }

    /// The host at which a node waits: a flow's source.
    pub fn host(&self, node: u32, flows: &[Flow]) -> HostId {
        match node.checked_sub(self.flows) {
            None => flows[node as usize].src,
            Some(step) => self.steps[step as usize].host,
        }
    }

    /// The earliest time of a node.
    pub fn earliest(&self, node: u32, flows: &[Flow]) -> Time {
        match node.checked_sub(self.flows) {
            None => flows[node as usize].start,
            Some(step) => self.steps[step as usize].start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_found_from_the_node_that_is_waited_for() {
        let step = Step { host: HostId(3), start: Time::ZERO, kind: StepKind::All };
        let need = |waiting, on, at| Need { waiting, on, at, delay: Duration::from_us(1) };
        let list = vec![
            need(Node::Flow(2), Node::Step(0), Point::Started),
            need(Node::Step(0), Node::Flow(1), Point::Received),
            need(Node::Step(0), Node::Flow(0), Point::Acknowledged),
        ];
        let table = Dependencies::new(3, vec![step], list);
        let to = |node| table.from(node).map(|edge| table.edge(edge).to).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(to), [vec![3], vec![3], vec![], vec![2]]);
        assert_eq!([0, 1, 2, 3].map(|node| table.needs(node)), [0, 0, 1, 2]);
        assert_eq!((table.nodes(), table.len(), table.waiting(), table.host(3, &[])), (4, 3, 1, HostId(3)));
        assert!(table.awaits(0, Point::Acknowledged) && !table.awaits(0, Point::Received));
        assert_eq!([0, 1, 2].map(|edge| table.source(edge)), [0, 1, 3]);
        let many = [5, 2, 4].map(|flow| need(Node::Flow(flow), Node::Flow(0), Point::Received));
        let table = Dependencies::new(6, vec![], many.to_vec());
        assert_eq!(table.from(0).map(|edge| table.edge(edge).to).collect::<Vec<_>>(), [2, 4, 5], "in order");
        let none = Dependencies::new(3, vec![], vec![]);
        assert!(none.is_empty() && none.from(2).is_empty() && none.needs(2) == 0 && none.is_flow(2));
    }
}
