//! Switches with routes for some hosts: the others are found by ARP-Path.

use std::sync::Arc;

use weft_switching::arp_path::ArpPathSwitch;
use weft_switching::exploration::Exploration;
use weft_switching::exploring::ways;
use weft_switching::routed::{Hop, RoutedSwitch, Routes};
use weft_switching::{Context, DropReason, Forwarding, Header, NextHops, mix64};
use weft_units::Duration;

use crate::explore::arp_path::small;
use crate::explore::net::{Net, broadcast, reply, request, segment};

/// Routes for the hosts below `configured`, selected by a flow's ports.
struct Known {
    next_hops: NextHops,
    configured: u32,
}

impl Routes for Known {
    fn hop<C: Context>(&mut self, _ctx: &mut C, header: &Header) -> Hop {
        match header.destination().filter(|host| host.0 < self.configured) {
            Some(host) => {
                let random = mix64(u64::from(header.sport) + 1);
                self.next_hops.choose(host, random).map_or(Hop::Gone, Hop::Port)
            }
            None => Hop::Unrouted,
        }
    }
}

/// Two leaves, two spines; hosts 0 and 1 at the first leaf, 2 and 3 at the second.
fn net(configured: u32) -> Net<RoutedSwitch<Known>> {
    let fabric = small();
    let forwarding = Arc::new(Forwarding::new(&fabric, |_| true));
    Net::new(fabric, 1, |fabric, node| {
        let base = ArpPathSwitch::new(&Exploration::default(), ways(fabric, node), u64::from(node.0));
        RoutedSwitch::new(base, Known { next_hops: forwarding.at(node), configured })
    })
}

#[test]
fn flows_to_configured_hosts_take_all_their_paths() {
    let mut net = net(4);
    let paths: std::collections::BTreeSet<_> =
        (1..40).map(|sport| net.data(0, 2, sport, 80).expect("it arrives")).collect();
    assert_eq!(paths.len(), 2);
    assert_eq!(net.dropped(DropReason::NotForMe), 0);
}

#[test]
fn hosts_that_nobody_configured_find_each_other_and_are_found() {
    for configured in 0..4 {
        let mut net = net(configured);
        // Like a client without an address: a broadcast, and a reply to it alone.
        for client in 0..4 {
            assert_eq!(net.arrivals(broadcast(client), 5), 3);
        }
        for (from, to) in [(0, 3), (3, 0), (1, 2), (2, 1), (2, 3), (0, 1)] {
            assert!(net.data(from, to, 1000, 80).is_some(), "h{from} to h{to}, {configured} configured");
        }
        assert_eq!(net.dropped(DropReason::NotForMe), 0, "{configured} configured");
    }
}

#[test]
fn a_question_and_its_answer_pass_whoever_is_configured() {
    for configured in 0..4 {
        for (from, to) in [(0, 3), (3, 0), (2, 3)] {
            let mut net = net(configured);
            assert_eq!(net.arrivals(request(from), 5), 3);
            assert_eq!(net.arrivals(reply(to, from), 5), 1, "h{to} to h{from}, {configured} configured");
            assert!(net.data(from, to, 1000, 80).is_some());
        }
    }
}

#[test]
fn one_that_was_silent_for_hours_gets_its_frame() {
    let mut net = net(2);
    net.send(broadcast(3));
    net.run(Duration::from_secs(8_000));
    assert_eq!(net.arrivals(segment(0, 3, 1000, 80, Header::SYN, 1), 5), 1);
}
