//! [`Swift`]: a window by a target for the delay (Kumar et al., SIGCOMM 2020, algorithm 1).

use std::ops::Bound::{Excluded, Included};
use std::ops::RangeInclusive;

use weft_units::{Duration, Time, params};

use super::path::{Feedback, Path};

/// The range of delays.
const DELAYS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(60);
/// The range of windows in packets.
const WINDOWS: (std::ops::Bound<f64>, std::ops::Bound<f64>) = (Included(0.001), Included(65_536.0));

params! {
    /// The parameters of Swift. The defaults are those of csg-htsim.
    #[derive(Clone, PartialEq, Debug)]
    pub struct SwiftConfig {
        /// the target for the delay of a path without switches and with a large window
        base_target: Duration as "swift_base_target" = Duration::from_us(20), in DELAYS;
        /// addition to the target for each switch on the path
        hop_target: Duration as "swift_hop_target" = Duration::from_ns(3053), in DELAYS;
        /// addition to the target for a window of `swift_flow_min` or less; it falls with the window to zero at
        /// `swift_flow_max`
        flow_target: Duration as "swift_flow_target" = Duration::from_us(100), in DELAYS;
        /// window in packets up to which the target has all of `swift_flow_target`
        flow_min: f64 as "swift_flow_min" = 0.1, in WINDOWS;
        /// window in packets from which on the target has nothing of `swift_flow_target`
        flow_max: f64 as "swift_flow_max" = 100.0, in WINDOWS;
        /// additive increase of the window in packets per round trip
        increase: f64 as "swift_increase" = 1.0, in (Excluded(0.0), Included(1_000.0));
        /// the decrease factor beta
        beta: f64 as "swift_beta" = 0.8, in (Excluded(0.0), Included(1.0));
        /// the largest share of its window that a sender gives up at once
        max_decrease: f64 as "swift_max_decrease" = 0.5, in (Excluded(0.0), Excluded(1.0));
        /// timeouts in a row from which on the window is `swift_min_window`
        reset_after: u32 as "swift_reset_after" = 5, in 1..=u32::MAX;
        /// the window in packets with which a flow starts
        first_window: f64 as "swift_first_window" = 12.0, in WINDOWS;
        /// the least window in packets; with less than one, a sender waits more than a round trip after each packet
        min_window: f64 as "swift_min_window" = 0.01, in WINDOWS;
        /// the largest window in packets
        max_window: f64 as "swift_max_window" = 1_000.0, in WINDOWS;
    }
}

/// The window of a sender.
#[derive(Clone, Debug)]
pub struct Swift {
    /// The window in packets.
    window: f64,
    /// The target for the delay without the part that depends on the window.
    target: Duration,
    /// The last round-trip time.
    round_trip: Duration,
    /// When the window decreased last.
    decreased: Option<Time>,
    /// Timeouts in a row.
    timeouts: u32,
}

impl Swift {
    /// The sender of a flow with this path.
    pub fn new(config: &SwiftConfig, path: &Path) -> Self {
        Self {
            window: config.first_window.clamp(config.min_window, config.max_window),
            target: config.base_target + config.hop_target * u64::from(path.switches),
            round_trip: path.round_trip,
            decreased: None,
            timeouts: 0,
        }
    }

    /// The window in packets.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// The most packets in flight.
    pub fn packets(&self) -> u32 {
        self.window.max(1.0) as u32
    }

    /// The time from one packet to the next, if the window is less than a packet.
    pub fn gap(&self) -> Option<Duration> {
        (self.window < 1.0).then(|| Duration::from_ps((self.round_trip.ps() as f64 / self.window) as u64))
    }

    /// The target for the delay with the present window.
    pub fn target(&self, config: &SwiftConfig) -> Duration {
        let [now, least, most] =
            [self.window, config.flow_min, config.flow_max].map(|window| 1.0 / window.sqrt());
        let share = ((now - most) / (least - most)).clamp(0.0, 1.0);
        self.target + Duration::from_ps((config.flow_target.ps() as f64 * share) as u64)
    }

    /// An acknowledgement arrives.
    pub fn receive(&mut self, config: &SwiftConfig, now: Time, feedback: &Feedback<'_>) {
        self.timeouts = 0;
        self.round_trip = feedback.round_trip;
        let (delay, target) = (feedback.round_trip, self.target(config));
        if feedback.shows_loss {
            self.decrease(config, now, config.max_decrease);
        } else if delay < target {
            let more = config.increase * f64::from(feedback.acknowledged);
            self.window += if self.window < 1.0 { more } else { more / self.window };
            self.window = self.window.min(config.max_window);
        } else {
            let excess = (delay - target).as_secs_f64() / delay.as_secs_f64();
            self.decrease(config, now, (config.beta * excess).min(config.max_decrease));
        }
    }

    /// The sender has waited in vain for acknowledgements.
    pub fn time_out(&mut self, config: &SwiftConfig, now: Time) {
        self.timeouts = self.timeouts.saturating_add(1);
        if self.timeouts < config.reset_after {
            self.decrease(config, now, config.max_decrease);
        } else if self.window > config.min_window {
            (self.window, self.decreased) = (config.min_window, Some(now));
        }
    }

    /// Gives up this share of the window, at most once in a round trip.
    fn decrease(&mut self, config: &SwiftConfig, now: Time, share: f64) {
        let is_recent = self.decreased.is_some_and(|at| now.saturating_since(at) < self.round_trip);
        if !is_recent && share > 0.0 {
            self.window = (self.window * (1.0 - share)).max(config.min_window);
            self.decreased = Some(now);
        }
    }
}
