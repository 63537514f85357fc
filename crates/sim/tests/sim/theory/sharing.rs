//! Long flows get their max-min fair shares: with one queue per port if each flow has one bottleneck,
//! with one queue per flow (deficit round robin) wherever their bottlenecks are.
//!
//! A TCP flow that encounters congestion at several single-queue links gets less than its max-min share,
//! and drop-tail queues between links of equal rate favour some flows by phase effects (Floyd and Jacobson
//! 1991). Both are properties of TCP, not of the simulator, so such cases are tested with per-flow
//! queues.

use crate::common::paths::{max_min, single_path};
use crate::common::statistics::holds;
use crate::common::{Trial, link, profile, scheme};
use weft_fabric::{ClassSpec, Fabric, FabricBuilder, Limit, LinkSpec, QueueSpec, Scheduler, build};
use weft_transport::{Config, CongestionControl};
use weft_units::{Duration, Rate};

/// Payload of a full segment as a fraction of its bytes on the wire.
const PAYLOAD: f64 = 1_448.0 / 1_538.0;
const ENDLESS: u64 = 1 << 40;

/// A flow: from, to.
type Pair = (u32, u32);

/// Checks the long-run rates of flows against their max-min shares.
fn shares(name: &str, fabric: &Fabric, config: &Config, pairs: &[Pair], span: Duration, tolerance: f64) {
    let seed = 1;
    let mut trial = Trial::new(fabric, scheme("single_path"), config.clone()).seed(seed).limit(span);
    for (i, &(src, dst)) in pairs.iter().enumerate() {
        trial = trial.flow(src, dst, ENDLESS, Duration::from_us(37 * i as u64)).with_dscp(8 * i as u8);
    }
    let rates = trial.sampled(span / 100).run().rates(span / 4);
    let paths: Vec<_> = pairs.iter().map(|&(src, dst)| single_path(fabric, src, dst)).collect();
    for ((rate, share), (src, dst)) in rates.iter().zip(max_min(fabric, &paths)).zip(pairs) {
        let what = format!("{name}, h{src} to h{dst}, Mbps");
        holds(&what, rate / 1e6, share * PAYLOAD / 1e6, tolerance, seed);
    }
}

/// Standard Reno, which fills its bottleneck.
fn reno() -> Config {
    Config { congestion_control: CongestionControl::Reno, ..profile("linux") }
}

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000)
}

fn marking(rate: Rate, delay: Duration) -> LinkSpec {
    let queue = QueueSpec::fifo(Limit::Packets(400)).marking(Limit::Packets(20));
    LinkSpec::new(rate, delay).with_queue(queue)
}

fn tail_dropping(rate: Rate, delay: Duration, packets: u32) -> LinkSpec {
    LinkSpec::new(rate, delay).with_queue(QueueSpec::fifo(Limit::Packets(packets)))
}

/// One queue for each of up to eight flows, selected by DSCP.
fn fair(rate: Rate, delay: Duration) -> LinkSpec {
    let queue = QueueSpec {
        classes: vec![ClassSpec { weight: 1 }; 8],
        scheduler: Scheduler::Drr,
        ..QueueSpec::fifo(Limit::Packets(60))
    };
    LinkSpec::new(rate, delay).with_queue(queue)
}

/// s0 - s1 - s2 - s3 with these links. h0 and h1 on s0, h4 and h5 on s3; h2 and h3 on s1 and s2, h6
/// and h7 on s2 and s3.
fn parking_lot(host: &LinkSpec, trunks: [LinkSpec; 3]) -> Fabric {
    let mut builder = FabricBuilder::new("parking lot");
    let hosts: Vec<_> = (0..8).map(|i| builder.add_host(format!("h{i}"), 0, None).unwrap()).collect();
    let switches: Vec<_> = (0..4).map(|i| builder.add_switch(format!("s{i}"), 1, None).unwrap()).collect();
    for (host_node, at) in hosts.into_iter().zip([0, 0, 1, 2, 3, 3, 2, 3]) {
        builder.connect(host_node, switches[at], host).unwrap();
    }
    for (pair, trunk) in switches.windows(2).zip(&trunks) {
        builder.connect(pair[0], pair[1], trunk).unwrap();
    }
    builder.build().unwrap()
}

/// Checks [`max_min`] against shares in Mbps computed by hand.
fn is_max_min(fabric: &Fabric, pairs: &[Pair], expected: &[f64]) {
    let paths: Vec<_> = pairs.iter().map(|&(src, dst)| single_path(fabric, src, dst)).collect();
    for (share, expected) in max_min(fabric, &paths).into_iter().zip(expected) {
        assert!((share / 1e6 - expected).abs() < 1e-6, "{share} is not {expected} Mbps");
    }
}

#[test]
fn dctcp_flows_share_a_dumbbell_equally() {
    let host = marking(mbps(10_000), Duration::from_us(5));
    let bottleneck = marking(mbps(1_000), Duration::from_us(20));
    for count in [2, 8] {
        let fabric = build::dumbbell(count, count, &host, &bottleneck).unwrap();
        let pairs: Vec<Pair> = (0..count).map(|i| (i, count + i)).collect();
        let name = format!("dumbbell, {count} DCTCP");
        shares(&name, &fabric, &profile("dctcp"), &pairs, Duration::from_secs(1), 0.10);
    }
}

#[test]
fn reno_flows_share_a_dumbbell_equally() {
    let host = tail_dropping(mbps(1_000), Duration::from_us(50), 1_000);
    let bottleneck = tail_dropping(mbps(100), Duration::from_us(900), 60);
    for count in [1, 2, 4] {
        let fabric = build::dumbbell(count, count, &host, &bottleneck).unwrap();
        let pairs: Vec<Pair> = (0..count).map(|i| (i, count + i)).collect();
        shares(&format!("dumbbell, {count} Reno"), &fabric, &reno(), &pairs, Duration::from_secs(30), 0.10);
    }
}

/// Two flows cross all links, one joins them at each later link: 5 and 5, then 30 - 10, then 80 - 10.
#[test]
fn flows_of_a_parking_lot_get_what_the_longer_ones_leave() {
    let host = tail_dropping(mbps(1_000), Duration::from_us(50), 1_000);
    let trunks = [10, 30, 80].map(|rate| tail_dropping(mbps(rate), Duration::from_us(500), 60));
    let fabric = parking_lot(&host, trunks);
    let pairs = [(0, 4), (1, 5), (2, 6), (3, 7)];
    is_max_min(&fabric, &pairs, &[5.0, 5.0, 20.0, 70.0]);
    shares("parking lot, Reno", &fabric, &reno(), &pairs, Duration::from_secs(40), 0.10);
}

/// Links of 20, 30 and 20 Mbps. The long flow and h1's share the first, 10 each; h3's gets the rest of
/// the last, and h2's the rest of the middle.
#[test]
fn a_flow_with_several_bottlenecks_gets_its_max_min_share_where_queues_are_fair() {
    let host = fair(mbps(1_000), Duration::from_us(50));
    let trunks = [20, 30, 20].map(|rate| fair(mbps(rate), Duration::from_us(500)));
    let fabric = parking_lot(&host, trunks);
    let pairs = [(0, 4), (1, 2), (2, 6), (3, 7)];
    is_max_min(&fabric, &pairs, &[10.0, 10.0, 20.0, 10.0]);
    shares("parking lot, DRR", &fabric, &reno(), &pairs, Duration::from_secs(10), 0.03);
}

/// Single path sends everything between pods through c0. Three flows leave pod 0 over a0-c0 and get a
/// third each; the flow from pod 3 to pod 2 gets the two thirds of c0-a4 that h2 to h8 leaves; the two
/// flows of pod 1 share their rack's uplink to a2. ACKs take another 2 % of a2-c0, which the tolerance
/// covers.
#[test]
fn flows_across_a_fat_tree_get_their_max_min_shares_where_queues_are_fair() {
    let spec = fair(mbps(90), Duration::from_us(200));
    let fabric = build::fat_tree(4, &spec, &spec).unwrap();
    let pairs = [(0, 4), (1, 5), (2, 8), (14, 9), (6, 12), (7, 13)];
    let [up, down] = ["a0-c0", "c0-a4"].map(|cable| link(&fabric, cable));
    assert!([up, down].iter().all(|full| single_path(&fabric, 2, 8).contains(full)));
    is_max_min(&fabric, &pairs, &[30.0, 30.0, 30.0, 60.0, 45.0, 45.0]);
    shares("fat-tree, DRR", &fabric, &reno(), &pairs, Duration::from_secs(5), 0.03);
}
