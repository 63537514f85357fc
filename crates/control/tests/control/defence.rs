//! Who has an address keeps it as long as it may be there, whatever others say.

use std::net::Ipv4Addr;

use weft_control::{Content, Duration, MadeFrame, Match, Packet, Settings, Smoc, SpanningTree, SwitchId};
use weft_units::Mac;

use crate::cases::{FOUR, four};
use crate::neighbours::{ask, claims, owners, replace_controller};
use crate::net::{Net, arp};

/// A question to all hosts from somebody who says that he has an address.
fn claim(mac: Mac, address: Ipv4Addr) -> Packet {
    arp(mac, Mac::BROADCAST, false, address, address)
}

#[test]
fn who_uses_the_mac_address_of_the_controller_silences_no_answers_to_its_questions() {
    for claims_mac in [true, false] {
        let mut net = four(&[1, 2, 3]);
        let (a, c) = (net.hosts[0].clone(), net.hosts[2].clone());
        net.send(2, arp(MadeFrame::CONTROLLER, Mac::BROADCAST, false, Ipv4Addr::UNSPECIFIED, a.ip));
        net.run(Duration::from_ms(60));
        net.send(2, claim(if claims_mac { a.mac } else { c.mac }, a.ip));
        net.run(Duration::from_ms(400));
        assert_eq!(owners(&net, a.ip), [a.mac.to_string()]);
        assert_eq!(net.counter("claims_refuted"), 1, "claims the MAC address: {claims_mac}");
    }
}

#[test]
fn on_a_spanning_tree_nobody_uses_the_mac_address_of_the_controller_either() {
    let mut net = Net::new(SpanningTree::new(Settings::default()).unwrap(), 1);
    net.build(5, &FOUR, &[1, 2, 3]);
    net.announce();
    let (a, c) = (net.hosts[0].clone(), net.hosts[2].clone());
    net.send(2, Packet { eth_src: MadeFrame::CONTROLLER, eth_dst: a.mac, content: Content::Other });
    net.run(Duration::from_ms(60));
    net.send(2, claim(a.mac, c.ip));
    net.run(Duration::from_ms(400));
    assert_eq!((net.counter("stations_moved"), net.counter("claims_refuted")), (0, 1));
}

#[test]
fn rules_of_somebody_who_has_no_address_or_asks_for_none_are_not_taken_over() {
    let mut net = four(&[1, 2]);
    ask(&mut net, 0, 1);
    let (_, sound) = claims(&net).into_iter().find(|(switch, _)| *switch == 1).unwrap();
    let nobody = Ipv4Addr::UNSPECIFIED.into();
    let rules = &mut net.switches.get_mut(&SwitchId(1)).unwrap().rules;
    let now = rules[0].1;
    for matches in [
        Match { says: sound.matches.says.map(|(_, mac)| (nobody, mac)), ..sound.matches },
        Match { about: Some(nobody), ..sound.matches },
    ] {
        rules.push((weft_control::Rule { matches, ..sound.clone() }, now));
    }
    replace_controller(&mut net, weft_control::Limits::default());
    assert!(owners(&net, Ipv4Addr::UNSPECIFIED).is_empty());
    let left: Vec<Match> = claims(&net).into_iter().map(|(_, rule)| rule.matches).collect();
    assert_eq!((left.len(), left.contains(&sound.matches)), (2, true), "{left:?}");
}

#[test]
fn hosts_at_switches_that_have_lost_their_connections_together_keep_their_addresses() {
    let mut net = Net::new(Smoc::new(Settings::default()).unwrap(), 1);
    // 1 - 3 - 2: the connections of 1 and 3 are lost.
    net.build(3, &[(1, 3), (3, 2)], &[1, 2]);
    net.announce();
    let (a, b) = (net.hosts[0].clone(), net.hosts[1].clone());
    net.disconnect(SwitchId(3));
    net.disconnect(SwitchId(1));
    net.send(1, claim(b.mac, a.ip));
    net.run(Duration::from_ms(400));
    assert_eq!(owners(&net, a.ip), [a.mac.to_string()]);
    // The cable that leads to both goes down: they are off, or out of reach.
    let (at, _) = net.wires().into_iter().find(|(one, _)| one.switch == SwitchId(2)).unwrap();
    net.cut(at, false);
    net.send(1, claim(b.mac, a.ip));
    net.run(Duration::from_ms(400));
    assert_eq!(owners(&net, a.ip), [b.mac.to_string()]);
}
