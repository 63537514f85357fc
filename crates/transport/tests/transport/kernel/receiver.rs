//! The receiver's part: the timestamp to echo, and duplicates.

use crate::common::hand::{FIRST, Hand, PEER};
use weft_transport::{Config, Flags, Segment};
use weft_units::Duration;

/// A server that delays ACKs.
fn server() -> Hand {
    Hand::server(Config { mss: 1000, quick_acks: 0, ..Config::profile("linux").unwrap() })
}

/// Receives segment `n` of the peer's data, with a timestamp. Returns the number of segments that each ACK covers, and the
/// timestamp that it echoes.
fn echoes(hand: &mut Hand, n: u32, ts_val: u32) -> Vec<(u32, u32)> {
    hand.receive(Segment { ts_val, ..hand.their(n) });
    hand.sent().iter().map(|ack| ((ack.ack - PEER) / 1000, ack.ts_ecr)).collect()
}

#[test]
fn a_delayed_ack_echoes_the_oldest_segment_that_it_covers() {
    // RFC 7323, section 4.3, (A); `tcp_replace_ts_recent`.
    let mut hand = server();
    assert_eq!(echoes(&mut hand, 1, 2001), []);
    assert_eq!(echoes(&mut hand, 2, 2002), [(2, 2001)]);
    assert_eq!(echoes(&mut hand, 3, 2003), []);
    hand.wait(Duration::from_ms(40));
    hand.end.on_timeout(&hand.cfg, hand.now);
    assert_eq!(hand.sent()[0].ts_ecr, 2003);
}

#[test]
fn a_hole_keeps_the_echo_of_the_last_segment_in_order() {
    // RFC 7323, section 4.3, (B) and (C).
    let mut hand = server();
    echoes(&mut hand, 1, 2001);
    assert_eq!(echoes(&mut hand, 2, 2002), [(2, 2001)]);
    assert_eq!(echoes(&mut hand, 4, 2004), [(2, 2001)]);
    assert_eq!(echoes(&mut hand, 5, 2005), [(2, 2001)]);
    assert_eq!(echoes(&mut hand, 3, 2010), [(5, 2010)], "the one that fills the hole");
}

#[test]
fn an_original_that_fills_the_hole_late_is_echoed_and_its_copy_is_not() {
    // What the sender's undo depends on.
    let mut hand = server();
    echoes(&mut hand, 1, 2000);
    assert_eq!(echoes(&mut hand, 3, 2001), [(1, 2000)]);
    assert_eq!(echoes(&mut hand, 2, 2000), [(3, 2000)]);
    assert_eq!(echoes(&mut hand, 2, 2009), [(3, 2000)], "below the window");
}

#[test]
fn the_timestamp_of_an_ack_of_data_never_sent_is_not_echoed() {
    // gtests/net/tcp/ts_recent/invalid_ack.pkt.
    let mut hand = server();
    let bad = Segment { ack: FIRST + 9000, ts_val: 90_000, ..hand.segment(Flags::ACK) };
    hand.receive(bad);
    hand.sent();
    let finishing = Segment { flags: bad.flags | Flags::FIN, ..bad };
    hand.receive(finishing);
    hand.sent();
    echoes(&mut hand, 1, 2001);
    assert_eq!(echoes(&mut hand, 2, 2002), [(2, 2001)]);
}

#[test]
fn a_fin_carries_the_current_timestamp() {
    // gtests/net/tcp/ts_recent/fin_tsval.pkt.
    let mut hand = server();
    hand.wait(Duration::from_secs(1));
    hand.end.close();
    let fin = hand.sent()[0];
    assert_eq!(u64::from(fin.ts_val), hand.now.ps() / 1_000_000_000);
}

#[test]
fn a_segment_below_or_inside_what_arrived_is_reported_as_a_duplicate() {
    // tools/testing/selftests/net/packetdrill/tcp_dsack_mult.pkt.
    let mut hand = server();
    let mut blocks = |n| {
        hand.receive(hand.their(n));
        let ack = hand.sent()[0];
        let number = |seq: u32| (seq - PEER) / 1000;
        let sacks: Vec<_> = ack.sacks().iter().map(|&(from, to)| (number(from) + 1, number(to))).collect();
        (number(ack.ack), sacks)
    };
    assert_eq!(blocks(2), (0, vec![(2, 2)]));
    assert_eq!(blocks(3), (0, vec![(2, 3)]));
    assert_eq!(blocks(5), (0, vec![(5, 5), (2, 3)]));
    assert_eq!(blocks(8), (0, vec![(8, 8), (5, 5), (2, 3)]));
    assert_eq!(blocks(5), (0, vec![(5, 5), (5, 5), (8, 8)]), "the newest block holds it");
    assert_eq!(blocks(1), (3, vec![(5, 5), (8, 8)]));
    assert_eq!(blocks(1), (3, vec![(1, 1), (5, 5), (8, 8)]), "an old segment");
}
