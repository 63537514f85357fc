//! [`Paths`]: the paths from a switch to the other switches with hosts, their round trips, and which are congested.

use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::{Fabric, Overhead};
use weft_units::{Bytes, Duration, HostId, NodeId, Time};

use super::departures::Draw;
use crate::hash::pick;
use crate::{Forwarding, Header, Stream};

/// The entries of a table of congested paths, as in conweave-ns3.
const MOST_ENTRIES: usize = 1 << 16;
/// The choices of a switch that a path can name.
const MOST_CHOICES: usize = 1 << 8;

/// The round trip to a switch in the idle fabric.
#[derive(Clone, Copy, Default)]
struct RoundTrip {
    /// Fixed part of the round trip: an empty packet and its answer, framed.
    fixed: Duration,
    /// Additional picoseconds per byte of the IP packet.
    ps_per_byte: u64,
}

/// The paths from one switch.
pub(super) struct Paths {
    node: NodeId,
    members: Arc<[HostId]>,
    /// For each other switch, the number of choices at this switch and at the next one.
    choices: Vec<[usize; 2]>,
    round_trips: Vec<RoundTrip>,
    /// The path of each entry, and until when it is congested.
    congested: Vec<(u32, Time)>,
    /// The choices for which the table has places.
    width: [usize; 2],
}

impl Paths {
    /// The paths from `node` to the switches with the hosts `members`.
    pub(super) fn new(
        fabric: &Fabric,
        routes: &Arc<Forwarding>,
        node: NodeId,
        members: Arc<[HostId]>,
    ) -> Self {
        let round_trips = members.iter().map(|host| round_trip(fabric, routes, node, *host)).collect();
        let mut paths =
            Self { node, members, choices: Vec::new(), round_trips, congested: Vec::new(), width: [1, 1] };
        paths.renew(routes);
        paths.width = [0, 1].map(|level| paths.choices.iter().map(|counts| counts[level]).max().unwrap_or(1));
        let all = paths.members.len() * paths.width[0] * paths.width[1];
        paths.congested = vec![(0, Time::ZERO); all.clamp(1, MOST_ENTRIES)];
        paths
    }

    /// The routes have changed.
    pub(super) fn renew(&mut self, routes: &Arc<Forwarding>) {
        let choices = |host: &HostId| {
            let hops = routes.at(self.node);
            let ports = hops.all(*host);
            let next = ports.iter().map(|port| {
                let to = routes.links(self.node)[port.index()].to;
                routes.at(to).all(*host).len()
            });
            [ports.len(), next.max().unwrap_or(1)].map(|count| count.clamp(1, MOST_CHOICES))
        };
        self.choices = self.members.iter().map(choices).collect();
    }

    /// The round trip of a packet to switch `to` and of the answer, in the idle fabric.
    pub(super) fn idle(&self, to: u16, ip_bytes: u16) -> Duration {
        let RoundTrip { fixed, ps_per_byte } = self.round_trips[usize::from(to)];
        fixed + Duration::from_ps(ps_per_byte * u64::from(ip_bytes))
    }

    /// Draws two paths to switch `to`: the first one that is not congested, otherwise the first one.
    pub(super) fn draw(&self, to: u16, now: Time, random: &mut Stream) -> Draw {
        let counts = self.choices[usize::from(to)];
        let mut one = || counts.map(|count| if count > 1 { pick(random.next_u64(), count) as u8 } else { 0 });
        let [first, second] = [one(), one()];
        let good = [first, second].into_iter().find(|path| !self.is_congested(to, *path, now));
        Draw { path: good.unwrap_or(first), is_good: good.is_some() }
    }

    /// The path to switch `to` is congested until then.
    pub(super) fn avoid(&mut self, to: u16, path: [u8; 2], until: Time) {
        let place = self.place(to, path);
        self.congested[place] = (key(to, path), until);
    }

    fn is_congested(&self, to: u16, path: [u8; 2], now: Time) -> bool {
        let (of, until) = self.congested[self.place(to, path)];
        of == key(to, path) && until > now
    }

    fn place(&self, to: u16, [a, b]: [u8; 2]) -> usize {
        let row = usize::from(to) * self.width[1] + usize::from(b);
        (row * self.width[0] + usize::from(a)) % self.congested.len()
    }
}

const fn key(to: u16, [a, b]: [u8; 2]) -> u32 {
    (to as u32) << 16 | (a as u32) << 8 | b as u32
}

/// The round trip from `node` to the switch of `host` over one of the shortest paths; the way back takes the same links.
fn round_trip(fabric: &Fabric, routes: &Arc<Forwarding>, node: NodeId, host: HostId) -> RoundTrip {
    let mut total = RoundTrip::default();
    let mut at = node;
    for _ in 0..fabric.nodes().len() {
        let Some(port) = routes.at(at).all(host).first().copied() else { break };
        let there = fabric.ports(at)[port.index()];
        let link = fabric.link(there);
        if fabric.node(link.to).is_host() {
            break;
        }
        let back = fabric.link(there.reverse());
        let bytes = |overhead: Overhead, ip_bytes: u16| Bytes(overhead.wire_bytes(ip_bytes.into()).into());
        let framing = Bytes(bytes(link.overhead, Overhead::MTU).0 - u64::from(Overhead::MTU));
        let answer = bytes(back.overhead, Header::SHORTEST);
        total.fixed += link.delay + back.delay + back.rate.tx_time(answer) + link.rate.tx_time(framing);
        total.ps_per_byte += link.rate.tx_time(Bytes(1)).ps();
        at = link.to;
    }
    total
}

#[cfg(test)]
mod tests {
    use weft_fabric::{LinkSpec, build};

    use super::*;
    use crate::edge_switches::EdgeSwitches;
    use crate::stream;

    fn paths(fabric: &Fabric) -> Paths {
        let routes = Arc::new(Forwarding::new(fabric, |_| true));
        let edge = EdgeSwitches::new(fabric).unwrap();
        let node = fabric.edge_switch(HostId(0)).unwrap();
        Paths::new(fabric, &routes, node, edge.members())
    }

    #[test]
    fn a_path_is_the_choices_on_the_way_up() {
        let link = LinkSpec::default();
        let leaf_spine = paths(&build::spine_leaf(3, 2, 2, &link, &link).unwrap());
        assert_eq!(leaf_spine.choices[1], [3, 1]);
        let fat_tree = paths(&build::fat_tree(4, &link, &link).unwrap());
        assert_eq!([1, 2].map(|to| fat_tree.choices[to]), [[2, 1], [2, 2]], "in the pod and beyond");
    }

    #[test]
    fn round_trips_are_those_of_the_idle_fabric() {
        let link = LinkSpec::default();
        let leaf_spine = paths(&build::spine_leaf(3, 2, 2, &link, &link).unwrap());
        // Four times 1 us, twice 1538 bytes and twice 84 bytes at 10 Gbps.
        let expected = Duration::from_us(4) + Duration::from_ps(2 * (1_538 + 84) * 800);
        assert_eq!(leaf_spine.idle(1, 1_500), expected);
    }

    #[test]
    fn congested_paths_are_avoided_for_a_while() {
        let link = LinkSpec::default();
        let mut paths = paths(&build::fat_tree(4, &link, &link).unwrap());
        let at = |us| Time::ZERO + Duration::from_us(us);
        for path in [[0, 0], [0, 1], [1, 0]] {
            paths.avoid(2, path, at(16));
        }
        let mut random = stream(1, "switch", 0);
        let mut drawn = |to, us| (0..200).map(|_| paths.draw(to, at(us), &mut random)).collect::<Vec<_>>();
        let good = drawn(2, 15)
            .iter()
            .filter(|draw| draw.is_good)
            .inspect(|draw| assert_eq!(draw.path, [1, 1]))
            .count();
        // One in four is good, of two.
        assert!((60..116).contains(&good), "{good} of 200");
        assert!(drawn(2, 16).iter().all(|draw| draw.is_good));
        assert!(drawn(3, 15).iter().all(|draw| draw.is_good), "another switch");
    }
}
