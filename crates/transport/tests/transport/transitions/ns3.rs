//! Versions of ns-3.

use super::NO_DATA;
use crate::common::hand::{FIRST, Hand, PEER};
use weft_transport::{Config, Endpoint, Flags, LossRecovery, Segment};
use weft_units::{Duration, Time};

#[test]
fn old_ns3_inflates_the_window_and_goes_back() {
    let cfg = Config { mss: 1000, initial_window: 10, ..Config::profile("ns3-3.23").unwrap() };
    let mut hand = Hand::sending(cfg, 40);
    assert_eq!(hand.ack(0, &[]), NO_DATA, "no limited transmit");
    assert_eq!(hand.ack(0, &[]), NO_DATA);
    assert_eq!(hand.ack(0, &[]), [-1]);
    assert_eq!((hand.end.ssthresh(), hand.cwnd()), (5000, 8), "half, plus three");
    assert_eq!((hand.ack(0, &[]), hand.cwnd()), (vec![], 9));
    assert_eq!(hand.ack(0, &[]), NO_DATA);
    assert_eq!(hand.ack(0, &[]), [11]);
    assert_eq!(hand.timeout(), [-1]);
    assert_eq!(hand.ack(1, &[]), [-2, -3], "everything is resent");
    assert_eq!(hand.ack(11, &[]).first(), Some(&12));
}

#[test]
fn the_newer_ns3_ignores_duplicates_below_the_last_recovery() {
    let cfg = Config { mss: 1000, initial_window: 10, ..Config::profile("ns3-3.26").unwrap() };
    let mut hand = Hand::client(cfg, 40);
    assert_eq!(hand.data().len(), 10);
    assert_eq!(hand.ack(0, &[]), [11], "limited transmit");
    assert_eq!(hand.timeout(), [-1]);
    for _ in 0..4 {
        hand.ack(0, &[]);
    }
    assert_eq!(hand.end.stats().fast_recoveries, 0);
}

#[test]
fn a_timeout_is_first_two_seconds_in_ns3_3_23_and_one_in_3_37() {
    for (profile, seconds) in [("ns3-3.23", 2), ("ns3-3.37", 1)] {
        let hand = Hand::sending(Config { mss: 1000, ..Config::profile(profile).unwrap() }, 1);
        assert_eq!((hand.end.next_timeout() - hand.now).ps() / 1_000_000_000_000, seconds, "{profile}");
    }
}

#[test]
fn a_profile_says_which_recovery_it_follows() {
    let of = |name: &str| Config::profile(name).unwrap().loss_recovery;
    assert_eq!(of("ns3-3.23"), LossRecovery::Ns3v23);
    assert_eq!(of("dctcp"), LossRecovery::Standard);
}

#[test]
fn ns3_takes_a_round_trip_of_seconds_from_a_lost_syn_ack() {
    let cfg = Config { mss: 1000, ..Config::profile("ns3-3.37").unwrap() };
    let mut end = Endpoint::connect(&cfg, Time::ZERO, FIRST - 1);
    let mut segment = Segment::default();
    while end.poll_transmit(&cfg, Time::ZERO, &mut segment) {}
    end.on_timeout(&cfg, end.next_timeout());
    let now = Time::ZERO + Duration::from_secs(3);
    while end.poll_transmit(&cfg, now, &mut segment) {}
    let answer = Segment {
        seq: PEER - 1,
        ack: FIRST,
        window: 1 << 16,
        flags: Flags::SYN | Flags::ACK | Flags::TS,
        ..Segment::default()
    };
    end.on_segment(&cfg, now, &answer);
    assert_eq!(end.srtt(), Duration::from_secs(3), "the echo is the first SYN's");
}

#[test]
fn ns3_begins_anew_when_a_syn_ack_comes_again() {
    let cfg = Config { mss: 1000, initial_window: 10, ..Config::profile("ns3-3.37").unwrap() };
    let mut hand = Hand::client(cfg, 100);
    hand.sent();
    assert_eq!(hand.timeout(), [-1]);
    assert_eq!(hand.cwnd(), 1);
    let mut again = hand.segment(Flags::SYN | Flags::ACK);
    again.seq = PEER - 1;
    hand.receive(again);
    assert_eq!((hand.end.cwnd(&hand.cfg), hand.end.ssthresh()), (10_000, u32::MAX));
    assert_eq!(hand.sent().len(), 9);
}
