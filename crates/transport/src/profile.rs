//! Profiles: the supported TCP variants, each a [`Config`]; `linux` is the default.
//!
//! Sources: the sources of ns-3 at tags 3.23, 3.26 and 3.37; Linux `include/net/tcp.h`, `tcp_ipv4.c`,
//! `tcp_cubic.c`; RFC 8257.

use weft_units::{Bytes, Duration};

use crate::config::{Config, EcnMode, LossRecovery, RtoFloor, RtoVariance, RttSource, TimestampClock};
use crate::congestion::{CongestionControl, MptcpCongestion, Parameters, WindowGrowth, cubic, hystart};

/// The name and description of each profile.
pub const PROFILES: &[(&str, &str)] = &[
    ("ns3-3.23", "ns-3.23's defaults: NewReno, 536-byte segments, initial window 1, no SACK"),
    ("ns3-3.26", "ns-3.26's defaults: as 3.23 with limited transmit and no initial ssthresh"),
    (
        "ns3-3.37",
        "ns-3.37's defaults: CUBIC with HyStart, SACK, proportional rate reduction, minimum RTO 1 s",
    ),
    (
        "linux",
        "Linux 5.x and later: CUBIC with HyStart, SACK, RACK-TLP, F-RTO, TCP small queues, minimum RTO 200 ms",
    ),
    ("dctcp", "DCTCP (RFC 8257) with SACK, TCP small queues, minimum RTO 5 ms"),
];

impl Config {
    /// The profile named `name`, see [`PROFILES`]; `None` if there is none.
    pub fn profile(name: &str) -> Option<Self> {
        match name {
            "ns3-3.23" => Some(ns3_23()),
            "ns3-3.26" => Some(ns3_26()),
            "ns3-3.37" => Some(ns3_37()),
            "linux" => Some(Self::default()),
            "dctcp" => Some(dctcp()),
            _ => None,
        }
    }
}

fn ns3_37() -> Config {
    Config {
        mss: 536,
        receive_buffer: Bytes(131_072),
        initial_receive_window: Bytes(131_072),
        send_buffer: Bytes(131_072),
        small_queues: false,
        window_growth: WindowGrowth::PerAck,
        window_validation: false,
        restart_after_idle: false,
        loss_recovery: LossRecovery::Ns3v37,
        dsack: false,
        rack: false,
        reorder_slack: Duration::ZERO,
        tail_loss_probe: false,
        frto: false,
        undo: false,
        paws: false,
        rtt_source: RttSource::Timestamps,
        zero_rtt_sample: Duration::from_us(1),
        min_rto: Duration::from_secs(1),
        rto_floor: RtoFloor::Timeout,
        rto_variance: RtoVariance::Mean,
        max_rto: Duration::from_secs(60),
        syn_timeout: Duration::from_secs(3),
        data_retries: 6,
        delayed_ack_timeout: Duration::from_ms(200),
        quick_acks: 1,
        nagle: false,
        time_wait: Duration::from_secs(240),
        congestion: Parameters {
            cubic: cubic::Parameters {
                c: 0.4,
                beta: 0.7,
                reno_friendly: false,
                delay_ignore: Duration::from_ms(10),
                hystart: hystart::Parameters {
                    half_train: false,
                    delay_max: Duration::from_ms(1000),
                    ..hystart::Parameters::default()
                },
                ..cubic::Parameters::default()
            },
            ..Parameters::default()
        },
        mptcp_congestion: MptcpCongestion::Lia,
        ..Config::default()
    }
}

fn ns3_26() -> Config {
    Config {
        initial_window: 1,
        congestion_control: CongestionControl::Reno,
        loss_recovery: LossRecovery::Ns3v26,
        sack: false,
        proportional_rate_reduction: false,
        zero_rtt_sample: Duration::ZERO,
        ..ns3_37()
    }
}

fn ns3_23() -> Config {
    Config {
        initial_ssthresh: Bytes(65_535),
        loss_recovery: LossRecovery::Ns3v23,
        limited_transmit: false,
        data_retries: u8::MAX,
        ..ns3_26()
    }
}

fn dctcp() -> Config {
    Config {
        congestion_control: CongestionControl::Dctcp,
        ecn: EcnMode::Dctcp,
        rack: false,
        tail_loss_probe: false,
        timestamp_clock: TimestampClock::Microsecond,
        rtt_source: RttSource::Timestamps,
        zero_rtt_sample: Duration::from_us(1),
        rto_granularity: Duration::from_us(1),
        min_rto: Duration::from_ms(5),
        rto_floor: RtoFloor::Timeout,
        initial_rto: Duration::from_ms(200),
        syn_timeout: Duration::from_ms(200),
        delayed_ack_timeout: Duration::from_ms(1),
        paws: false,
        ..Config::default()
    }
}

#[cfg(test)]
mod tests {
    use weft_units::Parameters as _;

    use super::*;
    use crate::protocol_config::ProtocolConfig as _;

    #[test]
    fn every_profile_is_valid_and_read_back_from_its_values() {
        for (name, _) in PROFILES {
            let config = Config::profile(name).unwrap();
            config.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
            let printed =
                config.parameters().into_iter().map(|(param, value)| (param.name.to_owned(), value));
            assert_eq!(Config::of(&printed.collect()), config, "{name}");
        }
        assert_eq!(Config::profile("windows"), None);
    }
}
