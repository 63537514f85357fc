//! [`Config`]: all parameters of Ultra Ethernet hosts, by name.

use std::ops::Bound::Included;
use std::ops::RangeInclusive;

use weft_units::{Bytes, Duration, Rate, params, words};

use super::entropy::EntropyChoice;
use super::span::SPAN;
use crate::framing::Framing;
use crate::parameters::{ConfigError, check, check_ranges};
use crate::protocol_config::{FirstWindow, FixedTimeout, Idle, PathChoice, ProtocolConfig};

words! {
    /// How the window changes.
    pub enum Congestion {
        /// Network-signalled congestion control: by delay and marks (Ultra Ethernet 1.0, section 3.6.13).
        Nscc = "nscc",
        /// Receiver-credit congestion control: the receiver grants its senders credit for as much as its link carries.
        Rccc = "rccc",
        /// Both limits at once.
        NsccRccc = "nscc+rccc",
        /// It does not: `window` packets.
        Fixed = "fixed",
    }
}

words! {
    /// How a sender learns that a packet was lost which no switch trimmed.
    pub enum LossDetection {
        /// It was not acknowledged in time.
        Timeout = "timeout",
        /// Enough packets that were sent later have arrived; otherwise as `Timeout`.
        Distance = "distance",
    }
}

params! {
    /// The parameters. The defaults are those of uet-htsim, at 100 Gbps.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Config {
        /// payload bytes of a full packet
        mtu: u16 = 4096, in 64..=9_000;
        /// `mtu` within a scale-up domain, by default the same; a larger one makes runs faster; `ack_bytes` grows with it there
        scale_up_mtu: Option<u16> = None, in 64..=60_000;
        /// header bytes between UDP and the payload
        header: u16 = 36, in 0..=200;
        /// congestion control
        congestion: Congestion = Congestion::Nscc;
        /// the window in packets with fixed windows
        window: u32 = 50, in 1..=SPAN;
        /// the window in packets with which NSCC starts, and that a sender sends before its first credit; by default the largest
        /// window, 1.5 bandwidth-delay products
        initial_window: Option<u32> = None, in 1..=SPAN;
        // Without a scenario it is that of uet-htsim's reference network, `REFERENCE_RTT`.
        /// round-trip time of the longest path in the idle fabric; smaller measured ones replace it; by default computed from
        /// the fabric
        base_rtt: Option<Duration> = None, in TIMES;
        /// the queueing delay that NSCC aims at; by default three quarters of `base_rtt` if ports trim, otherwise all of it
        target_delay: Option<Duration> = None, in TIMES;
        /// share of its link for which a receiver grants credit
        credit_rate: f64 = 0.99, in (Included(0.01), Included(1.0));
        /// bytes of credit that a receiver grants a sender at once
        credit_bytes: Bytes = Bytes(16_384), in Bytes(256)..=Bytes(1 << 20);
        /// number of entropy values
        entropies: u16 = 64, in 1..=16_384;
        /// choice of entropy values
        entropy_choice: EntropyChoice = EntropyChoice::Mixed;
        /// a receiver answers when this many bytes have arrived; with 0 B, it answers every packet
        ack_bytes: Bytes = Bytes(16_384), in Bytes(0)..=Bytes(1 << 20);
        /// requests for answers by a sender whose window is small, or has shrunk below what is in flight; uet-htsim's senders have none
        answer_requests: bool = true;
        /// a packet not acknowledged for this long is sent again; by default twice `base_rtt`, but at least 100 us
        rto: Option<Duration> = None, in TIMES;
        /// the sign by which a sender finds lost packets
        loss_detection: LossDetection = LossDetection::Timeout;
        /// a packet is lost when this many packets sent later have arrived; by default 1.5 windows, but at least 5 and at most the
        /// largest window
        loss_distance: Option<u32> = None, in 1..=SPAN;
    }
}

/// The range of times.
const TIMES: RangeInclusive<Duration> = Duration::from_us(1)..=Duration::from_secs(1);

/// Parameters without effect.
const IDLE: &[Idle] = &[
    idle(&["window"], Congestion::Nscc, FIXED),
    idle(&["window"], Congestion::Rccc, FIXED),
    idle(&["window"], Congestion::NsccRccc, FIXED),
    idle(&["initial_window"], Congestion::Fixed, ": set window"),
    idle(&["base_rtt", "target_delay"], Congestion::Fixed, NSCC),
    idle(&["target_delay"], Congestion::Rccc, NSCC),
    idle(&["credit_rate", "credit_bytes"], Congestion::Fixed, RCCC),
    idle(&["credit_rate", "credit_bytes"], Congestion::Nscc, RCCC),
    Idle {
        keys: &["loss_distance"],
        decides: "loss_detection",
        value: LossDetection::Timeout.word(),
        advice: ": set it to \"distance\"",
    },
];

/// Remedies.
const FIXED: &str = ": set it to \"fixed\"";
const NSCC: &str = ": set it to \"nscc\"";
const RCCC: &str = ": set it to \"rccc\"";

/// Parameters without effect with a congestion control.
const fn idle(keys: &'static [&'static str], congestion: Congestion, advice: &'static str) -> Idle {
    Idle { keys, decides: "congestion", value: congestion.word(), advice }
}

impl Config {
    /// Bytes of IPv4 and UDP headers.
    const IP_AND_UDP: u32 = 28;
    /// Bytes of the IP packet in which an answer travels: with Ethernet's header and check sequence, 64.
    pub const ANSWER: u16 = 46;

    /// The largest window of NSCC, and the most credit, in bandwidth-delay products.
    const LARGEST: f64 = 1.5;

    /// The round-trip time of uet-htsim's reference network.
    pub const REFERENCE_RTT: Duration = Duration::from_us(12);

    /// The shortest default of `rto`: about that of uet-htsim, 15 us and the time of six full queues, at 100 Gbps.
    pub const SHORTEST_RTO: Duration = Duration::from_us(100);

    /// How long a packet waits for its acknowledgement.
    pub fn rto(&self) -> Duration {
        let default = || (self.delays().0 * 2).clamp(Self::SHORTEST_RTO, *TIMES.end());
        self.rto.unwrap_or_else(default)
    }

    /// The base round-trip time and the target delay.
    pub(crate) fn delays(&self) -> (Duration, Duration) {
        let base_rtt = self.base_rtt.unwrap_or(Self::REFERENCE_RTT);
        (base_rtt, self.target_delay.unwrap_or(base_rtt * 3 / 4))
    }

    /// The parameters of connections within a scale-up domain, if they differ: answers come after as many packets.
    pub fn within_domains(&self) -> Option<Self> {
        let mtu = self.scale_up_mtu.filter(|mtu| *mtu != self.mtu)?;
        let ack_bytes = self.ack_bytes.0 * u64::from(mtu) / u64::from(self.mtu);
        Some(Self { mtu, ack_bytes: Bytes(ack_bytes), ..self.clone() })
    }

    /// The largest window of NSCC, and the most credit, in bytes: 1.5 bandwidth-delay products, at least a packet of `mtu`
    /// bytes.
    pub(crate) fn largest_window(mtu: f64, bits_per_second: f64, base_rtt: Duration) -> f64 {
        (Self::LARGEST * bits_per_second / 8.0 * base_rtt.as_secs_f64()).max(mtu)
    }

    /// The most credit that a sender keeps whose link has `rate`, in bytes of IP packets.
    pub fn most_credit(&self, rate: Rate) -> u64 {
        let full = f64::from(self.ip_bytes(self.mtu));
        Self::largest_window(full, rate.bps() as f64, self.delays().0) as u64
    }

    /// Whether receivers grant credit.
    #[inline]
    pub fn grants_credit(&self) -> bool {
        matches!(self.congestion, Congestion::Rccc | Congestion::NsccRccc)
    }

    /// Bytes of the IP packet with `payload` bytes.
    pub fn ip_bytes(&self, payload: u16) -> u16 {
        (Self::IP_AND_UDP + u32::from(self.header) + u32::from(payload)) as u16
    }
}

impl ProtocolConfig for Config {
    fn framing(&self) -> Framing {
        let headers = Self::IP_AND_UDP + u32::from(self.header);
        Framing { payload: self.mtu, headers, round_trips: 0, pace: None }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        check_ranges(self)?;
        let is_longer = self.base_rtt.is_none_or(|base_rtt| self.rto() > base_rtt);
        check(is_longer, "rto", &self.rto(), "more than base_rtt")
    }

    fn payload_key(&self) -> &'static str {
        "mtu"
    }

    fn takes_trimmed(&self) -> bool {
        true
    }

    fn idle(&self) -> &'static [Idle] {
        IDLE
    }

    fn without_marks(&self) -> Option<&'static str> {
        let listens = matches!(self.congestion, Congestion::Nscc | Congestion::NsccRccc);
        listens.then_some("NSCC reacts to losses only")
    }

    fn adapts_paths(&self) -> bool {
        self.entropy_choice != EntropyChoice::Oblivious
    }

    fn path_choice(&self) -> Option<PathChoice> {
        Some(PathChoice {
            hosts: "Ultra Ethernet",
            key: "entropy_choice",
            values: EntropyChoice::WORDS,
            keys: &["entropies", "entropy_choice"],
        })
    }

    fn fixed_timeout(&self) -> Option<FixedTimeout> {
        Some(FixedTimeout { rto: self.rto(), base_rtt: self.base_rtt, answer: Self::ANSWER })
    }

    fn first_window(&self, rate: Rate) -> Option<FirstWindow> {
        let packets = self.initial_window.filter(|_| self.congestion != Congestion::Fixed)?;
        let mtu = f64::from(self.mtu);
        let largest = Self::largest_window(mtu, rate.bps() as f64, self.delays().0);
        Some(FirstWindow { packets, largest: (largest / mtu) as u32 })
    }

    /// As in uet-htsim, the target is three quarters of the round-trip time if ports trim, otherwise all of it.
    fn settle_times(&mut self, longest: Duration, trims: bool) {
        let base_rtt = *self.base_rtt.get_or_insert(longest.clamp(*TIMES.start(), *TIMES.end()));
        let target = if trims { base_rtt * 3 / 4 } else { base_rtt };
        self.target_delay.get_or_insert(target.max(*TIMES.start()));
        self.rto = Some(self.rto());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_follows_from_the_fabric_as_in_uet_htsim() {
        let us = Duration::from_us;
        type Given = (Option<Duration>, Option<Duration>);
        let cases: [(Given, Duration, bool, (Duration, Duration)); 5] = [
            ((None, None), us(16), true, (us(16), us(12))),
            ((None, None), us(16), false, (us(16), us(16))),
            ((Some(us(12)), None), us(16), true, (us(12), us(9))),
            ((None, Some(us(5))), us(16), true, (us(16), us(5))),
            ((None, None), Duration::from_ns(200), true, (us(1), us(1))),
        ];
        for ((base_rtt, target_delay), longest, trims, expected) in cases {
            let mut config = Config { base_rtt, target_delay, ..Config::default() };
            config.settle_times(longest, trims);
            assert_eq!(config.delays(), expected);
            assert_eq!(config.validate().map_err(|error| error.name), Ok(()));
        }
        assert_eq!(Config::default().delays(), (us(12), us(9)), "the reference network");
    }

    #[test]
    fn the_largest_window_is_one_and_a_half_bandwidth_delay_products_and_at_least_a_packet() {
        let config = Config { initial_window: Some(50), ..Config::default() };
        let largest = |config: &Config, gbps| {
            config.first_window(Rate::from_gbps(gbps)).map(|first| (first.packets, first.largest))
        };
        // 225 000 bytes at 100 Gbps, and 2 250 bytes at 1 Gbps.
        assert_eq!((largest(&config, 100), largest(&config, 1)), (Some((50, 54)), Some((50, 1))));
        let fixed = Config { congestion: Congestion::Fixed, ..config };
        assert_eq!((largest(&fixed, 100), largest(&Config::default(), 100)), (None, None));
    }

    #[test]
    fn the_timeout_is_longer_than_the_round_trip_of_the_fabric() {
        let us = Duration::from_us;
        for (given, longest, expected) in [
            (None, us(12), us(100)),
            (None, us(50), us(100)),
            (None, us(400), us(800)),
            (None, us(900_000), Duration::from_secs(1)),
            (Some(us(500)), us(400), us(500)),
        ] {
            let mut config = Config { rto: given, ..Config::default() };
            config.settle_times(longest, true);
            assert_eq!((config.rto, config.rto()), (Some(expected), expected), "{longest}");
            assert_eq!(config.validate().map_err(|error| error.name), Ok(()));
        }
        let mut config = Config { rto: Some(us(300)), ..Config::default() };
        assert_eq!(config.validate().map_err(|error| error.name), Ok(()), "the fabric is not known");
        config.settle_times(us(400), true);
        assert_eq!(config.validate().unwrap_err().name, "rto");
        assert_eq!(Config { base_rtt: Some(us(400)), ..Config::default() }.rto(), us(800));
    }

    #[test]
    fn the_defaults_are_valid_and_a_parameter_out_of_range_is_named() {
        assert_eq!(Config::default().validate().map_err(|error| error.name), Ok(()));
        type Spoil = fn(&mut Config);
        let cases: [(Spoil, &str); 15] = [
            (|c| c.mtu = 63, "mtu"),
            (|c| c.header = 201, "header"),
            (|c| c.window = 0, "window"),
            (|c| c.window = SPAN + 1, "window"),
            (|c| c.initial_window = Some(0), "initial_window"),
            (|c| c.initial_window = Some(SPAN + 1), "initial_window"),
            (|c| c.entropies = 0, "entropies"),
            (|c| c.base_rtt = Some(Duration::ZERO), "base_rtt"),
            (|c| c.target_delay = Some(Duration::MAX), "target_delay"),
            (|c| (c.base_rtt, c.rto) = (Some(Duration::from_us(100)), Some(Duration::from_us(100))), "rto"),
            (|c| c.ack_bytes = Bytes(1 << 21), "ack_bytes"),
            (|c| c.credit_rate = 1.01, "credit_rate"),
            (|c| c.credit_bytes = Bytes(255), "credit_bytes"),
            (|c| c.loss_distance = Some(0), "loss_distance"),
            (|c| c.loss_distance = Some(SPAN + 1), "loss_distance"),
        ];
        for (spoil, name) in cases {
            let mut config = Config::default();
            spoil(&mut config);
            assert_eq!(config.validate().unwrap_err().name, name);
        }
    }
}
