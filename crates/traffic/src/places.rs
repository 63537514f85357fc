//! [`Places`]: the properties of a fabric that traffic depends on: its hosts, their racks and scale-up domains, and the
//! capacities of host links and rack uplinks.

mod domains;
mod flows;
mod interfaces;

use std::collections::{BTreeMap, HashMap};

use weft_fabric::{Fabric, Link};
use weft_units::{Duration, HostId, LinkId, NodeId, Rate};

pub(crate) use self::domains::Course;
use self::domains::{Domains, Ways};
use self::interfaces::{Interfaces, way};
use crate::lane::InterfaceRule;

/// The hosts attached to one switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rack {
    /// The name of the switch.
    pub name: String,
    /// Its hosts, in ascending order.
    pub hosts: Vec<HostId>,
    /// The sum of the rates of its links to other switches, upwards, including failed ones, and of those of its hosts'
    /// further switches. A load is a fraction of this, so that a failure does not change the traffic.
    pub uplinks: Rate,
    /// The sum without failed links: the rack's actual uplink capacity.
    pub uplinks_up: Rate,
}

/// Hosts, racks and capacities.
#[derive(Clone, Debug, Default)]
pub struct Places {
    names: Vec<String>,
    rates: Vec<Rate>,
    /// Of each host's links to and from it, the sum of the rates into it, and the least delays out of it and into it; empty if
    /// not known.
    ways: Vec<Ways>,
    racks: Vec<Rack>,
    rack_of: Vec<u32>,
    /// Hosts rack by rack, so that a host outside a rack can be drawn in one step.
    by_rack: Vec<HostId>,
    /// Index of each rack's start in `by_rack`, and the end of the last.
    starts: Vec<u32>,
    ids: HashMap<String, HostId>,
    domains: Domains,
    /// The interfaces of hosts and their use by flows, if these are known.
    interfaces: Option<Interfaces>,
}

impl Places {
    /// The hosts of `fabric`. A rack is the switch that a host is attached to (by its first link if it has
    /// several), its uplinks are that switch's links to other switches, and those of further switches that its hosts
    /// are attached to. The uplinks of each switch belong to one rack, the first one with such a host.
    pub fn of(fabric: &Fabric) -> Self {
        let is_outside = |link: &&Link| !fabric.node(link.to).is_scale_up();
        let outgoing = |node| fabric.ports(node).iter().map(|&link| fabric.link(link)).filter(is_outside);
        let sum = |links: &mut dyn Iterator<Item = &Link>| {
            Rate::from_bps(links.map(|link| link.rate.bps()).fold(0, u64::saturating_add))
        };
        let hosts = fabric.hosts().iter().map(|&node| {
            let name = fabric.node(node).name.clone();
            (name, sum(&mut outgoing(node)))
        });
        let mut members: BTreeMap<NodeId, Vec<HostId>> = BTreeMap::new();
        for host in (0..fabric.host_count() as u32).map(HostId) {
            if let Some(switch) = fabric.edge_switch(host) {
                members.entry(switch).or_default().push(host);
            }
        }
        let mut is_counted = vec![false; fabric.nodes().len()];
        members.keys().for_each(|switch| is_counted[switch.index()] = true);
        let racks = members.into_iter().map(|(switch, hosts)| {
            let mut switches = vec![switch];
            for host in &hosts {
                let attached = outgoing(fabric.host_node(*host)).map(|link| link.to);
                switches.extend(attached.filter(|node| {
                    !fabric.node(*node).is_host() && !std::mem::replace(&mut is_counted[node.index()], true)
                }));
            }
            let up = || {
                let all = switches.iter().flat_map(|switch| outgoing(*switch));
                all.filter(|link| !fabric.node(link.to).is_host())
            };
            Rack {
                name: fabric.node(switch).name.clone(),
                hosts,
                uplinks: sum(&mut up()),
                uplinks_up: sum(&mut up().filter(|link| link.up)),
            }
        });
        let ways = (0..fabric.host_count() as u32).map(|host| {
            let all: Vec<Ways> = fabric.network_links(HostId(host)).map(|link| way(fabric, link).1).collect();
            Ways {
                rate_in: Rate::from_bps(all.iter().map(|way| way.rate_in.bps()).fold(0, u64::saturating_add)),
                delay_out: all.iter().map(|way| way.delay_out).min().unwrap_or(Duration::ZERO),
                delay_in: all.iter().map(|way| way.delay_in).min().unwrap_or(Duration::ZERO),
            }
        });
        let domains = Domains::of(fabric, |link| Some(fabric.link(link).up));
        Self { ways: ways.collect(), domains, ..Self::new(hosts.collect(), racks.collect()) }
    }

    /// Hosts with their names and link rates, without link delays, and their racks. A host that no rack lists gets its own rack
    /// without uplinks.
    pub fn new(hosts: Vec<(String, Rate)>, mut racks: Vec<Rack>) -> Self {
        let mut rack_of = vec![u32::MAX; hosts.len()];
        for (index, rack) in racks.iter_mut().enumerate() {
            rack.hosts.retain(|host| {
                let slot = rack_of.get_mut(host.index());
                slot.is_some_and(|slot| std::mem::replace(slot, index as u32) == u32::MAX)
            });
        }
        for (index, (name, _)) in hosts.iter().enumerate() {
            if rack_of[index] == u32::MAX {
                rack_of[index] = racks.len() as u32;
                let none = Rate::from_bps(0);
                let hosts = vec![HostId(index as u32)];
                racks.push(Rack { name: name.clone(), hosts, uplinks: none, uplinks_up: none });
            }
        }
        let by_rack: Vec<HostId> = racks.iter().flat_map(|rack| rack.hosts.iter().copied()).collect();
        let mut starts = vec![0];
        let mut end = 0;
        for rack in &racks {
            end += rack.hosts.len() as u32;
            starts.push(end);
        }
        let ids = hosts.iter().enumerate().map(|(id, (name, _))| (name.clone(), HostId(id as u32))).collect();
        let (names, rates) = hosts.into_iter().unzip();
        let domains = Domains::default();
        let (ways, interfaces) = (Vec::new(), None);
        Self { names, rates, ways, racks, rack_of, by_rack, starts, ids, domains, interfaces }
    }

    /// The same places, of `fabric`, whose links are up or not as `is_up` says, or sometimes (`None`). Flows choose interfaces by a
    /// rule. A flow uses one at each end, or several if `may_use_several`: with Multipath TCP, and where events may move it
    /// while packets are in flight.
    pub fn with_rule(
        self,
        fabric: &Fabric,
        rule: InterfaceRule,
        may_use_several: bool,
        is_up: &dyn Fn(LinkId) -> Option<bool>,
    ) -> Self {
        let interfaces = Some(Interfaces::of(fabric, rule, may_use_several, is_up));
        Self { interfaces, domains: Domains::of(fabric, is_up), ..self }
    }

    /// The number of hosts.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no hosts.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The host named `name`.
    pub fn host(&self, name: &str) -> Option<HostId> {
        self.ids.get(name).copied()
    }

    /// The names of the hosts, by id.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of `host`, empty if there is no such host.
    pub fn name(&self, host: HostId) -> &str {
        self.names.get(host.index()).map_or("", String::as_str)
    }

    /// The sum of the rates at which `host` sends on its links, including failed ones and without that into its scale-up domain.
    pub fn rate(&self, host: HostId) -> Rate {
        self.rates[host.index()]
    }

    /// The sum of the rates at which `host` receives from its links, including failed ones and without that of its scale-up
    /// domain.
    pub fn rate_in(&self, host: HostId) -> Rate {
        self.ways.get(host.index()).map_or(self.rate(host), |ways| ways.rate_in)
    }

    /// Ranks on the rails of the scale-up domains: [`Domains::rails`].
    pub(crate) fn rails(&self, hosts: &[HostId]) -> impl Fn(u32, u32) -> Option<u32> {
        self.domains.rails(hosts)
    }

    /// The number of ranks in each scale-up domain, with ranks on these hosts.
    ///
    /// # Errors
    /// Not all domains have as many ranks, at least two, next to each other.
    pub(crate) fn ranks_of_domains(&self, hosts: &[HostId]) -> Result<u32, String> {
        self.domains.ranks(hosts, &self.names)
    }

    /// The number of scale-up domains of these hosts; without any, each host is a server of its own.
    pub(crate) fn servers_of(&self, hosts: &[HostId]) -> u64 {
        self.domains.servers(hosts)
    }

    /// The hosts of each scale-up domain, in order, then each host outside of all; empty if there are no domains.
    pub fn domains(&self) -> &[Vec<HostId>] {
        self.domains.hosts()
    }

    /// The racks.
    pub fn racks(&self) -> &[Rack] {
        &self.racks
    }

    /// The index of the rack of `host`.
    pub fn rack_of(&self, host: HostId) -> usize {
        self.rack_of[host.index()] as usize
    }

    /// The sum of the rates of all racks' uplinks, in one direction.
    pub fn uplink_capacity(&self) -> f64 {
        self.racks.iter().map(|rack| rack.uplinks.bps() as f64).sum()
    }

    /// The sum of the rates of all hosts' links, in one direction.
    pub fn host_capacity(&self) -> f64 {
        self.rates.iter().map(|rate| rate.bps() as f64).sum()
    }

    /// The number of hosts in other racks than `host`.
    pub(crate) fn outside(&self, host: HostId) -> u64 {
        (self.len() - self.racks[self.rack_of(host)].hosts.len()) as u64
    }

    /// The `index`-th host in another rack than `host`; `index` is below
    /// [`outside`](Self::outside).
    pub(crate) fn nth_outside(&self, host: HostId, index: u64) -> HostId {
        let rack = self.rack_of(host);
        let (start, end) = (self.starts[rack] as usize, self.starts[rack + 1] as usize);
        let index = index as usize;
        self.by_rack[if index < start { index } else { index + end - start }]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use weft_fabric::{LinkSpec, build};

    /// A spine-leaf of `leaves` racks of `hosts` hosts at 1 Gbps, with `spines` uplinks of 1 Gbps per leaf.
    pub(crate) fn spine_leaf(spines: u64, leaves: u32, hosts: u32) -> Places {
        let uplinks = Rate::from_gbps(spines);
        let names = (0..leaves * hosts).map(|id| (format!("h{id}"), Rate::from_gbps(1))).collect();
        let racks = (0..leaves).map(|leaf| Rack {
            name: format!("l{leaf}"),
            hosts: (leaf * hosts..(leaf + 1) * hosts).map(HostId).collect(),
            uplinks,
            uplinks_up: uplinks,
        });
        Places::new(names, racks.collect())
    }

    #[test]
    fn the_hosts_outside_a_rack_are_all_others_once() {
        let places = spine_leaf(2, 3, 4);
        let host = HostId(5);
        let outside: Vec<u32> =
            (0..places.outside(host)).map(|index| places.nth_outside(host, index).0).collect();
        assert_eq!(outside, [0, 1, 2, 3, 8, 9, 10, 11]);
        assert_eq!((places.uplink_capacity(), places.host_capacity()), (6e9, 12e9));
    }

    #[test]
    fn the_places_of_a_fabric_are_its_hosts_and_edge_switches() {
        let link = LinkSpec::new(Rate::from_gbps(1), weft_units::Duration::from_us(1));
        let mut builder = build::fat_tree(4, &link, &link).unwrap().edit();
        builder.fail("e1", "a0").unwrap();
        let places = Places::of(&builder.build().unwrap());
        assert_eq!((places.len(), places.racks().len()), (16, 8));
        assert_eq!((places.host_capacity(), places.uplink_capacity()), (16e9, 16e9));
        assert_eq!(
            (places.host("h5"), places.name(HostId(5)), places.rack_of(HostId(5))),
            (Some(HostId(5)), "h5", 2)
        );
        let rack = &places.racks()[1];
        assert_eq!(
            (rack.name.as_str(), rack.uplinks.bps(), rack.uplinks_up.bps()),
            ("e1", 2e9 as u64, 1e9 as u64)
        );
    }

    #[test]
    fn each_domain_has_as_many_ranks_next_to_each_other() {
        let link = LinkSpec::default();
        let mut fabric = build::spine_leaf(2, 2, 6, &link, &link).unwrap().edit();
        fabric.scale_up(4, &link).unwrap();
        let places = Places::of(&fabric.build().unwrap());
        let ranks = |hosts: &[u32]| {
            let hosts: Vec<HostId> = hosts.iter().copied().map(HostId).collect();
            places.ranks_of_domains(&hosts)
        };
        assert_eq!(ranks(&[0, 1, 2, 3, 8, 9, 10, 11]), Ok(4));
        assert_eq!(ranks(&[5, 4, 2, 3]), Ok(2));
        for (hosts, message) in [
            (&[0, 1, 4, 5, 2][..], "`h0` and `h2` share one, but ranks between them are in others"),
            (&[0, 4, 8], "that of `h0` has one rank; expected at least 2 in each"),
            (&[0, 1, 4], "that of `h4` has one rank"),
            (&[0, 1, 2, 4, 5], "that of `h0` has 3 ranks, that of `h4` 2; expected as many in each"),
        ] {
            let why = ranks(hosts).unwrap_err();
            assert!(why.starts_with(message), "{why}");
        }
        let without = spine_leaf(2, 2, 2).ranks_of_domains(&[HostId(0), HostId(1)]);
        assert_eq!(without, Err("the fabric has none; set `fabric.scale_up`".to_owned()));
    }

    #[test]
    fn the_uplinks_of_all_leaves_of_a_host_count_once() {
        let link = LinkSpec::new(Rate::from_gbps(1), weft_units::Duration::from_us(1));
        // Two spines; each of the four leaves has an uplink to both.
        let dual = build::spine_leaf_with_tors(2, 4, 3, 2, &link, &link).unwrap();
        let places = Places::of(&dual);
        assert_eq!((places.len(), places.racks().len()), (6, 2));
        assert_eq!((places.uplink_capacity(), places.host_capacity()), (8e9, 12e9));
        let mut builder = dual.edit();
        builder.fail("l1", "s0").unwrap();
        let racks: Vec<(u64, u64)> = Places::of(&builder.build().unwrap())
            .racks()
            .iter()
            .map(|rack| (rack.uplinks.bps() / 1_000_000_000, rack.uplinks_up.bps() / 1_000_000_000))
            .collect();
        assert_eq!(racks, [(4, 3), (4, 4)]);
    }

    #[test]
    fn a_host_without_a_rack_is_a_rack_of_its_own() {
        let places =
            Places::new(vec![("a".into(), Rate::from_gbps(1)), ("b".into(), Rate::from_gbps(1))], vec![]);
        assert_eq!(places.racks().len(), 2);
        assert_eq!((places.outside(HostId(0)), places.nth_outside(HostId(0), 0)), (1, HostId(1)));
    }
}
