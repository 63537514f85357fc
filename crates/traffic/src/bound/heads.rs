//! [`Heads`]: the earliest times at which the nodes of a program can start.

use weft_units::{Duration, Time};

use super::chain::Chain;
use super::link::{Link, end_of_each, once_each};
use super::ordered::Ordered;
use crate::buckets::Buckets;
use crate::dependencies::{Need, Node, Point};
use crate::program::{Program, place};

/// The earliest times at which the nodes can start.
pub(super) struct Heads {
    /// Of each node, the chain before it.
    chains: Vec<Chain>,
    /// The chain that ends last.
    pub(super) last: Chain,
}

impl Heads {
    pub(super) fn of(ordered: &Ordered<'_>) -> Self {
        let program = ordered.program;
        let starts = program.flows.iter().map(|flow| flow.start);
        let starts = starts.chain(program.steps.iter().map(|step| step.start));
        let chains = starts.map(|at| Chain { at, flows: 0 }).collect();
        let mut this = Self { chains, last: Chain { at: Time::ZERO, flows: 0 } };
        let received = received(ordered);
        for &node in ordered.order {
            if ordered.rings.is_step(node) {
                this.pass_ring(node, ordered);
                continue;
            }
            let got = received.of(ordered.place(node));
            if got.len() > 1 {
                this.put_off_by_links(node, got, ordered);
            }
            this.pass(node, ordered);
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
    fn put_off_by_links(&mut self, node: Node, needs: &[u32], ordered: &Ordered<'_>) {
        let mut flows: Vec<(u32, Duration)> = Vec::with_capacity(needs.len());
        for need in needs {
            let Need { on, delay, .. } = ordered.program.needs[*need as usize];
            if let Node::Flow(flow) = on {
                flows.push((flow, delay));
            }
        }
        once_each(&mut flows);
        let mut before = 0;
        let transfers = flows.iter().map(|(flow, delay)| {
            let link = Link::of_destination(ordered.flow(*flow), ordered.places);
            let Chain { at: start, flows } = self.chains[*flow as usize];
            before = before.max(flows);
            (link, ordered.transfer(*flow, link, start, *delay))
        });
        let at = end_of_each(&mut transfers.collect::<Vec<_>>());
        self.chains[ordered.place(node)].put_off(Chain { at, flows: before + flows.len() as u64 });
    }

    /// Puts off those that wait for a node.
    fn pass(&mut self, node: Node, ordered: &Ordered<'_>) {
        let started = self.chains[ordered.place(node)];
        let is_whole = !ordered.rings.has(node);
        let (sent, received, acknowledged) = match node {
            Node::Flow(flow) => {
                let received = started.at + ordered.takes(flow);
                (started.at + ordered.sends(flow), received, received + ordered.answer(flow))
            }
            Node::Step(_) => (started.at, started.at, started.at),
        };
        let flows = started.flows + u64::from(matches!(node, Node::Flow(_)));
        // Steps that only wait, for acknowledgements for instance, are no end.
        let end = match node {
            Node::Flow(_) => Some(received),
            Node::Step(_) => ordered.program.takes(node).map(|takes| started.at + takes),
        };
        if let Some(at) = end.filter(|at| is_whole && *at > self.last.at) {
            self.last = Chain { at, flows };
        }
        for &Need { waiting, at: point, delay, .. } in ordered.needs(node) {
            if !is_whole && point != Point::Started {
                continue;
            }
            let done = match point {
                Point::Started if ordered.share_connection(node, waiting) => sent,
                Point::Started => started.at,
                Point::Received => received,
                Point::Acknowledged => acknowledged,
            };
            self.chains[ordered.place(waiting)].put_off(Chain { at: done + delay, flows });
        }
    }

    /// Puts off those that wait for the flows of a ring. All of these have started: their parts wait for each other.
    fn pass_ring(&mut self, step: Node, ordered: &Ordered<'_>) {
        let started = |flow| self.chains[flow as usize];
        for (flow, received) in ordered.rings.ends(step, ordered.program, ordered.places, started) {
            if received.at > self.last.at {
                self.last = received;
            }
            for &Need { waiting, at: point, delay, .. } in ordered.needs(Node::Flow(flow)) {
                let done = match point {
                    Point::Started => continue,
                    Point::Received => received.at,
                    Point::Acknowledged => received.at + ordered.answer(flow),
                };
                self.chains[ordered.place(waiting)].put_off(Chain { at: done + delay, ..received });
            }
        }
    }
}

/// The needs of each node for all of a flow that is not in parts.
fn received(ordered: &Ordered<'_>) -> Buckets {
    let program = ordered.program;
    let number = |need: &Need| {
        let is_whole =
            need.at == Point::Received && !ordered.rings.has(need.on) && !program.is_each(need.waiting);
        is_whole.then(|| ordered.place(need.waiting))
    };
    Buckets::new(program.flows.len() + program.steps.len(), program.needs.iter().map(number))
}
