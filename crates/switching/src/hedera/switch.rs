//! [`HederaSwitch`]: ECMP, counters of the flows of its hosts, and the controller's rules for single flows.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use weft_control::{End, FlowCount, Match, RuleAction, RuleChange};
use weft_units::{HostId, PortId, Time};

use crate::hash::{mix64, pick};
use crate::smoc::{address, port_id};
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch, TableEntries};

/// Source, destination and their ports.
pub(super) type Flow = ([HostId; 2], [u16; 2]);

/// A Hedera switch.
pub struct HederaSwitch {
    pub(super) next_hops: NextHops,
    /// Whether each port leads to a host.
    pub(super) is_to_host: Vec<bool>,
    pub(super) key: u64,
    /// The ports of the flows that the controller has placed.
    pub(super) rules: HashMap<Flow, PortId, FxBuildHasher>,
    pub(super) counters: Counters,
}

/// Bytes of the flows of a switch's hosts since the controller asked.
pub(super) struct Counters {
    bytes: HashMap<Flow, u64, FxBuildHasher>,
    most: usize,
}

impl Counters {
    /// Creates an empty table for `most` flows; further flows are not counted.
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: HashMap::default(), most }
    }

    #[inline]
    fn count(&mut self, flow: Flow, bytes: u16) {
        if let Some(count) = self.bytes.get_mut(&flow) {
            *count += u64::from(bytes);
        } else if self.bytes.len() < self.most {
            self.bytes.insert(flow, bytes.into());
        }
    }

    fn take(&mut self) -> Vec<FlowCount> {
        let mut counts: Vec<(Flow, u64)> = self.bytes.drain().collect();
        counts.sort_unstable();
        let end = |host, port| End { address: address(host), port };
        let flow_counts = counts.into_iter().map(|(([from, to], [sport, dport]), bytes)| FlowCount {
            source: end(from, sport),
            destination: end(to, dport),
            bytes,
        });
        flow_counts.collect()
    }
}

/// The simulated host with this address.
pub(super) fn host_of(address: IpAddr) -> Option<HostId> {
    match address {
        IpAddr::V4(address) => address.to_bits().checked_sub(0x0a00_0001).map(HostId),
        IpAddr::V6(_) => None,
    }
}

/// The flow of a rule for a single one. The ports are those of TCP or UDP.
fn flow_of(matches: &Match) -> Option<Flow> {
    let hosts = [host_of(matches.ip_src?)?, host_of(matches.ip_dst?)?];
    Some((hosts, [matches.tcp_src?, matches.tcp_dst?]))
}

impl Switch for HederaSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, _ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let Some(host) = header.destination() else { return out.drop(DropReason::NoRoute) };
        let ports = self.next_hops.all(host);
        let Some(&first) = ports.first() else { return out.drop(DropReason::NoRoute) };
        let source = header.source().filter(|_| header.is_of_flow());
        let flow = source.map(|source| ([source, host], [header.sport, header.dport]));
        let is_from_host = self.is_to_host.get(ingress.index()).is_some_and(|is_to_host| *is_to_host);
        if let Some(flow) = flow.filter(|_| is_from_host && !self.is_to_host[first.index()]) {
            self.counters.count(flow, header.ip_bytes);
        }
        if ports.len() == 1 {
            return out.send(first);
        }
        let ruled = match flow {
            Some(flow) if !self.rules.is_empty() => self.rules.get(&flow),
            _ => None,
        };
        let by_hash = || ports[pick(mix64(u64::from(header.path_hash()) ^ self.key), ports.len())];
        // Routes may have changed since the controller placed the flow.
        out.send(ruled.copied().filter(|port| ports.contains(port)).unwrap_or_else(by_hash));
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
    }

    fn apply(&mut self, _now: Time, change: &RuleChange) {
        match change {
            RuleChange::Add(rule) | RuleChange::Modify(rule) => {
                let flow = flow_of(&rule.matches);
                if let (Some(flow), [RuleAction::Output(port)]) = (flow, &rule.actions[..])
                    && (self.rules.len() < self.counters.most || self.rules.contains_key(&flow))
                {
                    self.rules.insert(flow, port_id(*port));
                }
            }
            RuleChange::Remove { matches, .. } => {
                flow_of(matches).map(|flow| self.rules.remove(&flow));
            }
            RuleChange::Flow(_) => {}
        }
    }

    fn flow_counts(&mut self) -> Vec<FlowCount> {
        self.counters.take()
    }

    fn table_entries(&mut self, _now: Time) -> TableEntries {
        TableEntries { flows: self.rules.len(), ..TableEntries::default() }
    }
}

#[cfg(test)]
mod tests {
    use weft_control::{Match, Rule};
    use weft_fabric::{Fabric, LinkSpec, build};
    use weft_units::NodeId;

    use super::*;
    use crate::action::Action;
    use crate::blueprint::Blueprint;
    use crate::hedera::Hedera;
    use crate::smoc::port_no;
    use crate::switch::Idle;
    use crate::{Kind, SchemeSpec, stream};
    use weft_wire::Mac;

    fn leaf(fabric: &Fabric) -> HederaSwitch {
        let routes = Arc::new(Forwarding::new(fabric, |_| true));
        let spec = SchemeSpec { name: "hedera".to_owned(), params: Default::default() };
        let leaf: NodeId = fabric.edge_switch(HostId(0)).unwrap();
        Hedera::new(fabric, routes, 1, &spec).switch(fabric, leaf)
    }

    #[test]
    fn flows_are_counted_and_follow_their_rules_whatever_their_protocol() {
        // The first leaf has ports to its two hosts, and then to the four spines.
        let fabric = build::spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
        for kind in [Kind::Tcp, Kind::Other] {
            let mut leaf = leaf(&fabric);
            let flow = Header {
                src: Mac::of_host(0),
                dst: Mac::of_host(2),
                sport: 7,
                dport: 80,
                kind,
                ip_bytes: 1_000,
                ..Header::default()
            };
            let mut ctx = Idle(Time::ZERO, stream(1, "hedera", 0));
            let mut way = |leaf: &mut HederaSwitch| {
                let mut out = Actions::default();
                leaf.receive(&mut ctx, PortId(0), &flow, &mut out);
                out.take_only()
            };
            let by_hash = way(&mut leaf);
            let other = (2..6).map(PortId).find(|port| by_hash != Some(Action::Send(*port))).unwrap();
            let end = |host, port| End { address: address(HostId(host)), port };
            let counted = FlowCount { source: end(0, 7), destination: end(2, 80), bytes: 1_000 };
            assert_eq!(leaf.flow_counts(), [counted], "{kind:?}");
            let rule = Rule {
                cookie: 1,
                priority: 1,
                matches: Match {
                    ip_src: Some(address(HostId(0))),
                    ip_dst: Some(address(HostId(2))),
                    tcp_src: Some(7),
                    tcp_dst: Some(80),
                    ..Match::ALL
                },
                actions: [RuleAction::Output(port_no(other))].into_iter().collect(),
                idle_timeout_s: 0,
                notify_removed: false,
            };
            leaf.apply(Time::ZERO, &RuleChange::Add(rule));
            assert_eq!(way(&mut leaf), Some(Action::Send(other)), "{kind:?}");
        }
    }
}
