//! [`owners`]: the `xpu` that each interface of a server serves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::devices::{Budget, Inner};
use super::document::Kind;
use crate::FabricError;

/// The `xpu` of each interface: the nearest one over the edges of the device, without those of its domains; among
/// several, the one with the fewest interfaces so far, then the first. None if no `xpu` is reached.
pub(super) fn owners(
    kinds: &[Kind],
    edges: &[Inner<'_>],
    interfaces: &BTreeSet<u32>,
    budget: &mut Budget,
) -> Result<BTreeMap<u32, u32>, FabricError> {
    let mut around: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for Inner { ends: [a, b], .. } in edges {
        around.entry(*a).or_default().push(*b);
        around.entry(*b).or_default().push(*a);
    }
    let is_xpu = |number: u32| kinds[number as usize] == Kind::Xpu;
    let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
    let mut owners = BTreeMap::new();
    for &interface in interfaces {
        let mut distance = BTreeMap::from([(interface, 0_u32)]);
        let mut queue = VecDeque::from([interface]);
        let mut nearest: Vec<u32> = Vec::new();
        let mut best = u32::MAX;
        while let Some(number) = queue.pop_front() {
            let far = distance[&number];
            if far > best {
                break;
            }
            if is_xpu(number) {
                best = far;
                nearest.push(number);
                continue;
            }
            let next = around.get(&number).map_or(&[][..], Vec::as_slice);
            budget.take(next.len() as u64 + 1)?;
            for &other in next {
                distance.entry(other).or_insert_with(|| {
                    queue.push_back(other);
                    far + 1
                });
            }
        }
        let fewest = nearest.into_iter().min_by_key(|xpu| (taken.get(xpu).copied().unwrap_or(0), *xpu));
        let Some(xpu) = fewest else { continue };
        *taken.entry(xpu).or_default() += 1;
        owners.insert(interface, xpu);
    }
    Ok(owners)
}
