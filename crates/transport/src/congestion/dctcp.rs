//! [`Dctcp`]: the window shrinks in proportion to the fraction of marked bytes (RFC 8257); it grows like Reno's.

use super::{Ack, Window, reno::Reno};
use crate::config::Config;
use crate::seq::before;

/// The smoothed fraction of marked bytes.
#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    alpha: f64,
    /// Bytes acknowledged in this observation window.
    acked: u32,
    /// Bytes among them whose ACK carried a mark.
    marked: u32,
    /// Sequence number at which the observation window ends.
    end: u32,
    started: bool,
    reno: Reno,
}

impl Dctcp {
    pub(super) fn new(cfg: &Config) -> Self {
        Self {
            alpha: cfg.dctcp_initial_alpha,
            acked: 0,
            marked: 0,
            end: 0,
            started: false,
            reno: Reno::default(),
        }
    }

    /// RFC 8257, section 3.3, steps 1 to 9: once per window, alpha moves towards the marked fraction.
    #[inline]
    pub(super) fn acked(&mut self, cfg: &Config, bytes: u32, marked: bool, una: u32, high: u32) {
        self.acked = self.acked.saturating_add(bytes);
        if marked {
            self.marked = self.marked.saturating_add(bytes);
        }
        if !self.started {
            self.started = true;
            self.end = high;
        }
        if before(self.end, una) || self.end == una {
            if self.acked > 0 {
                let share = f64::from(self.marked) / f64::from(self.acked);
                self.alpha += cfg.dctcp_gain * (share - self.alpha);
            }
            self.acked = 0;
            self.marked = 0;
            self.end = high;
        }
    }

    #[inline]
    pub(super) fn increase(&mut self, cfg: &Config, window: &mut Window, ack: &Ack) {
        self.reno.increase(cfg, window, ack);
    }

    /// RFC 8257, section 3.3, step 9: cwnd * (1 - alpha / 2).
    pub(super) fn ssthresh(&self, cfg: &Config, window: &Window) -> u32 {
        let kept = f64::from(window.cwnd) * (1.0 - self.alpha / 2.0);
        (kept as u32).max(2 * cfg.segment())
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_moves_once_a_window_by_g_towards_the_marked_share() {
        let cfg = Config { dctcp_initial_alpha: 0.0, ..Config::profile("dctcp").unwrap() };
        let mut dctcp = Dctcp::new(&cfg);
        dctcp.acked(&cfg, 1000, true, 1000, 5000);
        assert_eq!(dctcp.alpha(), 0.0, "the window is not over");
        dctcp.acked(&cfg, 3000, false, 4000, 9000);
        assert_eq!(dctcp.alpha(), 0.0);
        dctcp.acked(&cfg, 1000, true, 5000, 10_000);
        assert!((dctcp.alpha() - 0.4 / 16.0).abs() < 1e-12, "2 of 5 kB were marked");
    }

    #[test]
    fn the_window_is_cut_by_half_of_alpha() {
        let cfg = Config { dctcp_initial_alpha: 0.5, ..Config::profile("dctcp").unwrap() };
        let dctcp = Dctcp::new(&cfg);
        assert_eq!(dctcp.ssthresh(&cfg, &Window { cwnd: 100_000, ssthresh: 0 }), 75_000);
    }
}
