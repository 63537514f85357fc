//! [`Joining`]: turns a [`Schedule`] into a [`Program`].

use std::collections::BTreeMap;

use weft_units::Duration;

use super::schedule::{Block, Operation, Schedule, What};
use crate::dependencies::{Node, Point, StepKind};
use crate::processor::Processor;
use crate::program::{Program, spell_circle};
use crate::trace::error::TraceError;
use crate::trace::matching::{Half, Inbox, Match, matches};
use crate::trace::order::Order;

/// An operation in the program.
#[derive(Clone, Copy)]
struct Placed {
    /// The node at which it starts.
    start: Node,
    /// Its flow; of a receive, the step at which it is complete; of a calculation, its start.
    node: Node,
}

/// A schedule on its way into a program.
pub struct Joining<'a> {
    schedule: &'a Schedule<'a>,
    program: Program,
    /// The operations of the program's flows and steps, as rank and index.
    origins: [Vec<(u32, u32)>; 2],
    /// Inboxes by receiving rank.
    inboxes: BTreeMap<u32, Inbox>,
}

impl<'a> Joining<'a> {
    /// The program of a schedule, whose ranks have these orders.
    ///
    /// # Errors
    /// A message that nobody sends or receives, or whose receive depends on the time; operations that wait for each
    /// other in a circle.
    pub fn program(
        schedule: &'a Schedule<'a>,
        orders: &BTreeMap<u32, &Order>,
    ) -> Result<Program, TraceError> {
        let program = Program { ranks: schedule.ranks, ..Program::default() };
        let mut this = Self { schedule, program, origins: Default::default(), inboxes: BTreeMap::new() };
        for (rank, block) in &schedule.blocks {
            this.rank(*rank, block, orders[rank]);
        }
        for matched in matches(std::mem::take(&mut this.inboxes), orders)? {
            match matched {
                Match::One(send, receive) => {
                    this.program.need(receive.node, send.node, Point::Received, Duration::ZERO);
                }
                Match::Arrival(sends, receives) => this.by_arrival(&sends, &receives),
            }
        }
        if let Some(circle) = this.program.circle() {
            return Err(this.waiting(&circle));
        }
        match this.program.unstarted().first() {
            None => Ok(this.program),
            Some(flow) => {
                let why = "this message is never sent: its requirements wait for messages that are sent only after it";
                Err(TraceError::at(this.operation(Node::Flow(*flow)).place, why))
            }
        }
    }

    /// Adds the operations of a rank and their requirements.
    fn rank(&mut self, rank: u32, block: &Block<'_>, order: &Order) {
        let sorted = order.sorted();
        let calcs = operations(block, |what| matches!(what, What::Calc(_)), |operation| operation.cpu);
        let processors: BTreeMap<u8, u32> =
            calcs.into_keys().map(|number| (number, self.program.processor())).collect();
        let mut sends =
            operations(block, |what| matches!(what, What::Send { .. }), |operation| operation.nic);
        // An interface of which each message waits for the one before needs no queue.
        sends.retain(|_, of| of.len() > 1 && !order.is_chain(of, &sorted));
        let interfaces = sends.into_keys();
        let interfaces: BTreeMap<u8, u32> =
            interfaces.map(|number| (number, self.program.processor_of(Processor::Interface))).collect();
        let mut is_awaited = vec![false; block.operations.len()];
        for (_, on, is_start) in &block.requirements {
            is_awaited[*on as usize] |= is_start;
        }
        let mut placed = Vec::with_capacity(block.operations.len());
        for (index, operation) in (0..).zip(&block.operations) {
            let of = (rank, index);
            let place = operation.place;
            placed.push(match operation.what {
                What::Send { to, bytes, tag } => {
                    // A flow has at least one byte.
                    let flow = self.program.flow(rank, to, bytes.max(1));
                    self.origins[0].push(of);
                    let start = interfaces.get(&operation.nic).map_or(flow, |interface| {
                        let start = self.work(of, *interface, Duration::ZERO);
                        self.program.need(flow, start, Point::Started, Duration::ZERO);
                        if let (Node::Step(step), Node::Flow(flow)) = (start, flow) {
                            self.program.sends.push((step, flow));
                        }
                        start
                    });
                    let (src, tag) = (Some(rank), Some(tag));
                    let send = Half { node: flow, bytes, place, operation: index as usize, src, tag };
                    self.inboxes.entry(to).or_default().sends.push(send);
                    Placed { start, node: flow }
                }
                What::Receive { from: src, bytes, tag } => {
                    let node = self.step(of);
                    let receive = Half { node, bytes, place, operation: index as usize, src, tag };
                    self.inboxes.entry(rank).or_default().receives.push(receive);
                    // Others may wait for its start: only for its own requirements, not for the message.
                    let start = if is_awaited[index as usize] { self.step(of) } else { node };
                    if start != node {
                        self.program.need(node, start, Point::Started, Duration::ZERO);
                    }
                    Placed { start, node }
                }
                What::Calc(took) => {
                    let node = self.work(of, processors[&operation.cpu], took);
                    Placed { start: node, node }
                }
                What::Mark => {
                    let node = self.step(of);
                    Placed { start: node, node }
                }
            });
        }
        for (waiting, on, is_start) in &block.requirements {
            let (waiting, of) = (placed[*waiting as usize].start, placed[*on as usize]);
            let (on, at, delay) = match (block.operations[*on as usize].what, is_start) {
                (What::Send { .. }, false) => (of.node, Point::Acknowledged, Duration::ZERO),
                (What::Calc(took), false) => (of.node, Point::Started, took),
                (What::Receive { .. }, true) => (of.start, Point::Started, Duration::ZERO),
                (What::Send { .. } | What::Receive { .. } | What::Calc(_) | What::Mark, _) => {
                    (of.node, Point::Started, Duration::ZERO)
                }
            };
            self.program.need(waiting, on, at, delay);
        }
    }

    /// A step of an operation.
    fn step(&mut self, of: (u32, u32)) -> Node {
        self.origins[1].push(of);
        self.program.step(of.0)
    }

    /// A step of an operation on a processor.
    fn work(&mut self, of: (u32, u32), processor: u32, takes: Duration) -> Node {
        self.origins[1].push(of);
        self.program.work(of.0, processor, takes)
    }

    /// The rank and the index of the operation that a flow or step belongs to.
    fn origin(&self, node: Node) -> (u32, u32) {
        match node {
            Node::Flow(flow) => self.origins[0][flow as usize],
            Node::Step(step) => self.origins[1][step as usize],
        }
    }

    fn operation(&self, node: Node) -> &Operation<'a> {
        let (rank, index) = self.origin(node);
        &self.schedule.blocks[&rank].operations[index as usize]
    }

    /// Lets the first receive take the first of the messages that arrives, and so on.
    fn by_arrival(&mut self, sends: &[Half], receives: &[Half]) {
        let arrival = self.step(self.origin(receives[0].node));
        if let Some(last) = self.program.steps.last_mut() {
            last.kind = StepKind::Each;
        }
        for send in sends {
            self.program.need(arrival, send.node, Point::Received, Duration::ZERO);
        }
        // Operations that wait for such a step start in the order of the steps.
        for receive in receives {
            let taken = self.step(self.origin(receive.node));
            self.program.need(taken, arrival, Point::Started, Duration::ZERO);
            self.program.need(receive.node, taken, Point::Started, Duration::ZERO);
        }
    }

    /// The error of operations that wait for each other: each for the next, the last one for the first.
    fn waiting(&self, circle: &[Node]) -> TraceError {
        // An operation can have several nodes.
        let mut nodes = circle.to_vec();
        nodes.dedup_by_key(|node| self.origin(*node));
        if nodes.len() > 1 && nodes.last().map(|node| self.origin(*node)) == Some(self.origin(nodes[0])) {
            nodes.pop();
        }
        let name = |node: &Node| self.operation(*node).name(self.origin(*node).0);
        let why = format!("operations wait for each other in a circle: {}", spell_circle(&nodes, name));
        TraceError::at(self.operation(nodes[0]).place, why)
    }
}

/// The operations of a kind by the number of their processor in the file.
fn operations(
    block: &Block<'_>,
    is_own: fn(&What) -> bool,
    number: fn(&Operation<'_>) -> u8,
) -> BTreeMap<u8, Vec<usize>> {
    let mut found: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (index, operation) in block.operations.iter().enumerate().filter(|(_, one)| is_own(&one.what)) {
        found.entry(number(operation)).or_default().push(index);
    }
    found
}
