//! Congestion control: how much may be in flight.
//!
//! One file per controller; an enum selects the controller, so that an ACK costs no indirect call. A
//! controller sees bytes acknowledged, round trips, losses and marks, and changes a [`Window`]; other
//! modules decide what to send and what was lost.

mod balia;
mod coupled;
mod cubic;
mod dctcp;
mod hystart;
mod lia;
mod olia;
mod reno;

use weft_units::Time;

use crate::config::{Config, CongestionControl, MptcpCongestion, WindowGrowth};
use crate::segment::{LARGEST_WINDOW, window};
use coupled::Coupled;
use cubic::Cubic;
use dctcp::Dctcp;
use reno::Reno;

pub(crate) use coupled::Path;

/// The congestion window and the slow-start threshold.
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
        Self { cwnd: window(cwnd), ssthresh: cfg.initial_ssthresh.0.min(u64::from(u32::MAX)) as u32 }
    }

    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows in slow start for `bytes` acknowledged. Returns the bytes left for congestion avoidance, `None` if slow
    /// start used them all.
    #[inline]
    fn slow_start(&mut self, cfg: &Config, bytes: u32) -> Option<u32> {
        if !self.in_slow_start() {
            return Some(bytes);
        }
        let mss = cfg.segment();
        let used = match cfg.window_growth {
            WindowGrowth::PerByte => bytes.min(self.ssthresh - self.cwnd),
            WindowGrowth::PerAck if bytes >= mss => mss,
            WindowGrowth::PerAck => 0,
        };
        self.grow(used);
        (used < bytes).then(|| bytes - used)
    }

    #[inline]
    fn grow(&mut self, bytes: u32) {
        self.cwnd = self.cwnd.saturating_add(bytes).min(LARGEST_WINDOW);
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

/// The controller of one connection, allocated on first use: a side that only receives has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Congestion(Option<Box<Controller>>);

#[derive(Clone, Debug)]
enum Controller {
    Reno(Reno),
    Cubic(Cubic),
    Dctcp(Dctcp),
    Coupled(Coupled),
}

impl Controller {
    fn new(cfg: &Config) -> Self {
        match cfg.congestion_control {
            CongestionControl::Reno => Self::Reno(Reno::default()),
            CongestionControl::Cubic => Self::Cubic(Cubic::default()),
            CongestionControl::Dctcp => Self::Dctcp(Dctcp::new(cfg)),
        }
    }
}

impl Congestion {
    #[inline]
    fn controller(&mut self, cfg: &Config) -> &mut Controller {
        self.0.get_or_insert_with(|| Box::new(Controller::new(cfg)))
    }

    /// New data was acknowledged, with or without a mark: called first for every ACK, in any state.
    #[inline]
    pub(crate) fn acked(&mut self, cfg: &Config, bytes: u32, marked: bool, una: u32, high: u32) {
        if let Controller::Dctcp(dctcp) = self.controller(cfg) {
            dctcp.acked(cfg, bytes, marked, una, high);
        }
    }

    /// A round trip of `rtt` picoseconds was observed, without growth.
    #[inline]
    pub(crate) fn round_trip(&mut self, cfg: &Config, window: &mut Window, ack: &Ack, rtt: u64) {
        if let Controller::Cubic(cubic) = self.controller(cfg) {
            cubic.round_trip(cfg, window, ack, rtt);
        }
    }

    /// A round trip of `rtt` picoseconds (0: none) was observed; with `may_grow`, the window may grow by the
    /// bytes acknowledged.
    #[inline]
    pub(crate) fn on_ack(&mut self, cfg: &Config, window: &mut Window, ack: &Ack, rtt: u64, may_grow: bool) {
        match self.controller(cfg) {
            Controller::Cubic(cubic) => {
                cubic.round_trip(cfg, window, ack, rtt);
                if may_grow {
                    cubic.increase(cfg, window, ack);
                }
            }
            _ if !may_grow => {}
            Controller::Reno(reno) => reno.increase(cfg, window, ack),
            Controller::Dctcp(dctcp) => dctcp.increase(cfg, window, ack),
            Controller::Coupled(coupled) => coupled.increase(cfg, window, ack),
        }
    }

    /// The threshold after a loss or mark with `flight` bytes outstanding.
    pub(crate) fn ssthresh(&mut self, cfg: &Config, window: &Window, flight: u32, cause: Cause) -> u32 {
        let least = 2 * cfg.segment();
        match self.controller(cfg) {
            Controller::Reno(_) => (flight / 2).max(least),
            Controller::Cubic(cubic) => cubic.ssthresh(cfg, window),
            // RFC 8257, section 3.5: the response to a loss is that of plain TCP.
            Controller::Dctcp(_) if cause == Cause::Loss => (window.cwnd / 2).max(least),
            Controller::Dctcp(dctcp) => dctcp.ssthresh(cfg, window),
            Controller::Coupled(coupled) => coupled.ssthresh(cfg, window, flight),
        }
    }

    /// A timeout expired.
    pub(crate) fn timed_out(&mut self, cfg: &Config, now: Time, high: u32) {
        if let Controller::Cubic(cubic) = self.controller(cfg) {
            cubic.timed_out(now, high);
        }
    }

    /// A reduction proved unnecessary: `window` is as before it.
    pub(crate) fn undone(&mut self, cfg: &Config, window: &Window) {
        if let Controller::Cubic(cubic) = self.controller(cfg) {
            cubic.undone(cfg, window);
        }
    }

    /// DCTCP's estimate of the marked fraction.
    pub(crate) fn alpha(&self) -> Option<f64> {
        match self.0.as_deref() {
            Some(Controller::Dctcp(dctcp)) => Some(dctcp.alpha()),
            _ => None,
        }
    }

    /// Switches to the coupled controller `kind` of a multipath connection, if it is coupled.
    pub(crate) fn couple(&mut self, kind: MptcpCongestion) {
        if let Some(coupled) = Coupled::new(kind) {
            self.0 = Some(Box::new(Controller::Coupled(coupled)));
        }
    }

    /// Passes the subflows of the connection to a coupled controller; `own` is its own.
    #[inline]
    pub(crate) fn observe(&mut self, paths: &[Path], own: usize, acked: u64) {
        if let Some(Controller::Coupled(coupled)) = self.0.as_deref_mut() {
            coupled.observe(paths, own, acked);
        }
    }

    /// Bytes acknowledged between losses, for OLIA; 0 for other controllers.
    pub(crate) fn between_losses(&self, acked: u64) -> f64 {
        match self.0.as_deref() {
            Some(Controller::Coupled(coupled)) => coupled.between_losses(acked),
            _ => 0.0,
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |_| size_of::<Controller>())
    }
}
