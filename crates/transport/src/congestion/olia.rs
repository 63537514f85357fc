//! [`Olia`]: opportunistic linked increases (Khalili, Gast, Popovic, Le Boudec: MPTCP is not Pareto-optimal, IEEE/ACM
//! ToN 2013; draft-khalili-mptcp-congestion-control-05). Like LIA, and in addition shifts window from the paths with
//! the largest windows to the best paths.

use super::controller::{Ack, Cause, Controller, Path, state_in};
use super::coupled::Coupled;
use super::settings::Settings;
use super::window::Window;

/// State of one subflow.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Olia {
    coupled: Coupled,
    /// Bytes acknowledged by the second-to-last loss, by the last loss, and now.
    marks: [u64; 3],
    /// (w/rtt²) / (Σ w/rtt)² of this path, per byte.
    share: f64,
    /// Window shifted between paths, in segments per window.
    alpha: f64,
}

impl Controller for Olia {
    type Own = ();

    state_in!(coupled.window);

    #[inline(never)]
    fn on_ack(&mut self, settings: &Settings<'_, ()>, ack: &Ack) {
        let Some(bytes) = self.coupled.slow_start(settings, ack) else { return };
        let per_byte = self.growth(f64::from(self.window()), f64::from(settings.segment));
        self.coupled.grow(settings, per_byte * f64::from(bytes));
    }

    fn on_congestion_event(&mut self, settings: &Settings<'_, ()>, _cause: Cause, flight: u32) {
        self.lost();
        self.coupled.reduce(settings, flight / 2);
    }

    fn on_paths(&mut self, paths: &[Path], own: usize, acked: u64) {
        self.marks[2] = acked;
        self.share = 0.0;
        self.alpha = 0.0;
        let Some(path) = paths.get(own) else { return };
        let rate: f64 = paths.iter().map(Path::rate).sum();
        if rate > 0.0 {
            self.share = path.rate() / path.rtt / (rate * rate);
        }
        // B: the best paths; M: those with the largest windows.
        let quality = |path: &Path| path.between_losses / (path.rtt * path.rtt);
        let best = paths.iter().map(quality).fold(0.0, f64::max);
        let largest = paths.iter().map(|path| path.window).fold(0.0, f64::max);
        let is_large = |path: &Path| path.window >= largest;
        let is_only_best = |path: &Path| quality(path) >= best && !is_large(path);
        let only_best = paths.iter().filter(|path| is_only_best(path)).count();
        if only_best == 0 {
            return;
        }
        let all = paths.len() as f64;
        if is_only_best(path) {
            self.alpha = 1.0 / (all * only_best as f64);
        } else if is_large(path) {
            self.alpha = -1.0 / (all * paths.iter().filter(|path| is_large(path)).count() as f64);
        }
    }

    /// The larger of the bytes acknowledged between the last two losses and since the last.
    fn between_losses(&self, acked: u64) -> f64 {
        (self.marks[1] - self.marks[0]).max(acked.saturating_sub(self.marks[1])) as f64
    }
}

impl Olia {
    pub(super) fn new(_settings: &Settings<'_, ()>, window: Window) -> Self {
        Self { coupled: Coupled::new(window), marks: [0; 3], share: 0.0, alpha: 0.0 }
    }

    /// Bytes of growth for each byte acknowledged; may be negative.
    fn growth(&self, cwnd: f64, mss: f64) -> f64 {
        let linked = if self.share > 0.0 { self.share } else { 1.0 / cwnd };
        mss * (linked + self.alpha / cwnd)
    }

    /// A loss starts a new interval, unless nothing was acknowledged in this one.
    fn lost(&mut self) {
        if self.marks[2] != self.marks[1] {
            self.marks = [self.marks[1], self.marks[2], self.marks[2]];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn path(window: f64, between_losses: f64) -> Path {
        Path { window, rtt: 0.1, between_losses }
    }

    fn olia() -> Olia {
        let cfg = Config::profile("linux").unwrap();
        Olia::new(&cfg.settings_with(&()), cfg.new_window())
    }

    fn alphas(paths: &[Path]) -> Vec<f64> {
        let alpha = |own| {
            let mut olia = olia();
            olia.on_paths(paths, own, 0);
            olia.alpha
        };
        (0..paths.len()).map(alpha).collect()
    }

    #[test]
    fn windows_move_from_the_largest_to_the_best() {
        // Path 1 is best and small; paths 0 and 2 have the largest windows.
        let paths = [path(30e3, 1e5), path(10e3, 9e5), path(30e3, 1e5), path(20e3, 1e5)];
        assert_eq!(alphas(&paths), [-0.125, 0.25, -0.125, 0.0]);
        let best_is_largest = [path(30e3, 9e5), path(10e3, 1e5)];
        assert_eq!(alphas(&best_is_largest), [0.0, 0.0]);
    }

    #[test]
    fn equal_paths_share_the_growth_of_one() {
        let paths = [path(20e3, 1e5), path(20e3, 1e5)];
        let mut olia = olia();
        olia.on_paths(&paths, 0, 0);
        // Each grows by a quarter of Reno's 1/20, so that both together grow like one window of 40 kB.
        assert!((olia.growth(20e3, 1000.0) - 0.25 / 20.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_are_measured_between_losses() {
        let mut olia = olia();
        let paths = [path(20e3, 0.0)];
        olia.on_paths(&paths, 0, 700);
        assert_eq!(olia.between_losses(700), 700.0);
        olia.lost();
        olia.lost();
        assert_eq!(olia.between_losses(900), 700.0, "the second loss of a window begins nothing");
        assert_eq!(olia.between_losses(1500), 800.0);
        olia.on_paths(&paths, 0, 900);
        olia.lost();
        assert_eq!(olia.between_losses(900), 200.0);
    }
}
