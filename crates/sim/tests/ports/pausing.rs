//! When queues are paused, on examples computed by hand.

use weft_fabric::{Limit, PfcSpec, QueueSpec, SharedBuffer};
use weft_units::{Bytes, Duration, LinkId, Time};

use crate::bare::{Bare, datagram, line};

fn ns(ns: u64) -> Time {
    Time::ZERO + Duration::from_ns(ns)
}

/// A sender at 10 Gbps, 2 us from a switch that passes packets on at 1 Gbps.
fn slow_end(headroom: u64) -> Bare {
    let pfc = PfcSpec {
        xoff: Some(Bytes(2_500)),
        xon: Some(Bytes(1_250)),
        headroom: Some(Bytes(headroom)),
        queues: None,
    };
    let queue = QueueSpec { pfc: Some(pfc), ..QueueSpec::fifo(Limit::Bytes(20_000)) };
    let first = line(10, Duration::from_us(2), queue);
    let second = line(1, Duration::ZERO, QueueSpec::fifo(Limit::Packets(1)));
    let mut bare = Bare::new(&first, &second, None, 1);
    for tag in 0..10 {
        bare.offer(ns(0), tag, 1_250, datagram());
    }
    bare.finish();
    bare
}

#[test]
fn a_queue_is_paused_from_the_arrival_of_one_frame_to_that_of_the_next() {
    // A packet takes 1 us over the first link, 10 us over the second. The switch holds 3750 bytes at 6 us. The frame, of
    // 46 bytes at 10 Gbps, takes 36.8 ns and 2 us; the sender has begun its ninth packet. With those on the way, 10000
    // bytes wait at 11 us. At 73 us 1250 are left.
    let bare = slow_end(7_500);
    assert_eq!(bare.port(0).paused, Duration::from_us(67));
    assert_eq!((bare.port(1).pause_frames, bare.port(0).pause_frames), (2, 0));
    assert_eq!((bare.port(1).paused, bare.dropped()), (Duration::ZERO, 0));
    let arrivals: Vec<_> = bare.arrived.iter().map(|arrived| (arrived.tag, arrived.at)).collect();
    let expected: Vec<_> = (0..10).map(|tag| (tag, ns(13_000 + 10_000 * u64::from(tag)))).collect();
    assert_eq!(arrivals, expected, "the slow line is never free");
    assert_eq!(bare.net.counters.packets_of_switches, 2);
}

#[test]
fn with_a_byte_less_of_headroom_than_arrives_a_packet_is_lost() {
    let bare = slow_end(7_499);
    assert_eq!((bare.dropped(), bare.arrived.len()), (1, 9));
}

#[test]
fn the_headroom_is_what_is_on_the_way_when_the_pause_takes_effect() {
    let queue = QueueSpec { pfc: Some(PfcSpec::default()), ..QueueSpec::fifo(Limit::Bytes(1_000_000)) };
    for (gbps, us, expected) in [
        // Three jumbo frames, a pause frame, and both ways of the cable.
        (100, 1, 3 * 9_254 + 84 + 25_000),
        (10, 2, 3 * 9_254 + 84 + 5_000),
        (400, 0, 3 * 9_254 + 84),
    ] {
        let link = line(gbps, Duration::from_us(us), queue.clone());
        let bare = Bare::new(&link, &link, None, 1);
        let found = bare.net.fabric.thresholds(LinkId(0)).unwrap();
        assert!((expected..expected + 4).contains(&found.headroom), "{found:?}");
        assert_eq!(found.xoff, Some(1_000_000 - found.headroom));
        assert_eq!(bare.net.fabric.thresholds(LinkId(1)), None, "hosts never pause switches");
    }
}

#[test]
fn a_queue_grows_to_its_share_of_the_free_buffer() {
    // Choudhury and Hahne: a single queue gets alpha / (1 + alpha) of the buffer.
    for (alpha, expected) in [(0.5, 1_000_000.0 / 3.0), (1.0, 500_000.0), (4.0, 800_000.0)] {
        let fast = line(100, Duration::ZERO, QueueSpec::fifo(Limit::Bytes(10_000_000)));
        let slow = line(1, Duration::ZERO, QueueSpec::fifo(Limit::Bytes(10_000_000)));
        let buffer = SharedBuffer { bytes: Bytes(1_000_000), alpha };
        let mut bare = Bare::new(&fast, &slow, Some(buffer), 1);
        for tag in 0..2_000 {
            bare.offer(ns(0), tag, 1_000, datagram());
        }
        bare.finish();
        let longest = bare.net.counters_of(LinkId(2)).max_backlog.0 as f64;
        assert!((longest - expected).abs() < 4_000.0, "alpha {alpha}: {longest} against {expected}");
        assert!(bare.dropped() > 0 && bare.arrived.len() as u64 + bare.dropped() == 2_000);
    }
}
