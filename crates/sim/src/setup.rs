//! The inputs of one run, and its progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use weft_fabric::{Fabric, Interfaces};
use weft_switching::Forwarding;
use weft_traffic::{Connections, Dependencies, Flow, InterfaceRule, Jobs, Parts};
use weft_transport::Protocol;
use weft_units::{Duration, LinkId, Rate, Time};

use crate::fault::Fault;
use crate::loads::Loads;
use crate::probe::Probe;

/// The inputs of one run.
pub struct Setup<'a> {
    /// The network.
    pub fabric: &'a Fabric,
    /// The flows, in order of start time; of those that wait for others, the earliest.
    pub flows: &'a [Flow],
    /// Dependencies between flows.
    pub dependencies: &'a Dependencies,
    /// Flows that complete together.
    pub jobs: &'a Jobs,
    /// Flows that share connections.
    pub connections: &'a Connections,
    /// Flows that are sent in parts.
    pub parts: &'a Parts,
    /// Whether the times of their parts are recorded.
    pub ring_steps: bool,
    /// The number of traffic classes.
    pub classes: usize,
    /// The hosts' transport protocol.
    pub transport: &'a Protocol,
    /// The seed of the run.
    pub seed: u64,
    /// How flows choose interfaces at hosts with several.
    pub interfaces: InterfaceRule,
    /// Whether hosts know all addresses and switches all stations from the start.
    pub warm: bool,
    /// The latest time at which the run ends.
    pub limit: Time,
    /// The measurement window, over which link utilisation is averaged.
    pub window: (Time, Time),
    /// The probe's metrics and sampling interval.
    pub probe: Probe,
    /// Failures, restorations and changes of links, in order of time.
    pub faults: &'a [Fault],
    /// Time from a change of a link's state or rate until computed routes take it into account.
    pub reaction: Duration,
    /// The number of threads; the results do not depend on it.
    pub threads: usize,
    /// Whether switches handle their arrivals in rounds if the run could have several threads and
    /// [`are_possible`](crate::rounds::are_possible); by default if [`are_faster`](crate::rounds::are_faster). The results
    /// do not depend on it.
    pub rounds: Option<bool>,
    /// Whether the threads that help rest in every other window, as they may on a busy machine. The results do not depend on it.
    pub rests: bool,
}

impl Setup<'_> {
    /// The routes over the links that are up when the run starts.
    pub fn routes(&self) -> Arc<Forwarding> {
        let link = |id| self.fabric.link(id);
        self.routes_over(|id| link(id).up, |id| link(id).rate)
    }

    /// The routes over the links that are `up`, which have these rates; if flows choose interfaces, also to their addresses.
    pub fn routes_over(&self, up: impl Fn(LinkId) -> bool, rate: impl Fn(LinkId) -> Rate) -> Arc<Forwarding> {
        let chooses = self.interfaces != InterfaceRule::Hash;
        let interfaces = chooses.then(|| Arc::new(Interfaces::of(self.fabric)));
        Arc::new(Forwarding::with_interfaces(self.fabric, interfaces, up, rate))
    }
}

/// Progress of a run, and the flag to stop it.
#[derive(Default)]
pub struct Progress {
    /// Simulated time reached, in picoseconds.
    pub time_ps: AtomicU64,
    /// Packet-hops done.
    pub packet_hops: AtomicU64,
    /// Packets with data that reached the destinations of their flows.
    pub data_packets: AtomicU64,
    /// Flows finished.
    pub flows: AtomicU64,
    /// Set to make the run stop soon.
    pub stop: AtomicBool,
    /// CPU time of the threads that help the caller's, in nanoseconds.
    pub helpers_ns: AtomicU64,
    /// If present, the events of each window are counted in it.
    pub loads: Option<Mutex<Loads>>,
    /// The reason why the run has one thread although more were requested.
    pub alone: OnceLock<String>,
}

impl Progress {
    /// CPU time in seconds of the threads that help the caller's.
    pub fn helped_seconds(&self) -> f64 {
        self.helpers_ns.load(Ordering::Relaxed) as f64 * 1e-9
    }
}
