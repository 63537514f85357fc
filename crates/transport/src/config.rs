//! [`Config`]: all TCP parameters, by name. A [profile](crate::profile) sets all of them.
//!
//! One `Config` is shared by all connections of a run and by both ends of each. It is stored in the
//! result, so a result records the TCP parameters it was measured with.

use serde::{Deserialize, Serialize};
use weft_units::{Bytes, Duration};

use crate::congestion::{self, CongestionControl, MptcpCongestion};
use crate::framing::Framing;
use crate::parameters::{ConfigError, Parameters, check};
use crate::segment::{IP_HEADER, TCP_HEADER};

/// The loss recovery algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LossRecovery {
    /// As in the RFCs and Linux: RFC 6675 with SACK, RFC 6582 without, RFC 6937, and RFC 8985 if `rack` is on.
    #[serde(rename = "standard")]
    Standard,
    /// As ns-3.37: a scoreboard and RFC 6937, with the differences described in `recovery/ns3.rs`.
    #[serde(rename = "ns3-3.37")]
    Ns3v37,
    /// As ns-3.26: duplicate ACKs inflate the window, a timeout goes back to the first hole.
    #[serde(rename = "ns3-3.26")]
    Ns3v26,
    /// As ns-3.23: as 3.26, with the differences described in `recovery/inflation.rs`.
    #[serde(rename = "ns3-3.23")]
    Ns3v23,
}

impl LossRecovery {
    /// Whether it inflates the window and goes back on timeout, instead of using a scoreboard.
    #[inline]
    pub(crate) const fn inflates(self) -> bool {
        matches!(self, Self::Ns3v26 | Self::Ns3v23)
    }
}

/// How the window grows with an ACK for several segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowGrowth {
    /// Reno: one segment in slow start and MSS²/cwnd bytes afterwards, however much the ACK covers (RFC 5681
    /// as in ns-3): with delayed ACKs half the growth. CUBIC: by the bytes acknowledged, past the threshold.
    PerAck,
    /// By the bytes acknowledged (RFC 3465; Linux), in slow start up to the threshold.
    PerByte,
}

/// How explicit congestion notification is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnMode {
    /// Packets are not ECN capable.
    Off,
    /// RFC 3168: one reduction per window.
    Classic,
    /// RFC 8257: the receiver reports which packets were marked.
    Dctcp,
}

/// Whether connections use Multipath TCP, and which additional subflows they open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mptcp {
    /// Plain TCP.
    Off,
    /// One subflow for each pair of a source address and a destination address.
    Fullmesh,
    /// `subflows` between the same two addresses, each with its own source port.
    Ndiffports,
}

/// Which subflow sends the next data of a multipath connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MptcpScheduler {
    /// Among the subflows with room in their windows, the one with the lowest smoothed round-trip time.
    LowestRtt,
    /// The subflows with room in their windows in turn, one segment each.
    RoundRobin,
}

/// The tick of the timestamp option.
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
    /// From echoed timestamps, one sample per ACK that advances (RFC 7323, section 4), at the clock's resolution.
    Timestamps,
    /// From send times: every ACK with `rack`, otherwise one segment timed at a time (RFC 6298, section 3). Where only
    /// retransmissions were acknowledged, from echoed timestamps, if there are any (Linux).
    SendTimes,
}

/// The quantity that `min_rto` bounds from below.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFloor {
    /// The timeout (RFC 6298).
    Timeout,
    /// The variance term of the timeout (Linux: SRTT + at least `min_rto`).
    Variance,
}

/// What the variance term of the timeout is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoVariance {
    /// Four mean deviations (RFC 6298).
    Mean,
    /// The largest four mean deviations of a round trip; it falls by at most a quarter per round trip (Linux).
    Peak,
}

/// All TCP parameters. The names are the keys of a scenario's `[transport]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Config {
    /// Payload bytes of a full segment, 1 to 65 000.
    pub mss: u16,
    /// Initial congestion window, in segments.
    pub initial_window: u32,
    /// Initial slow-start threshold; `"4294967295 B"` means none.
    pub initial_ssthresh: Bytes,
    /// Receive buffer: the maximum receive window. At most 1 GiB (RFC 7323).
    pub receive_buffer: Bytes,
    /// Initial receive window; it grows by two bytes for each byte received in order, up to
    /// `receive_buffer`. A SYN cannot announce more than 65 535.
    pub initial_receive_window: Bytes,
    /// Maximum bytes sent and not yet acknowledged, whatever the windows allow.
    pub send_buffer: Bytes,

    /// Whether a connection queues at most two segments, or one millisecond of data at its pacing rate, at its own
    /// host's interface (Linux: TCP small queues). `loss_recovery = "standard"` only.
    pub small_queues: bool,
    /// Whether data segments are spaced at the pacing rate: the window per round-trip time, times 2 below half the
    /// slow-start threshold, otherwise times 1.2 (Linux: internal pacing). `loss_recovery = "standard"` only.
    pub pacing: bool,

    /// The congestion control algorithm.
    pub congestion_control: CongestionControl,
    /// How the window grows with an ACK for several segments.
    pub window_growth: WindowGrowth,
    /// Whether the window grows only while it is fully used (RFC 9438, section 5.8; Linux).
    pub window_validation: bool,
    /// Whether the window shrinks to `initial_window` after an idle time longer than the RTO (RFC 5681, section 4.1).
    pub restart_after_idle: bool,
    /// How explicit congestion notification is used.
    pub ecn: EcnMode,

    /// The loss recovery algorithm.
    pub loss_recovery: LossRecovery,
    /// Number of duplicate ACKs, or of segments reported above a hole, that indicate a loss.
    pub dup_ack_threshold: u8,
    /// Whether each of the first duplicate ACKs releases a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Whether a receiver reports duplicates (RFC 2883).
    pub dsack: bool,
    /// Whether losses are detected by time (RFC 8985, sections 5 and 6). `loss_recovery = "standard"` only.
    pub rack: bool,
    /// How much later than in RFC 8985 the reordering timer expires (Linux: 2 ms plus the rest of two ticks).
    pub reorder_slack: Duration,
    /// Whether the tail of a flight is probed (RFC 8985, section 7). Needs `rack`.
    pub tail_loss_probe: bool,
    /// Whether spurious timeouts are detected (RFC 5682). `loss_recovery = "standard"` only.
    pub frto: bool,
    /// Whether a reduction is undone if it proves unnecessary: an original arrives late (RFC 3522, 4015), or all
    /// retransmissions are reported as duplicates (RFC 3708). Needs `dsack`.
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
    /// Value used for a sample of zero ticks; `"0 s"`: such samples are ignored.
    pub zero_rtt_sample: Duration,
    /// The clock granularity G of RFC 6298.
    pub rto_granularity: Duration,
    /// RTO before the first sample.
    pub initial_rto: Duration,
    /// Minimum RTO.
    pub min_rto: Duration,
    /// The quantity that `min_rto` bounds from below.
    pub rto_floor: RtoFloor,
    /// What the variance term of the timeout is made of.
    pub rto_variance: RtoVariance,
    /// Maximum RTO after backoff.
    pub max_rto: Duration,
    /// Timeout of the first SYN; it doubles with each retry.
    pub syn_timeout: Duration,
    /// Number of SYN retransmissions before the connection is aborted.
    pub syn_retries: u8,
    /// Consecutive timeouts without progress after which the connection is aborted.
    pub data_retries: u8,

    /// Number of in-order segments per delayed ACK; 1: ACKs are not delayed.
    pub delayed_ack_segments: u8,
    /// Maximum delay of an ACK.
    pub delayed_ack_timeout: Duration,
    /// Segments at the start of a connection that are acknowledged at once.
    pub quick_acks: u8,
    /// Whether a partial segment waits for outstanding data to be acknowledged (RFC 896).
    pub nagle: bool,
    /// How long the side that closed first answers a repeated FIN.
    pub time_wait: Duration,

    /// The parameters of congestion controllers.
    #[serde(flatten)]
    pub congestion: congestion::Parameters,

    /// Whether connections use Multipath TCP, and which additional subflows they open.
    pub mptcp: Mptcp,
    /// Subflows of a connection with `mptcp = "ndiffports"`, including the first: 1 to 32.
    pub subflows: u8,
    /// Multipath TCP version: 0 (RFC 6824) or 1 (RFC 8684).
    pub mptcp_version: u8,
    /// Which subflow sends the next data.
    pub mptcp_scheduler: MptcpScheduler,
    /// How the windows of the subflows are coupled.
    pub mptcp_congestion: MptcpCongestion,
    /// How many checks of a stalled connection a subflow may pass without receiving anything. With one more it is
    /// stale: it gets no new data, and its data is also reinjected on the others (Linux: `stale_loss_cnt`). 0: never.
    pub mptcp_stale_loss_count: u8,
}

impl Config {
    /// The largest `mss`.
    pub(crate) const LARGEST_MSS: u16 = 65_000;

    /// Checks what the types cannot: ranges, and that parameters are consistent.
    ///
    /// # Errors
    /// The first parameter that is out of range or contradicts another.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let time = Duration::from_ps;
        check((1..=Self::LARGEST_MSS).contains(&self.mss), "mss", &self.mss, "1 to 65000 bytes")?;
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
            ("pacing", self.pacing),
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
        self.congestion.validate(self)?;
        check((1..=32).contains(&self.subflows), "subflows", &self.subflows, "1 to 32")?;
        check(self.mptcp_version <= 1, "mptcp_version", &self.mptcp_version, "0 or 1")?;
        check(self.mptcp == Mptcp::Off || self.mss >= 56, "mss", &self.mss, "at least 56 bytes with mptcp")
    }

    /// Bytes of a full segment.
    #[inline]
    pub fn segment(&self) -> u32 {
        u32::from(self.mss)
    }

    /// Bytes of the IP packet of a full segment.
    pub fn full_packet(&self) -> u32 {
        IP_HEADER + TCP_HEADER + u32::from(self.plain_options()) + self.segment()
    }

    /// How it divides a flow into packets.
    pub fn framing(&self) -> Framing {
        Framing {
            payload: self.mss,
            headers: self.full_packet() - self.segment(),
            round_trips: 1,
            pace: None,
        }
    }

    /// Option bytes of a segment after the handshake without selective acknowledgements.
    #[inline]
    pub(crate) fn plain_options(&self) -> u8 {
        if self.timestamps { 12 } else { 0 }
    }
}

impl Parameters for Config {
    fn validate(&self) -> Result<(), ConfigError> {
        Self::validate(self)
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
            (|c| c.congestion.cubic.beta = f64::NAN, "cubic_beta"),
            (|c| c.initial_window = 0, "initial_window"),
        ];
        for (spoil, name) in cases {
            let mut config = Config::profile("linux").unwrap();
            spoil(&mut config);
            assert_eq!(config.validate().unwrap_err().name, name);
        }
    }
}
