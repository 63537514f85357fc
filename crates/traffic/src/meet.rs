//! [`Program::meet`]: a collective operation of some ranks of a program; [`Moment`]: where each begins it.

use weft_units::Duration;

use crate::dependencies::{Node, Point};
use crate::program::Program;

/// A point in the work of a rank: a node, its point, and the time after that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    pub(crate) node: Node,
    pub(crate) at: Point,
    pub(crate) delay: Duration,
}

impl Moment {
    /// So long after a step.
    pub(crate) const fn after(node: Node, delay: Duration) -> Self {
        Self { node, at: Point::Started, delay }
    }

    /// The moment at which a step is reached.
    pub(crate) const fn of(node: Node) -> Self {
        Self::after(node, Duration::ZERO)
    }
}

impl Program {
    /// Adds the flows of a collective operation, `round`, whose rank `i` is the rank `members[i].0` of this program. A rank sends
    /// nothing before its moment in `members`. Returns a step of each rank, which is reached when the rank has received
    /// everything and its own data is acknowledged.
    pub(crate) fn meet(&mut self, round: &Self, members: &[(u32, Moment)]) -> Vec<Node> {
        let (flows, steps) = (self.flows.len() as u32, self.steps.len() as u32);
        let moved = |node: Node| node.after(flows, steps);
        let mut waits_for_step = vec![false; round.flows.len()];
        for need in &round.needs {
            if let (Node::Flow(flow), Node::Step(_)) = (need.waiting, need.on) {
                waits_for_step[flow as usize] = true;
            }
        }
        for flow in &round.flows {
            self.flow(members[flow.src.index()].0, members[flow.dst.index()].0, flow.bytes);
        }
        for step in &round.steps {
            self.step(members[step.host.index()].0);
        }
        self.needs.extend(round.needs.iter().map(|need| need.between(moved)));
        for (number, step) in (0..).zip(&round.steps) {
            self.wait(moved(Node::Step(number)), members[step.host.index()].1);
        }
        for (number, flow) in (0..).zip(&round.flows) {
            // Others wait through the step.
            if !waits_for_step[number as usize] {
                self.wait(moved(Node::Flow(number)), members[flow.src.index()].1);
            }
        }
        let ends: Vec<Node> = members.iter().map(|(rank, _)| self.step(*rank)).collect();
        for ((_, from), end) in members.iter().zip(&ends) {
            self.wait(*end, *from);
        }
        for (number, flow) in (0..).zip(&round.flows) {
            let node = moved(Node::Flow(number));
            self.need(ends[flow.src.index()], node, Point::Acknowledged, Duration::ZERO);
            self.need(ends[flow.dst.index()], node, Point::Received, Duration::ZERO);
        }
        ends
    }

    /// Makes a node wait for a moment.
    pub(crate) fn wait(&mut self, waiting: Node, Moment { node, at, delay }: Moment) {
        self.need(waiting, node, at, delay);
    }
}
