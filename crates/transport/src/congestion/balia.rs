//! [`Balia`]: balanced linked adaptation (Peng, Walid, Hwang, Low: Multipath TCP: analysis, design, and implementation,
//! IEEE/ACM ToN 2016; draft-walid-mptcp-congestion-control-04).

use super::controller::{Ack, Cause, Controller, Path, state_in};
use super::coupled::Coupled;
use super::settings::Settings;
use super::window::Window;

/// State of one subflow.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Balia {
    coupled: Coupled,
    /// Growth per byte acknowledged and byte of a segment; 0: there is only one subflow.
    share: f64,
    /// The highest rate of any path divided by this path's.
    alpha: f64,
}

impl Controller for Balia {
    type Own = ();

    state_in!(coupled.window);

    #[inline(never)]
    fn on_ack(&mut self, settings: &Settings<'_, ()>, ack: &Ack) {
        let Some(bytes) = self.coupled.slow_start(settings, ack) else { return };
        let per_byte = self.growth(f64::from(self.window()), f64::from(settings.segment));
        self.coupled.grow(settings, per_byte * f64::from(bytes));
    }

    /// The window reduced by alpha times its half, at most by three quarters.
    fn on_congestion_event(&mut self, settings: &Settings<'_, ()>, _cause: Cause, flight: u32) {
        let cwnd = f64::from(self.window());
        let coupled = (cwnd - cwnd / 2.0 * self.alpha.min(1.5)) as u32;
        self.coupled.reduce(settings, if self.share > 0.0 { coupled } else { flight / 2 });
    }

    fn on_paths(&mut self, paths: &[Path], own: usize, _acked: u64) {
        (self.share, self.alpha) = (0.0, 0.0);
        let Some(path) = paths.get(own).filter(|_| paths.len() > 1) else { return };
        let sum: f64 = paths.iter().map(Path::rate).sum();
        let largest = paths.iter().map(Path::rate).fold(0.0, f64::max);
        let rate = path.rate();
        if rate > 0.0 {
            self.alpha = largest / rate;
            let balance = (1.0 + self.alpha) / 2.0 * (4.0 + self.alpha) / 5.0;
            self.share = rate / (path.rtt * sum * sum) * balance;
        }
    }
}

impl Balia {
    pub(super) fn new(_settings: &Settings<'_, ()>, window: Window) -> Self {
        Self { coupled: Coupled::new(window), share: 0.0, alpha: 0.0 }
    }

    /// Bytes of growth for each byte acknowledged.
    fn growth(&self, cwnd: f64, mss: f64) -> f64 {
        mss * if self.share > 0.0 { self.share } else { 1.0 / cwnd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn path(window: f64, rtt: f64) -> Path {
        Path { window, rtt, between_losses: 0.0 }
    }

    fn cfg() -> Config {
        Config::profile("linux").unwrap()
    }

    fn balia(cwnd: u32) -> Balia {
        Balia::new(&cfg().settings_with(&()), Window { cwnd, ssthresh: 0 })
    }

    #[test]
    fn a_slower_path_grows_and_shrinks_more() {
        let paths = [path(40e3, 0.1), path(20e3, 0.1)];
        let (mut fast, mut slow) = (balia(40_000), balia(40_000));
        fast.on_paths(&paths, 0, 0);
        slow.on_paths(&paths, 1, 0);
        // x = 400 and 200 kB/s; alpha 1 and 2.
        assert!((fast.growth(40e3, 1000.0) - 1000.0 * 400e3 / (0.1 * 600e3_f64.powi(2))).abs() < 1e-9);
        let balance = 1.5 * 6.0 / 5.0;
        let expected = 1000.0 * 200e3 / (0.1 * 600e3_f64.powi(2)) * balance;
        assert!((slow.growth(20e3, 1000.0) - expected).abs() < 1e-9);
        let cfg = cfg();
        fast.on_congestion_event(&cfg.settings_with(&()), Cause::Loss, 0);
        slow.on_congestion_event(&cfg.settings_with(&()), Cause::Loss, 0);
        assert_eq!((fast.window(), slow.window()), (20_000, 10_000), "at most three quarters");
    }

    #[test]
    fn a_subflow_alone_is_reno() {
        let mut balia = balia(40_000);
        balia.on_paths(&[path(40e3, 0.1)], 0, 0);
        assert_eq!(balia.growth(40e3, 1000.0), 1.0 / 40.0);
        balia.on_congestion_event(&cfg().settings_with(&()), Cause::Loss, 30_000);
        assert_eq!(balia.window(), 15_000);
    }
}
