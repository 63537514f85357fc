//! [`Config`]: the parameters of multipath connections, made once a run of the [TCP's](crate::Config).

use weft_units::Bytes;
use weft_wire::mptcp::Version;

use crate::config::{self, Mptcp, MptcpCongestion, MptcpScheduler};
use crate::segment::{LARGEST_WINDOW, window};

/// The parameters of a multipath connection, and what its subflows have in place of the TCP's.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// What a connection has that falls back to TCP.
    pub(crate) plain: config::Config,
    /// What subflows have: segments with room for a mapping, and windows that never limit, since those of the connection do.
    pub(crate) subflow: config::Config,
}

impl Config {
    /// The parameters that follow from `plain`; `None` where it says that there is to be no multipath TCP.
    pub fn new(plain: &config::Config) -> Option<Self> {
        if plain.mptcp == Mptcp::Off {
            return None;
        }
        let mut cfg = Self { plain: plain.clone(), subflow: plain.clone() };
        // What is sent again elsewhere leaves a hole on a subflow while the connection goes on: so more than the
        // connection's window may be outstanding on one.
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

    /// What a subflow says its window is, in both directions.
    pub(crate) fn subflow_window(&self) -> u32 {
        self.subflow.receive_buffer.0 as u32
    }

    /// Bytes of DSS with a mapping: in version 1 numbers of 64 bits, as Linux writes them; in version 0 numbers of 32 bits
    /// and a checksum, as the implementation of multipath-tcp.org does.
    pub(crate) fn mapping_bytes(&self) -> u8 {
        if self.version() == Version::V0 { 20 } else { 28 }
    }

    /// Bytes of DSS with nothing but a data acknowledgement.
    pub(crate) fn data_ack_bytes(&self) -> u8 {
        if self.version() == Version::V0 { 8 } else { 12 }
    }
}
