//! [`Config`]: the parameters of datagrams.

use serde::{Deserialize, Serialize};
use weft_units::{Bytes, Duration, Rate};

use crate::framing::Framing;
use crate::parameters::{ConfigError, Parameters, check};

/// Bytes of an IPv4 and a UDP header.
const HEADERS: u32 = 28;

/// When a source sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// At `rate`, from the flow's start to its last byte.
    Constant,
    /// At `rate` for a random time, then not at all for a random time, both exponentially distributed.
    OnOff,
}

/// The parameters. The names are the keys of a scenario's `[transport]` with `protocol = "udp"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Payload bytes of a full datagram, 1 to 65 000.
    pub payload: u16,
    /// Bits of payload per second while the source sends.
    pub rate: Rate,
    /// When it sends.
    pub pattern: Pattern,
    /// With `pattern = "on-off"`, the mean time for which it sends.
    pub mean_on: Duration,
    /// With `pattern = "on-off"`, the mean time for which it does not.
    pub mean_off: Duration,
    /// How long after its last datagram a flow ends of which some are missing.
    pub linger: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            payload: 1472,
            rate: Rate::from_bps(100_000_000),
            pattern: Pattern::Constant,
            mean_on: Duration::from_ms(1),
            mean_off: Duration::from_ms(1),
            linger: Duration::from_ms(100),
        }
    }
}

impl Config {
    /// The largest `payload`.
    pub(crate) const LARGEST_PAYLOAD: u16 = 65_000;

    /// How it divides a flow into packets.
    pub fn framing(&self) -> Framing {
        Framing { payload: self.payload, headers: HEADERS, round_trips: 0, pace: Some(self.rate) }
    }
}

impl Parameters for Config {
    fn validate(&self) -> Result<(), ConfigError> {
        check(
            (1..=Self::LARGEST_PAYLOAD).contains(&self.payload),
            "payload",
            &self.payload,
            "1 to 65000 bytes",
        )?;
        let rates = Rate::from_bps(1_000)..=Rate::from_bps(100_000_000_000_000);
        check(rates.contains(&self.rate), "rate", &self.rate, "1 kbps to 100 Tbps")?;
        let times = Duration::from_ns(1)..=Duration::from_secs(3600);
        for (name, time) in [("mean_on", self.mean_on), ("mean_off", self.mean_off), ("linger", self.linger)]
        {
            check(times.contains(&time), name, &time, "1 ns to 1 h")?;
        }
        let datagram = self.rate.tx_time(Bytes(self.payload.into()));
        let good = self.pattern == Pattern::Constant || self.mean_on >= datagram;
        check(good, "mean_on", &self.mean_on, "at least the time of a datagram at `rate`")
    }
}
