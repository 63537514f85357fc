//! Numbers of nodes per tier and of cables between tiers.

use std::collections::BTreeMap;

use weft_units::Rate;

use crate::{Fabric, SCALE_UP_TIER};

/// The nodes of a tier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TierCount {
    /// The tier.
    pub tier: u8,
    /// Its name: `hosts`, `ToR`, `aggregation`, `spine`, `core`, or `tier 4` and so on.
    pub name: String,
    /// Number of nodes.
    pub nodes: usize,
}

/// The cables between two tiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TierLinks {
    /// The lower tier.
    pub low: u8,
    /// The higher tier, or the same.
    pub high: u8,
    /// Number of cables, including failed ones.
    pub cables: usize,
    /// Number of failed ones.
    pub failed: usize,
    /// The slowest direction of any.
    pub slowest: Rate,
    /// The fastest direction of any.
    pub fastest: Rate,
}

/// Counts of nodes, cables and pods.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// The nodes of each tier, from the lowest.
    pub tiers: Vec<TierCount>,
    /// The cables of each pair of tiers, from the lowest.
    pub links: Vec<TierLinks>,
    /// Number of pods; 0 if the fabric has none.
    pub pods: usize,
}

/// Counts nodes and cables by tier.
pub fn counts(fabric: &Fabric) -> Counts {
    let mut tiers = BTreeMap::new();
    let mut domains = 0;
    for node in fabric.nodes() {
        *if node.is_scale_up() { &mut domains } else { tiers.entry(node.tier).or_insert(0) } += 1;
    }
    let top = tiers.keys().copied().max().unwrap_or(0);
    let mut links: BTreeMap<(u8, u8), TierLinks> = BTreeMap::new();
    for cable in fabric.links().chunks(2) {
        let (a, b) = (fabric.node(cable[0].from).tier, fabric.node(cable[0].to).tier);
        let (low, high) = (a.min(b), a.max(b));
        let (slowest, fastest) = (cable[0].rate.min(cable[1].rate), cable[0].rate.max(cable[1].rate));
        let entry = links.entry((low, high)).or_insert(TierLinks {
            low,
            high,
            cables: 0,
            failed: 0,
            slowest,
            fastest,
        });
        entry.cables += 1;
        entry.failed += usize::from(!cable[0].up);
        entry.slowest = entry.slowest.min(slowest);
        entry.fastest = entry.fastest.max(fastest);
    }
    let mut pods: Vec<u32> = fabric.nodes().iter().filter_map(|node| node.pod).collect();
    pods.sort_unstable();
    pods.dedup();
    let scale_up = (domains > 0).then(|| TierCount {
        tier: SCALE_UP_TIER,
        name: "scale-up switches".into(),
        nodes: domains,
    });
    let named = |(tier, nodes)| TierCount { tier, name: tier_name(tier, top), nodes };
    Counts {
        tiers: tiers.into_iter().map(named).chain(scale_up).collect(),
        links: links.into_values().collect(),
        pods: pods.len(),
    }
}

/// The name of a tier in a fabric whose highest tier is `top`.
fn tier_name(tier: u8, top: u8) -> String {
    match (tier, top) {
        (0, _) => "hosts".into(),
        (1, _) => "ToR".into(),
        (2, 2) => "spine".into(),
        (2, _) => "aggregation".into(),
        (3, 3) => "core".into(),
        _ => format!("tier {tier}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkSpec, build};

    #[test]
    fn a_fat_tree_counts_as_the_paper_says() {
        let spec = LinkSpec::default();
        let mut builder =
            build::fat_tree(4, &spec, &spec.clone().with_rate(Rate::from_gbps(40))).unwrap().edit();
        builder.fail("e0", "a1").unwrap();
        let counts = counts(&builder.build().unwrap());
        let tiers: Vec<_> = counts.tiers.iter().map(|tier| (tier.name.as_str(), tier.nodes)).collect();
        assert_eq!(tiers, [("hosts", 16), ("ToR", 8), ("aggregation", 8), ("core", 4)]);
        let links: Vec<_> = counts.links.iter().map(|l| (l.low, l.high, l.cables, l.failed)).collect();
        assert_eq!(links, [(0, 1, 16, 0), (1, 2, 16, 1), (2, 3, 16, 0)]);
        assert_eq!(
            (counts.links[0].fastest, counts.links[1].slowest),
            (Rate::from_gbps(10), Rate::from_gbps(40))
        );
        assert_eq!(counts.pods, 4);
    }
}
