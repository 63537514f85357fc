//! Conservation of packets: sent + copied = delivered + dropped + in flight, for random fabrics, queues,
//! schemes, transports, loads and failures. Checked for the whole network, for each link and for each
//! flow.

use std::ops::Range;

use crate::common::{Trial, profile};
use proptest::prelude::*;
use weft_fabric::{ClassSpec, Fabric, FabricBuilder, Limit, LinkSpec, Overhead, QueueSpec, Scheduler};
use weft_sim::fault::{Fault, FaultKind};
use weft_switching::{Descriptor, DropReason, Need, ParamValue, SchemeSpec, descriptor, registry};
use weft_transport::Config;
use weft_transport::profile::PROFILES;
use weft_units::{Duration, LinkId, NodeId, Rate, Time};

/// A link between two indices, which count hosts and switches together.
type Cable = (prop::sample::Index, prop::sample::Index, LinkSpec, LinkSpec);

pub fn any_queue() -> impl Strategy<Value = QueueSpec> {
    let limit =
        || prop_oneof![(1_u32..40).prop_map(Limit::Packets), (1_600_u64..60_000).prop_map(Limit::Bytes)];
    let classes = prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::collection::vec((1_u32..4).prop_map(|weight| ClassSpec { weight }), 1..5),
    ];
    let scheduler = prop_oneof![Just(Scheduler::StrictPriority), Just(Scheduler::Drr)];
    (limit(), prop::option::of(limit()), classes, scheduler).prop_map(
        |(limit, ecn_threshold, classes, scheduler)| QueueSpec {
            ecn_threshold,
            classes,
            scheduler,
            ..QueueSpec::fifo(limit)
        },
    )
}

fn any_link() -> impl Strategy<Value = LinkSpec> {
    let rate = prop::sample::select(vec![10_u64, 100, 333, 1_000, 10_000]);
    let overhead = prop_oneof![
        Just(Overhead::Ethernet),
        Just(Overhead::EthernetFrame),
        Just(Overhead::Ppp),
        Just(Overhead::None)
    ];
    (rate, 0_u64..50, any_queue(), overhead).prop_map(|(mbps, delay, queue, overhead)| {
        LinkSpec::new(Rate::from_bps(mbps * 1_000_000), Duration::from_us(delay))
            .with_queue(queue)
            .with_overhead(overhead)
    })
}

/// Connected: every switch links to an earlier one and every host to a switch; then more links between
/// any two nodes, possibly parallel, possibly at hosts.
pub fn any_fabric() -> impl Strategy<Value = Fabric> {
    any_fabric_of(1..6, any_link)
}

/// Such fabrics with that many switches, of links that `any_link` draws.
pub fn any_fabric_of<L: Strategy<Value = LinkSpec>>(
    switches: Range<usize>,
    any_link: impl Fn() -> L + Copy,
) -> impl Strategy<Value = Fabric> {
    let index = any::<prop::sample::Index>;
    let cable = move || (index(), index(), any_link(), any_link());
    let cables = move |count| prop::collection::vec(cable(), count);
    (switches, 2_usize..6).prop_flat_map(move |(switches, hosts)| {
        (Just((switches, hosts)), cables(switches - 1..switches), cables(hosts..hosts + 1), cables(0..6))
            .prop_map(|((switches, hosts), tree, attached, more)| {
                fabric(switches, hosts, &tree, &attached, &more)
            })
    })
}

fn fabric(switches: usize, hosts: usize, tree: &[Cable], attached: &[Cable], more: &[Cable]) -> Fabric {
    let mut builder = FabricBuilder::new("random");
    let hosts: Vec<NodeId> =
        (0..hosts).map(|i| builder.add_host(format!("h{i}"), 0, None).unwrap()).collect();
    let switches: Vec<NodeId> =
        (0..switches).map(|i| builder.add_switch(format!("s{i}"), 1, None).unwrap()).collect();
    let mut join = |a, b, forth: &LinkSpec, back: &LinkSpec| {
        builder.connect_asymmetric(a, b, forth, back).unwrap();
    };
    for (i, (to, _, forth, back)) in (1..).zip(tree) {
        join(switches[i], switches[to.index(i)], forth, back);
    }
    for (host, (to, _, forth, back)) in hosts.iter().zip(attached) {
        join(*host, *to.get(&switches), forth, back);
    }
    let all = [hosts, switches].concat();
    for (from, to, forth, back) in more.iter().filter(|(from, to, ..)| from.get(&all) != to.get(&all)) {
        join(*from.get(&all), *to.get(&all), forth, back);
    }
    builder.build().unwrap()
}

/// A scheme with precomputed routes and without a central controller that `is` accepts.
fn alone(is: fn(&Descriptor) -> bool) -> impl Strategy<Value = SchemeSpec> {
    let is_alone = |known: &&Descriptor| {
        known.explores.is_none() && !known.needs.contains(&Need::Controller) && is(known)
    };
    let names: Vec<&str> = registry().iter().filter(is_alone).map(|known| known.name).collect();
    prop::sample::select(names).prop_map(crate::common::scheme)
}

pub fn any_scheme() -> impl Strategy<Value = SchemeSpec> {
    prop_oneof![
        4 => alone(|known| !known.is_choosy()),
        1 => (1_u64..4).prop_map(|size| {
            crate::common::scheme_with("spanning_tree", "table_size", ParamValue::Count(size))
        }),
        1 => (1_u64..2_000).prop_map(|us| {
            let ageing = ParamValue::Duration(Duration::from_us(us));
            crate::common::scheme_with("spanning_tree", "ageing", ageing)
        }),
    ]
}

/// From, to, bytes, start in microseconds, DSCP.
pub type Offered = (prop::sample::Index, prop::sample::Index, u64, u64, u8);

pub fn any_flows() -> impl Strategy<Value = Vec<Offered>> {
    let index = any::<prop::sample::Index>;
    let bytes = prop_oneof![Just(0), 1_u64..3_000, 1_u64..300_000];
    let flows = (index(), index(), bytes, 0_u64..20_000, 0_u8..64);
    prop::collection::vec(flows, 1..12).prop_map(|mut flows| {
        flows.sort_by_key(|flow| flow.3);
        flows
    })
}

/// Two tiers: every leaf has hosts and cables to the first spine, and perhaps to others.
pub fn any_leaf_spine() -> impl Strategy<Value = Fabric> {
    (1_usize..5, 1_usize..4, 1_usize..3).prop_flat_map(|(leaves, spines, hosts)| {
        let uplinks = prop::collection::vec((0_usize..3, any_link(), any_link()), leaves * spines);
        let attached = prop::collection::vec((any_link(), any_link()), leaves * hosts);
        (uplinks, attached).prop_map(move |(uplinks, attached)| {
            let mut builder = FabricBuilder::new("random leaf-spine");
            let mut switches = |letter, tier, count| -> Vec<NodeId> {
                (0..count).map(|i| builder.add_switch(format!("{letter}{i}"), tier, None).unwrap()).collect()
            };
            let (leaves, spines) = (switches('l', 1, leaves), switches('s', 2, spines));
            for (number, (forth, back)) in attached.iter().enumerate() {
                let host = builder.add_host(format!("h{number}"), 0, None).unwrap();
                builder.connect_asymmetric(host, leaves[number / hosts], forth, back).unwrap();
            }
            for (number, (count, forth, back)) in uplinks.iter().enumerate() {
                let (leaf, spine) = (number / spines.len(), number % spines.len());
                for _ in 0..(*count).max(usize::from(spine == 0)) {
                    builder.connect_asymmetric(leaves[leaf], spines[spine], forth, back).unwrap();
                }
            }
            builder.build().unwrap()
        })
    })
}

/// Schemes that are defined for tiers of switches only, and one with a controller that acts within a short run.
pub fn any_scheme_of_tiers() -> impl Strategy<Value = SchemeSpec> {
    let flowlets = (1_u64..600).prop_map(|us| ParamValue::Duration(Duration::from_us(us)));
    let conga = (flowlets, 1_u64..7, 1_u64..3_000).prop_map(|(gap, bits, us)| {
        let aging = ParamValue::Duration(Duration::from_us(us));
        crate::common::scheme_of("conga", [("gap", gap), ("bits", ParamValue::Count(bits)), ("aging", aging)])
    });
    let interval = ParamValue::Duration(Duration::from_ms(1));
    prop_oneof![
        3 => conga,
        4 => alone(Descriptor::is_choosy),
        1 => Just(crate::common::scheme_with("hedera", "interval", interval)),
    ]
}

/// A cable, the time of its change in microseconds, and whether it heals.
pub type Changed = (prop::sample::Index, u64, bool);

/// The trial of random flows and changes of cables.
pub fn any_trial<'a>(
    fabric: &'a Fabric,
    scheme: SchemeSpec,
    transport: Config,
    flows: &[Offered],
    faults: &[Changed],
) -> Trial<'a> {
    let hosts: Vec<u32> = (0..fabric.host_count() as u32).collect();
    let mut trial = Trial::new(fabric, scheme, transport);
    for (src, dst, bytes, start, dscp) in flows {
        let (src, dst) = (*src.get(&hosts), *dst.get(&hosts));
        if src != dst {
            trial = trial.flow(src, dst, *bytes, Duration::from_us(*start)).with_dscp(*dscp);
        }
    }
    for (link, us, up) in faults {
        let link = LinkId(link.index(fabric.links().len()) as u32);
        let kind = if *up { FaultKind::Heal } else { FaultKind::Fail };
        trial.faults.push(Fault::of_cable(Time::ZERO + Duration::from_us(*us), kind, link));
    }
    trial.faults.sort_by_key(|fault| fault.at);
    trial
}

/// Runs `trial` for `limit` milliseconds and checks all sums.
fn conserves(trial: Trial<'_>, limit: u64) -> Result<(), TestCaseError> {
    let trial = trial.limit(Duration::from_ms(limit));
    let (fabric, faults) = (trial.fabric, &trial.faults);
    // `run` checks the sum over the whole network.
    let outcome = trial.run();
    let counters = &outcome.report.counters;
    let dropped = |reason| outcome.dropped(reason);

    // Packets accepted by links have crossed them, are on them, or were lost when one failed; a port
    // with several queues counts a packet only once it is on the line.
    let taken: u64 = outcome.report.links.iter().map(|link| link.counters.packets).sum();
    let refused: u64 = outcome.report.links.iter().map(|link| link.counters.drops).sum();
    prop_assert_eq!(refused, dropped(DropReason::QueueFull));
    let fifo = fabric.links().iter().all(|link| link.queue.is_fifo());
    let left = counters.packets_in_flight + dropped(DropReason::LinkDown);
    prop_assert!(taken >= counters.packet_hops && taken <= counters.packet_hops + left);
    if fifo && faults.is_empty() {
        prop_assert_eq!(taken, counters.packet_hops + counters.packets_in_flight);
    }

    // No scheme loses packets itself.
    if faults.is_empty() {
        for reason in [DropReason::NoRoute, DropReason::Stale, DropReason::Untrusted] {
            prop_assert_eq!(dropped(reason), 0, "{:?}", reason);
        }
    }

    // Each flow is recorded once; its losses are part of the total.
    prop_assert_eq!(outcome.flows.len() as u64, outcome.report.flows_started);
    let finished = outcome.flows.iter().filter(|flow| flow.end.is_some()).count() as u64;
    prop_assert_eq!(finished, outcome.report.flows_finished);
    let lost: u64 = outcome.flows.iter().map(|flow| flow.drops).sum();
    prop_assert!(lost <= counters.packets_dropped.iter().sum::<u64>() - dropped(DropReason::NotForMe));
    for flow in &outcome.flows {
        prop_assert!(flow.retransmissions <= flow.packets_sent);
        prop_assert!(flow.first_transmissions_received <= flow.packets_sent + counters.packets_copied);
        prop_assert!(flow.out_of_order <= flow.first_transmissions_received);
        prop_assert!(flow.end.is_none_or(|end| end >= flow.flow.start));
    }

    // Given enough time and no failures, everything arrives and nothing is left; a sender aborts only
    // after repeated timeouts.
    if faults.is_empty() && limit == FOREVER {
        let gave_up = outcome.flows.iter().filter(|flow| flow.end.is_none());
        prop_assert!(gave_up.clone().all(|flow| flow.timeouts >= 6), "{:?}", Vec::from_iter(gave_up));
        prop_assert_eq!(outcome.flows.len(), trial.flows.len());
        // A packet that is left repeats one that has arrived, is the last acknowledgement of a side that has closed,
        // or is a probe.
        let repeats =
            counters.packets_copied + outcome.flows.iter().map(|flow| flow.retransmissions).sum::<u64>();
        let few = counters.packets_in_flight <= 2 * trial.flows.len() as u64;
        let has_own_frames = descriptor(&trial.scheme.name).is_some_and(|scheme| scheme.has_own_frames);
        prop_assert!(few || repeats > 0 || has_own_frames);
    }
    Ok(())
}

/// Longer than any run, in milliseconds.
const FOREVER: u64 = 1_000_000_000;

proptest! {
    #![proptest_config(crate::common::cases(256))]

    #[test]
    fn every_packet_is_delivered_dropped_for_a_reason_or_in_flight(
        fabric in any_fabric(),
        scheme in any_scheme(),
        transport in prop::sample::select(PROFILES).prop_map(|(name, _)| name),
        flows in any_flows(),
        faults in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..30_000, any::<bool>()), 0..8),
        seed in any::<u64>(),
        limit in prop_oneof![1_u64..40, Just(FOREVER)],
    ) {
        let trial = any_trial(&fabric, scheme, profile(transport), &flows, &faults).seed(seed);
        conserves(trial, limit)?;
    }

    #[test]
    fn the_same_holds_for_schemes_of_tiers_on_random_leaf_spines(
        fabric in any_leaf_spine(),
        scheme in any_scheme_of_tiers(),
        transport in prop::sample::select(vec!["linux", "dctcp"]),
        flows in any_flows(),
        faults in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..30_000, any::<bool>()), 0..8),
        seed in any::<u64>(),
        limit in prop_oneof![1_u64..40, Just(FOREVER)],
    ) {
        // Probes of switches go on as long as any flow does: a flow without an end is not waited for.
        let limit = if faults.is_empty() { limit } else { limit.min(2_000) };
        let trial = any_trial(&fabric, scheme, profile(transport), &flows, &faults).seed(seed);
        conserves(trial, limit)?;
    }
}
