//! [`Within`]: how flows within a scale-up domain are divided into packets, if differently from others.

use weft_fabric::Fabric;
use weft_traffic::Flow;
use weft_transport::{Framing, Protocol};
use weft_units::{HostId, NodeId};

/// The flows within scale-up domains, which have packets of their own size.
pub struct Within {
    /// Their packets.
    pub framing: Framing,
    /// The switch of the domain of each host.
    domains: Vec<Option<NodeId>>,
}

impl Within {
    /// Those of `fabric` with this protocol; `None` if they have the packets of all flows.
    pub fn of(fabric: &Fabric, protocol: &Protocol) -> Option<Self> {
        let framing = protocol.within_domains().filter(|_| fabric.has_scale_up())?.framing();
        let hosts = (0..fabric.host_count() as u32).map(HostId);
        let domain = |host| fabric.scale_up_link(host).map(|link| fabric.link(link).to);
        Some(Self { framing, domains: hosts.map(domain).collect() })
    }

    /// Whether a flow is one of them.
    pub fn has(&self, flow: &Flow) -> bool {
        let [src, dst] = [flow.src, flow.dst].map(|host| self.domains[host.index()]);
        src.is_some() && src == dst
    }
}
