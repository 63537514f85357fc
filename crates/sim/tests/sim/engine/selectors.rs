//! Hosts that choose paths, by the entropy that switches hash.

use weft_fabric::build;
use weft_sim::engine::PathSelector;
use weft_switching::Header;
use weft_transport::Segment;
use weft_units::{NodeId, Time};

use crate::common::{MS, Trial, US, gigabit};

/// A new path for every segment.
#[derive(Default)]
struct EachSegment;

impl PathSelector for EachSegment {
    fn stamp(&mut self, template: &mut Header, _segment: &Segment, _now: Time) {
        template.entropy = template.entropy.wrapping_add(0x9e37_79b9);
    }
}

/// A mistake in a selector's own code, when the source gets its first acknowledgement after 1 ms.
#[derive(Default)]
struct Panics;

impl PathSelector for Panics {
    fn on_ack(&mut self, _segment: &Segment, now: Time) {
        assert!(now < Time::ZERO + MS(1), "the selector's own words");
    }
}

/// A new path with the tenth acknowledgement, as a reaction to the network.
#[derive(Default)]
struct AfterTen {
    acks: u32,
}

impl PathSelector for AfterTen {
    fn stamp(&mut self, template: &mut Header, _segment: &Segment, _now: Time) {
        template.entropy = u32::from(self.acks >= 10) * 77;
    }

    fn on_ack(&mut self, _segment: &Segment, _now: Time) {
        self.acks += 1;
    }
}

/// The packets that each of four spines gets from the source's leaf.
fn by_spine<P: PathSelector>() -> Vec<u64> {
    let fabric = build::spine_leaf(4, 2, 1, &gigabit(US(2)), &gigabit(US(2))).unwrap();
    let trial =
        Trial::linux(&fabric, "ecmp").limit(MS(100)).measured(MS(0), MS(100)).flow(0, 1, 300_000, US(0));
    let report = trial.run_selecting::<P>().report;
    assert_eq!(report.flows_finished, 1);
    let leaf = fabric.link(fabric.ports(fabric.hosts()[0])[0]).to;
    let to_spine = |node: NodeId| !fabric.node(node).is_host();
    let up = fabric.ports(leaf).iter().filter(|link| to_spine(fabric.link(**link).to));
    up.map(|link| report.links[link.index()].counters.packets).collect()
}

#[test]
fn a_host_that_changes_the_entropy_of_each_segment_uses_all_paths() {
    let packets = by_spine::<EachSegment>();
    let all: u64 = packets.iter().sum();
    assert!(packets.iter().all(|count| *count * 8 > all), "{packets:?}");
}

#[test]
fn a_host_that_changes_once_uses_two_paths() {
    let packets = by_spine::<AfterTen>();
    assert_eq!(packets.iter().filter(|count| **count > 0).count(), 2, "{packets:?}");
}

#[test]
#[should_panic(expected = "the selector's own words")]
fn a_panic_on_a_helping_thread_is_the_panic_of_the_run() {
    let fabric = build::spine_leaf(2, 2, 1, &gigabit(US(2)), &gigabit(US(2))).unwrap();
    let trial = Trial::linux(&fabric, "ecmp").limit(MS(100)).flow(1, 0, 3_000_000, US(0));
    trial.threads(2).run_selecting::<Panics>();
}
