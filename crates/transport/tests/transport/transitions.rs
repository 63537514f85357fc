//! One rule of a protocol, one transition: an ACK, a timeout, a segment, and what the endpoint makes of it.

use crate::common::hand::{FIRST, Hand, PEER};
use weft_transport::{
    Config, CongestionControl, Ecn, EcnMode, Endpoint, Flags, LossRecovery, Segment, State,
};
use weft_units::{Bytes, Duration, Time};

/// The standards without RACK: RFC 6675 or 6582, RFC 6298, Reno; windows and times easy to reckon with.
fn plain(sack: bool) -> Config {
    Config {
        mss: 1000,
        congestion_control: CongestionControl::Reno,
        sack,
        dsack: false,
        rack: false,
        tail_loss_probe: false,
        frto: false,
        undo: false,
        proportional_rate_reduction: false,
        initial_receive_window: Bytes(1 << 20),
        ..Config::profile("linux").unwrap()
    }
}

fn rack() -> Config {
    Config { mss: 1000, congestion_control: CongestionControl::Reno, ..Config::profile("linux").unwrap() }
}

const MS: Duration = Duration::from_ms(1);
const NO_DATA: [i64; 0] = [];
const NO_ACKS: [u32; 0] = [];

fn numbers(range: std::ops::RangeInclusive<i64>) -> Vec<i64> {
    range.collect()
}

// RFC 9293: opening and closing.

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
    assert!(hand.sent()[0].flags.has(Flags::RST), "who is gone says so");
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

// RFC 9293 and 5681: acknowledging.

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
    assert_eq!(hand.end.stats().out_of_order, 1, "number 2 came below number 5");
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
    let mut hand = Hand::client(plain(true), 40);
    hand.data();
    hand.ack(0, &[(5, 6)]);
    assert_eq!(hand.timeout(), [-1]);
    hand.ack(1, &[(5, 6)]);
    assert_eq!(hand.ack(4, &[(5, 6)])[..2], [-7, -8]);
}

#[test]
fn a_retransmitted_segment_gives_no_round_trip() {
    let cfg = Config { timestamps: false, paws: false, ..plain(true) };
    let mut hand = Hand::client(cfg, 40);
    hand.data();
    let srtt = hand.end.srtt();
    hand.timeout();
    hand.wait(Duration::from_ms(500));
    hand.ack(1, &[]);
    assert_eq!(hand.end.srtt(), srtt, "Karn");
}

#[test]
fn the_connection_is_given_up_after_as_many_timeouts_as_it_may_have() {
    let mut hand = Hand::client(Config { data_retries: 2, ..plain(true) }, 1);
    hand.data();
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
    let mut hand = Hand::client(plain(false), 60);
    hand.data();
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
    let mut hand = Hand::client(plain(false), 60);
    hand.data();
    hand.timeout();
    for _ in 0..5 {
        hand.ack(0, &[]);
    }
    assert_eq!(hand.end.stats().fast_recoveries, 0);
}

// RFC 6675: fast recovery with SACK.

#[test]
fn a_segment_is_lost_when_three_above_it_were_reported() {
    let mut hand = Hand::client(plain(true), 60);
    hand.data();
    assert_eq!(hand.ack(0, &[(3, 3)]), [11]);
    assert_eq!(hand.ack(0, &[(3, 4)]), [12]);
    // 12 in flight, two lost, three reported: 7 in the pipe and one resent; half of 12 may be.
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
    let mut hand = Hand::client(plain(true), 60);
    hand.data();
    assert_eq!(hand.ack(0, &[(3, 3), (5, 5)]), [11, 12]);
    assert_eq!(hand.ack(0, &[(7, 7), (5, 5), (3, 3)]), [-1]);
    hand.ack(0, &[(2, 3), (7, 7), (5, 5)]);
    let resent: Vec<i64> = (8..13).flat_map(|to| hand.ack(0, &[(7, to), (2, 3), (5, 5)])).collect();
    assert!(resent.contains(&-4) && !resent.contains(&-2), "{resent:?}");
}

#[test]
fn a_receiver_that_reneges_is_believed() {
    let mut hand = Hand::client(plain(true), 60);
    hand.data();
    hand.ack(0, &[(2, 4)]);
    // The ACK stops before what was reported.
    hand.ack(1, &[]);
    assert_eq!(hand.timeout(), [-2]);
}

// RFC 6937.

#[test]
fn in_recovery_one_segment_leaves_for_two_delivered() {
    let cfg = Config { proportional_rate_reduction: true, ..plain(true) };
    let mut hand = Hand::client(cfg, 100);
    hand.data();
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

// RFC 8985: RACK and TLP.

#[test]
fn rack_waits_a_quarter_of_a_round_trip_for_what_may_be_reordered() {
    let mut hand = Hand::client(rack(), 60);
    hand.data();
    hand.wait(Duration::from_ms(10));
    assert_eq!(hand.ack(0, &[(2, 2)]), [11]);
    let wait = hand.end.next_timeout() - hand.now;
    assert!((8..=9).contains(&(wait.ps() / MS.ps())), "{wait}: 2.5 of 10 ms and Linux's slack of 6 ms");
    assert_eq!(hand.timeout()[0], -1);
    assert_eq!(hand.end.stats().fast_recoveries, 1);
}

#[test]
fn rack_forgives_a_segment_that_is_late_by_less() {
    let mut hand = Hand::client(rack(), 60);
    hand.data();
    hand.wait(Duration::from_ms(10));
    hand.ack(0, &[(2, 2)]);
    hand.wait(MS);
    hand.ack(2, &[]);
    assert_eq!((hand.end.stats().retransmissions, hand.end.stats().fast_recoveries), (0, 0));
    // Reordering was seen: three segments above the hole are no loss either.
    hand.wait(Duration::from_ms(9));
    hand.ack(2, &[(4, 8)]);
    assert_eq!(hand.end.stats().fast_recoveries, 0);
}

#[test]
fn a_segment_that_comes_late_makes_rack_wait_longer_for_the_others() {
    let mut hand = Hand::client(Config { reorder_slack: Duration::ZERO, ..rack() }, 3);
    hand.data();
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
    let mut hand = Hand::client(cfg, 1000);
    hand.data();
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
        // The reduction ends with an ACK that has the scoreboard looked at.
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
    let mut hand = Hand::client(rack(), 60);
    hand.data();
    hand.wait(Duration::from_ms(10));
    let first = hand.ack(0, &[(2, 8)]);
    assert_eq!(first[0], -1);
    hand.wait(Duration::from_ms(14));
    // What was sent after the retransmission arrives.
    let last = first.iter().max().copied().unwrap() as u32;
    assert!(last > 10);
    let again = hand.ack(0, &[(2, last)]);
    assert!(again.contains(&-1), "{again:?}");
}

#[test]
fn a_tail_is_probed_after_two_round_trips() {
    let mut hand = Hand::client(rack(), 3);
    hand.data();
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
        let mut hand = Hand::client(rack(), 3);
        hand.data();
        hand.timeout();
        hand.wait(Duration::from_ms(10));
        let before = hand.end.cwnd();
        let sacks: &[(u32, u32)] = if duplicate { &[(3, 3)] } else { &[] };
        hand.ack(3, sacks);
        assert_eq!(hand.end.cwnd() < before, halved, "duplicate reported: {duplicate}");
    }
}

// RFC 5682, 3708: mistakes taken back.

#[test]
fn a_timeout_that_was_needless_is_taken_back() {
    let cfg = Config { tail_loss_probe: false, ..rack() };
    let mut hand = Hand::client(cfg, 60);
    hand.data();
    let before = (hand.end.cwnd(), hand.end.ssthresh());
    assert_eq!(hand.timeout(), [-1]);
    assert_eq!(hand.cwnd(), hand.end.in_flight() / 1000);
    // The originals arrive: the first ACK lets new data out, the second proves it.
    let new = hand.ack(1, &[]);
    assert!(new.iter().all(|&n| n > 0), "{new:?}");
    hand.ack(3, &[]);
    assert!(hand.end.cwnd() >= before.0 && hand.end.ssthresh() >= before.1, "{}", hand.cwnd());
}

#[test]
fn a_recovery_is_taken_back_when_the_duplicate_is_reported() {
    let mut hand = Hand::client(rack(), 60);
    hand.data();
    hand.wait(Duration::from_ms(10));
    let before = (hand.end.cwnd(), hand.end.ssthresh());
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
    let mut hand = Hand::client(rack(), 60);
    hand.data();
    hand.wait(Duration::from_ms(10));
    let before = hand.end.ssthresh();
    let resent = hand.ack(0, &[(6, 9), (2, 4)]);
    assert_eq!(resent[..2], [-1, -5]);
    // The original of 1 comes late; 5 was lost.
    hand.wait(MS);
    hand.ack(4, &[(6, 10)]);
    hand.wait(Duration::from_ms(10));
    let mut repaired = hand.ack_with(10, &[]);
    repaired.ts_ecr = repaired.ts_val;
    hand.receive(repaired);
    assert!(hand.end.ssthresh() < before, "a loss is answered: {}", hand.end.ssthresh());
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

// RFC 3168 and 8257: marks.

fn marked(hand: &Hand, n: u32) -> Segment {
    let mut ack = hand.ack_with(n, &[]);
    ack.flags |= Flags::ECE;
    ack
}

#[test]
fn a_mark_halves_the_window_once_and_the_next_segment_says_so() {
    let mut hand = Hand::client(Config { ecn: EcnMode::Classic, ..plain(true) }, 100);
    let first = hand.sent();
    assert!(first.iter().filter(|s| s.len > 0).all(|s| s.ecn == Ecn::Ect0));
    hand.receive(marked(&hand, 2));
    assert_eq!(hand.end.ssthresh(), 5000);
    hand.sent();
    for n in [4, 6, 8, 10] {
        hand.receive(marked(&hand, n));
        hand.sent();
    }
    assert_eq!((hand.end.ssthresh(), hand.cwnd()), (5000, 5), "once a window");
    let next = hand.ack(10, &[]);
    assert!(!next.is_empty() || hand.end.in_flight() > 0);
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
    assert_eq!(receive(2, Ecn::Ce), [(1, false)], "RFC 8257, section 3.2: what came before, unmarked");
    assert_eq!(receive(3, Ecn::Ce), [(3, true)]);
    assert_eq!(receive(4, Ecn::Ce), []);
    assert_eq!(receive(5, Ecn::Ect0), [(4, true)]);
}

#[test]
fn dctcp_cuts_by_the_marked_share_and_halves_on_a_loss() {
    let cfg = Config { mss: 1000, dctcp_initial_alpha: 0.2, ..Config::profile("dctcp").unwrap() };
    let mut hand = Hand::client(cfg.clone(), 100);
    hand.data();
    hand.receive(marked(&hand, 2));
    let alpha = hand.end.alpha().unwrap();
    assert_eq!(hand.end.cwnd(), (10_000.0 * (1.0 - alpha / 2.0)) as u32);
    let mut hand = Hand::client(cfg, 100);
    hand.data();
    for to in 2..6 {
        hand.ack(0, &[(2, to)]);
    }
    assert_eq!(hand.end.ssthresh(), 5000);
}

// TCP small queues.

/// Sends what there is, each segment a millisecond on the wire behind the others; gives how many.
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
    // The window of 1 MB in 10 ms, twice as fast in slow start, for 1 s / 1024.
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
        hand.now += Duration::from_ps(1);
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
    let mut hand = Hand::client(plain(true), 1);
    hand.data();
    hand.ack(1, &[]);
    assert_eq!(hand.cwnd(), 10, "RFC 9438, section 5.8");
}

#[test]
fn after_a_pause_the_window_is_the_initial_one() {
    let mut hand = Hand::client(plain(true), 40);
    hand.data();
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

// Versions of ns-3.

#[test]
fn old_ns3_inflates_the_window_and_goes_back() {
    let cfg = Config { mss: 1000, initial_window: 10, ..Config::profile("ns3-3.23").unwrap() };
    let mut hand = Hand::client(cfg, 40);
    hand.data();
    assert_eq!(hand.ack(0, &[]), NO_DATA, "no limited transmit");
    assert_eq!(hand.ack(0, &[]), NO_DATA);
    assert_eq!(hand.ack(0, &[]), [-1]);
    assert_eq!((hand.end.ssthresh(), hand.cwnd()), (5000, 8), "half and three");
    assert_eq!((hand.ack(0, &[]), hand.cwnd()), (vec![], 9));
    assert_eq!(hand.ack(0, &[]), NO_DATA);
    assert_eq!(hand.ack(0, &[]), [11]);
    assert_eq!(hand.timeout(), [-1]);
    assert_eq!(hand.ack(1, &[]), [-2, -3], "all over again");
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
        let mut hand = Hand::client(Config { mss: 1000, ..Config::profile(profile).unwrap() }, 1);
        hand.data();
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
    assert_eq!((hand.end.cwnd(), hand.end.ssthresh()), (10_000, u32::MAX));
    assert_eq!(hand.sent().len(), 9);
}
