//! [`Interfaces`]: the interfaces of hosts into the network, each with an address of its own.

use weft_units::{HostId, LinkId, PortId};

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
}

impl Interfaces {
    /// The interfaces of a fabric's hosts.
    pub fn of(fabric: &Fabric) -> Self {
        let (mut first, mut links, mut owners) = (vec![0], Vec::new(), Vec::new());
        for host in (0..fabric.host_count() as u32).map(HostId) {
            let all = fabric.ports(fabric.host_node(host)).iter().copied();
            links.extend(all.filter(|&link| !fabric.node(fabric.link(link).to).is_scale_up()));
            owners.resize(links.len(), host);
            first.push(links.len() as u32);
        }
        let ports = links.iter().map(|&link| fabric.link(link).from_port).collect();
        Self { first: first.into(), links: links.into(), ports, owners: owners.into() }
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
    fn index(&self, host: HostId, number: u32) -> usize {
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
