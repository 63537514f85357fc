//! Timeouts and recoveries: RFC 6298, 5681, 6582, 3042, 6675 and 6937.

use super::{MS, NO_DATA, numbers, plain};
use crate::common::hand::Hand;
use weft_transport::Config;
use weft_units::Duration;

// RFC 6298: timeouts.

#[test]
fn a_timeout_resends_the_first_segment_in_slow_start_and_doubles() {
    let mut hand = Hand::client(plain(true), 40);
    assert_eq!(hand.data(), numbers(1..=10));
    let sent = hand.now;
    assert_eq!(hand.timeout(), [-1]);
    let first = hand.now - sent;
    assert!((200..260).contains(&(first.ps() / MS.ps())), "SRTT + 200 ms: {first}");
    assert_eq!((hand.cwnd(), hand.end.ssthresh()), (1, 5000));
    let before = hand.now;
    assert_eq!(hand.timeout(), [-1]);
    assert_eq!((hand.now - before).ps(), 2 * first.ps());
    assert_eq!(hand.end.ssthresh(), 5000, "once for the same data");
    assert_eq!(hand.ack(1, &[]), [-2, -3]);
    assert_eq!(hand.ack(3, &[]), [-4, -5, -6, -7]);
    assert_eq!(hand.ack(10, &[]), numbers(11..=16), "slow start to the threshold, then a segment");
    assert_eq!(hand.end.stats().timeouts, 2);
}

#[test]
fn after_a_timeout_what_the_receiver_reported_is_not_sent_again() {
    let mut hand = Hand::sending(plain(true), 40);
    hand.ack(0, &[(5, 6)]);
    assert_eq!(hand.timeout(), [-1]);
    hand.ack(1, &[(5, 6)]);
    assert_eq!(hand.ack(4, &[(5, 6)])[..2], [-7, -8]);
}

#[test]
fn a_retransmitted_segment_gives_no_round_trip() {
    let cfg = Config { timestamps: false, paws: false, ..plain(true) };
    let mut hand = Hand::sending(cfg, 40);
    let srtt = hand.end.srtt();
    hand.timeout();
    hand.wait(Duration::from_ms(500));
    hand.ack(1, &[]);
    assert_eq!(hand.end.srtt(), srtt, "Karn");
}

#[test]
fn the_connection_is_given_up_after_as_many_timeouts_as_it_may_have() {
    let mut hand = Hand::sending(Config { data_retries: 2, ..plain(true) }, 1);
    assert_eq!((hand.timeout(), hand.timeout()), (vec![-1], vec![-1]));
    assert_eq!(hand.timeout(), NO_DATA);
    assert!(hand.end.is_aborted());
}

// RFC 5681, 6582, 3042: fast recovery without SACK.

#[test]
fn two_duplicates_let_a_new_segment_out_each_and_the_third_resends_the_first() {
    let mut hand = Hand::client(plain(false), 40);
    assert_eq!(hand.data(), numbers(1..=10));
    assert_eq!(hand.ack(0, &[]), [11], "RFC 3042");
    assert_eq!(hand.ack(0, &[]), [12]);
    assert_eq!(hand.ack(0, &[]), [-1]);
    assert_eq!((hand.end.ssthresh(), hand.end.stats().fast_recoveries), (6000, 1), "half of 12");
}

#[test]
fn a_partial_ack_resends_the_next_hole_and_a_full_one_ends_recovery() {
    let mut hand = Hand::sending(plain(false), 60);
    for _ in 0..3 {
        hand.ack(0, &[]);
    }
    assert_eq!(hand.ack(4, &[])[0], -5, "RFC 6582, section 3.2, step 3");
    hand.ack(12, &[]);
    assert_eq!(hand.cwnd(), 6);
    assert_eq!(hand.end.in_flight(), 6000);
    assert_eq!(hand.end.stats().fast_recoveries, 1);
}

#[test]
fn duplicates_after_a_timeout_do_not_start_a_recovery() {
    let mut hand = Hand::sending(plain(false), 60);
    hand.timeout();
    for _ in 0..5 {
        hand.ack(0, &[]);
    }
    assert_eq!(hand.end.stats().fast_recoveries, 0);
}

// RFC 6675: fast recovery with SACK.

#[test]
fn a_segment_is_lost_when_three_above_it_were_reported() {
    let mut hand = Hand::sending(plain(true), 60);
    assert_eq!(hand.ack(0, &[(3, 3)]), [11]);
    assert_eq!(hand.ack(0, &[(3, 4)]), [12]);
    // 12 in flight, two lost, three reported: 7 in the pipe and one retransmitted; half of 12 is allowed.
    assert_eq!(hand.ack(0, &[(3, 5)]), [-1]);
    assert_eq!(hand.end.stats().fast_recoveries, 1);
    assert_eq!(hand.ack(0, &[(3, 6)]), NO_DATA);
    assert_eq!(hand.ack(0, &[(3, 7)]), NO_DATA);
    assert_eq!(hand.ack(0, &[(3, 8)]), [-2]);
    assert_eq!(hand.ack(0, &[(3, 9)]), [13], "new data when no hole is left");
    hand.ack(13, &[]);
    assert_eq!(hand.cwnd(), 6, "and the recovery is over");
}

#[test]
fn segments_that_a_later_sack_reports_are_not_resent() {
    let mut hand = Hand::sending(plain(true), 60);
    assert_eq!(hand.ack(0, &[(3, 3), (5, 5)]), [11, 12]);
    assert_eq!(hand.ack(0, &[(7, 7), (5, 5), (3, 3)]), [-1]);
    hand.ack(0, &[(2, 3), (7, 7), (5, 5)]);
    let resent: Vec<i64> = (8..13).flat_map(|to| hand.ack(0, &[(7, to), (2, 3), (5, 5)])).collect();
    assert!(resent.contains(&-4) && !resent.contains(&-2), "{resent:?}");
}

#[test]
fn a_receiver_that_reneges_is_believed() {
    let mut hand = Hand::sending(plain(true), 60);
    hand.ack(0, &[(2, 4)]);
    // The ACK stops below the reported data.
    hand.ack(1, &[]);
    assert_eq!(hand.timeout(), [-2]);
}

// RFC 6937.

#[test]
fn in_recovery_one_segment_leaves_for_two_delivered() {
    let cfg = Config { proportional_rate_reduction: true, ..plain(true) };
    let mut hand = Hand::sending(cfg, 100);
    for n in 1..=10 {
        hand.ack(n * 2, &[]);
    }
    let flight = hand.end.in_flight() / 1000;
    let mut sent = 0;
    let mut reported = 0;
    for to in 22..22 + flight - 4 {
        let data = hand.ack(20, &[(22, to)]);
        if hand.end.stats().fast_recoveries > 0 {
            sent += data.len();
            reported += 1;
        }
    }
    let share = sent as f64 / f64::from(reported);
    assert!((0.45..0.65).contains(&share), "{sent} for {reported}");
}
