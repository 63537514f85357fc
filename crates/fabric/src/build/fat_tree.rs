//! The k-ary fat-tree (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008, section 3).

use super::parts::{add_hosts, add_switches, at_least, connect_hosts, fits};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec, Shape};

/// A fat-tree of switches with `k` ports: k pods of k/2 edge and k/2 aggregation switches, (k/2)² cores, k³/4
/// hosts. Hosts are connected by links like `host`, switches by links like `fabric`.
///
/// Nodes: `h0..`, `e0..`, `a0..`, `c0..`; pod p holds edges and aggregations `p k/2 ..`. Cables:
/// hosts; then edges to the aggregations of their pod; then aggregation j of each pod to the
/// cores `j k/2 .. (j+1) k/2`.
///
/// # Errors
/// [`FabricError::OddPorts`], [`FabricError::TooFew`] for k = 0, [`FabricError::TooMany`], and
/// those of [`FabricBuilder::connect`].
pub fn fat_tree(k: u32, host: &LinkSpec, fabric: &LinkSpec) -> Result<Fabric, FabricError> {
    at_least("fat-tree", "port a switch (k)", 2, k)?;
    if k % 2 == 1 {
        return Err(FabricError::OddPorts { k });
    }
    let half = k / 2;
    let cubed = u64::from(k).checked_pow(3);
    let switches = u64::from(k).checked_pow(2).and_then(|squared| squared.checked_mul(5));
    fits(
        cubed.zip(switches).and_then(|(cubed, switches)| (cubed / 4).checked_add(switches / 4)),
        cubed.and_then(|cubed| (cubed / 4).checked_mul(3)),
    )?;
    let mut builder = FabricBuilder::new(format!("fat-tree k={k}"));
    let hosts = add_hosts(&mut builder, k * half * half, |i| Some(i / (half * half)))?;
    let edges = add_switches(&mut builder, 'e', k * half, 1, |i| Some(i / half))?;
    let aggregations = add_switches(&mut builder, 'a', k * half, 2, |i| Some(i / half))?;
    let cores = add_switches(&mut builder, 'c', half * half, 3, |_| None)?;
    let half = half as usize;
    connect_hosts(&mut builder, &hosts, &edges, half as u32, host)?;
    for (edges, aggregations) in edges.chunks(half).zip(aggregations.chunks(half)) {
        for &edge in edges {
            for &aggregation in aggregations {
                builder.connect(edge, aggregation, fabric)?;
            }
        }
    }
    for (index, &aggregation) in aggregations.iter().enumerate() {
        let first = index % half * half;
        for &core in &cores[first..first + half] {
            builder.connect(aggregation, core, fabric)?;
        }
    }
    builder.build_as(Shape::FatTree)
}

/// [`fat_tree`] with external links: `per_core` external routers on each core, over links like `external`.
///
/// The nodes, ports and cables of the fat-tree keep their numbers; the routers, hosts `r0..` in order of the
/// cores, and their cables come last.
///
/// # Errors
/// Those of [`fat_tree`].
pub fn fat_tree_with_routers(
    k: u32,
    per_core: u32,
    host: &LinkSpec,
    fabric: &LinkSpec,
    external: &LinkSpec,
) -> Result<Fabric, FabricError> {
    let tree = fat_tree(k, host, fabric)?;
    let routers = u64::from(per_core) * u64::from(k / 2 * (k / 2));
    fits(Some(tree.nodes().len() as u64 + routers), Some(tree.cable_count() as u64 + routers))?;
    let mut builder = tree.edit();
    builder.rename(format!("fat-tree k={k}, {per_core} external links a core"));
    let cores: Vec<_> = tree.switches().filter(|&id| tree.node(id).tier == 3).collect();
    for (index, &core) in (0..).zip(&cores) {
        for router in index * per_core..(index + 1) * per_core {
            let router = builder.add_host(format!("r{router}"), 0, None)?;
            builder.connect(router, core, external)?;
        }
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_paper() {
        for (k, hosts, switches) in [(2, 2, 5), (4, 16, 20), (6, 54, 45), (8, 128, 80), (16, 1024, 320)] {
            let fabric = fat_tree(k, &LinkSpec::default(), &LinkSpec::default()).unwrap();
            assert_eq!((fabric.host_count(), fabric.switch_count()), (hosts, switches), "k = {k}");
            assert_eq!(fabric.cable_count(), 3 * hosts);
            assert_eq!(fabric.shape(), Shape::FatTree);
            for switch in fabric.switches() {
                assert_eq!(fabric.ports(switch).len(), k as usize, "every switch uses its k ports");
            }
        }
    }

    #[test]
    fn nodes_and_cables_come_in_the_promised_order() {
        let fabric = fat_tree(4, &LinkSpec::default(), &LinkSpec::default()).unwrap();
        let label = |cable: u32| fabric.link_label(weft_units::LinkId(2 * cable));
        for (cable, expected) in [
            (0, "h0->e0"),
            (2, "h2->e1"),
            (15, "h15->e7"),
            (16, "e0->a0"),
            (17, "e0->a1"),
            (20, "e2->a2"),
            (32, "a0->c0"),
            (33, "a0->c1"),
            (34, "a1->c2"),
            (36, "a2->c0"),
            (47, "a7->c3"),
        ] {
            assert_eq!(label(cable), expected, "cable {cable}");
        }
        assert_eq!(fabric.node_named("e0").map(|id| id.0), Some(16));
        assert_eq!(fabric.node(fabric.find("e5").unwrap()).pod, Some(2));
    }

    #[test]
    fn routers_hang_on_cores_and_change_no_number() {
        let link = LinkSpec::default();
        let plain = fat_tree(4, &link, &link).unwrap();
        let fabric = fat_tree_with_routers(4, 2, &link, &link, &link).unwrap();
        assert_eq!(fabric.nodes()[..36], *plain.nodes());
        assert_eq!(fabric.links()[..96], *plain.links());
        let labels: Vec<_> = (48..56).map(|cable| fabric.link_label(weft_units::LinkId(2 * cable))).collect();
        assert_eq!(labels, ["r0->c0", "r1->c0", "r2->c1", "r3->c1", "r4->c2", "r5->c2", "r6->c3", "r7->c3"]);
        assert_eq!(fat_tree_with_routers(4, 0, &link, &link, &link).unwrap().links(), plain.links());
        let error = fat_tree_with_routers(4, u32::MAX, &link, &link, &link).unwrap_err();
        assert!(matches!(error, FabricError::TooMany { .. }), "{error}");
    }

    #[test]
    fn an_odd_or_impossible_k_is_refused() {
        let link = LinkSpec::default();
        assert_eq!(fat_tree(5, &link, &link).unwrap_err(), FabricError::OddPorts { k: 5 });
        assert!(matches!(fat_tree(0, &link, &link).unwrap_err(), FabricError::TooFew { .. }));
        for k in [1_000, 2_000_000, u32::MAX - 1] {
            assert!(matches!(fat_tree(k, &link, &link).unwrap_err(), FabricError::TooMany { .. }), "{k}");
        }
    }
}
