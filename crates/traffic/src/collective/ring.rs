//! Rings: in every step, each member sends the part that it has received from the member before it to the next one.

use weft_units::Duration;

use crate::dependencies::{Node, Point};
use crate::part::part;
use crate::parts::Series;
use crate::program::Program;

/// A program of rings.
pub(super) struct Rings<'a> {
    pub(super) program: &'a mut Program,
    /// How long a rank computes between receiving a part and sending it on.
    pub(super) compute: Duration,
    /// Whether all that a member sends is one flow in parts, rather than a flow for each step.
    pub(super) in_parts: bool,
}

impl Rings<'_> {
    /// `steps` steps around the ring of `members`, of parts of `bytes`; in the first one each member sends the part whose number
    /// is its own plus `shift`. `before` has what each rank must have received first, and then what it has received last.
    pub(super) fn around(
        &mut self,
        members: &[u32],
        bytes: u64,
        steps: u32,
        shift: u32,
        before: &mut [Option<Node>],
    ) {
        if self.in_parts && steps > 0 {
            self.in_parts(members, bytes, steps, shift, before);
        } else {
            self.step_by_step(members, bytes, steps, shift, before);
        }
    }

    fn in_parts(&mut self, members: &[u32], bytes: u64, steps: u32, shift: u32, before: &mut [Option<Node>]) {
        let (count, first) = (members.len() as u32, self.program.flows.len() as u32);
        for at in 0..count {
            let next = (at + 1) % count;
            let series = Series {
                whole: bytes,
                pieces: count,
                first: (at + shift) % count,
                count: steps,
                feeds: first + next,
                compute: self.compute,
            };
            let (src, dst) = (members[at as usize], members[next as usize]);
            let flow = self.program.flow(src, dst, series.bytes());
            self.program.series.push((first + at, series));
            if let Some(got) = before[src as usize] {
                self.program.need(flow, got, Point::Received, self.compute);
            }
        }
        for at in 0..count {
            before[members[((at + 1) % count) as usize] as usize] = Some(Node::Flow(first + at));
        }
    }

    fn step_by_step(
        &mut self,
        members: &[u32],
        bytes: u64,
        steps: u32,
        shift: u32,
        before: &mut [Option<Node>],
    ) {
        let count = members.len() as u32;
        for step in 0..steps {
            let sent: Vec<Node> = (0..count)
                .map(|at| {
                    let number = (at + shift + 2 * count - step % count) % count;
                    let (src, dst) = (members[at as usize], members[((at + 1) % count) as usize]);
                    let flow = self.program.flow(src, dst, part(bytes, count.into(), number.into()));
                    if let Some(got) = before[src as usize] {
                        self.program.need(flow, got, Point::Received, self.compute);
                    }
                    flow
                })
                .collect();
            for (at, flow) in sent.into_iter().enumerate() {
                before[members[(at + 1) % members.len()] as usize] = Some(flow);
            }
        }
    }
}
