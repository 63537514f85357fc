//! [`Account`]: the totals of a run, simulated or emulated.

use std::collections::BTreeMap;

use serde::Deserialize;
use weft_switching::DropReason;
use weft_units::{LinkId, Time};

use crate::deadlock::Deadlock;
use crate::record::{ControllerReport, EventReport, JobReport, LinkReport, MultipathReport, RunReport};

/// A run as a whole. A simulation fills in everything; values unknown to an emulation are `None`.
#[derive(Clone, Debug)]
pub struct Account {
    /// When it ended.
    pub end: Time,
    /// The measurement window, or in an emulation the times at which the links were read.
    pub window: (Time, Time),
    /// Flows started.
    pub flows_started: u64,
    /// Flows finished.
    pub flows_finished: u64,
    /// Sums over all packets.
    pub packets: Packets,
    /// Every link, in the fabric's order.
    pub links: Vec<LinkAccount>,
    /// Every event that happened, in order of time.
    pub events: Vec<EventAccount>,
    /// Counters of the central controller, if there was one.
    pub controller: Option<ControllerReport>,
    /// Multipath TCP counters, if simulated hosts used it.
    pub multipath: Option<MultipathReport>,
    /// The first deadlock of simulated flow control that was found.
    pub deadlock: Option<Deadlock>,
    /// The jobs of the traffic, in order; none in an emulation.
    pub jobs: Vec<JobReport>,
    /// Values that only an emulation has.
    pub emulated: Option<serde_json::Value>,
}

/// Sums over all packets; see [`Counters`](crate::record::Counters).
#[derive(Clone, Debug, Default)]
pub struct Packets {
    /// Packets sent by hosts.
    pub sent: Option<u64>,
    /// Copies that switches made of them for flooding.
    pub copied: Option<u64>,
    /// Frames originated by switches.
    pub of_switches: Option<u64>,
    /// Packets that reached their host, and frames of switches that reached their switch.
    pub delivered: Option<u64>,
    /// Packets dropped, by reason; reasons without drops are left out.
    pub dropped: BTreeMap<String, u64>,
    /// Packets still in flight at the end.
    pub in_flight: Option<u64>,
    /// Packets that crossed a link.
    pub hops: Option<u64>,
    /// Events of the simulator.
    pub events: Option<u64>,
}

/// One link over a run.
#[derive(Clone, Debug)]
pub struct LinkAccount {
    /// The link's ID.
    pub id: LinkId,
    /// Its counters.
    pub counts: LinkCounts,
    /// Whether it was up at the end.
    pub up: bool,
}

/// Counters of one direction of a link.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct LinkCounts {
    /// Bytes sent, as on the wire.
    pub bytes: Option<u64>,
    /// Bytes sent within the measurement window.
    pub window_bytes: Option<u64>,
    /// Packets accepted by its queue.
    pub packets: Option<u64>,
    /// Packets dropped at its queue.
    pub drops: Option<u64>,
    /// Packets marked for congestion.
    pub marks: Option<u64>,
    /// The longest queue that a packet found.
    pub max_queue_bytes: Option<u64>,
    /// Broadcast frames of hosts.
    pub broadcasts: Option<u64>,
    /// Their bytes on the wire.
    pub broadcast_bytes: Option<u64>,
    /// Exploration frames of switches.
    pub explorations: Option<u64>,
    /// Their bytes on the wire.
    pub exploration_bytes: Option<u64>,
    /// Packets that its port cut to their headers, if it may.
    pub trimmed: Option<u64>,
    /// Pause frames sent over it, in a fabric with flow control.
    pub pause_frames: Option<u64>,
    /// Picoseconds for which a queue of its port was paused.
    pub paused_ps: Option<u64>,
}

/// An event, and its cost if known.
#[derive(Clone, Copy, Debug)]
pub struct EventAccount {
    /// When it happened.
    pub at: Time,
    /// Its cost.
    pub cost: Option<EventReport>,
}

impl From<&RunReport> for Account {
    fn from(report: &RunReport) -> Self {
        let counters = &report.counters;
        let dropped = DropReason::ALL.iter().map(|reason| {
            let count = counters.packets_dropped[*reason as usize];
            (reason.name().to_owned(), count)
        });
        Self {
            end: report.end,
            window: report.window,
            flows_started: report.flows_started,
            flows_finished: report.flows_finished,
            packets: Packets {
                sent: Some(counters.packets_sent),
                copied: Some(counters.packets_copied),
                of_switches: Some(counters.packets_of_switches),
                delivered: Some(counters.packets_delivered),
                dropped: dropped.filter(|(_, count)| *count > 0).collect(),
                in_flight: Some(counters.packets_in_flight),
                hops: Some(counters.packet_hops),
                events: Some(counters.events),
            },
            links: report.links.iter().map(LinkAccount::from).collect(),
            events: report
                .events
                .iter()
                .map(|cost| EventAccount { at: cost.at, cost: Some(*cost) })
                .collect(),
            controller: report.controller.clone(),
            multipath: report.multipath,
            deadlock: report.deadlock.clone(),
            jobs: report.jobs.clone(),
            emulated: None,
        }
    }
}

impl From<&LinkReport> for LinkAccount {
    fn from(report: &LinkReport) -> Self {
        Self {
            id: report.id,
            counts: LinkCounts {
                bytes: Some(report.counters.wire_bytes),
                window_bytes: Some(report.window_bytes),
                packets: Some(report.counters.packets),
                drops: Some(report.counters.drops),
                marks: Some(report.counters.marks),
                max_queue_bytes: Some(report.counters.max_backlog.0),
                broadcasts: Some(report.floods.broadcasts),
                broadcast_bytes: Some(report.floods.broadcast_bytes),
                explorations: Some(report.floods.explorations),
                exploration_bytes: Some(report.floods.exploration_bytes),
                trimmed: report.port.map(|port| port.trimmed),
                pause_frames: report.port.map(|port| port.pause_frames),
                paused_ps: report.port.map(|port| port.paused.ps()),
            },
            up: report.up,
        }
    }
}
