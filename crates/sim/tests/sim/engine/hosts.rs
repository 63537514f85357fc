//! Hosts with several links, and links that differ by direction.

use weft_fabric::{Fabric, FabricBuilder, LinkSpec, build};
use weft_switching::DropReason;
use weft_units::{Duration, Rate};

use crate::common::statistics::is_even;
use crate::common::{Trial, US, gigabit, link, routed};

/// The schemes whose routes are recomputed, and that run on any fabric.
fn by_routes() -> impl Iterator<Item = &'static str> {
    routed().filter(|known| !known.is_choosy()).map(|known| known.name)
}

/// h0 and h1 connected to both s0 and s1; h2 to s1 only; s0 and s1 connected.
fn two_homed() -> Fabric {
    let mut builder = FabricBuilder::new("two-homed");
    let hosts: Vec<_> = (0..3).map(|i| builder.add_host(format!("h{i}"), 0, None).unwrap()).collect();
    let switches = ["s0", "s1"].map(|name| builder.add_switch(name, 1, None).unwrap());
    for (host, switch) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1)] {
        builder.connect(hosts[host], switches[switch], &gigabit(US(5))).unwrap();
    }
    builder.connect(switches[0], switches[1], &gigabit(US(5))).unwrap();
    builder.build().unwrap()
}

#[test]
fn a_host_with_two_links_spreads_its_flows_over_both_and_keeps_each_on_one() {
    let fabric = two_homed();
    let mut used = [0; 2];
    for sport in 0..400 {
        let mut trial = Trial::linux(&fabric, "ecmp").flow(0, 1, 5_000, Duration::ZERO);
        trial.flows[0].sport = sport;
        let outcome = trial.run();
        let packets = ["h0-s0", "h0-s1"].map(|cable| outcome.packets(link(&fabric, cable)));
        assert!(packets.contains(&0), "one flow, both links: {packets:?}");
        used[usize::from(packets[0] == 0)] += 1;
        assert_eq!(outcome.flows[0].end.is_some() as u64, 1);
    }
    is_even("links of a host", &used, "400 source ports");
}

#[test]
fn a_host_sends_by_a_link_on_a_shortest_path() {
    let fabric = two_homed();
    for sport in 0..50 {
        let mut trial = Trial::linux(&fabric, "ecmp").flow(0, 2, 5_000, Duration::ZERO);
        trial.flows[0].sport = sport;
        let outcome = trial.run();
        assert_eq!(outcome.packets(link(&fabric, "h0-s0")), 0, "h2 is connected to s1, like h0");
        assert_eq!(outcome.flows[0].hops, 2);
    }
}

#[test]
fn a_cable_to_another_host_is_no_way_to_a_third() {
    let mut builder = FabricBuilder::new("back to back");
    let hosts: Vec<_> = (0..3).map(|i| builder.add_host(format!("h{i}"), 0, None).unwrap()).collect();
    let switch = builder.add_switch("s0", 1, None).unwrap();
    builder.connect(hosts[0], hosts[1], &gigabit(US(5))).unwrap();
    for host in hosts {
        builder.connect(host, switch, &gigabit(US(5))).unwrap();
    }
    let fabric = builder.build().unwrap();
    for (dst, idle) in [(1, "h0-s0"), (2, "h0-h1")] {
        for name in by_routes() {
            let trial = Trial::linux(&fabric, name);
            let trial = (0..20).fold(trial, |trial, i| trial.flow(0, dst, 5_000, Duration::from_us(i)));
            let outcome = trial.run();
            assert_eq!(outcome.report.flows_finished, 20, "{name} to h{dst}");
            assert_eq!(outcome.packets(link(&fabric, idle)), 0, "{name} to h{dst}");
        }
    }
}

#[test]
fn a_host_goes_on_over_its_other_link_when_one_fails() {
    let fabric = two_homed();
    for name in by_routes() {
        let trial = Trial::linux(&fabric, name);
        let trial = (0..8).fold(trial, |trial, i| trial.flow(0, 1, 2_000_000, Duration::from_us(i)));
        let outcome = trial.fail(Duration::from_ms(10), "h0-s0").run();
        assert!(outcome.packets(link(&fabric, "h0-s0")) > 0, "{name}: both links were in use");
        assert_eq!(outcome.report.flows_finished, 8, "{name}");
        assert!(outcome.report.end.as_secs_f64() < 2.0, "{name}: {}", outcome.report.end);
        let late = Trial::linux(&fabric, name).fail(Duration::ZERO, "h0-s0");
        let late = (0..8).fold(late, |late, i| late.flow(0, 1, 2_000, Duration::from_ms(1 + i))).run();
        assert_eq!(late.dropped(DropReason::LinkDown), 0, "{name}: no new flow takes the failed link");
    }
}

#[test]
fn each_direction_of_a_cable_has_its_own_rate_and_delay() {
    let forth = gigabit(US(10));
    let back = LinkSpec::new(Rate::from_bps(50_000_000), Duration::from_us(400));
    let mut builder = build::dumbbell(1, 1, &gigabit(US(5)), &gigabit(US(5))).unwrap().edit();
    let [left, right] = ["s0", "s1"].map(|name| builder.find(name).unwrap());
    builder.respecify(left, right, &forth, &back).unwrap();
    let fabric = builder.build().unwrap();
    let rate = |src, dst| {
        let trial = Trial::linux(&fabric, "ecmp").limit(Duration::from_secs(1));
        let outcome = trial.flow(src, dst, 1 << 40, Duration::ZERO).sampled(Duration::from_ms(10)).run();
        outcome.rates(Duration::from_ms(200))[0] / 1e6
    };
    // 1448 bytes of payload per 1538 on the wire.
    let (there, back) = (rate(0, 1), rate(1, 0));
    assert!((930.0..941.5).contains(&there), "{there} Mbps of 941.5");
    assert!((46.5..47.1).contains(&back), "{back} Mbps of 47.07");
}
