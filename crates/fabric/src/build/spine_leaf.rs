//! Spine and leaf: two tiers, every leaf connected to every spine.

use weft_units::Rate;

use super::parts::{add_hosts, add_switches, at_least, fits};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec, Shape};

/// `leaves` leaf switches of `hosts_per_leaf` hosts each, every leaf connected to all `spines`.
///
/// Nodes: `h0..`, `l0..`, `s0..` (leaves tier 1, spines tier 2). Cables: hosts, then leaves to
/// spines, in order of leaf and then spine.
///
/// # Errors
/// [`FabricError::TooFew`], [`FabricError::TooMany`], and those of [`FabricBuilder::connect`].
pub fn spine_leaf(
    spines: u32,
    leaves: u32,
    hosts_per_leaf: u32,
    host: &LinkSpec,
    fabric: &LinkSpec,
) -> Result<Fabric, FabricError> {
    spine_leaf_with_tors(spines, leaves, hosts_per_leaf, 1, host, fabric)
}

/// The same with `tors` leaf switches for each host, 2 for a dual ToR (Alibaba HPN, SIGCOMM 2024): each so many leaves, in order,
/// have the same `hosts_per_leaf` hosts, and a host one link to each of its leaves, in order.
///
/// # Errors
/// As [`spine_leaf`], and [`FabricError::UnevenTors`].
pub fn spine_leaf_with_tors(
    spines: u32,
    leaves: u32,
    hosts_per_leaf: u32,
    tors: u32,
    host: &LinkSpec,
    fabric: &LinkSpec,
) -> Result<Fabric, FabricError> {
    at_least("spine-leaf", "spine", 1, spines)?;
    at_least("spine-leaf", "leaf", 1, leaves)?;
    at_least("spine-leaf", "host per leaf", 1, hosts_per_leaf)?;
    at_least("spine-leaf", "leaf per host", 1, tors)?;
    if !leaves.is_multiple_of(tors) {
        return Err(FabricError::UnevenTors { leaves, tors });
    }
    let (wide_spines, wide_leaves) = (u64::from(spines), u64::from(leaves));
    let host_links = wide_leaves * u64::from(hosts_per_leaf);
    let hosts = host_links / u64::from(tors);
    fits(
        hosts.checked_add(wide_leaves + wide_spines),
        host_links.checked_add(wide_leaves.saturating_mul(wide_spines)),
    )?;
    let of_tors = if tors > 1 { format!(", {tors} leaves per host") } else { String::new() };
    let mut builder = FabricBuilder::new(format!("spine-leaf {spines}-{leaves}-{hosts_per_leaf}{of_tors}"));
    let hosts = add_hosts(&mut builder, hosts as u32, |_| None)?;
    let leaves = add_switches(&mut builder, 'l', leaves, 1, |_| None)?;
    let spines = add_switches(&mut builder, 's', spines, 2, |_| None)?;
    for (hosts, leaves) in hosts.chunks(hosts_per_leaf as usize).zip(leaves.chunks(tors as usize)) {
        for &node in hosts {
            for &leaf in leaves {
                builder.connect(node, leaf, host)?;
            }
        }
    }
    for &leaf in &leaves {
        for &spine in &spines {
            builder.connect(leaf, spine, fabric)?;
        }
    }
    if tors == 1 { builder.build_as(Shape::SpineLeaf) } else { builder.build() }
}

/// The rate of each uplink at which a switch with `hosts` hosts of `host` and `uplinks` uplinks is
/// oversubscribed by `ratio` to 1, rounded down to a bit per second.
///
/// # Errors
/// [`FabricError::Oversubscription`] for a ratio that is not above 0 or not finite, and
/// [`FabricError::TooFew`] without uplinks.
pub fn oversubscribed_rate(host: Rate, hosts: u32, uplinks: u32, ratio: f64) -> Result<Rate, FabricError> {
    at_least("switch with oversubscribed uplinks", "uplink", 1, uplinks)?;
    if !(ratio.is_finite() && ratio > 0.0) {
        return Err(FabricError::Oversubscription(ratio.to_string()));
    }
    Ok(Rate::from_bps((host.bps() as f64 * f64::from(hosts) / (f64::from(uplinks) * ratio)) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_leaf_is_joined_to_every_spine() {
        let fabric = spine_leaf(4, 3, 20, &LinkSpec::default(), &LinkSpec::default()).unwrap();
        assert_eq!((fabric.host_count(), fabric.switch_count(), fabric.cable_count()), (60, 7, 72));
        for leaf in 0..3 {
            let leaf = fabric.find(&format!("l{leaf}")).unwrap();
            assert_eq!(fabric.ports(leaf).len(), 24);
            for spine in 0..4 {
                let link = fabric.link_between(leaf, fabric.find(&format!("s{spine}")).unwrap()).unwrap();
                assert_eq!(fabric.link(link).from_port.0, 20 + spine);
            }
        }
        assert_eq!(fabric.link_label(weft_units::LinkId(120)), "l0->s0");
        assert_eq!(fabric.link_label(weft_units::LinkId(122)), "l0->s1");
    }

    #[test]
    fn with_dual_tors_each_pair_of_leaves_has_the_same_hosts() {
        let link = LinkSpec::default();
        let fabric = spine_leaf_with_tors(4, 6, 20, 2, &link, &link).unwrap();
        assert_eq!((fabric.host_count(), fabric.switch_count(), fabric.cable_count()), (60, 10, 120 + 24));
        for (host, leaves) in [("h0", ["l0", "l1"]), ("h19", ["l0", "l1"]), ("h20", ["l2", "l3"])] {
            let links = fabric.ports(fabric.find(host).unwrap()).iter();
            let names: Vec<_> = links.map(|&link| fabric.node(fabric.link(link).to).name.clone()).collect();
            assert_eq!(names, leaves);
        }
        let odd = spine_leaf_with_tors(4, 5, 20, 2, &link, &link).unwrap_err().to_string();
        assert_eq!(
            odd,
            "5 leaves cannot be divided among hosts with 2 leaves each: expected a multiple of 2"
        );
        let none = spine_leaf_with_tors(4, 5, 20, 0, &link, &link);
        assert!(matches!(none, Err(FabricError::TooFew { given: 0, .. })));
    }

    #[test]
    fn oversubscription_sets_the_uplinks() {
        let rate = |ratio| oversubscribed_rate(Rate::from_gbps(10), 32, 4, ratio);
        assert_eq!(rate(2.0), Ok(Rate::from_gbps(40)));
        assert_eq!(rate(1.0), Ok(Rate::from_gbps(80)));
        for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(rate(ratio), Err(FabricError::Oversubscription(_))), "{ratio}");
        }
    }

    #[test]
    fn nothing_of_a_kind_is_too_few_and_too_many_are_refused() {
        let link = LinkSpec::default();
        for (spines, leaves, hosts) in [(0, 1, 1), (1, 0, 1), (1, 1, 0)] {
            let error = spine_leaf(spines, leaves, hosts, &link, &link).unwrap_err();
            assert!(matches!(error, FabricError::TooFew { given: 0, .. }), "{error}");
        }
        for (spines, leaves, hosts) in [(u32::MAX, u32::MAX, u32::MAX), (1, 1 << 20, 1), (3_000, 3_000, 1)] {
            let error = spine_leaf(spines, leaves, hosts, &link, &link).unwrap_err();
            assert!(matches!(error, FabricError::TooMany { .. }), "{error}");
        }
        let error = spine_leaf(1, 1, 70_000, &link, &link).unwrap_err();
        assert!(matches!(error, FabricError::TooManyPorts { .. }), "{error}");
    }
}
