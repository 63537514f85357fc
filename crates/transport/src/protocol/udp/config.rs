//! [`Config`]: the parameters of datagrams.

use std::ops::RangeInclusive;

use weft_units::{Bytes, Duration, Rate, params, words};

use crate::framing::Framing;
use crate::parameters::{ConfigError, check, check_ranges};
use crate::protocol_config::{Idle, ProtocolConfig, WithoutEcn};

/// Bytes of an IPv4 and a UDP header.
const HEADERS: u32 = 28;

words! {
    /// When a source sends.
    pub enum Pattern {
        /// At `rate`, from the flow's start to its last byte.
        Constant = "constant",
        /// At `rate` for a random time, then not at all for a random time, both exponentially distributed.
        OnOff = "on-off",
    }
}

params! {
    /// The parameters. The names are the keys of a scenario's `[transport]` with `protocol = "udp"`.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Config {
        /// payload bytes of a full datagram
        payload: u16 = 1472, in 1..=65_000, unit "bytes";
        /// bits of payload per second while the source sends
        rate: Rate = Rate::from_bps(100_000_000), in Rate::from_bps(1_000)..=Rate::from_gbps(100_000);
        /// activity of the source: always, or on and off
        pattern: Pattern = Pattern::Constant;
        /// mean time of sending with `pattern = "on-off"`
        mean_on: Duration = Duration::from_ms(1), in TIMES;
        /// mean time of silence with `pattern = "on-off"`
        mean_off: Duration = Duration::from_ms(1), in TIMES;
        /// time from the last datagram to the end of a flow with missing datagrams
        linger: Duration = Duration::from_ms(100), in TIMES;
    }
}

/// The range of times.
const TIMES: RangeInclusive<Duration> = Duration::from_ns(1)..=Duration::from_secs(3600);

/// Parameters without effect.
const IDLE: &[Idle] = &[Idle {
    keys: &["mean_on", "mean_off"],
    decides: "pattern",
    value: Pattern::Constant.word(),
    advice: ": set it to \"on-off\"",
}];

impl ProtocolConfig for Config {
    fn framing(&self) -> Framing {
        Framing { payload: self.payload, headers: HEADERS, round_trips: 0, pace: Some(self.rate) }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        check_ranges(self)?;
        let datagram = self.rate.tx_time(Bytes(self.payload.into()));
        let good = self.pattern == Pattern::Constant || self.mean_on >= datagram;
        check(good, "mean_on", &self.mean_on, "at least the time of a datagram at `rate`")
    }

    fn payload_key(&self) -> &'static str {
        "payload"
    }

    fn has_connections(&self) -> bool {
        false
    }

    fn without_ecn(&self) -> Option<WithoutEcn> {
        Some(WithoutEcn {
            why: "transport.protocol is \"udp\"",
            fix: "transport.protocol, such as \"tcp\" with ecn = \"classic\"",
        })
    }

    fn idle(&self) -> &'static [Idle] {
        IDLE
    }
}
