//! [`Domains`]: the scale-up domains of hosts.

use std::collections::{BTreeMap, HashMap};

use weft_fabric::Fabric;
use weft_units::{Duration, HostId, LinkId, NodeId, Rate};

/// Properties of a host's links besides their outgoing rates.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Ways {
    pub(super) rate_in: Rate,
    pub(super) delay_out: Duration,
    pub(super) delay_in: Duration,
}

impl Ways {
    /// The smaller delays of both.
    pub(super) fn least(self, other: Self) -> Self {
        let (delay_out, delay_in) = (self.delay_out.min(other.delay_out), self.delay_in.min(other.delay_in));
        Self { delay_out, delay_in, ..self }
    }
}

/// The links that messages between two hosts take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Course {
    /// Those into the network.
    Network,
    /// Those into their scale-up domain.
    Domain,
    /// Those into their scale-up domain while these work, else those into the network.
    Either,
}

impl Course {
    /// The rate of a host `within` its domain or `through` the network, whichever a message takes. For one that changes between
    /// them, the sum: it sends on the other link while packets on the first one are in flight.
    pub(crate) fn rate(self, within: Rate, through: Rate) -> Rate {
        match self {
            Self::Domain => within,
            Self::Network => through,
            Self::Either => Rate::from_bps(within.bps().saturating_add(through.bps())),
        }
    }
}

/// The scale-up domains; empty if there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Domains {
    /// The hosts of each; then each host outside of all.
    hosts: Vec<Vec<HostId>>,
    /// The domain of each host; [`NONE`] outside.
    of_host: Vec<u32>,
    /// The link of each host into its domain, unless it is down all the time, and whether it always works.
    ways: Vec<Option<(Rate, Ways, bool)>>,
}

/// The domain of a host outside of all domains.
const NONE: u32 = u32::MAX;

impl Domains {
    /// Those of a fabric. Whether a link is up; `None` if that changes.
    pub(super) fn of(fabric: &Fabric, is_up: impl Fn(LinkId) -> Option<bool>) -> Self {
        if !fabric.has_scale_up() {
            return Self::default();
        }
        let mut members: BTreeMap<NodeId, Vec<HostId>> = BTreeMap::new();
        let mut ways = Vec::new();
        for host in (0..fabric.host_count() as u32).map(HostId) {
            let Some(id) = fabric.scale_up_link(host) else {
                ways.push(None);
                continue;
            };
            let (out, back) = (fabric.link(id), fabric.link(id.reverse()));
            members.entry(out.to).or_default().push(host);
            let states = [id, id.reverse()].map(&is_up);
            let way = Ways { rate_in: back.rate, delay_out: out.delay, delay_in: back.delay };
            let is_down = states.contains(&Some(false));
            ways.push((!is_down).then_some((out.rate, way, states == [Some(true); 2])));
        }
        let mut hosts: Vec<Vec<HostId>> = members.into_values().collect();
        let mut of_host = vec![NONE; ways.len()];
        for (domain, hosts) in (0..).zip(&hosts) {
            hosts.iter().for_each(|host| of_host[host.index()] = domain);
        }
        let outside = (0..).map(HostId).zip(&of_host).filter(|(_, domain)| **domain == NONE);
        hosts.extend(outside.map(|(host, _)| vec![host]));
        Self { hosts, of_host, ways }
    }

    /// The hosts of each domain, then each host outside of all.
    pub(super) fn hosts(&self) -> &[Vec<HostId>] {
        &self.hosts
    }

    /// The links that messages between two hosts take.
    pub(super) fn course(&self, a: HostId, b: HostId) -> Course {
        let is_always =
            |host: HostId| self.ways.get(host.index()).copied().flatten().map(|(.., always)| always);
        match (self.share(a, b), is_always(a), is_always(b)) {
            (true, Some(true), Some(true)) => Course::Domain,
            (true, Some(_), Some(_)) => Course::Either,
            _ => Course::Network,
        }
    }

    /// Whether two hosts belong to one domain.
    pub(super) fn share(&self, a: HostId, b: HostId) -> bool {
        let of = |host: HostId| self.of_host.get(host.index()).filter(|domain| **domain != NONE);
        of(a).is_some_and(|domain| Some(domain) == of(b))
    }

    /// The link of a host into its domain: the rate out of it, and the rest; `None` if it is down all the time.
    pub(super) fn within(&self, host: HostId) -> Option<(Rate, Ways)> {
        let (rate, ways, _) = (*self.ways.get(host.index())?)?;
        Some((rate, ways))
    }

    /// The rank that passes messages on from a rank to another, with ranks on these hosts: that on the host of the sender's
    /// scale-up domain with the number of the receiver's host in its own.
    pub(super) fn rails(&self, hosts: &[HostId]) -> impl Fn(u32, u32) -> Option<u32> {
        let mut numbers = vec![NONE; self.of_host.len()];
        for members in &self.hosts {
            (0..).zip(members).for_each(|(number, host)| numbers[host.index()] = number);
        }
        let place = |host: HostId| {
            let domain = self.of_host.get(host.index()).copied().filter(|domain| *domain != NONE);
            domain.map(|domain| (domain, numbers[host.index()]))
        };
        let places: Vec<Option<(u32, u32)>> = hosts.iter().map(|host| place(*host)).collect();
        let ranks: HashMap<(u32, u32), u32> =
            (0..).zip(&places).filter_map(|(rank, place)| Some(((*place)?, rank))).collect();
        move |src, dst| {
            let ((domain, number), (other, to)) = (places[src as usize]?, places[dst as usize]?);
            let is_across = domain != other && number != to;
            is_across.then(|| ranks.get(&(domain, to)).copied()).flatten()
        }
    }

    /// The number of ranks in each scale-up domain, with ranks on these hosts.
    ///
    /// # Errors
    /// Not all domains have as many ranks, at least two, next to each other.
    pub(super) fn ranks(&self, hosts: &[HostId], names: &[String]) -> Result<u32, String> {
        if self.hosts.is_empty() {
            return Err("the fabric has none; set `fabric.scale_up`".to_owned());
        }
        let name_of = |host: HostId| &names[host.index()];
        let runs: Vec<&[HostId]> = hosts.chunk_by(|a, b| self.share(*a, *b)).collect();
        let mut known: HashMap<u32, HostId> = HashMap::new();
        for &head in runs.iter().map(|run| &run[0]) {
            let domain = self.of_host[head.index()];
            if domain == NONE {
                return Err(format!("`{}` is in none; expected `ranks` without it", name_of(head)));
            }
            if let Some(other) = known.insert(domain, head) {
                return Err(format!(
                    "`{}` and `{}` share one, but ranks between them are in others; expected the ranks of a domain next to each \
                     other, as with placement = \"rack\"",
                    name_of(other),
                    name_of(head)
                ));
            }
        }
        let size = runs.first().map_or(0, |run| run.len());
        for run in &runs {
            let name = name_of(run[0]);
            if run.len() == 1 {
                return Err(format!("that of `{name}` has one rank; expected at least 2 in each"));
            }
            if run.len() != size {
                return Err(format!(
                    "that of `{}` has {size} ranks, that of `{name}` {}; expected as many in each",
                    name_of(hosts[0]),
                    run.len()
                ));
            }
        }
        Ok(size as u32)
    }

    /// The number of scale-up domains of these hosts; without any, each host is a server of its own.
    pub(super) fn servers(&self, hosts: &[HostId]) -> u64 {
        let mut domains: Vec<Option<u32>> =
            hosts.iter().map(|host| self.of_host.get(host.index()).copied()).collect();
        if domains.contains(&None) {
            return hosts.len() as u64;
        }
        domains.sort_unstable();
        domains.dedup();
        domains.len() as u64
    }
}
