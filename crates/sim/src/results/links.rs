//! The links of a run in `summary.json`: written one by one, as a large fabric has many.

use serde::{Serialize, Serializer};
use weft_fabric::Fabric;
use weft_units::Duration;

use super::account::{Account, LinkAccount, LinkCounts};

/// The links of a run, in the fabric's order.
pub(super) struct Links<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// The totals of the run.
    pub account: &'a Account,
}

impl Serialize for Links<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.account.links.iter().map(|link| self.entry(link)))
    }
}

impl<'a> Links<'a> {
    fn entry(&self, account: &LinkAccount) -> LinkEntry<'a> {
        let (link, (from, to)) = (self.fabric.link(account.id), self.account.window);
        let span = to.saturating_since(from).max(Duration::PICOSECOND);
        let capacity = link.rate.bps() as f64 / 8.0 * span.as_secs_f64();
        let LinkCounts {
            bytes,
            window_bytes,
            packets,
            drops,
            marks,
            max_queue_bytes,
            broadcasts,
            broadcast_bytes,
            explorations,
            exploration_bytes,
            trimmed,
            pause_frames,
            paused_ps,
        } = account.counts;
        LinkEntry {
            broadcast_bytes,
            broadcasts,
            bytes,
            delay_ps: link.delay.ps(),
            drops,
            exploration_bytes,
            explorations,
            from: &self.fabric.node(link.from).name,
            marks,
            max_queue_bytes,
            packets,
            pause_frames,
            paused_ps,
            rate_bps: link.rate.bps(),
            to: &self.fabric.node(link.to).name,
            trimmed,
            up: account.up,
            utilisation: window_bytes.map(|bytes| bytes as f64 / capacity),
            window_bytes,
        }
    }
}

/// A link in `summary.json`. Its keys are in alphabetical order, as in all objects of the file.
#[derive(Serialize)]
struct LinkEntry<'a> {
    broadcast_bytes: Option<u64>,
    broadcasts: Option<u64>,
    bytes: Option<u64>,
    delay_ps: u64,
    drops: Option<u64>,
    exploration_bytes: Option<u64>,
    explorations: Option<u64>,
    from: &'a str,
    marks: Option<u64>,
    max_queue_bytes: Option<u64>,
    packets: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pause_frames: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_ps: Option<u64>,
    rate_bps: u64,
    to: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trimmed: Option<u64>,
    up: bool,
    utilisation: Option<f64>,
    window_bytes: Option<u64>,
}
