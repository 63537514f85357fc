//! The benchmark cases: fabrics loaded with many long flows or with the web-search mix.
//!
//! A case runs for a fixed simulated time, so the amount of work does not depend on the machine. Other load on the
//! machine changes from second to second, so what is compared alternates: a scheme with ECMP, several threads with one.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use cpu_time::ThreadTime;
use serde::Serialize;
use weft_fabric::{Fabric, Limit, LinkSpec, QueueSpec, build};
use weft_switching::{ParamValue, SchemeSpec, pick, stream};
use weft_traffic::{Flow, published};
use weft_transport::{Config, CongestionControl};
use weft_units::{Duration, FlowId, HostId, Rate, Time};

use rand_core::RngCore;

use crate::engine::{Progress, Setup};
use crate::probe::Probe;
use crate::record::{FlowRecord, Recorder, RunReport, Sample};
use crate::run::run_setup;

/// The measurements of a case.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The case.
    pub case: &'static str,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Threads of the run.
    pub threads: usize,
    /// CPU time of all threads, without building the fabric.
    pub cpu_seconds: f64,
    /// Elapsed time.
    pub elapsed_seconds: f64,
    /// Packet-hops per second: of CPU time on one thread, of elapsed time on several.
    pub packet_hops_per_second: f64,
    /// Peak memory, beyond what the process held before.
    pub peak_memory_bytes: u64,
    /// Simulated time of the run.
    pub simulated_seconds: f64,
    /// Flows alive at the end.
    pub live_flows: u64,
    /// Memory of packets, links and connections at the end.
    pub state_bytes: u64,
    /// Speed relative to ns-3 on the same flows; not measured here.
    pub ratio_to_ns3: Option<f64>,
    /// CPU time per packet-hop relative to ECMP on the same fabric, flows and TCP; `None` for ECMP
    /// itself.
    pub ratio_to_ecmp: Option<f64>,
    /// Speed relative to one thread, by elapsed time; `None` for one thread itself.
    pub ratio_to_one_thread: Option<f64>,
}

impl Measured {
    fn cpu_per_hop(&self) -> f64 {
        self.cpu_seconds / self.packet_hops.max(1) as f64
    }

    fn elapsed_per_hop(&self) -> f64 {
        self.elapsed_seconds / self.packet_hops.max(1) as f64
    }
}

/// Rounds of a comparison, each one run of either side.
const ROUNDS: usize = 3;

/// A named case.
struct Case {
    name: &'static str,
    /// Simulated time that takes about one second of CPU time on a 2024 machine.
    pace: Duration,
    fabric: fn() -> Fabric,
    transport: fn() -> Config,
    flows: fn(&Fabric, Time) -> Vec<Flow>,
    scheme: fn() -> SchemeSpec,
}

const CASES: &[Case] = &[
    on_fat_tree("fat-tree-k4-tcp", Duration::from_ms(300), || fat_tree(4, None), tcp),
    on_fat_tree("fat-tree-k8-tcp", Duration::from_ms(30), || fat_tree(8, None), tcp),
    on_fat_tree("fat-tree-k16-tcp", Duration::from_us(2_500), || fat_tree(16, None), tcp),
    on_fat_tree("fat-tree-k32-tcp", Duration::from_us(160), || fat_tree(32, None), tcp),
    on_fat_tree("fat-tree-k4-dctcp", Duration::from_ms(300), || fat_tree(4, Some(65)), dctcp),
    on_fat_tree("fat-tree-k8-dctcp", Duration::from_ms(30), || fat_tree(8, Some(65)), dctcp),
    on_fat_tree("fat-tree-k16-dctcp", Duration::from_us(2_500), || fat_tree(16, Some(65)), dctcp),
    on_spine_leaf("spine-leaf-4-4-20", ecmp),
    on_spine_leaf("spine-leaf-4-4-20-arp-path", || scheme("arp_path", [])),
    on_spine_leaf("spine-leaf-4-4-20-tcp-path", || scheme("tcp_path", [])),
    on_spine_leaf("spine-leaf-4-4-20-tfe", tfe_of_ports),
    on_spine_leaf("spine-leaf-4-4-20-tfe-auto", || {
        scheme("tfe", [("classifier", ParamValue::Text("auto".to_owned()))])
    }),
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

/// The names of the cases.
pub fn cases() -> Vec<&'static str> {
    CASES.iter().map(|case| case.name).collect()
}

/// Runs a case for about `seconds` on this number of threads; `None` if there is no such case.
///
/// A comparison returns the round with the median ratio: to one thread if there are several, otherwise to ECMP.
pub fn bench(name: &str, seconds: f64, threads: usize) -> Option<Measured> {
    let case = CASES.iter().find(|case| case.name == name)?;
    let scheme = (case.scheme)();
    let is_ecmp = scheme.name == ecmp().name;
    if is_ecmp && threads == 1 {
        return case.measure(&scheme, seconds, 1);
    }
    let slice = seconds / (2 * ROUNDS) as f64;
    let round = |_| {
        let mut measured = case.measure(&scheme, slice, threads)?;
        let ratio = if threads == 1 {
            let ratio = measured.cpu_per_hop() / case.measure(&ecmp(), slice, 1)?.cpu_per_hop();
            *measured.ratio_to_ecmp.insert(ratio)
        } else {
            let ratio = case.measure(&scheme, slice, 1)?.elapsed_per_hop() / measured.elapsed_per_hop();
            *measured.ratio_to_one_thread.insert(ratio)
        };
        Some((ratio, measured))
    };
    let mut rounds = (0..ROUNDS).map(round).collect::<Option<Vec<_>>>()?;
    // Later rounds reuse memory that the first left mapped.
    let peak_memory_bytes = rounds[0].1.peak_memory_bytes;
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(Measured { peak_memory_bytes, ..rounds.swap_remove(ROUNDS / 2).1 })
}

/// The gain of several threads by a counted model (see [`crate::loads`]), for about `seconds` of a case.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// The case.
    pub case: &'static str,
    /// The mean number of events in a window.
    pub events_per_window: f64,
    /// By number of threads, how many times as fast as one.
    pub gains: Vec<(usize, f64)>,
}

/// Counts the model of a case; `None` if there is no such case.
pub fn model(name: &str, seconds: f64) -> Option<Model> {
    let case = CASES.iter().find(|case| case.name == name)?;
    let progress = Progress { loads: Some(Mutex::default()), ..Progress::default() };
    case.run(&(case.scheme)(), case.limit(seconds), 2, &progress)?;
    let loads = progress.loads?.into_inner().ok()?;
    Some(Model { case: case.name, events_per_window: loads.events_per_window(), gains: loads.gains() })
}

/// Writes a case's fabric and flows in the format of the ns-3 reference program, to `fabric.csv` and
/// `flows.csv` in `directory`; returns the simulated seconds. `None` if there is no such case.
///
/// # Errors
/// The error from the file system.
pub fn export(name: &str, seconds: f64, directory: &Path) -> std::io::Result<Option<f64>> {
    let Some(case) = CASES.iter().find(|case| case.name == name) else { return Ok(None) };
    let fabric = (case.fabric)();
    let limit = case.limit(seconds);
    let mut text = String::new();
    for node in fabric.nodes() {
        let role = if node.is_host() { "host" } else { "switch" };
        text += &format!("node,{},{role}\n", node.name);
    }
    for link in fabric.links().iter().step_by(2) {
        let Limit::Packets(packets) = link.queue.limit else { continue };
        let [from, to] = [link.from, link.to].map(|node| &fabric.node(node).name);
        text += &format!("link,{from},{to},{},{},{packets}\n", link.rate.bps(), link.delay.ps());
    }
    fs::write(directory.join("fabric.csv"), text)?;
    let mut text = String::from("flow,src,dst,bytes,start_ps,sport,dport,class\n");
    for flow in (case.flows)(&fabric, limit) {
        let [src, dst] = [flow.src, flow.dst].map(|host| fabric.host_name(host));
        let Flow { id, bytes, start, sport, dport, .. } = flow;
        text += &format!("{id},{src},{dst},{bytes},{},{sport},{dport},all\n", start.ps());
    }
    fs::write(directory.join("flows.csv"), text)?;
    Ok(Some(limit.as_secs_f64()))
}

impl Case {
    fn limit(&self, seconds: f64) -> Time {
        Time::ZERO + Duration::from_secs_f64(self.pace.as_secs_f64() * seconds)
    }

    /// Runs the case until `limit`, under `scheme`.
    fn run(
        &self,
        scheme: &SchemeSpec,
        limit: Time,
        threads: usize,
        progress: &Progress,
    ) -> Option<(RunReport, [f64; 2])> {
        let fabric = (self.fabric)();
        let flows = (self.flows)(&fabric, limit);
        let transport = (self.transport)();
        let setup = Setup {
            fabric: &fabric,
            flows: &flows,
            classes: 1,
            transport: &transport,
            seed: 1,
            limit,
            window: (Time::ZERO, limit),
            probe: Probe::default(),
            faults: &[],
            threads,
        };
        let (started, worked) = (Instant::now(), ThreadTime::now());
        let report = run_setup(setup, scheme, progress, &mut Nobody).ok()?;
        let helped = progress.helpers_ns.load(Ordering::Relaxed) as f64 * 1e-9;
        Some((report, [worked.elapsed().as_secs_f64() + helped, started.elapsed().as_secs_f64()]))
    }

    /// Measures the case once, under `scheme`.
    fn measure(&self, scheme: &SchemeSpec, seconds: f64, threads: usize) -> Option<Measured> {
        let before = Memory::mark();
        let ran = self.run(scheme, self.limit(seconds), threads, &Progress::default());
        let (report, [cpu_seconds, elapsed_seconds]) = ran?;
        let seconds = if threads == 1 { cpu_seconds } else { elapsed_seconds };
        Some(Measured {
            case: self.name,
            packet_hops: report.counters.packet_hops,
            threads,
            cpu_seconds,
            elapsed_seconds,
            packet_hops_per_second: report.counters.packet_hops as f64 / seconds.max(1e-9),
            peak_memory_bytes: before.peak_since(),
            simulated_seconds: report.end.as_secs_f64(),
            live_flows: report.flows_started - report.flows_finished,
            state_bytes: report.state_bytes,
            ratio_to_ns3: None,
            ratio_to_ecmp: None,
            ratio_to_one_thread: None,
        })
    }
}

/// A permutation on a fat-tree under ECMP.
const fn on_fat_tree(
    name: &'static str,
    pace: Duration,
    fabric: fn() -> Fabric,
    transport: fn() -> Config,
) -> Case {
    Case { name, pace, fabric, transport, flows: permutation, scheme: ecmp }
}

/// The web-search mix on a spine-leaf fabric under a scheme.
const fn on_spine_leaf(name: &'static str, scheme: fn() -> SchemeSpec) -> Case {
    let pace = Duration::from_ms(3_000);
    Case { name, pace, fabric: spine_leaf, transport: tcp, flows: web_search, scheme }
}

fn ecmp() -> SchemeSpec {
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
    let link = LinkSpec::new(Rate::from_gbps(10), Duration::from_us(1)).with_queue(queue);
    build::fat_tree(k, &link, &link).expect("the arity is even")
}

fn spine_leaf() -> Fabric {
    let queue = QueueSpec::fifo(Limit::Packets(100));
    let link = LinkSpec::new(Rate::from_gbps(1), Duration::from_us(1)).with_queue(queue);
    build::spine_leaf(4, 4, 20, &link, &link).expect("the sizes are positive")
}

/// The TCP used for the comparison with ns-3.37: CUBIC with SACK, segments that fill an Ethernet frame.
fn tcp() -> Config {
    let profile = Config::profile("ns3-3.37").expect("the profile exists");
    Config { mss: 1448, congestion_control: CongestionControl::Cubic, ..profile }
}

fn dctcp() -> Config {
    Config { mss: 1448, ..Config::profile("dctcp").expect("the profile exists") }
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
    Flow { id: FlowId(0), src, dst, sport, dport: 80, class: 0, dscp: 0, bytes, start }
}

fn in_order(mut flows: Vec<Flow>) -> Vec<Flow> {
    flows.sort_by_key(|flow| flow.start);
    (0..).zip(&mut flows).for_each(|(id, flow)| flow.id = FlowId(id));
    flows
}

/// A recorder that discards flows and samples.
struct Nobody;

impl Recorder for Nobody {
    fn flow(&mut self, _record: &FlowRecord) {}
    fn sample(&mut self, _sample: &Sample) {}
}

/// Resident memory of the process at a mark.
struct Memory(u64);

impl Memory {
    fn mark() -> Self {
        // Resets the kernel's peak RSS (proc(5)); otherwise the peak covers the whole process lifetime.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self(status("VmRSS:"))
    }

    fn peak_since(&self) -> u64 {
        status("VmHWM:").saturating_sub(self.0)
    }
}

/// A field of `/proc/self/status` in bytes; 0 if missing.
fn status(field: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
