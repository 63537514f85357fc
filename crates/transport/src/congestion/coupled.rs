//! [`Coupled`]: controllers whose increase depends on the other subflows of a multipath connection.
//!
//! Before a subflow processes an ACK, its controller receives the [`Path`]s of all subflows; it sees later changes of
//! the others with its next ACK. In slow start each grows like plain TCP (RFC 6356, section 3).

use super::balia::Balia;
use super::lia::Lia;
use super::olia::Olia;
use super::{Ack, Window};
use crate::config::{Config, MptcpCongestion};

/// A subflow as seen by the controllers of the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Path {
    /// Congestion window, bytes.
    pub(crate) window: f64,
    /// Smoothed round-trip time, seconds.
    pub(crate) rtt: f64,
    /// Bytes acknowledged between its last two losses, or since the last one if that is more (OLIA).
    pub(crate) between_losses: f64,
}

impl Path {
    /// Bytes per second.
    pub(super) fn rate(&self) -> f64 {
        self.window / self.rtt
    }
}

/// The controller of one subflow.
#[derive(Clone, Debug)]
pub(crate) struct Coupled {
    algorithm: Algorithm,
    /// Accumulated growth of less than a byte.
    credit: f64,
}

#[derive(Clone, Debug)]
enum Algorithm {
    Lia(Lia),
    Olia(Olia),
    Balia(Balia),
}

impl Coupled {
    /// The controller of this kind; `None` if uncoupled.
    pub(super) fn new(kind: MptcpCongestion) -> Option<Self> {
        let algorithm = match kind {
            MptcpCongestion::Uncoupled => return None,
            MptcpCongestion::Lia => Algorithm::Lia(Lia::default()),
            MptcpCongestion::Olia => Algorithm::Olia(Olia::default()),
            MptcpCongestion::Balia => Algorithm::Balia(Balia::default()),
        };
        Some(Self { algorithm, credit: 0.0 })
    }

    /// Updates the state from all paths; `own` is this subflow's, with `acked` bytes acknowledged so far.
    pub(super) fn observe(&mut self, paths: &[Path], own: usize, acked: u64) {
        match &mut self.algorithm {
            Algorithm::Lia(lia) => lia.observe(paths),
            Algorithm::Olia(olia) => olia.observe(paths, own, acked),
            Algorithm::Balia(balia) => balia.observe(paths, own),
        }
    }

    /// Not inlined, to keep the hot path of plain TCP small.
    #[inline(never)]
    pub(super) fn increase(&mut self, cfg: &Config, window: &mut Window, ack: &Ack) {
        let Some(bytes) = window.slow_start(cfg, ack.bytes) else { return };
        if window.in_slow_start() {
            return;
        }
        let (cwnd, mss) = (f64::from(window.cwnd), f64::from(cfg.segment()));
        let per_byte = match &self.algorithm {
            Algorithm::Lia(lia) => lia.growth(cwnd, mss),
            Algorithm::Olia(olia) => olia.growth(cwnd, mss),
            Algorithm::Balia(balia) => balia.growth(cwnd, mss),
        };
        self.credit += per_byte * f64::from(bytes);
        let whole = self.credit.trunc();
        self.credit -= whole;
        if whole < 0.0 {
            window.cwnd = window.cwnd.saturating_sub(-whole as u32).max(cfg.segment());
        } else {
            window.grow(whole as u32);
        }
    }

    /// The threshold after a loss or mark.
    pub(super) fn ssthresh(&mut self, cfg: &Config, window: &Window, flight: u32) -> u32 {
        let half = match &mut self.algorithm {
            Algorithm::Lia(_) => flight / 2,
            Algorithm::Olia(olia) => {
                olia.lost();
                flight / 2
            }
            Algorithm::Balia(balia) => balia.ssthresh(window, flight),
        };
        half.max(2 * cfg.segment())
    }

    /// Bytes between losses, given `acked` bytes acknowledged so far.
    pub(super) fn between_losses(&self, acked: u64) -> f64 {
        match &self.algorithm {
            Algorithm::Olia(olia) => olia.between_losses(acked),
            Algorithm::Lia(_) | Algorithm::Balia(_) => 0.0,
        }
    }
}
