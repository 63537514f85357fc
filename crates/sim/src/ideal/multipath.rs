//! The bound of Multipath TCP: a connection uses several links of its hosts, and with some schemes longer paths than the
//! shortest.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use weft_fabric::{EqualCost, Fabric, measure};
use weft_traffic::Flow;
use weft_transport::mptcp::{Addresses, MAX_SUBFLOWS};
use weft_transport::{Config, Framing, Mptcp};
use weft_units::{Bytes, Duration, LinkId, NodeId};

use super::segments::{Segments, tx, wire};

/// The links of a fabric that are up, and the subflows that connections open.
pub(super) struct Multipath<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) down: &'a BTreeSet<LinkId>,
    pub(super) config: &'a Config,
    /// Whether subflows have interfaces by a rule, so that those of a full mesh use as many as they can.
    pub(super) has_rule: bool,
}

impl Multipath<'_> {
    /// A lower bound of the completion time of `flow` over any paths; `None` without a path.
    ///
    /// A handshake of empty segments on the fastest path, then the bytes of all segments through a cut: the links that the
    /// source uses, those into the destination, or the narrowest between them. A link of the cut is of use only from the time
    /// at which a segment can reach it until the time from which none of its segments can still reach the destination.
    pub(super) fn fct(&self, routes: &EqualCost, framing: &Framing, flow: &Flow) -> Option<Duration> {
        let fabric = self.fabric;
        let (source, sink) = (fabric.host_node(flow.src), fabric.host_node(flow.dst));
        let [first, answers] = self.links_in_use(routes, flow);
        let headers = u64::from(framing.headers);
        let there = self.times_from(&first, sink, headers)[sink.index()]?;
        let back = self.times_from(&answers, source, headers)[source.index()]?;
        let segments = Segments::of(framing, flow.bytes);
        let (before, after) =
            (self.times_from(&first, sink, segments.last), self.times_to(sink, segments.last));
        // The least time of a segment on a path through a link, besides its transmission there.
        let beside = |id: LinkId| {
            let link = fabric.link(id);
            let before = if link.from == source { Some(Duration::ZERO) } else { before[link.from.index()] };
            Some(before? + link.delay + after[link.to.index()]?)
        };
        let into = fabric.ports(sink).iter().map(|id| id.reverse()).filter(|id| self.is_up(*id));
        let inside = measure::narrowest_cut(fabric, flow.src, &first, flow.dst, |id| self.is_up(id));
        // A subflow keeps to one link of the source.
        let subflows = usize::from(match self.config.mptcp {
            Mptcp::Ndiffports => self.config.subflows,
            Mptcp::Fullmesh | Mptcp::Off => u8::MAX,
        });
        let cuts = [(first, subflows), (into.collect(), usize::MAX), (inside, usize::MAX)];
        let through = |(cut, most): &(Vec<LinkId>, usize)| {
            let bytes =
                cut.iter().map(|id| segments.bytes(|ip_bytes| wire(fabric.link(*id), ip_bytes))).min()?;
            let links = cut.iter().filter_map(|id| Some((beside(*id)?, fabric.link(*id).rate.bps())));
            time_through(&mut best(links.collect(), *most), bytes)
        };
        let slowest = cuts.iter().filter_map(through).max()?;
        Some((there + back) * u64::from(framing.round_trips) + slowest)
    }

    fn is_up(&self, id: LinkId) -> bool {
        !self.down.contains(&id)
    }

    /// The links on which the source and the destination may send.
    fn links_in_use(&self, routes: &EqualCost, flow: &Flow) -> [Vec<LinkId>; 2] {
        let ways = [(flow.src, flow.dst), (flow.dst, flow.src)];
        let is_within = self.fabric.share_scale_up(flow.src, flow.dst);
        if self.config.mptcp != Mptcp::Fullmesh || is_within && !self.has_rule {
            // Each subflow draws one of the links on a shortest path.
            return ways.map(|(host, to)| {
                let node = self.fabric.host_node(host);
                let next = routes.next_hops(node, to).iter();
                let links = next.filter_map(|port| self.fabric.link_at(node, *port));
                links.filter(|id| self.is_up(*id)).collect()
            });
        }
        if self.has_rule {
            // Within a scale-up domain, listed flows use interfaces, and others the link of the domain.
            return ways.map(|(host, _)| {
                let links = self.fabric.ports(self.fabric.host_node(host)).iter().copied();
                let of_kind =
                    links.filter(|id| is_within || !self.fabric.node(self.fabric.link(*id).to).is_scale_up());
                of_kind.take(MAX_SUBFLOWS).filter(|id| self.is_up(*id)).collect()
            });
        }
        let mut links = ways.map(|(host, to)| {
            let reaches =
                |node: NodeId| node == self.fabric.host_node(to) || !routes.next_hops(node, to).is_empty();
            let works = |id: &LinkId| self.is_up(*id) && reaches(self.fabric.link(*id).to);
            self.fabric.network_links(host).filter(works).collect::<Vec<_>>()
        });
        let most = |links: &[LinkId]| links.len().min(MAX_SUBFLOWS) as u8;
        let used = Addresses { local: most(&links[0]), remote: most(&links[1]) }.in_use();
        links[0].truncate(used.local.into());
        links[1].truncate(used.remote.into());
        links
    }

    /// The least times of a packet to `sink` and the switches over these first links.
    fn times_from(&self, first: &[LinkId], sink: NodeId, ip_bytes: u64) -> Vec<Option<Duration>> {
        let start = first.iter().map(|id| (self.fabric.link(*id).to, self.time(*id, ip_bytes))).collect();
        self.times(
            start,
            |node| {
                let links = self.fabric.ports(node).iter().copied();
                let next = links.map(|id| (id, self.fabric.link(id).to));
                next.filter(|(_, to)| *to == sink || !self.fabric.node(*to).is_host()).collect()
            },
            ip_bytes,
        )
    }

    /// The least times of a packet from the switches to `sink`.
    fn times_to(&self, sink: NodeId, ip_bytes: u64) -> Vec<Option<Duration>> {
        let into = |node: NodeId| -> Vec<(LinkId, NodeId)> {
            let links = self.fabric.ports(node).iter().map(|id| id.reverse());
            let previous = links.map(|id| (id, self.fabric.link(id).from));
            previous.filter(|(_, from)| !self.fabric.node(*from).is_host()).collect()
        };
        let start = into(sink).into_iter().filter(|(id, _)| self.is_up(*id));
        let mut times =
            self.times(start.map(|(id, from)| (from, self.time(id, ip_bytes))).collect(), into, ip_bytes);
        times[sink.index()] = Some(Duration::ZERO);
        times
    }

    /// Dijkstra's algorithm from the nodes of `start`; hosts do not forward.
    fn times(
        &self,
        start: Vec<(NodeId, Duration)>,
        next: impl Fn(NodeId) -> Vec<(LinkId, NodeId)>,
        ip_bytes: u64,
    ) -> Vec<Option<Duration>> {
        let mut times: Vec<Option<Duration>> = vec![None; self.fabric.nodes().len()];
        let mut open: BinaryHeap<Reverse<(Duration, NodeId)>> =
            start.into_iter().map(|(node, time)| Reverse((time, node))).collect();
        while let Some(Reverse((time, node))) = open.pop() {
            if times[node.index()].is_some() {
                continue;
            }
            times[node.index()] = Some(time);
            if !self.fabric.node(node).is_host() {
                let links = next(node).into_iter().filter(|(id, _)| self.is_up(*id));
                open.extend(links.map(|(id, node)| Reverse((time + self.time(id, ip_bytes), node))));
            }
        }
        times
    }

    /// Delay and transmission time of a packet.
    fn time(&self, id: LinkId, ip_bytes: u64) -> Duration {
        let link = self.fabric.link(id);
        link.delay + tx(link, ip_bytes)
    }
}

/// Links that are as good as the best `most` of these; delays and rates.
fn best(mut links: Vec<(Duration, u64)>, most: usize) -> Vec<(Duration, u64)> {
    if links.len() > most {
        let least = links.iter().map(|(delay, _)| *delay).min().unwrap_or(Duration::ZERO);
        links.sort_unstable_by_key(|(_, rate)| Reverse(*rate));
        links.truncate(most);
        links.iter_mut().for_each(|(delay, _)| *delay = least);
    }
    links
}

/// The time in which links with these delays and rates (in bits per second) carry `bytes` together; `None` without links.
fn time_through(links: &mut [(Duration, u64)], bytes: u64) -> Option<Duration> {
    links.sort_unstable();
    // Bits times picoseconds per second.
    let (mut work, mut rates) = (u128::from(Bytes(bytes).0) * 8_000_000_000_000, 0_u128);
    let mut after = links.iter().skip(1).map(|(delay, _)| u128::from(delay.ps()));
    for (delay, rate) in links.iter() {
        work += u128::from(delay.ps()) * u128::from(*rate);
        rates += u128::from(*rate);
        let time = work.checked_div(rates)?;
        if after.next().is_none_or(|next| time <= next) {
            return Some(Duration::from_ps(u64::try_from(time).unwrap_or(u64::MAX)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_a_cut_helps_only_once_its_delay_has_passed() {
        let (ms, mbps) = (Duration::from_ms, 1_000_000);
        let time = |mut links: Vec<(Duration, u64)>, bytes| time_through(&mut links, bytes);
        assert_eq!(time(vec![], 1), None);
        assert_eq!(time(vec![(ms(2), 100 * mbps)], 1_000_000), Some(ms(82)));
        let two = vec![(ms(2), 100 * mbps), (ms(2), 100 * mbps)];
        assert_eq!(time(two, 1_000_000), Some(ms(42)));
        let far = vec![(ms(62), 100 * mbps), (ms(2), 100 * mbps)];
        // 60 ms alone, then both for the rest of 20 ms.
        assert_eq!(time(far, 1_000_000), Some(ms(72)));
        let useless = vec![(ms(200), 100 * mbps), (ms(2), 100 * mbps)];
        assert_eq!(time(useless, 1_000_000), Some(ms(82)));
    }
}
