//! Weighted-cost multipath: like ECMP, but a port gets a share of the flows in proportion to its capacity towards the
//! destination (Zhou et al., "WCMP: weighted cost multipathing for improved fairness in data centers", EuroSys 2014).
//!
//! A switch has a group for each set of weights: a list that contains each port as often as its weight. Groups are
//! reduced as far as no port gets more than its share by a given bound (section 5.1), and further if they do not fit
//! the table (section 5.2).

use std::collections::HashMap;
use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{HostId, NodeId, PortId, Time, params};

use crate::blueprint::Blueprint;
use crate::capacities::Capacities;
use crate::derived::Derived;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::hash::{mix64, pick};
use crate::spec::SchemeSpec;
use crate::split::Split;
use crate::{Actions, Context, DropReason, Forwarding, Header, Switch, TableEntries, ecmp};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "wcmp",
    summary: "WCMP: like ECMP, with shares in proportion to the capacity behind each port",
    decides: "switches",
    observes: "capacities of links",
    source: "Zhou et al., EuroSys 2014",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    next_hops: Some(Hops::EqualCost),
    knows_interfaces: |_| true,
    split: |_| Some(Split::ByCapacity),
    ..Descriptor::PLAIN
};

params! {
    struct Config {
        /// percent by which a reduced group may exceed a port's exact share
        oversubscription: u64 = 5, in 1..=1_000_000;
        /// entries of a switch's groups of several ports, one for each unit of weight
        group_table: usize = 4_096, in 1..=MOST_ENTRIES;
    }
}

/// The largest table. A port with a tiny share makes a group grow until the others have enough entries.
const MOST_ENTRIES: usize = 65_536;

/// Builds the switches of a WCMP fabric.
pub struct Wcmp {
    routes: Arc<Forwarding>,
    capacities: Arc<Derived<Capacities>>,
    seed: u64,
    limits: Limits,
}

/// How far groups are reduced.
#[derive(Clone, Copy)]
struct Limits {
    /// The largest ratio of a port's share to its exact share.
    excess: f64,
    /// Entries of all groups.
    table: usize,
}

impl Limits {
    fn of(spec: &SchemeSpec) -> Self {
        let Config { oversubscription, group_table: table } = Config::of(&spec.params);
        Self { excess: 1.0 + oversubscription as f64 / 100.0, table }
    }
}

impl Wcmp {
    /// The scheme with the parameters of `spec`.
    pub fn new(routes: Arc<Forwarding>, seed: u64, spec: &SchemeSpec) -> Self {
        Self { routes, capacities: Derived::new(Capacities::new), seed, limits: Limits::of(spec) }
    }
}

impl Blueprint for Wcmp {
    type Switch = WcmpSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> WcmpSwitch {
        WcmpSwitch {
            groups: Groups::new(&self.routes, &self.capacities.of(&self.routes), node, self.limits),
            capacities: Arc::clone(&self.capacities),
            key: mix64(ecmp::hash_id(self.seed, node)),
            limits: self.limits,
            node,
        }
    }
}

/// A WCMP switch.
pub struct WcmpSwitch {
    groups: Groups,
    capacities: Arc<Derived<Capacities>>,
    key: u64,
    limits: Limits,
    node: NodeId,
}

impl Switch for WcmpSwitch {
    const DECIDES_AHEAD: bool = true;

    #[inline]
    fn receive<C: Context>(&mut self, _ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        match self.decide(header) {
            Some(port) => out.send(port),
            None => out.drop(DropReason::NoRoute),
        }
    }

    #[inline]
    fn decide(&self, header: &Header) -> Option<PortId> {
        let group = self.groups.towards(header.destination()?);
        let tuple = u64::from(header.path_hash());
        group.get(pick(mix64(tuple ^ self.key), group.len())).copied()
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.groups = Groups::new(routes, &self.capacities.of(routes), self.node, self.limits);
    }

    fn table_entries(&mut self, _now: Time) -> TableEntries {
        TableEntries { groups: self.groups.entries, ..TableEntries::default() }
    }
}

/// How often each next hop is in the group that a switch has for a host: the weights for other routers.
pub struct Weights(Vec<Groups>);

impl Weights {
    /// The groups of all nodes of `fabric`, with the parameters of `spec`.
    pub fn new(fabric: &Fabric, routes: &Forwarding, spec: &SchemeSpec) -> Self {
        let (capacities, limits) = (Capacities::new(routes), Limits::of(spec));
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        Self(nodes.map(|node| Groups::new(routes, &capacities, node, limits)).collect())
    }

    /// The weights of a switch's next hops towards `host`, in the order of the routes; none without a route.
    pub fn of(&self, switch: NodeId, host: HostId) -> Vec<usize> {
        self.0[switch.index()].towards(host).chunk_by(|one, next| one == next).map(<[PortId]>::len).collect()
    }
}

/// The groups of one switch.
struct Groups {
    /// For each host, the range of its group in the table.
    of_host: Vec<(u32, u32)>,
    table: Vec<PortId>,
    /// Entries of groups of several ports.
    entries: usize,
}

impl Groups {
    fn new(routes: &Forwarding, capacities: &Capacities, node: NodeId, limits: Limits) -> Self {
        let mut exact: Vec<Vec<(PortId, u64)>> = Vec::new();
        let mut known = HashMap::new();
        let mut number_of = HashMap::new();
        let hosts = (0..routes.host_count() as u32).map(HostId);
        let numbers: Vec<usize> = hosts
            .map(|host| {
                let ports = routes.routes().next_hops(node, host);
                *number_of.entry((routes.class_of(host), ports)).or_insert_with(|| {
                    let of_port = |port: &PortId| (*port, capacities.of_port(routes, node, *port, host));
                    let weighted = ports.iter().map(of_port);
                    let group = simplest(weighted.collect());
                    *known.entry(group.clone()).or_insert_with(|| {
                        exact.push(group);
                        exact.len() - 1
                    })
                })
            })
            .collect();
        let weights: Vec<Vec<u64>> =
            exact.iter().map(|group| group.iter().map(|(_, weight)| *weight).collect()).collect();
        // A port alone needs no group.
        let size = |group: &Vec<u64>| if group.len() > 1 { group.iter().sum() } else { 0 };
        let least = weights.iter().filter(|group| group.len() > 1).map(Vec::len).sum();
        let most = limits.table.max(least) as u64;
        let mut excess = limits.excess;
        let reduced = loop {
            let reduced = weights.iter().map(|group| reduce(group, excess, most));
            if let Some(reduced) = reduced.collect::<Option<Vec<_>>>()
                && reduced.iter().map(size).sum::<u64>() <= most
            {
                break reduced;
            }
            // Section 5.2 raises the bound until all groups fit.
            excess *= 1.05;
        };
        let mut table = Vec::new();
        let ranges: Vec<(u32, u32)> = exact
            .iter()
            .zip(&reduced)
            .map(|(group, weights)| {
                let first = table.len() as u32;
                for ((port, _), weight) in group.iter().zip(weights) {
                    table.extend(std::iter::repeat_n(*port, *weight as usize));
                }
                (first, table.len() as u32)
            })
            .collect();
        let of_host = numbers.into_iter().map(|number| ranges[number]).collect();
        Self { of_host, table, entries: reduced.iter().map(size).sum::<u64>() as usize }
    }

    #[inline]
    fn towards(&self, host: HostId) -> &[PortId] {
        let Some(&(first, end)) = self.of_host.get(host.index()) else { return &[] };
        &self.table[first as usize..end as usize]
    }
}

/// The entries of a group with these weights, at most `most`, or one for each port: shares as exact as that allows.
pub fn entries(group: Vec<(PortId, u64)>, most: usize) -> Vec<PortId> {
    let group = simplest(group.into_iter().filter(|(_, weight)| *weight > 0).collect());
    let weights: Vec<u64> = group.iter().map(|(_, weight)| *weight).collect();
    let most = most.max(group.len()) as u64;
    let mut excess = 1.0;
    let counts = loop {
        match reduce(&weights, excess, most) {
            Some(counts) if counts.iter().sum::<u64>() <= most => break counts,
            _ => excess *= 1.05,
        }
    };
    let all = group.iter().zip(counts);
    all.flat_map(|((port, _), count)| std::iter::repeat_n(*port, count as usize)).collect()
}

/// These ratios in the smallest integers.
fn simplest(mut group: Vec<(PortId, u64)>) -> Vec<(PortId, u64)> {
    let divisor = group.iter().fold(0, |divisor, (_, weight)| gcd(divisor, *weight)).max(1);
    group.iter_mut().for_each(|(_, weight)| *weight /= divisor);
    group
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The smallest group that gives no port more than `excess` times its share (section 5.1, algorithm 1): from one entry
/// for each port, it grows at the port that exceeds its share the least with one more. `None` beyond `most` entries.
fn reduce(exact: &[u64], excess: f64, most: u64) -> Option<Vec<u64>> {
    let total: u64 = exact.iter().sum();
    let mut reduced = vec![1_u64; exact.len()];
    let mut entries = exact.len() as u64;
    // Of a port with `count` of `of` entries.
    let excess_of =
        |count: u64, of: u64, weight: u64| count as f64 * total as f64 / (of as f64 * weight as f64);
    loop {
        if entries >= total {
            return Some(exact.to_vec());
        }
        let worst = exact.iter().zip(&reduced).map(|(weight, count)| excess_of(*count, entries, *weight));
        if worst.fold(0.0, f64::max) <= excess {
            return Some(reduced);
        }
        if entries >= most {
            return None;
        }
        let after = |place: &usize| excess_of(reduced[*place] + 1, entries + 1, exact[*place]);
        let next = (0..exact.len()).min_by(|a, b| after(a).total_cmp(&after(b)));
        reduced[next.expect("the group has ports")] += 1;
        entries += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_entries_as_far_as_there_is_room() {
        let of = |weights: &[u64]| {
            let entries = entries((0..).map(PortId).zip(weights.iter().copied()).collect(), 64);
            let count = |port| entries.iter().filter(|entry| entry.0 == port).count();
            assert!(entries.len() <= 64 && entries.is_sorted());
            (0..weights.len() as u16).map(count).collect::<Vec<_>>()
        };
        assert_eq!(of(&[1, 1]), [1, 1]);
        assert_eq!(of(&[10, 20]), [1, 2]);
        assert_eq!(of(&[256, 1]), [62, 1], "within 5 %");
        assert_eq!(of(&[0, 5]), [0, 1]);
        assert_eq!(of(&[]), [0; 0]);
        assert_eq!(of(&[1; 64]), [1; 64]);
        let mut many = vec![1; 63];
        many.push(256);
        assert_eq!(of(&many), [1; 64], "no room for more");
    }

    #[test]
    fn groups_are_reduced_as_far_as_the_bound_allows() {
        for (exact, excess, expected) in [
            (&[1, 1, 1][..], 1.0, &[1, 1, 1][..]),
            (&[5, 1], 1.0, &[5, 1]),
            (&[5, 1], 2.0, &[2, 1]),
            (&[5, 1], 3.0, &[1, 1]),
            (&[100, 99], 1.01, &[1, 1]),
            (&[100, 99], 1.0, &[100, 99]),
            (&[3, 3, 2, 2], 1.25, &[1, 1, 1, 1]),
            (&[7], 1.0, &[1]),
            (&[10_000_000_000, 1], 1e10, &[1, 1]),
        ] {
            assert_eq!(reduce(exact, excess, 1_000).unwrap(), expected, "{exact:?} within {excess}");
        }
        assert_eq!(reduce(&[10_000_000_000, 1], 1.05, 4_096), None, "it does not fit the table");
    }
}
