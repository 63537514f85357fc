//! [`Dcqcn`]: a sender's rate.
//!
//! Its timers are not events: their effects are applied when the rate is read or a notification arrives.

use weft_units::{Bytes, Duration, Rate, Time};

use super::config::Config;
use super::path::gap;

/// The rate of a sender, in bits per second.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    line: f64,
    rate: f64,
    target: f64,
    alpha: f64,
    /// When alpha is updated next; [`Time::MAX`] before the first notification.
    alpha_at: Time,
    /// Whether a notification has arrived since the last update.
    is_notified: bool,
    /// When the rate decreases, if a notification has arrived since it last might have.
    decrease_at: Time,
    /// The first time at which the rate might have decreased.
    decreases_from: Time,
    /// When the rate increases next; [`Time::MAX`] before the first decrease.
    increase_at: Time,
    /// Increases by time and by bytes since the last decrease.
    stages: [u32; 2],
    /// Bytes sent since the last increase by bytes.
    sent: u64,
}

impl Dcqcn {
    /// A sender that starts at the rate of its line.
    pub fn new(line: Rate) -> Self {
        let line = line.bps() as f64;
        Self {
            line,
            rate: line,
            target: line,
            alpha: 1.0,
            alpha_at: Time::MAX,
            is_notified: false,
            decrease_at: Time::MAX,
            decreases_from: Time::ZERO,
            increase_at: Time::MAX,
            stages: [0, 0],
            sent: 0,
        }
    }

    /// The rate `now`, in bits per second.
    pub fn rate(&mut self, config: &Config, now: Time) -> f64 {
        self.advance(config, now);
        self.rate
    }

    /// How long a packet of `wire_bytes` occupies a line of the present rate.
    pub fn gap(&mut self, config: &Config, now: Time, wire_bytes: u32) -> Duration {
        let rate = self.rate(config, now);
        gap(wire_bytes, rate)
    }

    /// The estimate of congestion.
    pub fn alpha(&mut self, config: &Config, now: Time) -> f64 {
        self.advance(config, now);
        self.estimate(config, now);
        self.alpha
    }

    /// A notification arrives.
    pub fn notify(&mut self, config: &Config, now: Time) {
        self.advance(config, now);
        if self.alpha_at == Time::MAX {
            self.alpha_at = now + config.alpha_interval;
            self.decreases_from = now + config.decrease_interval;
            self.decrease_at = self.decreases_from;
            self.rate *= config.rate_on_first_cnp;
            self.target = self.rate;
            return;
        }
        self.estimate(config, now);
        self.is_notified = true;
        if self.decrease_at == Time::MAX {
            let interval = config.decrease_interval.ps();
            let passed = now.saturating_since(self.decreases_from).ps();
            let steps = if now < self.decreases_from { 0 } else { passed / interval + 1 };
            self.decrease_at = self.decreases_from + Duration::from_ps(steps * interval);
        }
    }

    /// The sender has sent this much.
    pub fn sent(&mut self, config: &Config, now: Time, bytes: u32) {
        let most = config.increase_bytes;
        if most == Bytes(0) || self.increase_at == Time::MAX {
            return;
        }
        self.sent += u64::from(bytes);
        if self.sent >= most.0 {
            self.sent = 0;
            self.advance(config, now);
            self.increase(config, 1);
        }
    }

    /// Applies the timers due by `now`.
    fn advance(&mut self, config: &Config, now: Time) {
        while self.decrease_at.min(self.increase_at) <= now {
            if self.decrease_at <= self.increase_at {
                let at = self.decrease_at;
                self.decrease(config, at);
            } else if self.is_at_line() {
                let interval = config.increase_interval.ps();
                let passed = now.saturating_since(self.increase_at).ps() / interval + 1;
                self.increase_at += Duration::from_ps(passed * interval);
            } else {
                self.increase_at += config.increase_interval;
                self.increase(config, 0);
            }
        }
    }

    /// Whether increases change nothing: the rate is within a bit per second of the line's.
    fn is_at_line(&self) -> bool {
        self.line - self.rate < 1.0
    }

    fn decrease(&mut self, config: &Config, at: Time) {
        self.estimate(config, at);
        self.decrease_at = Time::MAX;
        if config.clamp_target_rate || self.stages != [0, 0] {
            self.target = self.rate;
        }
        let least = (config.min_rate.bps() as f64).min(self.line);
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(least);
        self.stages = [0, 0];
        self.sent = 0;
        self.increase_at = at + config.increase_interval;
    }

    /// An increase by time (0) or by bytes (1).
    fn increase(&mut self, config: &Config, by: usize) {
        // Without increases by bytes, both count as one.
        let [time, bytes] = self.stages;
        let [time, bytes] = if config.increase_bytes == Bytes(0) { [time; 2] } else { [time, bytes] };
        let (least, most) = (time.min(bytes), time.max(bytes));
        if most >= config.fast_recovery_times {
            let more = if least > config.fast_recovery_times {
                config.hyper_increase
            } else {
                config.additive_increase
            };
            self.target = (self.target + more.bps() as f64).min(self.line);
        }
        self.rate = (self.rate + self.target) / 2.0;
        self.stages[by] = self.stages[by].saturating_add(1);
    }

    /// Updates alpha to `now`.
    fn estimate(&mut self, config: &Config, now: Time) {
        if now < self.alpha_at {
            return;
        }
        let interval = config.alpha_interval.ps();
        let updates = now.saturating_since(self.alpha_at).ps() / interval + 1;
        self.alpha_at += Duration::from_ps(updates * interval);
        let gain = config.alpha_gain;
        if std::mem::take(&mut self.is_notified) {
            self.alpha = (1.0 - gain) * self.alpha + gain;
            self.alpha *= power(1.0 - gain, updates - 1);
        } else {
            self.alpha *= power(1.0 - gain, updates);
        }
    }
}

/// A power by squaring, the same on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}
