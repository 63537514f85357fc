//! [`Timely`]: a rate by the gradient of round-trip times (Mittal et al., SIGCOMM 2015, algorithm 1).

use std::ops::Bound::{Excluded, Included};
use std::ops::RangeInclusive;

use weft_units::{Bytes, Duration, Rate, Time, params};

use super::path::{Feedback, Path, RATES};

/// The range of thresholds of round-trip times.
const ROUND_TRIPS: RangeInclusive<Duration> = Duration::from_ns(1)..=Duration::from_secs(60);

params! {
    /// The parameters of TIMELY. The defaults are those of the paper, and the weight of Zhu et al. (CoNEXT 2016).
    #[derive(Clone, PartialEq, Debug)]
    pub struct TimelyConfig {
        /// round-trip time below which the rate always increases
        low: Duration as "timely_low" = Duration::from_us(50), in ROUND_TRIPS;
        /// round-trip time above which the rate always decreases
        high: Duration as "timely_high" = Duration::from_us(500), in ROUND_TRIPS;
        /// additive increase of the rate
        step: Rate as "timely_step" = Rate::from_bps(10_000_000), in RATES;
        /// the decrease factor beta
        beta: f64 as "timely_beta" = 0.8, in (Excluded(0.0), Included(1.0));
        /// weight of the latest difference of round-trip times in their moving average
        weight: f64 as "timely_weight" = 0.875, in (Excluded(0.0), Included(1.0));
        /// completions in a row whose gradient is not positive from which on the step counts five times
        hyper_after: u32 as "timely_hyper_after" = 5, in 1..=u32::MAX;
        /// payload of a segment: each one that is acknowledged is a completion, which changes the rate unless the last
        /// change was less than `base_rtt` before
        segment: Bytes as "timely_segment" = Bytes(16_000), in Bytes(1)..=Bytes(1 << 30);
    }
}

/// How many steps count as one in hyperactive increase.
const HYPER: f64 = 5.0;

/// The rate of a sender.
#[derive(Clone, Debug)]
pub struct Timely {
    /// The least and the largest rate in bits per second.
    bounds: [f64; 2],
    rate: f64,
    /// The base round trip.
    base: Duration,
    /// The last round-trip time in seconds.
    last: Option<f64>,
    /// The moving average of differences of round-trip times in seconds.
    difference: f64,
    /// Completions in a row whose gradient was not positive.
    calm: u32,
    /// Packets of a segment.
    segment: u32,
    /// The packet after the present segment.
    end: u32,
    /// The first time of the next change.
    from: Time,
}

impl Timely {
    /// A sender that starts at the rate of its link, with packets of `mtu` bytes. `least` is the rate below which it
    /// does not decrease.
    pub fn new(config: &TimelyConfig, mtu: u16, least: Rate, path: &Path) -> Self {
        let segment = config.segment.0.div_ceil(u64::from(mtu)) as u32;
        let [least, line] = [least, path.line].map(|rate| rate.bps() as f64);
        Self {
            bounds: [least.min(line), line],
            rate: line,
            base: path.round_trip,
            last: None,
            difference: 0.0,
            calm: 0,
            segment,
            end: segment,
            from: Time::ZERO,
        }
    }

    /// The rate in bits per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// An acknowledgement arrives. The interval of changes is that of the fluid model (Zhu et al., CoNEXT 2016).
    pub fn receive(&mut self, config: &TimelyConfig, now: Time, feedback: &Feedback<'_>) {
        if feedback.next >= self.end && now >= self.from {
            self.end = feedback.next.saturating_add(self.segment);
            self.from = now + self.base;
            self.complete(config, feedback.round_trip);
        }
    }

    /// A segment is acknowledged, after this time.
    pub fn complete(&mut self, config: &TimelyConfig, round_trip: Duration) {
        let now = round_trip.as_secs_f64();
        let Some(last) = self.last.replace(now) else { return };
        self.difference += config.weight * (now - last - self.difference);
        let gradient = self.difference / self.base.as_secs_f64();
        self.calm = if gradient > 0.0 { 0 } else { self.calm.saturating_add(1) };
        let step = config.step.bps() as f64;
        let rate = if round_trip < config.low {
            self.rate + step
        } else if round_trip > config.high {
            self.rate * (1.0 - config.beta * (1.0 - config.high.as_secs_f64() / now))
        } else if gradient > 0.0 {
            self.rate * (1.0 - config.beta * gradient)
        } else if self.calm >= config.hyper_after {
            self.rate + HYPER * step
        } else {
            self.rate + step
        };
        let [least, most] = self.bounds;
        self.rate = rate.clamp(least, most);
    }
}
