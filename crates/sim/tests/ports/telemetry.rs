//! The telemetry that a switch's port adds to packets: the time of their departure, bytes sent before, bytes queued
//! then.

use weft_fabric::{ClassSpec, Limit, PfcSpec, QueueSpec, SharedBuffer};
use weft_transport::roce::{Hop, Telemetry};
use weft_units::{Bytes, Duration, Rate, Time};

use crate::bare::{Bare, line};

/// Bytes of a packet.
const PACKET: u16 = 1000;

/// The hops of packets that a host offers at these times, with links of 80 and 8 Gbps without delay.
fn hops(queue: &QueueSpec, buffer: Option<SharedBuffer>, offered_ns: &[u64]) -> Vec<Vec<Hop>> {
    let [first, second] = [80, 8].map(|gbps| line(gbps, Duration::ZERO, queue.clone()));
    let mut bare = Bare::with(&first, &second, buffer, 1, true);
    for (tag, ns) in (0..).zip(offered_ns) {
        bare.offer_with(Time::ZERO + Duration::from_ns(*ns), tag, PACKET, Some(Telemetry::with_room(5)));
    }
    bare.finish();
    assert!(bare.arrived.iter().map(|packet| packet.tag).eq(0..offered_ns.len() as u16));
    bare.arrived.iter().map(|packet| packet.telemetry.expect("telemetry").hops().to_vec()).collect()
}

#[test]
fn a_port_tells_its_state_at_the_departure_of_each_packet_whatever_its_queue() {
    let fifo = QueueSpec::fifo(Limit::Bytes(100_000));
    let classes = vec![ClassSpec { weight: 1 }; 2];
    let shared = SharedBuffer { bytes: Bytes(200_000), alpha: 8.0 };
    // A packet takes 100 ns to the switch and 1000 ns from there. Three come at once, another three 2.05 us later, and
    // one when the line has long been free.
    let offered = [0, 0, 0, 2050, 2050, 2050, 9000];
    // (departure, packets queued behind it then)
    let expected = [(100, 0), (1100, 1), (2100, 0), (3100, 2), (4100, 1), (5100, 0), (9100, 0)];
    for (queue, buffer) in [
        (fifo.clone(), None),
        (QueueSpec { classes, ..fifo.clone() }, None),
        (QueueSpec { pfc: Some(PfcSpec::default()), ..fifo.clone() }, None),
        (fifo, Some(shared)),
    ] {
        let found = hops(&queue, buffer, &offered);
        for (number, (hops, (ns, behind))) in (0..).zip(found.iter().zip(expected)) {
            let &[hop] = &hops[..] else { panic!("{hops:?}: one switch") };
            let size = u64::from(PACKET);
            let (at, sent) = (Time::ZERO + Duration::from_ns(ns), number * size);
            let told = Hop { link: hop.link, rate: Rate::from_gbps(8), at, sent, queued: behind * size };
            assert_eq!(hop, told, "packet {number} of {queue:?} {buffer:?}");
        }
    }
}

#[test]
fn packets_that_do_not_ask_get_none_but_count() {
    let queue = QueueSpec::fifo(Limit::Unlimited);
    let [first, second] = [80, 8].map(|gbps| line(gbps, Duration::ZERO, queue.clone()));
    let mut bare = Bare::with(&first, &second, None, 1, true);
    bare.offer_with(Time::ZERO, 0, PACKET, None);
    bare.offer_with(Time::ZERO, 1, PACKET, Some(Telemetry::with_room(5)));
    bare.finish();
    let [other, asking] = &bare.arrived[..] else { panic!("two packets") };
    assert_eq!(other.telemetry, None);
    assert_eq!(asking.telemetry.expect("telemetry").hops()[0].sent, u64::from(PACKET));
}

#[test]
fn a_packet_without_room_gets_no_more_hops() {
    let mut telemetry = Telemetry::with_room(2);
    for link in 0..3 {
        telemetry.add(Hop { link, rate: Rate::from_gbps(8), at: Time::ZERO, sent: 0, queued: 0 });
    }
    assert!(telemetry.hops().iter().map(|hop| hop.link).eq(0..2));
}
