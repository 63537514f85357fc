//! [`Tails`]: the least times from the ends of flows to the end of a program.

use weft_units::{Duration, Time};

use super::link::{Link, end_of_each, once_each};
use super::ordered::Ordered;
use crate::dependencies::{Node, Point};

/// The least times from the end of each flow, at its destination, to the end of the program.
pub(super) struct Tails {
    /// From the start of each node; `None` for a step that only waits, and that nothing waits for.
    starts: Vec<Option<Duration>>,
    /// From the end of each flow.
    ends: Vec<Duration>,
}

impl Tails {
    pub(super) fn of(ordered: &Ordered<'_>) -> Self {
        let (program, rings) = (ordered.program, ordered.rings);
        let flows = program.flows.len();
        let starts = vec![None; flows + program.steps.len()];
        let mut this = Self { starts, ends: vec![Duration::ZERO; flows] };
        let mut sent = Vec::new();
        for &node in ordered.order.iter().rev().filter(|node| !rings.is_step(**node)) {
            let needs = ordered.needs(node);
            let needs = needs.filter(|need| !program.is_each(need.waiting) && !rings.is_step(need.waiting));
            // From the start of the node, and from its end.
            let mut start = program.takes(node);
            let mut end = matches!(node, Node::Flow(_)).then_some(Duration::ZERO);
            sent.clear();
            for need in needs {
                let Some(tail) = this.starts[ordered.place(need.waiting)] else { continue };
                let tail = need.delay + tail;
                match (node, need.at) {
                    (Node::Flow(flow), Point::Acknowledged) => {
                        end = end.max(Some(ordered.answer(flow) + tail));
                    }
                    (Node::Flow(flow), Point::Started) if ordered.share_connection(node, need.waiting) => {
                        start = start.max(Some(ordered.sends(flow) + tail));
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
            let shared = this.sent_by_one_host(&mut sent, ordered);
            let end = end.map(|end| end.max(shared));
            this.starts[ordered.place(node)] = match node {
                Node::Flow(flow) => {
                    let end = end.unwrap_or(Duration::ZERO);
                    this.ends[flow as usize] = end;
                    start.max(Some(ordered.takes(flow) + end))
                }
                Node::Step(_) => start.max(end),
            };
        }
        this
    }

    /// The least time from the end of a flow to the end of the program.
    pub(super) fn end(&self, flow: u32) -> Duration {
        self.ends[flow as usize]
    }

    /// Of flows that a host sends after the same node, each so much later, the last one has waited for the bytes of the others: the
    /// least time from that node to the end of the program.
    fn sent_by_one_host(&self, sent: &mut Vec<(u32, Duration)>, ordered: &Ordered<'_>) -> Duration {
        if sent.len() < 2 {
            return Duration::ZERO;
        }
        once_each(sent);
        let transfers = sent.iter().map(|(flow, delay)| {
            let link = Link::of_source(ordered.flow(*flow), ordered.places);
            (link, ordered.transfer(*flow, link, Time::ZERO + *delay, self.end(*flow)))
        });
        end_of_each(&mut transfers.collect::<Vec<_>>()).saturating_since(Time::ZERO)
    }
}
