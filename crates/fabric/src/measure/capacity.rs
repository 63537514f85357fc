//! Capacities of host links and uplinks, to which an offered load refers.

use weft_units::{HostId, LinkId, NodeId, Rate};

use crate::{Fabric, Node};

/// The sum of the rates of the working links from hosts to switches, without scale-up domains.
pub fn host_capacity(fabric: &Fabric) -> Rate {
    let from_hosts = fabric.links().iter().filter(|link| link.up && fabric.node(link.from).is_host());
    let is_edge = |node: &Node| !node.is_host() && !node.is_scale_up();
    sum(from_hosts.filter(|link| is_edge(fabric.node(link.to))).map(|link| link.rate))
}

/// The working links from switches with hosts to other switches, except to those of a lower tier: ToR
/// uplinks, or the trunks of a ring or mesh. In order of ids.
pub fn uplinks(fabric: &Fabric) -> Vec<LinkId> {
    let mut has_hosts = vec![false; fabric.nodes().len()];
    for link in fabric.links() {
        has_hosts[link.to.index()] |= fabric.node(link.from).is_host();
    }
    let is_uplink = |id: &LinkId| {
        let link = fabric.link(*id);
        let (from, to) = (fabric.node(link.from), fabric.node(link.to));
        link.up && !from.is_host() && !to.is_host() && has_hosts[link.from.index()] && to.tier >= from.tier
    };
    (0..fabric.links().len() as u32).map(LinkId).filter(is_uplink).collect()
}

/// The sum of the rates of the [`uplinks`].
pub fn uplink_capacity(fabric: &Fabric) -> Rate {
    sum(uplinks(fabric).into_iter().map(|id| fabric.link(id).rate))
}

/// The largest ratio of host capacity to uplink capacity of a switch; `None` if no switch has both hosts and
/// uplinks.
pub fn oversubscription(fabric: &Fabric) -> Option<f64> {
    let mut from_hosts = vec![0.0; fabric.nodes().len()];
    let mut away = vec![0.0; fabric.nodes().len()];
    for host in (0..fabric.host_count() as u32).map(HostId) {
        for link in fabric.ports(fabric.host_node(host)).iter().map(|&id| fabric.link(id)) {
            from_hosts[link.to.index()] += if link.up { link.rate.bps() as f64 } else { 0.0 };
        }
    }
    for link in uplinks(fabric).into_iter().map(|id| fabric.link(id)) {
        away[link.from.index()] += link.rate.bps() as f64;
    }
    let ratio =
        |node: NodeId| (away[node.index()] > 0.0).then(|| from_hosts[node.index()] / away[node.index()]);
    fabric.switches().filter_map(ratio).reduce(f64::max)
}

/// The sum of rates, saturating.
fn sum(rates: impl Iterator<Item = Rate>) -> Rate {
    Rate::from_bps(rates.fold(0, |sum, rate| sum.saturating_add(rate.bps())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkSpec, build};

    #[test]
    fn uplinks_are_those_of_the_switches_with_hosts() {
        let spec = LinkSpec::default().with_rate(Rate::from_gbps(1));
        let capacity = |fabric: &Fabric| (host_capacity(fabric), uplink_capacity(fabric));
        let gbps = Rate::from_gbps;
        for (fabric, hosts, uplinks, ratio) in [
            (build::spine_leaf(4, 4, 20, &spec, &spec), 80, 16, Some(5.0)),
            (build::fat_tree(4, &spec, &spec), 16, 16, Some(1.0)),
            (build::ring(4, 1, &spec, &spec), 4, 8, Some(0.5)),
            (build::dumbbell(4, 2, &spec, &spec), 6, 2, Some(4.0)),
        ] {
            let fabric = fabric.unwrap();
            assert_eq!(capacity(&fabric), (gbps(hosts), gbps(uplinks)), "{}", fabric.name());
            assert_eq!(oversubscription(&fabric), ratio, "{}", fabric.name());
        }
    }
}
