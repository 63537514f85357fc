//! Short failures of host links, switch links and whole switches: under the exploring schemes every flow continues
//! once everything has healed, even though its destination only waits and sends nothing.

use proptest::prelude::*;
use weft_fabric::{Fabric, build};
use weft_switching::{ParamValue, SchemeSpec};
use weft_units::Duration;

use crate::common::{MS, Trial, US, Uniform, cases, gigabit, profile, scheme, scheme_of, scheme_with, word};

/// TCP-Path, ARP-Path, and TFE that explores for every flow, or for flows that have sent 1 MB.
pub fn exploring() -> [SchemeSpec; 4] {
    let [first, last] = [1, 65_535].map(ParamValue::Count);
    [
        scheme("arp_path"),
        scheme("tcp_path"),
        scheme_of("tfe", [("first_port", first), ("last_port", last)]),
        scheme_with("tfe", "classifier", word("auto")),
    ]
}

/// 10 MB from h0 to h2 while these links are down from 10 ms to 20 ms.
fn ten_megabytes(fabric: &Fabric, scheme: SchemeSpec, cables: &[&str]) -> Duration {
    let trial = Trial::new(fabric, scheme, profile("linux")).flow(0, 2, 10_000_000, Duration::ZERO);
    let failing = cables.iter().fold(trial, |trial, cable| trial.fail(MS(10), cable));
    cables.iter().fold(failing, |trial, cable| trial.heal(MS(20), cable)).run().fct(0)
}

#[test]
fn a_flow_goes_on_one_timeout_after_any_link_of_its_path_or_a_switch_was_away_for_10_ms() {
    let dumbbell = build::dumbbell(2, 2, &gigabit(US(1)), &gigabit(US(1))).unwrap();
    let cases: [(&str, &[&str]); 6] = [
        ("the destination's link", &["h2-s1"]),
        ("the source's link", &["h0-s0"]),
        ("both ends at once", &["h0-s0", "h2-s1"]),
        ("the link between", &["s0-s1"]),
        ("the destination's switch", &["s0-s1", "h2-s1", "h3-s1"]),
        ("the source's switch", &["s0-s1", "h0-s0", "h1-s0"]),
    ];
    for (what, cables) in cases {
        let with_routes = ten_megabytes(&dumbbell, scheme("single_path"), cables);
        for scheme in exploring() {
            let name = format!("{what}, {scheme:?}");
            let fct = ten_megabytes(&dumbbell, scheme, cables);
            // The first timeout is 200 ms after the last segment; if the repair's frames are lost, too, the next one
            // is twice that.
            assert!(fct < with_routes + MS(450), "{name}: {fct}, with routes {with_routes}");
        }
    }
}

#[test]
fn so_it_does_where_there_is_a_choice_of_paths() {
    let fabric = build::spine_leaf(2, 2, 2, &gigabit(US(1)), &gigabit(US(1))).unwrap();
    let cables: [&[&str]; 5] = [
        &["h2-l1"],
        &["h0-l0"],
        &["h0-l0", "h2-l1"],
        &["s0-l0", "s1-l0", "h0-l0", "h1-l0"],
        &["s0-l0", "s0-l1", "s1-l0", "s1-l1"],
    ];
    for cables in cables {
        for scheme in exploring() {
            let name = format!("{cables:?}, {scheme:?}");
            let undisturbed = ten_megabytes(&fabric, scheme.clone(), &[]);
            let fct = ten_megabytes(&fabric, scheme, cables);
            // A repair that finds no path while links are down, from 10 ms on, is retried after 1 s. Then the rest
            // starts with a window of one segment, which takes less time than another transfer.
            assert!(fct < MS(10) + MS(1_000) + undisturbed * 2, "{name}: {fct}, undisturbed {undisturbed}");
        }
    }
}

proptest! {
    #![proptest_config(cases(40))]

    /// The hold time is 15 s; the last failure heals within a second, and by then the RTO has been backed off to at
    /// most 2 s.
    #[test]
    fn once_everything_has_healed_every_flow_ends_within_a_timeout_and_the_hold_time(
        seed in 0_u64..1 << 40, spines in 1_u32..4, leaves in 2_u32..4, which in 0_usize..4, failures in 1_usize..8,
    ) {
        let fabric = build::spine_leaf(spines, leaves, 2, &gigabit(US(1)), &gigabit(US(1))).unwrap();
        let mut random = Uniform::new(seed, "failures");
        let mut trial = Trial::new(&fabric, exploring()[which].clone(), profile("linux")).seed(seed);
        let hosts = fabric.host_count();
        for number in 0..6_u64 {
            let [src, dst] = [0; 2].map(|_| random.below(hosts) as u32);
            if src != dst {
                trial = trial.flow(src, dst, 1_000_000, MS(10 * number));
            }
        }
        let cables: Vec<String> = fabric
            .links()
            .iter()
            .map(|link| format!("{}-{}", fabric.node(link.from).name, fabric.node(link.to).name))
            .collect();
        // One after another, so that no link heals while it is down for another reason.
        let mut events = Vec::new();
        for _ in 0..failures {
            let cable = cables[random.below(cables.len())].clone();
            let start = random.below(100) as u64 + events.last().map_or(0, |(_, end, _): &(u64, u64, String)| *end);
            events.push((start, start + 1 + random.below(40) as u64, cable));
        }
        for (start, end, cable) in &events {
            trial = trial.fail(MS(*start), cable).heal(MS(*end), cable);
        }
        let outcome = trial.limit(Duration::from_secs(60)).run();
        let healed = events.last().map_or(0, |(_, end, _)| *end);
        for record in &outcome.flows {
            let end = record.end.map_or(u64::MAX, |end| end.ps() / 1_000_000_000);
            prop_assert!(end < healed + 2_000 + 15_000, "{:?} after {healed} ms", record);
        }
    }
}
