//! [`Report`]: what was measured, as JSON.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::connections::Failures;
use crate::counts::Counts;

/// Latencies, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latency {
    /// How many were measured.
    pub count: u64,
    /// Half of them took no longer.
    pub p50: f64,
    /// 90 of 100 took no longer.
    pub p90: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    /// 999 of 1000 took no longer.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl Latency {
    /// Of a histogram of nanoseconds; `None` if it is empty.
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
    /// The connections alive by then.
    pub alive: u64,
    /// The memory of its process that was there, in bytes.
    pub bytes: u64,
}

/// What the controller's process used while connections were opened.
#[derive(Clone, Debug, Serialize)]
pub struct Controller {
    /// Seconds of a core, its own.
    pub user_s: f64,
    /// Seconds of a core that the kernel worked for it.
    pub system_s: f64,
    /// The share of one core's time.
    pub share_of_a_core: f64,
    /// Its memory before the first connection, then after every tenth of them.
    pub memory: Vec<Memory>,
}

/// The switches and hosts.
#[derive(Clone, Debug, Serialize)]
pub struct Fabric {
    /// What it is called.
    pub name: String,
    /// Switches.
    pub switches: usize,
    /// Cables between them.
    pub cables: usize,
    /// Hosts.
    pub hosts: usize,
}

/// What became of connections.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Became {
    /// How many were opened.
    pub opened: u64,
    /// How many got all of their subflows.
    pub completed: u64,
    /// How many did not in time.
    pub failed: u64,
    /// How many were there at the end.
    pub alive: u64,
}

/// The latencies of each kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latencies {
    /// From the first packet-in of a SYN that opens a connection until its server has it.
    pub connection_syn: Option<Latency>,
    /// Likewise, of SYNs that join one.
    pub join_syn: Option<Latency>,
    /// From the first SYN until all subflows are established.
    pub connection: Option<Latency>,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Between which switches and hosts.
    pub fabric: Fabric,
    /// Subflows a connection.
    pub subflows: usize,
    /// From the first connection that counts to the last that was complete, in seconds.
    pub seconds: f64,
    /// What became of connections.
    pub connections: Became,
    /// Those completed a second.
    pub per_second: f64,
    /// The latencies, in milliseconds.
    pub latency_ms: Latencies,
    /// SYNs that came to their server without a question to the controller.
    pub unasked_syns: u64,
    /// The mean number of different paths that a complete connection's subflows took.
    pub distinct_paths: f64,
    /// What went wrong.
    pub failures: Failures,
    /// Messages and frames.
    pub messages: Counts,
    /// Messages of the controller, read and written, without LLDP: for each complete connection.
    pub messages_per_connection: f64,
    /// The same a second.
    pub messages_per_second: f64,
    /// Rules of all switches at the end.
    pub rules: usize,
    /// Of the switch that has most.
    pub most_rules: usize,
    /// The longest that an opening was late in an open loop, in milliseconds.
    pub late_ms: f64,
    /// The share of a core that this process used.
    pub emulator_share_of_a_core: f64,
    /// What the controller used, where its process is known.
    pub controller: Option<Controller>,
}
