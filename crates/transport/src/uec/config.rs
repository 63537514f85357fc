//! [`Config`]: all parameters of Ultra Ethernet hosts, by name.

use serde::{Deserialize, Serialize};
use weft_units::{Bytes, Duration};

use super::entropy::EntropyChoice;
use crate::framing::Framing;
use crate::parameters::{ConfigError, Parameters, check};

/// The largest distance between the lowest packet not acknowledged and the next one to send, in packets: receivers keep a
/// bit for each.
pub(crate) const SPAN: u32 = 1 << 14;

/// How the window changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    /// Network-signalled congestion control: by delay and marks (Ultra Ethernet 1.0, section 3.6.13).
    Nscc,
    /// It does not: `window` packets.
    Fixed,
}

/// The parameters. The defaults are those of uet-htsim, at 100 Gbps.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Payload bytes of a full packet.
    pub mtu: u16,
    /// Header bytes between UDP and the payload.
    pub header: u16,
    /// How the window changes.
    pub congestion: Congestion,
    /// The window in packets with fixed windows.
    pub window: u32,
    /// The round-trip time of the longest path in the idle fabric; smaller measured ones replace it. By default, scenarios
    /// compute it from their fabric; otherwise it is that of uet-htsim's reference network, [`Config::REFERENCE_RTT`].
    pub base_rtt: Option<Duration>,
    /// The queueing delay that NSCC aims at. By default, scenarios compute it from their fabric; otherwise it is three quarters
    /// of `base_rtt`.
    pub target_delay: Option<Duration>,
    /// The number of entropy values.
    pub entropies: u16,
    /// How they are chosen.
    pub entropy_choice: EntropyChoice,
    /// A receiver answers when this many bytes have arrived; with 0, it answers every packet.
    pub ack_bytes: Bytes,
    /// A packet not acknowledged for this long is sent again. By default twice `base_rtt`, but at least
    /// [`Config::SHORTEST_RTO`].
    pub rto: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mtu: 4096,
            header: 36,
            congestion: Congestion::Nscc,
            window: 50,
            base_rtt: None,
            target_delay: None,
            entropies: 64,
            entropy_choice: EntropyChoice::Mixed,
            ack_bytes: Bytes(16_384),
            rto: None,
        }
    }
}

impl Config {
    /// Bytes of IPv4 and UDP headers.
    const IP_AND_UDP: u32 = 28;
    /// The shortest and the longest times.
    const SHORTEST: Duration = Duration::from_us(1);
    const LONGEST: Duration = Duration::from_secs(1);
    /// The largest `mtu`.
    pub(crate) const LARGEST_MTU: u16 = 9_000;
    /// Bytes of the IP packet in which an answer travels: with Ethernet's header and check sequence, 64.
    pub const ANSWER: u16 = 46;

    /// The round-trip time of uet-htsim's reference network.
    pub const REFERENCE_RTT: Duration = Duration::from_us(12);

    /// The shortest default of `rto`: about that of uet-htsim, 15 us and the time of six full queues, at 100 Gbps.
    pub const SHORTEST_RTO: Duration = Duration::from_us(100);

    /// Sets what was not given from the round-trip time of the longest path in the idle fabric. As in uet-htsim, the target
    /// is three quarters of it if ports trim, otherwise all of it.
    pub fn settle(&mut self, longest: Duration, trims: bool) {
        let range = Self::SHORTEST..=Self::LONGEST;
        let base_rtt = *self.base_rtt.get_or_insert(longest.clamp(*range.start(), *range.end()));
        let target = if trims { base_rtt * 3 / 4 } else { base_rtt };
        self.target_delay.get_or_insert(target.max(Self::SHORTEST));
        self.rto = Some(self.rto());
    }

    /// How long a packet waits for its acknowledgement.
    pub fn rto(&self) -> Duration {
        let default = || (self.delays().0 * 2).clamp(Self::SHORTEST_RTO, Self::LONGEST);
        self.rto.unwrap_or_else(default)
    }

    /// The base round-trip time and the target delay.
    pub(crate) fn delays(&self) -> (Duration, Duration) {
        let base_rtt = self.base_rtt.unwrap_or(Self::REFERENCE_RTT);
        (base_rtt, self.target_delay.unwrap_or(base_rtt * 3 / 4))
    }

    /// Bytes of the IP packet with `payload` bytes.
    pub fn ip_bytes(&self, payload: u16) -> u16 {
        (Self::IP_AND_UDP + u32::from(self.header) + u32::from(payload)) as u16
    }

    /// How it divides a flow into packets.
    pub fn framing(&self) -> Framing {
        let headers = Self::IP_AND_UDP + u32::from(self.header);
        Framing { payload: self.mtu, headers, round_trips: 0, pace: None }
    }
}

impl Parameters for Config {
    fn validate(&self) -> Result<(), ConfigError> {
        check((64..=Self::LARGEST_MTU).contains(&self.mtu), "mtu", &self.mtu, "64 to 9000")?;
        check(self.header <= 200, "header", &self.header, "0 to 200")?;
        check((1..=SPAN).contains(&self.window), "window", &self.window, "1 to 16384")?;
        check((1..=16_384).contains(&self.entropies), "entropies", &self.entropies, "1 to 16384")?;
        let given = [("base_rtt", self.base_rtt), ("target_delay", self.target_delay), ("rto", self.rto)];
        for (name, span) in given.into_iter().filter_map(|(name, span)| Some((name, span?))) {
            let range = Self::SHORTEST..=Self::LONGEST;
            check(range.contains(&span), name, &span, "1 us to 1 s")?;
        }
        let is_longer = self.base_rtt.is_none_or(|base_rtt| self.rto() > base_rtt);
        check(is_longer, "rto", &self.rto(), "more than base_rtt")?;
        check(self.ack_bytes.0 <= 1 << 20, "ack_bytes", &self.ack_bytes, "0 to 1 MiB")
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
            config.settle(longest, trims);
            assert_eq!(config.delays(), expected);
            assert_eq!(config.validate().map_err(|error| error.name), Ok(()));
        }
        assert_eq!(Config::default().delays(), (us(12), us(9)), "the reference network");
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
            config.settle(longest, true);
            assert_eq!((config.rto, config.rto()), (Some(expected), expected), "{longest}");
            assert_eq!(config.validate().map_err(|error| error.name), Ok(()));
        }
        let mut config = Config { rto: Some(us(300)), ..Config::default() };
        assert_eq!(config.validate().map_err(|error| error.name), Ok(()), "the fabric is not known");
        config.settle(us(400), true);
        assert_eq!(config.validate().unwrap_err().name, "rto");
        assert_eq!(Config { base_rtt: Some(us(400)), ..Config::default() }.rto(), us(800));
    }

    #[test]
    fn the_defaults_are_valid_and_a_parameter_out_of_range_is_named() {
        assert_eq!(Config::default().validate().map_err(|error| error.name), Ok(()));
        type Spoil = fn(&mut Config);
        let cases: [(Spoil, &str); 9] = [
            (|c| c.mtu = 63, "mtu"),
            (|c| c.header = 201, "header"),
            (|c| c.window = 0, "window"),
            (|c| c.window = SPAN + 1, "window"),
            (|c| c.entropies = 0, "entropies"),
            (|c| c.base_rtt = Some(Duration::ZERO), "base_rtt"),
            (|c| c.target_delay = Some(Duration::MAX), "target_delay"),
            (|c| (c.base_rtt, c.rto) = (Some(Duration::from_us(100)), Some(Duration::from_us(100))), "rto"),
            (|c| c.ack_bytes = Bytes(1 << 21), "ack_bytes"),
        ];
        for (spoil, name) in cases {
            let mut config = Config::default();
            spoil(&mut config);
            assert_eq!(config.validate().unwrap_err().name, name);
        }
    }
}
