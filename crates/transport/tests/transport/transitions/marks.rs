//! Congestion marks (RFC 3168, RFC 8257).

use super::{marked, plain};
use crate::common::hand::{Hand, PEER};
use weft_transport::{Config, Ecn, EcnMode, Flags};

#[test]
fn a_mark_halves_the_window_once_and_the_next_segment_says_so() {
    let mut hand = Hand::client(Config { ecn: EcnMode::Classic, ..plain(true) }, 100);
    let first = hand.sent();
    assert!(first.iter().filter(|s| s.len > 0).all(|s| s.ecn == Ecn::Ect0));
    hand.receive(marked(&hand, 2));
    assert_eq!(hand.end.ssthresh(), 5000);
    let mut sent = hand.sent();
    for n in [4, 6, 8, 10] {
        hand.receive(marked(&hand, n));
        sent.extend(hand.sent());
    }
    assert_eq!((hand.end.ssthresh(), hand.cwnd()), (5000, 5), "once per window");
    let mut data = sent.iter().filter(|segment| segment.len > 0).map(|segment| segment.flags.has(Flags::CWR));
    assert_eq!(data.next(), Some(true), "the first segment after the mark says so");
    assert_eq!(
        (data.clone().count() > 0, data.any(|says| says)),
        (true, false),
        "no later one does: {sent:?}"
    );
    assert_eq!(hand.end.stats().retransmissions, 0);
}

#[test]
fn a_classic_receiver_echoes_until_the_sender_answers() {
    let mut hand = Hand::server(Config { ecn: EcnMode::Classic, quick_acks: 20, ..plain(true) });
    let mut echo = |n, ecn, cwr: bool| {
        let mut segment = hand.their(n);
        segment.ecn = ecn;
        if cwr {
            segment.flags |= Flags::CWR;
        }
        hand.receive(segment);
        hand.sent()[0].flags.has(Flags::ECE)
    };
    assert!(!echo(1, Ecn::Ect0, false));
    assert!(echo(2, Ecn::Ce, false));
    assert!(echo(3, Ecn::Ect0, false));
    assert!(!echo(4, Ecn::Ect0, true));
    assert_eq!(hand.end.stats().ecn_marks, 1);
}

#[test]
fn a_dctcp_receiver_acknowledges_at_once_when_the_marks_change() {
    let mut hand = Hand::server(Config { quick_acks: 0, mss: 1000, ..Config::profile("dctcp").unwrap() });
    let mut receive = |n, ecn| {
        let mut segment = hand.their(n);
        segment.ecn = ecn;
        hand.receive(segment);
        let acks = hand.sent();
        acks.iter().map(|s| ((s.ack - PEER) / 1000, s.flags.has(Flags::ECE))).collect::<Vec<_>>()
    };
    assert_eq!(receive(1, Ecn::Ect0), []);
    assert_eq!(receive(2, Ecn::Ce), [(1, false)], "RFC 8257, section 3.2: the earlier data, unmarked");
    assert_eq!(receive(3, Ecn::Ce), [(3, true)]);
    assert_eq!(receive(4, Ecn::Ce), []);
    assert_eq!(receive(5, Ecn::Ect0), [(4, true)]);
}

#[test]
fn dctcp_cuts_by_the_marked_share_and_halves_on_a_loss() {
    let mut cfg = Config { mss: 1000, ..Config::profile("dctcp").unwrap() };
    cfg.congestion.dctcp.initial_alpha = 0.2;
    let mut hand = Hand::sending(cfg.clone(), 100);
    hand.receive(marked(&hand, 2));
    let alpha = hand.end.alpha().unwrap();
    assert_eq!(hand.end.cwnd(&hand.cfg), (10_000.0 * (1.0 - alpha / 2.0)) as u32);
    let mut hand = Hand::sending(cfg, 100);
    for to in 2..6 {
        hand.ack(0, &[(2, to)]);
    }
    assert_eq!(hand.end.ssthresh(), 5000);
}
