//! Congestion control: how much may be in flight.
//!
//! One file a controller; [`Congestion`] is the choice between them, an enum, so that an ACK costs no
//! indirect call. A controller sees bytes acknowledged, round trips, losses and marks, and changes a
//! [`Window`]; what to send, and what was lost, is not its business.

mod cubic;
mod dctcp;
mod hystart;
mod reno;

use weft_units::Time;

use crate::config::{Config, CongestionControl};
use cubic::Cubic;
use dctcp::Dctcp;
use reno::Reno;

/// No window grows beyond this: RFC 7323's largest.
const LARGEST: u32 = 1 << 30;

/// The congestion window and the threshold between its two ways of growing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Bytes that may be in flight.
    pub(crate) cwnd: u32,
    /// Slow start below, congestion avoidance from here.
    pub(crate) ssthresh: u32,
}

impl Window {
    pub(crate) fn new(cfg: &Config) -> Self {
        let cwnd = u64::from(cfg.initial_window) * u64::from(cfg.mss);
        Self {
            cwnd: cwnd.min(u64::from(LARGEST)) as u32,
            ssthresh: cfg.initial_ssthresh.0.min(u64::from(u32::MAX)) as u32,
        }
    }

    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    #[inline]
    fn grow(&mut self, bytes: u32) {
        self.cwnd = self.cwnd.saturating_add(bytes).min(LARGEST);
    }
}

/// An ACK for new data, as a controller sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) now: Time,
    /// Bytes acknowledged that count for growth.
    pub(crate) bytes: u32,
    /// SND.UNA after the ACK.
    pub(crate) una: u32,
    /// Highest sequence number sent.
    pub(crate) high: u32,
    /// Smoothed round-trip time, picoseconds.
    pub(crate) srtt: u64,
}

/// Why a window is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// A segment was lost.
    Loss,
    /// A segment was marked.
    Mark,
}

/// The controller of one connection.
#[derive(Clone, Debug)]
pub(crate) enum Congestion {
    Reno(Reno),
    Cubic(Cubic),
    Dctcp(Dctcp),
}

impl Congestion {
    pub(crate) fn new(cfg: &Config) -> Self {
        match cfg.congestion_control {
            CongestionControl::Reno => Self::Reno(Reno::default()),
            CongestionControl::Cubic => Self::Cubic(Cubic::default()),
            CongestionControl::Dctcp => Self::Dctcp(Dctcp::new(cfg)),
        }
    }

    /// A round trip of `rtt` picoseconds was observed; comes before [`Self::increase`] for the same ACK.
    #[inline]
    pub(crate) fn round_trip(&mut self, cfg: &Config, window: &mut Window, ack: &Ack, rtt: u64) {
        if let Self::Cubic(cubic) = self {
            cubic.round_trip(cfg, window, ack, rtt);
        }
    }

    /// New data was acknowledged and the window may grow.
    #[inline]
    pub(crate) fn increase(&mut self, cfg: &Config, window: &mut Window, ack: &Ack) {
        match self {
            Self::Reno(reno) => reno.increase(cfg, window, ack),
            Self::Cubic(cubic) => cubic.increase(cfg, window, ack),
            Self::Dctcp(dctcp) => dctcp.increase(cfg, window, ack),
        }
    }

    /// Bytes were acknowledged, with or without a mark (DCTCP); comes first for an ACK, whatever the state.
    #[inline]
    pub(crate) fn acked(&mut self, cfg: &Config, bytes: u32, marked: bool, una: u32, high: u32) {
        if let Self::Dctcp(dctcp) = self {
            dctcp.acked(cfg, bytes, marked, una, high);
        }
    }

    /// The threshold after a loss or mark with `flight` bytes outstanding.
    pub(crate) fn ssthresh(&mut self, cfg: &Config, window: &Window, flight: u32, cause: Cause) -> u32 {
        let least = 2 * cfg.segment();
        match self {
            Self::Reno(_) => (flight / 2).max(least),
            Self::Cubic(cubic) => cubic.ssthresh(cfg, window),
            // RFC 8257, section 3.5: a loss is answered as by any TCP.
            Self::Dctcp(_) if cause == Cause::Loss => (window.cwnd / 2).max(least),
            Self::Dctcp(dctcp) => dctcp.ssthresh(cfg, window),
        }
    }

    /// A timeout expired.
    pub(crate) fn timed_out(&mut self, now: Time, high: u32) {
        if let Self::Cubic(cubic) = self {
            cubic.timed_out(now, high);
        }
    }

    /// A reduction turned out to be needless: `window` is as before it.
    pub(crate) fn undone(&mut self, cfg: &Config, window: &Window) {
        if let Self::Cubic(cubic) = self {
            cubic.undone(cfg, window);
        }
    }

    /// DCTCP's estimate of the marked fraction.
    pub(crate) fn alpha(&self) -> Option<f64> {
        match self {
            Self::Dctcp(dctcp) => Some(dctcp.alpha()),
            _ => None,
        }
    }
}
