//! A hierarchical all-reduce: a reduce-scatter within each group of ranks, an all-reduce of each part among the ranks of the same
//! number in all groups, and an all-gather within each group, all around rings. With groups that are scale-up domains on rails,
//! only the middle part crosses the network, each on its rail.

use super::ring::Rings;
use crate::part::part;

/// Adds an all-reduce of `bytes` among groups of `group` ranks each.
pub(super) fn add(bytes: u64, group: u32, mut rings: Rings<'_>) {
    let groups = rings.program.ranks / group;
    let mut before = vec![None; rings.program.ranks as usize];
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
