//! Limits of floods and stations: of what is new, not of what goes on.

use weft_switching::exploration::Exploration;
use weft_switching::{DropReason, Header, Mac};
use weft_units::{Duration, HostId, PortId, Rate};

use crate::explore::arp_path::small;
use crate::explore::net::{arp_path, broadcast, datagram, request};

const OTHERS: u64 = 3;

/// Limits that a few frames use up, and that do not recover during a test.
fn tight() -> Exploration {
    Exploration { flood_rate: 0, flood_burst: 5, station_rate: 0, station_burst: 5, ..Exploration::default() }
}

#[test]
fn each_frame_of_a_known_station_to_a_group_reaches_all_others_once() {
    for header in [broadcast(0), request(0), Header { dst: Mac([1, 0, 0x5e, 1, 2, 3]), ..broadcast(0) }] {
        let mut net = arp_path(small(), &tight(), 1);
        for _ in 0..200 {
            assert_eq!(net.arrivals(header, 1), OTHERS as usize);
        }
        // The entries of its floods expire, its station's does not.
        net.run(Duration::from_secs(60));
        assert_eq!(net.arrivals(header, 1), OTHERS as usize);
        assert_eq!((net.dropped(DropReason::RateLimited), net.loops), (0, 0));
    }
}

#[test]
fn each_frame_to_a_station_that_never_sends_reaches_all_others_once() {
    let mut net = arp_path(small(), &tight(), 1);
    for count in 1..=200 {
        assert_eq!(net.arrivals(datagram(0, 1_000), 1), 0);
        assert_eq!(net.dropped(DropReason::NotForMe), count * OTHERS);
    }
    assert_eq!((net.dropped(DropReason::RateLimited), net.loops), (0, 0));
    // Without a token, a search is not repeated, but frames still arrive.
    for _ in 0..10 {
        net.send(datagram(0, 2_000));
        net.run(Duration::from_ms(900));
    }
    assert_eq!(net.dropped(DropReason::NotForMe), 210 * OTHERS);
}

#[test]
fn flooded_frames_beyond_the_share_of_a_port_are_dropped_whoever_sent_them() {
    let config = Exploration { line_rate: Some(Rate::from_bps(8_000_000)), ..Exploration::default() };
    let mut net = arp_path(small(), &config, 1);
    // 20 % of 8 Mbit/s for 1 s, and 50 ms at once: 210 frames of 1000 bytes.
    for _ in 0..1_000 {
        net.send(Header { ip_bytes: 986, ..broadcast(0) });
        net.run(Duration::from_ms(1));
    }
    let passed = 1_000 - net.dropped(DropReason::RateLimited);
    assert!((208..=212).contains(&passed), "{passed}");
    assert_eq!(net.arrivals(broadcast(1), 1), OTHERS as usize, "another port has a share of its own");
}

#[test]
fn the_stations_of_a_port_that_was_down_are_all_learnt_again() {
    let mut net = arp_path(small(), &tight(), 1);
    let host = net.fabric.host_node(HostId(0));
    let link = net.fabric.ports(host)[0];
    let learnt = |net: &mut crate::explore::net::Net<_>| {
        let before = net.entries().stations;
        for station in 0..50 {
            net.send_from(host, PortId(0), Header { src: Mac::of_host(1_000 + station), ..request(0) });
            net.run(Duration::from_us(100));
        }
        net.entries().stations - before
    };
    let first = learnt(&mut net);
    assert!(first >= 5);
    assert_eq!(learnt(&mut net), 0, "the limit is used up");
    for up in [false, true] {
        net.set_up(link, up);
        net.run(Duration::from_secs(20));
    }
    assert_eq!(learnt(&mut net), first);
}
