//! Tests of [`Links`].

use proptest::prelude::*;
use weft_fabric::{Limit, LinkSpec, Overhead, QueueSpec, build};
use weft_units::{LinkId, Rate};

use super::*;
use crate::line::Span;

/// The fates of packets, after gaps in picoseconds, that are offered to a link whose rate changes to `new`: the
/// outcome, and if there was a mark.
fn outcomes(spec: &LinkSpec, packets: &[(u64, u16)], new: Rate, offer: Offering) -> Vec<(Offer, bool)> {
    let fabric = build::ring(3, 1, spec, spec).unwrap();
    let lines = [Line { id: LinkId(0), far_end: FarEnd::host(0), span: Span::Within }];
    let mut links = Links::new(&fabric, &lines);
    let mut now = Time::ZERO;
    let mut found = Vec::new();
    for (number, (gap, ip_bytes)) in packets.iter().enumerate() {
        now += Duration::from_ps(*gap);
        if number == packets.len() / 2 {
            links.set_rate(0, now, spec.rate, new);
        }
        while links.first_arrival(0) <= now {
            links.arrive(0);
        }
        let mut marked = false;
        let outcome = offer(&mut links, now, *ip_bytes, &mut || {
            marked = true;
            true
        });
        found.push((outcome, marked));
    }
    let counters = links.counters(0, now);
    assert_eq!(counters.marks, found.iter().filter(|(_, marked)| *marked).count() as u64);
    found
}

type Offering = fn(&mut Links, Time, u16, &mut dyn FnMut() -> bool) -> Offer;

/// A limit of a queue that a fabric accepts.
fn limit() -> impl Strategy<Value = Limit> {
    let bytes = u64::from(Overhead::MIN_FRAME)..300_000;
    prop_oneof![(1_u32..200).prop_map(Limit::Packets), bytes.prop_map(Limit::Bytes)]
}

proptest! {
    #[test]
    fn a_packet_meets_the_same_fate_without_the_checks_that_a_link_skips(
        limit in limit(), threshold in prop::option::of(limit()),
        rate in 1_000_000_u64..800_000_000_000, new in 1_000_000_u64..800_000_000_000,
        packets in prop::collection::vec((0_u64..60_000, 40_u16..9_000), 1..300), slower in 0_u32..24,
    ) {
        let mut queue = QueueSpec::fifo(limit);
        if let Some(threshold) = threshold {
            queue = queue.marking(threshold);
        }
        let spec = LinkSpec::new(Rate::from_bps(rate), Duration::from_us(1)).with_queue(queue);
        let packets: Vec<_> = packets.iter().map(|(gap, bytes)| (gap << slower, *bytes)).collect();
        let ways: [Offering; 2] = [
            |links, now, bytes, mark| links.offer(0, now, Bound::undecided(0), bytes, mark),
            |links, now, bytes, mark| links.offer_checked(0, now, Bound::undecided(0), bytes, mark),
        ];
        let [usual, checked] = ways.map(|offer| outcomes(&spec, &packets, Rate::from_bps(new), offer));
        prop_assert_eq!(usual, checked);
    }
}

#[test]
fn a_link_is_one_cache_line() {
    assert_eq!(size_of::<Link>(), 64);
}
