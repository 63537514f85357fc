//! [`Program`]: flows with the order between them, as collectives and traces describe them.

use weft_units::{Bytes, Duration, HostId, Rate, Time};

use crate::dependencies::{Need, Node, Point, Step, StepKind};
use crate::listed::ListedFlow;
use crate::places::Places;

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
}

/// The needs by node: flows first, then steps.
struct Graph {
    flows: usize,
    /// Indices of needs, by the node that is waited for.
    from: Vec<u32>,
    first: Vec<u32>,
    /// The number of needs of each node.
    open: Vec<u32>,
}

impl Program {
    fn graph(&self) -> Graph {
        let (flows, count) = (self.flows.len(), self.flows.len() + self.steps.len());
        let (mut first, mut open) = (vec![0_u32; count + 1], vec![0; count]);
        for need in &self.needs {
            first[place(need.on, flows) + 1] += 1;
            open[place(need.waiting, flows)] += u32::from(!self.is_each(need.waiting));
        }
        for at in 0..count {
            first[at + 1] += first[at];
        }
        let (mut next, mut from) = (first.clone(), vec![0; self.needs.len()]);
        for (at, need) in (0..).zip(&self.needs) {
            let slot = &mut next[place(need.on, flows)];
            from[*slot as usize] = at;
            *slot += 1;
        }
        Graph { flows, from, first, open }
    }

    /// Whether a node starts each time that something it waits for is done.
    fn is_each(&self, node: Node) -> bool {
        matches!(node, Node::Step(step) if self.steps[step as usize].kind == StepKind::Each)
    }

    /// All nodes, each after those that it waits for, except for steps of [`StepKind::Each`]; if some wait for each
    /// other in a circle, such a circle: each node waits for the next, the last one for the first.
    fn order(&self, graph: &Graph) -> Result<Vec<Node>, Vec<Node>> {
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
        });
        Node::Flow(self.flows.len() as u32 - 1)
    }

    /// Adds a step of a rank, which waits for nothing yet; returns it.
    pub fn step(&mut self, rank: u32) -> Node {
        self.steps.push(Step { host: HostId(rank), start: Time::ZERO, kind: StepKind::All });
        Node::Step(self.steps.len() as u32 - 1)
    }

    /// Makes a node wait for a point of another.
    pub fn need(&mut self, waiting: Node, on: Node, at: Point, delay: Duration) {
        self.needs.push(Need { waiting, on, at, delay });
    }

    /// The nodes that wait for nothing.
    pub fn roots(&self) -> Vec<Node> {
        let graph = self.graph();
        (0..graph.open.len()).filter(|at| graph.open[*at] == 0).map(|at| graph.node(at)).collect()
    }

    /// Turns the steps that wait for no flow into start times, and their needs with them. Circles through a step of
    /// [`StepKind::Each`] are not looked for.
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
            if open[place(node, graph.flows)] > 0 || self.is_each(node) {
                continue;
            }
            let reached = self.steps[step as usize].start;
            for &at in graph.from(node) {
                let Need { waiting, delay, .. } = self.needs[at as usize];
                if self.is_each(waiting) {
                    continue;
                }
                let start = match waiting {
                    Node::Flow(flow) => &mut self.flows[flow as usize].start,
                    Node::Step(step) => &mut self.steps[step as usize].start,
                };
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

    /// A lower bound of the time from the first start to the last byte received, with hosts that send and receive at
    /// the rates of their links and nothing else in the network: the longest chain of flows that wait for each other,
    /// or the host that has the most to send or to receive. Flows of a chain take the time for their bytes at the
    /// slower of the two hosts' rates, and the delay of the two hosts' links; all links of a host count together. A step
    /// of [`StepKind::Each`] does not make a chain longer. The program must have no circles.
    pub fn bound(&self, places: &Places) -> Duration {
        let flow_time = |flow: &ListedFlow| {
            let rate = places.rate(flow.src).min(places.rate_in(flow.dst));
            let delays =
                [(flow.src, flow.dst), (flow.dst, flow.src)].map(|(src, dst)| places.delay(src, dst));
            (rate.tx_time(Bytes(flow.bytes)), delays)
        };
        let graph = self.graph();
        let starts = self.flows.iter().map(|flow| flow.start).chain(self.steps.iter().map(|step| step.start));
        let mut at: Vec<Time> = starts.collect();
        let first = self.flows.iter().map(|flow| flow.start).min().unwrap_or(Time::ZERO);
        let mut last = first;
        for node in self.order(&graph).unwrap_or_default() {
            let started = at[place(node, graph.flows)];
            let (received, acknowledged) = match node {
                Node::Flow(flow) => {
                    let (bytes, [there, back]) = flow_time(&self.flows[flow as usize]);
                    let received = started + bytes + there;
                    last = last.max(received);
                    (received, received + back)
                }
                Node::Step(_) => (started, started),
            };
            for &need in graph.from(node) {
                let Need { waiting, at: point, delay, .. } = self.needs[need as usize];
                let done = match point {
                    Point::Started => started,
                    Point::Received => received,
                    Point::Acknowledged => acknowledged,
                };
                let slot = &mut at[place(waiting, graph.flows)];
                *slot = (*slot).max(done + delay);
            }
        }
        let mut loads = vec![[0_u64; 2]; places.len()];
        for flow in &self.flows {
            for (host, way) in [(flow.src, 0), (flow.dst, 1)] {
                let load = &mut loads[host.index()][way];
                *load = load.saturating_add(flow.bytes);
            }
        }
        let busiest = (0..).map(HostId).zip(&loads).map(|(host, [sent, received])| {
            let time = |bytes: u64, rate: Rate| {
                if bytes == 0 { Duration::ZERO } else { rate.tx_time(Bytes(bytes)) }
            };
            time(*sent, places.rate(host)).max(time(*received, places.rate_in(host)))
        });
        let nearest = self.flows.iter().map(|flow| flow_time(flow).1[0]).min().unwrap_or(Duration::ZERO);
        last.saturating_since(first).max(busiest.max().unwrap_or(Duration::ZERO) + nearest)
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
    fn from(&self, node: Node) -> &[u32] {
        let at = place(node, self.flows);
        &self.from[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

fn place(node: Node, flows: usize) -> usize {
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
mod tests {
    use weft_fabric::{FabricBuilder, LinkSpec};

    use super::*;
    use crate::places::tests::spine_leaf;

    const US: fn(u64) -> Duration = Duration::from_us;

    /// Flow 0 from 0 to 1, then (through a step of host 1) flow 1 back.
    fn there_and_back() -> Program {
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

    #[test]
    fn the_bound_is_the_longest_chain_or_the_busiest_host() {
        // Hosts of 1 Gbps, links without delay.
        let places = spine_leaf(2, 2, 2);
        assert_eq!(there_and_back().bound(&places), US(8 + 3 + 4 + 16));
        let mut busy = there_and_back();
        busy.flow(2, 0, 10_000);
        assert_eq!(busy.bound(&places), US(96), "host 0 receives 12 000 bytes");
    }

    #[test]
    fn the_bound_counts_all_links_of_a_host_by_their_directions() {
        let link = |gbps, us| LinkSpec::new(Rate::from_gbps(gbps), US(us));
        let mut fabric = FabricBuilder::new("two");
        let switches = [0, 1].map(|at| fabric.add_switch(format!("s{at}"), 1, None).unwrap());
        let hosts = [0, 1].map(|at| fabric.add_host(format!("h{at}"), 0, None).unwrap());
        for (switch, delay) in switches.into_iter().zip([3, 1]) {
            fabric.connect(hosts[0], switch, &link(1, delay)).unwrap();
            // h1 receives at 4 Gbps on each link, and sends at 1.
            fabric.connect_asymmetric(hosts[1], switch, &link(1, 7), &link(4, 2)).unwrap();
        }
        let places = Places::of(&fabric.build().unwrap());
        let mut program = Program::default();
        program.flow(0, 1, 1_000_000);
        assert_eq!(program.bound(&places), US(4_000 + 3), "h0 sends at 2 Gbps");
        program.flow(1, 0, 1_000_000);
        assert_eq!(program.bound(&places), US(4_000 + 8), "h1 sends at 2 Gbps, over 7 us and 1 us");
        // Two hosts on one cable.
        let mut fabric = FabricBuilder::new("cable");
        let hosts = [0, 1].map(|at| fabric.add_host(format!("h{at}"), 0, None).unwrap());
        fabric.connect(hosts[0], hosts[1], &link(1, 10)).unwrap();
        let places = Places::of(&fabric.build().unwrap());
        let mut program = Program::default();
        program.flow(0, 1, 1_000);
        assert_eq!(program.bound(&places), US(8 + 10));
    }
}
