//! [`Report`]: the results, as JSON.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::connections::Failures;
use crate::counts::Counts;

/// Latencies, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latency {
    /// The number of samples.
    pub count: u64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The maximum.
    pub max: f64,
}

impl Latency {
    /// The percentiles of a histogram of nanoseconds; `None` if it is empty.
    pub fn of(histogram: &Histogram<u64>) -> Option<Self> {
        let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e6;
        (!histogram.is_empty()).then(|| Self {
            count: histogram.len(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max() as f64 / 1e6,
        })
    }
}

/// The controller's memory at one time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Memory {
    /// Connections alive at that time.
    pub alive: u64,
    /// Resident memory of its process, in bytes.
    pub bytes: u64,
}

/// Resource usage of the controller's process while connections were opened.
#[derive(Clone, Debug, Serialize)]
pub struct Controller {
    /// CPU time in user mode, in seconds.
    pub user_s: f64,
    /// CPU time in kernel mode, in seconds.
    pub system_s: f64,
    /// CPU time as a fraction of one core.
    pub share_of_a_core: f64,
    /// Memory before the first connection and after each 10 % of connections.
    pub memory: Vec<Memory>,
}

/// The switches and hosts.
#[derive(Clone, Debug, Serialize)]
pub struct Fabric {
    /// Its name.
    pub name: String,
    /// Switches.
    pub switches: usize,
    /// Links between them.
    pub cables: usize,
    /// Hosts.
    pub hosts: usize,
}

/// Connection counts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ConnectionCounts {
    /// Connections opened.
    pub opened: u64,
    /// Connections that got all of their subflows.
    pub completed: u64,
    /// Connections that timed out.
    pub failed: u64,
    /// Connections alive at the end.
    pub alive: u64,
}

/// Latencies by kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latencies {
    /// From the first packet-in of a connection's first SYN to its arrival at the server.
    pub connection_syn: Option<Latency>,
    /// From the first packet-in of a SYN with MP_JOIN to its arrival at the server.
    pub join_syn: Option<Latency>,
    /// From the first SYN until all subflows are established.
    pub connection: Option<Latency>,
}

/// The results of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The switches and hosts.
    pub fabric: Fabric,
    /// Subflows per connection.
    pub subflows: usize,
    /// Time from the opening of the first measured connection to the last completion, in seconds.
    pub seconds: f64,
    /// Connection counts.
    pub connections: ConnectionCounts,
    /// Completed connections per second.
    pub per_second: f64,
    /// The latencies, in milliseconds.
    pub latency_ms: Latencies,
    /// SYNs that reached their server without a packet-in.
    pub unasked_syns: u64,
    /// Mean number of distinct paths per complete connection.
    pub distinct_paths: f64,
    /// Causes of failures.
    pub failures: Failures,
    /// Message and frame counters.
    pub messages: Counts,
    /// Messages read and written by the controller, without LLDP, per complete connection.
    pub messages_per_connection: f64,
    /// Messages read and written by the controller, without LLDP, per second.
    pub messages_per_second: f64,
    /// Total rules on all switches at the end.
    pub rules: usize,
    /// Rules on the switch with the most.
    pub most_rules: usize,
    /// Maximum lateness of an opening in an open loop, in milliseconds.
    pub late_ms: f64,
    /// CPU time of this process as a fraction of one core.
    pub emulator_share_of_a_core: f64,
    /// Resource usage of the controller, if its process is known.
    pub controller: Option<Controller>,
}
