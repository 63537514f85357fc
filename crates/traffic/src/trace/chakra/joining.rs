//! [`Joining`]: turns the traces of all ranks into a [`Program`].

use std::collections::BTreeMap;

use weft_units::{Duration, HostId};

use super::matching::Meeting;
use super::operation::{RankTrace, What};
use crate::dependencies::{MAX_ORDERED, Node, Point};
use crate::meet::Moment;
use crate::processor::Processor;
use crate::program::{Program, spell_circle};
use crate::trace::error::{Place, TraceError};
use crate::trace::matching::{Half, Inbox, Match, matches};
use crate::trace::order::Order;

/// A node of a trace in the program.
#[derive(Clone, Copy)]
struct Placed {
    /// The node at which it starts.
    start: Node,
    /// The node and its point at which it is done, and how long after that.
    done: (Node, Point, Duration),
}

/// Traces on their way into a program.
pub struct Joining<'a> {
    traces: &'a [RankTrace],
    program: Program,
    /// The rank and the index of the node that each flow and each step belongs to.
    origins: [Vec<(u32, u32)>; 2],
    inboxes: BTreeMap<u32, Inbox>,
    placed: Vec<Vec<Placed>>,
}

impl<'a> Joining<'a> {
    /// The program of these traces, of which these nodes meet in collective operations.
    ///
    /// # Errors
    /// Too many flows, messages that do not match, or nodes that wait for each other in a circle.
    pub fn program(traces: &'a [RankTrace], meetings: &[Meeting]) -> Result<Program, TraceError> {
        let program = Program { ranks: traces.len() as u32, ..Program::default() };
        let mut this = Self {
            traces,
            program,
            origins: Default::default(),
            inboxes: BTreeMap::new(),
            placed: Vec::new(),
        };
        this.check_size(meetings)?;
        for (rank, trace) in (0..).zip(traces) {
            this.rank(rank, trace);
        }
        for meeting in meetings.iter().filter(|meeting| meeting.members.len() > 1) {
            this.meet(meeting);
        }
        for (rank, trace) in traces.iter().enumerate() {
            for (waiting, on) in &trace.dependencies {
                let (done, at, delay) = this.placed[rank][*on as usize].done;
                this.program.need(this.placed[rank][*waiting as usize].start, done, at, delay);
            }
        }
        let orders: BTreeMap<u32, &Order> = (0..).zip(traces.iter().map(|trace| &trace.order)).collect();
        for matched in matches(std::mem::take(&mut this.inboxes), &orders)? {
            if let Match::One(send, receive) = matched {
                this.program.need(receive.node, send.node, Point::Received, Duration::ZERO);
            }
        }
        match this.program.circle() {
            None => Ok(this.program),
            Some(circle) => Err(this.waiting(&circle)),
        }
    }

    /// Checks the number of flows before any is made: each node can stand for many.
    fn check_size(&self, meetings: &[Meeting]) -> Result<(), TraceError> {
        let operations = self.traces.iter().flat_map(|trace| &trace.operations);
        let mut flows = operations.filter(|of| matches!(of.what, What::Send { .. })).count() as u64;
        for Meeting { kind, bytes, members } in meetings.iter().filter(|meeting| meeting.members.len() > 1) {
            let (rank, index) = members[0];
            let place = self.traces[rank as usize].place(rank, index as usize);
            let more = kind.flows(*bytes, members.len() as u32).map_err(|why| TraceError::at(place, why))?;
            flows = flows.saturating_add(more);
            if flows > MAX_ORDERED {
                let why = format!(
                    "with this operation, the trace has {flows} flows; a run can have at most {MAX_ORDERED}"
                );
                return Err(TraceError::at(place, why));
            }
        }
        Ok(())
    }

    /// Adds the nodes of a rank, without what they wait for.
    fn rank(&mut self, rank: u32, trace: &RankTrace) {
        let processors = [(false, Processor::Compute), (true, Processor::Host)].map(|(on_cpu, kind)| {
            let is_own = |what: &What| matches!(what, What::Compute { is_cpu, .. } if *is_cpu == on_cpu);
            let mut operations = trace.operations.iter();
            operations.any(|operation| is_own(&operation.what)).then(|| self.program.processor_of(kind))
        });
        let mut placed = Vec::with_capacity(trace.operations.len());
        for (index, operation) in (0..).zip(&trace.operations) {
            let of = (rank, index);
            let place = Place::Node { rank, node: operation.id };
            placed.push(match operation.what {
                What::Send { to, bytes, tag } => {
                    // A flow has at least one byte.
                    let node = self.program.flow(rank, to, bytes.max(1));
                    self.origins[0].push(of);
                    let (src, tag) = (Some(rank), Some(tag));
                    let send = Half { node, bytes, place, operation: index as usize, src, tag };
                    self.inboxes.entry(to).or_default().sends.push(send);
                    Placed { start: node, done: (node, Point::Acknowledged, Duration::ZERO) }
                }
                What::Receive { from, bytes, tag } => {
                    let node = self.step(of);
                    let (src, tag) = (Some(from), Some(tag));
                    let receive = Half { node, bytes, place, operation: index as usize, src, tag };
                    self.inboxes.entry(rank).or_default().receives.push(receive);
                    Placed { start: node, done: (node, Point::Started, Duration::ZERO) }
                }
                What::Compute { took, is_cpu } => {
                    let start = match processors[usize::from(is_cpu)] {
                        Some(processor) => {
                            self.origins[1].push(of);
                            self.program.work(rank, processor, took)
                        }
                        None => self.step(of),
                    };
                    Placed { start, done: (start, Point::Started, took) }
                }
                What::Aside(took) => {
                    let start = self.step(of);
                    Placed { start, done: (start, Point::Started, took) }
                }
                // The flows of a collective operation come between its start and its end.
                What::Nothing | What::Collective { .. } => {
                    let start = self.step(of);
                    Placed { start, done: (start, Point::Started, Duration::ZERO) }
                }
            });
        }
        self.placed.push(placed);
    }

    /// Adds the flows of a collective operation. A rank sends nothing before its node starts; the node is done when the
    /// rank has received everything and what it has sent is acknowledged.
    fn meet(&mut self, meeting: &Meeting) {
        let Meeting { kind, bytes, members } = meeting;
        let round = kind.round(*bytes, members.len() as u32);
        let begins = members
            .iter()
            .map(|(rank, index)| (*rank, Moment::of(self.placed[*rank as usize][*index as usize].start)));
        let ends = self.program.meet(&round, &begins.collect::<Vec<_>>());
        let member = |host: HostId| members[host.index()];
        self.origins[0].extend(round.flows.iter().map(|flow| member(flow.src)));
        self.origins[1]
            .extend(round.steps.iter().map(|step| member(step.host)).chain(members.iter().copied()));
        for ((rank, index), end) in members.iter().zip(ends) {
            self.placed[*rank as usize][*index as usize].done = (end, Point::Started, Duration::ZERO);
        }
    }

    /// A step of a node.
    fn step(&mut self, of: (u32, u32)) -> Node {
        self.origins[1].push(of);
        self.program.step(of.0)
    }

    /// The rank and the index of the node that a flow or step belongs to.
    fn origin(&self, node: Node) -> (u32, u32) {
        match node {
            Node::Flow(flow) => self.origins[0][flow as usize],
            Node::Step(step) => self.origins[1][step as usize],
        }
    }

    /// The error of nodes that wait for each other: each for the next, the last one for the first.
    fn waiting(&self, circle: &[Node]) -> TraceError {
        // A node of a trace can have several here.
        let mut origins: Vec<(u32, u32)> = circle.iter().map(|node| self.origin(*node)).collect();
        origins.dedup();
        if origins.len() > 1 && origins.first() == origins.last() {
            origins.pop();
        }
        let place = |(rank, index): &(u32, u32)| self.traces[*rank as usize].place(*rank, *index as usize);
        let circle = spell_circle(&origins, |of| place(of).name());
        TraceError::at(place(&origins[0]), format!("nodes wait for each other in a circle: {circle}"))
    }
}
