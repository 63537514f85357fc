//! Deadlocks of flow control.

use weft_fabric::{Fabric, Limit, LinkSpec, PfcSpec, QueueSpec, build};
use weft_units::{Bytes, Duration, Rate};

use crate::trial::{Forwards, Trial};

fn ring() -> Fabric {
    let pfc = PfcSpec { xoff: Some(Bytes(20_000)), ..PfcSpec::default() };
    let queue = QueueSpec { pfc: Some(pfc), ..QueueSpec::fifo(Limit::Bytes(100_000)) };
    let link = LinkSpec::new(Rate::from_gbps(10), Duration::from_us(1)).with_queue(queue);
    build::ring(3, 2, &link, &link).unwrap().with_buffer(None).unwrap()
}

/// Every host sends to the switch before its own, so that its packets cross two links of the ring.
fn full(fabric: &Fabric) -> Trial<'_> {
    let trial = Trial { forwards: Forwards::Clockwise, limit: Duration::from_ms(50), ..Trial::new(fabric) };
    (0..6).fold(trial, |trial, host| trial.flow(host, (host + 4) % 6, 50_000_000))
}

#[test]
fn queues_around_a_ring_that_pause_each_other_are_found_and_named() {
    let fabric = ring();
    let (report, _) = full(&fabric).run();
    let deadlock = report.deadlock.expect("all links of the ring are full");
    let mut names: Vec<String> = deadlock.queues.iter().map(|(link, _)| fabric.link_label(*link)).collect();
    names.sort_unstable();
    assert_eq!(names, ["s0->s1", "s1->s2", "s2->s0"]);
    assert_eq!(report.flows_finished, 0);
    for link in &report.links {
        let is_named = deadlock.queues.iter().any(|(stuck, _)| *stuck == link.id);
        let paused = link.port.unwrap().paused;
        assert!(!is_named || paused > Duration::from_ms(40), "{}: {paused}", fabric.link_label(link.id));
    }
    let together = Trial { threads: 3, ..full(&fabric) }.run().0.deadlock;
    assert_eq!(together, Some(deadlock));
}

#[test]
fn without_a_circle_of_links_nothing_stands_still() {
    let fabric = ring();
    let trial = Trial { forwards: Forwards::Clockwise, ..Trial::new(&fabric) };
    let (report, _) = (0..4).fold(trial, |trial, host| trial.flow(host, 4, 2_000_000)).run();
    assert_eq!((report.deadlock, report.flows_finished), (None, 4));
    assert!(report.links.iter().any(|link| link.port.unwrap().paused > Duration::ZERO));
}
