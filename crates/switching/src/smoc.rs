//! smoc: a central controller places each subflow of a Multipath TCP connection on its own path.
//!
//! The switches only apply rules (OpenFlow 1.3). [`weft_control::Smoc`] decides the rules, as it does for real switches
//! (Nakasan et al., "A simple multipath OpenFlow controller using topology-based algorithm for Multipath TCP",
//! Concurrency and Computation 2017).
//!
//! A frame's label is in its overlay ([`Header::label`]): `dst` still identifies the host, unlike in a real frame,
//! where the label replaces it. A host's IPv4 address is 10.0.0.1 plus its number.

use std::net::{IpAddr, Ipv4Addr};

use weft_control::{Match, PathOrder, Pick, PortNo, Reverse, RuleAction, RuleChange, Settings, SwitchId};
use weft_fabric::Fabric;
use weft_units::{Duration, HostId, NodeId, PortId, Time, params};
use weft_wire::{EtherType, Mac};

use crate::action::{Report, Rewrite};
use crate::blueprint::{Blueprint, Central};
use crate::descriptor::{Descriptor, Need, Overlay};
use crate::header::{Header, Kind};
use crate::rule_table::RuleTable;
use crate::spec::{Contradiction, SchemeSpec};
use crate::timing::Timing;
use crate::{Actions, Context, DropReason, Switch, TableEntries};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "smoc",
    summary: "a central controller places each subflow of a Multipath TCP connection on its own path",
    decides: "controller",
    observes: "subflows of connections",
    source: "Nakasan et al., 2017",
    params: Config::PARAMS,
    needs: &[Need::MultipathHost, Need::Controller],
    overlay: Overlay::Label,
    contradiction,
    ..Descriptor::PLAIN
};

params! {
    struct Config {
        /// paths per set, 1 to 64; further subflows reuse them from the first
        paths: usize = 8, in 1..=64;
        /// order of the set: fewest links shared with the first path, or with all earlier paths
        order: PathOrder = PathOrder::Paper;
        /// path of a subflow's reverse direction: the same, or one of a second set (Algorithm 2 of the paper)
        reverse: Reverse = Reverse::Same;
        /// path of its set that a subflow takes: the one with the fewest subflows, or the next in a cycle, as in the paper
        pick: Pick = Pick::LeastUsed;
        /// paths, at most all, installed when a connection is first seen; 1: each path when it is needed
        proactive_paths: usize = 4;
        /// flow rules expire after this time without a frame; whole seconds, 1 s to 1 h
        idle_timeout: Duration = Duration::from_secs(10);
        ..timing: Timing;
    }
}

/// Builds the switches and the controller.
pub struct Smoc {
    settings: Settings,
    timing: Timing,
}

impl Smoc {
    /// The scheme with the parameters of `spec`.
    pub fn new(spec: &SchemeSpec) -> Self {
        let Config { paths, order, reverse, pick, proactive_paths, idle_timeout, timing } =
            Config::of(&spec.params);
        let paths = paths.clamp(1, 64);
        let by_default = Settings::default();
        let settings = Settings {
            paths,
            order,
            reverse,
            pick,
            proactive_paths: proactive_paths.min(paths),
            idle_timeout_s: (idle_timeout.as_secs_f64() as u16).clamp(1, 3600),
            settle_s: 0.0,
            install_deadline_s: by_default.install_deadline_s + timing.install_delay.as_secs_f64(),
            ..by_default
        };
        Self { settings, timing }
    }
}

/// The first contradiction among the parameters.
fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    let Config { paths, proactive_paths, idle_timeout, .. } = Config::of(&spec.params);
    if proactive_paths > paths && spec.params.contains_key("proactive_paths") {
        let expected =
            format!("expected at most {paths}, the value of `paths` (or `paths = {proactive_paths}`)");
        return Some(Contradiction::of("proactive_paths", proactive_paths, expected));
    }
    let seconds = idle_timeout.as_secs_f64();
    let good = (1.0..=3600.0).contains(&seconds) && seconds.fract() == 0.0;
    let expected = "expected whole seconds, 1 s to 3600 s";
    (!good).then(|| Contradiction::of("idle_timeout", idle_timeout, expected))
}

impl Blueprint for Smoc {
    type Switch = SmocSwitch;

    fn switch(&self, _fabric: &Fabric, _node: NodeId) -> SmocSwitch {
        SmocSwitch::default()
    }

    fn central(&self) -> Option<Central> {
        // The settings are already clamped to their ranges.
        let controller = weft_control::Smoc::new(self.settings.clone()).ok()?;
        Some(Central { controller: Box::new(controller), timing: self.timing })
    }
}

/// The controller's id of the switch at `node`.
pub const fn switch_id(node: NodeId) -> SwitchId {
    SwitchId(node.0 as u64 + 1)
}

/// The switch with this controller ID.
pub const fn switch_node(switch: SwitchId) -> NodeId {
    NodeId(switch.0 as u32 - 1)
}

/// The controller's number of a port.
pub const fn port_no(port: PortId) -> PortNo {
    PortNo(port.0 as u32 + 1)
}

/// The port with this number.
pub const fn port_id(port: PortNo) -> PortId {
    PortId(port.0.saturating_sub(1) as u16)
}

/// The address of a simulated host.
pub const fn address(host: HostId) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0001_u32.wrapping_add(host.0)))
}

/// An SMOC switch.
#[derive(Default)]
pub struct SmocSwitch {
    table: RuleTable,
}

/// The fields of a frame that rules can match.
fn fields(ingress: PortId, header: &Header) -> Match {
    let ip = |mac: Mac| mac.host().map(HostId).map(address);
    let is_tcp = header.kind == Kind::Tcp;
    Match {
        in_port: Some(port_no(ingress)),
        eth_src: Some(header.src),
        eth_dst: Some((header.label(), weft_control::EXACT)),
        eth_type: Some(match header.kind {
            Kind::Tcp => EtherType::IPV4.0,
            Kind::ArpRequest | Kind::ArpReply => EtherType::ARP.0,
            _ => 0x88b5,
        }),
        ip_proto: is_tcp.then_some(6),
        ip_src: ip(header.src).filter(|_| is_tcp),
        ip_dst: ip(header.dst).filter(|_| is_tcp),
        tcp_src: is_tcp.then_some(header.sport),
        tcp_dst: is_tcp.then_some(header.dport),
        ..Match::ALL
    }
}

impl Switch for SmocSwitch {
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let frame = fields(ingress, header);
        let Some(rule) = self.table.find(ctx.now(), &frame, header.ip_bytes) else {
            return out.drop(DropReason::Rule);
        };
        let (mut moved, mut back) = (false, false);
        for action in &rule.actions {
            match *action {
                RuleAction::SetDestination(label) => {
                    out.rewrite(Rewrite::Label(label));
                    continue;
                }
                // OpenFlow never sends a frame out of its ingress port.
                RuleAction::Output(port) if port_id(port) == ingress => {
                    back = true;
                    continue;
                }
                RuleAction::Output(port) => out.send(port_id(port)),
                RuleAction::Controller { .. } => out.report(Report::Frame(rule.cookie)),
            }
            moved = true;
        }
        if !moved {
            out.drop(if back { DropReason::SamePort } else { DropReason::Rule });
        }
    }

    fn apply(&mut self, now: Time, change: &RuleChange) {
        self.table.apply(now, change);
    }

    fn next_deadline(&self) -> Time {
        self.table.next_expiry()
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        for entry in self.table.expire(ctx.now()) {
            if entry.rule.notify_removed {
                let (cookie, packets, bytes) = (entry.rule.cookie, entry.packets, entry.bytes);
                out.report(Report::RuleRemoved { cookie, packets, bytes });
            }
        }
    }

    fn table_entries(&mut self, _now: Time) -> TableEntries {
        let flows = self.table.rules().filter(|entry| entry.rule.matches.tcp_src.is_some()).count();
        TableEntries { flows, stations: self.table.len() - flows, groups: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::Idle;
    use crate::{Action, stream};
    use weft_units::ParamValue;

    #[test]
    fn a_frame_that_a_rule_would_send_back_is_dropped() {
        let mut switch = SmocSwitch::default();
        let back = [RuleAction::SetDestination(Mac([6; 6])), RuleAction::Output(port_no(PortId(1)))];
        let rule = weft_control::Rule {
            cookie: 1,
            priority: 1,
            matches: Match::ALL,
            actions: back.into_iter().collect(),
            idle_timeout_s: 0,
            notify_removed: false,
        };
        switch.apply(Time::ZERO, &RuleChange::Add(rule));
        let mut ctx = Idle(Time::ZERO, stream(1, "smoc", 0));
        for (ingress, action) in [(1, Action::Drop(DropReason::SamePort)), (0, Action::Send(PortId(1)))] {
            let mut out = Actions::default();
            switch.receive(&mut ctx, PortId(ingress), &Header::default(), &mut out);
            assert_eq!(out.all().collect::<Vec<_>>(), [action]);
        }
    }

    #[test]
    fn more_paths_at_once_than_a_set_has_are_refused_where_they_are_given_and_fewer_where_they_are_not() {
        let spec = |params: &[(&str, u64)]| SchemeSpec {
            name: "smoc".into(),
            params: params.iter().map(|(name, count)| ((*name).into(), ParamValue::Count(*count))).collect(),
        };
        let wrong = contradiction(&spec(&[("paths", 2), ("proactive_paths", 3)])).unwrap();
        assert_eq!(wrong.param, "proactive_paths");
        assert_eq!(wrong.expected, "expected at most 2, the value of `paths` (or `paths = 3`)");
        for (given, at_once) in
            [(&[("paths", 2)][..], 2), (&[], 4), (&[("paths", 6), ("proactive_paths", 6)], 6)]
        {
            assert_eq!(contradiction(&spec(given)), None);
            assert_eq!(Smoc::new(&spec(given)).settings.proactive_paths, at_once);
        }
    }
}
