//! Profiles: the supported TCP variants, each a [`Config`] with all parameters set.
//!
//! Sources: the sources of ns-3 at tags 3.23, 3.26 and 3.37; Linux `include/net/tcp.h`, `tcp_ipv4.c`,
//! `tcp_cubic.c`; RFC 8257.

use weft_units::{Bytes, Duration};

use crate::config::{
    Config, EcnMode, LossRecovery, Mptcp, MptcpScheduler, RtoFloor, RtoVariance, RttSource, TimestampClock,
    WindowGrowth,
};
use crate::congestion::{CongestionControl, MptcpCongestion, Parameters, cubic, hystart};

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
            "linux" => Some(linux()),
            "dctcp" => Some(dctcp()),
            _ => None,
        }
    }
}

fn ns3_37() -> Config {
    Config {
        mss: 536,
        initial_window: 10,
        initial_ssthresh: Bytes(u32::MAX as u64),
        receive_buffer: Bytes(131_072),
        initial_receive_window: Bytes(131_072),
        send_buffer: Bytes(131_072),
        small_queues: false,
        pacing: false,
        congestion_control: CongestionControl::Cubic,
        window_growth: WindowGrowth::PerAck,
        window_validation: false,
        restart_after_idle: false,
        ecn: EcnMode::Off,
        loss_recovery: LossRecovery::Ns3v37,
        dup_ack_threshold: 3,
        limited_transmit: true,
        sack: true,
        dsack: false,
        rack: false,
        reorder_slack: Duration::ZERO,
        tail_loss_probe: false,
        frto: false,
        undo: false,
        proportional_rate_reduction: true,
        timestamps: true,
        timestamp_clock: TimestampClock::Millisecond,
        paws: false,
        rtt_source: RttSource::Timestamps,
        zero_rtt_sample: Duration::from_us(1),
        rto_granularity: Duration::from_ms(1),
        initial_rto: Duration::from_secs(1),
        min_rto: Duration::from_secs(1),
        rto_floor: RtoFloor::Timeout,
        rto_variance: RtoVariance::Mean,
        max_rto: Duration::from_secs(60),
        syn_timeout: Duration::from_secs(3),
        syn_retries: 6,
        data_retries: 6,
        delayed_ack_segments: 2,
        delayed_ack_timeout: Duration::from_ms(200),
        quick_acks: 1,
        nagle: false,
        time_wait: Duration::from_secs(240),
        congestion: Parameters::default(),
        mptcp: Mptcp::Off,
        subflows: 4,
        mptcp_version: 1,
        mptcp_scheduler: MptcpScheduler::LowestRtt,
        mptcp_congestion: MptcpCongestion::Lia,
        mptcp_stale_loss_count: 4,
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

fn linux() -> Config {
    Config {
        mss: 1448,
        receive_buffer: Bytes(3 << 20),
        initial_receive_window: Bytes(65_535),
        send_buffer: Bytes(4 << 20),
        small_queues: true,
        window_growth: WindowGrowth::PerByte,
        window_validation: true,
        restart_after_idle: true,
        loss_recovery: LossRecovery::Standard,
        dsack: true,
        rack: true,
        // `TCP_TIMEOUT_MIN_US`, plus at HZ=250 on average 2 ms to the next tick and 2 ms of rounding.
        reorder_slack: Duration::from_ms(6),
        tail_loss_probe: true,
        frto: true,
        undo: true,
        paws: true,
        rtt_source: RttSource::SendTimes,
        zero_rtt_sample: Duration::from_ms(1),
        min_rto: Duration::from_ms(200),
        rto_floor: RtoFloor::Variance,
        rto_variance: RtoVariance::Peak,
        max_rto: Duration::from_secs(120),
        syn_timeout: Duration::from_secs(1),
        data_retries: 15,
        delayed_ack_timeout: Duration::from_ms(40),
        quick_acks: 16,
        nagle: true,
        time_wait: Duration::from_secs(60),
        congestion: Parameters {
            cubic: cubic::Parameters {
                c: 410.0 / 1024.0,
                beta: 717.0 / 1024.0,
                reno_friendly: true,
                delay_ignore: Duration::from_secs(1),
                hystart: hystart::Parameters {
                    half_train: true,
                    delay_max: Duration::from_ms(16),
                    ..hystart::Parameters::default()
                },
                ..cubic::Parameters::default()
            },
            ..Parameters::default()
        },
        // Mainline Linux has no coupled controller.
        mptcp_congestion: MptcpCongestion::Uncoupled,
        ..ns3_37()
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
        ..linux()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_valid_and_survives_being_printed() {
        for (name, _) in PROFILES {
            let config = Config::profile(name).unwrap();
            config.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
            let printed = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<Config>(&printed).unwrap(), config, "{name}");
        }
        assert_eq!(Config::profile("windows"), None);
    }
}
