//! Stations that are new or moved: they are announced, and reached at their new port.

use weft_switching::exploration::{Announce, Exploration, Safeguards};
use weft_switching::tfe::Classifier;
use weft_switching::{DropReason, Header, Kind, Mac, Switch};
use weft_units::{Duration, HostId, PortId};

use crate::explore::arp_path::small;
use crate::explore::net::{Net, arp_path, broadcast, datagram, request, segment, tcp_path, tfe};

#[test]
fn a_station_that_is_heard_for_the_first_time_is_announced_once() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    net.send(broadcast(0));
    net.run(Duration::from_ms(1));
    let announced = net.made(Kind::PathRequest);
    assert_eq!(announced, 2, "out of both uplinks");
    net.send(broadcast(0));
    net.run(Duration::from_ms(1));
    assert_eq!(net.made(Kind::PathRequest), announced);
    // A reply to its broadcast, such as a DHCP server's, has a path at once.
    assert_eq!(net.data(2, 0, 1, 1).map(|path| path.len()), Some(3));
    assert_eq!(net.dropped(DropReason::NotForMe), 0);
}

#[test]
fn a_station_that_asks_is_not_announced_besides() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    net.send(request(0));
    net.run(Duration::from_ms(1));
    assert_eq!(net.made(Kind::PathRequest), 0);
}

#[test]
fn with_announcements_off_nothing_is_announced() {
    let mut net = arp_path(small(), &Exploration { announce: Announce::Off, ..Exploration::default() }, 1);
    net.send(broadcast(0));
    net.run(Duration::from_ms(1));
    assert_eq!(net.made(Kind::PathRequest), 0);
}

#[test]
fn a_host_that_moved_is_reached_with_its_first_frame_whatever_that_is() {
    for seed in 1..20 {
        for first in [request(2), broadcast(2), segment(2, 0, 80, 1000, Header::ACK, 0)] {
            let mut net = arp_path(small(), &Exploration::default(), seed);
            net.resolve(0, 2);
            for host in [0, 1, 2, 3] {
                net.send(broadcast(host));
            }
            net.run(Duration::from_ms(100));
            assert!(net.data(0, 2, 1000, 80).is_some());
            // To the other leaf, that of host 0.
            net.swap(1, 2);
            let reached = if first.dst.is_group() { 3 } else { 1 };
            assert_eq!(net.arrivals(first, 5), reached, "{:?}", first.kind);
            assert!(net.data(0, 2, 1000, 80).is_some(), "after {:?}", first.kind);
            assert!(net.data(3, 2, 1000, 80).is_some(), "after {:?}", first.kind);
            assert_eq!(net.loops, 0);
        }
    }
}

/// Host 2 moves between two leaves and stays silent until `callers` have reached it, each with its first frame, made
/// by `frame`.
fn reaches_a_silent_host<S: Switch>(
    mut net: Net<S>,
    callers: [u32; 2],
    frame: fn(u32, u32) -> Header,
    what: &str,
) {
    callers.iter().for_each(|&caller| net.resolve(caller, 2));
    // Host 2 moves to the leaf of host 0 and back, twice; only one of its two ports has a carrier.
    let places = [2, 1].map(|host| net.fabric.ports(net.fabric.host_node(HostId(host)))[0]);
    net.set_up(places[1], false);
    for (old, new) in [(0, 1), (1, 0), (0, 1), (1, 0)] {
        net.set_up(places[old], false);
        net.swap(1, 2);
        // Every frame sent in between is flooded, by the old leaf or by the sender's.
        for _ in 0..10 {
            callers.iter().for_each(|&caller| _ = net.send(frame(caller, 2)));
            net.run(Duration::from_ms(5));
        }
        net.set_up(places[new], true);
        for caller in callers {
            let reached = net.arrivals(frame(caller, 2), 5);
            assert_eq!(reached, 1, "from host {caller}, {callers:?}, to port {new}, {what}");
        }
        // It has received their frames, and replies.
        callers.iter().for_each(|&caller| _ = net.send(frame(2, caller)));
        net.run(Duration::from_ms(300));
    }
    assert_eq!((net.loops, net.circles), (0, 0), "{what}");
}

#[test]
fn a_silent_host_that_was_plugged_in_elsewhere_is_reached_by_all_who_send_to_it() {
    let config = Exploration::default();
    let data = |from, to| segment(from, to, 1000, 80, Header::ACK, 0);
    for seed in 1..20 {
        for callers in [[0, 3], [3, 0]] {
            for (kind, frame) in [("datagrams", datagram as fn(u32, u32) -> Header), ("segments", data)] {
                let what = |mode| format!("{kind}, {mode}, seed {seed}");
                reaches_a_silent_host(arp_path(small(), &config, seed), callers, frame, &what("arp_path"));
                reaches_a_silent_host(tcp_path(small(), &config, seed), callers, frame, &what("tcp_path"));
                // Flows that may explore, and flows that may not.
                for by in [Classifier::Ports(1000, 1000), Classifier::Ports(2, 3)] {
                    reaches_a_silent_host(tfe(small(), &config, &by, seed), callers, frame, &what("tfe"));
                }
            }
        }
    }
}

/// Host 2 moves between two leaves and stays silent; its old switch notices the lost carrier only after `late` rounds
/// of frames from `callers`, one every 5 ms. Of the later frames, only the first may be lost.
fn reaches_a_host_that_is_missed_late<S: Switch>(
    mut net: Net<S>,
    callers: [u32; 2],
    late: usize,
    what: &str,
) {
    callers.iter().for_each(|&caller| net.resolve(caller, 2));
    let places = [2, 1].map(|host| net.fabric.ports(net.fabric.host_node(HostId(host)))[0]);
    net.set_up(places[1], false);
    for (old, new) in [(0, 1), (1, 0), (0, 1), (1, 0)] {
        for _ in 0..40 {
            callers.iter().for_each(|&caller| _ = net.send(datagram(caller, 2)));
            net.run(Duration::from_ms(5));
        }
        net.swap(1, 2);
        net.set_up(places[new], true);
        for _ in 0..late {
            callers.iter().for_each(|&caller| _ = net.send(datagram(caller, 2)));
            net.run(Duration::from_ms(5));
        }
        net.set_up(places[old], false);
        let fails = net.made(Kind::PathFail);
        for round in 0..40 {
            let sent = callers.map(|caller| net.send(datagram(caller, 2)));
            net.run(Duration::from_ms(5));
            for (caller, number) in callers.into_iter().zip(sent) {
                let reached = net.deliveries(number).len();
                assert!(reached == 1 || round == 0, "from host {caller}, round {round}, {late} late, {what}");
            }
        }
        assert!(net.made(Kind::PathFail) - fails <= 4, "one flood for each caller, {late} late, {what}");
        callers.iter().for_each(|&caller| _ = net.send(datagram(2, caller)));
        net.run(Duration::from_ms(300));
    }
    assert_eq!((net.loops, net.circles), (0, 0), "{what}");
}

#[test]
fn a_silent_host_is_reached_after_its_old_switch_has_missed_it_late() {
    let [learnt, attached, lock, broadcast_lock, repair] = [400, 800, 200, 200, 100].map(Duration::from_ms);
    let safeguards = Safeguards { broadcast_lock, repair, ..Safeguards::default() };
    let short = Exploration { learnt, attached, lock, safeguards, ..Exploration::default() };
    for config in [Exploration::default(), short] {
        for seed in 1..20 {
            for callers in [[0, 3], [3, 0]] {
                for late in [0, 1, 2, 10, 30, 70] {
                    let net = arp_path(small(), &config, seed);
                    reaches_a_host_that_is_missed_late(net, callers, late, &format!("seed {seed}"));
                }
            }
        }
    }
}

#[test]
fn broadcasts_of_a_host_that_moved_are_not_taken_for_late_copies() {
    for seed in 1..20 {
        let mut net = arp_path(small(), &Exploration::default(), seed);
        for header in [request(2), broadcast(2)] {
            net.send(header);
        }
        net.run(Duration::from_ms(100));
        net.swap(1, 2);
        for header in [request(2), broadcast(2)] {
            assert_eq!(net.arrivals(header, 1), 3, "{:?}", header.kind);
        }
    }
}

#[test]
fn the_connections_of_a_host_that_moved_go_on_though_its_old_port_is_up() {
    let mut net = tcp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 3);
    net.open(0, 3, 1000, 7);
    net.run(Duration::from_ms(100));
    assert!(net.data(0, 3, 1000, 80).is_some());
    // Host 3 moves to the leaf of host 0, and host 1 away from it.
    net.swap(1, 3);
    net.send(request(3));
    net.run(Duration::from_ms(5));
    assert!(net.data(0, 3, 1000, 80).is_some());
    assert!(net.data(3, 0, 80, 1000).is_some());
    assert!(net.data(0, 3, 1000, 80).is_some());
}

#[test]
fn a_wire_between_two_host_ports_carries_a_broadcast_once() {
    // The link between hosts 1 and 3: each frame to one comes back from the other.
    let mut net = arp_path(small(), &Exploration::default(), 1);
    net.send(broadcast(0));
    net.run(Duration::from_us(300));
    let mut carried = 0;
    let mut rounds = 0;
    loop {
        let came: Vec<_> = net.delivered.split_off(0);
        let loops = came.iter().filter(|delivered| [1, 3].contains(&delivered.host.0)).count();
        if loops == 0 {
            break;
        }
        carried += loops;
        rounds += 1;
        assert!(rounds < 10, "endless loop");
        for delivered in came {
            if let Some(other) = [(1, 3), (3, 1)].into_iter().find(|pair| pair.0 == delivered.host.0) {
                net.send_from(net.fabric.host_node(HostId(other.1)), PortId(0), delivered.header);
            }
        }
        net.run(Duration::from_us(300));
    }
    assert_eq!(carried, 2);
}

#[test]
fn a_port_adds_stations_no_faster_than_it_may_and_the_frames_of_the_others_arrive_too() {
    let config = Exploration { station_rate: 10, station_burst: 5, ..Exploration::default() };
    let mut net = arp_path(small(), &config, 1);
    net.resolve(2, 3);
    let node = net.fabric.host_node(HostId(0));
    let before = net.entries().stations;
    for forged in 0..50 {
        let header = Header { src: Mac::of_host(1_000 + forged), ..segment(0, 2, 1, 1, 0, 0) };
        let number = net.send_from(node, PortId(0), header);
        net.run(Duration::from_us(500));
        assert_eq!(net.deliveries(number).len(), 1);
    }
    // Four switches, with one entry each and at most the burst.
    assert!(net.entries().stations - before <= 4 * 5 + 4, "{:?}", net.entries());
    // A host on another port is still learnt.
    net.send(broadcast(1));
    net.run(Duration::from_ms(1));
    assert_eq!(net.data(2, 1, 1, 1).map(|path| path.len()), Some(3));
}

#[test]
fn floods_of_one_port_beyond_its_rate_are_dropped_there_and_others_are_heard() {
    let config = Exploration { flood_rate: 100, flood_burst: 10, ..Exploration::default() };
    let mut net = arp_path(small(), &config, 1);
    let node = net.fabric.host_node(HostId(0));
    for forged in 0..1_000 {
        let header = Header { src: Mac::of_host(1_000 + forged), ..request(0) };
        net.send_from(node, PortId(0), header);
        net.run(Duration::from_us(10));
    }
    assert!(net.dropped(DropReason::RateLimited) >= 980);
    assert_eq!(net.arrivals(request(1), 1), 3);
}

#[test]
fn a_host_that_moved_to_a_port_that_may_flood_nothing_at_the_moment_is_announced_when_it_may() {
    let config = Exploration { flood_rate: 10, flood_burst: 5, ..Exploration::default() };
    let mut net = arp_path(small(), &config, 1);
    net.resolve(0, 2);
    net.run(Duration::from_ms(1_000));
    assert!(net.data(0, 2, 1000, 80).is_some());
    // To the other leaf, to a port whose flood limit is used up.
    net.swap(1, 2);
    let port = net.fabric.host_node(HostId(1));
    for forged in 0..20 {
        net.send_from(port, PortId(0), broadcast(1_000 + forged));
    }
    net.run(Duration::from_ms(1));
    assert!(net.dropped(DropReason::RateLimited) > 0);
    for _ in 0..4 {
        net.send(segment(2, 0, 80, 1000, Header::ACK, 0));
        net.run(Duration::from_ms(100));
    }
    assert!(net.data(3, 2, 1000, 80).is_some());
    assert!(net.data(0, 2, 1000, 80).is_some());
}
