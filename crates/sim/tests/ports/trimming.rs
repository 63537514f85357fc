//! Packets cut to their headers.

use weft_fabric::{CERTAIN, ClassSpec, Limit, MarkAt, QueueSpec, RedSpec};
use weft_switching::Header;
use weft_units::{Duration, LinkId, Time};

use crate::bare::{Bare, datagram, line};

/// Ten packets at once over a line with this queue.
fn ten(queue: QueueSpec, template: Header, seed: u64) -> Bare {
    let fast = line(100, Duration::ZERO, QueueSpec::fifo(Limit::Packets(100)));
    let mut bare = Bare::new(&fast, &line(1, Duration::ZERO, queue), None, seed);
    for tag in 0..10 {
        bare.offer(Time::ZERO, tag, 1_250, template);
    }
    bare.finish();
    bare
}

fn two_queues(limit: Limit) -> QueueSpec {
    QueueSpec { classes: vec![ClassSpec { weight: 1 }; 2], trim: true, ..QueueSpec::fifo(limit) }
}

#[test]
fn what_finds_no_space_arrives_without_its_payload_and_first() {
    let mut whole = 0;
    for seed in 0..200 {
        // One on the line, two wait; a cut packet has 46 bytes.
        let bare = ten(two_queues(Limit::Bytes(3_000)), datagram(), seed);
        assert_eq!((bare.dropped(), bare.arrived.len(), bare.port(2).trimmed), (0, 10, 7));
        for arrived in &bare.arrived[1..8] {
            assert!(arrived.header.is_trimmed(), "{arrived:?}");
            assert_eq!((arrived.header.payload, arrived.header.ip_bytes), (0, 46));
        }
        for arrived in [0, 8, 9].map(|place| &bare.arrived[place]) {
            assert_eq!((arrived.header.is_trimmed(), arrived.header.payload), (false, 1_210));
        }
        assert_eq!(bare.arrived[8].tag, 1, "the packet at the head of the queue is never cut");
        whole += u32::from(bare.arrived[9].tag == 9);
    }
    // Four standard deviations.
    assert!(
        (72..=128).contains(&whole),
        "the arriving packet is cut, or the last one that waits: {whole} of 200"
    );
}

#[test]
fn a_cut_packet_without_space_is_lost_and_one_that_nobody_understands_is_never_cut() {
    // Two whole and two cut packets fit.
    let trim_queue = Some(Limit::Packets(2));
    let bare = ten(QueueSpec { trim_queue, ..two_queues(Limit::Packets(2)) }, datagram(), 1);
    assert_eq!((bare.dropped(), bare.arrived.len(), bare.port(2).trimmed), (5, 5, 7));
    let tcp = ten(two_queues(Limit::Bytes(3_000)), Header::default(), 1);
    assert_eq!((tcp.dropped(), tcp.arrived.len(), tcp.port(2).trimmed), (7, 3, 0));
}

#[test]
fn the_queue_of_cut_packets_has_twice_the_limit_in_bytes() {
    // Of 60 packets one is on the line, two wait, and the others are cut to 46 bytes.
    let cut = |queue: QueueSpec| {
        let fast = line(100, Duration::ZERO, QueueSpec::fifo(Limit::Packets(100)));
        let mut bare = Bare::new(&fast, &line(1, Duration::ZERO, queue), None, 1);
        (0..60).for_each(|tag| bare.offer(Time::ZERO, tag, 1_250, datagram()));
        bare.finish();
        let arrived = bare.arrived.iter().filter(|arrived| arrived.header.is_trimmed()).count();
        assert_eq!(bare.dropped() as usize, 57 - arrived);
        arrived
    };
    let own = |trim_queue, limit| QueueSpec { trim_queue: Some(trim_queue), ..two_queues(limit) };
    for (queue, expected) in [
        // 5152 bytes, and twice two full packets of 1500 bytes: 57 need 2622.
        (two_queues(Limit::Bytes(2_576)), 57),
        (two_queues(Limit::Packets(2)), 57),
        (own(Limit::Bytes(930), Limit::Bytes(2_576)), 20),
        (own(Limit::Packets(7), Limit::Bytes(2_576)), 7),
        (own(Limit::Bytes(460), Limit::Packets(2)), 10),
    ] {
        assert_eq!(cut(queue.clone()), expected, "{queue:?}");
    }
}

#[test]
fn marking_at_the_end_of_the_wait_counts_what_is_behind() {
    let limit = Limit::Bytes(2_500);
    let capable = Header { traffic_class: 0b10, ..datagram() };
    for (at, expected) in [
        // The packets that find more than two packets, and those that leave more than one behind.
        (MarkAt::Enqueue, vec![4, 5, 6, 7, 8, 9]),
        (MarkAt::Dequeue, vec![1, 2, 3, 4, 5, 6, 7]),
    ] {
        let red = RedSpec { kmin: limit, kmax: limit, pmax: CERTAIN, at };
        let queue = QueueSpec { red: Some(red), ..QueueSpec::fifo(Limit::Packets(100)) };
        let bare = ten(queue.clone(), capable, 1);
        let marked = bare.arrived.iter().filter(|arrived| arrived.header.traffic_class == Header::CE);
        let marked: Vec<u16> = marked.map(|arrived| arrived.tag).collect();
        assert_eq!(marked, expected, "{at:?}");
        assert_eq!(bare.net.counters_of(LinkId(2)).marks, expected.len() as u64);
        let incapable = ten(queue, datagram(), 1);
        assert_eq!((incapable.net.counters_of(LinkId(2)).marks, incapable.arrived.len()), (0, 10));
    }
}
