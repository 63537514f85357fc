//! [`first_copies`]: on which port each switch of an idle fabric gets the first copy of a host's broadcast.
//!
//! A run that starts warm gives switches that learn stations these ports, as after earlier traffic.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_fabric::{Fabric, Link};
use weft_units::{Bytes, Duration, NodeId, PortId};

use crate::hash::mix64;
use crate::header::Header;

/// The port of each node on which the first copy of a broadcast of `host` arrives over links for which `carries` holds, by
/// node: `None` at hosts and where no copy arrives. Among copies that arrive at the same time, `random` chooses.
pub fn first_copies(
    fabric: &Fabric,
    host: NodeId,
    carries: impl Fn(&Link) -> bool,
    random: u64,
) -> Vec<Option<PortId>> {
    let mut first: Vec<(Duration, Option<PortId>)> = vec![(Duration::MAX, None); fabric.nodes().len()];
    first[host.index()] = (Duration::ZERO, None);
    let mut next = BinaryHeap::from([Reverse((Duration::ZERO, host))]);
    while let Some(Reverse((reached, node))) = next.pop() {
        let is_other_host = fabric.node(node).is_host() && node != host;
        if reached > first[node.index()].0 || is_other_host {
            continue;
        }
        for link in fabric.ports(node).iter().map(|id| fabric.link(*id)).filter(|link| carries(link)) {
            let bytes = Bytes(link.overhead.wire_bytes(Header::SHORTEST.into()).into());
            let at = reached + link.rate.tx_time(bytes) + link.delay;
            let known = &mut first[link.to.index()];
            if at < known.0 {
                next.push(Reverse((at, link.to)));
            }
            let rank = |port: PortId| mix64(random ^ u64::from(link.to.0) << 16 ^ u64::from(port.0));
            let wins = at < known.0 || known.1.is_some_and(|port| rank(link.to_port) < rank(port));
            if at <= known.0 && wins {
                *known = (at, Some(link.to_port));
            }
        }
    }
    let is_switch = |node: NodeId| !fabric.node(node).is_host();
    let ports = (0..).map(NodeId).zip(first);
    ports.map(|(node, (_, port))| port.filter(|_| is_switch(node))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use weft_fabric::{LinkSpec, build};
    use weft_units::Rate;

    use super::*;

    fn leaf_spine(slow_first: bool) -> Fabric {
        let spec = LinkSpec::default();
        let fabric = build::spine_leaf(4, 2, 1, &spec, &spec).unwrap();
        if !slow_first {
            return fabric;
        }
        let mut builder = fabric.edit();
        let (leaf, spine) = builder.pair_named("l0-s0").unwrap();
        let slow = spec.with_rate(Rate::from_bps(100_000_000));
        builder.respecify(leaf, spine, &slow, &slow).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn ports_lead_back_to_the_host_and_differ_between_draws() {
        let fabric = leaf_spine(false);
        let host = fabric.hosts()[0];
        let mut spines = BTreeSet::new();
        for random in 0..64 {
            let ports = first_copies(&fabric, host, |link| link.up, random);
            for switch in fabric.switches() {
                let mut at = switch;
                for _ in 0..4 {
                    if at != host {
                        let port = ports[at.index()].unwrap();
                        at = fabric.link(fabric.ports(at)[port.index()]).to;
                    }
                    if at != switch && fabric.node(at).tier == 2 {
                        spines.insert(at);
                    }
                }
                assert_eq!(at, host, "the ports from {switch:?} lead to the host");
            }
        }
        assert_eq!(spines.len(), 4, "every spine is on some host's path");
    }

    #[test]
    fn a_slow_link_loses_the_race() {
        let fabric = leaf_spine(true);
        let slow = fabric.node_named("s0").unwrap();
        for random in 0..64 {
            let ports = first_copies(&fabric, fabric.hosts()[0], |link| link.up, random);
            let far = fabric.node_named("l1").unwrap();
            let port = ports[far.index()].unwrap();
            assert_ne!(fabric.link(fabric.ports(far)[port.index()]).to, slow);
        }
    }
}
