//! [`Provisioner`]: the flow tables of a whole fat-tree.
//!
//! A switch with hosts has a rule for each address, and a group of paths for each destination place (an edge switch, an
//! external router). When a link fails, groups lose the paths over it, and rules stay: one change per place moves all
//! flows to it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use thiserror::Error;
use weft_fabric::Fabric;
use weft_fabric::gates::{Direction, Gate, GatePlan, Layer};
use weft_units::{HostId, LinkId, NodeId};

use super::flow::{FlowAction, FlowChange, FlowMatch, FlowRule, FlowTarget, GroupId, Way};

/// The priority of the provisioner's rules: other rules may have lower or higher ones.
pub const PRIORITY: u16 = 1000;

/// A link of the fat-tree with its gates.
#[derive(Clone, Copy, Debug)]
struct Cable {
    link: LinkId,
    /// The gate at the lower end.
    up: Gate,
    /// The gate at the upper end.
    down: Gate,
}

/// The position of a switch: pod and number there, or core group and number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Edge { pod: usize, edge: usize },
    Core { group: usize, core: usize },
}

impl At {
    fn is_in(self, other: usize) -> bool {
        matches!(self, Self::Edge { pod, .. } if pod == other)
    }
}

/// The destination of a group.
#[derive(Clone, Debug)]
enum Place {
    /// The servers of an edge switch.
    Edge { pod: usize, edge: usize },
    /// A host outside, with the links to it: core group, core, link and gate there.
    External(Vec<(usize, usize, LinkId, Gate)>),
}

/// A switch with hosts.
#[derive(Clone, Debug)]
struct Source {
    node: NodeId,
    at: At,
    /// Its groups as last sent, by place; `None` if no frames go there from here.
    sent: Vec<Option<Arc<[Way]>>>,
}

/// The rules of a fat-tree, updated as links fail and recover.
#[derive(Clone, Debug)]
pub struct Provisioner {
    plan: GatePlan,
    /// Addresses by host.
    addresses: Vec<Vec<IpAddr>>,
    /// The host of an address.
    owners: HashMap<IpAddr, HostId>,
    /// The link between an edge and an aggregation switch, by pod, edge and group.
    lower: Vec<Vec<Vec<Cable>>>,
    /// The link between an aggregation switch and a core, by pod, group and core.
    upper: Vec<Vec<Vec<Cable>>>,
    places: Vec<Place>,
    /// The place of each host.
    place_of: Vec<Option<usize>>,
    sources: Vec<Source>,
    /// The QID of frames from and to hosts outside.
    external_queue: u8,
    /// Whether each link is up.
    is_up: Vec<bool>,
    /// One shared copy of each list of paths.
    known: HashMap<Box<[Way]>, Arc<[Way]>>,
}

/// Why a pair has no rule at a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NoRule {
    /// An address that belongs to no host.
    #[error("{0} is not the address of any host")]
    Unknown(IpAddr),
    /// The source's host is attached to another switch.
    #[error("{0} is the address of a host on another switch")]
    Elsewhere(IpAddr),
    /// Both belong to one host, are both outside, or are of different families.
    #[error("no path from {from} to {to}")]
    Unrelated {
        /// The source.
        from: IpAddr,
        /// The destination.
        to: IpAddr,
    },
}

impl Provisioner {
    /// The rules of `fabric` with the gates of `plan`; `addresses` returns the addresses of a host. Links that are down
    /// are not used.
    pub fn new(fabric: &Fabric, plan: GatePlan, addresses: impl Fn(HostId) -> Vec<IpAddr>) -> Self {
        let cable = |below: NodeId, above: NodeId| {
            let link = fabric.link_between(below, above)?;
            let (up, down) = (fabric.link(link).from_port, fabric.link(link).to_port);
            let gate = |node, port| plan.switch(node)?.at(port).map(|gate| gate.gate);
            Some(Cable { link, up: gate(below, up)?, down: gate(above, down)? })
        };
        let between =
            |below: NodeId, above: &[NodeId]| above.iter().filter_map(|&above| cable(below, above)).collect();
        let tree = plan.tree();
        let (mut lower, mut upper, mut places, mut at) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
        for (pod, members) in tree.pods().iter().enumerate() {
            lower.push(members.edges.iter().map(|&edge| between(edge, &members.aggregations)).collect());
            let cores = members.aggregations.iter().zip(tree.groups());
            upper.push(cores.map(|(&aggregation, cores)| between(aggregation, cores)).collect());
            for (edge, &node) in members.edges.iter().enumerate() {
                at.insert(node, (At::Edge { pod, edge }, places.len()));
                places.push(Place::Edge { pod, edge });
            }
        }
        for (group, cores) in tree.groups().iter().enumerate() {
            for (core, &node) in cores.iter().enumerate() {
                at.insert(node, (At::Core { group, core }, usize::MAX));
            }
        }
        let hosts = (0..fabric.host_count() as u32).map(HostId);
        let mut place_of = Vec::new();
        for host in hosts.clone() {
            let gates: Vec<_> = plan.gates_of(host).collect();
            let external = gates.iter().filter_map(|(node, gate)| match at.get(node)?.0 {
                At::Core { group, core } => Some((group, core, fabric.link_at(*node, gate.port)?, gate.gate)),
                At::Edge { .. } => None,
            });
            let external: Vec<_> = external.collect();
            place_of.push(match gates.first().and_then(|(node, _)| at.get(node)) {
                Some((At::Edge { .. }, place)) => Some(*place),
                Some((At::Core { .. }, _)) => {
                    places.push(Place::External(external));
                    Some(places.len() - 1)
                }
                None => None,
            });
        }
        let with_hosts = |node: &NodeId| {
            fabric.ports(*node).iter().any(|link| fabric.node(fabric.link(*link).to).is_host())
        };
        let sources = fabric
            .switches()
            .filter(with_hosts)
            .filter_map(|node| Some(Source { node, at: at.get(&node)?.0, sent: vec![None; places.len()] }));
        let sources = sources.collect();
        let is_up = fabric.links().iter().map(|link| link.up).collect();
        let addresses: Vec<Vec<IpAddr>> = hosts.map(addresses).collect();
        let owned = (0..).map(HostId).zip(&addresses);
        let owners =
            owned.flat_map(|(host, addresses)| addresses.iter().map(move |address| (*address, host)));
        let (owners, known) = (owners.collect(), HashMap::new());
        let mut provisioner = Self {
            plan,
            addresses,
            owners,
            lower,
            upper,
            places,
            place_of,
            sources,
            external_queue: 0,
            is_up,
            known,
        };
        provisioner.renew(|_, _| true);
        provisioner
    }

    /// This rules with this QID, 0 to 7, for frames from and to hosts outside.
    pub fn with_external_queue(self, external_queue: u8) -> Self {
        Self { external_queue, ..self }
    }

    /// The gates.
    pub const fn plan(&self) -> &GatePlan {
        &self.plan
    }

    /// The switches that have rules: those with hosts.
    pub fn sources(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.sources.iter().map(|source| source.node)
    }

    /// The groups of a switch, with their current paths.
    pub fn groups(&self, node: NodeId) -> impl Iterator<Item = (GroupId, &Arc<[Way]>)> + '_ {
        let sent = self.source(node).into_iter().flat_map(|source| &source.sent);
        (0..).map(GroupId).zip(sent).filter_map(|(id, ways)| Some((id, ways.as_ref()?)))
    }

    /// All changes that provision a switch with an empty flow table: groups, then rules.
    pub fn provision(&self, node: NodeId) -> Vec<FlowChange> {
        let Some(source) = self.source(node) else { return Vec::new() };
        let set = |(id, ways): (GroupId, &Arc<[Way]>)| FlowChange::SetGroup { id, ways: Arc::clone(ways) };
        let mut changes: Vec<FlowChange> = self.groups(node).map(set).collect();
        for (host, addresses) in (0..).map(HostId).zip(&self.addresses) {
            let Some(action) = self.action(source, host) else { continue };
            changes.extend(addresses.iter().map(|&address| {
                FlowChange::Add(FlowRule { priority: PRIORITY, matches: FlowMatch::to(address), action })
            }));
        }
        changes
    }

    /// The rule of a single pair, for a switch that has groups but no rules and has received the first frame from `source`
    /// to `destination`.
    ///
    /// # Errors
    /// [`NoRule`] if frames between the two are not forwarded from this switch.
    pub fn pair(&self, node: NodeId, source: IpAddr, destination: IpAddr) -> Result<FlowRule, NoRule> {
        let owner = |address| self.owners.get(&address).copied().ok_or(NoRule::Unknown(address));
        let (from, to) = (owner(source)?, owner(destination)?);
        let elsewhere = NoRule::Elsewhere(source);
        let at = self.source(node).ok_or(elsewhere)?;
        if !self.plan.gates_of(from).any(|(attached, _)| attached == node) {
            return Err(elsewhere);
        }
        let unrelated = NoRule::Unrelated { from: source, to: destination };
        let matches = FlowMatch::new(IpNet::from(source), IpNet::from(destination)).map_err(|_| unrelated)?;
        let action = self.action(at, to).filter(|_| from != to).ok_or(unrelated)?;
        Ok(FlowRule { priority: PRIORITY, matches, action })
    }

    fn source(&self, node: NodeId) -> Option<&Source> {
        self.sources.iter().find(|source| source.node == node)
    }

    /// The action at `source` on frames to `host`.
    fn action(&self, source: &Source, host: HostId) -> Option<FlowAction> {
        let place = self.place_of[host.index()]?;
        let (node, gate) = self.plan.gates_of(host).next()?;
        let down = if gate.direction == Direction::Down { gate.gate.0 } else { 0 };
        let to = if node == source.node && self.plan.switch(node)?.layer == Layer::Edge {
            FlowTarget::Way(Way { gate: gate.gate, up: 0 })
        } else {
            source.sent[place].as_ref()?;
            FlowTarget::Group(GroupId(place as u32))
        };
        let is_external =
            matches!(source.at, At::Core { .. }) || matches!(self.places[place], Place::External(_));
        let queue = if is_external { self.external_queue } else { 0 };
        Some(FlowAction { queue, down, to })
    }

    /// One direction of a link has failed or recovered: returns the changes for switches. A link with one direction down
    /// is not used.
    pub fn link_changed(&mut self, link: LinkId, up: bool) -> Vec<(NodeId, FlowChange)> {
        match self.is_up.get_mut(link.index()) {
            Some(is_up) if *is_up != up => *is_up = up,
            _ => return Vec::new(),
        }
        let is_it = |cable: &Cable| cable.link == link || cable.link == link.reverse();
        let in_pod = |pod: usize| self.upper[pod].iter().flatten().any(is_it);
        let below = |pod: usize, edge: usize| self.lower[pod][edge].iter().any(is_it);
        let pods = 0..self.upper.len();
        if let Some(pod) = pods.clone().find(|pod| in_pod(*pod)) {
            return self.renew(|from, to| {
                from.is_in(pod) || matches!(to, Place::Edge { pod: to, .. } if *to == pod)
            });
        }
        let edges = pods.flat_map(|pod| (0..self.lower[pod].len()).map(move |edge| (pod, edge)));
        let lower = edges.into_iter().find(|(pod, edge)| below(*pod, *edge));
        if let Some((pod, edge)) = lower {
            let to_it =
                |to: &Place| matches!(to, Place::Edge { pod: to, edge: last } if (*to, *last) == (pod, edge));
            return self.renew(|from, to| from == At::Edge { pod, edge } || to_it(to));
        }
        self.renew(|_, to| {
            matches!(to, Place::External(cables) if cables.iter().any(|(_, _, cable, _)| {
                *cable == link || *cable == link.reverse()
            }))
        })
    }

    /// Recomputes the paths between the switches and places selected by `of`; returns the changes.
    fn renew(&mut self, of: impl Fn(At, &Place) -> bool) -> Vec<(NodeId, FlowChange)> {
        let mut changes = Vec::new();
        let mut known = std::mem::take(&mut self.known);
        let mut sources = std::mem::take(&mut self.sources);
        let mut found = Vec::new();
        for source in &mut sources {
            for ((id, place), sent) in (0..).zip(&self.places).zip(&mut source.sent) {
                found.clear();
                if !of(source.at, place)
                    || !self.ways(source.at, place, &mut found)
                    || sent.as_deref() == Some(&found)
                {
                    continue;
                }
                let ways = known.entry(found.as_slice().into()).or_insert_with(|| found.as_slice().into());
                *sent = Some(Arc::clone(ways));
                let change = FlowChange::SetGroup { id: GroupId(id), ways: Arc::clone(ways) };
                changes.push((source.node, change));
            }
        }
        (self.known, self.sources) = (known, sources);
        changes
    }

    /// Finds the paths from a switch to a place over working links, in the order of the tag's gates;
    /// `false` if frames do not go there from here.
    fn ways(&self, from: At, to: &Place, found: &mut Vec<Way>) -> bool {
        let works = |cable: &Cable| self.works(cable.link);
        let (lower, upper) = (&self.lower, &self.upper);
        match (from, to) {
            (At::Edge { pod, edge }, Place::Edge { pod: other, edge: last }) if pod == *other => {
                if edge == *last {
                    return false;
                }
                let pairs = lower[pod][edge].iter().zip(&lower[pod][*last]);
                found.extend(
                    pairs
                        .filter(|(up, down)| works(up) && works(down))
                        .map(|(up, _)| Way { gate: up.up, up: 0 }),
                );
            }
            (At::Edge { pod, edge }, Place::Edge { pod: other, edge: last }) => {
                let first = &lower[pod][edge];
                for (group, first) in first.iter().enumerate().filter(|(_, first)| works(first)) {
                    if !works(&lower[*other][*last][group]) {
                        continue;
                    }
                    let pairs = upper[pod][group].iter().zip(&upper[*other][group]);
                    let alive = pairs.filter(|(up, down)| works(up) && works(down));
                    found.extend(alive.map(|(up, _)| Way { gate: first.up, up: up.up.0 }));
                }
            }
            (At::Edge { pod, edge }, Place::External(cables)) => {
                for (group, core, link, gate) in cables {
                    let (first, second) = (&lower[pod][edge][*group], &upper[pod][*group][*core]);
                    if works(first) && works(second) && self.works(*link) {
                        found.push(Way { gate: first.up, up: gate.0 });
                    }
                }
            }
            (At::Core { group, core }, Place::Edge { pod, edge }) => {
                let (first, second) = (&upper[*pod][group][core], &lower[*pod][*edge][group]);
                if works(first) && works(second) {
                    found.push(Way { gate: first.down, up: 0 });
                }
            }
            (At::Core { .. }, Place::External(_)) => return false,
        }
        true
    }

    fn works(&self, link: LinkId) -> bool {
        self.is_up[link.index()] && self.is_up[link.reverse().index()]
    }
}
