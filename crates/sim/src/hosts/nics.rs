//! [`Nics`]: the links on which the hosts of flows send.

use std::sync::Arc;

use weft_fabric::{Fabric, Interfaces};
use weft_switching::{Forwarding, Header, Mac, flow_hash, mix64, pick};
use weft_traffic::Flow;
use weft_units::{HostId, PortId};

use super::chosen::OpenFlows;
use super::subflow::{Addresses, Subflow};
use crate::network::Network;

/// The routes, and with them the links of hosts.
pub struct Nics(Arc<Forwarding>);

impl Nics {
    /// The links by these routes.
    pub fn new(routes: &Arc<Forwarding>) -> Self {
        Self(Arc::clone(routes))
    }

    /// The link on which one side (0: the source) of a flow sends, and the addresses in its `header`. With preferred interfaces,
    /// both ends find the same two that work; packets go to the address of the other one. With the numbers of links, the
    /// link is the one of this number. Else it is one that [`Nics::by_hash`] picks.
    pub fn attach(
        &self,
        net: &Network<'_>,
        flow: &Flow,
        side: usize,
        addresses: Addresses,
        header: &mut Header,
    ) -> u32 {
        let hosts = [flow.src, flow.dst];
        let node = net.fabric.host_node(hosts[side]);
        match (addresses, self.0.interfaces()) {
            (Addresses::Preferred(preferred), Some(all)) => {
                let both = self.working(net.fabric, all, flow, preferred);
                let [own, other] = [side, 1 - side].map(|end| all.address(hosts[end], both[end]));
                (header.src, header.dst) = (Mac::of_host(own.0), Mac::of_host(other.0));
                net.link_at(node, all.port(hosts[side], both[side]))
            }
            (Addresses::Links(both), _) => net.link_at(node, PortId(both[side].into())),
            _ => self.by_hash(net, flow, side),
        }
    }

    /// The links, by number, between which a full mesh of subflows without preferred interfaces runs, at source and destination:
    /// those of [`Self::links`].
    pub fn all_links(&self, fabric: &Fabric, flow: &Flow) -> [Vec<u8>; 2] {
        [self.links(fabric, flow.src, flow.dst), self.links(fabric, flow.dst, flow.src)]
    }

    /// The links, by number, on which one side of a flow sends instead of its own if none of these works: its subflows are between
    /// links and would all wait.
    pub fn instead(
        &self,
        fabric: &Fabric,
        flow: &Flow,
        side: usize,
        subflows: &[Subflow],
    ) -> Option<Vec<u8>> {
        let own = |subflow: &Subflow| match subflow.addresses {
            Addresses::Links(both) => Some(both[side]),
            Addresses::Hosts | Addresses::Preferred(_) => None,
        };
        let mut numbers = subflows.iter().filter_map(own).peekable();
        numbers.peek()?;
        let hosts = [flow.src, flow.dst];
        let links = self.links(fabric, hosts[side], hosts[1 - side]);
        numbers.all(|number| !links.contains(&number)).then_some(links)
    }

    /// The links, by number, on which a host sends into the network and reaches another host; all of them if none does, and at
    /// least one.
    fn links(&self, fabric: &Fabric, from: HostId, to: HostId) -> Vec<u8> {
        let state = self.0.links(fabric.host_node(from));
        let (sink, routes) = (fabric.host_node(to), self.0.routes());
        let reaches = |port: usize| {
            let link = &state[port];
            link.up && (link.to == sink || !routes.next_hops(link.to, to).is_empty())
        };
        let ports = || fabric.network_links(from).map(|link| fabric.link(link).from_port.index());
        let mut found: Vec<usize> = ports().filter(|port| reaches(*port)).collect();
        if found.is_empty() {
            found.extend(ports());
        }
        let mut numbers: Vec<u8> = found.into_iter().filter_map(|port| u8::try_from(port).ok()).collect();
        if numbers.is_empty() {
            numbers.push(0);
        }
        numbers
    }

    /// Each host picks one of its links on a shortest path by the flow's hash, as in link aggregation (IEEE 802.1AX, 6.2.4).
    pub fn by_hash(&self, net: &Network<'_>, flow: &Flow, side: usize) -> u32 {
        let (from, to) = if side == 0 { (flow.src, flow.dst) } else { (flow.dst, flow.src) };
        let node = net.fabric.host_node(from);
        let hash = flow_hash(flow.src, flow.dst, flow.sport, flow.dport);
        let ports = self.0.routes().next_hops(node, to);
        let drawn = ports.get(pick(mix64(u64::from(hash)), ports.len()));
        net.link_at(node, drawn.copied().unwrap_or(PortId(0)))
    }

    /// The preferred interfaces at source and destination if they reach each other, else the next ones in order of number that
    /// do, if any: first others at the destination.
    fn working(&self, fabric: &Fabric, all: &Interfaces, flow: &Flow, preferred: [u8; 2]) -> [u32; 2] {
        let counts = [flow.src, flow.dst].map(|host| all.count(host).max(1));
        let [src, dst] = [0, 1].map(|end| u32::from(preferred[end]) % counts[end]);
        pairs(counts, [src, dst]).find(|both| self.reach(fabric, all, flow, *both)).unwrap_or([src, dst])
    }

    /// Whether these interfaces at source and destination work and reach each other.
    fn reach(&self, fabric: &Fabric, all: &Interfaces, flow: &Flow, [src, dst]: [u32; 2]) -> bool {
        if src >= all.count(flow.src) || dst >= all.count(flow.dst) {
            return false;
        }
        let out = self.0.links(fabric.host_node(flow.src))[all.port(flow.src, src).index()];
        let is_direct = all.link(flow.src, src).reverse() == all.link(flow.dst, dst);
        let next = || self.0.routes().next_hops(out.to, all.address(flow.dst, dst));
        out.up && (is_direct || !next().is_empty())
    }

    /// The interfaces at both ends of a flow that reach each other and have the fewest open flows of its source together; of
    /// several, the first from a place that the flow's hash picks. `None` if both hosts have one interface, or the flow
    /// stays in a scale-up domain.
    pub fn least_loaded(&self, net: &Network<'_>, flow: &Flow, open: &OpenFlows) -> Option<[u8; 2]> {
        let all = self.0.interfaces()?;
        let counts = [flow.src, flow.dst].map(|host| all.count(host));
        let number = counts.iter().map(|count| *count as usize).product::<usize>();
        if number < 2 || net.fabric.share_scale_up(flow.src, flow.dst) {
            return None;
        }
        let hash = mix64(flow_hash(flow.src, flow.dst, flow.sport, flow.dport).into());
        let first = pick(hash, number) as u32;
        let load = |[src, dst]: &[u32; 2]| {
            open.on(flow.src, all.address(flow.src, *src), all.address(flow.dst, *dst))
        };
        let working = pairs(counts, [first / counts[1], first % counts[1]]);
        let best = working.filter(|both| self.reach(net.fabric, all, flow, *both)).min_by_key(load);
        best.map(|both| both.map(|number| number as u8))
    }

    /// The routes of the fabric.
    pub fn routes(&self) -> &Arc<Forwarding> {
        &self.0
    }
}

/// All pairs of numbers below these, from `first` on in a circle.
fn pairs([sources, destinations]: [u32; 2], first: [u32; 2]) -> impl Iterator<Item = [u32; 2]> {
    (0..sources).flat_map(move |src| {
        let src = (first[0] + src) % sources;
        (0..destinations).map(move |dst| [src, (first[1] + dst) % destinations])
    })
}
