//! [`Hpcc`]: a window by the telemetry of switches (Li et al., SIGCOMM 2019, algorithm 1).

use std::ops::Bound::{Excluded, Included};

use weft_units::{Bytes, Rate, params};

use super::path::{Feedback, Path};
use super::telemetry::Telemetry;

params! {
    /// The parameters of HPCC. The defaults are those of the paper and its ns-3 code.
    #[derive(Clone, PartialEq, Debug)]
    pub struct HpccConfig {
        /// the utilisation eta of the busiest link at which HPCC aims
        eta: f64 as "hpcc_eta" = 0.95, in (Excluded(0.0), Included(1.0));
        /// round trips in a row in which the window only increases by `hpcc_increase`, before it follows the
        /// utilisation again
        max_stage: u32 as "hpcc_max_stage" = 5, in 0..=u32::MAX;
        /// additive increase of the window
        increase: Bytes as "hpcc_increase" = Bytes(80), in Bytes(0)..=Bytes(1_000_000);
        /// switches on a path whose telemetry a packet has room for, eight bytes each
        hops: u8 as "hpcc_hops" = 5, in 1..=8;
    }
}

/// The window of a sender.
#[derive(Clone, Debug)]
pub struct Hpcc {
    /// The base round trip T in seconds.
    base: f64,
    /// The least and the largest window in bytes. With the largest, the rate is that of the link.
    bounds: [f64; 2],
    /// The window of the last round trip in bytes, from which each acknowledgement computes another one.
    reference: f64,
    /// The window in bytes.
    window: f64,
    /// The average utilisation of the busiest link.
    utilisation: f64,
    /// Round trips in a row with additive increases.
    stage: u32,
    /// The next acknowledgement beyond this packet is a round trip later.
    update_beyond: u32,
    /// The telemetry received last.
    last: Option<Telemetry>,
}

impl Hpcc {
    /// A sender that starts at the rate of its link, with a window of the product of this rate and the base round trip.
    /// `least` is the rate below which it does not decrease.
    pub fn new(least: Rate, path: &Path) -> Self {
        let base = path.round_trip.as_secs_f64();
        let [least, most] = [least, path.line].map(|rate| rate.bps() as f64 * base / 8.0);
        Self {
            base,
            bounds: [least.min(most), most],
            reference: most,
            window: most,
            utilisation: 1.0,
            stage: 0,
            update_beyond: 0,
            last: None,
        }
    }

    /// The rate in bits per second.
    pub fn rate(&self) -> f64 {
        self.window * 8.0 / self.base
    }

    /// The window in bytes.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// The most packets with `mtu` bytes in flight: another one may be sent while less than a window is.
    pub fn packets(&self, mtu: u16) -> u32 {
        (self.window / f64::from(mtu)).ceil().max(1.0) as u32
    }

    /// An acknowledgement arrives.
    pub fn receive(&mut self, config: &HpccConfig, feedback: &Feedback<'_>) {
        let Some(telemetry) = feedback.telemetry else { return };
        let ends_round = feedback.next > self.update_beyond;
        if self.measure(telemetry) {
            self.adapt(config, ends_round);
        }
        if ends_round {
            self.update_beyond = feedback.fresh;
        }
    }

    /// Updates the utilisation; returns whether the telemetry can be compared with the one before. A new path begins
    /// anew.
    fn measure(&mut self, telemetry: &Telemetry) -> bool {
        let Some(last) = self.last.replace(*telemetry).filter(|last| last.is_on_path_of(telemetry)) else {
            return false;
        };
        let (mut busiest, mut over) = (0.0, 0.0);
        for (hop, before) in telemetry.hops().iter().zip(last.hops()) {
            let time = hop.at.saturating_since(before.at).as_secs_f64();
            if time == 0.0 {
                // It is older: packets were reordered.
                self.last = Some(last);
                return false;
            }
            let rate = hop.rate.bps() as f64;
            let sent = hop.sent.saturating_sub(before.sent) as f64 * 8.0 / time / rate;
            let queued = hop.queued.min(before.queued) as f64 * 8.0 / (rate * self.base);
            if sent + queued > busiest {
                (busiest, over) = (sent + queued, time);
            }
        }
        let weight = (over / self.base).min(1.0);
        self.utilisation += weight * (busiest - self.utilisation);
        true
    }

    /// Computes the window from that of the last round trip, which it replaces if the round trip is over.
    fn adapt(&mut self, config: &HpccConfig, ends_round: bool) {
        let level = self.utilisation / config.eta;
        let follows = level >= 1.0 || self.stage >= config.max_stage;
        let kept = if follows { self.reference / level } else { self.reference };
        let [least, most] = self.bounds;
        self.window = (kept + config.increase.0 as f64).clamp(least, most);
        if ends_round {
            self.reference = self.window;
            self.stage = if follows { 0 } else { self.stage + 1 };
        }
    }
}
