//! [`Cubic`]: the window is a cubic function of the time since the last reduction (RFC 9438).
//!
//! Windows are whole segments, as in Linux and ns-3, and the function is converted to the number of
//! bytes that must be acknowledged until the window grows by a segment. That number is recomputed when
//! the window has changed, an eighth of it was acknowledged or some time has passed; as ns-3.37, on
//! every ACK.

use std::ops::Bound::{Excluded, Unbounded};

use weft_units::{Duration, Time, params};

use super::controller::{Ack, Cause, Controller, Timeout, state_in};
use super::hystart::{self, HyStart, Mode};
use super::settings::{Settings, WindowGrowth};
use super::window::Window;
use crate::parameters::ConfigError;

const SECOND: f64 = 1e12;
/// The growth is recomputed after this time: 100 us.
const STALE: u64 = 100_000_000;

params! {
    /// CUBIC's parameters.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Parameters {
        /// CUBIC's C, in segments per cubic second
        c: f64 as "cubic_c" = 410.0 / 1024.0, in (Excluded(0.0), Unbounded);
        /// CUBIC's multiplicative decrease
        beta: f64 as "cubic_beta" = 717.0 / 1024.0, in (Excluded(0.0), Excluded(1.0));
        /// fast convergence: CUBIC yields to newer flows (RFC 9438, section 4.7)
        fast_convergence: bool as "cubic_fast_convergence" = true;
        /// Reno-friendly region: CUBIC is never slower than Reno (RFC 9438, section 4.3)
        reno_friendly: bool as "cubic_reno_friendly" = true;
        /// before its first loss, CUBIC adds at least one segment for this many acknowledged
        count_clamp: u32 as "cubic_count_clamp" = 20, in 0..=u32::MAX;
        /// CUBIC ignores delay samples for this long after a reduction
        delay_ignore: Duration as "cubic_delay_ignore" = Duration::from_secs(1);
        ..hystart: hystart::Parameters;
    }
}

impl Parameters {
    pub(super) const fn validate(&self, _marks_reported: bool) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// State of one connection.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Cubic {
    window: Window,
    /// Bytes acknowledged since the window last grew.
    counted: u32,
    /// Bytes needed for it to grow.
    needed: u32,
    /// The window for which `needed` was computed, the bytes acknowledged since, and the time.
    for_window: u32,
    since: u32,
    computed: u64,
    /// Start of the epoch, picoseconds; `None` before the first ACK after a reduction.
    epoch: Option<Time>,
    /// Window before the last reduction, segments; 0: none.
    w_max: u32,
    /// Where the curve is flat: segments, and seconds from the epoch's start.
    origin: u32,
    k: f64,
    /// The window that Reno would have, segments, and bytes acknowledged towards its next segment.
    w_reno: u32,
    reno_counted: u32,
    /// Window at the last reduction, segments: up to it `w_reno` grows by less than a segment per round.
    prior: u32,
    /// `w_max` before the last reduction.
    w_max_before: u32,
    /// Minimum round-trip time, picoseconds; 0: none.
    least_delay: u64,
    hystart: HyStart,
}

impl Controller for Cubic {
    type Own = Parameters;

    state_in!(window);

    #[inline]
    fn on_ack(&mut self, settings: &Settings<'_, Parameters>, ack: &Ack) {
        self.round_trip(settings, ack);
        if ack.may_grow {
            self.increase(settings, ack);
        }
    }

    /// RFC 9438, sections 4.6 and 4.7.
    fn on_congestion_event(&mut self, settings: &Settings<'_, Parameters>, _cause: Cause, _flight: u32) {
        let mss = settings.segment;
        let segments = self.window.cwnd / mss;
        self.w_max_before = self.w_max;
        self.prior = segments;
        self.w_max = if segments < self.w_max && settings.own.fast_convergence {
            (f64::from(segments) * (1.0 + settings.own.beta) / 2.0) as u32
        } else {
            segments
        };
        self.epoch = None;
        let kept = (f64::from(segments) * settings.own.beta) as u32;
        self.window.reduce(kept.max(2).saturating_mul(mss));
    }

    /// A timeout resets the curve and the path's minimum delay, as in Linux and ns-3.
    fn on_timeout(&mut self, settings: &Settings<'_, Parameters>, timeout: &Timeout) {
        if !timeout.again {
            self.on_congestion_event(settings, Cause::Loss, timeout.flight);
        }
        self.w_max_before = self.w_max;
        self.w_max = 0;
        self.origin = 0;
        self.k = 0.0;
        self.least_delay = 0;
        self.epoch = None;
        self.hystart.reset(timeout.now, timeout.high);
        self.window.cwnd = timeout.window;
    }

    /// RFC 9438, section 4.9.
    fn on_spurious(&mut self, settings: &Settings<'_, Parameters>, prior: Window) {
        self.window.restore(prior);
        self.w_max = self.w_max_before.max(prior.cwnd / settings.segment);
        self.epoch = None;
    }
}

impl Cubic {
    pub(super) fn new(_settings: &Settings<'_, Parameters>, window: Window) -> Self {
        Self {
            window,
            counted: 0,
            needed: 0,
            for_window: 0,
            computed: 0,
            since: 0,
            epoch: None,
            w_max: 0,
            origin: 0,
            k: 0.0,
            w_reno: 0,
            reno_counted: 0,
            prior: 0,
            w_max_before: 0,
            least_delay: 0,
            hystart: HyStart::default(),
        }
    }

    #[inline]
    fn round_trip(&mut self, settings: &Settings<'_, Parameters>, ack: &Ack) {
        let (window, rtt) = (&mut self.window, ack.rtt);
        if rtt == 0
            || self.epoch.is_some_and(|epoch| ack.now.saturating_since(epoch) < settings.own.delay_ignore)
        {
            return;
        }
        if self.least_delay == 0 || rtt < self.least_delay {
            self.least_delay = rtt;
        }
        let counts = window.in_slow_start() || settings.as_ns3 && window.cwnd == window.ssthresh;
        if self.hystart.found || !counts {
            return;
        }
        match settings.own.hystart.mode {
            Mode::Off => {}
            Mode::Classic => {
                // Linux since 5.16 (`hystart_update`) starts a round before it measures its first ACK.
                if !settings.as_ns3 {
                    self.hystart.round(ack);
                }
                if window.cwnd >= settings.own.hystart.low_window.saturating_mul(settings.segment) {
                    self.hystart.classic(
                        &settings.with(&settings.own.hystart),
                        window,
                        ack,
                        self.least_delay,
                    );
                }
            }
            Mode::PlusPlus => self.hystart.plus_plus(&settings.with(&settings.own.hystart), window, ack),
        }
    }

    #[inline]
    fn increase(&mut self, settings: &Settings<'_, Parameters>, ack: &Ack) {
        if self.window.in_slow_start() {
            self.slow_start(settings, ack);
            return;
        }
        if ack.bytes == 0 {
            return;
        }
        self.counted = self.counted.saturating_add(ack.bytes);
        if settings.own.reno_friendly {
            self.reno_counted = self.reno_counted.saturating_add(ack.bytes);
        }
        self.since = self.since.saturating_add(ack.bytes);
        let stale = settings.as_ns3
            || ack.now.ps().wrapping_sub(self.computed) >= STALE
            || self.since > self.window.cwnd / 8;
        if self.for_window != self.window.cwnd || stale || self.epoch.is_none() {
            self.compute(settings, ack.now);
        }
        if self.counted >= self.needed {
            self.counted -= self.needed;
            self.window.grow(settings.segment);
        }
    }

    fn slow_start(&mut self, settings: &Settings<'_, Parameters>, ack: &Ack) {
        let window = &mut self.window;
        if settings.own.hystart.mode == Mode::Classic && settings.as_ns3 {
            // ns-3 starts a round after it has measured its first ACK as one of the last round.
            self.hystart.round(ack);
        }
        let bytes = self.hystart.growth(ack.bytes);
        // Linux stops at the threshold, ns-3 passes it.
        let room = match settings.growth {
            WindowGrowth::PerByte => window.ssthresh - window.cwnd,
            WindowGrowth::PerAck => u32::MAX,
        };
        window.grow(bytes.min(room));
    }

    /// RFC 9438, sections 4.2 to 4.5, as the bytes to acknowledge per segment of growth.
    fn compute(&mut self, settings: &Settings<'_, Parameters>, now: Time) {
        let mss = settings.segment;
        let segments = self.window.cwnd / mss;
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => {
                self.epoch = Some(now);
                if self.w_max <= segments {
                    self.k = 0.0;
                    self.origin = segments;
                } else {
                    self.k = cube_root(f64::from(self.w_max - segments) / settings.own.c);
                    self.origin = self.w_max;
                }
                self.w_reno = segments;
                self.reno_counted = 0;
                now
            }
        };
        let t = (now.saturating_since(epoch).ps() + self.least_delay) as f64 / SECOND;
        let offset = t - self.k;
        let delta = (settings.own.c * (offset * offset * offset).abs()) as u32;
        let target =
            if offset < 0.0 { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) };
        let mut count =
            if target > segments { segments / (target - segments) } else { segments.saturating_mul(100) };
        if self.w_max == 0 && count > settings.own.count_clamp {
            count = settings.own.count_clamp;
        }
        if settings.own.reno_friendly {
            count = count.min(self.reno_count(settings, segments, mss));
        }
        self.needed = count.max(2).saturating_mul(mss);
        self.for_window = self.window.cwnd;
        self.computed = now.ps();
        self.since = 0;
    }

    /// RFC 9438, section 4.3: the count with which the window reaches that of Reno within a round trip.
    fn reno_count(&mut self, settings: &Settings<'_, Parameters>, segments: u32, mss: u32) -> u32 {
        // Per window acknowledged, w_reno grows by alpha = 3 (1 - beta) / (1 + beta), above the prior window by 1.
        let below = (1.0 + settings.own.beta) / (3.0 * (1.0 - settings.own.beta));
        loop {
            let windows = if self.w_reno < self.prior { below } else { 1.0 };
            let step = (f64::from(segments) * f64::from(mss) * windows) as u32;
            if step == 0 || self.reno_counted <= step {
                break;
            }
            self.reno_counted -= step;
            self.w_reno = self.w_reno.saturating_add(1);
        }
        if self.w_reno > segments { segments / (self.w_reno - segments) } else { u32::MAX }
    }
}

/// Cube root by Halley's method: bit-identical on every machine, unlike a math library's.
fn cube_root(x: f64) -> f64 {
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2a9f_7893_0000_0000);
    for _ in 0..4 {
        let cube = root * root * root;
        root *= (cube + 2.0 * x) / (2.0 * cube + x);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn ack(at_ms: u64, bytes: u32) -> Ack {
        let now = Time::from_ps(at_ms * 1_000_000_000);
        Ack { now, bytes, una: 1, high: 1, srtt: 0, rtt: 0, may_grow: true }
    }

    #[test]
    fn the_window_returns_to_where_it_was_after_k_seconds() {
        let mut cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        let parameters = &mut cfg.congestion.cubic;
        (parameters.reno_friendly, parameters.c, parameters.beta) = (false, 0.4, 0.7);
        let settings = cfg.settings_with(&cfg.congestion.cubic);
        let mut cubic = Cubic::new(&settings, Window { cwnd: 100_000, ssthresh: 50_000 });
        cubic.on_congestion_event(&settings, Cause::Loss, 100_000);
        assert_eq!(cubic.window(), 70_000);
        // K = cbrt(30 / 0.4) = 4.2 s; an ACK for two segments each millisecond.
        for ms in 0..4_200 {
            cubic.on_ack(&settings, &ack(ms, 2000));
        }
        assert!((97_000..=100_000).contains(&cubic.window()), "{}", cubic.window());
        for ms in 4_200..9_000 {
            cubic.on_ack(&settings, &ack(ms, 2000));
        }
        assert!(
            (135_000..=148_000).contains(&cubic.window()),
            "{} against 100 + 0.4 * 4.8^3",
            cubic.window()
        );
    }

    #[test]
    fn cube_roots_are_right_to_the_last_digits() {
        for x in [0.5, 1.0, 27.0, 75.0, 1e6, 2.5e9] {
            let root = cube_root(x);
            assert!((root * root * root / x - 1.0).abs() < 1e-14, "{x}: {root}");
        }
    }

    #[test]
    fn a_second_loss_below_the_last_maximum_gives_way() {
        let mut cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        cfg.congestion.cubic.beta = 0.7;
        let settings = cfg.settings_with(&cfg.congestion.cubic);
        let mut cubic = Cubic::new(&settings, Window { cwnd: 100_000, ssthresh: 0 });
        cubic.on_congestion_event(&settings, Cause::Loss, 100_000);
        cubic.on_recovery(80_000);
        cubic.on_congestion_event(&settings, Cause::Loss, 80_000);
        assert_eq!(cubic.w_max, 68);
    }

    #[test]
    fn with_short_round_trips_the_window_grows_like_renos() {
        let cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        let settings = cfg.settings_with(&cfg.congestion.cubic);
        let mut cubic = Cubic::new(&settings, Window { cwnd: 100_000, ssthresh: 50_000 });
        cubic.on_congestion_event(&settings, Cause::Loss, 100_000);
        let before = cubic.window();
        for round in 0..19 {
            for _ in 0..cubic.window() / 2000 {
                cubic.on_ack(&settings, &ack(round / 10, 2000));
            }
        }
        let grown = (cubic.window() - before) / 1000;
        assert!((8..=11).contains(&grown), "19 rounds of 0.53 segments, grown by {grown}");
    }
}
