//! [`Config`]: the parameters of queue pairs.

use serde::{Deserialize, Serialize};
use weft_units::{Bytes, Duration, Rate};

use crate::framing::Framing;
use crate::parameters::{ConfigError, Parameters, check};

/// Bytes of an IPv4, a UDP and a base transport header, and of the invariant CRC.
const HEADERS: u32 = 20 + 8 + 12 + 4;

/// How lost packets are repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossRecovery {
    /// The receiver discards what is out of order; the sender goes back to the first missing packet.
    GoBackN,
    /// As in IRN (Mittal et al., SIGCOMM 2018): the receiver keeps it; the sender repeats what is missing, and has at
    /// most a window in flight.
    SelectiveRepeat,
}

/// How the sender adapts its rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    /// It sends at the rate of its link; packets are not ECN capable.
    Off,
    /// By congestion notifications for marked packets (Zhu et al., SIGCOMM 2015).
    Dcqcn,
}

/// The parameters. The names are the keys of a scenario's `[transport]` with `protocol = "roce"`. The defaults are those
/// of conweave-ns3 (`run.py` and `network-load-balance.cc` at 100 Gbps).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Payload bytes of a full packet, 1 to 65 000.
    pub mtu: u16,
    /// How lost packets are repaired.
    pub loss_recovery: LossRecovery,
    /// The most bytes of payload in flight. `"0 B"`: no limit with go-back-N, the product of the link's rate and the
    /// path's empty round trip with selective repeat.
    pub window: Bytes,
    /// Packets in order for each acknowledgement, 1 to 64.
    pub ack_every: u8,
    /// How long the receiver waits before it reports the same missing packet again.
    pub nack_interval: Duration,
    /// With go-back-N, how long the sender waits for an acknowledgement.
    pub retransmission_timeout: Duration,
    /// With selective repeat, the same while at most `rto_low_packets` are in flight.
    pub rto_low: Duration,
    /// With selective repeat, the same while more are in flight.
    pub rto_high: Duration,
    /// See `rto_low`.
    pub rto_low_packets: u32,

    /// How the sender adapts its rate.
    pub congestion_control: CongestionControl,
    /// The shortest time between two congestion notifications of a receiver for a sender; zero: each marked packet notifies.
    pub cnp_interval: Duration,
    /// Whether a packet out of order causes a notification, too.
    pub cnp_on_out_of_order: bool,
    /// The share of its rate that remains to a sender on its first notification, before the decrease.
    pub rate_on_first_cnp: f64,
    /// The gain g of alpha, the estimate of congestion.
    pub alpha_gain: f64,
    /// How often alpha is updated.
    pub alpha_interval: Duration,
    /// How often the rate may decrease.
    pub decrease_interval: Duration,
    /// How often the rate increases.
    pub increase_interval: Duration,
    /// The rate also increases each time this much was sent; `"0 B"`: it does not.
    pub increase_bytes: Bytes,
    /// Increases that only halve the distance to the target rate, before the target itself increases.
    pub fast_recovery_times: u32,
    /// By how much the target rate increases after that.
    pub additive_increase: Rate,
    /// By how much it increases from the second of those increases on.
    pub hyper_increase: Rate,
    /// The rate below which no sender decreases.
    pub min_rate: Rate,
    /// Whether a decrease before the first increase lowers the target rate, too.
    pub clamp_target_rate: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mtu: 1000,
            loss_recovery: LossRecovery::GoBackN,
            window: Bytes(0),
            ack_every: 1,
            nack_interval: Duration::from_us(4),
            retransmission_timeout: Duration::from_ms(4),
            rto_low: Duration::from_us(100),
            rto_high: Duration::from_us(320),
            rto_low_packets: 3,
            congestion_control: CongestionControl::Dcqcn,
            cnp_interval: Duration::ZERO,
            cnp_on_out_of_order: true,
            rate_on_first_cnp: 1.0,
            alpha_gain: 1.0 / 256.0,
            alpha_interval: Duration::from_us(1),
            decrease_interval: Duration::from_us(4),
            increase_interval: Duration::from_us(300),
            increase_bytes: Bytes(0),
            fast_recovery_times: 1,
            additive_increase: Rate::from_bps(40_000_000),
            hyper_increase: Rate::from_bps(100_000_000),
            min_rate: Rate::from_bps(100_000_000),
            clamp_target_rate: false,
        }
    }
}

impl Config {
    /// The largest `mtu`.
    pub(crate) const LARGEST_MTU: u16 = 65_000;

    /// How it divides a flow into packets.
    pub fn framing(&self) -> Framing {
        Framing { payload: self.mtu, headers: HEADERS, round_trips: 0, pace: None }
    }

    /// Whether its packets are ECN capable.
    pub fn is_ecn_capable(&self) -> bool {
        self.congestion_control == CongestionControl::Dcqcn
    }
}

impl Parameters for Config {
    fn validate(&self) -> Result<(), ConfigError> {
        check((1..=Self::LARGEST_MTU).contains(&self.mtu), "mtu", &self.mtu, "1 to 65000 bytes")?;
        check((1..=64).contains(&self.ack_every), "ack_every", &self.ack_every, "1 to 64 packets")?;
        let fits = self.window.0 == 0 || (u64::from(self.mtu)..=1 << 40).contains(&self.window.0);
        check(fits, "window", &self.window, "0 B, or one packet to 1 TB")?;
        let times = Duration::from_ns(100)..=Duration::from_secs(60);
        for (name, time) in [
            ("retransmission_timeout", self.retransmission_timeout),
            ("rto_low", self.rto_low),
            ("rto_high", self.rto_high),
            ("alpha_interval", self.alpha_interval),
            ("decrease_interval", self.decrease_interval),
            ("increase_interval", self.increase_interval),
        ] {
            check(times.contains(&time), name, &time, "100 ns to 60 s")?;
        }
        check(self.rto_low <= self.rto_high, "rto_low", &self.rto_low, "at most rto_high")?;
        for (name, time) in [("nack_interval", self.nack_interval), ("cnp_interval", self.cnp_interval)] {
            check(time <= Duration::from_secs(60), name, &time, "at most 60 s")?;
        }
        for (name, share) in [("rate_on_first_cnp", self.rate_on_first_cnp), ("alpha_gain", self.alpha_gain)]
        {
            check(share > 0.0 && share <= 1.0, name, &share, "more than 0, at most 1")?;
        }
        let rates = Rate::from_bps(1_000)..=Rate::from_bps(100_000_000_000_000);
        for (name, rate) in [
            ("additive_increase", self.additive_increase),
            ("hyper_increase", self.hyper_increase),
            ("min_rate", self.min_rate),
        ] {
            check(rates.contains(&rate), name, &rate, "1 kbps to 100 Tbps")?;
        }
        Ok(())
    }
}
