//! The probe: samples of links, queues, classes and tables at a fixed interval.
//!
//! Zero rows of links and switches are left out; a link without a row at a sampling time was idle and
//! empty.

use weft_fabric::Fabric;
use weft_switching::TableEntries;
use weft_units::{Bytes, Duration, LinkId, NodeId, Time};

use crate::line::LinkCounters;
use crate::record::Recorder;
use crate::sample::{Metric, Sample};

/// The probe of one run.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    interval: Option<Duration>,
    links: Vec<LinkId>,
    switches: bool,
    wire_bytes: Vec<u64>,
    drops: Vec<u64>,
    class_bytes: Vec<u64>,
}

impl Probe {
    /// A probe that samples `links` every `interval`, and with `switches` also switch tables. `None`:
    /// no samples.
    pub fn new(interval: Option<Duration>, links: Vec<LinkId>, switches: bool) -> Self {
        let interval = interval.filter(|interval| *interval > Duration::ZERO);
        let count = links.len();
        Self {
            interval,
            links,
            switches,
            wire_bytes: vec![0; count],
            drops: vec![0; count],
            class_bytes: Vec::new(),
        }
    }

    /// When the first sample is due.
    pub fn start(&self) -> Option<Time> {
        self.interval.map(|interval| Time::ZERO + interval)
    }

    /// Whether switch tables are sampled.
    pub const fn samples_switches(&self) -> bool {
        self.switches
    }

    /// Samples one switch's tables.
    pub fn sample_switch(
        &self,
        time: Time,
        node: NodeId,
        entries: TableEntries,
        recorder: &mut dyn Recorder,
    ) {
        let rows = [
            (Metric::FlowEntries, entries.flows),
            (Metric::StationEntries, entries.stations),
            (Metric::GroupEntries, entries.groups),
        ];
        for (metric, count) in rows.into_iter().filter(|(_, count)| *count > 0) {
            recorder.sample(&Sample { time, metric, entity: node.0, value: count as f64 });
        }
    }

    /// Takes the samples that are due now; returns when the next are.
    ///
    /// `state` returns a link's counters, and the bytes and packets that wait there. `class_bytes` are the bytes
    /// delivered to applications so far, by class.
    pub fn sample(
        &mut self,
        fabric: &Fabric,
        time: Time,
        state: impl Fn(LinkId) -> (LinkCounters, (Bytes, u32)),
        class_bytes: &[u64],
        active_flows: u64,
        recorder: &mut dyn Recorder,
    ) -> Time {
        let interval = self.interval.unwrap_or(Duration::MAX);
        let seconds = interval.as_secs_f64();
        let mut row = |metric, entity, value| recorder.sample(&Sample { time, metric, entity, value });
        for (at, &id) in self.links.iter().enumerate() {
            let entity = id.0;
            let (counters, (bytes, packets)) = state(id);
            // A switch's copies leave a picosecond apart. The rest of one that begins just after the sample, rounded up to
            // a byte, is more than its length.
            let left = counters.wire_bytes.max(self.wire_bytes[at]);
            let sent = left - self.wire_bytes[at];
            let dropped = counters.drops - self.drops[at];
            self.wire_bytes[at] = left;
            self.drops[at] = counters.drops;
            if sent > 0 {
                // May exceed 1 slightly: the rest of the packet on the line is rounded to a byte.
                let share = sent as f64 * 8.0 / (fabric.link(id).rate.bps() as f64 * seconds);
                row(Metric::LinkUtilisation, entity, share.min(1.0));
            }
            if dropped > 0 {
                row(Metric::Drops, entity, dropped as f64);
            }
            if bytes.0 > 0 {
                row(Metric::QueueBytes, entity, bytes.0 as f64);
                row(Metric::QueuePackets, entity, f64::from(packets));
            }
        }
        self.class_bytes.resize(class_bytes.len(), 0);
        for (class, (&now, before)) in class_bytes.iter().zip(&mut self.class_bytes).enumerate() {
            // The bytes of an aborted flow are no longer counted.
            row(Metric::Throughput, class as u32, now.saturating_sub(*before) as f64 * 8.0 / seconds);
            *before = now;
        }
        row(Metric::ActiveFlows, 0, active_flows as f64);
        time + interval
    }
}
