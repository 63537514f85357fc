//! The benchmark cases: fabrics loaded with many long flows or with the web-search mix.
//!
//! A case runs for a fixed simulated time, so the amount of work does not depend on the machine. Other load on the
//! machine changes from second to second, so compared measurements alternate: a scheme with ECMP, several threads with
//! one.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use cpu_time::ThreadTime;
use serde::Serialize;
use weft_fabric::Limit;
use weft_switching::SchemeSpec;
use weft_traffic::{Connections, Dependencies, Flow, InterfaceRule, Jobs, Parts};
use weft_units::{Duration, Time};

use crate::bench_cases::{CASES, Case, ecmp};
use crate::engine::{Progress, Setup};
use crate::memory::Memory;
use crate::probe::Probe;
use crate::record::{RunReport, Unrecorded};
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
    /// Peak memory, beyond the memory that the process held before.
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
    /// Speed-up over one thread, by number of threads.
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
            dependencies: &Dependencies::default(),
            jobs: &Jobs::default(),
            connections: &Connections::default(),
            parts: &Parts::default(),
            ring_steps: false,
            classes: 1,
            transport: &transport,
            interfaces: InterfaceRule::Hash,
            seed: 1,
            warm: false,
            limit,
            window: (Time::ZERO, limit),
            probe: Probe::default(),
            faults: &[],
            reaction: Duration::ZERO,
            threads,
            rounds: None,
            rests: false,
        };
        let (started, worked) = (Instant::now(), ThreadTime::now());
        let report = run_setup(setup, scheme, progress, &mut Unrecorded).ok()?;
        let cpu_seconds = worked.elapsed().as_secs_f64() + progress.helped_seconds();
        Some((report, [cpu_seconds, started.elapsed().as_secs_f64()]))
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
