//! [`Config`]: the parameters of queue pairs.

use std::ops::Bound::{Excluded, Included};
use std::ops::RangeInclusive;

use weft_units::{Bytes, Duration, ParamInfo, Rate, params, words};

use super::hpcc::HpccConfig;
use super::path::{Path, RATES};
use super::swift::SwiftConfig;
use super::telemetry::Telemetry;
use super::timely::TimelyConfig;
use crate::framing::Framing;
use crate::parameters::{ConfigError, check, check_ranges};
use crate::protocol_config::{Idle, ProtocolConfig, Step, WithoutEcn};

/// Bytes of an IPv4, a UDP and a base transport header, and of the invariant CRC.
const HEADERS: u32 = 20 + 8 + 12 + 4;

/// The most packets from the first missing one on that a receiver with selective repeat keeps and a sender has in flight.
pub(crate) const SPAN: u32 = 1 << 16;

words! {
    /// How lost packets are repaired.
    pub enum LossRecovery {
        /// The receiver discards what is out of order; the sender goes back to the first missing packet.
        GoBackN = "go-back-n",
        /// As in IRN (Mittal et al., SIGCOMM 2018): the receiver keeps it; the sender repeats what is missing, and has at
        /// most a window in flight.
        SelectiveRepeat = "selective-repeat",
    }
}

words! {
    /// How the sender adapts its rate or its window. Packets are ECN capable with DCQCN alone.
    pub enum CongestionControl {
        /// It sends at the rate of its link.
        Off = "off",
        /// By congestion notifications for marked packets (Zhu et al., SIGCOMM 2015).
        Dcqcn = "dcqcn",
        /// By the telemetry of switches (Li et al., SIGCOMM 2019).
        Hpcc = "hpcc",
        /// By the gradient of round-trip times (Mittal et al., SIGCOMM 2015).
        Timely = "timely",
        /// By a target for the delay (Kumar et al., SIGCOMM 2020).
        Swift = "swift",
    }
}

params! {
    /// The parameters. The names are the keys of a scenario's `[transport]` with `protocol = "roce"`. The defaults are those
    /// of conweave-ns3 (`run.py` and `network-load-balance.cc` at 100 Gbps).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Config {
        /// payload bytes of a full packet
        mtu: u16 = 1000, in 1..=65_000, unit "bytes";
        /// `mtu` within a scale-up domain, by default the same; a larger one makes runs faster
        scale_up_mtu: Option<u16> = None, in 1..=60_000;
        /// recovery of lost packets
        loss_recovery: LossRecovery = LossRecovery::GoBackN;
        /// maximum bytes of payload in flight; 0 B: no limit with go-back-N, the product of the link's rate and the
        /// path's empty round trip with selective repeat
        window: Bytes = Bytes(0);
        /// packets in order for each acknowledgement
        ack_every: u8 = 1, in 1..=64, unit "packets";
        /// minimum time between two reports of the same missing packet
        nack_interval: Duration = Duration::from_us(4), in Duration::ZERO..=Duration::from_secs(60);
        /// time for which the sender waits for an acknowledgement, with go-back-N
        retransmission_timeout: Duration = Duration::from_ms(4), in TIMES;
        /// timeout with selective repeat while at most `rto_low_packets` are in flight
        rto_low: Duration = Duration::from_us(100), in TIMES;
        /// timeout with selective repeat while more are in flight
        rto_high: Duration = Duration::from_us(320), in TIMES;
        /// number of packets in flight up to which `rto_low` applies
        rto_low_packets: u32 = 3, in 0..=u32::MAX;
        /// adaptation of the sender's rate
        congestion_control: CongestionControl = CongestionControl::Dcqcn;
        /// minimum time between two congestion notifications of a receiver for a sender; 0 s: each marked packet
        /// notifies
        cnp_interval: Duration = Duration::ZERO, in Duration::ZERO..=Duration::from_secs(60);
        /// notifications for packets out of order, too
        cnp_on_out_of_order: bool = true;
        /// the share of its rate that remains to a sender on its first notification, before the decrease
        rate_on_first_cnp: f64 = 1.0, in (Excluded(0.0), Included(1.0));
        /// the gain g of alpha, the estimate of congestion
        alpha_gain: f64 = 1.0 / 256.0, in (Excluded(0.0), Included(1.0));
        /// interval of updates of alpha
        alpha_interval: Duration = Duration::from_us(1), in TIMES;
        /// minimum interval of decreases of the rate
        decrease_interval: Duration = Duration::from_us(4), in TIMES;
        /// interval of increases of the rate
        increase_interval: Duration = Duration::from_us(300), in TIMES;
        /// the rate also increases each time this much was sent; 0 B: it does not
        increase_bytes: Bytes = Bytes(0);
        /// increases that only halve the distance to the target rate, before the target itself increases
        fast_recovery_times: u32 = 1, in 0..=u32::MAX;
        /// increase of the target rate after that
        additive_increase: Rate = Rate::from_bps(40_000_000), in RATES;
        /// increase of the target rate from the second of those increases on
        hyper_increase: Rate = Rate::from_bps(100_000_000), in RATES;
        /// the rate below which no sender decreases
        min_rate: Rate = Rate::from_bps(100_000_000), in RATES;
        /// a decrease before the first increase also lowers the target rate
        clamp_target_rate: bool = false;
        /// the round trip without queues, T of HPCC and minRTT of TIMELY; 0 s: that of the flow's path
        base_rtt: Duration = Duration::ZERO, in Duration::ZERO..=Duration::from_secs(60);
        ..hpcc: HpccConfig;
        ..timely: TimelyConfig;
        ..swift: SwiftConfig;
    }
}

/// The range of times.
const TIMES: RangeInclusive<Duration> = Duration::from_ns(100)..=Duration::from_secs(60);

/// The parameters of each congestion control alone.
const DCQCN: &[&str] = &[
    "cnp_interval",
    "cnp_on_out_of_order",
    "rate_on_first_cnp",
    "alpha_gain",
    "alpha_interval",
    "decrease_interval",
    "increase_interval",
    "increase_bytes",
    "fast_recovery_times",
    "additive_increase",
    "hyper_increase",
    "clamp_target_rate",
];
const HPCC: &[&str] = &names::<{ HpccConfig::PARAMS.len() }>(HpccConfig::PARAMS);
const TIMELY: &[&str] = &names::<{ TimelyConfig::PARAMS.len() }>(TimelyConfig::PARAMS);
const SWIFT: &[&str] = &names::<{ SwiftConfig::PARAMS.len() }>(SwiftConfig::PARAMS);
const SET_DCQCN: &str = ": set it to \"dcqcn\"";
const SET_HPCC: &str = ": set it to \"hpcc\"";
const SET_TIMELY: &str = ": set it to \"timely\"";
const SET_SWIFT: &str = ": set it to \"swift\"";
const SET_BASED: &str = ": set it to \"hpcc\" or \"timely\"";
const EVERY: &str = ": it asks for an acknowledgement of each packet";

/// The names of parameters.
const fn names<const N: usize>(all: &[ParamInfo]) -> [&'static str; N] {
    let (mut names, mut at) = ([""; N], 0);
    while at < N {
        names[at] = all[at].name;
        at += 1;
    }
    names
}

/// Parameters without effect with a congestion control.
const fn without(keys: &'static [&'static str], control: CongestionControl, advice: &'static str) -> Idle {
    Idle { keys, decides: "congestion_control", value: control.word(), advice }
}

/// Parameters without effect.
const IDLE: &[Idle] = &[
    Idle {
        keys: &["rto_low", "rto_high", "rto_low_packets"],
        decides: "loss_recovery",
        value: LossRecovery::GoBackN.word(),
        advice: ": set retransmission_timeout",
    },
    Idle {
        keys: &["retransmission_timeout"],
        decides: "loss_recovery",
        value: LossRecovery::SelectiveRepeat.word(),
        advice: ": set rto_low and rto_high",
    },
    without(DCQCN, CongestionControl::Off, SET_DCQCN),
    without(DCQCN, CongestionControl::Hpcc, SET_DCQCN),
    without(DCQCN, CongestionControl::Timely, SET_DCQCN),
    without(DCQCN, CongestionControl::Swift, SET_DCQCN),
    without(HPCC, CongestionControl::Off, SET_HPCC),
    without(HPCC, CongestionControl::Dcqcn, SET_HPCC),
    without(HPCC, CongestionControl::Timely, SET_HPCC),
    without(HPCC, CongestionControl::Swift, SET_HPCC),
    without(TIMELY, CongestionControl::Off, SET_TIMELY),
    without(TIMELY, CongestionControl::Dcqcn, SET_TIMELY),
    without(TIMELY, CongestionControl::Hpcc, SET_TIMELY),
    without(TIMELY, CongestionControl::Swift, SET_TIMELY),
    without(SWIFT, CongestionControl::Off, SET_SWIFT),
    without(SWIFT, CongestionControl::Dcqcn, SET_SWIFT),
    without(SWIFT, CongestionControl::Hpcc, SET_SWIFT),
    without(SWIFT, CongestionControl::Timely, SET_SWIFT),
    without(&["min_rate"], CongestionControl::Off, ": set it to \"dcqcn\", \"hpcc\" or \"timely\""),
    without(&["min_rate"], CongestionControl::Swift, ": set swift_min_window"),
    without(&["base_rtt"], CongestionControl::Off, SET_BASED),
    without(&["base_rtt"], CongestionControl::Dcqcn, SET_BASED),
    without(&["base_rtt"], CongestionControl::Swift, SET_BASED),
    without(&["ack_every"], CongestionControl::Hpcc, EVERY),
    without(&["ack_every"], CongestionControl::Swift, EVERY),
];

impl Config {
    /// The parameters of connections within a scale-up domain, if they differ.
    pub fn within_domains(&self) -> Option<Self> {
        let mtu = self.scale_up_mtu.filter(|mtu| *mtu != self.mtu)?;
        Some(Self { mtu, ..self.clone() })
    }

    /// Whether its packets are ECN capable.
    pub fn is_ecn_capable(&self) -> bool {
        self.congestion_control == CongestionControl::Dcqcn
    }

    /// Bytes of telemetry in a packet, and in an acknowledgement.
    pub fn telemetry_bytes(&self) -> u32 {
        self.telemetry_hops().map_or(0, Telemetry::bytes)
    }

    /// Whether the congestion control needs to know the round trip without queues, or the switches on the path.
    pub fn needs_path(&self) -> bool {
        !matches!(self.congestion_control, CongestionControl::Off | CongestionControl::Dcqcn)
    }

    /// Whether the sender asks for an acknowledgement of each packet: they set its window.
    pub(super) fn asks_always(&self) -> bool {
        matches!(self.congestion_control, CongestionControl::Hpcc | CongestionControl::Swift)
    }

    /// The round trip without queues on this path.
    pub(super) fn base_rtt_of(&self, path: &Path) -> Duration {
        if self.base_rtt == Duration::ZERO { path.round_trip } else { self.base_rtt }
    }
}

impl ProtocolConfig for Config {
    fn framing(&self) -> Framing {
        Framing { payload: self.mtu, headers: HEADERS + self.telemetry_bytes(), round_trips: 0, pace: None }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        check_ranges(self)?;
        let fits = self.window.0 == 0 || (u64::from(self.mtu)..=1 << 40).contains(&self.window.0);
        check(fits, "window", &self.window, "0 B, or one packet to 1 TB")?;
        let is_kept = self.loss_recovery == LossRecovery::GoBackN
            || self.window.0 <= u64::from(SPAN) * u64::from(self.mtu);
        let most = format!("at most {SPAN} packets of `mtu` with selective repeat");
        check(is_kept, "window", &self.window, &most)?;
        check(self.rto_low <= self.rto_high, "rto_low", &self.rto_low, "at most rto_high")?;
        let (timely, swift) = (&self.timely, &self.swift);
        check(timely.low <= timely.high, "timely_low", &timely.low, "at most timely_high")?;
        let is_below = swift.flow_min < swift.flow_max;
        check(is_below, "swift_flow_min", &swift.flow_min, "less than swift_flow_max")?;
        let is_at_most = swift.min_window <= swift.max_window;
        check(is_at_most, "swift_min_window", &swift.min_window, "at most swift_max_window")
    }

    fn payload_key(&self) -> &'static str {
        "mtu"
    }

    fn idle(&self) -> &'static [Idle] {
        IDLE
    }

    fn telemetry_hops(&self) -> Option<u8> {
        (self.congestion_control == CongestionControl::Hpcc).then_some(self.hpcc.hops)
    }

    fn step(&self) -> Option<Step> {
        let (step, suits) = (self.timely.step, Rate::from_gbps(10));
        (self.congestion_control == CongestionControl::Timely).then_some(Step {
            key: "timely_step",
            step,
            suits,
        })
    }

    fn without_marks(&self) -> Option<&'static str> {
        self.is_ecn_capable().then_some("DCQCN never reacts to a queue")
    }

    fn without_ecn(&self) -> Option<WithoutEcn> {
        let why = match self.congestion_control {
            CongestionControl::Dcqcn => return None,
            CongestionControl::Off => "transport.congestion_control is \"off\"",
            CongestionControl::Hpcc => "transport.congestion_control is \"hpcc\"",
            CongestionControl::Timely => "transport.congestion_control is \"timely\"",
            CongestionControl::Swift => "transport.congestion_control is \"swift\"",
        };
        Some(WithoutEcn { why, fix: "transport.congestion_control = \"dcqcn\"" })
    }
}
