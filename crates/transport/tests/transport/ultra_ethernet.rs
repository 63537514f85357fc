//! Ultra Ethernet transport over a network whose every packet has a fate.

use std::collections::VecDeque;

use proptest::prelude::*;
use weft_transport::uec::{
    Answer, Config, Congestion, CreditUpdate, Data, EntropyChoice, LossDetection, Receiver, Reply, Sender,
};
use weft_transport::{Arrival, Receiving, Sending};
use weft_units::{Bytes, Duration, Rate, Time};

/// What the network does with a data packet.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fate {
    Arrives,
    Marked,
    Trimmed,
    Lost,
    /// It arrives, but the answer is lost.
    Unanswered,
    /// It takes this many microseconds longer.
    Late(u64),
}

use Fate::{Arrives, Late, Lost, Marked, Trimmed, Unanswered};

const DELAY: Duration = Duration::from_us(6);

/// What happened.
#[derive(Debug)]
struct Transfer {
    done: Option<Time>,
    retransmissions: u32,
    timeouts: u32,
    order: Vec<Data>,
    received: u64,
}

/// Sends `bytes` at 100 Gbps; the n-th transmission has the n-th fate, or arrives.
fn transfer(config: &Config, bytes: u64, fates: &[Fate]) -> Transfer {
    transfer_in_turn(config, bytes, fates, Duration::ZERO)
}

/// The same, with a turn of the host's other flows after each packet.
fn transfer_in_turn(config: &Config, bytes: u64, fates: &[Fate], others: Duration) -> Transfer {
    enum Event {
        Data(Data, Fate),
        Reply(Reply),
    }
    let mut sender = Sender::new(config, bytes, Rate::from_gbps(100), 42);
    let mut receiver = Receiver::new(0);
    receiver.append(config, bytes, 1);
    let mut events: Vec<(Time, Event)> = Vec::new();
    let (mut now, mut free, mut order) = (Time::ZERO, Time::ZERO, Vec::new());
    let mut done = None;
    for _ in 0..1_000_000 {
        if free <= now
            && let Some(data) = sender.poll_transmit(config, now)
        {
            let fate = fates.get(order.len()).copied().filter(|_| !data.is_request).unwrap_or(Arrives);
            let late = if let Late(us) = fate { Duration::from_us(us) } else { Duration::ZERO };
            if !data.is_request {
                order.push(data);
            }
            events.push((now + DELAY + late, Event::Data(data, fate)));
            let takes = Rate::from_gbps(100).tx_time(Bytes(u64::from(config.ip_bytes(data.bytes))));
            free = now + takes + others;
            continue;
        }
        if receiver.is_done() && done.is_none() {
            done = Some(now);
        }
        let next = events.iter().enumerate().min_by_key(|(place, (at, _))| (*at, *place));
        let at = [
            next.as_ref().map(|(_, (at, _))| *at),
            sender.sends_at(config).map(|_| free).filter(|free| *free > now),
            Some(sender.next_timeout(config)).filter(|at| *at < Time::MAX),
        ];
        let Some(at) = at.into_iter().flatten().min() else { break };
        now = at.max(now);
        if sender.next_timeout(config) <= now {
            sender.on_timeout(config, now);
        }
        if let Some((place, (due, _))) = next
            && *due <= now
        {
            match events.remove(place).1 {
                Event::Data(_, Lost) => {}
                Event::Data(data, fate) => {
                    let arrival = Arrival { is_marked: fate == Marked, is_trimmed: fate == Trimmed };
                    let answer = receiver.receive(config, now, &data, arrival);
                    let answer = answer.filter(|_| fate != Unanswered);
                    events.extend(answer.map(|answer| (now + DELAY, Event::Reply(answer))));
                    while receiver.wants_credit() || receiver.may_grant_in_advance(100_000) {
                        let credit = Reply::Credit(receiver.grant(config).1);
                        if fate != Unanswered {
                            events.push((now + DELAY, Event::Reply(credit)));
                        }
                    }
                }
                Event::Reply(reply) => sender.receive(config, now, &reply),
            }
        }
    }
    let stats = sender.stats();
    assert_eq!(stats.data_segments_sent as usize, order.len());
    Transfer {
        done: done.filter(|_| sender.is_done()),
        retransmissions: stats.retransmissions,
        timeouts: stats.timeouts,
        order,
        received: receiver.received_bytes(config),
    }
}

/// The numbers of the packets in the order in which they were sent.
fn numbers(transfer: &Transfer) -> Vec<u32> {
    transfer.order.iter().map(|data| data.number).collect()
}

/// Four packets in flight, an answer to each packet.
fn small() -> Config {
    Config {
        congestion: Congestion::Fixed,
        window: 4,
        entropies: 8,
        entropy_choice: EntropyChoice::Oblivious,
        ack_bytes: Bytes(0),
        ..Config::default()
    }
}

#[test]
fn as_many_packets_as_the_initial_window_has_leave_before_the_first_answer() {
    // The largest window of the reference network is 225 000 bytes.
    for (initial_window, packets) in [(None, 54), (Some(1), 1), (Some(50), 50)] {
        let config = Config { initial_window, ..Config::default() };
        let mut sender = Sender::new(&config, 2_000_000, Rate::from_gbps(100), 42);
        let sent = std::iter::from_fn(|| sender.poll_transmit(&config, Time::ZERO));
        assert_eq!(sent.count(), packets, "{initial_window:?}");
    }
}

#[test]
fn patterns_of_loss_lead_to_these_packets_in_this_order() {
    // The fates of the transmissions, the packets in the order in which they are sent, and timeouts.
    let cases: [(&[Fate], &[u32], u32); 8] = [
        (&[], &[0, 1, 2, 3, 4, 5], 0),
        (&[Marked, Marked], &[0, 1, 2, 3, 4, 5], 0),
        // A trimmed packet is sent again before new ones.
        (&[Trimmed], &[0, 1, 2, 3, 0, 4, 5], 0),
        (&[Arrives, Trimmed, Trimmed], &[0, 1, 2, 3, 4, 1, 2, 5], 0),
        // A lost packet waits for its timeout.
        (&[Arrives, Lost], &[0, 1, 2, 3, 4, 5, 1], 1),
        (&[Lost, Lost], &[0, 1, 2, 3, 4, 5, 0, 1], 2),
        // The next answer has all that the lost one had.
        (&[Unanswered], &[0, 1, 2, 3, 4, 5], 0),
        // The last packet's answer: nothing else tells that it has arrived.
        (&[Arrives, Arrives, Arrives, Arrives, Arrives, Unanswered], &[0, 1, 2, 3, 4, 5, 5], 1),
    ];
    for (fates, expected, timeouts) in cases {
        let transfer = transfer(&small(), 5 * 4096 + 100, fates);
        assert_eq!((numbers(&transfer).as_slice(), transfer.timeouts), (expected, timeouts), "{fates:?}");
        assert_eq!(transfer.retransmissions as usize, expected.len() - 6);
        assert_eq!(transfer.received, 5 * 4096 + 100);
        assert!(transfer.done.is_some());
        assert_eq!(transfer.order[expected.iter().position(|number| *number == 5).unwrap()].bytes, 100);
    }
}

/// Loss detection after so many later packets.
fn detecting(distance: u32) -> Config {
    Config { loss_detection: LossDetection::Distance, loss_distance: Some(distance), window: 8, ..small() }
}

#[test]
fn a_packet_is_lost_when_enough_later_ones_have_arrived() {
    // The distance, the fates of 20 packets' transmissions, the packets sent again, and timeouts. Eight are in flight.
    let lost_at = |places: &[usize]| -> Vec<Fate> {
        (0..30).map(|place| if places.contains(&place) { Lost } else { Arrives }).collect()
    };
    let cases: [(u32, Vec<Fate>, &[u32], u32); 8] = [
        (3, lost_at(&[]), &[], 0),
        (3, lost_at(&[0]), &[0], 0),
        (3, lost_at(&[4, 5, 9]), &[4, 5, 9], 0),
        // Three packets come after 16, two after 17.
        (3, lost_at(&[16]), &[16], 0),
        (3, lost_at(&[17]), &[17], 1),
        (3, lost_at(&[19]), &[19], 1),
        // Packet 2 is repeated as the eleventh transmission; that it is lost again, a timeout tells.
        (1, lost_at(&[2, 10]), &[2, 2], 1),
        // As far as a timeout takes: the window is full.
        (12, lost_at(&[1]), &[1], 0),
    ];
    for (distance, fates, again, timeouts) in cases {
        let transfer = transfer(&detecting(distance), 20 * 4096, &fates);
        let mut seen = [false; 20];
        let repeated: Vec<_> = numbers(&transfer)
            .into_iter()
            .filter(|number| std::mem::replace(&mut seen[*number as usize], true))
            .collect();
        assert_eq!((repeated.as_slice(), transfer.timeouts), (again, timeouts), "{distance}: {fates:?}");
        assert!(transfer.done.is_some());
    }
}

#[test]
fn detection_takes_a_round_trip_and_the_distance_and_not_a_timeout() {
    let fates: Vec<_> = (0..100).map(|place| if place == 40 { Lost } else { Arrives }).collect();
    let done =
        |config: &Config| transfer(config, 100 * 4096, &fates).done.unwrap().saturating_since(Time::ZERO);
    let config = Config { window: 1000, ..detecting(5) };
    let timeout = Config { loss_detection: LossDetection::Timeout, ..config.clone() };
    let packet = Rate::from_gbps(100).tx_time(Bytes(4160));
    // Packet 40 leaves after 40 packets; packet 45 arrives, its answer returns, and a packet arrives.
    assert_eq!(done(&config).saturating_sub(packet * 100).saturating_sub(DELAY * 1), Duration::ZERO);
    assert_eq!(done(&timeout), packet * 40 + timeout.rto() + DELAY);
}

#[test]
fn packets_that_are_overtaken_by_fewer_than_the_distance_are_not_lost() {
    // Every fifth packet takes 3 us longer, in which eight packets or nine leave.
    let fates: Vec<_> = (0..300).map(|place| if place % 5 == 0 { Late(3) } else { Arrives }).collect();
    let again = |distance| {
        transfer(&Config { window: 1000, ..detecting(distance) }, 300 * 4096, &fates).retransmissions
    };
    assert_eq!((again(10), again(9)), (0, 0));
    assert!(again(4) > 50, "{}", again(4));
    // The default: 1.5 windows of 40 packets.
    let config = Config { loss_distance: None, window: 40, ..detecting(1) };
    let late = |us| {
        let fates: Vec<_> = (0..300).map(|place| if place == 50 { Late(us) } else { Arrives }).collect();
        transfer(&config, 300 * 4096, &fates).retransmissions
    };
    assert_eq!((late(15), late(60)), (0, 1));
}

/// Credit only, an answer to each packet, and a window of four packets before the first answer.
fn credited() -> Config {
    Config { congestion: Congestion::Rccc, initial_window: Some(4), ..small() }
}

#[test]
fn a_sender_sends_its_first_window_and_then_for_credit_only() {
    let config = credited();
    let mut sender = Sender::new(&config, 2_000_000, Rate::from_gbps(100), 42);
    let sends = |sender: &mut Sender| {
        std::iter::from_fn(|| sender.poll_transmit(&config, Time::ZERO))
            .map(|data| data.number)
            .collect::<Vec<_>>()
    };
    assert_eq!(sends(&mut sender), [0, 1, 2, 3]);
    let answer = |number: u32| Answer { number, cumulative: number + 1, bitmap: 1, ..Answer::default() };
    let now = Time::ZERO + Duration::from_us(12);
    sender.receive(&config, now, &answer(0).into());
    assert!(sends(&mut sender).is_empty());
    let credit = |granted| Reply::Credit(CreditUpdate { granted, path: 0 });
    // 33 units of 256 bytes are two packets of 4160 bytes and 128 bytes, which allow a third one.
    sender.receive(&config, now, &credit(33));
    assert_eq!(sends(&mut sender), [4, 5, 6]);
    sender.receive(&config, now, &credit(33 + 15));
    assert!(sends(&mut sender).is_empty(), "4032 bytes are owed, and 3840 granted");
    sender.receive(&config, now, &credit(33 + 16));
    assert_eq!(sends(&mut sender), [7]);
    // A trimmed packet is first, but needs credit like all others.
    sender.receive(
        &config,
        now,
        &Answer { number: 5, cumulative: 5, is_trimmed: true, ..Answer::default() }.into(),
    );
    assert!(sends(&mut sender).is_empty());
    sender.receive(&config, now, &credit(33 + 16 + 17));
    assert_eq!(sends(&mut sender), [5]);
}

#[test]
fn a_sender_with_both_limits_keeps_to_the_smaller_one() {
    let config = Config { congestion: Congestion::NsccRccc, initial_window: Some(3), ..small() };
    let mut sender = Sender::new(&config, 2_000_000, Rate::from_gbps(100), 42);
    let count =
        |sender: &mut Sender| std::iter::from_fn(|| sender.poll_transmit(&config, Time::ZERO)).count();
    assert_eq!(count(&mut sender), 3);
    let credit = Reply::Credit(CreditUpdate { granted: 1000, path: 0 });
    sender.receive(&config, Time::ZERO + Duration::from_us(12), &credit);
    assert_eq!(count(&mut sender), 0, "the window of NSCC is three packets");
}

#[test]
fn flows_with_credit_are_complete_in_their_ideal_time() {
    // A window of 36 packets lasts for the round-trip time of 12 us.
    for bytes in [0, 1, 4096, 100_000, 250_000, 2_000_000] {
        for congestion in [Congestion::Rccc, Congestion::NsccRccc] {
            let config = Config { congestion, ..Config::default() };
            let transfer = transfer(&config, bytes, &[]);
            let packets = u64::max(bytes.div_ceil(4096), 1);
            let line = Rate::from_gbps(100).tx_time(Bytes(bytes + 64 * packets));
            let done = transfer.done.unwrap().saturating_since(Time::ZERO);
            assert!(done < line + DELAY + Duration::from_us(1), "{congestion} {bytes}: {done}");
            assert_eq!(transfer.retransmissions, 0);
        }
    }
}

#[test]
fn a_lost_credit_is_asked_for_after_a_timeout() {
    // All packets of the first window arrive, and all their answers and credits are lost.
    let config = credited();
    let transfer = transfer(&config, 40_960, &[Unanswered; 4]);
    assert!(transfer.done.is_some());
    let late = transfer.done.unwrap().saturating_since(Time::ZERO);
    assert!(late > config.rto() && late < config.rto() * 2, "{late}");
}

#[test]
fn reordering_alone_repeats_nothing() {
    let fates: Vec<_> = (0..200).map(|packet| Late(packet * 7 % 19)).collect();
    let transfer = transfer(&small(), 200 * 4096, &fates);
    assert_eq!((transfer.retransmissions, transfer.timeouts), (0, 0));
}

#[test]
fn an_empty_flow_is_one_packet() {
    let transfer = transfer(&small(), 0, &[Trimmed, Lost]);
    assert_eq!(transfer.order.iter().map(|data| data.bytes).collect::<Vec<_>>(), [0, 0, 0]);
    assert!(transfer.done.is_some());
}

#[test]
fn a_fixed_window_of_a_bandwidth_delay_product_fills_the_link() {
    let config = Config { window: 50, ..small() };
    let transfer = transfer(&config, 2_000_000, &[]);
    let line = Rate::from_gbps(100).tx_time(Bytes(488 * 4160 + 1152 + 64));
    let done = transfer.done.unwrap().saturating_since(Time::ZERO);
    assert!(done.saturating_sub(line + DELAY) < Duration::from_us(1), "{done}");
}

#[test]
fn trimmed_values_are_avoided_by_the_choices_that_listen() {
    for (choice, avoids) in [
        (EntropyChoice::Oblivious, false),
        (EntropyChoice::Bitmap, true),
        (EntropyChoice::Reps, true),
        (EntropyChoice::Mixed, true),
    ] {
        let config = Config { entropy_choice: choice, window: 40, ..small() };
        let mut sender = Sender::new(&config, 40_000_000, Rate::from_gbps(100), 7);
        let mut receiver = Receiver::new(0);
        receiver.append(&config, 40_000_000, 1);
        let (mut now, mut bad) = (Time::ZERO, 0);
        let mut flying: VecDeque<_> = std::iter::from_fn(|| sender.poll_transmit(&config, now)).collect();
        for step in 0..4000 {
            let data = flying.pop_front().unwrap();
            now += Duration::from_ns(300);
            let is_bad = data.entropy == 3;
            bad += u32::from(is_bad && step >= 2000);
            let answer =
                receiver.receive(&config, now, &data, Arrival { is_marked: false, is_trimmed: is_bad });
            answer.iter().for_each(|answer| sender.receive(&config, now, answer));
            flying.extend(std::iter::from_fn(|| sender.poll_transmit(&config, now)));
        }
        // Of 2000 packets, an eighth if the answers are ignored.
        assert_eq!(bad < 120, avoids, "{choice:?}: {bad}");
    }
}

#[test]
fn answers_to_packets_that_were_never_sent_change_nothing() {
    let hostile = [
        Answer { number: 40, entropy: 3, ..Answer::default() },
        Answer { number: u32::MAX, cumulative: u32::MAX, bitmap: u64::MAX, entropy: 3, ..Answer::default() },
        Answer { number: 40, entropy: 3, is_trimmed: true, ..Answer::default() },
        Answer { number: 40, entropy: 3, is_marked: true, ..Answer::default() },
        // The first packet was sent once, with one of eight entropy values.
        Answer { number: 0, attempt: 1, entropy: 3, ..Answer::default() },
        Answer { number: 0, entropy: 8, ..Answer::default() },
    ];
    for choice in [EntropyChoice::Bitmap, EntropyChoice::Reps, EntropyChoice::Mixed] {
        let config = Config { entropy_choice: choice, window: 40, ..small() };
        let first_packets = |answers: &[Answer]| {
            let mut sender = Sender::new(&config, 2_000_000, Rate::from_gbps(100), 7);
            let mut sent: Vec<_> = std::iter::from_fn(|| sender.poll_transmit(&config, Time::ZERO)).collect();
            answers.iter().for_each(|answer| sender.receive(&config, Time::ZERO, &(*answer).into()));
            // All packets are overdue and sent again.
            let late = Time::ZERO + Duration::from_secs(1);
            sender.on_timeout(&config, late);
            sent.extend(std::iter::from_fn(|| sender.poll_transmit(&config, late)));
            sent
        };
        let expected = first_packets(&[]);
        assert_eq!(expected.len(), 80);
        for answer in hostile {
            assert_eq!(first_packets(&[answer; 20]), expected, "{choice:?}: {answer:?}");
        }
    }
}

#[test]
fn repeated_answers_take_no_more_memory_than_the_packets_that_may_be_in_flight() {
    let config = Config { entropy_choice: EntropyChoice::Mixed, ..small() };
    let mut sender = Sender::new(&config, 2_000_000, Rate::from_gbps(100), 7);
    assert!(sender.poll_transmit(&config, Time::ZERO).is_some());
    let answer = Answer { number: 0, cumulative: 1, bitmap: 1, ..Answer::default() };
    (0..200_000).for_each(|_| sender.receive(&config, Time::ZERO, &answer.into()));
    assert!(sender.heap_bytes() < 64 * 1024, "{} bytes", sender.heap_bytes());
}

/// The window falls to one packet while two are in flight that did not ask for an answer.
#[test]
fn a_sender_whose_window_shrinks_asks_for_an_answer_to_what_is_in_flight() {
    let (config, at) = (Config::default(), |us| Time::ZERO + Duration::from_us(us));
    // In which order the request and packets 3 and 4 arrive.
    for order in [[5, 3, 4], [3, 5, 4], [3, 4, 5], [4, 5, 3]] {
        let mut sender = Sender::new(&config, 2_000_000, Rate::from_gbps(100), 42);
        let mut receiver = Receiver::new(0);
        receiver.append(&config, 2_000_000, 1);
        let mut sent: Vec<_> = (0..5).map_while(|_| sender.poll_transmit(&config, at(0))).collect();
        assert!(sent.iter().all(|data| !data.asks), "the window has 54 packets");
        // After one of the first period and a target delay, the second trimmed packet counts.
        for (number, is_trimmed, us) in [(0, false, 12), (1, true, 14), (2, true, 34)] {
            let arrival = Arrival { is_marked: false, is_trimmed };
            let answer = receiver.receive(&config, at(us), &sent[number], arrival).unwrap();
            sender.receive(&config, at(us), &answer);
        }
        sent.extend(std::iter::from_fn(|| sender.poll_transmit(&config, at(34))));
        let requests: Vec<_> =
            sent[5..].iter().map(|data| (data.number, data.asks, data.is_request)).collect();
        assert_eq!(requests, [(4, true, true)]);
        for place in order {
            let answer = receiver.receive(&config, at(40), &sent[place], Arrival::default());
            answer.iter().for_each(|answer| sender.receive(&config, at(46), answer));
        }
        let next = sender.poll_transmit(&config, at(46)).unwrap();
        assert_eq!((next.number, next.attempt, sender.stats().timeouts), (1, 1, 0), "{order:?}");
    }
}

fn any_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Arrives),
        1 => Just(Marked),
        2 => Just(Trimmed),
        1 => Just(Lost),
        1 => Just(Unanswered),
        2 => (0..200_u64).prop_map(Late),
    ]
}

/// A fate that is no loss.
fn any_sign() -> impl Strategy<Value = Fate> {
    prop_oneof![2 => Just(Arrives), 1 => Just(Marked), 3 => Just(Trimmed), 2 => (0..20_u64).prop_map(Late)]
}

fn any_config() -> impl Strategy<Value = Config> {
    let choices =
        [EntropyChoice::Oblivious, EntropyChoice::Bitmap, EntropyChoice::Reps, EntropyChoice::Mixed];
    let congestion = prop_oneof![
        Just(Congestion::Fixed),
        Just(Congestion::Nscc),
        Just(Congestion::Rccc),
        Just(Congestion::NsccRccc),
    ];
    let distance = prop_oneof![Just(None), (1..40_u32).prop_map(Some)];
    let loss_detection = prop_oneof![Just(LossDetection::Timeout), Just(LossDetection::Distance)];
    let credit = (prop_oneof![Just(None), (1..50_u32).prop_map(Some)], 256..40_000_u64);
    let losses = (loss_detection, distance);
    (1..100_u32, 1..300_u16, 0..4_usize, prop_oneof![Just(0), Just(16_384)], congestion, credit, losses)
        .prop_map(
            move |(window, entropies, choice, ack_bytes, congestion, (initial_window, credit), losses)| {
                Config {
                    window,
                    initial_window,
                    entropies,
                    entropy_choice: choices[choice],
                    ack_bytes: Bytes(ack_bytes),
                    credit_bytes: Bytes(credit),
                    congestion,
                    loss_detection: losses.0,
                    loss_distance: losses.1,
                    ..Config::default()
                }
            },
        )
}

#[test]
fn an_answer_within_a_domain_comes_after_as_many_packets_as_outside() {
    let config = Config { scale_up_mtu: Some(32_768), ..Config::default() };
    let within = config.within_domains().unwrap();
    assert_eq!((within.mtu, within.ack_bytes), (32_768, Bytes(8 * config.ack_bytes.0)));
    assert_eq!(Config::default().within_domains(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_flow_arrives_whole_whatever_the_network_does(
        config in any_config(),
        bytes in 0..2_000_000_u64,
        fates in proptest::collection::vec(any_fate(), 0..400),
    ) {
        let transfer = transfer(&config, bytes, &fates);
        prop_assert!(transfer.done.is_some());
        prop_assert_eq!(transfer.received, bytes);
        prop_assert!(transfer.order.iter().all(|data| data.entropy < config.entropies));
    }

    /// What a switch trims or marks, and what takes longer, the receiver says: nothing waits for a timeout.
    #[test]
    fn only_losses_lead_to_timeouts(
        config in any_config(),
        bytes in 0..2_000_000_u64,
        fates in proptest::collection::vec(any_sign(), 0..600),
        others in 0..8_u64,
    ) {
        let transfer = transfer_in_turn(&config, bytes, &fates, Duration::from_us(others));
        prop_assert!(transfer.done.is_some());
        prop_assert_eq!(transfer.timeouts, 0);
    }

    #[test]
    fn a_sender_survives_any_answer(
        answers in proptest::collection::vec(any::<(u32, u32, u64, u16, u8, bool, bool)>(), 0..100),
        credits in proptest::collection::vec(any::<u32>(), 100),
        config in any_config(),
    ) {
        let mut sender = Sender::new(&config, 10_000_000, Rate::from_gbps(100), 1);
        let mut now = Time::ZERO;
        for ((number, cumulative, bitmap, entropy, attempt, is_marked, is_trimmed), granted) in answers.into_iter().zip(credits)
        {
            now += Duration::from_us(30);
            while sender.poll_transmit(&config, now).is_some() {}
            let number = match number % 4 {
                0 => number,
                1 => u32::MAX - number % 3,
                _ => number % 100,
            };
            let cumulative = cumulative % 50;
            let attempt = attempt % 4;
            let is_requested = bitmap % 4 == 0;
            let answer =
                Answer { number, cumulative, bitmap, entropy, attempt, path: 0, is_marked, is_trimmed, is_requested };
            sender.receive(&config, now, &answer.into());
            sender.receive(&config, now, &Reply::Credit(CreditUpdate { granted, path: 0 }));
            if sender.next_timeout(&config) <= now {
                sender.on_timeout(&config, now);
            }
        }
    }
}
