//! [`Dctcp`]: the window shrinks in proportion to the fraction of marked bytes (RFC 8257); it grows like Reno's.

use std::ops::Bound::{Excluded, Included};

use weft_units::params;

use super::controller::{Ack, Cause, Controller, Delivered, state_in};
use super::reno::Reno;
use super::settings::Settings;
use super::window::Window;
use crate::parameters::{ConfigError, check};
use crate::seq::at_or_before;

params! {
    /// DCTCP's parameters; the defaults are those of RFC 8257.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Parameters {
        /// DCTCP's gain g
        gain: f64 as "dctcp_gain" = 1.0 / 16.0, in (Excluded(0.0), Excluded(1.0));
        /// DCTCP's estimate of the marked fraction before the first mark
        initial_alpha: f64 as "dctcp_initial_alpha" = 1.0, in (Included(0.0), Included(1.0));
    }
}

impl Parameters {
    /// DCTCP needs to know which packets were marked.
    pub(super) fn validate(&self, marks_reported: bool) -> Result<(), ConfigError> {
        check(marks_reported, "congestion_control", &"dctcp", "another one, or ecn = \"dctcp\"")
    }
}

/// Reno with the smoothed fraction of marked bytes.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Dctcp {
    reno: Reno,
    alpha: f64,
    /// Bytes acknowledged in this observation window.
    acked: u32,
    /// Bytes among them whose ACK carried a mark.
    marked: u32,
    /// Sequence number at which the observation window ends.
    end: u32,
    started: bool,
}

impl Dctcp {
    pub(super) fn new(settings: &Settings<'_, Parameters>, window: Window) -> Self {
        let (reno, alpha) = (Reno::new(&settings.with(&()), window), settings.own.initial_alpha);
        Self { reno, alpha, acked: 0, marked: 0, end: 0, started: false }
    }
}

impl Controller for Dctcp {
    type Own = Parameters;

    state_in!(reno.window);

    /// RFC 8257, section 3.3, steps 1 to 9: once per window, alpha moves towards the marked fraction.
    #[inline]
    fn on_delivered(&mut self, settings: &Settings<'_, Parameters>, delivered: &Delivered) {
        let &Delivered { bytes, marked, una, high } = delivered;
        self.acked = self.acked.saturating_add(bytes);
        if marked {
            self.marked = self.marked.saturating_add(bytes);
        }
        // The first ACK ends the first observation window, which ends at the initial SND.UNA.
        if !self.started || at_or_before(self.end, una) {
            self.started = true;
            if self.acked > 0 {
                let share = f64::from(self.marked) / f64::from(self.acked);
                self.alpha += settings.own.gain * (share - self.alpha);
            }
            self.acked = 0;
            self.marked = 0;
            self.end = high;
        }
    }

    #[inline]
    fn on_ack(&mut self, settings: &Settings<'_, Parameters>, ack: &Ack) {
        self.reno.on_ack(&settings.with(&()), ack);
    }

    fn on_congestion_event(&mut self, settings: &Settings<'_, Parameters>, cause: Cause, _flight: u32) {
        let cwnd = self.window();
        let kept = match cause {
            // RFC 8257, section 3.5: the response to a loss is that of plain TCP.
            Cause::Loss => cwnd / 2,
            // Section 3.3, step 9.
            Cause::Mark => (f64::from(cwnd) * (1.0 - self.alpha / 2.0)) as u32,
        };
        self.reno.window.reduce(kept.max(2 * settings.segment));
    }

    fn alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn alpha_moves_once_a_window_by_g_towards_the_marked_share() {
        let mut cfg = Config::profile("dctcp").unwrap();
        cfg.congestion.dctcp.initial_alpha = 0.0;
        let settings = cfg.settings_with(&cfg.congestion.dctcp);
        let mut dctcp = Dctcp::new(&settings, cfg.new_window());
        let mut delivered = |bytes, marked, una, high| {
            dctcp.on_delivered(&settings, &Delivered { bytes, marked, una, high });
            dctcp.alpha
        };
        assert_eq!(delivered(1000, false, 1000, 6000), 0.0, "the first window is over");
        assert_eq!(delivered(1000, true, 2000, 9000), 0.0, "the second is not");
        assert_eq!(delivered(3000, false, 5000, 9000), 0.0);
        let alpha = delivered(1000, true, 6000, 10_000);
        assert!((alpha - 0.4 / 16.0).abs() < 1e-12, "2 of 5 kB were marked");
    }

    #[test]
    fn the_window_is_cut_by_half_of_alpha() {
        let mut cfg = Config::profile("dctcp").unwrap();
        cfg.congestion.dctcp.initial_alpha = 0.5;
        let settings = cfg.settings_with(&cfg.congestion.dctcp);
        let mut dctcp = Dctcp::new(&settings, Window { cwnd: 100_000, ssthresh: 0 });
        dctcp.on_congestion_event(&settings, Cause::Mark, 100_000);
        assert_eq!((dctcp.window(), dctcp.ssthresh()), (75_000, 75_000));
        dctcp.on_congestion_event(&settings, Cause::Loss, 75_000);
        assert_eq!(dctcp.window(), 37_500, "a loss");
    }
}
