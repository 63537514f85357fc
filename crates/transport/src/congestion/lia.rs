//! [`Lia`]: linked increases (RFC 6356). All subflows together grow like one TCP on the best path.

use super::controller::{Ack, Cause, Controller, Path, state_in};
use super::coupled::Coupled;
use super::settings::Settings;
use super::window::Window;

/// State of one subflow.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Lia {
    coupled: Coupled,
    /// Alpha divided by the sum of all windows, per byte; 0: there is only one subflow.
    share: f64,
}

impl Controller for Lia {
    type Own = ();

    state_in!(coupled.window);

    #[inline(never)]
    fn on_ack(&mut self, settings: &Settings<'_, ()>, ack: &Ack) {
        let Some(bytes) = self.coupled.slow_start(settings, ack) else { return };
        let per_byte = self.growth(f64::from(self.window()), f64::from(settings.segment));
        self.coupled.grow(settings, per_byte * f64::from(bytes));
    }

    fn on_congestion_event(&mut self, settings: &Settings<'_, ()>, _cause: Cause, flight: u32) {
        self.coupled.reduce(settings, flight / 2);
    }

    /// RFC 6356, section 3, (2).
    fn on_paths(&mut self, paths: &[Path], _own: usize, _acked: u64) {
        let best = paths.iter().map(|path| path.window / (path.rtt * path.rtt)).fold(0.0, f64::max);
        let rate: f64 = paths.iter().map(Path::rate).sum();
        // The sum of all windows is a factor of alpha and of its divisor, so it cancels.
        self.share = if paths.len() > 1 && rate > 0.0 { best / (rate * rate) } else { 0.0 };
    }
}

impl Lia {
    pub(super) fn new(_settings: &Settings<'_, ()>, window: Window) -> Self {
        Self { coupled: Coupled::new(window), share: 0.0 }
    }

    /// Bytes of growth for each byte acknowledged (RFC 6356, section 3, (1)).
    fn growth(&self, cwnd: f64, mss: f64) -> f64 {
        let alone = mss / cwnd;
        if self.share > 0.0 { alone.min(self.share * mss) } else { alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn path(window: f64, rtt: f64) -> Path {
        Path { window, rtt, between_losses: 0.0 }
    }

    fn lia() -> Lia {
        let cfg = Config::profile("linux").unwrap();
        Lia::new(&cfg.settings_with(&()), cfg.new_window())
    }

    #[test]
    fn a_subflow_alone_grows_as_reno() {
        let mut lia = lia();
        lia.on_paths(&[path(50_000.0, 0.1)], 0, 0);
        assert_eq!(lia.growth(50_000.0, 1000.0), 1.0 / 50.0);
    }

    #[test]
    fn alpha_is_that_of_the_rfc() {
        // Windows of 10 and 40 segments, 10 and 100 ms: alpha = 50 * max(10/.01², 40/.1²) / (10/.01 + 40/.1)².
        let alpha = 50.0 * (10.0 / 0.0001) / (1000.0_f64 + 400.0).powi(2);
        let mut lia = lia();
        lia.on_paths(&[path(10_000.0, 0.01), path(40_000.0, 0.1)], 0, 0);
        let expected = alpha * 1000.0 / 50_000.0;
        assert!((lia.growth(10_000.0, 1000.0) / expected - 1.0).abs() < 1e-12);
        assert_eq!(lia.growth(80_000.0, 1000.0), 1.0 / 80.0, "never more than a TCP alone");
    }
}
