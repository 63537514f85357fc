//! Ultra Ethernet transport over a network whose every packet has a fate.

use std::collections::VecDeque;

use proptest::prelude::*;
use weft_transport::uec::{Answer, Config, Congestion, Data, EntropyChoice, Receiver, Sender};
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
    enum Event {
        Data(Data, Fate),
        Answer(Answer),
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
            let fate = fates.get(order.len()).copied().unwrap_or(Arrives);
            let late = if let Late(us) = fate { Duration::from_us(us) } else { Duration::ZERO };
            order.push(data);
            events.push((now + DELAY + late, Event::Data(data, fate)));
            free = now + Rate::from_gbps(100).tx_time(Bytes(u64::from(config.ip_bytes(data.bytes))));
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
                    let answer = receiver.receive(
                        config,
                        now,
                        &data,
                        Arrival { is_marked: fate == Marked, is_trimmed: fate == Trimmed },
                    );
                    let answer = answer.filter(|_| fate != Unanswered);
                    events.extend(answer.map(|answer| (now + DELAY, Event::Answer(answer))));
                }
                Event::Answer(answer) => sender.receive(config, now, &answer),
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
        let order: Vec<_> = transfer.order.iter().map(|data| data.number).collect();
        assert_eq!((order.as_slice(), transfer.timeouts), (expected, timeouts), "{fates:?}");
        assert_eq!(transfer.retransmissions as usize, expected.len() - 6);
        assert_eq!(transfer.received, 5 * 4096 + 100);
        assert!(transfer.done.is_some());
        assert_eq!(transfer.order[expected.iter().position(|number| *number == 5).unwrap()].bytes, 100);
    }
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
            answers.iter().for_each(|answer| sender.receive(&config, Time::ZERO, answer));
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
    (0..200_000).for_each(|_| sender.receive(&config, Time::ZERO, &answer));
    assert!(sender.heap_bytes() < 64 * 1024, "{} bytes", sender.heap_bytes());
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

fn any_config() -> impl Strategy<Value = Config> {
    let choices =
        [EntropyChoice::Oblivious, EntropyChoice::Bitmap, EntropyChoice::Reps, EntropyChoice::Mixed];
    let congestion = prop_oneof![Just(Congestion::Fixed), Just(Congestion::Nscc)];
    (1..100_u32, 1..300_u16, 0..4_usize, prop_oneof![Just(0), Just(16_384)], congestion).prop_map(
        move |(window, entropies, choice, ack_bytes, congestion)| Config {
            window,
            entropies,
            entropy_choice: choices[choice],
            ack_bytes: Bytes(ack_bytes),
            congestion,
            ..Config::default()
        },
    )
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

    #[test]
    fn a_sender_survives_any_answer(
        answers in proptest::collection::vec(any::<(u32, u32, u64, u16, u8, bool, bool)>(), 0..100),
        choice in 0..4_usize,
    ) {
        let choices =
            [EntropyChoice::Oblivious, EntropyChoice::Bitmap, EntropyChoice::Reps, EntropyChoice::Mixed];
        let config = Config { entropy_choice: choices[choice], ..Config::default() };
        let mut sender = Sender::new(&config, 10_000_000, Rate::from_gbps(100), 1);
        let mut now = Time::ZERO;
        for (number, cumulative, bitmap, entropy, attempt, is_marked, is_trimmed) in answers {
            now += Duration::from_us(30);
            while sender.poll_transmit(&config, now).is_some() {}
            let number = match number % 4 {
                0 => number,
                1 => u32::MAX - number % 3,
                _ => number % 100,
            };
            let cumulative = cumulative % 50;
            let attempt = attempt % 4;
            let answer =
                Answer { number, cumulative, bitmap, entropy, attempt, path: 0, is_marked, is_trimmed };
            sender.receive(&config, now, &answer);
            if sender.next_timeout(&config) <= now {
                sender.on_timeout(&config, now);
            }
        }
    }
}
