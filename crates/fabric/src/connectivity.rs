//! Whether every pair of hosts has a path; hosts do not forward for others.

use std::collections::BTreeMap;

use weft_units::NodeId;

use crate::{Link, Node};

/// The first two hosts without a path over the cables for which `up` holds; paths lead through switches only.
/// A host may be attached to several separate networks: two hosts are connected if they share one. In a fabric with scale-up
/// domains, hosts may relay messages for each other, so all that are connected count.
pub(crate) fn disconnected_hosts(
    nodes: &[Node],
    links: &[Link],
    hosts: &[NodeId],
    up: impl Fn(&Link) -> bool,
) -> Option<(NodeId, NodeId)> {
    let mut islands = Islands((0..nodes.len() as u32).collect());
    if nodes.iter().any(Node::is_scale_up) {
        return unreachable_by_relays(links, hosts, up, islands);
    }
    for link in links.iter().filter(|link| up(link)) {
        if !nodes[link.from.index()].is_host() && !nodes[link.to.index()].is_host() {
            islands.join(link.from.0, link.to.0);
        }
    }
    // The islands of each host; a cable between two hosts is an island of its own.
    let mut of_host = vec![Vec::new(); hosts.len()];
    for (index, link) in links.iter().enumerate().filter(|(_, link)| up(link)) {
        if let Some(host) = nodes[link.from.index()].host {
            let island = if nodes[link.to.index()].is_host() {
                nodes.len() as u32 + index as u32 / 2
            } else {
                islands.of(link.to.0)
            };
            of_host[host.index()].push(island);
        }
    }
    for set in &mut of_host {
        set.sort_unstable();
        set.dedup();
    }
    let first = of_host.first()?;
    if first.iter().any(|island| of_host.iter().all(|set| set.binary_search(island).is_ok())) {
        return None;
    }
    let mut distinct: BTreeMap<&[u32], usize> = BTreeMap::new();
    for (host, set) in of_host.iter().enumerate() {
        match distinct.get(set.as_slice()) {
            Some(&other) if set.is_empty() => return Some((hosts[other], hosts[host])),
            Some(_) => continue,
            None => {
                if let Some((_, &other)) = distinct.iter().find(|(known, _)| !intersect(known, set)) {
                    return Some((hosts[other], hosts[host]));
                }
                distinct.insert(set, host);
            }
        }
    }
    None
}

/// The first two hosts without a path if those of scale-up domains relay for others.
fn unreachable_by_relays(
    links: &[Link],
    hosts: &[NodeId],
    up: impl Fn(&Link) -> bool,
    mut islands: Islands,
) -> Option<(NodeId, NodeId)> {
    links.iter().filter(|link| up(link)).for_each(|link| islands.join(link.from.0, link.to.0));
    let first = *hosts.first()?;
    let other = hosts.iter().find(|host| islands.of(host.0) != islands.of(first.0))?;
    Some((first, *other))
}

/// Whether two sorted sets share a member.
fn intersect(a: &[u32], b: &[u32]) -> bool {
    a.iter().any(|member| b.binary_search(member).is_ok())
}

/// Union-find: for each switch, one nearer to its island's representative.
struct Islands(Vec<u32>);

impl Islands {
    fn of(&mut self, mut node: u32) -> u32 {
        while self.0[node as usize] != node {
            let above = self.0[self.0[node as usize] as usize];
            self.0[node as usize] = above;
            node = above;
        }
        node
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
