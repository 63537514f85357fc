//! [`Config`]: every parameter of a TCP, by name. A [profile](crate::profile) fixes all of them.
//!
//! One `Config` is shared by all connections of a run and by both ends of each. It goes into the
//! result as it is, so a result says which TCP it was measured with.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use weft_units::{Bytes, Duration};

use crate::segment::{IP_HEADER, TCP_HEADER};

/// Which congestion controller governs the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257; needs `ecn = "dctcp"`.
    Dctcp,
}

/// How lost segments are found again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LossRecovery {
    /// By the RFCs and as Linux does it: RFC 6675 with SACK, RFC 6582 without, RFC 6937, and RFC 8985 if `rack` is on.
    #[serde(rename = "standard")]
    Standard,
    /// As ns-3.37: a scoreboard and RFC 6937 with the departures told in `recovery/ns3.rs`.
    #[serde(rename = "ns3-3.37")]
    Ns3v37,
    /// As ns-3.26: the window is inflated by duplicate ACKs, a timeout goes back to the first hole.
    #[serde(rename = "ns3-3.26")]
    Ns3v26,
    /// As ns-3.23: as 3.26 and older in the details told in `recovery/inflation.rs`.
    #[serde(rename = "ns3-3.23")]
    Ns3v23,
}

impl LossRecovery {
    /// Whether the window is inflated and a timeout goes back, instead of a scoreboard.
    #[inline]
    pub(crate) const fn inflates(self) -> bool {
        matches!(self, Self::Ns3v26 | Self::Ns3v23)
    }
}

/// How a window grows with an ACK for several segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowGrowth {
    /// Reno's by one segment in slow start and by MSS²/cwnd bytes after, whatever the ACK covers (RFC 5681
    /// as ns-3 reads it): with delayed ACKs half the growth. CUBIC's by what the ACK covers, past the threshold.
    PerAck,
    /// By what the ACK covers (RFC 3465; Linux), in slow start up to the threshold.
    PerByte,
}

/// How CUBIC leaves slow start before a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum HyStart {
    /// It does not.
    #[serde(rename = "off")]
    Off,
    /// By ACK trains and by delay, as Linux and ns-3 do.
    #[serde(rename = "classic")]
    Classic,
    /// RFC 9406: by delay, with a conservative slow start that may take it back.
    #[serde(rename = "++")]
    PlusPlus,
}

/// What explicit congestion notification is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnMode {
    /// Packets are not ECN capable.
    Off,
    /// RFC 3168: one reduction a window.
    Classic,
    /// RFC 8257: the receiver tells which packets were marked.
    Dctcp,
}

/// Whether connections are multipath TCP, and which further subflows one opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mptcp {
    /// Plain TCP.
    Off,
    /// One subflow for each pair of an address of the one host and an address of the other.
    Fullmesh,
    /// `subflows` between the same two addresses, each with a source port of its own.
    Ndiffports,
}

/// Which subflow takes the next data of a multipath connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MptcpScheduler {
    /// That with the least smoothed round-trip time of those whose windows have room.
    LowestRtt,
    /// Each of those whose windows have room in turn, a segment at a time.
    RoundRobin,
}

/// How the windows of a connection's subflows are coupled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MptcpCongestion {
    /// Not at all: each has its own `congestion_control`.
    Uncoupled,
    /// RFC 6356.
    Lia,
    /// Opportunistic linked increases (Khalili et al., IEEE/ACM ToN 2013).
    Olia,
    /// Balanced linked adaptation (Peng et al., IEEE/ACM ToN 2016).
    Balia,
}

/// The tick of the timestamps that segments carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TimestampClock {
    /// A millisecond (Linux, ns-3).
    #[serde(rename = "1 ms")]
    Millisecond,
    /// A microsecond (Linux with `tcp_usec_ts`).
    #[serde(rename = "1 us")]
    Microsecond,
}

/// Where round-trip samples come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttSource {
    /// From echoed timestamps, one sample for each ACK that advances (RFC 7323, section 4), as fine as the clock.
    Timestamps,
    /// From the times of sending: each ACK with `rack`, else one segment timed at once (RFC 6298, section 3).
    SendTimes,
}

/// What `min_rto` is the lower bound of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFloor {
    /// The timeout (RFC 6298).
    Timeout,
    /// The part of it that stands for the variance (Linux: SRTT + at least `min_rto`).
    Variance,
}

/// Every parameter of a TCP. Names are the keys of a scenario's `[transport]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Payload bytes of a full segment, 1 to 65 000.
    pub mss: u16,
    /// First congestion window, in segments.
    pub initial_window: u32,
    /// First slow-start threshold; `"4294967295 B"` stands for none.
    pub initial_ssthresh: Bytes,
    /// Most that a receiver holds: its window. At most 1 GiB (RFC 7323).
    pub receive_buffer: Bytes,
    /// The window that a receiver begins with; it grows by two bytes for each byte received in order, up
    /// to `receive_buffer`. A SYN cannot announce more than 65 535.
    pub initial_receive_window: Bytes,
    /// Most bytes sent and not yet acknowledged, whatever the windows say.
    pub send_buffer: Bytes,

    /// Whether of a connection's data only two segments, or what leaves in a millisecond at its pacing rate, wait at its
    /// own host's interface (Linux: TCP small queues). `loss_recovery = "standard"` only.
    pub small_queues: bool,

    /// Which congestion controller governs the window.
    pub congestion_control: CongestionControl,
    /// How the window grows with an ACK for several segments.
    pub window_growth: WindowGrowth,
    /// Whether only a window that was used grows (RFC 9438, section 5.8; Linux).
    pub window_validation: bool,
    /// Whether the window shrinks to `initial_window` after a pause longer than the timeout (RFC 5681, section 4.1).
    pub restart_after_idle: bool,
    /// What explicit congestion notification is used for.
    pub ecn: EcnMode,

    /// How lost segments are found again.
    pub loss_recovery: LossRecovery,
    /// Duplicate ACKs, or segments reported above a hole, that mean a loss.
    pub dup_ack_threshold: u8,
    /// Whether the first duplicate ACKs let a new segment out each (RFC 3042).
    pub limited_transmit: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Whether a receiver reports duplicates (RFC 2883).
    pub dsack: bool,
    /// Whether losses are detected by time (RFC 8985, sections 5 and 6). `loss_recovery = "standard"` only.
    pub rack: bool,
    /// How much later than RFC 8985 says the timer for reordered segments expires (Linux: 2 ms and the rest of two
    /// ticks).
    pub reorder_slack: Duration,
    /// Whether the tail of a flight is probed (RFC 8985, section 7). Needs `rack`.
    pub tail_loss_probe: bool,
    /// Whether a timeout is tested for having been spurious (RFC 5682). `loss_recovery = "standard"` only.
    pub frto: bool,
    /// Whether a reduction is undone if all retransmissions turn out to be needless (RFC 3708). Needs `dsack`.
    pub undo: bool,
    /// Whether the window shrinks gradually in recovery (RFC 6937). `loss_recovery = "standard"` only.
    pub proportional_rate_reduction: bool,

    /// Whether segments carry timestamps (RFC 7323): 12 bytes each.
    pub timestamps: bool,
    /// The tick of the timestamps.
    pub timestamp_clock: TimestampClock,
    /// Whether segments with old timestamps are refused (RFC 7323, section 5).
    pub paws: bool,
    /// Where round-trip samples come from.
    pub rtt_source: RttSource,
    /// What a sample of zero ticks counts as; `"0 s"`: it is ignored.
    pub zero_rtt_sample: Duration,
    /// The clock granularity G of RFC 6298.
    pub rto_granularity: Duration,
    /// Timeout before the first sample.
    pub initial_rto: Duration,
    /// Least timeout.
    pub min_rto: Duration,
    /// What `min_rto` is the lower bound of.
    pub rto_floor: RtoFloor,
    /// Most that a timeout is backed off to.
    pub max_rto: Duration,
    /// Timeout of the first SYN; it doubles.
    pub syn_timeout: Duration,
    /// How often a SYN is sent again before the connection is given up.
    pub syn_retries: u8,
    /// Timeouts in a row, without progress, after which the connection is given up.
    pub data_retries: u8,

    /// Segments in order that one ACK is delayed for; 1: none is delayed.
    pub delayed_ack_segments: u8,
    /// Longest delay of an ACK.
    pub delayed_ack_timeout: Duration,
    /// Segments at the start of a connection that are acknowledged at once.
    pub quick_acks: u8,
    /// Whether a partial segment waits for outstanding data to be acknowledged (RFC 896).
    pub nagle: bool,
    /// How long the side that closed first answers a repeated FIN.
    pub time_wait: Duration,

    /// CUBIC's C, in segments per cubic second.
    pub cubic_c: f64,
    /// CUBIC's multiplicative decrease.
    pub cubic_beta: f64,
    /// Whether CUBIC gives way to newer flows (RFC 9438, section 4.7).
    pub cubic_fast_convergence: bool,
    /// Whether CUBIC is never slower than Reno (RFC 9438, section 4.3).
    pub cubic_reno_friendly: bool,
    /// Before its first loss CUBIC adds a segment at least once for this many acknowledged.
    pub cubic_count_clamp: u32,
    /// For so long after a reduction CUBIC looks at no delay.
    pub cubic_delay_ignore: Duration,
    /// How CUBIC leaves slow start before a loss.
    pub hystart: HyStart,
    /// Window in segments from which classic HyStart looks.
    pub hystart_low_window: u32,
    /// Samples of a round from which HyStart judges.
    pub hystart_min_samples: u8,
    /// ACKs closer than this form a train.
    pub hystart_ack_delta: Duration,
    /// Whether a train half as long as the least delay ends slow start (Linux without pacing), or one as long (ns-3).
    pub hystart_half_train: bool,
    /// Least increase of delay that ends slow start.
    pub hystart_delay_min: Duration,
    /// Increase of delay that ends slow start in any case.
    pub hystart_delay_max: Duration,

    /// DCTCP's gain g.
    pub dctcp_gain: f64,
    /// DCTCP's estimate of the marked fraction before the first mark.
    pub dctcp_initial_alpha: f64,

    /// Whether connections are multipath TCP, and which further subflows one opens.
    pub mptcp: Mptcp,
    /// Subflows of a connection with `mptcp = "ndiffports"`, the first included: 1 to 32.
    pub subflows: u8,
    /// Version of multipath TCP: 0 (RFC 6824) or 1 (RFC 8684).
    pub mptcp_version: u8,
    /// Which subflow takes the next data.
    pub mptcp_scheduler: MptcpScheduler,
    /// How the windows of the subflows are coupled.
    pub mptcp_congestion: MptcpCongestion,
    /// How often a connection whose data does not get on may find a subflow from which nothing came since the last time.
    /// Once more, and it is stale: it gets no more data, and what it has sent goes to the others too (Linux:
    /// `stale_loss_cnt`). 0: it never is.
    pub mptcp_stale_loss_count: u8,
}

/// A parameter that no TCP can have.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{name} = {found}: expected {expected}")]
pub struct ConfigError {
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub found: String,
    /// What would do.
    pub expected: &'static str,
}

impl Config {
    /// Checks what the types cannot: ranges, and that parameters go together.
    ///
    /// # Errors
    /// The first parameter that is out of range or contradicts another.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let check =
            |good: bool, name: &'static str, found: &dyn std::fmt::Display, expected: &'static str| {
                if good { Ok(()) } else { Err(ConfigError { name, found: found.to_string(), expected }) }
            };
        let time = Duration::from_ps;
        check((1..=65_000).contains(&self.mss), "mss", &self.mss, "1 to 65000 bytes")?;
        check(
            (1..=100_000).contains(&self.initial_window),
            "initial_window",
            &self.initial_window,
            "1 to 100000 segments",
        )?;
        for (name, bytes) in [
            ("receive_buffer", self.receive_buffer),
            ("initial_receive_window", self.initial_receive_window),
            ("send_buffer", self.send_buffer),
        ] {
            let range = u64::from(self.mss)..=1 << 30;
            check(range.contains(&bytes.0), name, &bytes, "one segment to 1 GiB")?;
        }
        check(
            self.initial_ssthresh.0 >= u64::from(self.mss),
            "initial_ssthresh",
            &self.initial_ssthresh,
            "at least one segment",
        )?;
        for (name, span) in [
            ("initial_rto", self.initial_rto),
            ("min_rto", self.min_rto),
            ("max_rto", self.max_rto),
            ("syn_timeout", self.syn_timeout),
            ("delayed_ack_timeout", self.delayed_ack_timeout),
        ] {
            let range = time(1_000_000)..=Duration::from_secs(3600);
            check(range.contains(&span), name, &span, "1 us to 1 h")?;
        }
        check(self.min_rto <= self.max_rto, "min_rto", &self.min_rto, "at most max_rto")?;
        check(self.dup_ack_threshold >= 1, "dup_ack_threshold", &self.dup_ack_threshold, "at least 1")?;
        check(
            self.delayed_ack_segments >= 1,
            "delayed_ack_segments",
            &self.delayed_ack_segments,
            "at least 1",
        )?;
        let standard = self.loss_recovery == LossRecovery::Standard;
        let parts = [
            ("small_queues", self.small_queues),
            ("rack", self.rack),
            ("frto", self.frto),
            ("undo", self.undo),
        ];
        for (name, on) in parts {
            check(!on || standard, name, &on, "false unless loss_recovery is \"standard\"")?;
        }
        check(!self.rack || self.sack, "rack", &self.rack, "false without sack")?;
        check(
            !self.tail_loss_probe || self.rack,
            "tail_loss_probe",
            &self.tail_loss_probe,
            "false without rack",
        )?;
        check(!self.dsack || self.sack, "dsack", &self.dsack, "false without sack")?;
        check(!self.undo || self.dsack, "undo", &self.undo, "false without dsack")?;
        check(
            !(self.sack && self.loss_recovery.inflates()),
            "sack",
            &self.sack,
            "false with a loss_recovery that inflates the window",
        )?;
        check(
            self.timestamps || self.rtt_source == RttSource::SendTimes,
            "timestamps",
            &self.timestamps,
            "true with rtt_source = \"timestamps\"",
        )?;
        let dctcp = self.congestion_control == CongestionControl::Dctcp;
        check(
            !dctcp || self.ecn == EcnMode::Dctcp,
            "congestion_control",
            &"dctcp",
            "another one, or ecn = \"dctcp\"",
        )?;
        for (name, value) in [("cubic_beta", self.cubic_beta), ("dctcp_gain", self.dctcp_gain)] {
            check(value > 0.0 && value < 1.0, name, &value, "more than 0, less than 1")?;
        }
        check(self.cubic_c > 0.0 && self.cubic_c.is_finite(), "cubic_c", &self.cubic_c, "more than 0")?;
        check(
            (0.0..=1.0).contains(&self.dctcp_initial_alpha),
            "dctcp_initial_alpha",
            &self.dctcp_initial_alpha,
            "0 to 1",
        )?;
        check((1..=32).contains(&self.subflows), "subflows", &self.subflows, "1 to 32")?;
        check(self.mptcp_version <= 1, "mptcp_version", &self.mptcp_version, "0 or 1")?;
        check(self.mptcp == Mptcp::Off || self.mss >= 56, "mss", &self.mss, "at least 56 bytes with mptcp")
    }

    /// Bytes of a full segment.
    #[inline]
    pub(crate) fn segment(&self) -> u32 {
        u32::from(self.mss)
    }

    /// Bytes of the IP packet of a full segment.
    pub fn full_packet(&self) -> u32 {
        IP_HEADER + TCP_HEADER + u32::from(self.plain_options()) + self.segment()
    }

    /// Option bytes of a segment after the handshake without selective acknowledgements.
    #[inline]
    pub(crate) fn plain_options(&self) -> u8 {
        if self.timestamps { 12 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_out_of_range_is_named_with_what_would_do() {
        type Spoil = fn(&mut Config);
        let cases: [(Spoil, &str); 8] = [
            (|c| c.mss = 0, "mss"),
            (|c| c.receive_buffer = Bytes(10), "receive_buffer"),
            (|c| c.min_rto = Duration::ZERO, "min_rto"),
            (|c| c.sack = false, "rack"),
            (|c| c.congestion_control = CongestionControl::Dctcp, "congestion_control"),
            (|c| c.loss_recovery = LossRecovery::Ns3v37, "small_queues"),
            (|c| c.cubic_beta = f64::NAN, "cubic_beta"),
            (|c| c.initial_window = 0, "initial_window"),
        ];
        for (spoil, name) in cases {
            let mut config = Config::profile("linux").unwrap();
            spoil(&mut config);
            assert_eq!(config.validate().unwrap_err().name, name);
        }
    }
}
