//! RoCE's loss recovery on lost packets by hand: which packets are sent, in which order.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use weft_transport::roce::{Ack, AckKind, Config, Data, LossRecovery, Path, Receiver, Sender};
use weft_transport::{Arrival, ProtocolConfig as _, Receiving, Sending};
use weft_units::{Bytes, Duration, Rate, Time};

/// The path, whose rate the congestion control limits.
const PATH: Path = Path { line: Rate::from_gbps(100), round_trip: Duration::from_us(10), switches: 1 };

/// The way of a packet, and that of an acknowledgement.
const WAY: Duration = Duration::from_us(5);
/// From one packet to the next.
const GAP: Duration = Duration::from_us(1);

/// An acknowledgement without notification.
fn ack(next: u32, kind: AckKind) -> Ack {
    Ack { next, kind, is_cnp: false, echo: Time::ZERO, telemetry: None }
}

/// What happens at a time.
enum Event {
    Arrives(Data),
    Returns(Ack),
}

/// The packet numbers that a flow of `packets` packets sends, if of each number so many first copies are lost; `!` precedes
/// those sent after a timeout and before the next acknowledgement.
fn sent(config: &Config, packets: u64, losses: &[(u32, u32)]) -> String {
    config.validate().unwrap();
    let mut losses: BTreeMap<u32, u32> = losses.iter().copied().collect();
    let window = (config.window != Bytes(0)).then_some(config.window.0);
    let mut sender = Sender::new(config, packets * u64::from(config.mtu), window, &PATH, Time::ZERO);
    let mut receiver = Receiver::default();
    let mut events: BTreeMap<(Time, u32), Event> = BTreeMap::new();
    let (mut now, mut free, mut said, mut count) = (Time::ZERO, Time::ZERO, Vec::new(), 0);
    let mut mark = "";
    while !sender.is_done() {
        assert!(said.len() < 1000, "it does not end: {said:?}");
        let sends = if sender.sends_at(config).is_some() { free } else { Time::MAX };
        let event = events.keys().next().map_or(Time::MAX, |(at, _)| *at);
        now = sends.min(event).min(sender.next_timeout(config)).max(now);
        count += 1;
        if event <= now {
            match events.pop_first().unwrap().1 {
                Event::Arrives(data) => {
                    if let Some(ack) = receiver.receive(config, now, &data, Arrival::default()) {
                        events.insert((now + WAY, count), Event::Returns(ack));
                    }
                }
                Event::Returns(ack) => {
                    sender.receive(config, now, &ack);
                    mark = "";
                }
            }
        } else if sends <= now {
            let data = sender.poll_transmit(config, now).unwrap();
            said.push(format!("{mark}{}", data.psn));
            free = now + GAP;
            match losses.get_mut(&data.psn).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => drop(events.insert((now + WAY, count), Event::Arrives(data))),
            }
        } else {
            sender.on_timeout(config, now);
            mark = "!";
        }
    }
    assert_eq!(receiver.delivered(), packets);
    assert_eq!(sender.stats().data_segments_sent as usize, said.len());
    assert_eq!(sender.stats().retransmissions as usize, said.len() - packets as usize);
    said.join(" ")
}

#[test]
fn go_back_n_sends_everything_again_from_the_first_missing_packet() {
    let config = Config { nack_interval: Duration::from_ms(1), ..Config::default() };
    for (packets, losses, expected) in [
        (4, &[][..], "0 1 2 3"),
        // Packet 2 arrives out of order at 7 us; the report returns at 12 us, after packet 12.
        (14, &[(1, 1)], "0 1 2 3 4 5 6 7 8 9 10 11 1 2 3 4 5 6 7 8 9 10 11 12 13"),
        // The last packet is missed only after the timeout.
        (4, &[(3, 1)], "0 1 2 3 !3"),
        // So is a repeated one: its loss is not reported again within the interval.
        (5, &[(1, 2)], "0 1 2 3 4 1 2 3 4 !1 !2 !3 !4"),
        (3, &[(0, 1), (1, 1), (2, 1)], "0 1 2 !0 !1 !2"),
    ] {
        assert_eq!(sent(&config, packets, losses), expected, "{losses:?}");
    }
}

#[test]
fn selective_repeat_sends_what_is_missing_once_more_is_known_to_have_arrived() {
    let config = Config { loss_recovery: LossRecovery::SelectiveRepeat, ..Config::default() };
    for (packets, losses, expected) in [
        (4, &[][..], "0 1 2 3"),
        (14, &[(1, 1)], "0 1 2 3 4 5 6 7 8 9 10 11 1 12 13"),
        (6, &[(1, 1), (3, 1)], "0 1 2 3 4 5 1 3"),
        (6, &[(1, 1), (2, 1)], "0 1 2 3 4 5 1 2"),
        (4, &[(3, 1)], "0 1 2 3 !3"),
        // A repetition that is lost, too, takes a timeout.
        (6, &[(1, 2)], "0 1 2 3 4 5 1 !1"),
        // After a timeout, all that is not acknowledged counts as lost.
        (3, &[(0, 1), (1, 1), (2, 1)], "0 1 2 !0 !1 !2"),
    ] {
        assert_eq!(sent(&config, packets, losses), expected, "{losses:?}");
    }
}

#[test]
fn a_window_limits_the_packets_in_flight_and_the_last_of_them_is_acknowledged_at_once() {
    for loss_recovery in [LossRecovery::GoBackN, LossRecovery::SelectiveRepeat] {
        let config = Config { loss_recovery, window: Bytes(3_500), ack_every: 64, ..Config::default() };
        let mut sender = Sender::new(&config, 10_000, Some(config.window.0), &PATH, Time::ZERO);
        let asks: Vec<bool> =
            std::iter::from_fn(|| sender.poll_transmit(&config, Time::ZERO)).map(|data| data.asks).collect();
        assert_eq!(asks, [false, false, true]);
        sender.receive(&config, Time::ZERO, &ack(3, AckKind::Plain));
        assert_eq!(sender.poll_transmit(&config, Time::ZERO).map(|data| data.psn), Some(3));
        assert_eq!(sent(&config, 10, &[]), "0 1 2 3 4 5 6 7 8 9");
    }
}

#[test]
fn a_receiver_notifies_of_congestion_once_per_interval() {
    let each = Config::default().cnp_interval;
    for (cnp_interval, expected) in
        [(Duration::from_us(10), vec![5, 15, 25, 35]), (each, (5..40).collect::<Vec<_>>())]
    {
        let config = Config { ack_every: 64, cnp_interval, ..Config::default() };
        let mut receiver = Receiver::default();
        let notified = (0..40_u32).filter(|psn| {
            let data = Data { psn: *psn, payload: 1000, asks: false, ..Data::default() };
            let now = Time::ZERO + GAP * u64::from(*psn);
            receiver
                .receive(&config, now, &data, Arrival { is_marked: *psn >= 5, is_trimmed: false })
                .is_some_and(|ack| ack.is_cnp)
        });
        assert_eq!(notified.collect::<Vec<_>>(), expected);
    }
}

/// The most packets that a receiver with selective repeat keeps.
const SPAN: u32 = 1 << 16;

#[test]
fn a_sender_with_selective_repeat_sends_no_packet_that_its_receiver_would_refuse() {
    for (loss_recovery, expected) in [(LossRecovery::GoBackN, 100_000), (LossRecovery::SelectiveRepeat, SPAN)]
    {
        let config = Config { loss_recovery, ..Config::default() };
        let mut sender = Sender::new(&config, 100_000_000, None, &PATH, Time::ZERO);
        let sent = std::iter::from_fn(|| sender.poll_transmit(&config, Time::ZERO)).count();
        assert_eq!(sent, expected as usize);
        let window = |packets: u32| Config { window: Bytes(u64::from(packets) * 1000), ..config.clone() };
        assert!(window(SPAN).validate().is_ok());
        assert_eq!(window(SPAN + 1).validate().is_ok(), loss_recovery == LossRecovery::GoBackN);
    }
}

#[test]
fn a_report_of_a_single_packet_means_nothing_to_go_back_n() {
    let config = Config::default();
    let mut sender = Sender::new(&config, 10_000, None, &PATH, Time::ZERO);
    assert_eq!(std::iter::from_fn(|| sender.poll_transmit(&config, Time::ZERO)).count(), 10);
    sender.receive(&config, Time::ZERO, &ack(0, AckKind::Selective(3)));
    assert_eq!(sender.poll_transmit(&config, Time::ZERO), None);
    sender.receive(&config, Time::ZERO, &ack(0, AckKind::Nack));
    let again = std::iter::from_fn(|| sender.poll_transmit(&config, Time::ZERO)).map(|data| data.psn);
    assert_eq!(again.collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_receiver_keeps_a_bounded_number_of_packets_whatever_numbers_they_have(
        numbers in proptest::collection::vec((any::<u32>(), 0..5_u8), 0..200),
        loss_recovery in prop_oneof![Just(LossRecovery::GoBackN), Just(LossRecovery::SelectiveRepeat)],
    ) {
        let config = Config { loss_recovery, ..Config::default() };
        let keeps_all = loss_recovery == LossRecovery::SelectiveRepeat;
        let (mut receiver, mut kept, mut next, mut impossible) = (Receiver::default(), BTreeSet::new(), 0, 0);
        for (number, kind) in numbers {
            let psn = match kind {
                0 => number,
                1 => u32::MAX - number % 3,
                2 => next + SPAN - 2 + number % 4,
                3 => next,
                _ => number % 100,
            };
            let data = Data { psn, payload: 1000, ..Data::default() };
            let answer = receiver.receive(&config, Time::ZERO, &data, Arrival::default());
            if keeps_all && psn.saturating_sub(next) >= SPAN {
                impossible += 1;
                prop_assert_eq!(answer, None);
            } else if keeps_all || psn <= next {
                kept.insert(psn);
            }
            while kept.contains(&next) {
                next += 1;
            }
            prop_assert_eq!((receiver.delivered(), receiver.stats().impossible), (u64::from(next), impossible));
            prop_assert!(receiver.heap_bytes() <= 4 * SPAN as usize / 8, "{} bytes", receiver.heap_bytes());
        }
    }
}
