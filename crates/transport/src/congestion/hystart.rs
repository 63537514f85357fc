//! [`HyStart`]: leaving slow start before the queue overflows, by ACK trains and delay (classic) or
//! by delay with a conservative slow start (RFC 9406, HyStart++).

use weft_units::{Duration, Time, params, words};

use super::controller::Ack;
use super::settings::Settings;
use super::window::Window;
use crate::seq::before;

/// Rounds of conservative slow start (RFC 9406, CSS_ROUNDS).
const CSS_ROUNDS: u8 = 5;
/// Its growth relative to slow start (RFC 9406, CSS_GROWTH_DIVISOR).
const CSS_DIVISOR: u32 = 4;
/// Minimum and maximum of the delay threshold (RFC 9406, section 4.3): 4 and 16 ms.
const PLUS_PLUS_DELAY: (u64, u64) = (4_000_000_000, 16_000_000_000);

words! {
    /// How CUBIC leaves slow start before a loss.
    pub enum Mode {
        /// It does not.
        Off = "off",
        /// By ACK trains and by delay, as in Linux and ns-3.
        Classic = "classic",
        /// RFC 9406: by delay, with a conservative slow start that may return to slow start.
        PlusPlus = "++",
    }
}

params! {
    /// HyStart's parameters.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Parameters {
        /// CUBIC's exit from slow start before a loss
        mode: Mode as "hystart" = Mode::Classic;
        /// minimum window for classic HyStart, in segments
        low_window: u32 as "hystart_low_window" = 16, in 0..=u32::MAX;
        /// minimum number of samples per round for HyStart
        min_samples: u8 as "hystart_min_samples" = 8, in 0..=u8::MAX;
        /// ACKs closer together than this form a train
        ack_delta: Duration as "hystart_ack_delta" = Duration::from_ms(2);
        /// length of the ACK train that ends slow start: half the minimum delay (Linux; all of it with `pacing`), or all
        /// of it (ns-3)
        half_train: bool as "hystart_half_train" = true;
        /// smallest delay increase that ends slow start
        delay_min: Duration as "hystart_delay_min" = Duration::from_ms(4);
        /// delay increase that always ends slow start
        delay_max: Duration as "hystart_delay_max" = Duration::from_ms(16);
    }
}

/// Observations of a round of slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    round_start: Time,
    last_ack: Time,
    /// Minimum round-trip time of this round, picoseconds; 0: none.
    current: u64,
    /// Minimum round-trip time of the previous round (++); in conservative slow start, the minimum at its entry.
    baseline: u64,
    /// Sequence number at which the round ends.
    end: u32,
    samples: u8,
    /// Rounds of conservative slow start left; 0: not in it.
    conservative: u8,
    in_round: bool,
    /// Slow start was left.
    pub(super) found: bool,
}

impl HyStart {
    /// Starts a round if `ack` lies beyond the last one.
    #[inline]
    pub(super) fn round(&mut self, ack: &Ack) {
        if !self.in_round || before(self.end, ack.una) {
            self.restart(ack.now, ack.high);
        }
    }

    fn restart(&mut self, now: Time, end: u32) {
        self.round_start = now;
        self.last_ack = now;
        self.end = end;
        self.samples = 0;
        self.current = 0;
        self.in_round = true;
    }

    /// A timeout: start again.
    pub(super) fn reset(&mut self, now: Time, end: u32) {
        self.found = false;
        self.conservative = 0;
        self.baseline = 0;
        self.restart(now, end);
    }

    /// Processes a round-trip sample. Sets the threshold to the window when slow start should end.
    pub(super) fn classic(
        &mut self,
        settings: &Settings<'_, Parameters>,
        window: &mut Window,
        ack: &Ack,
        least: u64,
    ) {
        let rtt = ack.rtt;
        if ack.now.saturating_since(self.last_ack) <= settings.own.ack_delta {
            self.last_ack = ack.now;
            let limit = match (settings.own.half_train, settings.paced) {
                (false, _) => least,
                (true, false) => (least + train_slack(window, ack.srtt)) / 2,
                // Linux: pacing delays segments by up to half a round trip.
                (true, true) => least + train_slack(window, ack.srtt),
            };
            self.found |= ack.now.saturating_since(self.round_start).ps() > limit;
        }
        let counts = self.samples < settings.own.min_samples;
        // ns-3 takes the minimum of the first samples only, Linux since 5.9 that of the whole round.
        if (counts || !settings.as_ns3) && (self.current == 0 || rtt < self.current) {
            self.current = rtt;
        }
        if counts {
            self.samples += 1;
        } else {
            let (low, high) = (settings.own.delay_min.ps(), settings.own.delay_max.ps());
            let part = if settings.own.half_train { least / 8 } else { least };
            self.found |= self.current > least + part.clamp(low, high.max(low));
        }
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }

    /// Processes a round-trip sample in slow start (RFC 9406, section 4.2).
    pub(super) fn plus_plus(&mut self, settings: &Settings<'_, Parameters>, window: &mut Window, ack: &Ack) {
        if !self.in_round || before(self.end, ack.una) {
            if self.in_round && self.conservative == 0 {
                self.baseline = self.current;
            }
            if self.conservative > 0 {
                self.conservative -= 1;
                if self.conservative == 0 {
                    self.found = true;
                    window.ssthresh = window.cwnd;
                    return;
                }
            }
            self.restart(ack.now, ack.high);
        }
        if self.current == 0 || ack.rtt < self.current {
            self.current = ack.rtt;
        }
        self.samples = self.samples.saturating_add(1);
        if self.samples >= settings.own.min_samples && self.baseline > 0 {
            if self.conservative == 0 {
                let threshold = (self.baseline / 8).clamp(PLUS_PLUS_DELAY.0, PLUS_PLUS_DELAY.1);
                if self.current >= self.baseline + threshold {
                    self.baseline = self.current;
                    self.conservative = CSS_ROUNDS;
                }
            } else if self.current < self.baseline {
                self.conservative = 0;
                self.baseline = self.current;
            }
        }
    }

    /// By how many of the acknowledged bytes slow start may grow.
    pub(super) fn growth(&self, bytes: u32) -> u32 {
        if self.conservative > 0 { bytes / CSS_DIVISOR } else { bytes }
    }
}

/// How much longer than the minimum delay a train may be in Linux: the time of four maximum-size GSO
/// segments at the 200 % pacing rate, at most 1 ms.
fn train_slack(window: &Window, srtt: u64) -> u64 {
    let slack = u128::from(srtt) * (4 * 65_536) / (2 * u128::from(window.cwnd.max(1)));
    slack.min(1_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use weft_units::Duration;

    use super::*;
    use crate::config::Config;

    fn ack(at_us: u64, una: u32, high: u32, rtt: u64) -> Ack {
        let now = Time::from_ps(at_us * 1_000_000);
        Ack { now, bytes: 1000, una, high, srtt: rtt, rtt, may_grow: true }
    }

    #[test]
    fn a_long_train_ends_slow_start() {
        // With a delay of 100 us, Linux allows a train for 655 us more: four maximum-size GSO segments.
        for (profile, pacing, limit) in
            [("ns3-3.37", false, 100), ("linux", false, 377), ("linux", true, 755)]
        {
            let cfg = Config { pacing, ..Config::profile(profile).unwrap() };
            let settings = cfg.settings_with(&cfg.congestion.cubic.hystart);
            let mut hystart = HyStart::default();
            let mut window = Window { cwnd: 20_000, ssthresh: u32::MAX };
            hystart.round(&ack(1000, 1, 20_000, 0));
            for (at, ends) in [(1000 + limit, false), (1001 + limit, true)] {
                hystart.classic(&settings, &mut window, &ack(at, 1000, 20_000, 100_000_000), 100_000_000);
                assert_eq!(hystart.found, ends, "{profile}, pacing {pacing}, {at} us");
            }
            assert_eq!(window.ssthresh, 20_000);
        }
    }

    #[test]
    fn the_least_delay_is_that_of_the_whole_round_in_linux_and_of_its_first_samples_in_ns3() {
        for (profile, leaves) in [("linux", false), ("ns3-3.37", true)] {
            let mut cfg = Config::profile(profile).unwrap();
            cfg.congestion.cubic.hystart.ack_delta = Duration::ZERO;
            let settings = cfg.settings_with(&cfg.congestion.cubic.hystart);
            let mut hystart = HyStart::default();
            let mut window = Window { cwnd: 20_000, ssthresh: u32::MAX };
            hystart.round(&ack(1000, 1, 20_000, 0));
            let ms = 1_000_000_000;
            let samples = (0..8).map(|_| 30 * ms).chain([10 * ms, 30 * ms]);
            for (n, rtt) in samples.enumerate() {
                let ack = ack(2000 + n as u64 * 10_000, 1000, 20_000, rtt);
                // The ninth equals the overall minimum.
                hystart.classic(&settings, &mut window, &ack, 10 * ms);
            }
            assert_eq!(hystart.found, leaves, "{profile}");
        }
    }

    #[test]
    fn rising_delay_slows_slow_start_to_a_quarter_and_falling_delay_takes_it_back() {
        let cfg = Config::profile("linux").unwrap();
        let ms = 1_000_000_000;
        let settings = cfg.settings_with(&cfg.congestion.cubic.hystart);
        let mut hystart = HyStart::default();
        let mut window = Window { cwnd: 20_000, ssthresh: u32::MAX };
        let mut grow = |at, una, high, rtt| {
            hystart.plus_plus(&settings, &mut window, &ack(at, una, high, rtt));
            hystart.growth(1000)
        };
        for i in 0..10 {
            assert_eq!(grow(i, 1 + i as u32, 100, 10 * ms), 1000);
        }
        for i in 0..7 {
            assert_eq!(grow(100 + i, 101 + i as u32, 200, 20 * ms), 1000, "too few samples");
        }
        assert_eq!(grow(120, 110, 200, 20 * ms), 250);
        assert_eq!(grow(130, 201, 300, 12 * ms), 250);
        for i in 0..7 {
            grow(131 + i, 202 + i as u32, 300, 12 * ms);
        }
        assert_eq!(grow(150, 220, 300, 12 * ms), 1000, "it was a false alarm");
    }
}
