//! What a run reports: flows as they finish, samples as they are taken, sums at the end.

use weft_switching::{DropReason, Header};
use weft_traffic::Flow;
use weft_transport::mptcp::Stats;
use weft_units::{Duration, LinkId, Time};

use crate::link::LinkCounters;
use crate::trace::TraceEvent;

/// Receives what a run reports, in order of simulated time.
pub trait Recorder {
    /// A flow has ended, or the run has with the flow unfinished.
    fn flow(&mut self, record: &FlowRecord);
    /// A sample.
    fn sample(&mut self, sample: &Sample);

    /// Whether it is told of every frame; where it is not, frames cost nothing for it.
    const TRACES: bool = false;

    /// Something became of a frame, a link or a table.
    fn trace(&mut self, _time: Time, _event: TraceEvent<'_>) {}

    /// The header of the flow of which it wants to know what switches keep.
    fn followed(&self) -> Option<Header> {
        None
    }
}

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowRecord {
    /// The flow as it was to be sent.
    pub flow: Flow,
    /// When the receiving application had the last byte.
    pub end: Option<Time>,
    /// The time it would take alone over the paths that there were when it started ([`crate::ideal`]);
    /// zero where there was none.
    pub ideal: Duration,
    /// Links on a shortest path at its start; 0 where there was none.
    pub hops: u32,
    /// Subflows that were established; 1 for a TCP connection.
    pub subflows: u32,
    /// Data segments sent, retransmissions among them.
    pub packets_sent: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// First transmissions that arrived with a sequence number below the highest received.
    pub out_of_order: u64,
    /// First transmissions that arrived.
    pub first_transmissions_received: u64,
    /// Data segments that arrived with a congestion mark.
    pub ecn_marks: u64,
    /// Data segments dropped on the way.
    pub drops: u64,
    /// How long the flow waited until its source knew the destination's address.
    pub resolution: Duration,
    /// From its SYN's entry to the fabric until the reply had come back, where the fabric was explored.
    pub exploration: Option<Duration>,
    /// How often the flow went on over another path.
    pub moves: u32,
    /// The links that its first data segment crossed, or the first after the flow was last moved;
    /// empty where none came through.
    pub path: Vec<LinkId>,
}

/// What a [`Sample`] measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Share of the line's capacity used over the interval; the entity is a link.
    LinkUtilisation,
    /// Bytes waiting at or leaving a link.
    QueueBytes,
    /// Packets waiting at a link.
    QueuePackets,
    /// Packets dropped at a link over the interval.
    Drops,
    /// Bits per second delivered to applications over the interval; the entity is a class.
    Throughput,
    /// Flows begun and not finished; no entity.
    ActiveFlows,
    /// Entries for flows in a switch's tables; the entity is a node.
    FlowEntries,
    /// Entries for stations in a switch's tables; the entity is a node.
    StationEntries,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 8] = [
        Self::LinkUtilisation,
        Self::QueueBytes,
        Self::QueuePackets,
        Self::Drops,
        Self::Throughput,
        Self::ActiveFlows,
        Self::FlowEntries,
        Self::StationEntries,
    ];

    /// The name in `series.parquet`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LinkUtilisation => "link_utilisation",
            Self::QueueBytes => "queue_bytes",
            Self::QueuePackets => "queue_packets",
            Self::Drops => "drops",
            Self::Throughput => "throughput_bps",
            Self::ActiveFlows => "active_flows",
            Self::FlowEntries => "flow_entries",
            Self::StationEntries => "station_entries",
        }
    }
}

/// One measured value.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// What.
    pub metric: Metric,
    /// Of which link, class or node, by number.
    pub entity: u32,
    /// How much.
    pub value: f64,
}

/// Sums over a run.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Packets that hosts sent.
    pub packets_sent: u64,
    /// Copies that switches made of them to flood.
    pub packets_copied: u64,
    /// Frames that switches made of their own.
    pub packets_of_switches: u64,
    /// Packets that reached their host, and frames of switches that reached the switch they were for.
    pub packets_delivered: u64,
    /// Packets dropped, by reason.
    pub packets_dropped: [u64; DropReason::ALL.len()],
    /// Packets still on their way at the end.
    pub packets_in_flight: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
}

impl Counters {
    /// Counts a drop.
    pub fn count_drop(&mut self, reason: DropReason) {
        self.packets_dropped[reason as usize] += 1;
    }

    /// Whether every packet is accounted for: sent, copied and made = delivered + dropped + in flight.
    pub fn is_conserved(&self) -> bool {
        let ended = self.packets_delivered + self.packets_dropped.iter().sum::<u64>();
        self.packets_sent + self.packets_copied + self.packets_of_switches == ended + self.packets_in_flight
    }
}

/// Frames that reached the end of a link and of which switches send copies on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FloodCounters {
    /// Frames of hosts to everyone, ARP Requests above all.
    pub broadcasts: u64,
    /// Their bytes on the wire.
    pub broadcast_bytes: u64,
    /// Frames by which switches explore, or look for who can.
    pub explorations: u64,
    /// Their bytes on the wire.
    pub exploration_bytes: u64,
}

/// What an event cost until the fabric had recovered, or the next event happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventReport {
    /// When it happened.
    pub at: Time,
    /// Frames of flows that were lost to it: on links that went down, or for want of a path. Those
    /// lost to full queues do not count.
    pub frames_lost: u64,
    /// Flows that lost any.
    pub flows_hit: u64,
    /// When the last was lost.
    pub last_loss: Option<Time>,
    /// Flows whose path crossed a link that went down.
    pub paths_broken: u64,
    /// From the event until switches gave them another path, those to which they did.
    pub recovered: Times,
    /// From the event until their data came through again, over whatever path.
    pub resumed: Times,
}

/// How often something happened, and how long it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// How often.
    pub count: u64,
    sum: Duration,
    longest: Duration,
}

impl Times {
    /// It happened once more, and took this long.
    pub fn add(&mut self, took: Duration) {
        self.count += 1;
        self.sum += took;
        self.longest = self.longest.max(took);
    }

    /// The mean, if it ever happened.
    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| self.sum / self.count)
    }

    /// The longest, if it ever happened.
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

    /// From the event until the last frame was lost to it.
    pub fn recovery(&self) -> Option<Duration> {
        self.last_loss.map(|last| last.saturating_since(self.at))
    }
}

/// One link over a run.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// Which.
    pub id: LinkId,
    /// Counters.
    pub counters: LinkCounters,
    /// Bytes that left it within the measurement window.
    pub window_bytes: u64,
    /// Of its frames those that were flooded.
    pub floods: FloodCounters,
    /// Whether it was up at the end.
    pub up: bool,
}

/// What a central controller did.
#[derive(Clone, Debug)]
pub struct ControllerReport {
    /// Frames that switches sent it.
    pub packet_ins: u64,
    /// Rules that it sent, those in place at the start included.
    pub rules: u64,
    /// How long each path took to be set up, from when its first frame left for the controller until the last switch's
    /// confirmation came back; in order of time.
    pub setups: Vec<Duration>,
    /// The controller's own counters.
    pub counters: Vec<(&'static str, u64)>,
}

/// What Multipath TCP did between its subflows: sums over the connections of a run and both their sides, of those that
/// were under way at the end too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MultipathReport {
    /// Connections that were opened.
    pub connections: u64,
    /// Subflows that were established, as the flows' sources count them.
    pub subflows: u64,
    /// Joins that a host refused.
    pub joins_refused: u64,
    /// Times that a subflow became stale.
    pub stale: u64,
    /// Bytes of data that were given to a further subflow.
    pub reinjected_bytes: u64,
    /// Pieces of data that came before what precedes them, in order on their own subflow.
    pub out_of_order: u64,
    /// Bytes of data that came twice, on two subflows.
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

/// A run as a whole.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Whether it was asked to stop before its end.
    pub stopped: bool,
    /// When it ended, in simulated time.
    pub end: Time,
    /// The measurement window.
    pub window: (Time, Time),
    /// Sums.
    pub counters: Counters,
    /// Flows begun.
    pub flows_started: u64,
    /// Flows finished.
    pub flows_finished: u64,
    /// Every link, in the fabric's order.
    pub links: Vec<LinkReport>,
    /// Every event that happened, in order of time.
    pub events: Vec<EventReport>,
    /// What the central controller did, where there was one.
    pub controller: Option<ControllerReport>,
    /// What Multipath TCP did, where hosts speak it.
    pub multipath: Option<MultipathReport>,
    /// Memory of packets, links and connections at the end, in bytes.
    pub state_bytes: u64,
}
