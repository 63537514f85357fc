//! A hierarchical all-reduce: a reduce-scatter within each group of ranks, an all-reduce of each part among the ranks of the same
//! number in all groups, and an all-gather within each group, all around rings. With groups that are scale-up domains on rails,
//! only the middle part crosses the network, each on its rail.

use weft_units::Duration;

use crate::dependencies::{Node, Point};
use crate::part::part;
use crate::program::Program;

/// Adds an all-reduce of `bytes` among groups of `group` ranks each.
pub(super) fn add(bytes: u64, group: u32, compute: Duration, program: &mut Program) {
    let groups = program.ranks / group;
    let mut rings = Rings { program, compute };
    // What each rank has received of the phase before.
    let mut before: Vec<Option<Node>> = vec![None; rings.program.ranks as usize];
    // Part `p` of a group ends at the rank of number `p - 1`, which starts to pass it on in the second phase.
    for first in (0..groups).map(|number| number * group) {
        let members: Vec<u32> = (0..group).map(|at| first + at).collect();
        rings.around(&members, bytes, group - 1, 0, &mut before);
    }
    for at in 0..group {
        let members: Vec<u32> = (0..groups).map(|number| number * group + at).collect();
        let own = part(bytes, group.into(), ((at + 1) % group).into());
        rings.around(&members, own, 2 * (groups - 1), 0, &mut before);
    }
    for first in (0..groups).map(|number| number * group) {
        let members: Vec<u32> = (0..group).map(|at| first + at).collect();
        rings.around(&members, bytes, group - 1, 1, &mut before);
    }
}

struct Rings<'a> {
    program: &'a mut Program,
    compute: Duration,
}

impl Rings<'_> {
    /// `steps` steps around the ring of `members`, of parts of `bytes`; in the first one each member sends the part whose number
    /// is its own plus `shift`. `before` has what each rank must have received first, and then what it has received last.
    fn around(&mut self, members: &[u32], bytes: u64, steps: u32, shift: u32, before: &mut [Option<Node>]) {
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
