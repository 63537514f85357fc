//! What the core says, as OpenFlow has it.

use std::net::IpAddr;

use smallvec::SmallVec;
use weft_wire::openflow::{
    Action, FlowCommand, FlowFlags, FlowMod, Masked, Match as Fields, Message, PortNumber,
};
use weft_wire::{Arp, ArpOperation, EtherType, IpProtocol, MIN_FRAME, Mac, Neighbor, NeighborOperation};

use crate::command::MadeFrame;
use crate::rule::{Match, Rule, RuleAction, RuleChange, SOLICITATION};

/// Adds a message to what is to be sent.
pub fn message(out: &mut Vec<u8>, xid: u32, message: &Message) {
    let start = out.len();
    out.resize(start + message.encoded_len(), 0);
    // A frame fits a message: it came in one.
    let len = out.get_mut(start..).and_then(|room| message.write(xid, room).ok());
    out.truncate(start + len.unwrap_or(0));
}

/// Adds a change of a rule; nothing for one that only switches of Tag-and-Forward understand.
pub fn rule(out: &mut Vec<u8>, xid: u32, change: &RuleChange) {
    let (command, cookie, matches, rule) = match change {
        RuleChange::Add(rule) => (FlowCommand::Add, rule.cookie, &rule.matches, Some(rule)),
        RuleChange::Modify(rule) => (FlowCommand::ModifyStrict, rule.cookie, &rule.matches, Some(rule)),
        RuleChange::Remove { cookie, matches } => (FlowCommand::Delete, *cookie, matches, None),
        RuleChange::Flow(_) => return,
    };
    let steps = rule.map_or(&[][..], |rule| &rule.actions);
    let actions: SmallVec<[Action; 4]> = steps.iter().map(action).collect();
    let notify = rule.is_some_and(|rule| rule.notify_removed);
    let change = FlowMod {
        cookie,
        cookie_mask: if command == FlowCommand::Add { 0 } else { u64::MAX },
        idle_timeout: rule.map_or(0, |rule: &Rule| rule.idle_timeout_s),
        priority: rule.map_or(0, |rule| rule.priority),
        flags: if notify { FlowFlags::SEND_FLOW_REM } else { FlowFlags::default() },
        ..FlowMod::new(command, fields(matches), &actions)
    };
    message(out, xid, &Message::FlowMod(change));
}

fn action(step: &RuleAction) -> Action {
    match *step {
        RuleAction::SetDestination(mac) => Action::SetEthDst(mac),
        RuleAction::Output(port) => Action::output(PortNumber(port.0)),
        RuleAction::Controller { max_len } => Action::Output { port: PortNumber::CONTROLLER, max_len },
    }
}

/// A match, as OpenFlow has it.
pub fn fields(matches: &Match) -> Fields {
    let v4 = |address| if let Some(IpAddr::V4(address)) = address { Some(address) } else { None };
    let v6 = |address| if let Some(IpAddr::V6(address)) = address { Some(address) } else { None };
    let said = said(matches);
    Fields {
        in_port: matches.in_port.map(|port| PortNumber(port.0)),
        eth_dst: matches.eth_dst.map(|(value, mask)| Masked::new(value, mask)),
        eth_src: matches.eth_src,
        eth_type: matches.eth_type.map(EtherType),
        ip_proto: matches.ip_proto.map(IpProtocol),
        ipv4_src: v4(matches.ip_src),
        ipv4_dst: v4(matches.ip_dst),
        ipv6_src: v6(matches.ip_src).or(said.ipv6_src),
        ipv6_dst: v6(matches.ip_dst),
        tcp_src: matches.tcp_src,
        tcp_dst: matches.tcp_dst,
        icmpv6_type: matches.icmpv6_type,
        ..said
    }
}

/// What a match asks of the contents of ARP and neighbour discovery.
fn said(matches: &Match) -> Fields {
    let Some((said, mac)) = matches.says else { return Fields::default() };
    let mac = Some(mac);
    let (mut arp_tpa, mut ipv6_nd_target) = (None, None);
    match matches.about {
        Some(IpAddr::V4(about)) => arp_tpa = Some(about),
        Some(IpAddr::V6(about)) => ipv6_nd_target = Some(about),
        None => {}
    }
    match (said, matches.icmpv6_type) {
        (IpAddr::V4(said), _) => Fields { arp_spa: Some(said), arp_tpa, arp_sha: mac, ..Fields::default() },
        (IpAddr::V6(said), Some(SOLICITATION)) => {
            Fields { ipv6_src: Some(said), ipv6_nd_target, ipv6_nd_sll: mac, ..Fields::default() }
        }
        (IpAddr::V6(said), _) => Fields { ipv6_nd_target: Some(said), ipv6_nd_tll: mac, ..Fields::default() },
    }
}

/// The bytes of a frame of the controller's own.
pub fn made(frame: &MadeFrame) -> Vec<u8> {
    let padded = |frame: &[u8]| {
        let mut frame = frame.to_vec();
        frame.resize(frame.len().max(MIN_FRAME), 0);
        frame
    };
    let own = MadeFrame::CONTROLLER;
    match *frame {
        MadeFrame::ArpReply { sender, target } => {
            padded(&Arp::frame(ArpOperation::Reply, target.0, sender, target))
        }
        MadeFrame::ArpProbe { station, target } => {
            let (sender, target) = ((own, [0; 4].into()), (Mac::default(), target));
            padded(&Arp::frame(ArpOperation::Request, station, sender, target))
        }
        MadeFrame::Advertisement { sender, target } => {
            let (frame, len) = Neighbor::frame(NeighborOperation::Advertisement, sender, target, sender.1);
            padded(frame.get(..len).unwrap_or(&frame))
        }
        MadeFrame::SolicitationProbe { station, target } => {
            // To the solicited-node group (RFC 4291, section 2.7.1), but to this station's MAC only.
            let [.., a, b, c] = target.octets();
            let group = [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, b, c];
            let (source, destination) = ((own, [0; 16].into()), (station, group.into()));
            let (frame, len) = Neighbor::frame(NeighborOperation::Solicitation, source, destination, target);
            padded(frame.get(..len).unwrap_or(&frame))
        }
    }
}
