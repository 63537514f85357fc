//! Deadlocks of flow control.

use weft_fabric::{ClassSpec, Fabric, Limit, LinkSpec, PfcSpec, QueueSpec, SharedBuffer, build};
use weft_sim::record::RunReport;
use weft_transport::{Protocol, roce};
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

/// Links with this flow control, and `queues` queues.
fn lossless(queues: usize, pfc: PfcSpec) -> LinkSpec {
    let classes = if queues > 1 { vec![ClassSpec { weight: 1 }; queues] } else { Vec::new() };
    let queue = QueueSpec { pfc: Some(pfc), classes, ..QueueSpec::fifo(Limit::Bytes(100_000)) };
    LinkSpec::new(Rate::from_gbps(10), Duration::from_us(1)).with_queue(queue)
}

/// The same fabric, the queues of whose switches share `space` bytes beside the headroom.
fn shared(fabric: &Fabric, space: u64, alpha: f64) -> Fabric {
    let with = |bytes| fabric.clone().with_buffer(Some(SharedBuffer { bytes: Bytes(bytes), alpha })).unwrap();
    let wide = with(1 << 40);
    let reserved = wide.switches().map(|switch| wide.reserved(switch)).max().unwrap();
    with(reserved + space)
}

/// A ring with two hosts at each switch.
fn shared_ring(switches: u32, space: u64, alpha: f64, queues: usize, pfc: PfcSpec) -> Fabric {
    let link = lossless(queues, pfc);
    shared(&build::ring(switches, 2, &link, &link).unwrap(), space, alpha)
}

/// RoCE at line rate, whatever happens.
fn at_line_rate() -> Protocol {
    Protocol::Roce(Box::new(roce::Config {
        congestion_control: roce::CongestionControl::Off,
        ..roce::Config::default()
    }))
}

fn clockwise(fabric: &Fabric) -> Trial<'_> {
    let limit = Duration::from_ms(20);
    Trial { forwards: Forwards::Clockwise, transport: at_line_rate(), limit, ..Trial::new(fabric) }
}

/// Every host sends `bytes` to one two switches further on, with this DSCP.
fn two_hops_on<'a>(trial: Trial<'a>, bytes: u64, dscp: u8) -> Trial<'a> {
    let hosts = trial.fabric.host_count() as u32;
    (0..hosts).fold(trial, |trial, host| trial.marked_flow(host, (host + 4) % hosts, bytes, dscp))
}

fn names(fabric: &Fabric, report: &RunReport) -> Vec<String> {
    let queues = report.deadlock.iter().flat_map(|deadlock| &deadlock.queues);
    let mut names: Vec<String> =
        queues.map(|(link, queue)| format!("{} {queue}", fabric.link_label(*link))).collect();
    names.sort_unstable();
    names
}

fn around(switches: u32, queue: u8) -> Vec<String> {
    let mut names: Vec<String> =
        (0..switches).map(|at| format!("s{at}->s{} {queue}", (at + 1) % switches)).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_circle_of_links_deadlocks_with_shared_buffers_of_any_size_and_threshold() {
    for (switches, space, alpha) in [
        (3, 60_000, 1.0),
        (4, 60_000, 0.5),
        (5, 67_000, 1.0),
        (5, 40_000, 0.125),
        (6, 200_000, 8.0),
        (9, 60_000, 2.0),
    ] {
        let fabric = shared_ring(switches, space, alpha, 1, PfcSpec::default());
        let (report, _) = two_hops_on(clockwise(&fabric), 5_000_000, 0).run();
        assert_eq!(
            names(&fabric, &report),
            around(switches, 0),
            "{switches} switches, {space} bytes, alpha {alpha}"
        );
        assert_eq!(report.flows_finished, 0);
        assert_eq!(report.counters.packets_dropped.iter().sum::<u64>(), 0);
    }
}

#[test]
fn a_headroom_that_holds_the_stuck_packets_and_fixed_thresholds_beside_a_buffer_change_nothing() {
    let headroom = PfcSpec { headroom: Some(Bytes(300_000)), ..PfcSpec::default() };
    let fixed = PfcSpec { xoff: Some(Bytes(20_000)), ..PfcSpec::default() };
    for pfc in [headroom, fixed] {
        let fabric = shared_ring(5, 60_000, 1.0, 1, pfc);
        let (report, _) = two_hops_on(clockwise(&fabric), 5_000_000, 0).run();
        assert_eq!(names(&fabric, &report), around(5, 0), "{pfc:?}");
    }
}

#[test]
fn a_deadlock_of_one_priority_is_found_while_the_others_go_on_and_of_two_the_first_is_named() {
    let fabric = shared_ring(5, 100_000, 1.0, 2, PfcSpec::default());
    // DSCP 56 has the urgent queue 0: short flows over one link only, which finish.
    let live =
        (0..10).fold(clockwise(&fabric), |trial, host| trial.marked_flow(host, (host + 2) % 10, 100_000, 56));
    let (report, _) = two_hops_on(live, 5_000_000, 0).run();
    assert_eq!(names(&fabric, &report), around(5, 1));
    assert_eq!(report.flows_finished, 10);
    let both = two_hops_on(two_hops_on(clockwise(&fabric), 5_000_000, 0), 5_000_000, 56);
    let found = names(&fabric, &both.run().0);
    assert!(found == around(5, 0) || found == around(5, 1), "{found:?}");
}

#[test]
fn traffic_that_shares_buffers_with_a_circle_but_not_its_links_goes_on_and_is_not_named() {
    let fabric = shared_ring(3, 60_000, 1.0, 1, PfcSpec::default());
    // Each switch's second host sends to the first one, whose own flows fill the ring.
    let stuck = [0, 0, 2, 2, 4, 4].into_iter().map(|host| (host, (host + 4) % 6, 5_000_000));
    let live = [1, 3, 5].into_iter().map(|host| (host, host - 1, 500_000));
    let trial =
        stuck.chain(live).fold(clockwise(&fabric), |trial, (from, to, bytes)| trial.flow(from, to, bytes));
    let (report, _) = trial.run();
    assert_eq!(names(&fabric, &report), around(3, 0));
    assert_eq!(report.flows_finished, 3);
}

#[test]
fn a_deadlock_is_found_at_the_end_of_a_run_without_samples_by_any_number_of_threads() {
    let fabric = shared_ring(5, 67_000, 1.0, 1, PfcSpec::default());
    let trial = Trial { interval: None, limit: Duration::from_us(800), ..clockwise(&fabric) };
    let trial = two_hops_on(trial, 5_000_000, 0);
    let (report, _) = trial.run();
    assert_eq!(names(&fabric, &report), around(5, 0));
    let (together, _) = Trial { threads: 3, ..trial }.run();
    assert_eq!(together.deadlock, report.deadlock);
}

#[test]
fn long_pauses_of_an_incast_and_of_its_victims_are_no_deadlock() {
    let link = lossless(1, PfcSpec::default());
    let tree = build::spine_leaf(2, 3, 4, &link, &link).unwrap();
    for (alpha, space) in [(0.125, 60_000), (1.0, 67_000), (8.0, 100_000)] {
        let fabric = shared(&tree, space, alpha);
        let interval = Some(Duration::from_us(20));
        let trial = Trial { transport: at_line_rate(), interval, ..Trial::new(&fabric) };
        // All send to one host, whose leaf pauses both spines. Others' flows to that leaf and between the senders wait.
        let incast = (4..12).fold(trial, |trial, host| trial.flow(host, 0, 1_000_000));
        let victims = [(4, 1), (8, 2), (5, 9), (9, 6), (3, 7)];
        let trial = victims.into_iter().fold(incast, |trial, (from, to)| trial.flow(from, to, 1_000_000));
        let (report, _) = trial.run();
        assert_eq!((report.deadlock, report.flows_finished), (None, 13), "alpha {alpha}");
        assert!(report.links.iter().any(|link| link.port.unwrap().paused > Duration::from_ms(1)));
    }
}
