//! Fat-trees of htsim (`.topo`, `datacenter/fat_tree_topology.cpp` of csg-htsim): counts for each tier, from which the
//! nodes and cables follow.
//!
//! ```text
//! Nodes 1024
//! Tiers 3                     # 2 or 3
//! Podsize 64                  # hosts of a pod
//!
//! Tier 0                      # 0: switches of hosts, 1: above them, 2: cores
//! Downlink_speed_Gbps 100
//! Radix_Down 8
//! Radix_Up 8                  # not in the top tier
//! Downlink_Latency_ns 1000
//! Switch_Latency_ns 0         # optional; also Queue_Up and Queue_Down in bytes, Bundle, Oversubscribed
//! ```
//!
//! As in htsim, words after a number on its line have no effect, nor has an unknown line before the first `Tier` or a
//! tier above the top one. A number that htsim would cut short (`100.5`, `1e3`) is refused.

mod plan;
mod text;
mod tier;

use self::plan::Plan;
use self::text::Text;
use self::tier::Tier;
use super::notes::Notes;
use super::{ErrorKind, ReadError};
use crate::{FabricBuilder, LinkSpec};
use weft_units::plural;

/// The fabric of a file, ready to be built. Names, numbers and cables are those of [`crate::build::fat_tree`] with three
/// tiers and of [`crate::build::spine_leaf`] with two. A switch's latency is added to the delay of the links to it.
pub(super) fn builder(
    text: &str,
    name: &str,
    defaults: &LinkSpec,
) -> Result<(FabricBuilder, Notes), ReadError> {
    let mut read = Text::read(text)?;
    let (hosts, per_pod) = (read.counted(0)?, read.counted(2)?);
    let count = match read.counted(1)? {
        2 => 2,
        3 => 3,
        other => {
            let why = format!("`Tiers` is {other}; expected 2 or 3");
            return Err(read.error(ErrorKind::Syntax(why), read.head[1].byte));
        }
    };
    if count == 2 {
        read.note_above_two();
    }
    let tiers: Vec<Tier> = (0..count).map(|number| read.tier(number, count)).collect::<Result<_, _>>()?;
    for (number, pair) in tiers.windows(2).enumerate() {
        read.check_oversubscription(number, &pair[0], &pair[1])?;
    }
    let pods = read.divide(hosts, "Nodes", per_pod, "Podsize", read.head[0].byte)?;
    if count == 2 && pods != 1 {
        let why = format!("`Podsize` is {per_pod}; with two tiers, all {hosts} hosts are in one pod");
        return Err(read.error(ErrorKind::Syntax(why), read.head[2].byte));
    }
    if tiers[0].bundle != 1 {
        let why = "`Bundle` of tier 0 must be 1: a host has one link".to_owned();
        return Err(read.error(ErrorKind::Syntax(why), read.tiers[0][7].byte));
    }
    let lowest_per_pod =
        read.divide(per_pod, "Podsize", tiers[0].down, "Radix_Down` of `Tier 0", read.head[2].byte)?;
    let up_byte = |tier: usize| read.tiers[tier][2].byte;
    let bundle = "Bundle` of the tier above, `Bundle";
    let middle_per_pod = read.divide(tiers[0].up, "Radix_Up", tiers[1].bundle, bundle, up_byte(0))?;
    let reason = format!("{} below, with `Bundle` {}", plural(lowest_per_pod, "switch"), tiers[1].bundle);
    read.expect(1, 1, lowest_per_pod.saturating_mul(tiers[1].bundle), &reason)?;
    let cores_each = match tiers.get(2) {
        None => 0,
        Some(top) => {
            let reason = format!("{pods} pods, with `Bundle` {}", top.bundle);
            read.expect(2, 1, pods.saturating_mul(top.bundle), &reason)?;
            read.divide(tiers[1].up, "Radix_Up", top.bundle, bundle, up_byte(1))?
        }
    };
    let plan = Plan { pods, per_pod, lowest_per_pod, middle_per_pod, cores_each, tiers: &tiers, defaults };
    Ok((plan.build(name)?, read.notes))
}
