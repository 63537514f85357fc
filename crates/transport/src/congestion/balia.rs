//! [`Balia`]: balanced linked adaptation (Peng, Walid, Hwang, Low: Multipath TCP: analysis, design, and implementation,
//! IEEE/ACM ToN 2016; draft-walid-mptcp-congestion-control-04).

use super::Window;
use super::coupled::Path;

/// State of one subflow.
#[derive(Clone, Debug, Default)]
pub(super) struct Balia {
    /// Growth per byte acknowledged and byte of a segment; 0: there is only one subflow.
    share: f64,
    /// The highest rate of any path divided by this path's.
    alpha: f64,
}

impl Balia {
    pub(super) fn observe(&mut self, paths: &[Path], own: usize) {
        *self = Self::default();
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

    /// Bytes of growth for each byte acknowledged.
    #[inline]
    pub(super) fn growth(&self, cwnd: f64, mss: f64) -> f64 {
        mss * if self.share > 0.0 { self.share } else { 1.0 / cwnd }
    }

    /// The window reduced by alpha times its half, at most by three quarters.
    pub(super) fn ssthresh(&self, window: &Window, flight: u32) -> u32 {
        if self.share <= 0.0 {
            return flight / 2;
        }
        let cwnd = f64::from(window.cwnd);
        (cwnd - cwnd / 2.0 * self.alpha.min(1.5)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(window: f64, rtt: f64) -> Path {
        Path { window, rtt, between_losses: 0.0 }
    }

    #[test]
    fn a_slower_path_grows_and_shrinks_more() {
        let paths = [path(40e3, 0.1), path(20e3, 0.1)];
        let mut fast = Balia::default();
        fast.observe(&paths, 0);
        let mut slow = Balia::default();
        slow.observe(&paths, 1);
        // x = 400 and 200 kB/s; alpha 1 and 2.
        assert!((fast.growth(40e3, 1000.0) - 1000.0 * 400e3 / (0.1 * 600e3_f64.powi(2))).abs() < 1e-9);
        let balance = 1.5 * 6.0 / 5.0;
        let expected = 1000.0 * 200e3 / (0.1 * 600e3_f64.powi(2)) * balance;
        assert!((slow.growth(20e3, 1000.0) - expected).abs() < 1e-9);
        let window = Window { cwnd: 40_000, ssthresh: 0 };
        assert_eq!(fast.ssthresh(&window, 0), 20_000);
        assert_eq!(slow.ssthresh(&window, 0), 10_000, "at most three quarters");
    }

    #[test]
    fn a_subflow_alone_is_reno() {
        let mut balia = Balia::default();
        balia.observe(&[path(40e3, 0.1)], 0);
        assert_eq!(balia.growth(40e3, 1000.0), 1.0 / 40.0);
        assert_eq!(balia.ssthresh(&Window { cwnd: 40_000, ssthresh: 0 }, 30_000), 15_000);
    }
}
