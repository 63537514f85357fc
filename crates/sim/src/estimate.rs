//! The cost of a run before it is carried out: packet-hops from the flows' bytes and the lengths of their paths, results by
//! their numbers of rows, and the rate and memory of the first moments of the run on this machine.

use std::collections::VecDeque;
use std::env;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use weft_fabric::Fabric;
use weft_scenario::Plan;
use weft_traffic::{Flow, Parts};
use weft_units::{Duration as Span, NodeId, Time};

use crate::engine::Progress;
use crate::framings::Framings;
use crate::memory::Memory;
use crate::results::ResultWriter;
use crate::run::{run_with, sampled_links};

/// The most flows whose paths are measured.
const PATHS: usize = 1_000;
/// Links to look at when paths are measured, in all.
const LOOKS: usize = 10_000_000;
/// An odd number, the golden ratio in 64 bits: its multiples are spread evenly over all numbers.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// Packets for each full packet of data, with its share of acknowledgements: measured, 1.3 (Ultra Ethernet) to 2.2 (RoCE).
const WITH_ANSWERS: f64 = 1.7;
/// Packets that open and close a connection.
const TO_CONNECT: f64 = 5.0;
/// Bytes of results for each flow.
const FLOW_ON_DISK: u64 = 45;
/// Bytes of results for each sample: measured, 1.8 with many samples between two packets.
const SAMPLE_ON_DISK: f64 = 2.0;
/// Bytes of results more for a sample whose value is a new one.
const VALUE_ON_DISK: f64 = 13.0;
/// Bytes of results for each link.
const LINK_ON_DISK: u64 = 430;
/// Bytes of results for each step of a ring.
const RING_STEP_ON_DISK: u64 = 20;
/// Bytes of results of any run.
const RUN_ON_DISK: u64 = 20_000;
/// Bytes of memory for each flow, with its record.
const FLOW_IN_MEMORY: u64 = 190;
/// Bytes of memory for each link, with its share of nodes and routes.
const LINK_IN_MEMORY: u64 = 1_700;
/// How often a trial is looked at.
const TICK: Duration = Duration::from_millis(2);

/// The size of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    /// Packet-hops.
    pub packet_hops: f64,
    /// Samples of links, classes and active flows: measured, one takes about as long as a packet-hop.
    pub samples: f64,
    /// Bytes of its results on disk.
    pub disk_bytes: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
}

impl Size {
    /// The size of a planned run.
    pub fn of(plan: &Plan) -> Self {
        let (fabric, flows) = (&plan.fabric, &plan.traffic.flows);
        let (links, number) = (fabric.links().len() as u64, flows.len() as u64);
        let end = end(plan).min(plan.run.limit);
        let sampled = sampled_links(fabric).len() + plan.traffic.classes.len() + 1;
        let samples = (end.ps() / plan.measure.interval.ps()) as f64 * sampled as f64;
        let packet_hops = packets(plan) * path_length(plan);
        let in_series = samples * SAMPLE_ON_DISK + samples.min(packet_hops) * VALUE_ON_DISK;
        Self {
            packet_hops,
            samples,
            disk_bytes: number * FLOW_ON_DISK
                + links * LINK_ON_DISK
                + ring_steps(plan) * RING_STEP_ON_DISK
                + RUN_ON_DISK
                + in_series as u64,
            memory_bytes: number * FLOW_IN_MEMORY + links * LINK_IN_MEMORY,
        }
    }
}

/// How many steps of rings are recorded.
fn ring_steps(plan: &Plan) -> u64 {
    if plan.measure.ring_steps { plan.traffic.parts.count().min(Parts::MOST_RECORDED.into()) } else { 0 }
}

/// When the last flow ends at the earliest: after its start, and after its host has sent all that it has.
fn end(plan: &Plan) -> Span {
    let (fabric, flows) = (&plan.fabric, &plan.traffic.flows);
    let last = flows.iter().map(|flow| flow.start).max().unwrap_or(Time::ZERO);
    let mut bytes = vec![0; fabric.host_count()];
    for flow in flows {
        bytes[flow.src.index()] += flow.bytes;
    }
    let second = Time::ZERO + Span::from_secs(1);
    let busy = |(&bytes, &host): (&u64, &NodeId)| bytes as f64 / capacity(fabric, host, second).max(1.0);
    let busiest = bytes.iter().zip(fabric.hosts()).map(busy).fold(0.0, f64::max);
    (last - Time::ZERO).max(Span::from_secs_f64(busiest.min(1e6)))
}

/// The packets of all flows, with acknowledgements, without those sent again.
fn packets(plan: &Plan) -> f64 {
    let (fabric, protocol) = (&plan.fabric, plan.transport.protocol.config());
    let framings = Framings::of(fabric, &plan.transport.protocol);
    let limit = Time::ZERO + plan.run.limit;
    let with_answers = if protocol.has_connections() { WITH_ANSWERS } else { 1.0 };
    let to_connect = if framings.network.round_trips > 0 { TO_CONNECT } else { 0.0 };
    // A host sends no more than its links carry until the end of the run.
    let mut left: Vec<f64> = fabric.hosts().iter().map(|&host| capacity(fabric, host, limit)).collect();
    let of_flow = |flow: &Flow| {
        let room = &mut left[flow.src.index()];
        let sent = (flow.bytes as f64).min(*room);
        *room -= sent;
        let all = framings.packets(flow, &plan.traffic.parts);
        (sent / flow.bytes as f64 * all).ceil() * with_answers + to_connect
    };
    plan.traffic.flows.iter().map(of_flow).sum()
}

/// Bytes that a host's links carry until `limit`.
fn capacity(fabric: &Fabric, host: NodeId, limit: Time) -> f64 {
    let rates = fabric.ports(host).iter().map(|&link| fabric.link(link).rate.bps() as f64);
    rates.sum::<f64>() / 8.0 * limit.as_secs_f64()
}

/// The mean number of links between the hosts of a flow, weighted by bytes.
fn path_length(plan: &Plan) -> f64 {
    let (fabric, flows) = (&plan.fabric, &plan.traffic.flows);
    let (mut links, mut bytes) = (0.0, 0.0);
    let most = (LOOKS / fabric.links().len().max(1)).clamp(16, PATHS);
    for at in 0..flows.len().min(most) as u64 {
        // Flows of a collective are in rounds: every nth of them may have the same hosts.
        let drawn = (u128::from(at.wrapping_mul(GOLDEN)) * flows.len() as u128) >> 64;
        let flow = if flows.len() <= most { &flows[at as usize] } else { &flows[drawn as usize] };
        let [from, to] = [flow.src, flow.dst].map(|host| fabric.host_node(host));
        if let Some(length) = distance(fabric, from, to) {
            links += length as f64 * flow.bytes as f64;
            bytes += flow.bytes as f64;
        }
    }
    if bytes > 0.0 { links / bytes } else { 0.0 }
}

/// The number of links on a shortest path.
fn distance(fabric: &Fabric, from: NodeId, to: NodeId) -> Option<u32> {
    let mut seen = vec![false; fabric.nodes().len()];
    let mut next = VecDeque::from([(from, 0)]);
    seen[from.index()] = true;
    while let Some((node, length)) = next.pop_front() {
        if node == to {
            return Some(length);
        }
        if fabric.node(node).is_host() && node != from {
            continue;
        }
        for &port in fabric.ports(node) {
            let end = fabric.link(port).to;
            if fabric.link(port).up && !std::mem::replace(&mut seen[end.index()], true) {
                next.push_back((end, length + 1));
            }
        }
    }
    None
}

/// The first moments of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Trial {
    /// Packet-hops simulated.
    pub packet_hops: u64,
    /// Wall-clock seconds that they took, without the setup.
    pub seconds: f64,
    /// Wall-clock seconds of the setup, before the first packet.
    pub setup_seconds: f64,
    /// The most memory that the run took, without its plan.
    pub memory_bytes: u64,
}

/// Carries out the first moments of a run: `seconds` of wall-clock time after its first packet, on one thread, with its
/// results in a temporary directory. `None` if the scheme or the congestion controller is one of a plugin, or nothing can be
/// written.
pub fn trial(plan: &Plan, seconds: f64) -> Option<Trial> {
    let (progress, before) = (Progress::default(), Memory::mark());
    let started = Instant::now();
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            let mut results = ResultWriter::create(&env::temp_dir().join("weft-trial"), plan).ok()?;
            run_with(plan, 1, &progress, &mut results).ok()
        });
        let mut setup = None;
        while !run.is_finished() {
            thread::sleep(TICK);
            if setup.is_none() && progress.packet_hops.load(Ordering::Relaxed) > 0 {
                setup = Some(started.elapsed());
            }
            if setup.is_some_and(|setup| (started.elapsed() - setup).as_secs_f64() > seconds) {
                break;
            }
        }
        let elapsed = started.elapsed();
        progress.stop.store(true, Ordering::Relaxed);
        let report = run.join().ok()??;
        let setup = setup.unwrap_or_default();
        Some(Trial {
            packet_hops: report.counters.packet_hops,
            seconds: (elapsed - setup).as_secs_f64(),
            setup_seconds: setup.as_secs_f64(),
            memory_bytes: before.peak_since(),
        })
    })
}
