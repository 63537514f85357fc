//! Opening, closing and acknowledging (RFC 9293, RFC 5681).

use super::{NO_ACKS, NO_DATA, numbers, plain, rack};
use crate::common::hand::{FIRST, Hand, PEER};
use weft_transport::{Config, Endpoint, Flags, Segment, State};
use weft_units::{Duration, Time};

#[test]
fn the_handshake_ends_with_an_ack_before_the_data() {
    let mut hand = Hand::client(plain(true), 20);
    let sent = hand.sent();
    assert_eq!((sent[0].len, sent[0].ack), (0, PEER));
    assert_eq!(sent[1].len, 1000);
    assert_eq!(sent.len(), 11, "and the initial window");
}

#[test]
fn a_syn_is_sent_again_with_doubling_timeouts_and_given_up() {
    let cfg = Config { syn_retries: 3, ..plain(true) };
    let mut end = Endpoint::connect(&cfg, Time::ZERO, 7);
    let mut segment = Segment::default();
    let mut at = Vec::new();
    let mut now = Time::ZERO;
    while !end.is_closed() {
        while end.poll_transmit(&cfg, now, &mut segment) {
            assert!(segment.flags.has(Flags::SYN) && segment.seq == 7);
            at.push(now.as_secs_f64());
        }
        now = end.next_timeout();
        end.on_timeout(&cfg, now);
    }
    assert_eq!(at, [0.0, 1.0, 3.0, 7.0]);
    assert!(end.is_aborted());
}

#[test]
fn a_fin_rides_on_the_last_segment_and_the_other_sides_fin_ends_in_time_wait() {
    let mut hand = Hand::client(plain(true), 2);
    hand.end.close();
    let sent = hand.sent();
    assert!(!sent[1].flags.has(Flags::FIN) && sent[2].flags.has(Flags::FIN));
    assert_eq!(hand.end.state(), State::FinWait1);
    let mut ack = hand.segment(Flags::ACK);
    ack.ack = FIRST + 2001;
    hand.receive(ack);
    assert_eq!(hand.end.state(), State::FinWait2);
    ack.flags |= Flags::FIN;
    hand.receive(ack);
    assert_eq!((hand.end.state(), hand.acks().len()), (State::TimeWait, 1));
    hand.receive(ack);
    assert_eq!(hand.acks().len(), 1, "a repeated FIN is acknowledged");
    hand.timeout();
    assert_eq!(hand.end.state(), State::Closed);
}

#[test]
fn both_sides_may_close_at_once() {
    let mut hand = Hand::client(plain(true), 1);
    hand.end.close();
    hand.sent();
    let mut fin = hand.segment(Flags::ACK | Flags::FIN);
    hand.receive(fin);
    assert_eq!(hand.end.state(), State::Closing);
    fin.flags = Flags::ACK | Flags::TS;
    fin.seq = PEER + 1;
    fin.ack = FIRST + 1001;
    hand.receive(fin);
    assert_eq!(hand.end.state(), State::TimeWait);
}

#[test]
fn the_passive_side_closes_after_its_own_data() {
    let mut hand = Hand::server(plain(true));
    let mut fin = hand.their(1);
    fin.flags |= Flags::FIN;
    hand.receive(fin);
    assert_eq!((hand.end.state(), hand.end.delivered()), (State::CloseWait, 1000));
    hand.end.write(500);
    hand.end.close();
    let sent = hand.sent();
    assert_eq!((sent[0].len, sent[0].ack, hand.end.state()), (500, PEER + 1001, State::LastAck));
    let mut ack = hand.segment(Flags::ACK);
    ack.seq = PEER + 1001;
    ack.ack = FIRST + 501;
    hand.receive(ack);
    assert_eq!((hand.end.state(), hand.end.is_aborted()), (State::Closed, false));
}

#[test]
fn a_reset_counts_only_with_the_exact_number() {
    let mut hand = Hand::client(plain(true), 1);
    hand.sent();
    let mut reset = hand.segment(Flags::RST);
    reset.seq = PEER + 10;
    hand.receive(reset);
    assert_eq!((hand.end.state(), hand.sent().len()), (State::Established, 1), "RFC 5961: challenged");
    reset.seq = PEER;
    hand.receive(reset);
    assert!(hand.end.is_closed() && hand.end.is_aborted());
    hand.receive(hand.segment(Flags::ACK));
    assert!(hand.sent()[0].flags.has(Flags::RST), "a closed endpoint answers with a reset");
}

#[test]
fn a_closed_window_is_probed_and_opens_again() {
    let mut hand = Hand::client(plain(true), 20);
    assert_eq!(hand.data(), numbers(1..=10));
    hand.window = 0;
    assert_eq!(hand.ack(10, &[]), NO_DATA);
    for _ in 0..3 {
        assert_eq!(hand.timeout(), NO_DATA);
    }
    hand.now = hand.end.next_timeout();
    hand.end.on_timeout(&hand.cfg, hand.now);
    let probe = hand.sent();
    assert_eq!((probe.len(), probe[0].len, probe[0].seq), (1, 0, FIRST + 9_999));
    hand.window = 1 << 20;
    assert_eq!(hand.ack(10, &[]), numbers(11..=20));
}

#[test]
fn every_second_segment_is_acknowledged_and_the_rest_in_time() {
    let mut hand = Hand::server(Config { quick_acks: 0, ..plain(true) });
    assert_eq!(hand.data_in(1), NO_ACKS);
    assert_eq!(hand.data_in(2), [2]);
    assert_eq!(hand.data_in(3), NO_ACKS);
    assert_eq!(hand.end.next_timeout(), hand.now + Duration::from_ms(40));
    hand.now = hand.end.next_timeout();
    hand.end.on_timeout(&hand.cfg, hand.now);
    assert_eq!(hand.acks(), [3]);
}

#[test]
fn the_first_segments_are_acknowledged_at_once() {
    for (profile, quick) in [("ns3-3.37", 1), ("linux", 16)] {
        let mut hand = Hand::server(Config { mss: 1000, ..Config::profile(profile).unwrap() });
        let acked = (1..30).take_while(|&n| hand.data_in(n) == [n]).count();
        assert_eq!(acked, quick, "{profile}");
    }
}

#[test]
fn a_hole_is_reported_at_once_newest_block_first_and_so_is_its_end() {
    let mut hand = Hand::server(Config { quick_acks: 0, ..plain(true) });
    hand.data_in(1);
    hand.receive(hand.their(3));
    let first = hand.sent();
    assert_eq!(
        (first.len(), first[0].ack, first[0].sacks()),
        (1, PEER + 1000, &[(PEER + 2000, PEER + 3000)][..])
    );
    hand.receive(hand.their(5));
    let blocks = [(PEER + 4000, PEER + 5000), (PEER + 2000, PEER + 3000)];
    assert_eq!(hand.sent()[0].sacks(), blocks);
    assert_eq!(hand.data_in(2), [3], "filling a hole");
    assert_eq!(hand.end.delivered(), 3000);
    assert_eq!(hand.end.stats().out_of_order, 1, "segment 2 arrived after segment 5");
}

#[test]
fn a_duplicate_is_reported_first() {
    let mut hand = Hand::server(Config { quick_acks: 0, ..rack() });
    hand.data_in(1);
    hand.data_in(2);
    hand.receive(hand.their(1));
    assert_eq!(hand.sent()[0].sacks(), [(PEER, PEER + 1000)], "RFC 2883");
}

#[test]
fn the_older_of_two_timestamps_is_echoed_when_the_ack_was_delayed() {
    let mut hand = Hand::server(Config { quick_acks: 0, ..plain(true) });
    let mut segment = hand.their(1);
    segment.ts_val += 100;
    hand.receive(segment);
    let mut second = hand.their(2);
    second.ts_val += 120;
    hand.receive(second);
    assert_eq!(hand.sent()[0].ts_ecr, segment.ts_val, "RFC 7323, section 4.3");
    let mut old = hand.their(3);
    old.ts_val = segment.ts_val - 50;
    hand.receive(old);
    assert_eq!((hand.end.delivered(), hand.sent().len()), (2000, 1), "RFC 7323, section 5: too old");
}
