//! [`Interfaces`]: the interfaces of hosts into the network, each with an address of its own.

use weft_units::{HostId, LinkId, NodeId, PortId};

use crate::Fabric;

/// The interfaces of all hosts. A host's interfaces are numbered in the order of its links; a link into a scale-up domain is
/// none. The address of an interface is a [`HostId`] behind those of the hosts, so that routes lead to it as to a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interfaces {
    /// The first interface of each host, and the number of all.
    first: Box<[u32]>,
    /// The link on which each interface sends.
    links: Box<[LinkId]>,
    /// The port of that link.
    ports: Box<[PortId]>,
    /// The host of each interface.
    owners: Box<[HostId]>,
    /// The network of each interface; see [`networks`].
    networks: Box<[u32]>,
}

impl Interfaces {
    /// The interfaces of a fabric's hosts.
    pub fn of(fabric: &Fabric) -> Self {
        let (mut first, mut links, mut owners) = (vec![0], Vec::new(), Vec::new());
        for host in (0..fabric.host_count() as u32).map(HostId) {
            links.extend(fabric.network_links(host));
            owners.resize(links.len(), host);
            first.push(links.len() as u32);
        }
        let ports = links.iter().map(|&link| fabric.link(link).from_port).collect();
        let networks = networks(fabric, &links);
        Self { first: first.into(), links: links.into(), ports, owners: owners.into(), networks }
    }

    /// Number of hosts.
    pub fn host_count(&self) -> usize {
        self.first.len() - 1
    }

    /// The interfaces of a host, numbered from 0.
    pub fn count(&self, host: HostId) -> u32 {
        self.first[host.index() + 1] - self.first[host.index()]
    }

    /// Whether a host has several interfaces.
    pub fn are_several(&self) -> bool {
        self.links.len() > self.host_count()
            && (0..self.host_count() as u32).any(|host| self.count(HostId(host)) > 1)
    }

    /// The number of an interface among those of all hosts.
    pub fn index(&self, host: HostId, number: u32) -> usize {
        (self.first[host.index()] + number) as usize
    }

    /// The link on which an interface sends.
    pub fn link(&self, host: HostId, number: u32) -> LinkId {
        self.links[self.index(host, number)]
    }

    /// The host's port of that link.
    pub fn port(&self, host: HostId, number: u32) -> PortId {
        self.ports[self.index(host, number)]
    }

    /// The address of an interface.
    pub fn address(&self, host: HostId, number: u32) -> HostId {
        HostId((self.host_count() + self.index(host, number)) as u32)
    }

    /// The addresses of the interfaces of two hosts with these numbers.
    pub fn addresses(&self, src: HostId, dst: HostId, [own, other]: [u8; 2]) -> [HostId; 2] {
        [self.address(src, own.into()), self.address(dst, other.into())]
    }

    /// The interfaces of two hosts whose numbers are by `step` larger than the `first`, modulo the hosts' numbers of interfaces.
    pub fn next(&self, src: HostId, dst: HostId, first: [u8; 2], step: u8) -> [u8; 2] {
        let counts = [src, dst].map(|host| self.count(host).max(1));
        [0, 1].map(|end| ((u32::from(first[end]) + u32::from(step)) % counts[end]) as u8)
    }

    /// The interfaces of two hosts between which the subflows of a full mesh run, in order: first those with the `first` numbers,
    /// then both numbers grow by one each, modulo the hosts' numbers of interfaces; where pairs would repeat, the number
    /// at the destination grows by one more. Pairs in different networks are left out.
    pub fn mesh(&self, src: HostId, dst: HostId, first: [u8; 2]) -> impl Iterator<Item = [u8; 2]> + '_ {
        let counts = [src, dst].map(|host| self.count(host));
        let [sources, destinations] = counts.map(|count| count.max(1));
        let turn = least_common_multiple(sources, destinations);
        let pairs = (0..counts[0] * counts[1]).map(move |number| {
            let own = (u32::from(first[0]) + number) % sources;
            [own, (u32::from(first[1]) + number + number / turn) % destinations]
        });
        let joined = pairs.filter(move |both| self.are_joined(src, dst, *both));
        joined.map(|both| both.map(|number| number as u8))
    }

    /// Whether the interfaces of two hosts with these numbers are in the same network.
    pub fn are_joined(&self, src: HostId, dst: HostId, [own, other]: [u32; 2]) -> bool {
        self.networks[self.index(src, own)] == self.networks[self.index(dst, other)]
    }

    /// How many interfaces all hosts have together.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether no host has an interface.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The host with an address, its own or that of an interface; `None` if there is none.
    pub fn host_of(&self, address: HostId) -> Option<HostId> {
        match address.index().checked_sub(self.host_count()) {
            None => Some(address),
            Some(interface) => self.owners.get(interface).copied(),
        }
    }

    /// The links of all interfaces, in order of address.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + '_ {
        self.links.iter().copied()
    }

    /// Hosts and links of all interfaces, in order of address.
    pub(crate) fn all(&self) -> impl Iterator<Item = (HostId, LinkId)> + '_ {
        self.owners.iter().copied().zip(self.links())
    }
}

/// The network of each of these links of hosts: those of one network lead to switches between which there are links, or from both
/// ends of a cable. Hosts and scale-up domains join no networks.
fn networks(fabric: &Fabric, links: &[LinkId]) -> Box<[u32]> {
    let is_inside = |node: NodeId| !fabric.node(node).is_host() && !fabric.node(node).is_scale_up();
    let mut known = vec![u32::MAX; fabric.nodes().len()];
    for first in (0..known.len() as u32).map(NodeId) {
        let mut open = vec![first];
        while let Some(node) = open.pop() {
            if is_inside(node) && known[node.index()] == u32::MAX {
                known[node.index()] = first.0;
                open.extend(fabric.ports(node).iter().map(|link| fabric.link(*link).to));
            }
        }
    }
    let of = |link: &LinkId| match known[fabric.link(*link).to.index()] {
        u32::MAX => known.len() as u32 + link.0.min(link.reverse().0),
        network => network,
    };
    links.iter().map(of).collect()
}

/// The least common multiple of two numbers above 0.
fn least_common_multiple(a: u32, b: u32) -> u32 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

#[cfg(test)]
mod tests {
    use weft_units::{Duration, Rate};

    use super::*;
    use crate::{FabricBuilder, LinkSpec};

    /// Hosts with links to these switches, of which 0 and 1 are joined.
    fn mesh(hosts: [&[usize]; 2], first: [u8; 2]) -> Vec<[u8; 2]> {
        let spec = LinkSpec::new(Rate::from_bps(1_000_000_000), Duration::from_us(1));
        let mut fabric = FabricBuilder::new("networks");
        let switches: Vec<NodeId> =
            (0..3).map(|at| fabric.add_switch(format!("s{at}"), 1, None).unwrap()).collect();
        fabric.connect(switches[0], switches[1], &spec).unwrap();
        for (at, links) in hosts.into_iter().enumerate() {
            let host = fabric.add_host(format!("h{at}"), 0, None).unwrap();
            for link in links {
                fabric.connect(host, switches[*link], &spec).unwrap();
            }
        }
        Interfaces::of(&fabric.build().unwrap()).mesh(HostId(0), HostId(1), first).collect()
    }

    #[test]
    fn a_mesh_has_each_pair_of_interfaces_in_one_network_once() {
        assert_eq!(mesh([&[0, 1], &[0, 1]], [0, 0]), [[0, 0], [1, 1], [0, 1], [1, 0]]);
        assert_eq!(mesh([&[0, 1], &[0, 1]], [1, 0]), [[1, 0], [0, 1], [1, 1], [0, 0]]);
        assert_eq!(mesh([&[0, 1], &[0, 1, 0]], [1, 2]), [[1, 2], [0, 0], [1, 1], [0, 2], [1, 0], [0, 1]]);
        assert_eq!(mesh([&[0, 2], &[0, 2]], [0, 0]), [[0, 0], [1, 1]]);
        // Between different networks, others come first.
        assert_eq!(mesh([&[0, 2], &[0, 2]], [0, 1]), [[0, 0], [1, 1]]);
        assert_eq!(mesh([&[0, 2], &[1]], [1, 0]), [[0, 0]]);
        let mut all = mesh([&[0; 8], &[1; 12]], [5, 7]);
        let sources: std::collections::BTreeSet<u8> = all.iter().take(8).map(|both| both[0]).collect();
        assert_eq!(sources.len(), 8, "few subflows use all interfaces");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 96);
    }
}
