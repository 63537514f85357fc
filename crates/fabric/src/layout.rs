//! Layout of a fabric drawing: coordinates of nodes only.
//!
//! A fabric of several tiers of switches is drawn in rows, the highest at the top and the hosts at the
//! bottom, with the switches of their scale-up domains below, in an order that keeps pods together and reduces crossings (barycentre sweeps, Sugiyama, Tagawa
//! and Toda 1981). A fabric of one tier is drawn as a circle.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};

use weft_units::NodeId;

use crate::Fabric;

/// How nodes are arranged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrangement {
    /// One row per tier.
    Rows {
        /// Number of rows.
        rows: usize,
    },
    /// Switches in a circle, their hosts around it.
    Circle,
}

/// Coordinates of all nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// x and y of each node, from 0 to 1; x to the right, y downwards. Rounded to millionths, so that they
    /// are the same on every machine.
    pub points: Vec<(f64, f64)>,
    /// How they are arranged.
    pub arrangement: Arrangement,
}

/// Arranges the nodes of a fabric.
pub fn layout(fabric: &Fabric) -> Layout {
    let mut rows: BTreeMap<i16, Vec<NodeId>> = BTreeMap::new();
    for (id, node) in (0..).map(NodeId).zip(fabric.nodes()) {
        let row = if node.is_scale_up() { -1 } else { i16::from(node.tier) };
        rows.entry(row).or_default().push(id);
    }
    let tiers = rows.keys().filter(|&&tier| tier != 0).count();
    if tiers == 1 && fabric.switch_count() > 1 {
        return Layout { points: rounded(circle(fabric)), arrangement: Arrangement::Circle };
    }
    let rows: Vec<Vec<NodeId>> = rows.into_values().collect();
    Layout { arrangement: Arrangement::Rows { rows: rows.len() }, points: rounded(in_rows(fabric, rows)) }
}

fn rounded(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let round = |x: f64| (x * 1e6).round() / 1e6;
    points.iter_mut().for_each(|(x, y)| (*x, *y) = (round(*x), round(*y)));
    points
}

/// Positions in rows, the first at the bottom.
fn in_rows(fabric: &Fabric, mut rows: Vec<Vec<NodeId>>) -> Vec<(f64, f64)> {
    let mut points = vec![(0.5, 0.5); fabric.nodes().len()];
    let last = rows.len().saturating_sub(1);
    let mut row_of = vec![0; points.len()];
    for (row, nodes) in rows.iter().enumerate() {
        nodes.iter().for_each(|node| row_of[node.index()] = row);
        let y = if last == 0 { 0.5 } else { 1.0 - row as f64 / last as f64 };
        nodes.iter().for_each(|node| points[node.index()].1 = y);
        spread(nodes, &mut points);
    }
    // Upwards by neighbours below, downwards by neighbours above.
    for _ in 0..3 {
        for row in (1..=last).chain((0..last).rev()).chain(1..=last) {
            let centre =
                |node: NodeId| barycentre(fabric, node, &points, |other| row_of[other.index()] != row);
            let pod = |node: NodeId| (fabric.node(node).pod, domain(fabric, node));
            let mut keyed: Vec<_> = rows[row].iter().map(|&id| ((pod(id), centre(id), id), id)).collect();
            keyed.sort_unstable();
            rows[row] = keyed.into_iter().map(|(_, id)| id).collect();
            spread(&rows[row], &mut points);
        }
    }
    points
}

/// The switch of a host's scale-up domain: its hosts stay together.
fn domain(fabric: &Fabric, node: NodeId) -> Option<NodeId> {
    let link = fabric.scale_up_link(fabric.node(node).host?)?;
    Some(fabric.link(link).to)
}

/// Spaces the nodes of a row evenly, in order.
fn spread(nodes: &[NodeId], points: &mut [(f64, f64)]) {
    for (place, node) in nodes.iter().enumerate() {
        points[node.index()].0 = (place as f64 + 0.5) / nodes.len() as f64;
    }
}

/// The mean x of a node's neighbours for which `counts` holds, in millionths, so that rounding errors do not
/// affect the order; the node's own x if there are none.
fn barycentre(fabric: &Fabric, node: NodeId, points: &[(f64, f64)], counts: impl Fn(NodeId) -> bool) -> i64 {
    let neighbours = fabric.ports(node).iter().map(|&link| fabric.link(link).to).filter(|&to| counts(to));
    let (sum, number) = neighbours.fold((0.0, 0), |(sum, n), to| (sum + points[to.index()].0, n + 1));
    let x = if number == 0 { points[node.index()].0 } else { sum / f64::from(number) };
    (x * 1e6).round() as i64
}

/// Positions in a circle: the first switch on the left, then clockwise; hosts beyond their switch.
fn circle(fabric: &Fabric) -> Vec<(f64, f64)> {
    let mut points = vec![(0.5, 0.5); fabric.nodes().len()];
    let sector = TAU / fabric.switch_count() as f64;
    let at = |angle: f64, radius: f64| (0.5 + radius * angle.cos(), 0.5 + radius * angle.sin());
    let mut hosts_of: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for &host in fabric.hosts() {
        let switch = fabric.node(host).host.and_then(|id| fabric.edge_switch(id));
        hosts_of.entry(switch.unwrap_or(host)).or_default().push(host);
    }
    for (index, switch) in fabric.switches().enumerate() {
        let angle = PI + sector * index as f64;
        points[switch.index()] = at(angle, 0.3);
        let hosts = hosts_of.get(&switch).map_or(&[][..], Vec::as_slice);
        for (place, host) in hosts.iter().enumerate() {
            let aside = (place as f64 + 0.5) / hosts.len() as f64 - 0.5;
            points[host.index()] = at(angle + 0.8 * sector * aside, 0.5);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, LinkSpec, build};

    #[test]
    fn a_fat_tree_stands_in_four_rows_with_switches_above_their_hosts() {
        let spec = LinkSpec::default();
        let fabric = build::fat_tree(4, &spec, &spec).unwrap();
        let layout = layout(&fabric);
        assert_eq!(layout.arrangement, Arrangement::Rows { rows: 4 });
        let point = |name| layout.points[fabric.find(name).unwrap().index()];
        assert_eq!((point("h0").1, point("e0").1, point("c0").1), (1.0, 0.666_667, 0.0));
        assert!((point("e0").0 - (point("h0").0 + point("h1").0) / 2.0).abs() < 2e-6);
        for (left, right) in [("h14", "h15"), ("e0", "e1"), ("a6", "a7"), ("c0", "c1"), ("c2", "c3")] {
            assert!(point(left).0 < point(right).0, "{left} {right}");
        }
    }

    #[test]
    fn cables_of_a_shuffled_fabric_are_untangled() {
        let mut builder = FabricBuilder::new("shuffled");
        let spine = builder.add_switch("s", 2, None).unwrap();
        let hosts: Vec<_> = (0..6).map(|i| builder.add_host(format!("h{i}"), 0, None).unwrap()).collect();
        let leaves: Vec<_> = (0..3).map(|i| builder.add_switch(format!("l{i}"), 1, None).unwrap()).collect();
        for (host, &node) in hosts.iter().enumerate() {
            builder.connect(node, leaves[(host * 2) % 3], &LinkSpec::default()).unwrap();
        }
        for &leaf in &leaves {
            builder.connect(leaf, spine, &LinkSpec::default()).unwrap();
        }
        let fabric = builder.build().unwrap();
        let points = layout(&fabric).points;
        for a in fabric.hosts() {
            for b in fabric.hosts() {
                let leaf = |host: &NodeId| points[fabric.link(fabric.ports(*host)[0]).to.index()].0;
                let (apart, leaves) = (points[a.index()].0 - points[b.index()].0, leaf(a) - leaf(b));
                assert!(apart * leaves >= 0.0, "two host cables cross");
            }
        }
    }

    #[test]
    fn one_tier_is_a_circle_and_every_point_lies_within() {
        let spec = LinkSpec::default();
        for fabric in [
            build::ring(5, 2, &spec, &spec),
            build::mesh(3, 1, &spec, &spec),
            build::dumbbell(3, 3, &spec, &spec),
            build::spine_leaf(2, 3, 2, &spec, &spec),
            build::spine_leaf(1, 1, 1, &spec, &spec),
        ] {
            let fabric = fabric.unwrap();
            let layout = layout(&fabric);
            let tiers = fabric.nodes().iter().map(|node| node.tier).max();
            assert_eq!(layout.arrangement == Arrangement::Circle, tiers == Some(1), "{}", fabric.name());
            for (x, y) in &layout.points {
                assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y), "{x} {y}");
            }
            let mut distinct: Vec<_> =
                layout.points.iter().map(|(x, y)| ((x * 1e9) as i64, (y * 1e9) as i64)).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), layout.points.len(), "{}: no two nodes on one spot", fabric.name());
        }
    }
}
