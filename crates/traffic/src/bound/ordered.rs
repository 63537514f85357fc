//! [`Ordered`]: a program with the order of its nodes, at hosts.

use weft_units::{Bytes, Duration, Time};

use super::link::{Link, Transfer};
use super::rings::Rings;
use crate::connections::Reuse;
use crate::dependencies::{Need, Node};
use crate::listed::ListedFlow;
use crate::places::Places;
use crate::program::{Graph, Program, place};

/// A program whose `order` has all nodes, each after those that it waits for.
pub(super) struct Ordered<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a Graph,
    pub(super) order: &'a [Node],
    pub(super) rings: &'a Rings<'a>,
    pub(super) places: &'a Places,
    pub(super) reuse: Reuse,
}

impl<'a> Ordered<'a> {
    pub(super) fn flow(&self, number: u32) -> &'a ListedFlow {
        &self.program.flows[number as usize]
    }

    /// The number of a node among all.
    pub(super) fn place(&self, node: Node) -> usize {
        place(node, self.program.flows.len())
    }

    /// The needs on a node.
    pub(super) fn needs(&self, node: Node) -> impl Iterator<Item = &'a Need> {
        let program = self.program;
        self.graph.from(node).iter().map(|need| &program.needs[*need as usize])
    }

    /// The time for the bytes of a flow at its source.
    pub(super) fn sends(&self, number: u32) -> Duration {
        let flow = self.flow(number);
        self.places.rate_out(flow).tx_time(Bytes(flow.bytes))
    }

    /// The time from the start of a flow until its destination has all bytes.
    pub(super) fn takes(&self, number: u32) -> Duration {
        let flow = self.flow(number);
        self.places.rate_of(flow).tx_time(Bytes(flow.bytes)) + self.delay(number)
    }

    /// The delay of a flow.
    pub(super) fn delay(&self, number: u32) -> Duration {
        self.places.delay(self.flow(number), false)
    }

    /// The delay of the acknowledgement of a flow.
    pub(super) fn answer(&self, number: u32) -> Duration {
        self.places.delay(self.flow(number), true)
    }

    /// Whether a flow waits behind another on a connection.
    pub(super) fn share_connection(&self, node: Node, waiting: Node) -> bool {
        self.reuse == Reuse::Persistent && self.program.share_ends(node, waiting)
    }

    /// The transfer over a link of a flow that starts at `start`, so much `after` whose end is the least end of all.
    pub(super) fn transfer(&self, number: u32, link: Link, start: Time, after: Duration) -> Transfer {
        let flow = self.flow(number);
        let takes = link.rate(self.places).tx_time(Bytes(flow.bytes));
        let [out, into] = self.places.delays(flow);
        match link.receives() {
            false => Transfer { start, takes, tail: out + into + after },
            // The first bit has to reach the link.
            true => Transfer { start: start + out, takes, tail: into + after },
        }
    }
}
