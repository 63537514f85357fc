//! [`Rings`]: the flows in parts of a program, each of which waits, part by part, for the one before it.

use std::borrow::Cow;
use std::collections::HashMap;

use weft_units::{Bytes, Duration};

use super::chain::Chain;
use crate::dependencies::{Node, Point};
use crate::parts::Series;
use crate::places::Places;
use crate::program::Program;

/// The rings.
pub(super) struct Rings<'a> {
    /// The flows of each, in the order in which they feed each other.
    rings: Vec<Vec<(u32, &'a Series)>>,
    of: HashMap<u32, u32>,
    /// The number of steps of the program; each ring has one more.
    steps: u32,
}

impl<'a> Rings<'a> {
    pub(super) fn of(program: &'a Program) -> Self {
        let series: HashMap<u32, &Series> =
            program.series.iter().map(|(flow, series)| (*flow, series)).collect();
        let mut this = Self { rings: Vec::new(), of: HashMap::new(), steps: program.steps.len() as u32 };
        for &(first, _) in &program.series {
            let (mut at, mut ring) = (first, Vec::new());
            while let (Some(series), false) = (series.get(&at), this.of.contains_key(&at)) {
                ring.push((at, *series));
                this.of.insert(at, this.rings.len() as u32);
                at = series.feeds;
            }
            if !ring.is_empty() {
                this.rings.push(ring);
            }
        }
        this
    }

    /// The program with a step for each ring, which comes after the starts of all its flows and before all that waits for their
    /// ends.
    pub(super) fn ordered<'p>(&self, program: &'p Program) -> Cow<'p, Program> {
        if self.rings.is_empty() {
            return Cow::Borrowed(program);
        }
        let mut ordered = program.clone();
        for (flow, _) in self.rings.iter().flatten() {
            let step = Node::Step(self.steps + self.of[flow]);
            ordered.need(step, Node::Flow(*flow), Point::Started, Duration::ZERO);
        }
        for need in &program.needs {
            if need.at != Point::Started
                && let Node::Flow(flow) = need.on
                && let Some(ring) = self.of.get(&flow)
            {
                ordered.need(need.waiting, Node::Step(self.steps + ring), Point::Started, Duration::ZERO);
            }
        }
        self.rings.iter().for_each(|_| _ = ordered.step(0));
        Cow::Owned(ordered)
    }

    /// Whether a node is a flow in parts.
    pub(super) fn has(&self, node: Node) -> bool {
        matches!(node, Node::Flow(flow) if self.of.contains_key(&flow))
    }

    /// Whether a node is the step of a ring.
    pub(super) const fn is_step(&self, node: Node) -> bool {
        matches!(node, Node::Step(step) if step >= self.steps)
    }

    /// The flows of the ring whose step this is, and when the last part of each is received. `started` has their starts.
    pub(super) fn ends(
        &self,
        step: Node,
        program: &Program,
        places: &Places,
        started: impl Fn(u32) -> Chain,
    ) -> Vec<(u32, Chain)> {
        let Node::Step(step) = step else { return Vec::new() };
        let ring = &self.rings[(step - self.steps) as usize];
        let mut lines: Vec<Line> =
            ring.iter().map(|(flow, series)| Line::new(*flow, series, program, places)).collect();
        let mut received: Vec<Chain> = ring.iter().map(|(flow, _)| started(*flow)).collect();
        let mut sent = received.clone();
        let parts = ring.iter().map(|(_, series)| series.count).max().unwrap_or_default();
        for part in 0..parts {
            // Of the flow before the first one, which is the last.
            let mut before = received[ring.len() - 1];
            for at in 0..ring.len() {
                let (series, line) = (ring[at].1, &mut lines[at]);
                let fed = if part == 0 { sent[at] } else { before.after(series.compute) };
                let ready = if fed.at > sent[at].at { fed } else { sent[at] };
                let is_larger = line.next_is_larger();
                let time = line.times[usize::from(!is_larger)];
                sent[at] = Chain { at: ready.at + time, flows: ready.flows + 1 };
                before = received[at];
                received[at] = sent[at].after(line.delay);
            }
        }
        ring.iter().map(|(flow, _)| *flow).zip(received).collect()
    }
}

/// The transfer of a flow's parts.
struct Line {
    /// The times of the larger parts and the others.
    times: [Duration; 2],
    delay: Duration,
    /// The piece that is the next part, how many there are, and how many of them are larger.
    piece: u32,
    pieces: u32,
    larger: u32,
}

impl Line {
    fn new(flow: u32, series: &Series, program: &Program, places: &Places) -> Self {
        let flow = &program.flows[flow as usize];
        let rate = places.rate_of(flow);
        Self {
            times: series.sizes().map(|(bytes, _)| rate.tx_time(Bytes(bytes))),
            delay: places.delay(flow, false),
            piece: series.first,
            pieces: series.pieces,
            larger: (series.whole % u64::from(series.pieces)) as u32,
        }
    }

    /// Takes the next part; returns whether it is a larger one.
    fn next_is_larger(&mut self) -> bool {
        let piece = self.piece;
        self.piece = piece.checked_sub(1).unwrap_or(self.pieces - 1);
        piece < self.larger
    }
}
