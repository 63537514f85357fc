//! Windows, and the limits of TCP small queues.

use super::{MS, plain, rack};
use crate::common::hand::Hand;
use weft_transport::{Config, Segment};
use weft_units::{Bytes, Duration, Time};

// TCP small queues.

/// Sends everything possible, with one millisecond of line time per segment; returns the number of data segments.
fn send_slowly(hand: &mut Hand, free: &mut Time) -> usize {
    let mut segment = Segment::default();
    let mut sent = 0;
    while hand.end.poll_transmit(&hand.cfg, hand.now, &mut segment) {
        if segment.len > 0 {
            *free = hand.now.max(*free) + MS;
            hand.end.leaves_at(hand.now, *free, segment.len);
            sent += 1;
        }
    }
    sent
}

#[test]
fn two_segments_wait_at_the_interface_and_each_that_leaves_lets_the_next_in() {
    let mut hand = Hand::client(rack(), 60);
    let (start, mut free) = (hand.now, Time::ZERO);
    assert_eq!(send_slowly(&mut hand, &mut free), 2, "of the 10 of the initial window");
    for n in 1..=8 {
        hand.now = hand.end.held_until();
        assert_eq!(hand.now, start + MS * n);
        assert_eq!(send_slowly(&mut hand, &mut free), 1);
    }
    assert_eq!((hand.end.held_until(), hand.end.in_flight()), (Time::MAX, 10_000), "now the window is full");
}

#[test]
fn acks_do_not_wait_behind_data_that_waits_for_the_interface() {
    let mut hand = Hand::client(rack(), 60);
    let mut free = Time::ZERO;
    send_slowly(&mut hand, &mut free);
    assert_ne!(hand.end.held_until(), Time::MAX);
    assert_eq!(hand.data_in(1), [1]);
}

#[test]
fn a_fast_connection_has_a_millisecond_of_its_data_at_the_interface() {
    let mut hand = Hand::client(Config { initial_window: 1000, ..rack() }, 2000);
    let mut free = Time::ZERO;
    // A window of 1 MB per 10 ms, doubled in slow start, for 1 s / 1024.
    let waiting = (2.0 * 1_000_000.0 / 10.24_f64 / 1000.0).ceil() as usize;
    assert_eq!(send_slowly(&mut hand, &mut free), waiting);
}

#[test]
fn without_small_queues_nothing_waits() {
    let mut hand = Hand::client(Config { small_queues: false, ..rack() }, 60);
    assert_eq!(send_slowly(&mut hand, &mut Time::ZERO.clone()), 10);
}

#[test]
fn a_tail_that_waits_for_the_interface_is_not_probed() {
    let mut hand = Hand::client(rack(), 2);
    let mut segment = Segment::default();
    while hand.end.poll_transmit(&hand.cfg, hand.now, &mut segment) {
        hand.end.leaves_at(hand.now, hand.now + Duration::from_ms(30), segment.len);
        hand.now += Duration::PICOSECOND;
    }
    assert!(hand.end.next_timeout() < hand.now + Duration::from_ms(30));
    assert!(hand.timeout().is_empty());
    assert_eq!(hand.timeout(), [-2]);
}

// Windows.

#[test]
fn the_largest_window_is_what_a_header_can_announce() {
    for bytes in [1 << 29, 1 << 30] {
        let buffer = Bytes(bytes);
        let cfg =
            Config { receive_buffer: buffer, initial_receive_window: buffer, quick_acks: 9, ..plain(true) };
        let mut hand = Hand::server(cfg);
        hand.receive(hand.their(1));
        assert_eq!(u64::from(hand.sent()[0].window), bytes.min(65_535 << 14), "RFC 7323, section 2.3");
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut hand = Hand::sending(plain(true), 1);
    hand.ack(1, &[]);
    assert_eq!(hand.cwnd(), 10, "RFC 9438, section 5.8");
}

#[test]
fn after_a_pause_the_window_is_the_initial_one() {
    let mut hand = Hand::sending(plain(true), 40);
    for n in [10, 20, 30, 40] {
        hand.ack(n, &[]);
    }
    assert!(hand.cwnd() > 20);
    hand.wait(Duration::from_secs(2));
    hand.end.write(100_000);
    assert_eq!(hand.data().len(), 10, "RFC 5681, section 4.1");
}

#[test]
fn a_partial_segment_waits_for_acknowledgement_unless_it_is_the_last() {
    let mut hand = Hand::client(plain(true), 1);
    hand.end.write(300);
    assert_eq!(hand.data(), [1], "Nagle");
    assert_eq!(hand.ack(1, &[]), [2]);
    hand.end.write(1300);
    hand.end.close();
    assert_eq!(hand.sent().iter().map(|s| s.len).collect::<Vec<_>>(), [1000, 300]);
}
