//! [`Config`]: the parameters of multipath connections, derived once per run from [TCP's](crate::Config).

use weft_units::Bytes;
use weft_wire::mptcp::Version;

use crate::config::{self, Mptcp, MptcpScheduler};
use crate::congestion::MptcpCongestion;
use crate::segment::{LARGEST_WINDOW, window};

/// The parameters of a multipath connection and of its subflows.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// For a connection that falls back to TCP.
    pub(crate) plain: config::Config,
    /// For subflows: segments with room for a mapping, and windows that never limit, since the connection's do.
    pub(crate) subflow: config::Config,
}

impl Config {
    /// The parameters derived from `plain`; `None` if Multipath TCP is off.
    pub fn new(plain: &config::Config) -> Option<Self> {
        if plain.mptcp == Mptcp::Off {
            return None;
        }
        let mut cfg = Self { plain: plain.clone(), subflow: plain.clone() };
        // Data reinjected elsewhere leaves a hole on a subflow while the connection advances, so more than the
        // connection's window may be outstanding on one subflow.
        let window = Bytes(window(plain.receive_buffer.0.saturating_mul(4)).into());
        cfg.subflow.mss = plain.mss.saturating_sub(u16::from(cfg.mapping_bytes())).max(1);
        cfg.subflow.receive_buffer = window;
        cfg.subflow.initial_receive_window = window;
        cfg.subflow.send_buffer = Bytes(LARGEST_WINDOW.into());
        cfg.subflow.nagle = false;
        Some(cfg)
    }

    /// The parameters of a connection that falls back to TCP.
    pub fn plain(&self) -> &config::Config {
        &self.plain
    }

    /// The parameters of each subflow.
    pub fn subflow(&self) -> &config::Config {
        &self.subflow
    }

    pub(crate) fn version(&self) -> Version {
        if self.plain.mptcp_version == 0 { Version::V0 } else { Version::V1 }
    }

    pub(crate) fn scheduler(&self) -> MptcpScheduler {
        self.plain.mptcp_scheduler
    }

    pub(crate) fn congestion(&self) -> MptcpCongestion {
        self.plain.mptcp_congestion
    }

    /// The window of a subflow, in both directions.
    pub(crate) fn subflow_window(&self) -> u32 {
        self.subflow.receive_buffer.0 as u32
    }

    /// Bytes of a DSS with a mapping: in version 1 with 64-bit numbers, as in Linux; in version 0 with 32-bit numbers
    /// and a checksum, as in the multipath-tcp.org implementation.
    pub(crate) fn mapping_bytes(&self) -> u8 {
        if self.version() == Version::V0 { 20 } else { 28 }
    }

    /// Bytes of a DSS with only a data acknowledgment.
    pub(crate) fn data_ack_bytes(&self) -> u8 {
        if self.version() == Version::V0 { 8 } else { 12 }
    }
}
