//! The time that a flow would take alone on the idle fabric: the denominator of slowdown.

use weft_fabric::{EqualCost, Fabric, Link};
use weft_traffic::Flow;
use weft_transport::Framing;
use weft_units::{Bytes, Duration, LinkId, Rate};

/// Ideal completion times on a fabric: the same for every shortest-path scheme, and a lower bound for
/// all of them.
pub struct Ideal {
    /// Whether one shortest path gives the same result as all of them: links between switches are alike
    /// and no slower than host links, and each host has one link.
    alike: bool,
}

impl Ideal {
    /// Ideal completion times on `fabric`.
    pub fn new(fabric: &Fabric) -> Self {
        let at_host = |link: &&Link| [link.from, link.to].iter().any(|&node| fabric.node(node).is_host());
        let (hosts, between): (Vec<&Link>, Vec<&Link>) = fabric.links().iter().partition(at_host);
        let like = |a: &Link, b: &Link| (a.rate, a.delay, a.overhead) == (b.rate, b.delay, b.overhead);
        let alike = between.iter().all(|link| like(link, between[0]))
            && hosts.iter().all(|host| between.iter().take(1).all(|link| no_faster(host, link)))
            && fabric.hosts().iter().all(|&host| fabric.ports(host).len() == 1);
        Self { alike }
    }

    /// The ideal completion time of `flow` and its number of hops; zero hops if its destination is
    /// unreachable.
    ///
    /// A closed form. Each hop of the shortest paths contributes its minimum delay and minimum
    /// transmission time: for each round trip of empty segments (the handshake), then for the last
    /// segment. The other segments add their time at their slowest hop, with all links of the hop
    /// sending in parallel; a host sends on only one of its links, at its own rate if it has one. Slow start is
    /// excluded, so that transports can be compared.
    pub fn fct(
        &self,
        fabric: &Fabric,
        routes: &EqualCost,
        framing: &Framing,
        flow: &Flow,
    ) -> (Duration, u32) {
        let headers = u64::from(framing.headers);
        let (packets, rest) = framing.packets(flow.bytes);
        let last = headers + u64::from(rest);
        let all = Segments { full: framing.full_packet().into(), before_last: packets - 1, last };
        let paced = framing.pace.map(|rate| rate.tx_time(Bytes(framing.payload.into())) * all.before_last);
        let (mut ways, mut waiting, mut hops) = (Duration::ZERO, paced.unwrap_or_default(), 0);
        self.each_hop(fabric, routes, flow, |links| {
            let forth = || links.iter().map(|&link| fabric.link(link));
            let back = || links.iter().map(|&link| fabric.link(link.reverse()));
            if framing.round_trips > 0 {
                ways += (way(forth(), headers) + way(back(), headers)) * u64::from(framing.round_trips);
            }
            ways += way(forth(), last);
            waiting = waiting.max(if hops == 0 {
                forth().map(|link| all.waiting([link].into_iter())).min().unwrap_or(Duration::ZERO)
            } else {
                all.waiting(forth())
            });
            hops += 1;
        });
        (ways + waiting, hops)
    }

    /// Calls `see` with the links of every hop on the shortest paths, starting at the source; with one
    /// link per hop if that gives the same result.
    fn each_hop(&self, fabric: &Fabric, routes: &EqualCost, flow: &Flow, mut see: impl FnMut(&[LinkId])) {
        let most = if self.alike { 1 } else { usize::MAX };
        let destination = fabric.host_node(flow.dst);
        let (mut at, mut links) = (vec![fabric.host_node(flow.src)], Vec::new());
        while at != [destination] {
            links.clear();
            for &node in &at {
                let ports = routes.next_hops(node, flow.dst).iter().take(most);
                links.extend(ports.filter_map(|&port| fabric.link_at(node, port)));
            }
            if links.is_empty() {
                return;
            }
            see(&links);
            at.clear();
            at.extend(links.iter().map(|&link| fabric.link(link).to));
            at.sort_unstable();
            at.dedup();
        }
    }
}

/// Whether `link` sends no packet faster than `other`.
fn no_faster(link: &Link, other: &Link) -> bool {
    link.rate <= other.rate && link.overhead == other.overhead
}

/// The time to send a packet over a link.
fn tx(link: &Link, ip_bytes: u64) -> Duration {
    link.rate.tx_time(Bytes(wire(link, ip_bytes)))
}

fn wire(link: &Link, ip_bytes: u64) -> u64 {
    u64::from(link.overhead.wire_bytes(ip_bytes as u32))
}

/// Minimum delay plus minimum transmission time of a packet over the links.
fn way<'a>(links: impl Iterator<Item = &'a Link> + Clone, ip_bytes: u64) -> Duration {
    let delay = links.clone().map(|link| link.delay).min();
    delay.unwrap_or(Duration::ZERO) + least_tx(links, ip_bytes)
}

fn least_tx<'a>(links: impl Iterator<Item = &'a Link>, ip_bytes: u64) -> Duration {
    links.map(|link| tx(link, ip_bytes)).min().unwrap_or(Duration::ZERO)
}

/// The segments of a flow; sizes are those of the IP packets in bytes.
struct Segments {
    /// Size of a full segment.
    full: u64,
    /// Number of full segments before the last.
    before_last: u64,
    /// Size of the last.
    last: u64,
}

impl Segments {
    /// The time that the links of a hop take for all segments, less the time for the last.
    fn waiting<'a>(&self, mut links: impl Iterator<Item = &'a Link> + Clone) -> Duration {
        let several = links.clone();
        match (links.next(), links.next()) {
            (Some(link), None) => tx(link, self.full) * self.before_last,
            _ => {
                let rate = several.clone().map(|link| link.rate.bps()).fold(0, u64::saturating_add);
                let of = |ip_bytes| several.clone().map(|link| wire(link, ip_bytes)).min().unwrap_or(0);
                let bytes = of(self.full).saturating_mul(self.before_last).saturating_add(of(self.last));
                let all = Rate::from_bps(rate).tx_time(Bytes(bytes));
                all.saturating_sub(least_tx(several, self.last))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_fabric::{LinkSpec, build};
    use weft_transport::Config;
    use weft_units::{FlowId, HostId, Time};

    fn flow(src: u32, dst: u32, bytes: u64) -> Flow {
        let (id, src, dst, start) = (FlowId(0), HostId(src), HostId(dst), Time::ZERO);
        Flow { id, src, dst, sport: 1, dport: 2, class: 0, dscp: 0, bytes, start }
    }

    fn link(rate_mbps: u64) -> LinkSpec {
        LinkSpec::new(Rate::from_bps(rate_mbps * 1_000_000), Duration::from_us(3))
    }

    #[test]
    fn where_links_are_alike_one_path_says_as_much_as_all() {
        let framing = Config::profile("linux").unwrap().framing();
        for fabric in [
            build::fat_tree(4, &link(1_000), &link(1_000)).unwrap(),
            build::spine_leaf(3, 2, 4, &link(1_000), &link(4_000)).unwrap(),
            build::ring(5, 2, &link(1_000), &link(1_000)).unwrap(),
        ] {
            let routes = EqualCost::compute(&fabric);
            assert!(Ideal::new(&fabric).alike);
            for dst in 1..fabric.host_count() as u32 {
                for bytes in [1, 1_448, 1_449, 3_000_000] {
                    let [one, all] = [true, false]
                        .map(|alike| Ideal { alike }.fct(&fabric, &routes, &framing, &flow(0, dst, bytes)));
                    assert_eq!(one, all, "{} to {dst}, {bytes} bytes", fabric.name());
                }
            }
        }
    }

    #[test]
    fn slow_links_of_a_hop_send_together_but_not_faster_than_the_host() {
        let framing = Config::profile("linux").unwrap().framing();
        let rate = |spines, fabric_mbps| {
            let fabric = build::spine_leaf(spines, 2, 1, &link(10_000), &link(fabric_mbps)).unwrap();
            let (fct, hops) = Ideal::new(&fabric).fct(
                &fabric,
                &EqualCost::compute(&fabric),
                &framing,
                &flow(0, 1, 144_800_000),
            );
            assert_eq!(hops, 4);
            153_800_000.0 * 8.0 / fct.as_secs_f64() / 1e9
        };
        for (spines, fabric_mbps, expected) in [(1, 1_000, 1.0), (4, 1_000, 4.0), (4, 4_000, 10.0)] {
            let found = rate(spines, fabric_mbps);
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} Gbps of {expected}");
        }
    }
}
