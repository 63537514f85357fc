//! [`Ring`]: the flows in parts that feed each other. A rank that waits for the rank before waits for the causes of that one.

use std::collections::BTreeMap;

use weft_traffic::Traffic;
use weft_units::{Duration, Time};

use super::split::{Cause, Part};
use crate::journal::FlowNumber;

/// Flows that are followed backwards from a flow.
const MOST: usize = 64;

/// The flows around rings, with the parts of their time.
#[derive(Default)]
pub struct Ring {
    /// The flow that feeds another, and the time between a part of the one and that of the other.
    before: BTreeMap<FlowNumber, (FlowNumber, Duration)>,
    /// The parts of flows that feed others, in order of time. Empty until they are known.
    parts: BTreeMap<FlowNumber, Vec<Part>>,
}

impl Ring {
    /// The flows that feed these, those that feed them, and so on.
    pub fn of(traffic: &Traffic, flows: &[FlowNumber]) -> Self {
        let mut ring = Self::default();
        if traffic.parts.is_empty() {
            return ring;
        }
        let feeders: BTreeMap<FlowNumber, (FlowNumber, Duration)> = (0..traffic.flows.len() as FlowNumber)
            .filter_map(|flow| traffic.parts.of(flow).map(|series| (series.feeds, (flow, series.compute))))
            .collect();
        for flow in flows {
            let mut at = *flow;
            for _ in 0..MOST {
                let Some(before) = feeders.get(&at).filter(|(feeder, _)| feeder != flow) else { break };
                ring.before.insert(at, *before);
                ring.parts.insert(before.0, Vec::new());
                at = before.0;
            }
            // Around a ring of fewer ranks, the last one is fed by the first.
            if let Some(before) = feeders.get(&at).filter(|(feeder, _)| feeder == flow) {
                ring.before.insert(at, *before);
                ring.parts.insert(*flow, Vec::new());
            }
        }
        ring
    }

    /// The flows whose parts it needs.
    pub fn flows(&self) -> impl Iterator<Item = &FlowNumber> {
        self.parts.keys()
    }

    /// Adds the parts of a flow.
    pub fn add(&mut self, flow: FlowNumber, parts: Vec<Part>) {
        self.parts.insert(flow, parts);
    }

    /// The parts of a flow's time, with those of the ranks before it in the place of the time for which it waited for them.
    pub fn divide(&self, flow: FlowNumber, parts: Vec<Part>) -> Vec<Part> {
        if !self.before.contains_key(&flow) {
            return parts;
        }
        let mut divided = Divided(Vec::with_capacity(parts.len()));
        for part in &parts {
            self.part(flow, *part, part.from, part.to, MOST, &mut divided);
        }
        divided.0
    }

    /// Adds a part of a flow from `from` to `to`. A wait is divided among the causes of the `left` ranks before.
    fn part(&self, flow: FlowNumber, part: Part, from: Time, to: Time, left: usize, divided: &mut Divided) {
        let before = self.before.get(&flow).filter(|_| part.cause == Cause::Part && left > 0);
        let Some((feeder, compute)) = before else { return divided.add(from, to, part.cause) };
        // Its data had arrived before it computed.
        let arrived = Time::from_ps(part.to.ps().saturating_sub(compute.ps())).clamp(from, to);
        let parts = &self.parts[feeder][..];
        let first = parts.partition_point(|other| other.to <= from);
        let mut at = from;
        for other in parts[first..].iter().take_while(|other| other.from < arrived) {
            divided.add(at, other.from.max(from), Cause::Part);
            at = other.to.min(arrived);
            self.part(*feeder, *other, other.from.max(from), at, left - 1, divided);
        }
        divided.add(at, to, Cause::Part);
    }
}

/// Parts that follow each other.
struct Divided(Vec<Part>);

impl Divided {
    /// Adds a part, if it takes any time; joins the last one if that has the same cause.
    fn add(&mut self, from: Time, to: Time, cause: Cause) {
        if from >= to {
            return;
        }
        match self.0.last_mut().filter(|last| last.cause == cause && last.to == from) {
            Some(last) => last.to = to,
            None => self.0.push(Part { from, to, cause }),
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_units::LinkId;

    use super::super::connection::Direction;
    use super::*;

    #[test]
    fn a_rank_that_waits_has_the_causes_of_the_rank_before() {
        let us = |us: u64| Time::from_ps(us * 1_000_000);
        let part = |from, to, cause| Part { from: us(from), to: us(to), cause };
        let queue = |link| Cause::Queue(LinkId(link), Direction::Forward);
        // 0 is fed by 2, after 3 us of computation, and 2 by 1, which starts late.
        let ring = Ring {
            before: BTreeMap::from([(0, (2, Duration::from_us(3))), (2, (1, Duration::ZERO))]),
            parts: BTreeMap::from([
                (1, vec![part(14, 20, Cause::Wire), part(20, 40, queue(5))]),
                (2, vec![part(0, 10, queue(4)), part(10, 30, Cause::Part), part(30, 50, Cause::Wire)]),
            ]),
        };
        let own = vec![part(0, 6, Cause::Wire), part(6, 40, Cause::Part), part(40, 60, queue(6))];
        let expected = [
            part(0, 6, Cause::Wire),
            part(6, 10, queue(4)),
            part(10, 14, Cause::Part),
            part(14, 20, Cause::Wire),
            part(20, 30, queue(5)),
            part(30, 37, Cause::Wire),
            part(37, 40, Cause::Part),
            part(40, 60, queue(6)),
        ];
        assert_eq!(ring.divide(0, own.clone()), expected);
        assert_eq!(ring.divide(1, own.clone()), own, "nothing feeds it");
    }
}
