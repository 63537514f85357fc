//! Hostile hosts: memory stays within its limits, and other hosts get the same paths as without them.

use std::net::{IpAddr, Ipv4Addr};

use weft_control::Duration;
use weft_control::{
    Content, Controller, End, Join, Limits, MadeFrame, Mptcp, Neighbour, OffenceKind, Packet, Settings, Smoc,
    SwitchPort, Tcp,
};
use weft_wire::Mac;
use weft_wire::mptcp::Version;

use crate::cases::{four, four_hosts, four_open, four_with};
use crate::net::{Net, Rng, arp, claim};
use crate::talk::{ACK, Connection, SYN, SYN_ACK, flow};

/// Small limits, so that they are reached.
fn small() -> Settings {
    let limits = Limits {
        flows: 200,
        flows_per_port: 100,
        unconfirmed_per_port: 40,
        stations_per_port: 20,
        new_flows_per_port_s: 1000,
        floods_per_port_s: 20,
        addresses_per_port_s: 20,
        held_frames: 64,
        ..Limits::default()
    };
    Settings { limits, ..Settings::default() }
}

/// A segment with arbitrary addresses.
fn segment(from: (Mac, Ipv4Addr, u16), to: (Mac, Ipv4Addr, u16), mptcp: Option<Mptcp>) -> Packet {
    let end = |(_, address, port): (Mac, Ipv4Addr, u16)| End { address: address.into(), port };
    let (source, destination) = (end(from), end(to));
    let segment = Tcp { source, destination, flags: SYN, sequence: 5, mptcp };
    Packet { eth_src: from.0, eth_dst: to.0, content: Content::Tcp(segment) }
}

/// The offences since the last call: port, kind, and the claimed addresses.
fn offences(net: &mut Net<Smoc>) -> Vec<(SwitchPort, OffenceKind, Option<Mac>, Option<IpAddr>)> {
    let offences = net.controller.offences();
    offences.iter().map(|one| (one.at, one.kind, one.mac, one.address)).collect()
}

/// The paths of an honest connection of hosts 0 and 1 while `harm` is done between its steps.
fn honest(net: &mut Net<Smoc>, mut harm: impl FnMut(&mut Net<Smoc>, &Connection)) -> Vec<Vec<u64>> {
    let connection = Connection::new(flow(0, 1, 4000), Version::V1, 11);
    let mut ways = Vec::new();
    let mut way = |net: &mut Net<Smoc>, direction, flags, mptcp| {
        let frame = net.say(connection.first, direction, flags, Some(mptcp));
        ways.push(net.way(frame));
    };
    harm(net, &connection);
    way(net, 0, SYN, connection.capable(0));
    harm(net, &connection);
    way(net, 1, SYN_ACK, connection.capable(1));
    harm(net, &connection);
    way(net, 0, ACK, connection.capable(2));
    for number in 1..=3 {
        harm(net, &connection);
        ways.push(net.join(&connection, flow(0, 1, 4000 + number), 0));
    }
    harm(net, &connection);
    ways.push(net.join(&connection, flow(1, 0, 6000), 1));
    for port in 4000..=4003 {
        harm(net, &connection);
        let frame = net.say(flow(0, 1, port), 0, ACK, Some(Mptcp::Other));
        ways.push(net.way(frame));
    }
    ways
}

/// Checks that the paths are the same with and without harm.
fn unharmed(harm: impl FnMut(&mut Net<Smoc>, &Connection)) -> Net<Smoc> {
    // Hosts 2 and 3 are hostile, at the switches of the honest ones.
    let hosts = [1, 2, 1, 2];
    let without = honest(&mut four_with(small(), &hosts), |_, _| {});
    let mut net = four_with(small(), &hosts);
    let with = honest(&mut net, harm);
    assert_eq!(with, without);
    net
}

#[test]
fn a_flood_of_syns_is_bounded_and_changes_nothing_for_others() {
    for mptcp in [None, Some(Mptcp::Capable { version: Version::V1, sender_key: None, receiver_key: None })] {
        let mut rng = Rng(3);
        let mut most = 0;
        let net = unharmed(|net, _| {
            let (attacker, victim) = (net.hosts[2], net.hosts[1]);
            for _ in 0..100 {
                let port = rng.below(60_000) as u16;
                let address = Ipv4Addr::from(rng.below(1 << 32) as u32);
                let packet = segment((attacker.mac, address, port), (victim.mac, victim.ip, 80), mptcp);
                net.send(2, packet);
            }
            net.run(Duration::from_ms(20));
            most = most.max(net.counter("flows_now"));
        });
        assert!(net.counter("flows_crowded") + net.counter("flows_given_up") > 0);
        assert!(most <= 50, "{most} flows: 40 unconfirmed ones of the hostile port, and the honest ones");
        let mut net = net;
        net.run(Duration::from_secs(30));
        assert_eq!(net.held(), 0);
        assert_eq!(net.counter("flows_now"), 5, "honest flows are remembered");
    }
}

#[test]
fn a_port_that_opens_too_many_flows_goes_by_stations() {
    let mut net = four_with(small(), &[1, 2, 1]);
    let mut asked = Vec::new();
    for round in 0..20_u16 {
        for number in 0..50 {
            let packet = net.segment(flow(2, 1, 1000 + 50 * round + number), 0, SYN, None);
            net.send(2, packet);
        }
        net.run(Duration::from_ms(10));
        asked.push(net.counter("packet_ins"));
    }
    assert_eq!(asked[19], asked[10], "the flood does not reach the controller any more");
    assert_eq!(offences(&mut net), [(net.hosts[2].at, OffenceKind::Flows, None, None)]);
    // It is still forwarded, once.
    assert_eq!(net.say_on(flow(2, 1, 9999), 0, SYN, None), [1, 2]);
    assert_eq!(net.say_on(flow(2, 1, 9999), 1, SYN_ACK, None), [2, 1]);
    // After the flood, flows are handled individually again.
    net.run(Duration::from_secs(15));
    assert_eq!(net.counter("routes_now"), 0);
    net.say(flow(2, 1, 9998), 0, SYN, None);
    assert_eq!(net.counter("flows_now"), 1);
}

#[test]
fn joins_with_a_token_that_was_overheard_use_up_no_paths() {
    let mut port = 10_000;
    let net = unharmed(|net, connection| {
        // Both tokens, from both hostile hosts, with a wrong HMAC or none.
        for (host, target, side) in [(2, 1, 1), (3, 0, 0), (2, 0, 0), (3, 1, 1)] {
            port += 1;
            let forged = flow(host, target, port);
            let nonce = u32::from(port);
            let syn = Mptcp::Join(Join::Syn { token: connection.token(side), nonce });
            net.say(forged, 0, SYN, Some(syn));
            if port % 3 != 0 {
                let answer = Join::SynAck { hmac: 5, nonce: 9 };
                net.say(forged, 1, SYN_ACK, Some(Mptcp::Join(answer)));
                net.say(forged, 0, ACK, Some(Mptcp::Join(Join::Ack { hmac: [7; 20] })));
            }
        }
    });
    assert!(net.counter("joins_forged") > 0 && net.counter("joins_proven") == 0);
}

#[test]
fn unproven_joins_to_one_connection_are_few() {
    let (mut net, connection) = four_open(&[1, 2, 1]);
    for port in 0..30 {
        let syn = Mptcp::Join(Join::Syn { token: connection.token(1), nonce: 1 });
        net.say(flow(2, 1, 1000 + port), 0, SYN, Some(syn));
    }
    assert!(net.counter("handshakes_now") <= 8);
    for number in 0..70 {
        net.join(&connection, flow(0, 1, 5000 + number), 0);
    }
    assert_eq!(net.counter("joins_refused"), 7, "64 subflows including the first");
}

#[test]
fn nobody_takes_a_station_that_is_there() {
    let mut net = unharmed(|net, _| {
        // Host 2 sends as host 0 and as host 1, with every kind of message.
        let (a, b) = (net.hosts[0], net.hosts[1]);
        let stolen = [
            segment((a.mac, a.ip, 4000), (b.mac, b.ip, 80), None),
            segment((b.mac, b.ip, 80), (a.mac, a.ip, 4000), None),
            arp(a.mac, Mac::BROADCAST, false, a.ip, b.ip),
            claim(b.mac, b.ip),
        ];
        for packet in stolen {
            net.send(2, packet);
        }
        net.run(Duration::from_ms(400));
    });
    assert_eq!(net.counter("stations_moved"), 0);
    assert!(net.counter("claims_refuted") > 0 && net.counter("claims_disputed") > 0);
    let named = offences(&mut net);
    let [(at, OffenceKind::Moved, Some(mac), None)] = named[..] else { panic!("{named:?}") };
    assert!(at == net.hosts[2].at && [0, 1].iter().any(|&host| net.hosts[host].mac == mac), "{named:?}");
}

#[test]
fn a_station_that_has_gone_is_found_where_it_went() {
    let (mut net, connection) = four_open(&[1, 2, 1]);
    net.join(&connection, flow(0, 1, 4001), 0);
    // It is plugged into another switch; it does not answer at its old port.
    let free = SwitchPort::new(3, 9);
    net.switches.get_mut(&free.switch).unwrap().ports.push(free.port);
    net.tell(|c, now, out| weft_control::Controller::port_changed(c, now, free, true, out));
    net.run(Duration::from_secs(2));
    net.move_host(0, free);
    net.say(flow(0, 1, 4001), 0, ACK, Some(Mptcp::Other));
    net.run(Duration::from_ms(400));
    assert_eq!(net.counter("stations_moved"), 1);
    assert_eq!(net.say_on(flow(0, 1, 4001), 0, ACK, Some(Mptcp::Other)), [3, 2]);
    assert_eq!(net.say_on(flow(0, 1, 4001), 1, ACK, Some(Mptcp::Other)), [2, 3]);
    assert_eq!(
        net.say_on(flow(0, 1, 4000), 1, ACK, Some(Mptcp::Other)).len(),
        3,
        "its other subflow takes another path"
    );
}

#[test]
fn nobody_takes_an_address_that_is_in_use() {
    let (mut net, [a, b, thief]) = four_hosts([1, 2, 1]);
    // Host 2 claims host 1's address.
    for (is_reply, to) in [(true, Mac::BROADCAST), (true, a.mac), (false, Mac::BROADCAST)] {
        let claim = net.send_and_run(2, arp(thief.mac, to, is_reply, b.ip, a.ip), 400);
        assert!(net.deliveries(claim).is_empty(), "a refuted claim is not delivered");
    }
    assert_eq!(net.counter("claims_refuted"), 3);
    let taken = (thief.at, OffenceKind::Taken, Some(thief.mac), Some(b.ip.into()));
    assert_eq!(offences(&mut net), [taken]);
    let asks = |net: &mut Net<Smoc>| {
        net.made.clear();
        net.send_and_run(0, arp(a.mac, Mac::BROADCAST, false, a.ip, b.ip), 60);
        net.made.clone()
    };
    let answer = |mac| MadeFrame::ArpReply { sender: (mac, b.ip), target: (a.mac, a.ip) };
    assert_eq!(asks(&mut net), [(0, answer(b.mac))]);
    // If host 1 does not defend it, the claimant gets it.
    net.hosts_answer = false;
    net.made.clear();
    let claim = net.send_and_run(2, arp(thief.mac, Mac::BROADCAST, true, b.ip, b.ip), 400);
    assert!(net.deliveries(claim).is_empty());
    let announcement = MadeFrame::ArpReply { sender: (thief.mac, b.ip), target: (Mac::BROADCAST, b.ip) };
    let mut heard: Vec<_> =
        net.made.iter().filter(|(_, made)| *made == announcement).map(|(host, _)| *host).collect();
    heard.sort_unstable();
    assert_eq!(heard, [0, 1], "all other hosts get the announcement");
    assert_eq!(asks(&mut net), [(0, answer(thief.mac))]);
    // Messages on behalf of another station are dropped.
    let forged = Packet { eth_src: thief.mac, ..arp(a.mac, Mac::BROADCAST, true, a.ip, a.ip) };
    net.send_and_run(2, forged, 400);
    assert_eq!(net.counter("addresses_forged"), 1);
    assert_eq!(offences(&mut net), [(thief.at, OffenceKind::Forged, Some(thief.mac), Some(a.ip.into()))]);
}

#[test]
fn an_address_is_defended_against_a_port_that_claims_too_many() {
    let mut net = four_with(small(), &[1, 2, 1]);
    let (a, b, thief) = (net.hosts[0], net.hosts[1], net.hosts[2]);
    // More claims than the port may make.
    for number in 0..50 {
        net.send(2, arp(thief.mac, a.mac, true, Ipv4Addr::new(10, 1, 0, number), a.ip));
    }
    let claim = net.send_and_run(2, arp(thief.mac, a.mac, true, b.ip, a.ip), 50);
    assert!(net.counter("addresses_limited") > 0 && net.deliveries(claim).is_empty());
    // The same with IPv6.
    let address = "fd00::2".parse().unwrap();
    let says = |from: Mac, to: Mac| {
        let message =
            Neighbour { is_advertisement: true, source: address, target: address, link_layer: Some(from) };
        Packet { eth_src: from, eth_dst: to, content: Content::Neighbour(message) }
    };
    net.run(Duration::from_secs(2));
    let own = net.send_and_run(1, says(b.mac, a.mac), 50);
    let stolen = net.send_and_run(2, says(thief.mac, a.mac), 50);
    assert_eq!((net.deliveries(own).len(), net.deliveries(stolen).len()), (1, 0));
}

#[test]
fn labels_are_not_taken_from_hosts() {
    let (mut net, connection) = four_open(&[1, 2, 1]);
    net.join(&connection, flow(0, 1, 4001), 0);
    let asked = net.counter("packet_ins");
    let hostile = net.hosts[2];
    for label in 0..5000_u64 {
        let eth_dst = Mac::from_bits(0x0657 << 32 | (1 << 22) | ((label / 8) << 11) | (label % 8));
        let content = segment((hostile.mac, hostile.ip, 1), (eth_dst, hostile.ip, 80), None).content;
        let frame = net.inject(hostile.at, Packet { eth_src: hostile.mac, eth_dst, content });
        net.run(Duration::from_us(50));
        assert!(net.deliveries(frame).is_empty());
    }
    assert_eq!(net.counter("packet_ins"), asked);
}

#[test]
fn stations_of_a_port_are_bounded_and_floods_are_rare() {
    let mut net = four_with(small(), &[1, 2, 1]);
    let start = net.delivered.len();
    for number in 0..500_u64 {
        let mac = Mac::from_bits(0x0200_0000_ff00 + number * 257);
        net.send(
            2,
            arp(mac, Mac::BROADCAST, false, Ipv4Addr::from(number as u32), Ipv4Addr::new(10, 9, 9, 9)),
        );
        net.run(Duration::from_us(100));
    }
    net.run(Duration::from_ms(100));
    assert!(net.counter("stations_now") <= 22);
    assert!(net.counter("floods_limited") > 400);
    assert!(net.delivered.len() - start <= 2 * 25, "each flood reaches every other host once");
    let rules: usize = net.switches.values().map(|switch| switch.rules.len()).sum();
    assert!(rules < 100, "{rules} rules");
    // The others are still known.
    assert_eq!(net.say_on(flow(0, 1, 4000), 0, SYN, None), [1, 2]);
}

#[test]
fn what_was_flooded_and_comes_back_is_not_flooded_again() {
    // Hosts 2 and 3 are the two ends of a bridge plugged in twice.
    let mut net = four(&[1, 2, 1, 2]);
    let bridge = [net.hosts[2].at, net.hosts[3].at];
    let (asker, ip) = (net.hosts[0].mac, net.hosts[0].ip);
    net.send(0, arp(asker, Mac::BROADCAST, false, ip, Ipv4Addr::new(10, 9, 9, 9)));
    let mut seen = net.delivered.len();
    for _ in 0..50 {
        net.run(Duration::from_ms(20));
        let out: Vec<_> = net.delivered[seen..].iter().map(|d| (d.host, d.packet)).collect();
        seen = net.delivered.len();
        for (host, packet) in out {
            if host == 2 || host == 3 {
                net.inject(bridge[3 - host], packet);
            }
        }
    }
    assert!(
        net.counter("floods") <= 5 + 1,
        "{} floods: five announcements and one request",
        net.counter("floods")
    );
    assert_eq!(net.say_on(flow(0, 1, 4000), 0, SYN, None), [1, 2], "the requester is at its old port");
}
