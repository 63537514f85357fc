//! The time that a flow would take alone on the idle fabric: the denominator of slowdown.

mod multipath;
mod segments;

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_fabric::{EqualCost, Fabric, Link};
use weft_traffic::Flow;
use weft_transport::{Config, Framing, Mptcp, Protocol};
use weft_units::{Bytes, Duration, LinkId};

use crate::framings::Framings;
use crate::ring_path::PartTimes;
use multipath::Multipath;
use segments::{Segments, way};

/// Ideal completion times on a fabric: the same for every shortest-path scheme, and a lower bound for
/// all of them.
pub struct Ideal {
    framings: Framings,
    /// The parameters of TCP if its connections have several subflows.
    multipath: Option<Config>,
    /// Whether flows choose interfaces by a rule.
    has_rule: bool,
    /// The links that are down.
    down: Arc<BTreeSet<LinkId>>,
    /// Whether one shortest path gives the same result as all of them: links between switches are alike
    /// and no slower than host links, and each host has one link.
    alike: bool,
}

impl Ideal {
    /// Ideal completion times on `fabric` of the flows of `transport`.
    pub fn new(fabric: &Fabric, transport: &Protocol) -> Self {
        let at_host = |link: &&Link| [link.from, link.to].iter().any(|&node| fabric.node(node).is_host());
        let (hosts, between): (Vec<&Link>, Vec<&Link>) = fabric.links().iter().partition(at_host);
        let like = |a: &Link, b: &Link| (a.rate, a.delay, a.overhead) == (b.rate, b.delay, b.overhead);
        let alike = between.iter().all(|link| like(link, between[0]))
            && hosts.iter().all(|host| between.iter().take(1).all(|link| no_faster(host, link)))
            && fabric.hosts().iter().all(|&host| fabric.ports(host).len() == 1);
        let config = transport.tcp().filter(|config| config.mptcp != Mptcp::Off);
        let ids = (0..fabric.links().len() as u32).map(LinkId);
        Self {
            framings: Framings::of(fabric, transport),
            multipath: config.cloned(),
            has_rule: false,
            down: Arc::new(ids.filter(|id| !fabric.link(*id).up).collect()),
            alike,
        }
    }

    /// With flows that choose interfaces by a rule, or not.
    pub fn with_rule(self, has_rule: bool) -> Self {
        Self { has_rule, ..self }
    }

    /// Other links are down now.
    pub fn set_down(&mut self, down: &Arc<BTreeSet<LinkId>>) {
        self.down = Arc::clone(down);
    }

    /// The ideal completion time of `flow` and its number of hops; zero hops if its destination is
    /// unreachable.
    ///
    /// A closed form. Each hop of the shortest paths contributes its minimum delay and minimum
    /// transmission time: for each round trip of empty segments (the handshake), then for the last
    /// segment. The other segments add their time at their slowest hop, with all links of the hop
    /// sending in parallel; a host sends on only one of its links, at its own rate if it has one. Slow start is
    /// excluded, so that transports can be compared. Multipath TCP uses several links of a host and longer paths, if
    /// they are not [`Ideal::alike`]: see [`Multipath`].
    pub fn fct(&self, fabric: &Fabric, routes: &EqualCost, flow: &Flow) -> (Duration, u32) {
        self.fct_of(self.framings.of_flow(flow), fabric, routes, flow)
    }

    /// The ideal completion time and hops of a flow on a connection that is already open: without a handshake.
    pub fn fct_on_open(&self, fabric: &Fabric, routes: &EqualCost, flow: &Flow) -> (Duration, u32) {
        self.fct_of(&Framing { round_trips: 0, ..*self.framings.of_flow(flow) }, fabric, routes, flow)
    }

    /// The times of a part of `bytes` of `flow`, on an open connection.
    pub fn of_part(&self, fabric: &Fabric, routes: &EqualCost, flow: &Flow, bytes: u64) -> PartTimes {
        let of = |bytes| self.fct_on_open(fabric, routes, &Flow { bytes, ..*flow }).0;
        let alone = of(bytes);
        PartTimes { alone, behind: of(2 * bytes).saturating_sub(alone) }
    }

    fn fct_of(&self, framing: &Framing, fabric: &Fabric, routes: &EqualCost, flow: &Flow) -> (Duration, u32) {
        let headers = u64::from(framing.headers);
        let all = Segments::of(framing, flow.bytes);
        let last = all.last;
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
        if let Some(config) = self.multipath.as_ref().filter(|_| !self.alike && hops > 0) {
            let multipath = Multipath { fabric, down: &self.down, config, has_rule: self.has_rule };
            return multipath.fct(routes, framing, flow).map_or((Duration::ZERO, 0), |fct| (fct, hops));
        }
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

#[cfg(test)]
mod tests {
    use weft_units::Rate;

    use super::*;
    use weft_fabric::{FabricBuilder, LinkSpec, build};
    use weft_traffic::Lane;
    use weft_units::{FlowId, HostId, Time};

    fn flow(src: u32, dst: u32, bytes: u64) -> Flow {
        let (id, src, dst, start) = (FlowId(0), HostId(src), HostId(dst), Time::ZERO);
        Flow { id, src, dst, sport: 1, dport: 2, class: 0, dscp: 0, lane: Lane::Any, bytes, start }
    }

    fn link(rate_mbps: u64) -> LinkSpec {
        LinkSpec::new(Rate::from_bps(rate_mbps * 1_000_000), Duration::from_us(3))
    }

    fn linux(mptcp: Mptcp) -> Protocol {
        Protocol::from(Config { mptcp, ..Config::profile("linux").unwrap() })
    }

    #[test]
    fn where_links_are_alike_one_path_says_as_much_as_all() {
        for fabric in [
            build::fat_tree(4, &link(1_000), &link(1_000)).unwrap(),
            build::spine_leaf(3, 2, 4, &link(1_000), &link(4_000)).unwrap(),
            build::ring(5, 2, &link(1_000), &link(1_000)).unwrap(),
        ] {
            let routes = EqualCost::compute(&fabric);
            let ideal = || Ideal::new(&fabric, &linux(Mptcp::Off));
            assert!(ideal().alike);
            for dst in 1..fabric.host_count() as u32 {
                for bytes in [1, 1_448, 1_449, 3_000_000] {
                    let [one, all] = [true, false]
                        .map(|alike| Ideal { alike, ..ideal() }.fct(&fabric, &routes, &flow(0, dst, bytes)));
                    assert_eq!(one, all, "{} to {dst}, {bytes} bytes", fabric.name());
                }
            }
        }
    }

    #[test]
    fn slow_links_of_a_hop_send_together_but_not_faster_than_the_host() {
        let rate = |spines, fabric_mbps| {
            let fabric = build::spine_leaf(spines, 2, 1, &link(10_000), &link(fabric_mbps)).unwrap();
            let ideal = Ideal::new(&fabric, &linux(Mptcp::Off));
            let (fct, hops) = ideal.fct(&fabric, &EqualCost::compute(&fabric), &flow(0, 1, 144_800_000));
            assert_eq!(hops, 4);
            153_800_000.0 * 8.0 / fct.as_secs_f64() / 1e9
        };
        for (spines, fabric_mbps, expected) in [(1, 1_000, 1.0), (4, 1_000, 4.0), (4, 4_000, 10.0)] {
            let found = rate(spines, fabric_mbps);
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} Gbps of {expected}");
        }
    }

    /// Two hosts, `a` and `b`, with links to both of two switches; those of `s1` are `far`, and there may be a cable of
    /// `between` from `s0` to `s1`.
    fn two_links(near: &LinkSpec, far: [&LinkSpec; 2], between: Option<&LinkSpec>) -> Fabric {
        let mut fabric = FabricBuilder::new("two links");
        let [a, b] = ["a", "b"].map(|name| fabric.add_host(name, 0, None).unwrap());
        let [s0, s1] = ["s0", "s1"].map(|name| fabric.add_switch(name, 1, None).unwrap());
        for (host, far) in [(a, far[0]), (b, far[1])] {
            fabric.connect(host, s0, near).unwrap();
            fabric.connect(host, s1, far).unwrap();
        }
        if let Some(spec) = between {
            fabric.connect(s0, s1, spec).unwrap();
        }
        fabric.build().unwrap()
    }

    /// The ideal completion time in milliseconds.
    fn time(fabric: &Fabric, mptcp: Mptcp, bytes: u64) -> f64 {
        let ideal = Ideal::new(fabric, &linux(mptcp));
        ideal.fct(fabric, &EqualCost::compute(fabric), &flow(0, 1, bytes)).0.as_secs_f64() * 1e3
    }

    #[test]
    fn multipath_tcp_uses_all_links_of_two_hosts() {
        use Mptcp::{Fullmesh, Ndiffports, Off};
        let spec =
            |mbps: u64, ms: u64| LinkSpec::new(Rate::from_bps(mbps * 1_000_000), Duration::from_ms(ms));
        let wire = 1_538.0 / 1_448.0;
        let near = spec(100, 2);
        // Handshake of two round trips over two links, then half of the bytes on each of two paths, 4 ms long.
        let alike = two_links(&near, [&near; 2], None);
        for mptcp in [Fullmesh, Ndiffports] {
            let found = time(&alike, mptcp, 10_000_000);
            assert!((found - (12.0 + 400.0 * wire)).abs() < 0.5, "{mptcp:?}: {found}");
        }
        assert!((time(&alike, Off, 10_000_000) - (12.0 + 800.0 * wire)).abs() < 0.5);
        // The other path has four times the rate, and is of use after 200 ms only.
        let far = two_links(&near, [&spec(400, 100); 2], None);
        let found = time(&far, Fullmesh, 10_000_000);
        // 204 ms at 100 Mbps, from the time at which the near path delivers, then 500 Mbps.
        let expected = 8.0 + 4.0 + 196.0 + (800.0 * wire - 196.0 * 1.0) / 5.0;
        assert!((found - expected).abs() < 2.0, "{found}, expected {expected}");
        // One side has one fast link and one slow one.
        let slow = two_links(&near, [&near, &spec(10, 2)], None);
        let found = time(&slow, Fullmesh, 10_000_000);
        assert!((found - (12.0 + 800.0 * wire / 1.1)).abs() < 2.0, "{found}");
        // The links into `b` limit, whatever is between the switches.
        let joined = two_links(&near, [&near, &spec(10, 2)], Some(&spec(1_000, 1)));
        assert!((time(&joined, Fullmesh, 10_000_000) - (12.0 + 800.0 * wire / 1.1)).abs() < 2.0);
    }

    #[test]
    fn subflows_of_a_full_mesh_use_all_interfaces_by_a_rule() {
        let mut fabric = FabricBuilder::new("eight links");
        let [a, b] = ["a", "b"].map(|name| fabric.add_host(name, 0, None).unwrap());
        let switch = fabric.add_switch("s", 1, None).unwrap();
        for host in [a, b].repeat(8) {
            fabric.connect(host, switch, &link(100)).unwrap();
        }
        let fabric = fabric.build().unwrap();
        let time = |has_rule| {
            let ideal = Ideal::new(&fabric, &linux(Mptcp::Fullmesh)).with_rule(has_rule);
            ideal.fct(&fabric, &EqualCost::compute(&fabric), &flow(0, 1, 10_000_000)).0.as_secs_f64()
        };
        // 32 of 64 pairs are of four links of the source; by a rule, they are of all eight.
        let wire = 1_538.0 / 1_448.0;
        for (has_rule, links) in [(false, 4.0), (true, 8.0)] {
            let (found, expected) = (time(has_rule), 0.8 * wire / links);
            assert!((found / expected - 1.0).abs() < 0.01, "{links}: {found}, expected {expected}");
        }
    }

    #[test]
    fn a_shared_bottleneck_inside_limits_multipath_tcp_and_longer_paths_help_it() {
        let fast = link(1_000);
        let dumbbell = |trunks: &[u64]| {
            let mut fabric = FabricBuilder::new("dumbbell");
            let [a, b] = ["a", "b"].map(|name| fabric.add_host(name, 0, None).unwrap());
            let [s0, s1] = ["s0", "s1"].map(|name| fabric.add_switch(name, 1, None).unwrap());
            for (host, switch) in [(a, s0), (a, s0), (b, s1), (b, s1)] {
                fabric.connect(host, switch, &fast).unwrap();
            }
            fabric.connect(s0, s1, &link(trunks[0])).unwrap();
            for (number, rate) in trunks[1..].iter().enumerate() {
                let via = fabric.add_switch(format!("via{number}"), 2, None).unwrap();
                fabric.connect(s0, via, &link(*rate)).unwrap();
                fabric.connect(via, s1, &link(*rate)).unwrap();
            }
            fabric.build().unwrap()
        };
        let rate =
            |trunks: &[u64], mptcp| 10_000_000.0 * 8.0 / time(&dumbbell(trunks), mptcp, 10_000_000) / 1e3;
        let net = 1_448.0 / 1_538.0;
        for (trunks, mptcp, expected) in [
            (&[100][..], Mptcp::Fullmesh, 100.0),
            (&[100], Mptcp::Off, 100.0),
            (&[5_000], Mptcp::Fullmesh, 2_000.0),
            (&[5_000], Mptcp::Off, 1_000.0),
            // smoc leads subflows over longer paths.
            (&[100, 100, 50], Mptcp::Ndiffports, 250.0),
            (&[100, 100, 50], Mptcp::Off, 100.0),
        ] {
            let found = rate(trunks, mptcp);
            assert!(
                (found / net / expected - 1.0).abs() < 0.02,
                "{trunks:?} {mptcp:?}: {found} of {expected}"
            );
        }
    }

    #[test]
    fn multipath_tcp_has_the_ideal_of_tcp_where_hosts_have_one_link_and_no_other_path_is_better() {
        for fabric in [
            build::fat_tree(4, &link(1_000), &link(1_000)).unwrap(),
            build::spine_leaf(2, 2, 2, &link(1_000), &link(1_000)).unwrap(),
            build::spine_leaf(1, 2, 2, &link(1_000), &link(400)).unwrap(),
        ] {
            for bytes in [1, 1_448, 1_000_000] {
                let [tcp, mptcp] = [Mptcp::Off, Mptcp::Ndiffports].map(|mptcp| {
                    let ideal = Ideal::new(&fabric, &linux(mptcp));
                    ideal.fct(&fabric, &EqualCost::compute(&fabric), &flow(0, 3, bytes))
                });
                assert_eq!(tcp.1, mptcp.1);
                let apart = tcp.0.as_secs_f64() - mptcp.0.as_secs_f64();
                assert!(apart.abs() < 2e-9, "{} {bytes}: {tcp:?} {mptcp:?}", fabric.name());
            }
        }
    }

    #[test]
    fn a_link_that_is_down_does_not_count() {
        let fabric = two_links(&link(100), [&link(100); 2], None);
        let mut ideal = Ideal::new(&fabric, &linux(Mptcp::Fullmesh));
        let time =
            |ideal: &Ideal, routes| ideal.fct(&fabric, &routes, &flow(0, 1, 1_000_000)).0.as_secs_f64();
        let both = time(&ideal, EqualCost::compute(&fabric));
        let second = fabric.ports(fabric.host_node(HostId(0)))[1];
        ideal.set_down(&Arc::new([second, second.reverse()].into_iter().collect()));
        let up = |id: LinkId| id != second && id != second.reverse();
        let one = time(&ideal, EqualCost::compute_where(&fabric, up));
        assert!((one / both - 2.0).abs() < 0.01, "{one} {both}");
    }
}
