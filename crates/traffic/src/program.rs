//! [`Program`]: flows with the order between them, as collectives and traces describe them.

use std::collections::BTreeMap;

use weft_units::{Bytes, Duration, HostId, Time};

use crate::buckets::Buckets;
use crate::dependencies::{Need, Node, Point, Step, StepKind};
use crate::lane::Lane;
use crate::listed::ListedFlow;
use crate::parts::Series;
use crate::places::Places;
use crate::processor::Processor;

/// Flows, steps of hosts, and their dependencies. Indices are those of the two lists. Hosts are ranks, from 0, until
/// [`Program::place`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// The number of ranks.
    pub ranks: u32,
    /// The flows. One that waits does not start before its own start either.
    pub flows: Vec<ListedFlow>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The dependencies.
    pub needs: Vec<Need>,
    /// The number of processors.
    pub processors: u32,
    /// The parts of some flows, with the flow.
    pub series: Vec<(u32, Series)>,
    /// Flows from which on messages have connections of their own, apart from those of the flows before.
    pub parted: Vec<u32>,
    /// The kinds of those that do not compute.
    pub kinds: BTreeMap<u32, Processor>,
    /// Steps at which an interface begins to send, with their flows: each step takes as long as the host's links need
    /// for the flow's bytes.
    pub sends: Vec<(u32, u32)>,
}

/// The needs by node: flows first, then steps.
pub(crate) struct Graph {
    flows: usize,
    /// Indices of needs, by the node that is waited for.
    from: Buckets,
    /// The number of needs of each node.
    open: Vec<u32>,
}

impl Program {
    /// The needs by node.
    pub(crate) fn graph(&self) -> Graph {
        let (flows, count) = (self.flows.len(), self.flows.len() + self.steps.len());
        let mut open = vec![0; count];
        for need in &self.needs {
            open[place(need.waiting, flows)] += u32::from(!self.is_each(need.waiting));
        }
        let from = Buckets::new(count, self.needs.iter().map(|need| Some(place(need.on, flows))));
        Graph { flows, from, open }
    }

    /// Whether a node starts each time that something it waits for is done.
    pub(crate) fn is_each(&self, node: Node) -> bool {
        matches!(node, Node::Step(step) if self.steps[step as usize].kind == StepKind::Each)
    }

    /// How long a processor is busy with a node, if any is.
    pub(crate) fn takes(&self, node: Node) -> Option<Duration> {
        let Node::Step(step) = node else { return None };
        self.steps[step as usize].work().map(|(_, takes)| takes)
    }

    /// Whether two nodes are flows of one host to another.
    pub(crate) fn share_ends(&self, a: Node, b: Node) -> bool {
        let ends = |node| match node {
            Node::Flow(flow) => Some((self.flows[flow as usize].src, self.flows[flow as usize].dst)),
            Node::Step(_) => None,
        };
        ends(a).is_some() && ends(a) == ends(b)
    }

    /// All nodes, each after those that it waits for, except for steps of [`StepKind::Each`]; if some wait for each
    /// other in a circle, such a circle: each node waits for the next, the last one for the first.
    pub(crate) fn order(&self, graph: &Graph) -> Result<Vec<Node>, Vec<Node>> {
        let mut open = graph.open.clone();
        let mut order: Vec<Node> =
            (0..open.len()).filter(|at| open[*at] == 0).map(|at| graph.node(at)).collect();
        let mut done = 0;
        while done < order.len() {
            let node = order[done];
            done += 1;
            for &need in graph.from(node) {
                let waiting = self.needs[need as usize].waiting;
                if self.is_each(waiting) {
                    continue;
                }
                let left = &mut open[place(waiting, graph.flows)];
                *left -= 1;
                if *left == 0 {
                    order.push(waiting);
                }
            }
        }
        if order.len() == open.len() { Ok(order) } else { Err(self.circle_among(graph, &open)) }
    }

    /// Nodes that wait for each other in a circle, if there are any: each waits for the next, the last one for the first.
    /// Circles through a step of [`StepKind::Each`] are not looked for.
    pub(crate) fn circle(&self) -> Option<Vec<Node>> {
        self.order(&self.graph()).err()
    }

    /// A circle among the nodes with `open` needs.
    fn circle_among(&self, graph: &Graph, open: &[u32]) -> Vec<Node> {
        // Each of these nodes waits for another of them: following that leads into a circle.
        let mut before = vec![None; open.len()];
        for need in &self.needs {
            if open[place(need.on, graph.flows)] > 0 {
                before[place(need.waiting, graph.flows)] = Some(need.on);
            }
        }
        let (mut seen, mut path) = (vec![usize::MAX; open.len()], Vec::new());
        let mut at = open.iter().position(|needs| *needs > 0);
        while let Some(current) = at.filter(|at| seen[*at] == usize::MAX) {
            seen[current] = path.len();
            path.push(graph.node(current));
            at = before[current].map(|node| place(node, graph.flows));
        }
        path.split_off(at.map_or(0, |at| seen[at]))
    }

    /// The flows that never start, although there may be no [`circle`](Self::circle): a step of [`StepKind::Each`] is not
    /// reached as often as they need.
    pub(crate) fn unstarted(&self) -> Vec<u32> {
        let graph = self.graph();
        // Of a step of that kind, how often it is reached; of others, how much they wait for.
        let mut counts = graph.open.clone();
        let nodes = (0..counts.len()).map(|at| graph.node(at));
        let roots = nodes.filter(|node| counts[place(*node, graph.flows)] == 0 && !self.is_each(*node));
        let mut satisfied: Vec<u32> = roots.flat_map(|root| graph.from(root)).copied().collect();
        while let Some(need) = satisfied.pop() {
            let node = self.needs[need as usize].waiting;
            let (count, from) = (&mut counts[place(node, graph.flows)], graph.from(node));
            if self.is_each(node) {
                satisfied.extend(from.get(*count as usize));
                *count += 1;
            } else {
                *count -= 1;
                satisfied.extend(from.iter().filter(|_| *count == 0));
            }
        }
        (0..).zip(&counts[..graph.flows]).filter(|(_, count)| **count > 0).map(|(flow, _)| flow).collect()
    }

    /// Puts each rank on its host.
    ///
    /// # Panics
    /// If there are fewer hosts than ranks.
    pub fn place(&mut self, hosts: &[HostId]) {
        for flow in &mut self.flows {
            (flow.src, flow.dst) = (hosts[flow.src.index()], hosts[flow.dst.index()]);
        }
        for step in &mut self.steps {
            step.host = hosts[step.host.index()];
        }
    }

    /// Adds the flows, steps and dependencies of another program of the same ranks. Processors of the same number are the same.
    pub(crate) fn append(&mut self, mut other: Self) {
        debug_assert!(other.kinds.is_empty() && other.sends.is_empty(), "only accelerators compute");
        if self.flows.is_empty() && self.steps.is_empty() {
            *self = other;
            return;
        }
        let (flows, steps) = (self.flows.len() as u32, self.steps.len() as u32);
        self.processors = self.processors.max(other.processors);
        self.add_series(&other.series, flows);
        self.parted.extend(other.parted.iter().map(|flow| flow + flows));
        self.flows.append(&mut other.flows);
        self.steps.append(&mut other.steps);
        self.needs.extend(other.needs.iter().map(|need| need.between(|node| node.after(flows, steps))));
    }

    /// Changes the sizes of all messages; of flows in parts, that of the data that is divided.
    pub(crate) fn carry(&mut self, size: impl Fn(u64) -> u64) {
        self.flows.iter_mut().for_each(|flow| flow.bytes = size(flow.bytes));
        for (flow, series) in &mut self.series {
            series.whole = size(series.whole);
            self.flows[*flow as usize].bytes = series.bytes();
        }
    }

    /// Adds the parts of flows that come after `flows` others.
    pub(crate) fn add_series(&mut self, series: &[(u32, Series)], flows: u32) {
        self.series.extend(series.iter().map(|(flow, series)| (flow + flows, series.after(flows))));
    }

    /// Adds a flow, which waits for nothing yet; returns it.
    pub fn flow(&mut self, src: u32, dst: u32, bytes: u64) -> Node {
        self.flows.push(ListedFlow {
            src: HostId(src),
            dst: HostId(dst),
            bytes,
            start: Time::ZERO,
            class: None,
            dscp: None,
            ports: None,
            lane: Lane::Any,
        });
        Node::Flow(self.flows.len() as u32 - 1)
    }

    /// From now on, flows have connections of their own, apart from those of the flows before.
    pub(crate) fn part_connections(&mut self) {
        self.parted.push(self.flows.len() as u32);
    }

    /// Adds a step of a rank, which waits for nothing yet; returns it.
    pub fn step(&mut self, rank: u32) -> Node {
        self.steps.push(Step { host: HostId(rank), start: Time::ZERO, kind: StepKind::All });
        Node::Step(self.steps.len() as u32 - 1)
    }

    /// Adds a processor that computes; returns its number.
    pub fn processor(&mut self) -> u32 {
        self.processors += 1;
        self.processors - 1
    }

    /// Adds a processor of a kind; returns its number.
    pub fn processor_of(&mut self, kind: Processor) -> u32 {
        let number = self.processor();
        if kind != Processor::Compute {
            self.kinds.insert(number, kind);
        }
        number
    }

    /// Adds a step that a processor of a rank takes so long for; it waits for nothing else yet. Returns it.
    pub fn work(&mut self, rank: u32, processor: u32, takes: Duration) -> Node {
        let kind = StepKind::Work { processor, takes };
        self.steps.push(Step { host: HostId(rank), start: Time::ZERO, kind });
        Node::Step(self.steps.len() as u32 - 1)
    }

    /// Lets all flows and steps start later by this time.
    pub fn put_off(&mut self, by: Duration) {
        self.flows.iter_mut().for_each(|flow| flow.start += by);
        self.steps.iter_mut().for_each(|step| step.start += by);
    }

    /// Sets how long interfaces are busy with each flow, once the ranks are on their hosts.
    pub fn pace(&mut self, places: &Places) {
        for (step, flow) in std::mem::take(&mut self.sends) {
            let flow = &self.flows[flow as usize];
            if let StepKind::Work { takes, .. } = &mut self.steps[step as usize].kind {
                *takes = places.pace(flow).tx_time(Bytes(flow.bytes));
            }
        }
    }

    /// Makes a node wait for a point of another.
    pub fn need(&mut self, waiting: Node, on: Node, at: Point, delay: Duration) {
        self.needs.push(Need { waiting, on, at, delay });
    }

    /// The nodes with which each rank begins: those that wait for nothing and, at a rank without any, those that wait for no other
    /// node of that rank.
    pub(crate) fn beginnings(&self) -> [Vec<Node>; 2] {
        let graph = self.graph();
        let nodes = || (0..graph.open.len()).map(|at| graph.node(at));
        let roots: Vec<Node> = nodes().filter(|node| graph.open[place(*node, graph.flows)] == 0).collect();
        let mut has_root = vec![false; self.ranks as usize];
        roots.iter().for_each(|root| has_root[self.rank_of(*root).index()] = true);
        let mut follows = vec![false; graph.open.len()];
        for need in &self.needs {
            follows[place(need.waiting, graph.flows)] |= self.rank_of(need.on) == self.rank_of(need.waiting);
        }
        let inner = nodes().filter(|node| !has_root[self.rank_of(*node).index()]);
        let inner = inner.filter(|node| !follows[place(*node, graph.flows)]).collect();
        [roots, inner]
    }

    /// The rank that sends a flow or is at a step.
    pub(crate) fn rank_of(&self, node: Node) -> HostId {
        match node {
            Node::Flow(flow) => self.flows[flow as usize].src,
            Node::Step(step) => self.steps[step as usize].host,
        }
    }

    /// Moves the start of each flow and step to the earliest time that the delays between them allow, as if flows took no time:
    /// so flows of one host to another start in the order in which they wait for each other.
    pub(crate) fn advance(&mut self) {
        let graph = self.graph();
        for node in self.order(&graph).unwrap_or_default() {
            let reached = *self.start_of(node);
            for &need in graph.from(node) {
                let Need { waiting, delay, .. } = self.needs[need as usize];
                let start = self.start_of(waiting);
                *start = (*start).max(reached + delay);
            }
        }
    }

    /// The start of a node.
    fn start_of(&mut self, node: Node) -> &mut Time {
        match node {
            Node::Flow(flow) => &mut self.flows[flow as usize].start,
            Node::Step(step) => &mut self.steps[step as usize].start,
        }
    }

    /// Turns the steps that wait for no flow and no processor into start times, and their needs with them. Circles
    /// through a step of [`StepKind::Each`] are not looked for.
    ///
    /// # Errors
    /// Nodes that wait for each other in a circle: each waits for the next, the last one for the first.
    pub fn settle(&mut self) -> Result<(), Vec<Node>> {
        let graph = self.graph();
        let order = self.order(&graph)?;
        let mut open = graph.open.clone();
        let mut is_satisfied = vec![false; self.needs.len()];
        for node in order {
            let Node::Step(step) = node else { continue };
            if open[place(node, graph.flows)] > 0 || self.steps[step as usize].kind != StepKind::All {
                continue;
            }
            let reached = self.steps[step as usize].start;
            for &at in graph.from(node) {
                let Need { waiting, delay, .. } = self.needs[at as usize];
                if self.is_each(waiting) {
                    continue;
                }
                let start = self.start_of(waiting);
                *start = (*start).max(reached + delay);
                open[place(waiting, graph.flows)] -= 1;
                is_satisfied[at as usize] = true;
            }
        }
        let mut satisfied = is_satisfied.into_iter();
        self.needs.retain(|_| !satisfied.next().unwrap_or_default());
        Ok(())
    }

    /// The flows of a circle, by name.
    pub(crate) fn spell(&self, circle: &[Node], places: &Places) -> String {
        let flow = |node: &Node| match node {
            Node::Flow(flow) => Some(*flow),
            Node::Step(_) => None,
        };
        let flows: Vec<u32> = circle.iter().filter_map(flow).collect();
        spell_circle(&flows, |flow| {
            let ListedFlow { src, dst, .. } = self.flows[*flow as usize];
            format!("flow {} (`{}` to `{}`)", flow + 1, places.name(src), places.name(dst))
        })
    }

    /// The longest computation or message, in words.
    pub(crate) fn longest(&self, places: &Places) -> Option<String> {
        let steps = self.steps.iter();
        let computes = steps.filter_map(|step| step.work().map(|(_, takes)| (takes, step.host, None)));
        let delays = self.needs.iter().map(|need| match need.waiting {
            Node::Flow(flow) => (need.delay, self.flows[flow as usize].src, None),
            Node::Step(step) => (need.delay, self.steps[step as usize].host, None),
        });
        let sends = self
            .flows
            .iter()
            .map(|flow| (places.rate_of(flow).tx_time(Bytes(flow.bytes)), flow.src, Some(flow.dst)));
        let (takes, at, to) = computes.chain(delays).chain(sends).max_by_key(|(takes, ..)| *takes)?;
        let name = places.name(at);
        Some(match to {
            None => format!("the longest computation takes {takes}, at `{name}`"),
            Some(to) => format!("the longest message takes {takes}, from `{name}` to `{}`", places.name(to)),
        })
    }
}

impl Graph {
    fn node(&self, at: usize) -> Node {
        match at.checked_sub(self.flows) {
            None => Node::Flow(at as u32),
            Some(step) => Node::Step(step as u32),
        }
    }

    /// The indices of the needs on a node.
    pub(crate) fn from(&self, node: Node) -> &[u32] {
        self.from.of(place(node, self.flows))
    }
}

/// The place of a node among all: flows first, then steps.
pub(crate) fn place(node: Node, flows: usize) -> usize {
    match node {
        Node::Flow(flow) => flow as usize,
        Node::Step(step) => flows + step as usize,
    }
}

/// A circle, in words, of which each waits for the next and the last one for the first.
pub(crate) fn spell_circle<T>(circle: &[T], name: impl Fn(&T) -> String) -> String {
    /// Further ones are left out.
    const MOST: usize = 8;
    let mut names: Vec<String> = circle.iter().take(MOST).map(&name).collect();
    if circle.len() > MOST {
        names.push(format!("{} more", circle.len() - MOST));
    }
    names.extend(circle.first().map(name));
    names.join(", which waits for ").replacen(", which waits", " waits", 1)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_us;

    /// Flow 0 from 0 to 1, then (through a step of host 1) flow 1 back.
    pub(crate) fn there_and_back() -> Program {
        let mut program = Program { ranks: 2, ..Program::default() };
        let (there, step, back) = (program.flow(0, 1, 1_000), program.step(1), program.flow(1, 0, 2_000));
        program.need(step, there, Point::Received, US(3));
        program.need(back, step, Point::Started, US(4));
        program
    }

    #[test]
    fn steps_that_wait_for_no_flow_become_start_times() {
        let mut program = there_and_back();
        let (first, second) = (program.step(0), program.step(0));
        program.need(second, first, Point::Started, US(5));
        program.need(Node::Flow(0), second, Point::Started, US(6));
        program.settle().unwrap();
        assert_eq!(program.flows[0].start, Time::ZERO + US(11));
        assert_eq!(program.needs, there_and_back().needs);
    }

    #[test]
    fn a_circle_is_named_in_the_order_of_waiting() {
        let mut program = there_and_back();
        program.need(Node::Flow(0), Node::Flow(1), Point::Acknowledged, US(0));
        let after = program.flow(0, 1, 5);
        program.need(after, Node::Flow(1), Point::Received, US(0));
        assert_eq!(program.settle(), Err(vec![Node::Flow(0), Node::Flow(1), Node::Step(0)]));
    }
}
