//! Pods, planes and spines: the data-centre fabric that Facebook described for Altoona
//! (engineering.fb.com, 14 November 2014).

use weft_units::plural;

use super::parts::{add_hosts, add_switches, at_least, connect_hosts, fits};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec, Shape};

/// The counts of a three-layer fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreeLayer {
    /// Pods.
    pub pods: u32,
    /// Top-of-rack switches in each pod.
    pub tors_per_pod: u32,
    /// Spine planes, and so aggregation switches in each pod: number i of a pod joins plane i.
    pub planes: u32,
    /// Spines in each plane.
    pub spines_per_plane: u32,
    /// Hosts on each top-of-rack switch.
    pub hosts_per_tor: u32,
}

/// Every ToR is connected to every aggregation switch of its pod by links like `pod`, and aggregation switch
/// i of a pod to every spine of plane i by links like `spine`. There are `planes * spines_per_plane` paths
/// between hosts of different pods, `planes` within a pod.
///
/// Nodes: `h0..`, `t0..` (tier 1), `a0..` (tier 2, pod by pod), `s0..` (tier 3, plane by plane).
/// Cables: hosts; then ToRs to the aggregation switches of their pod; then aggregation switches to
/// spines.
///
/// # Errors
/// [`FabricError::TooFew`], [`FabricError::TooMany`], and those of [`FabricBuilder::connect`].
pub fn three_layer(
    counts: &ThreeLayer,
    host: &LinkSpec,
    pod: &LinkSpec,
    spine: &LinkSpec,
) -> Result<Fabric, FabricError> {
    let &ThreeLayer { pods, tors_per_pod, planes, spines_per_plane, hosts_per_tor } = counts;
    for (what, given) in [
        ("pod", pods),
        ("ToR per pod", tors_per_pod),
        ("plane", planes),
        ("spine per plane", spines_per_plane),
        ("host per ToR", hosts_per_tor),
    ] {
        at_least("three-layer fabric", what, 1, given)?;
    }
    let wide = u128::from;
    let tors = wide(pods) * wide(tors_per_pod);
    let aggregations = wide(pods) * wide(planes);
    let spines = wide(planes) * wide(spines_per_plane);
    let hosts = tors * wide(hosts_per_tor);
    fits(
        u64::try_from(hosts + tors + aggregations + spines).ok(),
        hosts
            .checked_add(tors * wide(planes) + aggregations * wide(spines_per_plane))
            .and_then(|cables| cables.try_into().ok()),
    )?;
    let (tors, aggregations, spines) = (tors as u32, aggregations as u32, spines as u32);
    let mut builder = FabricBuilder::new(format!(
        "three-layer {}, {}, {}, {}, {}",
        plural(pods, "pod"),
        plural(tors_per_pod, "ToR"),
        plural(planes, "plane"),
        plural(spines_per_plane, "spine"),
        plural(hosts_per_tor, "host")
    ));
    let hosts = add_hosts(&mut builder, hosts as u32, |i| Some(i / hosts_per_tor / tors_per_pod))?;
    let tors = add_switches(&mut builder, 't', tors, 1, |i| Some(i / tors_per_pod))?;
    let aggregations = add_switches(&mut builder, 'a', aggregations, 2, |i| Some(i / planes))?;
    let spines = add_switches(&mut builder, 's', spines, 3, |_| None)?;
    connect_hosts(&mut builder, &hosts, &tors, hosts_per_tor, host)?;
    for (tors, aggregations) in tors.chunks(tors_per_pod as usize).zip(aggregations.chunks(planes as usize)) {
        for &tor in tors {
            for &aggregation in aggregations {
                builder.connect(tor, aggregation, pod)?;
            }
        }
    }
    for aggregations in aggregations.chunks(planes as usize) {
        for (&aggregation, plane) in aggregations.iter().zip(spines.chunks(spines_per_plane as usize)) {
            for &switch in plane {
                builder.connect(aggregation, switch, spine)?;
            }
        }
    }
    builder.build_as(Shape::ThreeLayer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALTOONA: ThreeLayer =
        ThreeLayer { pods: 3, tors_per_pod: 4, planes: 2, spines_per_plane: 3, hosts_per_tor: 5 };

    #[test]
    fn each_plane_joins_its_aggregation_switch_of_every_pod() {
        let spec = LinkSpec::default();
        let fabric = three_layer(&ALTOONA, &spec, &spec, &spec).unwrap();
        assert_eq!((fabric.host_count(), fabric.switch_count()), (60, 12 + 6 + 6));
        assert_eq!(fabric.cable_count(), 60 + 24 + 18);
        for (name, ports) in [("t0", 7), ("a1", 4 + 3), ("s0", 3)] {
            assert_eq!(fabric.ports(fabric.find(name).unwrap()).len(), ports, "{name}");
        }
        for (cable, label) in
            [(59, "h59->t11"), (60, "t0->a0"), (61, "t0->a1"), (68, "t4->a2"), (84, "a0->s0"), (87, "a1->s3")]
        {
            assert_eq!(fabric.link_label(weft_units::LinkId(2 * cable)), label);
        }
        assert_eq!(fabric.node(fabric.find("h20").unwrap()).pod, Some(1));
    }

    #[test]
    fn none_of_the_counts_may_be_zero_or_absurd() {
        let spec = LinkSpec::default();
        for counts in [
            ThreeLayer { pods: 0, ..ALTOONA },
            ThreeLayer { tors_per_pod: 0, ..ALTOONA },
            ThreeLayer { planes: 0, ..ALTOONA },
            ThreeLayer { spines_per_plane: 0, ..ALTOONA },
            ThreeLayer { hosts_per_tor: 0, ..ALTOONA },
        ] {
            let error = three_layer(&counts, &spec, &spec, &spec).unwrap_err();
            assert!(matches!(error, FabricError::TooFew { .. }), "{error}");
        }
        let most = u32::MAX;
        let absurd = ThreeLayer {
            pods: most,
            tors_per_pod: most,
            planes: most,
            spines_per_plane: most,
            hosts_per_tor: most,
        };
        let error = three_layer(&absurd, &spec, &spec, &spec).unwrap_err();
        assert!(matches!(error, FabricError::TooMany { .. }), "{error}");
    }
}
