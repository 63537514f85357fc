//! [`Controller`]: the interface of a congestion controller, and its inputs.
//!
//! A controller alone writes its [`Window`]. Loss recovery decides which segments were lost and what to retransmit; it
//! reports events, and proposes a window only while it recovers.

use weft_units::{Duration, Time};

use super::pacing_rate::PacingRate;
use super::settings::Settings;
use super::window::Window;

/// An ACK for new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The time.
    pub now: Time,
    /// Bytes acknowledged that count for growth.
    pub bytes: u32,
    /// SND.UNA after the ACK.
    pub una: u32,
    /// Highest sequence number sent.
    pub high: u32,
    /// Smoothed round-trip time, picoseconds.
    pub srtt: u64,
    /// The round trip observed, picoseconds; 0: none.
    pub rtt: u64,
    /// Whether the window may grow: not in recovery, and the sender used the window.
    pub may_grow: bool,
}

/// Data delivered, with the mark state of its ACK.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Bytes delivered.
    pub bytes: u32,
    /// The ACK carries ECE.
    pub marked: bool,
    /// SND.UNA after the ACK.
    pub una: u32,
    /// Highest sequence number sent.
    pub high: u32,
}

/// The sign of congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A segment was lost.
    Loss,
    /// A segment was marked.
    Mark,
}

/// An expired retransmission timer.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// The time.
    pub now: Time,
    /// Bytes in flight.
    pub flight: u32,
    /// Highest sequence number sent.
    pub high: u32,
    /// The timer has expired for the same data before: the threshold stays (RFC 5681, section 3.1).
    pub again: bool,
    /// The new window, bytes.
    pub window: u32,
}

/// A subflow as seen by the coupled controllers of the others.
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

/// [`Controller::state`] and [`Controller::state_mut`] of a controller whose window is this field.
macro_rules! state_in {
    ($($field:ident).+) => {
        #[inline]
        fn state(&self) -> &Window {
            &self.$($field).+
        }

        #[inline]
        fn state_mut(&mut self) -> &mut Window {
            &mut self.$($field).+
        }
    };
}
pub(super) use state_in;

/// A congestion controller of one connection or subflow. Windows are in bytes.
pub(crate) trait Controller {
    /// Its own parameters; `()` if it has none.
    type Own;

    /// The window and the threshold.
    fn state(&self) -> &Window;

    /// The window and the threshold, to change them.
    fn state_mut(&mut self) -> &mut Window;

    /// `bytes` of payload have left, new or retransmitted.
    fn on_sent(&mut self, _now: Time, _bytes: u32) {}

    /// Data was delivered: called first for every ACK of a connection with ECN, in any state.
    fn on_delivered(&mut self, _settings: &Settings<'_, Self::Own>, _delivered: &Delivered) {}

    /// New data was acknowledged, or only a round trip observed (`may_grow` is false).
    fn on_ack(&mut self, settings: &Settings<'_, Self::Own>, ack: &Ack);

    /// A loss or mark, at most once per window, with `flight` bytes in flight: reduces threshold and window.
    fn on_congestion_event(&mut self, settings: &Settings<'_, Self::Own>, cause: Cause, flight: u32);

    /// The retransmission timer expired.
    fn on_timeout(&mut self, settings: &Settings<'_, Self::Own>, timeout: &Timeout) {
        if !timeout.again {
            self.on_congestion_event(settings, Cause::Loss, timeout.flight);
        }
        self.state_mut().cwnd = timeout.window;
    }

    /// A reduction proved unnecessary: the window before it was `prior`.
    fn on_spurious(&mut self, _settings: &Settings<'_, Self::Own>, prior: Window) {
        self.state_mut().restore(prior);
    }

    /// Recovery proposes a window: RFC 6937's rate reduction, RFC 6582's inflation, and the window at its end.
    fn on_recovery(&mut self, window: u32) {
        self.state_mut().cwnd = window;
    }

    /// The first data after an idle time: the window is at most the initial one (RFC 5681, section 4.1).
    fn on_idle(&mut self, initial: Window) {
        self.state_mut().cwnd = self.window().min(initial.cwnd);
    }

    /// The connection starts again: the windows are the initial ones.
    fn on_restart(&mut self, initial: Window) {
        *self.state_mut() = initial;
    }

    /// All subflows of the connection, before an ACK; `own` is this one's, with `acked` bytes acknowledged so far.
    fn on_paths(&mut self, _paths: &[Path], _own: usize, _acked: u64) {}

    /// Bytes that may be in flight.
    fn window(&self) -> u32 {
        self.state().cwnd
    }

    /// The slow-start threshold, bytes.
    fn ssthresh(&self) -> u32 {
        self.state().ssthresh
    }

    /// The rate at which segments leave, given the bytes in flight and the smoothed round-trip time; `None` before the
    /// first sample. As in Linux (`tcp_update_pacing_rate`): the larger of window and flight per round trip, times 2
    /// below half the threshold, otherwise times 1.2.
    fn pacing_rate(&self, flight: u32, srtt: Duration) -> Option<PacingRate> {
        let fast = self.window() < self.ssthresh() / 2;
        (srtt > Duration::ZERO).then(|| PacingRate::of_window(self.window().max(flight), fast, srtt))
    }

    /// DCTCP's estimate of the marked fraction; `None` for other controllers.
    fn alpha(&self) -> Option<f64> {
        None
    }

    /// Bytes acknowledged between losses, given `acked` bytes acknowledged so far (OLIA); 0 for other controllers.
    fn between_losses(&self, _acked: u64) -> f64 {
        0.0
    }
}
