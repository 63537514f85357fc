//! RACK and tail loss probes (RFC 8985), and undoing spurious reductions (RFC 5682, 3708).

use super::{MS, marked, rack};
use crate::common::hand::{FIRST, Hand};
use weft_transport::{Config, EcnMode, Flags};
use weft_units::Duration;

// RFC 8985: RACK and TLP.

#[test]
fn rack_waits_a_quarter_of_a_round_trip_for_what_may_be_reordered() {
    let mut hand = Hand::sending(rack(), 60);
    hand.wait(Duration::from_ms(10));
    assert_eq!(hand.ack(0, &[(2, 2)]), [11]);
    let wait = hand.end.next_timeout() - hand.now;
    assert!(
        (8..=9).contains(&(wait.ps() / MS.ps())),
        "{wait}: a quarter of 10 ms plus Linux's slack of 6 ms"
    );
    assert_eq!(hand.timeout()[0], -1);
    assert_eq!(hand.end.stats().fast_recoveries, 1);
}

#[test]
fn rack_forgives_a_segment_that_is_late_by_less() {
    let mut hand = Hand::sending(rack(), 60);
    hand.wait(Duration::from_ms(10));
    hand.ack(0, &[(2, 2)]);
    hand.wait(MS);
    hand.ack(2, &[]);
    assert_eq!((hand.end.stats().retransmissions, hand.end.stats().fast_recoveries), (0, 0));
    // After reordering, three segments above the hole do not indicate a loss either.
    hand.wait(Duration::from_ms(9));
    hand.ack(2, &[(4, 8)]);
    assert_eq!(hand.end.stats().fast_recoveries, 0);
}

#[test]
fn a_segment_that_comes_late_makes_rack_wait_longer_for_the_others() {
    let mut hand = Hand::sending(Config { reorder_slack: Duration::ZERO, ..rack() }, 3);
    let first = hand.now;
    hand.wait(MS);
    hand.end.write(3000);
    assert_eq!(hand.data(), [4, 5, 6]);
    hand.wait(Duration::from_ms(9));
    hand.ack(0, &[(4, 4)]);
    let waits = |hand: &Hand| (hand.end.next_timeout() - first).as_secs_f64() * 1e3;
    assert!((11.2..11.3).contains(&waits(&hand)), "9 ms and a quarter: {}", waits(&hand));
    hand.wait(MS);
    hand.ack(0, &[(2, 2), (4, 4)]);
    assert!((13.2..13.3).contains(&waits(&hand)), "11 ms and a quarter of 9: {}", waits(&hand));
}

#[test]
fn a_reduction_after_a_mark_does_not_use_up_racks_patience() {
    let cfg = Config { reorder_slack: Duration::ZERO, ecn: EcnMode::Classic, ..rack() };
    let mut hand = Hand::sending(cfg, 1000);
    hand.wait(Duration::from_ms(10));
    hand.ack(0, &[(2, 2)]);
    hand.wait(MS);
    hand.ack(2, &[]);
    // Two quarters from now on, for 16 recoveries.
    hand.ack(2, &[(1, 1)]);
    let mut acked = 2;
    for _ in 0..40 {
        hand.wait(Duration::from_ms(10));
        let sent = acked + hand.end.in_flight() / 1000;
        hand.receive(marked(&hand, acked + 1));
        hand.data();
        hand.wait(MS);
        // The reduction ends with an ACK that updates the scoreboard.
        hand.ack(sent, &[(sent + 500, sent + 500)]);
        acked = sent;
    }
    hand.wait(Duration::from_ms(10));
    hand.ack(acked, &[(acked + 2, acked + 2)]);
    let wait = (hand.end.next_timeout() - hand.now).as_secs_f64() * 1e3;
    assert!((3.9..4.1).contains(&wait), "two quarters of 10 ms, 1 ms of which has passed: {wait}");
}

#[test]
fn rack_finds_a_retransmission_that_was_lost() {
    let mut hand = Hand::sending(rack(), 60);
    hand.wait(Duration::from_ms(10));
    let first = hand.ack(0, &[(2, 8)]);
    assert_eq!(first[0], -1);
    hand.wait(Duration::from_ms(14));
    // Data sent after the retransmission arrives.
    let last = first.iter().max().copied().unwrap() as u32;
    assert!(last > 10);
    let again = hand.ack(0, &[(2, last)]);
    assert!(again.contains(&-1), "{again:?}");
}

#[test]
fn a_tail_is_probed_after_two_round_trips() {
    let mut hand = Hand::sending(rack(), 3);
    let sent = hand.now;
    assert_eq!(hand.timeout(), [-3], "the last segment");
    let waited = (hand.now - sent).ps() / MS.ps();
    assert!((20..=23).contains(&waited), "2 SRTT + 2 ms, waited {waited} ms");
    hand.wait(Duration::from_ms(10));
    let cwnd = hand.cwnd();
    hand.ack(0, &[(3, 3)]);
    hand.wait(Duration::from_ms(3));
    assert!(hand.end.stats().timeouts == 0 && hand.cwnd() <= cwnd);
}

#[test]
fn a_probe_that_repaired_the_loss_costs_a_reduction_and_a_needless_one_nothing() {
    for (duplicate, halved) in [(false, true), (true, false)] {
        let mut hand = Hand::sending(rack(), 3);
        hand.timeout();
        hand.wait(Duration::from_ms(10));
        let before = hand.end.cwnd(&hand.cfg);
        let sacks: &[(u32, u32)] = if duplicate { &[(3, 3)] } else { &[] };
        hand.ack(3, sacks);
        assert_eq!(hand.end.cwnd(&hand.cfg) < before, halved, "duplicate reported: {duplicate}");
    }
}

// RFC 5682, 3708: undoing spurious reductions.

#[test]
fn a_timeout_that_was_needless_is_taken_back() {
    let cfg = Config { tail_loss_probe: false, ..rack() };
    let mut hand = Hand::sending(cfg, 60);
    let before = (hand.end.cwnd(&hand.cfg), hand.end.ssthresh());
    assert_eq!(hand.timeout(), [-1]);
    assert_eq!(hand.cwnd(), hand.end.in_flight() / 1000);
    // The originals arrive: the first ACK releases new data, the second proves the timeout spurious.
    let new = hand.ack(1, &[]);
    assert!(new.iter().all(|&n| n > 0), "{new:?}");
    hand.ack(3, &[]);
    assert!(hand.end.cwnd(&hand.cfg) >= before.0 && hand.end.ssthresh() >= before.1, "{}", hand.cwnd());
}

#[test]
fn a_recovery_is_taken_back_when_the_duplicate_is_reported() {
    let mut hand = Hand::sending(rack(), 60);
    hand.wait(Duration::from_ms(10));
    let before = (hand.end.cwnd(&hand.cfg), hand.end.ssthresh());
    assert_eq!(hand.ack(0, &[(2, 8)])[0], -1);
    assert!(hand.end.ssthresh() < before.1);
    hand.wait(MS);
    let mut late = hand.ack_with(8, &[]);
    late.ts_ecr = late.ts_val;
    hand.receive(late);
    hand.data();
    hand.wait(MS);
    let mut duplicate = hand.ack_with(8, &[(1, 1)]);
    duplicate.ts_ecr = duplicate.ts_val;
    hand.receive(duplicate);
    assert!(hand.end.ssthresh() >= before.1, "{} {:?}", hand.end.ssthresh(), before);
}

#[test]
fn a_late_original_is_no_proof_while_other_retransmissions_are_in_flight() {
    let mut hand = Hand::sending(rack(), 60);
    hand.wait(Duration::from_ms(10));
    let before = hand.end.ssthresh();
    let resent = hand.ack(0, &[(6, 9), (2, 4)]);
    assert_eq!(resent[..2], [-1, -5]);
    // The original of 1 arrives late; 5 was lost.
    hand.wait(MS);
    hand.ack(4, &[(6, 10)]);
    hand.wait(Duration::from_ms(10));
    let mut repaired = hand.ack_with(10, &[]);
    repaired.ts_ecr = repaired.ts_val;
    hand.receive(repaired);
    assert!(hand.end.ssthresh() < before, "the loss reduces the window: {}", hand.end.ssthresh());
    assert_eq!(hand.end.stats().retransmissions, 2);
}

#[test]
fn partial_segments_sent_at_once_are_repaired_one_by_one() {
    let mut hand = Hand::client(Config { nagle: false, ..rack() }, 0);
    for _ in 0..8 {
        hand.end.write(300);
        assert_eq!(hand.sent().last().map(|segment| segment.len), Some(300));
    }
    hand.wait(Duration::from_ms(10));
    let mut ack = hand.segment(Flags::ACK);
    ack.sacks[0] = (FIRST + 300, FIRST + 2400);
    ack.sack_count = 1;
    hand.receive(ack);
    hand.now = hand.end.next_timeout();
    hand.end.on_timeout(&hand.cfg, hand.now);
    let resent = hand.sent();
    let resent: Vec<_> = resent.iter().map(|segment| (segment.seq - FIRST, segment.len)).collect();
    assert_eq!(resent, [(0, 300)], "the others have arrived");
}
