//! The output of a run: flows as they finish, samples as they are taken, sums at the end.

use serde::Serialize;
use weft_switching::{DropReason, Header};
use weft_transport::mptcp::Stats;
use weft_units::{Duration, LinkId, NodeId, Time};

use crate::columns::FlowRecord;
use crate::deadlock::Deadlock;
use crate::jobs::{PathRecord, PathSums, RankRecord, RankSums, RingStepRecord, WorkRecord};
use crate::line::LinkCounters;
use crate::sample::Sample;
use crate::served_port::PortCounters;
use crate::trace::TraceEvent;

/// Receives the output of a run, in order of simulated time.
pub trait Recorder {
    /// A flow ended, or the run ended with the flow unfinished.
    fn flow(&mut self, record: &FlowRecord);
    /// A sample.
    fn sample(&mut self, sample: &Sample);

    /// A step of a processor that began. They come at the end of the run, in the order of their numbers.
    fn work(&mut self, _record: &WorkRecord) {}

    /// A rank of a job that was completed. They come at the end of the run, by job.
    fn rank(&mut self, _record: &RankRecord) {}

    /// A step of a ring in parts. They come at the end of the run, by flow, in order of time.
    fn ring_step(&mut self, _record: &RingStepRecord) {}

    /// A part of the critical path of such a job, in order of time.
    fn part(&mut self, _record: &PathRecord) {}

    /// Whether the recorder receives trace events; if not, tracing costs nothing.
    fn traces(&self) -> bool {
        false
    }

    /// An event of a frame, a link or a table.
    fn trace(&mut self, _time: Time, _event: TraceEvent) {}

    /// The header of the flow whose switch table entries are traced.
    fn followed(&self) -> Option<Header> {
        None
    }
}

/// A recorder that keeps nothing.
pub(crate) struct Unrecorded;

impl Recorder for Unrecorded {
    fn flow(&mut self, _: &FlowRecord) {}

    fn sample(&mut self, _: &Sample) {}
}

/// A recorder that keeps everything in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryRecorder {
    /// The flows, in the order in which they ended.
    pub flows: Vec<FlowRecord>,
    /// The samples, in order of time.
    pub samples: Vec<Sample>,
    /// The steps of processors.
    pub works: Vec<WorkRecord>,
    /// The ranks of jobs.
    pub ranks: Vec<RankRecord>,
    /// The critical paths of jobs.
    pub parts: Vec<PathRecord>,
    /// The steps of rings in parts.
    pub ring_steps: Vec<RingStepRecord>,
}

impl Recorder for MemoryRecorder {
    fn flow(&mut self, record: &FlowRecord) {
        self.flows.push(record.clone());
    }

    fn sample(&mut self, sample: &Sample) {
        self.samples.push(*sample);
    }

    fn work(&mut self, record: &WorkRecord) {
        self.works.push(*record);
    }

    fn rank(&mut self, record: &RankRecord) {
        self.ranks.push(*record);
    }

    fn part(&mut self, record: &PathRecord) {
        self.parts.push(*record);
    }

    fn ring_step(&mut self, record: &RingStepRecord) {
        self.ring_steps.push(*record);
    }
}

/// Sums over a run.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Packets sent by hosts.
    pub packets_sent: u64,
    /// Copies that switches made of them for flooding.
    pub packets_copied: u64,
    /// Frames originated by switches.
    pub packets_of_switches: u64,
    /// Packets that reached their host, and frames of switches that reached their switch.
    pub packets_delivered: u64,
    /// Packets dropped, by reason.
    pub packets_dropped: [u64; DropReason::ALL.len()],
    /// Packets still in flight at the end.
    pub packets_in_flight: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Packets with data that reached the destinations of their flows, those sent again too.
    pub data_packets: u64,
    /// Events handled.
    pub events: u64,
}

impl Counters {
    /// Counts a drop.
    pub fn count_drop(&mut self, reason: DropReason) {
        self.packets_dropped[reason as usize] += 1;
    }

    /// The events of a partition, packet-hops included.
    pub const fn all_events(&self) -> u64 {
        self.events + self.packet_hops
    }

    /// Adds the sums of a partition, whose events are those without packet-hops.
    pub fn add(&mut self, other: &Self) {
        self.packets_sent += other.packets_sent;
        self.packets_copied += other.packets_copied;
        self.packets_of_switches += other.packets_of_switches;
        self.packets_delivered += other.packets_delivered;
        for (sum, more) in self.packets_dropped.iter_mut().zip(other.packets_dropped) {
            *sum += more;
        }
        self.packets_in_flight += other.packets_in_flight;
        self.packet_hops += other.packet_hops;
        self.data_packets += other.data_packets;
        self.events += other.events + other.packet_hops;
    }

    /// Whether every packet is accounted for: sent + copied + originated = delivered + dropped + in flight.
    pub fn is_conserved(&self) -> bool {
        let ended = self.packets_delivered + self.packets_dropped.iter().sum::<u64>();
        self.packets_sent + self.packets_copied + self.packets_of_switches == ended + self.packets_in_flight
    }
}

/// Flooded frames that reached the end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FloodCounters {
    /// Group-addressed frames other than Hello messages, mostly ARP Requests.
    pub broadcasts: u64,
    /// Their bytes on the wire.
    pub broadcast_bytes: u64,
    /// Exploration frames of switches, and Path Fail frames flooded to find the edge switch.
    pub explorations: u64,
    /// Their bytes on the wire.
    pub exploration_bytes: u64,
}

/// The cost of an event until the fabric recovered, or the next event happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventReport {
    /// When it happened.
    pub at: Time,
    /// Flow frames lost to it: on links that went down, or for want of a path. Losses to full queues do
    /// not count.
    pub frames_lost: u64,
    /// Flows that lost frames.
    pub flows_hit: u64,
    /// When the last frame was lost.
    pub last_loss: Option<Time>,
    /// Flows whose path crossed a link that went down.
    pub paths_broken: u64,
    /// Time from the event until switches gave such a flow another path.
    pub recovered: Times,
    /// Time from the event until such a flow's data arrived again, over any path.
    pub resumed: Times,
}

/// The count, mean and maximum of durations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// The number of durations.
    pub count: u64,
    sum: Duration,
    longest: Duration,
}

impl Times {
    /// Adds a duration.
    pub fn add(&mut self, took: Duration) {
        self.count += 1;
        self.sum += took;
        self.longest = self.longest.max(took);
    }

    /// The mean, if there are any.
    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| self.sum / self.count)
    }

    /// The longest, if there are any.
    pub fn longest(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.longest)
    }
}

impl EventReport {
    /// An event at `at` that has cost nothing yet.
    pub fn new(at: Time) -> Self {
        Self {
            at,
            frames_lost: 0,
            flows_hit: 0,
            last_loss: None,
            paths_broken: 0,
            recovered: Times::default(),
            resumed: Times::default(),
        }
    }

    /// Time from the event to the last frame lost to it.
    pub fn recovery(&self) -> Option<Duration> {
        self.last_loss.map(|last| last.saturating_since(self.at))
    }
}

/// One link over a run.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// The link's ID.
    pub id: LinkId,
    /// Counters.
    pub counters: LinkCounters,
    /// Counters of a port that may cut packets, and of every port in a fabric with flow control.
    pub port: Option<PortCounters>,
    /// Bytes sent within the measurement window.
    pub window_bytes: u64,
    /// Its flooded frames.
    pub floods: FloodCounters,
    /// Whether it was up at the end.
    pub up: bool,
}

/// The switch to which a controller sent most rules because of flows or events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Busiest {
    /// The switch.
    pub switch: NodeId,
    /// Rules sent to it after the start.
    pub rules: u64,
    /// The time that it takes for each.
    pub latency: Duration,
}

/// Counters of the central controller.
#[derive(Clone, Debug)]
pub struct ControllerReport {
    /// Frames that switches sent to it.
    pub packet_ins: u64,
    /// Rules that it sent, including those installed at the start.
    pub rules: u64,
    /// The switch that had to install most of those sent after the start.
    pub busiest: Option<Busiest>,
    /// Setup time of each path, from sending its first frame to the controller to the last switch's confirmation;
    /// in order of time.
    pub setups: Vec<Duration>,
    /// The controller's own counters.
    pub counters: Vec<(&'static str, u64)>,
}

/// Multipath TCP counters: sums over both sides of all connections of a run, including those still active at the
/// end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct MultipathReport {
    /// Connections opened.
    pub connections: u64,
    /// Subflows established, as counted by the flows' sources.
    pub subflows: u64,
    /// Joins that a host refused.
    pub joins_refused: u64,
    /// Number of times a subflow became stale.
    pub stale: u64,
    /// Bytes of data reinjected on another subflow.
    pub reinjected_bytes: u64,
    /// Pieces of data that arrived out of order for the connection, in order on their own subflow.
    pub out_of_order: u64,
    /// Bytes of data that arrived twice, on two subflows.
    pub duplicate_bytes: u64,
}

impl MultipathReport {
    /// Adds a connection with the counts of its source and its destination.
    pub fn add(&mut self, source: &Stats, destination: &Stats) {
        self.connections += 1;
        self.subflows += u64::from(source.subflows);
        for side in [source, destination] {
            self.joins_refused += u64::from(side.refused);
            self.stale += u64::from(side.stale);
            self.reinjected_bytes += side.reinjected;
            self.out_of_order += u64::from(side.out_of_order);
            self.duplicate_bytes += side.duplicate;
        }
    }
}

/// The flows of a job, so far; at the end of the run, with the steps of its processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JobReport {
    /// When the first flow started, or the first step of a processor had all that it waited for.
    pub start: Option<Time>,
    /// When the last byte of a flow was received, or the last step of a processor ended.
    pub end: Option<Time>,
    /// Flows finished.
    pub finished: u64,
    /// Where its time went, if it was completed.
    pub time: Option<JobTime>,
}

/// Where the time of a job went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobTime {
    /// Its critical path.
    pub path: PathSums,
    /// Its ranks.
    pub ranks: RankSums,
}

impl JobReport {
    /// Adds a flow that started at `start` and, if it finished, ended at `end`.
    pub fn add(&mut self, start: Time, end: Option<Time>) {
        self.start = Some(self.start.map_or(start, |first| first.min(start)));
        self.end = self.end.max(end);
        self.finished += u64::from(end.is_some());
    }
}

/// A run as a whole.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// When it ended, in simulated time.
    pub end: Time,
    /// The measurement window.
    pub window: (Time, Time),
    /// Sums.
    pub counters: Counters,
    /// Flows started.
    pub flows_started: u64,
    /// Flows finished.
    pub flows_finished: u64,
    /// Every link, in the fabric's order.
    pub links: Vec<LinkReport>,
    /// Every event that happened, in order of time.
    pub events: Vec<EventReport>,
    /// Counters of the central controller, if there was one.
    pub controller: Option<ControllerReport>,
    /// Multipath TCP counters, if hosts use it.
    pub multipath: Option<MultipathReport>,
    /// The first deadlock of flow control that was found.
    pub deadlock: Option<Deadlock>,
    /// One entry per job.
    pub jobs: Vec<JobReport>,
    /// Memory of packets, links and connections at the end, in bytes.
    pub state_bytes: u64,
}
