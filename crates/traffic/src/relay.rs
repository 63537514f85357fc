//! [`Relay`]: messages that a GPU of the sender's scale-up domain passes on, on the rail of the receiver.

use weft_units::{Duration, HostId, words};

use crate::dependencies::{Need, Node, Point};
use crate::listed::ListedFlow;
use crate::program::Program;

words! {
    /// How messages between different rails of different scale-up domains travel.
    pub enum Relay {
        /// Through the network.
        None = "none",
        /// Over the scale-up domain to the rank with the receiver's number, then along its rail: PXN of NCCL 2.12. A message is
        /// passed on as a whole.
        Pxn = "pxn",
    }
}

/// The program with two flows in the place of each that `relay` knows a rank for, by source and destination. Flows that wait
/// for its reception wait for that of the second; those that wait for its acknowledgement, for that of the first, with which
/// the source is done.
pub(crate) fn relayed(program: &Program, relay: impl Fn(u32, u32) -> Option<u32>) -> Program {
    let Program { ranks, processors, .. } = *program;
    let (kinds, steps) = (program.kinds.clone(), program.steps.clone());
    let mut all = Program { ranks, processors, kinds, steps, ..Program::default() };
    // The first and the last flow of each.
    let mut parts: Vec<(u32, u32)> = Vec::with_capacity(program.flows.len());
    for flow in &program.flows {
        let first = all.flows.len() as u32;
        match relay(flow.src.0, flow.dst.0) {
            None => all.flows.push(flow.clone()),
            Some(rank) => {
                let by = HostId(rank);
                all.flows.push(ListedFlow { dst: by, ..flow.clone() });
                all.flows.push(ListedFlow { src: by, ..flow.clone() });
                let (first, second) = (Node::Flow(first), Node::Flow(first + 1));
                all.need(second, first, Point::Received, Duration::ZERO);
            }
        }
        parts.push((first, all.flows.len() as u32 - 1));
    }
    for need in &program.needs {
        let waiting = match need.waiting {
            Node::Flow(flow) => Node::Flow(parts[flow as usize].0),
            step => step,
        };
        let on = match (need.on, need.at) {
            (Node::Flow(flow), Point::Received) => Node::Flow(parts[flow as usize].1),
            (Node::Flow(flow), _) => Node::Flow(parts[flow as usize].0),
            (step, _) => step,
        };
        all.needs.push(Need { waiting, on, ..*need });
    }
    all.parted = program.parted.iter().map(|flow| parts[*flow as usize].0).collect();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_to_another_rail_is_passed_on_by_the_rank_with_the_receivers_number() {
        // Ranks 0 and 1 in a domain, 2 and 3 in another.
        let mut program = Program { ranks: 4, ..Program::default() };
        let (across, along) = (program.flow(0, 3, 10), program.flow(3, 1, 20));
        program.need(along, across, Point::Received, Duration::ZERO);
        let again = program.flow(0, 3, 30);
        program.need(again, across, Point::Acknowledged, Duration::ZERO);
        program.parted = vec![1, 2];
        let by =
            |src: u32, dst: u32| (src / 2 != dst / 2 && src % 2 != dst % 2).then_some(src / 2 * 2 + dst % 2);
        let all = relayed(&program, by);
        let ends: Vec<(u32, u32, u64)> =
            all.flows.iter().map(|flow| (flow.src.0, flow.dst.0, flow.bytes)).collect();
        assert_eq!(ends, [(0, 1, 10), (1, 3, 10), (3, 1, 20), (0, 1, 30), (1, 3, 30)]);
        assert_eq!(all.parted, [2, 3]);
        let needs: Vec<_> = all.needs.iter().map(|need| (need.waiting, need.on, need.at)).collect();
        let flow = Node::Flow;
        let expected = [
            (flow(1), flow(0), Point::Received),
            (flow(4), flow(3), Point::Received),
            (flow(2), flow(1), Point::Received),
            (flow(3), flow(0), Point::Acknowledged),
        ];
        assert_eq!(needs, expected);
    }
}
