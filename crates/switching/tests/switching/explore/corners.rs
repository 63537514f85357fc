//! Limits: full tables, bursts of explorations, looping floods.

use weft_switching::exploration::{Announce, Exploration, Safeguards};
use weft_switching::{DropReason, Header, Kind};
use weft_units::Duration;

use crate::explore::arp_path::small;
use crate::explore::net::{segment, tcp_path};

#[test]
fn a_full_table_keeps_what_is_confirmed_and_used() {
    let config = Exploration { flows: 4, ..Exploration::default() };
    let mut net = tcp_path(small(), &config, 1);
    net.resolve(0, 2);
    let kept = net.open(0, 2, 1, 1)[0].clone();
    // Unanswered SYNs fill the rest of the tables repeatedly.
    for port in 100..200 {
        net.send(segment(0, 2, port, 80, Header::SYN, 1));
        net.run(Duration::from_us(100));
        assert_eq!(net.data(0, 2, 1, 80), Some(kept.clone()));
        assert!(net.data(2, 0, 80, 1).is_some());
    }
    let switches = net.fabric.switches().count();
    assert!(net.entries().flows <= 4 * switches, "{} entries", net.entries().flows);
    // More connections than entries: all still get through.
    for port in 300..310 {
        net.open(0, 2, port, 1);
    }
    for port in 300..310 {
        let through = |net: &mut crate::explore::net::Net<_>| {
            net.data(0, 2, port, 80).is_some() && net.data(2, 0, 80, port).is_some()
        };
        assert!((0..4).any(|_| through(&mut net)), "port {port} is stuck");
    }
}

#[test]
fn beyond_the_burst_a_host_port_explores_at_its_rate() {
    let config = Exploration { rate: 10, burst: 5, ..Exploration::default() };
    let mut net = tcp_path(small(), &config, 1);
    net.resolve(0, 2);
    let before = net.dropped(DropReason::LateCopy);
    let syns: Vec<usize> =
        (0..100).map(|port| net.send(segment(0, 2, port + 1, 80, Header::SYN, 1))).collect();
    net.run(Duration::from_ms(5));
    for syn in syns {
        assert_eq!(net.deliveries(syn).len(), 1, "it arrives, explored or not");
    }
    // With two spines, one copy is late at the far leaf, and it bounces off the near one.
    let explorations = net.dropped(DropReason::LateCopy) - before;
    assert!((5..=15).contains(&explorations), "{explorations} late copies");
}

#[test]
fn where_no_more_floods_can_be_remembered_the_oldest_is_forgotten_and_each_frame_arrives_once() {
    let safeguards = Safeguards { floods: 10, ..Safeguards::default() };
    let config = Exploration { safeguards, ..Exploration::default() };
    let mut net = tcp_path(small(), &config, 1);
    net.resolve(0, 2);
    for isn in 0..100 {
        let before = net.dropped(DropReason::LateCopy);
        assert_eq!(net.arrivals(segment(0, 2, 1, 80, Header::SYN, isn), 1), 1);
        assert!(net.dropped(DropReason::LateCopy) > before, "explored");
    }
    assert_eq!(net.loops, 0);
}

#[test]
fn a_flood_that_has_gone_too_far_ends() {
    let safeguards = Safeguards { hops: 2, ..Safeguards::default() };
    let config = Exploration { safeguards, announce: Announce::Off, ..Exploration::default() };
    let mut net = tcp_path(small(), &config, 1);
    net.resolve(0, 2);
    let leaf = net.fabric.switches().min_by_key(|&node| net.fabric.node(node).tier).unwrap();
    let mut request = Header { kind: Kind::PathRequest, ..segment(0, 3, 5, 80, Header::SYN, 9) };
    request.overlay[4] = 2;
    net.send_from(leaf, net.fabric_ports(leaf)[0], request);
    net.run(Duration::from_ms(5));
    assert_eq!(net.dropped(DropReason::TooManyHops), 1);
}
