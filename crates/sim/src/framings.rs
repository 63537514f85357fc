//! [`Framings`]: how flows are divided into packets, within a scale-up domain perhaps differently from others.

use weft_fabric::Fabric;
use weft_traffic::{Flow, Parts};
use weft_transport::{Framing, Protocol};
use weft_units::{HostId, NodeId};

/// How flows are divided into packets.
pub struct Framings {
    /// Those through the network.
    pub network: Framing,
    /// Those within scale-up domains, if they have packets of their own size.
    within: Option<Within>,
}

struct Within {
    framing: Framing,
    /// The switch of the domain of each host.
    domains: Vec<Option<NodeId>>,
}

impl Framings {
    /// Those of `fabric` with this protocol.
    pub fn of(fabric: &Fabric, protocol: &Protocol) -> Self {
        let within = protocol.within_domains().filter(|_| fabric.has_scale_up()).map(|protocol| {
            let hosts = (0..fabric.host_count() as u32).map(HostId);
            let domains = hosts.map(|host| fabric.scale_up_switch(host)).collect();
            Within { framing: protocol.framing(), domains }
        });
        Self { network: protocol.framing(), within }
    }

    /// That of a flow within a scale-up domain, if it has packets of its own.
    fn within(&self, flow: &Flow) -> Option<&Framing> {
        let Within { framing, domains } = self.within.as_ref()?;
        let [src, dst] = [flow.src, flow.dst].map(|host| domains[host.index()]);
        (src.is_some() && src == dst).then_some(framing)
    }

    /// Whether a flow is within a scale-up domain and has packets of its own.
    pub fn is_within(&self, flow: &Flow) -> bool {
        self.within(flow).is_some()
    }

    /// The number of packets with the data of a flow, each sent once.
    pub fn packets(&self, flow: &Flow, parts: &Parts) -> f64 {
        let framing = self.of_flow(flow);
        let messages = parts.sizes(flow.id.0, flow.bytes);
        messages.map(|(bytes, count)| framing.packets(bytes).0 as f64 * count as f64).sum()
    }

    /// That of a flow.
    pub fn of_flow(&self, flow: &Flow) -> &Framing {
        self.within(flow).unwrap_or(&self.network)
    }
}
