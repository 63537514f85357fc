//! The narrowest cut between two hosts.

use weft_units::{HostId, LinkId};

use super::max_flow::Network;
use crate::Fabric;

/// The links that limit the traffic between two hosts: of all sets of links that every path from `from` to `to` has to
/// cross, one with the least sum of rates. `from` sends on the links of `first`; hosts do not forward. `is_up` says
/// which links exist. Empty if there is no path.
pub fn narrowest_cut(
    fabric: &Fabric,
    from: HostId,
    first: &[LinkId],
    to: HostId,
    is_up: impl Fn(LinkId) -> bool,
) -> Vec<LinkId> {
    let (source, sink) = (fabric.host_node(from), fabric.host_node(to));
    let is_used = |id: LinkId| {
        let link = fabric.link(id);
        let sends = if link.from == source { first.contains(&id) } else { !fabric.node(link.from).is_host() };
        sends && is_up(id) && (link.to == sink || !fabric.node(link.to).is_host())
    };
    let used = || (0..fabric.links().len() as u32).map(LinkId).filter(|id| is_used(*id));
    let mut network = Network::new(fabric.nodes().len());
    for link in used().map(|id| fabric.link(id)) {
        network.join(link.from.index(), link.to.index(), link.rate.bps(), 0);
    }
    network.max_flow(source.index(), sink.index());
    let is_near = network.reached(source.index());
    let crosses = |id: &LinkId| {
        let link = fabric.link(*id);
        is_near[link.from.index()] && !is_near[link.to.index()]
    };
    used().filter(crosses).collect()
}

#[cfg(test)]
mod tests {
    use weft_units::{Duration, Rate};

    use super::*;
    use crate::{LinkSpec, build};

    fn link(gbps: u64) -> LinkSpec {
        LinkSpec::new(Rate::from_gbps(gbps), Duration::from_us(1))
    }

    fn names(fabric: &Fabric, first: &[LinkId], down: &[LinkId]) -> Vec<String> {
        let to = HostId(fabric.host_count() as u32 - 1);
        let cut = narrowest_cut(fabric, HostId(0), first, to, |id| !down.contains(&id));
        let mut names: Vec<String> = cut.iter().map(|id| fabric.link_label(*id)).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_cut_is_at_the_host_or_inside_where_less_fits() {
        let fabric = build::spine_leaf(2, 2, 1, &link(10), &link(10)).unwrap();
        let first = fabric.ports(fabric.host_node(HostId(0)));
        assert_eq!(names(&fabric, first, &[]), ["h0->l0"]);
        assert!(names(&fabric, &[], &[]).is_empty());
        let fabric = build::spine_leaf(2, 2, 1, &link(10), &link(4)).unwrap();
        let first = fabric.ports(fabric.host_node(HostId(0)));
        assert_eq!(names(&fabric, first, &[]), ["l0->s0", "l0->s1"]);
        let second = names(&fabric, first, &[]);
        let down =
            (0..fabric.links().len() as u32).map(LinkId).find(|id| fabric.link_label(*id) == second[1]);
        assert_eq!(names(&fabric, first, &[down.unwrap()]), ["l0->s0"]);
    }
}
