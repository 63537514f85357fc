//! TFE: which flows explore.

use weft_switching::exploration::Exploration;
use weft_switching::tfe::Classifier;
use weft_switching::{Header, Kind};
use weft_units::{Bytes, Duration};

use crate::explore::arp_path::small;
use crate::explore::net::{segment, tfe};

#[test]
fn flows_of_the_port_range_are_explored_and_others_are_not() {
    let mut net = tfe(small(), &Exploration::default(), &Classifier::Ports(3500, 4500), 1);
    net.resolve(0, 2);
    net.open(0, 2, 3499, 1);
    net.open(0, 2, 4501, 1);
    assert_eq!(net.entries().flows, 0);
    net.open(0, 2, 3500, 1);
    assert!(net.entries().flows > 0);
    assert!(net.data(0, 2, 3500, 80).is_some() && net.data(2, 0, 80, 3500).is_some());
}

#[test]
fn flows_of_the_dscp_are_explored_and_others_are_not() {
    let mut net = tfe(small(), &Exploration::default(), &Classifier::Dscp(10), 1);
    net.resolve(0, 2);
    net.open(0, 2, 1, 1);
    assert_eq!(net.entries().flows, 0);
    net.send(Header { traffic_class: 10 << 2 | 2, ..segment(0, 2, 2, 80, Header::SYN, 1) });
    net.run(Duration::from_ms(5));
    assert!(net.entries().flows > 0);
}

#[test]
fn a_flow_that_has_carried_enough_is_moved_once() {
    let mut net = tfe(small(), &Exploration::default(), &Classifier::Auto(Bytes(10 * 1448)), 1);
    net.resolve(0, 2);
    net.open(0, 2, 1, 1);
    for sent in 1..=20 {
        assert!(net.data(0, 2, 1, 80).is_some());
        assert_eq!(net.made(Kind::RecoveryReply), u64::from(sent >= 9), "after {sent} segments and the SYN");
    }
    net.both_ways(0, 2, 1, 80);
    assert_eq!(net.loops, 0);
}

#[test]
fn a_host_moves_flows_no_more_often_than_its_port_may_explore() {
    let config = Exploration { rate: 1, burst: 3, ..Exploration::default() };
    let mut net = tfe(small(), &config, &Classifier::Auto(Bytes(1)), 1);
    net.resolve(0, 2);
    for sport in 1..=20 {
        net.send(segment(0, 2, sport, 80, Header::ACK, 0));
        net.run(Duration::from_us(100));
    }
    net.run(Duration::from_ms(5));
    assert_eq!(net.made(Kind::RecoveryReply), 3);
}
