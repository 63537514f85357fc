//! Frames to unknown stations: they are marked, flooded, and arrive once.

use weft_fabric::{LinkSpec, build};
use weft_switching::exploration::{Announce, Exploration};
use weft_switching::{DropReason, Header, Kind, Mac, Switch};
use weft_units::{Duration, HostId, LinkId, PortId};

use crate::explore::arp_path::small;
use crate::explore::net::{Net, arp_path, datagram, reply, request, segment, tcp_path};

/// How many copies of a frame its destination and other hosts received.
fn copies<S: Switch>(net: &mut Net<S>, header: Header) -> (usize, u64) {
    let before = net.dropped(DropReason::NotForMe);
    (net.arrivals(header, 20), net.dropped(DropReason::NotForMe) - before)
}

#[test]
fn a_frame_to_a_station_that_nobody_knows_reaches_every_host_once_as_it_was_sent() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    assert_eq!(copies(&mut net, datagram(0, 3)), (1, 2));
    let delivered = net.delivered.last().unwrap();
    assert_eq!((delivered.host, delivered.header), (HostId(3), datagram(0, 3)));
    assert!(net.dropped(DropReason::LateCopy) > 0, "the second spine's copy is late");
    assert_eq!(net.loops, 0);
}

#[test]
fn a_station_known_at_its_own_switch_alone_gets_it_and_no_other_host_there_does() {
    let mut net = arp_path(small(), &Exploration { announce: Announce::Off, ..Exploration::default() }, 1);
    net.send(datagram(2, 3));
    // The others know host 2 from its switch's search for host 3, and forget it.
    net.run(Duration::from_secs(4));
    let (delivered, others) = copies(&mut net, datagram(0, 2));
    assert_eq!((delivered, others), (1, 1), "host 1, on the switch of host 0, but not host 3");
    // The repair has found the path by now.
    assert_eq!(net.made(Kind::PathReply), 1);
    assert_eq!(copies(&mut net, datagram(0, 2)), (1, 0));
}

#[test]
fn nothing_is_lost_at_any_interval_whoever_is_silent() {
    for seconds in [1, 5, 11, 30, 61, 301, 4_000] {
        for both in [false, true] {
            let mut net = arp_path(small(), &Exploration::default(), 1);
            net.resolve(0, 2);
            for _ in 0..6 {
                assert_eq!(net.data(0, 2, 1, 1).map(|_| ()), Some(()), "every {seconds} s");
                if both {
                    assert!(net.data(2, 0, 1, 1).is_some(), "back, every {seconds} s");
                }
                net.run(Duration::from_secs(seconds));
            }
            assert_eq!(net.loops + net.circles, 0);
        }
    }
}

#[test]
fn a_segment_that_opens_a_connection_arrives_when_nobody_knows_its_destination() {
    let mut net = tcp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 2);
    net.run(Duration::from_secs(4_000));
    assert_eq!(copies(&mut net, segment(0, 2, 1000, 80, Header::SYN, 7)).0, 1);
    assert_eq!(copies(&mut net, segment(2, 0, 80, 1000, Header::SYN | Header::ACK, 8)), (1, 0));
    assert_eq!(net.data(0, 2, 1000, 80).map(|path| path.len()), Some(3));
}

#[test]
fn a_reply_arrives_though_its_destination_has_been_forgotten() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 2);
    net.run(Duration::from_secs(4_000));
    assert_eq!(copies(&mut net, reply(2, 0)).0, 1);
}

#[test]
fn marked_frames_teach_nothing() {
    let link = LinkSpec::default();
    let line = build::spine_leaf(1, 2, 2, &link, &link).expect("a good fabric");
    let mut net = arp_path(line, &Exploration::default(), 1);
    let leaf = net.fabric.find("l0").unwrap();
    let header = datagram(0, 3);
    net.send_from(leaf, net.fabric_ports(leaf)[0], Header { src: header.src.marked(), ..header });
    net.run(Duration::from_ms(20));
    assert_eq!(net.delivered.len(), 1);
    assert_eq!(net.delivered[0].header, header);
    assert_eq!(net.entries().stations, 0);
}

#[test]
fn a_host_that_sends_from_a_group_address_or_from_none_is_refused() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    let node = net.fabric.host_node(HostId(0));
    for dst in [Mac::of_host(3), Mac::BROADCAST] {
        for kind in [Kind::Other, Kind::Tcp, Kind::ArpReply, Kind::ArpRequest] {
            for src in [Mac::of_host(0).marked(), Mac([0; 6])] {
                let header = Header { kind, dst, src, ..datagram(0, 3) };
                net.send_from(node, PortId(0), header);
            }
        }
    }
    net.run(Duration::from_ms(20));
    assert_eq!(net.dropped(DropReason::Untrusted), 16);
    assert!(net.delivered.is_empty());
}

#[test]
fn frames_to_unknown_stations_are_flooded_no_more_often_than_their_port_may() {
    let config =
        Exploration { flood_rate: 10, flood_burst: 5, announce: Announce::Off, ..Exploration::default() };
    let mut net = arp_path(small(), &config, 1);
    for host in 0..100 {
        net.send(datagram(0, 1_000 + host));
        net.run(Duration::from_us(100));
    }
    assert_eq!(net.dropped(DropReason::RateLimited), 95);
    // Other ports are not affected.
    assert_eq!(copies(&mut net, datagram(1, 3)).0, 1);
}

#[test]
fn switches_that_point_at_each_other_do_not_lose_the_frame_that_shows_it() {
    let link = LinkSpec::default();
    let line = build::spine_leaf(1, 2, 1, &link, &link).expect("a good fabric");
    let mut net = arp_path(line, &Exploration::default(), 1);
    net.resolve(0, 1);
    let leaf = net.fabric.find("l0").unwrap();
    // The spine's entry for host 1 points to host 0's leaf.
    net.send_from(leaf, net.fabric_ports(leaf)[0], request(1));
    net.loss = 1000;
    net.run(Duration::from_ms(10));
    net.loss = 0;
    assert!(net.data(0, 1, 1, 1).is_some());
    assert_eq!((net.loops, net.circles), (0, 0));
}

#[test]
fn a_flood_goes_on_by_another_port_once_that_of_its_first_copies_is_down() {
    for first in 0..2 {
        let mut net =
            arp_path(small(), &Exploration { announce: Announce::Off, ..Exploration::default() }, 1);
        assert_eq!(copies(&mut net, datagram(0, 3)).0, 1);
        let cables: Vec<LinkId> = net.fabric.ports(net.fabric.find(&format!("s{first}")).unwrap()).to_vec();
        cables.iter().for_each(|&cable| net.set_up(cable, false));
        net.run(Duration::from_ms(60));
        assert_eq!(copies(&mut net, datagram(0, 3)).0, 1, "over the other spine");
    }
}
