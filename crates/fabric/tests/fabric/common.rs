//! Shared by the fabric tests: fabrics of any form.

use proptest::prelude::*;
use weft_fabric::{
    CERTAIN, ClassSpec, Fabric, FabricBuilder, FabricError, Limit, LinkSpec, MarkAt, Overhead, PfcSpec,
    QueueSpec, RedSpec, Scheduler,
};
use weft_units::{Bytes, Duration, NodeId, Rate};

fn any_limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(1..u32::MAX).prop_map(Limit::Packets), (84..u64::MAX).prop_map(Limit::Bytes)]
}

/// Queues of any kind.
pub fn any_queue() -> impl Strategy<Value = QueueSpec> {
    let weights = prop::collection::vec(1..100_u32, 0..4);
    let trim = prop::option::of(prop::option::of(any_limit()));
    let served = (prop::option::of(any_red()), trim, prop::option::of(any_pfc()));
    (any_limit(), prop::option::of(any_limit()), weights, any::<bool>(), served).prop_map(
        |(limit, ecn_threshold, weights, drr, (red, trim, pfc))| QueueSpec {
            limit,
            ecn_threshold: ecn_threshold.filter(|_| red.is_none()),
            scheduler: if drr && !weights.is_empty() { Scheduler::Drr } else { Scheduler::StrictPriority },
            trim: trim.is_some() && weights.len() > 1,
            trim_queue: trim.flatten().filter(|_| weights.len() > 1),
            pfc: pfc.map(|pfc: PfcSpec| {
                let own = (1_u8 << weights.len().max(1)) - 1;
                PfcSpec { queues: pfc.queues.map(|queues| queues & own), ..pfc }
            }),
            classes: weights.into_iter().map(|weight| ClassSpec { weight }).collect(),
            red,
        },
    )
}

fn any_red() -> impl Strategy<Value = RedSpec> {
    let at = prop_oneof![Just(MarkAt::Enqueue), Just(MarkAt::Dequeue)];
    (1..1_000_000_u32, 1..1_000_000_u32, 1..=CERTAIN, any::<bool>(), at).prop_map(
        |(a, b, pmax, packets, at)| {
            let limit = |count: u32| if packets { Limit::Packets(count) } else { Limit::Bytes(count.into()) };
            RedSpec { kmin: limit(a.min(b)), kmax: limit(a.max(b)), pmax, at }
        },
    )
}

fn any_pfc() -> impl Strategy<Value = PfcSpec> {
    let size = || prop::option::of((0..1_000_000_u64).prop_map(Bytes));
    (size(), size(), size(), prop::option::of(any::<u8>()))
        .prop_map(|(xoff, xon, headroom, queues)| PfcSpec { xoff, xon, headroom, queues })
}

/// Links of any kind.
pub fn any_link() -> impl Strategy<Value = LinkSpec> {
    let overhead = prop::sample::select(vec![
        Overhead::Ethernet,
        Overhead::EthernetFrame,
        Overhead::Ppp,
        Overhead::None,
    ]);
    (1_000..10_000_000_000_000_u64, 0..3_600_000_000_000_000_u64, any_queue(), overhead).prop_map(
        |(bps, ps, queue, overhead)| {
            LinkSpec::new(Rate::from_bps(bps), Duration::from_ps(ps))
                .with_queue(queue)
                .with_overhead(overhead)
        },
    )
}

/// Fabrics of any form: hosts with several cables, cables between hosts, parallel, failed and
/// asymmetric ones.
pub fn any_fabric() -> impl Strategy<Value = Fabric> {
    let ends = (0..14_usize, 0..14_usize);
    let cables =
        prop::collection::vec((ends, prop::bool::weighted(0.1), any::<bool>(), any::<bool>()), 0..40);
    let specs = (any_link(), any_link());
    (1..6_usize, 1..8_usize, cables, specs).prop_filter_map(
        "two hosts are apart",
        |(hosts, switches, cables, (one, other))| {
            let mut builder = FabricBuilder::new("any");
            let mut nodes = Vec::new();
            for i in 0..hosts.max(switches) {
                if i < hosts {
                    nodes.push(builder.add_host(format!("h{i}"), 0, None).unwrap());
                }
                if i < switches {
                    let pod = (i % 3 > 0).then_some(i as u32);
                    nodes.push(builder.add_switch(format!("s-{i}"), 1 + i as u8 % 3, pod).unwrap());
                }
            }
            let mut failed = Vec::new();
            for ((a, b), fails, forth, back) in cables {
                let (a, b) = (nodes[a % nodes.len()], nodes[b % nodes.len()]);
                let spec = |which| if which { &one } else { &other };
                if a != b {
                    builder.connect_asymmetric(a, b, spec(forth), spec(back)).unwrap();
                    if fails {
                        failed.push((a, b));
                    }
                }
            }
            for (a, b) in failed {
                let name = |id: NodeId| builder.nodes()[id.index()].name.clone();
                let (a, b) = (name(a), name(b));
                builder.fail(&a, &b).unwrap();
            }
            match builder.build() {
                Ok(fabric) => Some(fabric),
                Err(FabricError::Disconnected { .. }) => None,
                Err(error) => panic!("{error}"),
            }
        },
    )
}
