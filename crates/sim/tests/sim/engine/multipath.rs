//! Multipath TCP over fabrics: subflows share paths or have their own.

use proptest::prelude::*;
use weft_fabric::{Fabric, FabricBuilder, LinkSpec};
use weft_switching::ParamValue;
use weft_transport::{Config, Mptcp, MptcpCongestion, MptcpScheduler};
use weft_units::{Duration, Rate};

use crate::common::{Outcome, Trial, cases, profile, scheme, scheme_with};

const MIB: u64 = 1 << 20;

/// A fabric from the smoc study.
fn study(name: &str) -> Fabric {
    let path = format!("{}/../../scenarios/smoc/{name}.fabric.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    weft_fabric::read::toml(&text, name, &LinkSpec::default())
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Hosts that open `subflows` subflows.
fn hosts(subflows: u8) -> Config {
    Config {
        mptcp: Mptcp::Ndiffports,
        subflows,
        mptcp_congestion: MptcpCongestion::Uncoupled,
        ..profile("linux")
    }
}

/// Megabits per second of a long transfer from its first second on, over `scheme`.
fn rate(fabric: &Fabric, scheme: &str, config: Config) -> f64 {
    let trial = Trial::new(fabric, crate::common::scheme(scheme), config)
        .flow(0, 1, 1 << 40, Duration::ZERO)
        .limit(Duration::from_secs(6))
        .sampled(Duration::from_ms(100));
    trial.run().rates(Duration::from_secs(1))[0] / 1e6
}

#[test]
fn smoc_uses_every_path_and_a_tree_one() {
    // Of 100 Mbps, Ethernet leaves 94.1 for payload with timestamps, 92.3 with a mapping as well.
    let (four, shared) = (study("topology1"), study("topology2"));
    let single = rate(&four, "spanning_tree", hosts(4));
    assert!((85.0..95.0).contains(&single), "{single}");
    let smoc = rate(&four, "smoc", hosts(4));
    assert!((340.0..380.0).contains(&smoc), "{smoc}");
    let smoc = rate(&shared, "smoc", hosts(4));
    assert!((170.0..190.0).contains(&smoc), "{smoc}");
}

#[test]
fn paced_connections_and_subflows_fill_their_paths() {
    let four = study("topology1");
    for config in [profile("linux"), profile("dctcp"), hosts(4)] {
        let [off, on] = [false, true].map(|pacing| rate(&four, "smoc", Config { pacing, ..config.clone() }));
        println!("{on:.1} Mbps, without pacing {off:.1} Mbps");
        assert!((0.97..1.05).contains(&(on / off)), "{on} Mbps, without pacing {off} Mbps");
    }
}

#[test]
fn smoc_gives_plain_tcp_the_shortest_path_and_sets_it_up_in_milliseconds() {
    let fabric = study("topology2");
    let outcome = Trial::linux(&fabric, "smoc").flow(0, 1, MIB, Duration::ZERO).run();
    assert_eq!(outcome.flows[0].path.len(), 4, "a, s1, s3, s2, b");
    assert_eq!(outcome.flows[0].subflows, 1);
    let controller = outcome.report.controller.expect("a central scheme");
    assert_eq!(controller.packet_ins, 1, "the SYN: {controller:?}");
    assert!(controller.setups.iter().all(|time| *time < Duration::from_ms(5)), "{controller:?}");
}

#[test]
fn a_slow_controller_delays_each_path() {
    let fabric = study("topology1");
    let slow = ParamValue::Duration(Duration::from_ms(2_500));
    let trial = Trial::new(&fabric, scheme_with("smoc", "install_delay", slow), hosts(1));
    let outcome = trial.flow(0, 1, MIB, Duration::ZERO).run();
    assert!(outcome.fct(0) > Duration::from_ms(2_500));
    let controller = outcome.report.controller.expect("a central scheme");
    assert!(controller.setups.first().is_some_and(|time| *time > Duration::from_ms(2_500)), "{controller:?}");
}

#[test]
fn a_subflow_whose_path_is_cut_is_moved_and_the_transfer_goes_on() {
    let fabric = study("topology1");
    let trial = Trial::new(&fabric, scheme("smoc"), hosts(4))
        .flow(0, 1, 100 * MIB, Duration::ZERO)
        .fail(Duration::from_ms(1_000), "s1-s3");
    let outcome = trial.run();
    // Three quarters of the capacity from the first second on, plus a timeout on the cut path.
    assert!(outcome.fct(0) < Duration::from_ms(3_600), "{}", outcome.fct(0));
}

/// Two hosts, each connected to both switches; all links 100 Mbps.
fn two_homed() -> Fabric {
    let mut builder = FabricBuilder::new("two-homed");
    let hosts = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
    let switches = ["a", "b"].map(|name| builder.add_switch(name, 1, None).unwrap());
    let link = LinkSpec { rate: Rate::from_bps(100_000_000), ..LinkSpec::default() };
    for (host, switch) in hosts.iter().flat_map(|host| switches.map(|switch| (*host, switch))) {
        builder.connect(host, switch, &link).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn a_run_sums_what_connections_count_between_their_subflows_and_without_them_nothing() {
    let fabric = two_homed();
    let run = |config: Config, cut: bool| {
        let trial = Trial::new(&fabric, scheme("ecmp"), config).limit(Duration::from_secs(60));
        let trial = trial.flow(0, 1, 20 * MIB, Duration::ZERO).flow(0, 1, 1000, Duration::from_ms(1));
        if cut { trial.fail(Duration::from_ms(300), "h0-a").run() } else { trial.run() }
    };
    assert_eq!(run(profile("linux"), true).report.multipath, None);

    let mesh = Config { mptcp: Mptcp::Fullmesh, ..hosts(1) };
    let whole = run(mesh.clone(), false);
    let report = whole.report.multipath.expect("multipath");
    let subflows: u32 = whole.flows.iter().map(|flow| flow.subflows).sum();
    assert_eq!((report.connections, report.subflows), (2, subflows.into()));
    assert!(report.out_of_order > 0, "subflows over separate queues: {report:?}");
    assert_eq!((report.joins_refused, report.stale, report.reinjected_bytes), (0, 0, 0), "{report:?}");
    assert_eq!(report.duplicate_bytes, 0);

    // Unacknowledged data sent on the dead link is reinjected on the other.
    let cut = run(Config { mptcp_stale_loss_count: 1, ..mesh }, true);
    assert!(cut.flows.iter().all(|flow| flow.end.is_some()));
    let report = cut.report.multipath.expect("multipath");
    assert!(report.stale > 0 && report.reinjected_bytes > 0, "{report:?}");
    assert!(report.duplicate_bytes <= report.reinjected_bytes, "{report:?}");
}

fn trial<'a>(fabric: &'a Fabric, scheme: &str, config: Config, seed: u64) -> Trial<'a> {
    let trial = Trial::new(fabric, crate::common::scheme(scheme), config).seed(seed);
    (0..6).fold(trial, |trial, flow| {
        trial.flow(flow % 2, (flow + 1) % 2, (u64::from(flow) + 1) * 100_000, Duration::from_ms(flow.into()))
    })
}

fn completed(outcome: &Outcome) -> bool {
    outcome.flows.iter().all(|flow| flow.end.is_some())
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn every_flow_ends_and_every_packet_is_accounted_for(
        seed in 0_u64..1_000,
        subflows in 1_u8..=8,
        scheme in prop::sample::select(vec!["smoc", "ecmp", "spanning_tree", "spray", "tcp_path"]),
        cut in prop::option::of((0_u64..40, prop::sample::select(vec!["s1-s3", "s1-s4", "s6-s2"]))),
        round_robin: bool,
        version in 0_u8..=1,
    ) {
        let fabric = study("topology2");
        let mptcp_scheduler =
            if round_robin { MptcpScheduler::RoundRobin } else { MptcpScheduler::LowestRtt };
        let config = Config { mptcp_scheduler, mptcp_version: version, ..hosts(subflows) };
        let mut trial = trial(&fabric, scheme, config, seed);
        if let Some((at, cable)) = cut {
            trial = trial.fail(Duration::from_ms(at), cable).heal(Duration::from_ms(at + 500), cable);
        }
        let outcome = trial.run();
        prop_assert!(completed(&outcome), "{:?}", outcome.flows);
        let again = trial.run();
        prop_assert_eq!(outcome.fct(5), again.fct(5), "the same seed");
    }
}

#[test]
fn a_connection_whose_addresses_are_never_resolved_is_recorded_like_a_plain_one() {
    let fabric = study("topology1");
    for config in [profile("linux"), hosts(4)] {
        let trial = Trial::new(&fabric, scheme("arp_path"), config).flow(0, 1, MIB, Duration::ZERO);
        let outcome = trial.limit(Duration::from_secs(5)).fail(Duration::ZERO, "a-s1").run();
        let recorded: Vec<_> =
            outcome.flows.iter().map(|flow| (flow.flow.id.0, flow.end, flow.packets_sent)).collect();
        assert_eq!(recorded, [(0, None, 0)]);
    }
}

/// Two hosts with a link to each of two switches, whose rates (in Mbps) and delays (in ms) these are.
fn two_links(links: [(u64, u64); 2]) -> Fabric {
    let mut fabric = FabricBuilder::new("two links");
    let hosts = ["a", "b"].map(|name| fabric.add_host(name, 0, None).unwrap());
    for (switch, (mbps, ms)) in ["s0", "s1"].into_iter().zip(links) {
        let switch = fabric.add_switch(switch, 1, None).unwrap();
        let spec = LinkSpec::new(Rate::from_bps(mbps * 1_000_000), Duration::from_ms(ms));
        for host in hosts {
            fabric.connect(host, switch, &spec).unwrap();
        }
    }
    fabric.build().unwrap()
}

#[test]
fn no_transfer_over_several_links_or_longer_paths_beats_its_ideal() {
    let meshed = || Config { mptcp: Mptcp::Fullmesh, ..hosts(4) };
    for (fabric, scheme_name, config) in [
        (two_links([(100, 2), (100, 2)]), "ecmp", meshed()),
        (two_links([(100, 1), (300, 5)]), "ecmp", meshed()),
        (two_links([(100, 2), (100, 2)]), "ecmp", hosts(8)),
        (study("topology1"), "smoc", hosts(4)),
        (study("topology2"), "smoc", hosts(4)),
    ] {
        let trial = Trial::new(&fabric, scheme(scheme_name), config).flow(0, 1, 10 * MIB, Duration::ZERO);
        let outcome = trial.limit(Duration::from_secs(20)).run();
        let slowdown = outcome.fct(0).ps() as f64 / outcome.flows[0].ideal.unwrap().ps() as f64;
        println!("{} over {scheme_name}: {slowdown:.3}", fabric.name());
        assert!((1.0..3.0).contains(&slowdown), "{} over {scheme_name}: {slowdown}", fabric.name());
    }
}
