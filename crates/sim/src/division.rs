//! [`Division`]: the partition of each node of a run.
//!
//! A partition is a pod, a scale-up domain, or a switch with its hosts. The other switches are assigned to the partitions
//! round-robin. Nodes of different partitions affect each other no sooner than the lookahead, so all partitions can
//! simulate that much time in parallel. A run has as many partitions as threads, joined from these.

use weft_fabric::Fabric;
use weft_units::{Duration, LinkId, NodeId};

/// The maximum number of partitions.
const MAX: usize = 64;
/// The shortest IP packet.
const MIN_IP_BYTES: u32 = 20;
/// The lookahead of a fabric without links between partitions.
const LONGEST: Duration = Duration::from_us(1);

/// The partitions of a fabric.
#[derive(Clone, Debug)]
pub struct Division {
    parts: usize,
    /// Partition of each node.
    part_of: Vec<u16>,
    lookahead: Duration,
}

impl Division {
    /// The partitions of `fabric`.
    pub fn of(fabric: &Fabric) -> Self {
        let groups = groups(fabric);
        let count = groups.iter().flatten().max().map_or(0, |last| last + 1);
        let parts = count.clamp(1, MAX);
        let mut others = 0..;
        let mut part_of: Vec<u16> = groups
            .iter()
            .zip(fabric.nodes())
            .map(|(group, node)| match group {
                Some(group) => (group * parts / count) as u16,
                None if node.is_host() => 0,
                None => (others.next().unwrap_or(0) % parts) as u16,
            })
            .collect();
        for host in fabric.hosts() {
            let domain = fabric.node(*host).host.and_then(|host| fabric.scale_up_link(host));
            let first = domain.as_ref().or(fabric.ports(*host).first());
            part_of[host.index()] = first.map_or(0, |link| part_of[fabric.link(*link).to.index()]);
        }
        let cut = |link: &LinkId| {
            let link = fabric.link(*link);
            part_of[link.from.index()] != part_of[link.to.index()]
        };
        let ids = (0..fabric.links().len() as u32).map(LinkId);
        let lookahead = ids.filter(cut).map(|link| least_time(fabric, link)).min().unwrap_or(LONGEST);
        Self { parts, part_of, lookahead }
    }

    /// This division with partitions joined until there are at most `parts`. The lookahead stays: no other links are cut.
    pub fn joined(&self, parts: usize) -> Self {
        let parts = parts.clamp(1, self.parts);
        let part_of = self.part_of.iter().map(|part| (usize::from(*part) * parts / self.parts) as u16);
        Self { parts, part_of: part_of.collect(), lookahead: self.lookahead }
    }

    /// The number of partitions.
    pub const fn parts(&self) -> usize {
        self.parts
    }

    /// The partition of a node.
    pub fn part_of(&self, node: NodeId) -> usize {
        self.part_of[node.index()].into()
    }

    /// The least time from sending a packet in one partition to its arrival in another.
    pub const fn lookahead(&self) -> Duration {
        self.lookahead
    }
}

/// The group of each node: the place of its pod among the pods, or with fewer than two pods the place of the switch
/// among those of scale-up domains or, if there are none, those with hosts.
fn groups(fabric: &Fabric) -> Vec<Option<usize>> {
    let mut pods: Vec<_> = fabric.nodes().iter().filter_map(|node| node.pod).collect();
    pods.sort_unstable();
    pods.dedup();
    if pods.len() > 1 {
        let place = |pod| pods.binary_search(&pod).expect("it is a node's pod");
        return fabric.nodes().iter().map(|node| node.pod.map(place)).collect();
    }
    let mut groups = vec![None; fabric.nodes().len()];
    let mut count = 0;
    let has_domains = fabric.has_scale_up();
    let heads = fabric.switches().filter(|node| !has_domains || fabric.node(*node).is_scale_up());
    for node in heads {
        if fabric.ports(node).iter().any(|link| fabric.node(fabric.link(*link).to).is_host()) {
            groups[node.index()] = Some(count);
            count += 1;
        }
    }
    groups
}

/// The least time from sending a packet on `link` to its arrival.
fn least_time(fabric: &Fabric, link: LinkId) -> Duration {
    fabric.link(link).crossing(MIN_IP_BYTES)
}
