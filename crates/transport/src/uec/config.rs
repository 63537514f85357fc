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
    /// The round-trip time of the longest path in the idle fabric; smaller measured ones replace it.
    pub base_rtt: Duration,
    /// The queueing delay that NSCC aims at.
    pub target_delay: Duration,
    /// The number of entropy values.
    pub entropies: u16,
    /// How they are chosen.
    pub entropy_choice: EntropyChoice,
    /// A receiver answers when this many bytes have arrived; with 0, it answers every packet.
    pub ack_bytes: Bytes,
    /// A packet not acknowledged for this long is sent again.
    pub rto: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mtu: 4096,
            header: 36,
            congestion: Congestion::Nscc,
            window: 50,
            base_rtt: Duration::from_us(12),
            target_delay: Duration::from_us(9),
            entropies: 64,
            entropy_choice: EntropyChoice::Mixed,
            ack_bytes: Bytes(16_384),
            rto: Duration::from_us(100),
        }
    }
}

impl Config {
    /// Bytes of IPv4 and UDP headers.
    const IP_AND_UDP: u32 = 28;
    /// The largest `mtu`.
    pub(crate) const LARGEST_MTU: u16 = 9_000;
    /// Bytes of the IP packet in which an answer travels: with Ethernet's header and check sequence, 64.
    pub const ANSWER: u16 = 46;

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
        let times = [("base_rtt", self.base_rtt), ("target_delay", self.target_delay), ("rto", self.rto)];
        for (name, span) in times {
            let range = Duration::from_us(1)..=Duration::from_secs(1);
            check(range.contains(&span), name, &span, "1 us to 1 s")?;
        }
        check(self.rto > self.base_rtt, "rto", &self.rto, "more than base_rtt")?;
        check(self.ack_bytes.0 <= 1 << 20, "ack_bytes", &self.ack_bytes, "0 to 1 MiB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (|c| c.base_rtt = Duration::ZERO, "base_rtt"),
            (|c| c.target_delay = Duration::MAX, "target_delay"),
            (|c| c.rto = c.base_rtt, "rto"),
            (|c| c.ack_bytes = Bytes(1 << 21), "ack_bytes"),
        ];
        for (spoil, name) in cases {
            let mut config = Config::default();
            spoil(&mut config);
            assert_eq!(config.validate().unwrap_err().name, name);
        }
    }
}
