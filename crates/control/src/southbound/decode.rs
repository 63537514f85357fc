//! Decodes rules reported by switches.

use std::net::IpAddr;

use weft_wire::Error;
use weft_wire::openflow::{
    Action, FlowFlags, FlowStats, Match as Fields, Message, MultipartReply, PortNumber, flow_entries,
};

use crate::cookie::is_own;
use crate::ids::PortNo;
use crate::rule::{Actions, Match, Rule, RuleAction};

/// The bytes of a message before its first rule: the OpenFlow header and the multipart header.
const HEAD: usize = 16;

/// The controller's rules in a reply, and the cookies of rules of others. Own rules with matches or actions that Weft never
/// uses are left out.
pub fn rules(message: &[u8]) -> Result<(Vec<Rule>, Vec<u64>), Error> {
    let (mut own, mut foreign) = (Vec::new(), Vec::new());
    flow_entries(message, |cookie, entry| {
        if is_own(cookie) {
            own.extend(read(message, entry));
        } else {
            foreign.push(cookie);
        }
    })?;
    Ok((own, foreign))
}

/// One rule. Each is parsed separately, so that an unreadable one does not discard the others.
fn read(message: &[u8], entry: &[u8]) -> Option<Rule> {
    let mut alone = message.get(..HEAD)?.to_vec();
    alone.extend_from_slice(entry);
    let length = u16::try_from(alone.len()).ok()?;
    alone.get_mut(2..4)?.copy_from_slice(&length.to_be_bytes());
    let (_, Message::MultipartReply(MultipartReply::Flows { flows, .. })) = Message::parse(&alone).ok()?
    else {
        return None;
    };
    flows.iter().next().and_then(|stats| rule(&stats))
}

fn rule(stats: &FlowStats) -> Option<Rule> {
    let matches = matches(&stats.matching)?;
    let mut actions = Actions::new();
    for action in stats.actions.iter() {
        actions.push(match action {
            Action::Output { port: PortNumber::CONTROLLER, max_len } => RuleAction::Controller { max_len },
            Action::Output { port, .. } => RuleAction::Output(PortNo(port.0)),
            Action::SetEthDst(mac) => RuleAction::SetDestination(mac),
        });
    }
    Some(Rule {
        cookie: stats.cookie,
        priority: stats.priority,
        matches,
        actions,
        idle_timeout_s: stats.idle_timeout,
        notify_removed: stats.flags.0 & FlowFlags::SEND_FLOW_REM.0 != 0,
    })
}

/// A match; `None` if it has fields that the core does not use.
fn matches(fields: &Fields) -> Option<Match> {
    let four = |address: Option<std::net::Ipv4Addr>| address.map(IpAddr::V4);
    let six = |address: Option<std::net::Ipv6Addr>| address.map(IpAddr::V6);
    let says = [
        (four(fields.arp_spa), fields.arp_sha),
        (six(fields.ipv6_src), fields.ipv6_nd_sll),
        (six(fields.ipv6_nd_target), fields.ipv6_nd_tll),
    ];
    let found = Match {
        in_port: fields.in_port.map(|port| PortNo(port.0)),
        eth_src: fields.eth_src,
        eth_dst: fields.eth_dst.map(|masked| (masked.value(), masked.mask())),
        eth_type: fields.eth_type.map(|kind| kind.0),
        ip_proto: fields.ip_proto.map(|protocol| protocol.0),
        ip_src: four(fields.ipv4_src).or(six(fields.ipv6_src.filter(|_| fields.ipv6_nd_sll.is_none()))),
        ip_dst: four(fields.ipv4_dst).or(six(fields.ipv6_dst)),
        tcp_src: fields.tcp_src,
        tcp_dst: fields.tcp_dst,
        icmpv6_type: fields.icmpv6_type,
        about: four(fields.arp_tpa).or(six(fields.ipv6_nd_target.filter(|_| fields.ipv6_nd_sll.is_some()))),
        says: says.into_iter().find_map(|(said, at)| said.zip(at)),
    };
    (super::encode::fields(&found) == *fields).then_some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weft_wire::Mac;
    use weft_wire::openflow::List;

    use super::super::encode;
    use super::*;
    use crate::rule::EXACT;

    fn reply(rules: &[Rule], more: bool) -> Vec<u8> {
        let encoded = |rule: &Rule| rule.actions.iter().map(encode::action).collect();
        let actions: Vec<Vec<Action>> = rules.iter().map(encoded).collect();
        let stats: Vec<FlowStats> = rules
            .iter()
            .zip(&actions)
            .map(|(rule, actions)| FlowStats {
                table: 0,
                duration_s: 1,
                duration_ns: 2,
                priority: rule.priority,
                idle_timeout: rule.idle_timeout_s,
                hard_timeout: 0,
                flags: if rule.notify_removed { FlowFlags::SEND_FLOW_REM } else { FlowFlags::default() },
                cookie: rule.cookie,
                packets: 3,
                bytes: 4,
                matching: encode::fields(&rule.matches),
                actions: List::new(actions),
            })
            .collect();
        let message = Message::MultipartReply(MultipartReply::Flows { flows: List::new(&stats), more });
        let mut bytes = Vec::new();
        encode::message(&mut bytes, 7, &message);
        bytes
    }

    fn rule(cookie: u64) -> Rule {
        Rule {
            cookie,
            priority: 30_000,
            matches: Match {
                in_port: Some(PortNo(3)),
                eth_src: Some(Mac([2; 6])),
                eth_dst: Some((Mac([4; 6]), EXACT)),
                eth_type: Some(0x0800),
                ip_proto: Some(6),
                ip_src: Some("10.0.0.1".parse().unwrap()),
                ip_dst: Some("10.0.0.2".parse().unwrap()),
                tcp_src: Some(4000),
                tcp_dst: Some(80),
                ..Match::ALL
            },
            actions: [
                RuleAction::Controller { max_len: 256 },
                RuleAction::SetDestination(Mac([6, 0x57, 0, 0, 0, 1])),
                RuleAction::Output(PortNo(9)),
            ]
            .into_iter()
            .collect(),
            idle_timeout_s: 10,
            notify_removed: true,
        }
    }

    #[test]
    fn rules_are_read_as_they_were_written_and_others_are_named_by_their_cookies() {
        let label = Match {
            eth_dst: Some((Mac([6, 0x57, 0, 0, 8, 0]), Mac([255, 255, 255, 255, 248, 0]))),
            ..Match::ALL
        };
        let discovery = |kind| Match {
            eth_type: Some(0x86dd),
            ip_proto: Some(58),
            icmpv6_type: Some(kind),
            about: (kind == 135).then(|| "fd00::2".parse().unwrap()),
            says: Some(("fd00::1".parse().unwrap(), Mac([2; 6]))),
            ..Match::ALL
        };
        let arp = Match {
            eth_type: Some(0x0806),
            about: Some("10.0.0.2".parse().unwrap()),
            says: Some(("10.0.0.1".parse().unwrap(), Mac([2; 6]))),
            ..Match::ALL
        };
        let asks = [arp, discovery(135), discovery(136)];
        let mut own = vec![rule(0x5745_d000_0000_0001)];
        own.extend(asks.map(|matches| Rule { matches, ..rule(0x5745_b000_0000_0001) }));
        own.push(Rule { matches: label, priority: 50_000, ..rule(0x5745_a000_0000_0001) });
        let mut all = own.clone();
        all.insert(1, rule(1));
        assert_eq!(rules(&reply(&all, true)).unwrap(), (own.clone(), vec![1]));
        // An unreadable rule is left out, the others are not.
        let mut bytes = reply(&own, false);
        let length = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
        bytes[16 + length - 20] = 0xff;
        let (read, foreign) = rules(&bytes).unwrap();
        assert_eq!((read.last(), foreign.len()), (own.last(), 0));
    }

    proptest! {
        #[test]
        fn bytes_that_are_no_rules_are_refused_or_left_out(
            place in 0..200_usize, value: u8, cut in 0..300_usize,
        ) {
            let mut bytes = reply(&[rule(0x5745_d000_0000_0001), rule(5)], false);
            let length = bytes.len();
            bytes[place % length] = value;
            bytes.truncate(length.saturating_sub(cut));
            if let Ok((own, foreign)) = rules(&bytes) {
                prop_assert!(own.len() + foreign.len() <= 2 + length / 32);
            }
        }
    }
}
