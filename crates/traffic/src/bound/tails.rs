//! [`Tails`]: the least times from the ends of flows to the end of a program.

use weft_units::{Bytes, Duration, Time};

use super::link::{Link, Transfer, end_of_each, once_each};
use super::rings::Rings;
use crate::connections::Reuse;
use crate::dependencies::{Node, Point};
use crate::places::Places;
use crate::program::{Graph, Program, place};

/// The least times from the end of each flow, at its destination, to the end of the program.
pub(super) struct Tails {
    /// From the start of each node; `None` for a step that only waits, and that nothing waits for.
    starts: Vec<Option<Duration>>,
    /// From the end of each flow.
    ends: Vec<Duration>,
}

impl Tails {
    /// Those of a program of which `order` has all nodes, each after those that it waits for.
    pub(super) fn of(
        program: &Program,
        (graph, order): (&Graph, &[Node]),
        rings: &Rings<'_>,
        places: &Places,
        reuse: Reuse,
    ) -> Self {
        let flows = program.flows.len();
        let starts = vec![None; flows + program.steps.len()];
        let mut this = Self { starts, ends: vec![Duration::ZERO; flows] };
        let mut sent = Vec::new();
        for &node in order.iter().rev().filter(|node| !rings.is_step(**node)) {
            let needs = graph.from(node).iter().map(|need| &program.needs[*need as usize]);
            let needs = needs.filter(|need| !program.is_each(need.waiting) && !rings.is_step(need.waiting));
            // From the start of the node, and from its end.
            let mut start = program.takes(node);
            let mut end = matches!(node, Node::Flow(_)).then_some(Duration::ZERO);
            sent.clear();
            for need in needs {
                let Some(tail) = this.starts[place(need.waiting, flows)] else { continue };
                let tail = need.delay + tail;
                match (node, need.at) {
                    (Node::Flow(flow), Point::Acknowledged) => {
                        let flow = &program.flows[flow as usize];
                        end = end.max(Some(places.delay(flow.dst, flow.src) + tail));
                    }
                    (Node::Flow(flow), Point::Started)
                        if reuse == Reuse::Persistent && program.share_ends(node, need.waiting) =>
                    {
                        let flow = &program.flows[flow as usize];
                        let rate = places.rate_out(flow.src, flow.dst);
                        start = start.max(Some(rate.tx_time(Bytes(flow.bytes)) + tail));
                    }
                    (Node::Flow(_), Point::Started) => start = start.max(Some(tail)),
                    (Node::Flow(_), Point::Received) | (Node::Step(_), _) => {
                        end = end.max(Some(tail));
                        if let Node::Flow(waiting) = need.waiting {
                            sent.push((waiting, need.delay));
                        }
                    }
                }
            }
            // Of those that wait for it and that its host sends, the last one has waited for the bytes of the others.
            once_each(&mut sent);
            let mut transfers: Vec<(Link, Transfer)> = sent
                .iter()
                .map(|(waiting, delay)| {
                    let link = Link::of_source(&program.flows[*waiting as usize], places);
                    (link, this.transfer(program, *waiting, link, Time::ZERO + *delay, places))
                })
                .collect();
            let shared = end_of_each(&mut transfers).saturating_since(Time::ZERO);
            let end = end.map(|end| end.max(shared));
            this.starts[place(node, flows)] = match node {
                Node::Flow(number) => {
                    let (flow, end) = (&program.flows[number as usize], end.unwrap_or(Duration::ZERO));
                    this.ends[number as usize] = end;
                    let takes = places.rate_between(flow.src, flow.dst).tx_time(Bytes(flow.bytes));
                    start.max(Some(takes + places.delay(flow.src, flow.dst) + end))
                }
                Node::Step(_) => start.max(end),
            };
        }
        this
    }

    /// The transfer of a flow over a link, from `start` on.
    pub(super) fn transfer(
        &self,
        program: &Program,
        number: u32,
        link: Link,
        start: Time,
        places: &Places,
    ) -> Transfer {
        let flow = &program.flows[number as usize];
        Transfer {
            start,
            takes: link.rate(places).tx_time(Bytes(flow.bytes)),
            tail: places.delay(flow.src, flow.dst) + self.ends[number as usize],
        }
    }
}
