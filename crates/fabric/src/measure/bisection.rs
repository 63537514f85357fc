//! The bisection bandwidth: the capacity of the narrowest cut between two halves of the hosts.
//!
//! Finding the narrowest halving is NP-hard, so the result includes the method. The capacity of one halving
//! is exact: the maximum flow from one half to the other.

use std::fmt;

use weft_units::{NodeId, Rate};

use super::capacity::host_capacity;
use super::max_flow::{Network, UNLIMITED};
use crate::{EqualCost, Fabric, Shape};

/// Every halving is tried for up to this many hosts.
const TRY_ALL: usize = 14;
/// Only a few halvings are tried from this many cables on.
const LARGE: usize = 10_000;

/// How a bisection bandwidth was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BisectionMethod {
    /// In closed form, exact: the fabric is regular, so any halving carries at least each host's
    /// share of its narrowest tier, and a halving along that tier carries no more.
    TierCut,
    /// Exact, by trying every halving.
    Exhaustive {
        /// Number of halvings.
        halvings: u64,
    },
    /// By trying halvings that are likely to be narrow (in order of hosts, around hosts, along the
    /// second eigenvector of the graph): an upper bound.
    Search {
        /// Number of halvings.
        halvings: u64,
    },
}

/// The bisection bandwidth of a fabric.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bisection {
    /// Capacity from one half of the hosts to the other, in the direction with less.
    pub rate: Rate,
    /// The bisection bandwidth as a fraction of the capacity of half of the hosts; 1: full bisection bandwidth.
    pub share: f64,
    /// How it was found.
    pub method: BisectionMethod,
}

impl BisectionMethod {
    /// Whether the rate is exact, not only an upper bound.
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Search { .. })
    }
}

impl fmt::Display for BisectionMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TierCut => f.write_str("exact, the narrowest tier of a regular fabric"),
            Self::Exhaustive { halvings: 1 } => f.write_str("exact, the only halving"),
            Self::Exhaustive { halvings } => write!(f, "exact, the narrowest of all {halvings} halvings"),
            Self::Search { halvings } => {
                write!(f, "an upper bound, the narrowest of {halvings} likely halvings")
            }
        }
    }
}

/// The bisection bandwidth over the cables that are up when a run starts.
pub fn bisection(fabric: &Fabric) -> Bisection {
    let hosts = fabric.host_count();
    let (rate, method) = match tier_cut(fabric) {
        Some(rate) => (rate, BisectionMethod::TierCut),
        None if hosts <= TRY_ALL => {
            let halves = all_halves(hosts);
            let halvings = halves.len() as u64;
            (narrowest(fabric, halves), BisectionMethod::Exhaustive { halvings })
        }
        None => {
            let halves = likely_halves(fabric);
            let halvings = halves.len() as u64;
            (narrowest(fabric, halves), BisectionMethod::Search { halvings })
        }
    };
    let half = host_capacity(fabric).bps() as f64 / 2.0;
    Bisection { rate: Rate::from_bps(rate), share: if half > 0.0 { rate as f64 / half } else { 0.0 }, method }
}

/// The closed form for regular fabrics.
///
/// Each host gets at least c = min(its own rate, uplinks of a ToR / hosts of a ToR, uplinks of a
/// pod / hosts of a pod) for any traffic in which each host sends to one other, since all uplinks of
/// a switch share its traffic evenly; so any halving of n hosts carries n/2 c. A halving along the
/// tier where c is attained carries no more, if that tier can be halved.
fn tier_cut(fabric: &Fabric) -> Option<u64> {
    let hosts = fabric.host_count() as u64;
    if !hosts.is_multiple_of(2) {
        return None;
    }
    let rate_up = |node: NodeId| -> u64 {
        let links = fabric.ports(node).iter().map(|&id| fabric.link(id));
        links.filter(|link| fabric.node(link.to).tier > fabric.node(node).tier).map(|l| l.rate.bps()).sum()
    };
    let host_rate = rate_up(fabric.hosts()[0]);
    let of_tier = |tier| fabric.switches().filter(move |&switch| fabric.node(switch).tier == tier);
    let full = u128::from(hosts / 2) * u128::from(host_rate);
    // (parts of the tier, capacity out of one part)
    let tors = (of_tier(1).count() as u64, of_tier(1).next().map_or(0, rate_up));
    let mut tiers = Vec::new();
    match fabric.shape() {
        Shape::SpineLeaf => tiers.push(tors),
        Shape::FatTree | Shape::ThreeLayer => {
            let pods = fabric.nodes().iter().filter_map(|node| node.pod).max().map_or(0, |last| last + 1);
            let of_pod = of_tier(2).filter(|&switch| fabric.node(switch).pod == Some(0));
            tiers.extend([tors, (u64::from(pods), of_pod.map(rate_up).sum())]);
        }
        Shape::Dumbbell => {
            let right = fabric.edge_switch(fabric.node(fabric.hosts()[hosts as usize / 2]).host?);
            let left = fabric.edge_switch(fabric.node(fabric.hosts()[hosts as usize / 2 - 1]).host?);
            let bottleneck = fabric.link(fabric.link_between(left?, right?)?);
            return Some(full.min(u128::from(bottleneck.rate.bps())) as u64);
        }
        Shape::Ring | Shape::Mesh | Shape::Custom => return None,
    }
    let (mut least, mut halves) = (full, true);
    for (parts, out) in tiers.into_iter().filter(|&(parts, _)| parts > 1) {
        let across = u128::from(parts) * u128::from(out);
        if across < 2 * least {
            (least, halves) = (across / 2, parts.is_multiple_of(2));
        }
    }
    halves.then(|| u64::try_from(least).unwrap_or(u64::MAX))
}

/// Every halving of `hosts` hosts once, as membership in the half without the last host.
fn all_halves(hosts: usize) -> Vec<Vec<bool>> {
    let half = hosts / 2;
    let chosen = |set: u32| (0..hosts).map(|host| set >> host & 1 == 1).collect();
    let without_last = if hosts.is_multiple_of(2) { hosts.saturating_sub(1) } else { hosts };
    (0..1_u32 << without_last).filter(|set| set.count_ones() as usize == half).map(chosen).collect()
}

/// Halvings that are likely to be narrow.
fn likely_halves(fabric: &Fabric) -> Vec<Vec<bool>> {
    let hosts = fabric.host_count();
    let mut orders: Vec<Vec<f64>> = vec![
        (0..hosts).map(|host| host as f64).collect(),
        (0..hosts).map(|host| (host % 2) as f64).collect(),
        second_eigenvector(fabric),
    ];
    let paths = EqualCost::compute(fabric);
    let id = |host: usize| weft_units::HostId(host as u32);
    let around = if fabric.cable_count() < LARGE { 16.min(hosts) } else { 1 };
    for seed in (0..around).map(|i| i * hosts / around) {
        let distance = |host| paths.distance(id(seed), id(host)).map_or(f64::MAX, f64::from);
        orders.push((0..hosts).map(distance).collect());
    }
    let half = |order: Vec<f64>| {
        let mut sorted: Vec<usize> = (0..hosts).collect();
        sorted.sort_by(|&a, &b| order[a].total_cmp(&order[b]).then(a.cmp(&b)));
        let mut chosen = vec![false; hosts];
        sorted[..hosts / 2].iter().for_each(|&host| chosen[host] = true);
        chosen
    };
    orders.into_iter().map(half).collect()
}

/// The capacity of the narrowest of some halvings.
fn narrowest(fabric: &Fabric, halves: Vec<Vec<bool>>) -> u64 {
    let nodes = fabric.nodes().len();
    let (source, sink) = (nodes, nodes + 1);
    // Every host is merged with its half, so none forwards for others.
    let mut network = Network::new(nodes + 2);
    for cable in fabric.links().chunks(2).filter(|cable| cable[0].up) {
        network.join(cable[0].from.index(), cable[0].to.index(), cable[0].rate.bps(), cable[1].rate.bps());
    }
    let flow = |chosen: &[bool], from: usize, to: usize| {
        let mut network = network.clone();
        for (host, &chosen) in fabric.hosts().iter().zip(chosen) {
            if chosen {
                network.join(source, host.index(), UNLIMITED, UNLIMITED);
            } else {
                network.join(host.index(), sink, UNLIMITED, UNLIMITED);
            }
        }
        network.max_flow(from, to)
    };
    let symmetric = fabric.links().chunks(2).all(|cable| cable[0].rate == cable[1].rate);
    let both = |chosen: Vec<bool>| {
        let forth = flow(&chosen, source, sink);
        if symmetric { forth } else { forth.min(flow(&chosen, sink, source)) }
    };
    halves.into_iter().map(both).min().unwrap_or(0)
}

/// The entry of each host in the eigenvector of the second-smallest eigenvalue of the graph's Laplacian
/// (Fiedler 1973), which sorts nodes along the graph's longest extent; by power iteration, which need not
/// converge.
fn second_eigenvector(fabric: &Fabric) -> Vec<f64> {
    let count = fabric.nodes().len();
    let fastest = fabric.links().iter().map(|link| link.rate.bps()).max().unwrap_or(1) as f64;
    let edges: Vec<(usize, usize, f64)> = fabric
        .links()
        .iter()
        .filter(|link| link.up)
        .map(|link| (link.from.index(), link.to.index(), link.rate.bps() as f64 / fastest))
        .collect();
    let mut degrees = vec![0.0; count];
    edges.iter().for_each(|&(from, _, weight)| degrees[from] += weight);
    let shift = 2.0 * degrees.iter().copied().fold(0.0, f64::max) + 1.0;
    let mut vector: Vec<f64> = (0..count).map(|node| node as f64 + (node % 7) as f64).collect();
    for _ in 0..300 {
        let mean = vector.iter().sum::<f64>() / count as f64;
        vector.iter_mut().for_each(|entry| *entry -= mean);
        let length = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        vector.iter_mut().for_each(|entry| *entry /= length);
        let mut next: Vec<f64> =
            vector.iter().zip(&degrees).map(|(entry, degree)| entry * (shift - degree)).collect();
        edges.iter().for_each(|&(from, to, weight)| next[from] += weight * vector[to]);
        vector = next;
    }
    fabric.hosts().iter().map(|host| vector[host.index()]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{LinkSpec, build};

    fn gbps(rate: u64) -> LinkSpec {
        LinkSpec::default().with_rate(Rate::from_gbps(rate))
    }

    #[test]
    fn regular_fabrics_have_their_known_bisection() {
        let counts =
            build::ThreeLayer { pods: 4, tors_per_pod: 2, planes: 2, spines_per_plane: 2, hosts_per_tor: 8 };
        for (fabric, expected, share) in [
            (build::fat_tree(4, &gbps(1), &gbps(1)), 8, 1.0),
            (build::fat_tree(16, &gbps(10), &gbps(10)), 5_120, 1.0),
            (build::spine_leaf(4, 4, 20, &gbps(1), &gbps(1)), 8, 0.2),
            (build::spine_leaf(4, 4, 20, &gbps(1), &gbps(10)), 40, 1.0),
            (build::three_layer(&counts, &gbps(1), &gbps(4), &gbps(2)), 16, 0.5),
            (build::dumbbell(5, 5, &gbps(1), &gbps(2)), 2, 0.4),
            (build::spine_leaf(2, 1, 4, &gbps(1), &gbps(1)), 2, 1.0),
        ] {
            let fabric = fabric.unwrap();
            let found = bisection(&fabric);
            assert_eq!(found.rate, Rate::from_gbps(expected), "{}", fabric.name());
            assert_eq!(found.method, BisectionMethod::TierCut, "{}", fabric.name());
            assert!((found.share - share).abs() < 1e-12, "{} {}", fabric.name(), found.share);
            let searched = bisection(&fabric.edit().build_as(Shape::Custom).unwrap());
            assert_eq!(searched.rate, found.rate, "{}: the search finds the same", fabric.name());
        }
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_narrowest_of_all_halvings(
            (a, b, hosts) in (1..4_u32, 1..4_u32, 1..4_u32),
            (planes, spines) in (1..3_u32, 1..3_u32),
            (slow, middle, fast) in (1..6_u64, 1..6_u64, 1..6_u64),
        ) {
            let counts = build::ThreeLayer {
                pods: a,
                tors_per_pod: b,
                planes,
                spines_per_plane: spines,
                hosts_per_tor: hosts,
            };
            let (slow, middle, fast) = (gbps(slow), gbps(middle), gbps(fast));
            for fabric in [
                build::three_layer(&counts, &slow, &middle, &fast),
                build::spine_leaf(a, b, hosts, &slow, &middle),
                build::dumbbell(a, a, &slow, &middle),
                build::fat_tree(2, &slow, &middle),
            ] {
                let fabric = fabric.unwrap();
                if fabric.host_count() <= TRY_ALL && let Some(rate) = tier_cut(&fabric) {
                    let halves = all_halves(fabric.host_count());
                    prop_assert_eq!(rate, narrowest(&fabric, halves), "{}", fabric.name());
                }
            }
        }
    }

    #[test]
    fn small_fabrics_are_tried_out_and_large_ones_searched() {
        let small = bisection(&build::ring(6, 2, &gbps(10), &gbps(1)).unwrap());
        assert_eq!(
            (small.rate, small.method),
            (Rate::from_gbps(2), BisectionMethod::Exhaustive { halvings: 462 })
        );
        let large = bisection(&build::ring(20, 2, &gbps(10), &gbps(1)).unwrap());
        assert_eq!(large.rate, Rate::from_gbps(2));
        assert!(!large.method.is_exact());
        assert!(large.method.to_string().contains("upper bound"));
        let mesh = bisection(&build::mesh(8, 4, &gbps(10), &gbps(1)).unwrap());
        assert_eq!(mesh.rate, Rate::from_gbps(16));
        let odd = bisection(&build::spine_leaf(1, 3, 1, &gbps(4), &gbps(1)).unwrap());
        assert_eq!((odd.rate, odd.method), (Rate::from_gbps(1), BisectionMethod::Exhaustive { halvings: 3 }));
    }

    #[test]
    fn a_failure_and_a_slow_way_back_narrow_it() {
        let mut builder = build::spine_leaf(2, 2, 2, &gbps(10), &gbps(4)).unwrap().edit();
        builder.fail("l0", "s1").unwrap();
        assert_eq!(bisection(&builder.clone().build().unwrap()).rate, Rate::from_gbps(4));
        let (leaf, spine) = builder.pair_named("l0-s0").unwrap();
        builder.respecify(leaf, spine, &gbps(4), &gbps(1)).unwrap();
        assert_eq!(bisection(&builder.build().unwrap()).rate, Rate::from_gbps(1));
    }

    #[test]
    fn one_host_has_nothing_to_halve() {
        let found = bisection(&build::spine_leaf(1, 1, 1, &gbps(1), &gbps(1)).unwrap());
        assert_eq!((found.rate, found.share), (Rate::from_bps(0), 0.0));
    }
}
