//! Pacing: the spacing of data segments, and its wake-ups.

use std::cell::Cell;
use std::rc::Rc;

use crate::common::hand::{FIRST, Hand, PEER};
use crate::common::world::{Cable, World};
use crate::common::{Link, Network, transfer};
use proptest::prelude::*;
use weft_transport::{
    Config, CongestionControl, EcnMode, Endpoint, Flags, LossRecovery, Mptcp, ProtocolConfig as _,
};
use weft_units::{Duration, Rate, Time};

/// 40 segments of 1000 bytes per round trip of 10 ms, doubled in slow start: a segment each 125 us.
const GAP: Duration = Duration::from_us(125);
const TICK: Duration = Duration::PICOSECOND;
const NO_DATA: [i64; 0] = [];

fn paced() -> Config {
    Config {
        mss: 1000,
        initial_window: 40,
        congestion_control: CongestionControl::Reno,
        small_queues: false,
        pacing: true,
        ..Config::profile("linux").unwrap()
    }
}

/// Wakes the endpoint at its next deadline; returns how long that was from `hand.now`, and the data sent.
fn next(hand: &mut Hand) -> (Duration, Vec<i64>) {
    let before = hand.now;
    let data = hand.timeout();
    (hand.now - before, data)
}

#[test]
fn after_the_first_ten_a_segment_leaves_each_gap_and_not_before() {
    let mut hand = Hand::client(paced(), 40);
    assert_eq!(hand.data(), (1..=10).collect::<Vec<_>>());
    for number in 11..=40 {
        let at = hand.end.next_timeout();
        let start = hand.now;
        assert_eq!(at, start + GAP);
        hand.now = start + (GAP - TICK);
        hand.end.on_timeout(&hand.cfg, hand.now);
        assert_eq!(hand.data(), NO_DATA, "a picosecond early");
        hand.now = start;
        assert_eq!(next(&mut hand), (GAP, vec![number]));
    }
    assert!(hand.end.next_timeout() > hand.now + GAP, "only the probe's timer is left");
}

#[test]
fn the_gap_follows_the_window_and_the_round_trip_time() {
    let mut hand = Hand::client(Config { initial_ssthresh: weft_units::Bytes(60_000), ..paced() }, 100);
    hand.data();
    assert_eq!(
        next(&mut hand).0,
        Duration::from_ps(10_000_000_000 * 10 / 12 / 40 + 1),
        "1.2 windows, rounded up"
    );
    let rate = hand.end.pacing_rate().unwrap();
    assert_eq!((rate.bytes, rate.time), (48_000, hand.end.srtt()));
}

#[test]
fn a_late_segment_shortens_the_next_gap_by_as_much_at_most_by_half() {
    for (late, gap) in [(GAP / 5, GAP - GAP / 5), (GAP / 2, GAP / 2), (GAP * 20, GAP / 2)] {
        let mut hand = Hand::client(paced(), 40);
        hand.data();
        hand.wait(GAP + late);
        assert_eq!(hand.data(), [11], "{late}");
        assert_eq!(next(&mut hand), (gap, vec![12]), "{late}");
        assert_eq!(next(&mut hand), (GAP, vec![13]), "{late}");
    }
}

#[test]
fn before_the_first_round_trip_sample_and_without_pacing_nothing_is_spaced() {
    let mut hand = Hand::client(Config { pacing: false, ..paced() }, 40);
    assert_eq!(hand.data().len(), 40);

    let cfg = Config { timestamps: false, paws: false, ..paced() };
    let mut hand =
        Hand { end: Endpoint::connect(&cfg, Time::ZERO, FIRST - 1), cfg, now: Time::ZERO, window: 1 << 20 };
    hand.end.write(40_000);
    hand.sent();
    hand.timeout();
    let mut answer = hand.segment(Flags::SYN | Flags::ACK);
    answer.seq = PEER - 1;
    hand.receive(answer);
    assert_eq!((hand.end.srtt(), hand.end.pacing_rate()), (Duration::ZERO, None), "the SYN was sent twice");
    assert_eq!(hand.data().len(), 40);
}

#[test]
fn acks_do_not_wait_for_pacing() {
    let mut hand = Hand::client(paced(), 40);
    hand.data();
    assert_eq!(hand.data_in(1), [1]);
    assert_eq!(hand.end.next_timeout(), hand.now + GAP);
}

/// A client that has sent 20 segments, the last one now.
fn sent_20() -> Hand {
    let mut hand = Hand::client(paced(), 60);
    hand.data();
    for _ in 11..=20 {
        next(&mut hand);
    }
    hand
}

#[test]
fn the_first_retransmission_waits_too_and_is_timed_when_it_leaves() {
    let mut hand = sent_20();
    assert_eq!(hand.ack(0, &[(2, 9)]), NO_DATA);
    assert_eq!(hand.end.stats().fast_recoveries, 1);
    let (wait, data) = next(&mut hand);
    assert_eq!((wait <= GAP, data), (true, vec![-1]));
}

#[test]
fn a_retransmission_that_is_no_longer_needed_does_not_leave() {
    for (ack, sacks) in [(9, vec![]), (0, vec![(1, 9)])] {
        let mut hand = sent_20();
        hand.ack(0, &[(2, 9)]);
        assert_eq!(hand.ack(ack, &sacks), NO_DATA);
        let (_, data) = next(&mut hand);
        assert!(!data.contains(&-1), "{data:?}");
        assert_eq!(hand.end.stats().retransmissions, 0);
    }
}

#[test]
fn pacing_costs_a_bulk_transfer_no_throughput() {
    for word in CongestionControl::WORDS {
        let congestion_control = word.parse().unwrap();
        let ecn = if *word == "dctcp" { EcnMode::Dctcp } else { EcnMode::Off };
        for own in [false, true] {
            let link = Link { delay: Duration::from_us(500), queue: 300, own, ..Link::default() };
            let seconds = |pacing| {
                let cfg = Config { pacing, congestion_control, ecn, ..Config::profile("linux").unwrap() };
                transfer(&cfg, &link, 20_000_000).fct.unwrap().as_secs_f64()
            };
            let (on, off) = (seconds(true), seconds(false));
            println!("{word}, own interface {own}: {on:.4} s, without pacing {off:.4} s");
            assert!(on < off * 1.05, "{on} s, without pacing {off} s");
        }
    }
}

#[test]
fn subflows_are_paced_each_at_its_own_rate() {
    let profile = Config::profile("linux").unwrap();
    let cfg = Config { mptcp: Mptcp::Ndiffports, subflows: 2, pacing: true, ..profile };
    let mut world =
        World::new(vec![Cable::default(), Cable { delay: Duration::from_ms(5), ..Cable::default() }]);
    let flow = world.open(&cfg, &[0, 1], 5_000_000);
    let sent = Rc::new(Cell::new([(0, Time::ZERO, 0); 2]));
    let noted = Rc::clone(&sent);
    world.filter = Some(Box::new(move |now, packet| {
        if packet.to == 1 && packet.segment.len > 0 {
            let mut all = noted.get();
            let (count, last, together) = &mut all[packet.subflow.min(1)];
            *count += 1;
            *together += usize::from(now == *last);
            *last = now;
            noted.set(all);
        }
        false
    }));
    assert!(world.run_until(Duration::from_secs(100), |world| world.flows[flow].is_closed()));
    assert_eq!(world.flows[flow].delivered(1), 5_000_000);
    for (count, _, together) in sent.get() {
        assert!(count > 100 && together < 10, "{together} of {count} left with the one before");
    }
}

/// Paced variants of the recovery code.
fn configs() -> [Config; 5] {
    let linux = Config {
        pacing: true,
        data_retries: u8::MAX,
        syn_retries: u8::MAX,
        ..Config::profile("linux").unwrap()
    };
    let no_rack = Config { rack: false, tail_loss_probe: false, ..linux.clone() };
    let no_sack = Config { sack: false, dsack: false, undo: false, ..no_rack.clone() };
    let no_prr = Config { proportional_rate_reduction: false, small_queues: false, ..no_sack.clone() };
    let dctcp = Config { pacing: true, data_retries: u8::MAX, ..Config::profile("dctcp").unwrap() };
    [linux, no_rack, no_sack, no_prr, dctcp]
}

proptest! {
    #[test]
    fn over_any_time_no_more_than_the_rate_and_a_burst_leaves_and_all_arrives(
        which in 0..5_usize,
        seed in any::<u64>(),
        loss in prop_oneof![Just(0_u64), 1..100_u64],
        reorder in prop_oneof![Just(0_u64), 1..200_u64],
        delay in prop_oneof![Just(5_u64), Just(500), Just(20_000)],
        queue in prop_oneof![Just(5_usize), Just(200)],
        mark in prop_oneof![Just(3_usize), Just(usize::MAX)],
        own in any::<bool>(),
        bytes in 0..600_000_u64,
    ) {
        let cfg = configs()[which].clone();
        let link = Link {
            seed, loss, reorder, queue, mark, own,
            delay: Duration::from_us(delay),
            jitter: Duration::from_us(400),
            rate: Rate::from_bps(100_000_000),
            ..Link::default()
        };
        let mut network = Network::new(cfg, link);
        let len = Rc::new(Cell::new(0));
        let noted = Rc::clone(&len);
        network.trace = Some(Box::new(move |_, side, segment, _| {
            if side == 0 && segment.len > 0 {
                noted.set(u64::from(segment.len));
            }
        }));
        network.side[0].write(bytes);
        network.side[0].close();
        let end = network.now + Duration::from_secs(1_000_000);
        // The time that all segments so far take, and the latest start of a window: its time less `taken` at that time.
        let (mut sent, mut taken, mut latest) = (0, 0_i128, i128::MIN);
        let mut steps = true;
        while network.side[1].delivered() < bytes {
            // Alternate, so that the rate is read before anything else happens.
            if steps {
                prop_assert!(network.step(end), "stalls with {} of {bytes} bytes", network.side[1].delivered());
            } else {
                network.drain(0);
            }
            steps = !steps;
            let now_sent = network.side[0].stats().data_segments_sent;
            if now_sent == sent {
                continue;
            }
            let rate = network.side[0].pacing_rate();
            let spaced = now_sent <= (sent + 1).max(10) || rate.is_none();
            prop_assert!(spaced, "{} segments at once", now_sent - sent);
            sent = now_sent;
            let at = i128::from(network.now.ps()) - taken;
            prop_assert!(at >= latest, "segment {sent} leaves {} ps too early", latest - at);
            if sent >= 10 && let Some(rate) = rate {
                let gap = i128::from(rate.time_of(len.get()).ps());
                // The burst: half a segment more than the first.
                latest = latest.max(at - gap / 2);
                taken += gap;
            }
        }
    }
}

#[test]
fn pacing_needs_standard_recovery() {
    let cfg =
        Config { pacing: true, loss_recovery: LossRecovery::Ns3v37, ..Config::profile("ns3-3.37").unwrap() };
    assert_eq!(cfg.validate().unwrap_err().name, "pacing");
}
