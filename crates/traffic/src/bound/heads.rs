//! [`Heads`]: the earliest times at which the nodes of a program can start.

use weft_units::{Bytes, Duration, Rate, Time};

use super::chain::Chain;
use super::link::{Link, Transfer, end_of_each, once_each};
use super::rings::Rings;
use crate::buckets::Buckets;
use crate::connections::Reuse;
use crate::dependencies::{Need, Node, Point};
use crate::places::Places;
use crate::program::{Graph, Program, place};

/// The earliest times at which the nodes can start.
pub(super) struct Heads {
    /// Of each node, the chain before it.
    chains: Vec<Chain>,
    /// The chain that ends last.
    pub(super) last: Chain,
}

impl Heads {
    /// Those of a program of which `order` has all nodes, each after those that it waits for.
    pub(super) fn of(
        program: &Program,
        (graph, order): (&Graph, &[Node]),
        rings: &Rings<'_>,
        places: &Places,
        reuse: Reuse,
    ) -> Self {
        let starts = program.flows.iter().map(|flow| flow.start);
        let starts = starts.chain(program.steps.iter().map(|step| step.start));
        let chains = starts.map(|at| Chain { at, flows: 0 }).collect();
        let mut this = Self { chains, last: Chain { at: Time::ZERO, flows: 0 } };
        let received = received(program, rings);
        for &node in order {
            let needs = graph.from(node).iter().map(|need| &program.needs[*need as usize]);
            if rings.is_step(node) {
                this.pass_ring(node, program, graph, rings, places);
                continue;
            }
            let got = received.of(place(node, program.flows.len()));
            if got.len() > 1 {
                this.put_off_by_links(node, got, program, places);
            }
            this.pass(node, needs, program, rings, places, reuse);
        }
        this
    }

    /// The earliest start of a flow.
    pub(super) fn start(&self, flow: u32) -> Time {
        self.chains[flow as usize].at
    }

    /// The start of the first flow or step of a processor. One that waits for nothing is the first: nothing delays it.
    pub(super) fn first(&self, program: &Program) -> Time {
        let works = (0..).zip(&program.steps).filter(|(_, step)| step.work().is_some());
        let works = works.map(|(step, _)| place(Node::Step(step), program.flows.len()));
        (0..program.flows.len()).chain(works).map(|node| self.chains[node].at).min().unwrap_or(Time::ZERO)
    }

    /// A node that waits for several flows over the same link waits for all their bytes.
    fn put_off_by_links(&mut self, node: Node, needs: &[u32], program: &Program, places: &Places) {
        let mut flows: Vec<(u32, Duration)> = Vec::with_capacity(needs.len());
        for need in needs {
            let Need { on, delay, .. } = program.needs[*need as usize];
            if let Node::Flow(flow) = on {
                flows.push((flow, delay));
            }
        }
        once_each(&mut flows);
        let mut before = 0;
        let transfers = flows.iter().map(|(number, delay)| {
            let flow = &program.flows[*number as usize];
            let link = Link::of_destination(flow, places);
            let Chain { at: start, flows } = self.chains[*number as usize];
            before = before.max(flows);
            let takes = link.rate(places).tx_time(Bytes(flow.bytes));
            (link, Transfer { start, takes, tail: places.delay(flow.src, flow.dst) + *delay })
        });
        let at = end_of_each(&mut transfers.collect::<Vec<_>>());
        let chain = &mut self.chains[place(node, program.flows.len())];
        chain.put_off(Chain { at, flows: before + flows.len() as u64 });
    }

    /// Puts off those that wait for a node.
    fn pass<'p>(
        &mut self,
        node: Node,
        needs: impl Iterator<Item = &'p Need>,
        program: &Program,
        rings: &Rings<'_>,
        places: &Places,
        reuse: Reuse,
    ) {
        let started = self.chains[place(node, program.flows.len())];
        let is_whole = !rings.has(node);
        let (sent, received, acknowledged) = match node {
            Node::Flow(flow) => {
                let flow = &program.flows[flow as usize];
                let takes = |rate: Rate| rate.tx_time(Bytes(flow.bytes));
                let sent = started.at + takes(places.rate_out(flow.src, flow.dst));
                let all = takes(places.rate_between(flow.src, flow.dst));
                let received = started.at + all + places.delay(flow.src, flow.dst);
                (sent, received, received + places.delay(flow.dst, flow.src))
            }
            Node::Step(_) => (started.at, started.at, started.at),
        };
        let flows = started.flows + u64::from(matches!(node, Node::Flow(_)));
        // Steps that only wait, for acknowledgements for instance, are no end.
        let end = match node {
            Node::Flow(_) => Some(received),
            Node::Step(_) => program.takes(node).map(|takes| started.at + takes),
        };
        if let Some(at) = end.filter(|at| is_whole && *at > self.last.at) {
            self.last = Chain { at, flows };
        }
        for &Need { waiting, at: point, delay, .. } in needs {
            if !is_whole && point != Point::Started {
                continue;
            }
            let done = match point {
                Point::Started if reuse == Reuse::Persistent && program.share_ends(node, waiting) => sent,
                Point::Started => started.at,
                Point::Received => received,
                Point::Acknowledged => acknowledged,
            };
            let waiting = place(waiting, program.flows.len());
            self.chains[waiting].put_off(Chain { at: done + delay, flows });
        }
    }

    /// Puts off those that wait for the flows of a ring. All of these have started: their parts wait for each other.
    fn pass_ring(
        &mut self,
        step: Node,
        program: &Program,
        graph: &Graph,
        rings: &Rings<'_>,
        places: &Places,
    ) {
        for (number, received) in rings.ends(step, program, places, |flow| self.chains[flow as usize]) {
            if received.at > self.last.at {
                self.last = received;
            }
            let flow = &program.flows[number as usize];
            for need in graph.from(Node::Flow(number)) {
                let Need { waiting, at: point, delay, .. } = program.needs[*need as usize];
                let done = match point {
                    Point::Started => continue,
                    Point::Received => received.at,
                    Point::Acknowledged => received.at + places.delay(flow.dst, flow.src),
                };
                let waiting = place(waiting, program.flows.len());
                self.chains[waiting].put_off(Chain { at: done + delay, ..received });
            }
        }
    }
}

/// The needs of each node for all of a flow that is not in parts.
fn received(program: &Program, rings: &Rings<'_>) -> Buckets {
    let number = |need: &Need| {
        let is_whole = need.at == Point::Received && !rings.has(need.on) && !program.is_each(need.waiting);
        is_whole.then(|| place(need.waiting, program.flows.len()))
    };
    Buckets::new(program.flows.len() + program.steps.len(), program.needs.iter().map(number))
}
