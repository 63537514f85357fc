//! The cases of the benchmark: fabrics, flows and schemes.

use rand_core::RngCore;
use weft_fabric::{Fabric, Limit, LinkSpec, QueueSpec, build};
use weft_switching::{ParamValue, SchemeSpec, pick, stream};
use weft_traffic::{Flow, Lane, published};
use weft_transport::{Config, CongestionControl, Protocol, uec};
use weft_units::{Duration, FlowId, HostId, Rate, Time};

/// A named case.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Simulated time that takes about one second of CPU time on a 2024 machine.
    pub pace: Duration,
    /// The network.
    pub fabric: fn() -> Fabric,
    /// The hosts' protocol.
    pub transport: fn() -> Protocol,
    /// The flows until a time.
    pub flows: fn(&Fabric, Time) -> Vec<Flow>,
    /// The scheme.
    pub scheme: fn() -> SchemeSpec,
}

/// All cases.
pub const CASES: &[Case] = &[
    on_fat_tree("fat-tree-k4-tcp", Duration::from_ms(300), || fat_tree(4, None), tcp),
    on_fat_tree("fat-tree-k8-tcp", Duration::from_ms(30), || fat_tree(8, None), tcp),
    on_fat_tree("fat-tree-k16-tcp", Duration::from_us(2_500), || fat_tree(16, None), tcp),
    on_fat_tree("fat-tree-k32-tcp", Duration::from_us(160), || fat_tree(32, None), tcp),
    on_fat_tree("fat-tree-k4-dctcp", Duration::from_ms(300), || fat_tree(4, Some(65)), dctcp),
    on_fat_tree("fat-tree-k8-dctcp", Duration::from_ms(30), || fat_tree(8, Some(65)), dctcp),
    on_fat_tree("fat-tree-k16-dctcp", Duration::from_us(2_500), || fat_tree(16, Some(65)), dctcp),
    on_fat_tree("fat-tree-k16-100g-tcp", Duration::from_us(300), || fast_fat_tree(16), tcp),
    on_fat_tree("fat-tree-k16-100g-uec", Duration::from_us(600), || fast_fat_tree(16), uec),
    on_fat_tree("fat-tree-k32-100g-uec", Duration::from_us(60), || fast_fat_tree(32), uec),
    on_spine_leaf("spine-leaf-4-4-20", ecmp),
    on_spine_leaf("spine-leaf-4-4-20-arp-path", || scheme("arp_path", [])),
    on_spine_leaf("spine-leaf-4-4-20-tcp-path", || scheme("tcp_path", [])),
    on_spine_leaf("spine-leaf-4-4-20-tfe", tfe_of_ports),
    on_spine_leaf("spine-leaf-4-4-20-tfe-auto", || {
        scheme("tfe", [("classifier", ParamValue::Text("auto".to_owned()))])
    }),
    on_spine_leaf("spine-leaf-4-4-20-adaptive", || scheme("adaptive", [])),
    on_spine_leaf("spine-leaf-4-4-20-conga", || scheme("conga", [])),
    on_spine_leaf("spine-leaf-4-4-20-drill", || scheme("drill", [])),
    on_spine_leaf("spine-leaf-4-4-20-flowcut", || scheme("flowcut", [])),
    on_spine_leaf("spine-leaf-4-4-20-hula", || scheme("hula", [])),
    // Its default interval is longer than the run.
    on_spine_leaf("spine-leaf-4-4-20-hedera", || {
        scheme("hedera", [("interval", ParamValue::Duration(Duration::from_ms(1)))])
    }),
    on_spine_leaf("spine-leaf-4-4-20-letflow", || scheme("letflow", [])),
    on_spine_leaf("spine-leaf-4-4-20-wcmp", || scheme("wcmp", [])),
    on_spine_leaf("spine-leaf-4-4-20-clove", || scheme("clove", [])),
    on_spine_leaf("spine-leaf-4-4-20-drb", || scheme("drb", [])),
    on_spine_leaf("spine-leaf-4-4-20-flowbender", || scheme("flowbender", [])),
    on_spine_leaf("spine-leaf-4-4-20-hermes", || scheme("hermes", [])),
    on_spine_leaf("spine-leaf-4-4-20-plb", || scheme("plb", [])),
    on_spine_leaf("spine-leaf-4-4-20-presto", || scheme("presto", [])),
    Case {
        name: "fat-tree-k16-10000-flows",
        pace: Duration::from_us(2_500),
        fabric: || fat_tree(16, Some(65)),
        transport: dctcp,
        flows: ten_each,
        scheme: ecmp,
    },
    Case {
        name: "spine-leaf-4-4-20-short-flows",
        pace: Duration::from_ms(800),
        fabric: spine_leaf,
        transport: tcp,
        flows: short,
        scheme: ecmp,
    },
];

impl Case {
    /// The simulated time that takes about `seconds`.
    pub fn limit(&self, seconds: f64) -> Time {
        Time::ZERO + Duration::from_secs_f64(self.pace.as_secs_f64() * seconds)
    }
}

/// A permutation on a fat-tree under ECMP.
const fn on_fat_tree(
    name: &'static str,
    pace: Duration,
    fabric: fn() -> Fabric,
    transport: fn() -> Protocol,
) -> Case {
    Case { name, pace, fabric, transport, flows: permutation, scheme: ecmp }
}

/// The web-search mix on a spine-leaf fabric under a scheme.
const fn on_spine_leaf(name: &'static str, scheme: fn() -> SchemeSpec) -> Case {
    let pace = Duration::from_ms(3_000);
    Case { name, pace, fabric: spine_leaf, transport: tcp, flows: web_search, scheme }
}

/// The scheme of most cases.
pub fn ecmp() -> SchemeSpec {
    scheme("ecmp", [])
}

/// TFE that explores for a thousand flows, from the 200th on.
fn tfe_of_ports() -> SchemeSpec {
    scheme("tfe", [("first_port", ParamValue::Count(200)), ("last_port", ParamValue::Count(1_199))])
}

fn scheme<const N: usize>(name: &str, params: [(&str, ParamValue); N]) -> SchemeSpec {
    let params = params.into_iter().map(|(name, value)| (name.to_owned(), value));
    SchemeSpec { name: name.to_owned(), params: params.collect() }
}

fn fat_tree(k: u32, ecn_packets: Option<u32>) -> Fabric {
    let queue = QueueSpec::fifo(Limit::Packets(if ecn_packets.is_some() { 250 } else { 100 }));
    let queue = ecn_packets.map_or(queue.clone(), |packets| queue.marking(Limit::Packets(packets)));
    fat_tree_of(k, Rate::from_gbps(10), queue)
}

/// A fat tree at 100 Gbps, with queues of about a bandwidth-delay product.
fn fast_fat_tree(k: u32) -> Fabric {
    let queue = QueueSpec::fifo(Limit::Bytes(150_000)).marking(Limit::Bytes(60_000));
    fat_tree_of(k, Rate::from_gbps(100), queue)
}

fn fat_tree_of(k: u32, rate: Rate, queue: QueueSpec) -> Fabric {
    let link = LinkSpec::new(rate, Duration::from_us(1)).with_queue(queue);
    build::fat_tree(k, &link, &link).expect("the arity is even")
}

fn spine_leaf() -> Fabric {
    let queue = QueueSpec::fifo(Limit::Packets(100));
    let link = LinkSpec::new(Rate::from_gbps(1), Duration::from_us(1)).with_queue(queue);
    build::spine_leaf(4, 4, 20, &link, &link).expect("the sizes are positive")
}

/// The TCP used for the comparison with ns-3.37: CUBIC with SACK, segments that fill an Ethernet frame.
fn tcp() -> Protocol {
    let profile = Config::profile("ns3-3.37").expect("the profile exists");
    Config { mss: 1448, congestion_control: CongestionControl::Cubic, ..profile }.into()
}

fn dctcp() -> Protocol {
    Config { mss: 1448, ..Config::profile("dctcp").expect("the profile exists") }.into()
}

/// Ultra Ethernet as by default.
fn uec() -> Protocol {
    uec::Config::default().into()
}

/// Every host sends one endless flow; no two flows share a destination.
fn permutation(fabric: &Fabric, _limit: Time) -> Vec<Flow> {
    cycles(fabric, 1)
}

/// Every host sends ten endless flows, one per random permutation.
fn ten_each(fabric: &Fabric, _limit: Time) -> Vec<Flow> {
    cycles(fabric, 10)
}

/// `rounds` random permutations without fixed points (Sattolo 1986).
fn cycles(fabric: &Fabric, rounds: u16) -> Vec<Flow> {
    let hosts = fabric.host_count() as u32;
    let mut random = stream(1, "bench", 0);
    let mut flows = Vec::new();
    for round in 0..rounds {
        let mut to: Vec<u32> = (0..hosts).collect();
        for i in (1..to.len()).rev() {
            to.swap(i, pick(random.next_u64(), i));
        }
        flows.extend(to.iter().zip(0..hosts).map(|(&dst, src)| {
            let start = Duration::from_ps(random.next_u64() >> 38);
            flow([src, dst], 10_000 + round, 1 << 32, start)
        }));
    }
    in_order(flows)
}

/// Web-search flows between hosts of different leaves, Poisson, at 40 % of the leaves' uplinks.
fn web_search(fabric: &Fabric, limit: Time) -> Vec<Flow> {
    const LOAD: f64 = 0.4;
    let sizes = published::named("web-search").expect("the table exists").sizes();
    let uplinks = weft_fabric::measure::uplink_capacity(fabric).bps() as f64;
    let mut size_stream = stream(1, "bench", 2);
    poisson(sizes.mean() * 8.0 / (LOAD * uplinks), limit, || sizes.draw(&mut size_stream))
}

/// 320 000 flows of one segment per second; a million in the usual time of a case.
fn short(_fabric: &Fabric, limit: Time) -> Vec<Flow> {
    poisson(1.0 / 320_000.0, limit, || 1_000)
}

/// Flows between hosts of different leaves with this mean gap in seconds, of the sizes that `bytes` draws.
fn poisson(mean_gap: f64, limit: Time, mut bytes: impl FnMut() -> u64) -> Vec<Flow> {
    let mut random = stream(1, "bench", 1);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut now, mut flows, mut port) = (0.0, Vec::new(), 0_u16);
    loop {
        now += -mean_gap * (1.0 - uniform()).ln();
        if now >= limit.as_secs_f64() {
            return in_order(flows);
        }
        let src = (uniform() * 80.0) as u32;
        let dst = (src / 20 * 20 + 20 + (uniform() * 60.0) as u32) % 80;
        port = port.wrapping_add(1);
        flows.push(flow([src, dst], port, bytes(), Duration::from_secs_f64(now)));
    }
}

/// A flow without a number between two hosts.
fn flow(hosts: [u32; 2], sport: u16, bytes: u64, start: Duration) -> Flow {
    let ([src, dst], start) = (hosts.map(HostId), Time::ZERO + start);
    Flow { id: FlowId(0), src, dst, sport, dport: 80, class: 0, dscp: 0, lane: Lane::Any, bytes, start }
}

fn in_order(mut flows: Vec<Flow>) -> Vec<Flow> {
    flows.sort_by_key(|flow| flow.start);
    (0..).zip(&mut flows).for_each(|(id, flow)| flow.id = FlowId(id));
    flows
}
