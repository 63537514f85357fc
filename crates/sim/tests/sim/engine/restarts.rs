//! Switches that restart with empty tables, alone and while links fail: under the exploring schemes every flow
//! continues within one RTO.

use proptest::prelude::*;
use weft_fabric::{Fabric, FabricBuilder, build};
use weft_switching::SchemeSpec;
use weft_units::Duration;

use crate::common::{MS, Trial, US, Uniform, cases, gigabit, profile, scheme};
use crate::engine::healing::exploring;

/// 10 MB from h0 to h2 while these switches restart at 20 ms.
fn ten_megabytes(fabric: &Fabric, scheme: SchemeSpec, switches: &[&str]) -> Duration {
    let trial = Trial::new(fabric, scheme, profile("linux")).flow(0, 2, 10_000_000, Duration::ZERO);
    switches.iter().fold(trial, |trial, switch| trial.restart(MS(20), switch)).run().fct(0)
}

#[test]
fn a_flow_goes_on_at_once_when_switches_of_its_path_have_lost_their_tables() {
    let fabric = build::spine_leaf(2, 2, 2, &gigabit(US(1)), &gigabit(US(1))).unwrap();
    let with_routes = ten_megabytes(&fabric, scheme("single_path"), &[]);
    for switches in [&["l1"][..], &["l0"], &["s0", "s1"], &["l0", "l1"], &["l0", "l1", "s0", "s1"]] {
        for scheme in exploring() {
            let name = format!("{switches:?}, {scheme:?}");
            let fct = ten_megabytes(&fabric, scheme, switches);
            assert!(fct < with_routes + MS(20), "{name}: {fct}, with routes {with_routes}");
        }
    }
}

/// A connected fabric of `switches` switches with `extra` additional links and two hosts per switch.
fn random_fabric(random: &mut Uniform, switches: usize, extra: usize) -> Fabric {
    let mut builder = FabricBuilder::new("random");
    let nodes: Vec<_> =
        (0..switches).map(|number| builder.add_switch(format!("s{number}"), 1, None).unwrap()).collect();
    for number in 1..switches {
        builder.connect(nodes[number], nodes[random.below(number)], &gigabit(US(1))).unwrap();
    }
    for _ in 0..extra {
        let [a, b] = [0; 2].map(|_| random.below(switches));
        if a != b {
            builder.connect(nodes[a], nodes[b], &gigabit(US(1))).unwrap();
        }
    }
    for number in 0..2 * switches {
        let host = builder.add_host(format!("h{number}"), 0, None).unwrap();
        builder.connect(host, nodes[number / 2], &gigabit(US(1))).unwrap();
    }
    builder.build().unwrap()
}

proptest! {
    #![proptest_config(cases(40))]

    /// The hold time is 15 s; everything has recovered within a second, and by then the RTO has been backed off to at
    /// most 2 s.
    #[test]
    fn once_everything_is_well_again_every_flow_ends_within_a_timeout_and_the_hold_time(
        seed in 0_u64..1 << 40, switches in 2_usize..8, extra in 0_usize..8, which in 0_usize..4,
        restarts in 1_usize..8, failures in 0_usize..6,
    ) {
        let mut random = Uniform::new(seed, "restarts");
        let fabric = random_fabric(&mut random, switches, extra);
        let mut trial = Trial::new(&fabric, exploring()[which].clone(), profile("linux")).seed(seed);
        let hosts = fabric.host_count();
        for number in 0..8_u64 {
            let [src, dst] = [0; 2].map(|_| random.below(hosts) as u32);
            if src != dst {
                trial = trial.flow(src, dst, 1_000_000, MS(30 * number));
            }
        }
        let mut well = 0;
        for _ in 0..restarts {
            let at = random.below(300) as u64;
            trial = trial.restart(MS(at), &format!("s{}", random.below(switches)));
            well = well.max(at);
        }
        let links = fabric.links().len();
        let mut free = 0;
        for _ in 0..failures {
            let link = &fabric.links()[random.below(links)];
            let link = format!("{}-{}", fabric.node(link.from).name, fabric.node(link.to).name);
            let start = free + random.below(60) as u64;
            free = start + 1 + random.below(40) as u64;
            trial = trial.fail(MS(start), &link).heal(MS(free), &link);
        }
        well = well.max(free);
        let outcome = trial.limit(Duration::from_secs(60)).run();
        for record in &outcome.flows {
            let end = record.end.map_or(u64::MAX, |end| end.ps() / 1_000_000_000);
            prop_assert!(end < well + 2_000 + 15_000, "well after {} ms: {:?}", well, record);
        }
    }
}
