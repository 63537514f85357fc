//! [`Config`]: all TCP parameters, by name. A [profile](crate::profile) sets all of them.
//!
//! One `Config` is shared by all connections of a run and by both ends of each. It is stored in the
//! result, so a result records the TCP parameters it was measured with.

use std::ops::RangeInclusive;

use weft_units::{Bytes, Duration, params, words};

use crate::congestion::{self, CongestionControl, MptcpCongestion, Settings, Window, WindowGrowth};
use crate::framing::Framing;
use crate::parameters::{ConfigError, check, check_ranges};
use crate::protocol_config::{Idle, ProtocolConfig, WithoutEcn};
use crate::segment::{IP_HEADER, TCP_HEADER, window};

words! {
    /// The loss recovery algorithm.
    pub enum LossRecovery {
        /// As in the RFCs and Linux: RFC 6675 with SACK, RFC 6582 without, RFC 6937, and RFC 8985 if `rack` is on.
        Standard = "standard",
        /// As ns-3.37: a scoreboard and RFC 6937, with the differences described in `recovery/ns3.rs`.
        Ns3v37 = "ns3-3.37",
        /// As ns-3.26: duplicate ACKs inflate the window, a timeout goes back to the first hole.
        Ns3v26 = "ns3-3.26",
        /// As ns-3.23: as 3.26, with the differences described in `recovery/inflation.rs`.
        Ns3v23 = "ns3-3.23",
    }
}

impl LossRecovery {
    /// Whether it inflates the window and goes back on timeout, instead of using a scoreboard.
    #[inline]
    pub(crate) const fn inflates(self) -> bool {
        matches!(self, Self::Ns3v26 | Self::Ns3v23)
    }
}

words! {
    /// How explicit congestion notification is used.
    pub enum EcnMode {
        /// Packets are not ECN capable.
        Off = "off",
        /// RFC 3168: one reduction per window.
        Classic = "classic",
        /// RFC 8257: the receiver reports which packets were marked.
        Dctcp = "dctcp",
    }
}

words! {
    /// Whether connections use Multipath TCP, and which additional subflows they open.
    pub enum Mptcp {
        /// Plain TCP.
        Off = "off",
        /// One subflow for each pair of a source address and a destination address.
        Fullmesh = "fullmesh",
        /// `subflows` between the same two addresses, each with its own source port.
        Ndiffports = "ndiffports",
    }
}

words! {
    /// Which subflow sends the next data of a multipath connection.
    pub enum MptcpScheduler {
        /// Among the subflows with room in their windows, the one with the lowest smoothed round-trip time.
        LowestRtt = "lowest-rtt",
        /// The subflows with room in their windows in turn, one segment each.
        RoundRobin = "round-robin",
    }
}

words! {
    /// The tick of the timestamp option.
    pub enum TimestampClock {
        /// A millisecond (Linux, ns-3).
        Millisecond = "1 ms",
        /// A microsecond (Linux with `tcp_usec_ts`).
        Microsecond = "1 us",
    }
}

words! {
    /// Where round-trip samples come from.
    pub enum RttSource {
        /// From echoed timestamps, one sample per ACK that advances (RFC 7323, section 4), at the clock's resolution.
        Timestamps = "timestamps",
        /// From send times: every ACK with `rack`, otherwise one segment timed at a time (RFC 6298, section 3). Where only
        /// retransmissions were acknowledged, from echoed timestamps, if there are any (Linux).
        SendTimes = "send-times",
    }
}

words! {
    /// The quantity that `min_rto` bounds from below.
    pub enum RtoFloor {
        /// The timeout (RFC 6298).
        Timeout = "timeout",
        /// The variance term of the timeout (Linux: SRTT + at least `min_rto`).
        Variance = "variance",
    }
}

words! {
    /// What the variance term of the timeout is made of.
    pub enum RtoVariance {
        /// Four mean deviations (RFC 6298).
        Mean = "mean",
        /// The largest four mean deviations of a round trip; it falls by at most a quarter per round trip (Linux).
        Peak = "peak",
    }
}

params! {
    /// All TCP parameters. The names are the keys of a scenario's `[transport]`; the defaults are those of the profile
    /// `linux`.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Config {
        /// payload bytes of a full segment
        mss: u16 = 1448, in 1..=65_000, unit "bytes";
        /// initial congestion window
        initial_window: u32 = 10, in 1..=100_000, unit "segments";
        /// initial slow-start threshold; 4294967295 B: none
        initial_ssthresh: Bytes = Bytes(u32::MAX as u64);
        /// receive buffer: the maximum receive window (RFC 7323: at most 1 GiB)
        receive_buffer: Bytes = Bytes(3 << 20);
        /// initial receive window; it grows by two bytes for each byte received in order, up to `receive_buffer`; a SYN
        /// announces at most 65 535
        initial_receive_window: Bytes = Bytes(65_535);
        /// maximum bytes sent and not yet acknowledged, whatever the windows allow
        send_buffer: Bytes = Bytes(4 << 20);
        /// limit of a connection's queue at its own host's interface: two segments, or one millisecond of data at its
        /// pacing rate (Linux: TCP small queues); needs `loss_recovery = "standard"`
        small_queues: bool = true;
        /// spacing of data segments at the pacing rate: the window per round-trip time, times 2 below half the
        /// slow-start threshold, otherwise times 1.2 (Linux: internal pacing); needs `loss_recovery = "standard"`
        pacing: bool = false;
        /// congestion control algorithm
        congestion_control: CongestionControl = CongestionControl::Cubic;
        /// window growth on an ACK for several segments
        window_growth: WindowGrowth = WindowGrowth::PerByte;
        /// window growth only while the window is fully used (RFC 9438, section 5.8; Linux)
        window_validation: bool = true;
        /// return of the window to `initial_window` after an idle time longer than the RTO (RFC 5681, section 4.1)
        restart_after_idle: bool = true;
        /// use of explicit congestion notification
        ecn: EcnMode = EcnMode::Off;
        /// loss recovery algorithm
        loss_recovery: LossRecovery = LossRecovery::Standard;
        /// number of duplicate ACKs, or of segments reported above a hole, that indicate a loss
        dup_ack_threshold: u8 = 3, in 1..=u8::MAX;
        /// a new segment for each of the first duplicate ACKs (RFC 3042)
        limited_transmit: bool = true;
        /// selective acknowledgements (RFC 2018)
        sack: bool = true;
        /// reports of duplicates by the receiver (RFC 2883)
        dsack: bool = true;
        /// loss detection by time (RFC 8985, sections 5 and 6); needs `loss_recovery = "standard"`
        rack: bool = true;
        // `TCP_TIMEOUT_MIN_US`, plus at HZ=250 on average 2 ms to the next tick and 2 ms of rounding.
        /// extra time of the reordering timer beyond that of RFC 8985 (Linux: 2 ms plus the rest of two ticks)
        reorder_slack: Duration = Duration::from_ms(6);
        /// probes for the tail of a flight (RFC 8985, section 7); needs `rack`
        tail_loss_probe: bool = true;
        /// detection of spurious timeouts (RFC 5682); needs `loss_recovery = "standard"`
        frto: bool = true;
        /// undoing of unnecessary reductions: an original arrives late (RFC 3522, 4015), or all retransmissions are
        /// reported as duplicates (RFC 3708); needs `dsack`
        undo: bool = true;
        /// gradual reduction of the window in recovery (RFC 6937), with `loss_recovery = "standard"`
        proportional_rate_reduction: bool = true;
        /// timestamps in segments (RFC 7323): 12 bytes each
        timestamps: bool = true;
        /// tick of the timestamps
        timestamp_clock: TimestampClock = TimestampClock::Millisecond;
        /// rejection of segments with old timestamps (RFC 7323, section 5)
        paws: bool = true;
        /// source of round-trip samples
        rtt_source: RttSource = RttSource::SendTimes;
        /// value used for a sample of zero ticks; 0 s: such samples are ignored
        zero_rtt_sample: Duration = Duration::from_ms(1);
        /// clock granularity G of RFC 6298
        rto_granularity: Duration = Duration::from_ms(1);
        /// RTO before the first sample
        initial_rto: Duration = Duration::from_secs(1), in TIMES;
        /// minimum RTO
        min_rto: Duration = Duration::from_ms(200), in TIMES;
        /// the quantity that `min_rto` bounds from below
        rto_floor: RtoFloor = RtoFloor::Variance;
        /// variance term of the timeout
        rto_variance: RtoVariance = RtoVariance::Peak;
        /// maximum RTO after backoff
        max_rto: Duration = Duration::from_secs(120), in TIMES;
        /// timeout of the first SYN; it doubles with each retry
        syn_timeout: Duration = Duration::from_secs(1), in TIMES;
        /// number of SYN retransmissions before the connection is aborted
        syn_retries: u8 = 6, in 0..=u8::MAX;
        /// consecutive timeouts without progress after which the connection is aborted
        data_retries: u8 = 15, in 0..=u8::MAX;
        /// number of in-order segments per delayed ACK; 1: ACKs are not delayed
        delayed_ack_segments: u8 = 2, in 1..=u8::MAX;
        /// maximum delay of an ACK
        delayed_ack_timeout: Duration = Duration::from_ms(40), in TIMES;
        /// segments at the start of a connection that are acknowledged at once
        quick_acks: u8 = 16, in 0..=u8::MAX;
        /// wait of a partial segment for the ACK of outstanding data (RFC 896)
        nagle: bool = true;
        /// time for which the side that closed first answers a repeated FIN
        time_wait: Duration = Duration::from_secs(60);
        ..congestion: congestion::Parameters;
        /// Multipath TCP, and the additional subflows of a connection
        mptcp: Mptcp = Mptcp::Off;
        /// subflows of a connection with `mptcp = "ndiffports"`, including the first
        subflows: u8 = 4, in 1..=32;
        /// Multipath TCP version: 0 (RFC 6824) or 1 (RFC 8684)
        mptcp_version: u8 = 1, in 0..=1;
        /// choice of the subflow that sends the next data
        mptcp_scheduler: MptcpScheduler = MptcpScheduler::LowestRtt;
        // Mainline Linux has no coupled controller.
        /// coupling of the subflows' windows
        mptcp_congestion: MptcpCongestion = MptcpCongestion::Uncoupled;
        /// number of checks of a stalled connection that a subflow may pass without receiving anything; with one more
        /// it is stale: it gets no new data, and its data is also reinjected on the others (Linux: `stale_loss_cnt`);
        /// 0: never
        mptcp_stale_loss_count: u8 = 4, in 0..=u8::MAX;
    }
}

/// The range of timeouts.
const TIMES: RangeInclusive<Duration> = Duration::from_us(1)..=Duration::from_secs(3600);

/// Parameters without effect.
const IDLE: &[Idle] = &[
    Idle {
        keys: &["subflows", "mptcp_version", "mptcp_scheduler", "mptcp_congestion", "mptcp_stale_loss_count"],
        decides: "mptcp",
        value: Mptcp::Off.word(),
        advice: ": set it to \"ndiffports\" or \"fullmesh\"",
    },
    Idle {
        keys: &["subflows"],
        decides: "mptcp",
        value: Mptcp::Fullmesh.word(),
        advice: ", which opens a subflow for each pair of links of the two hosts",
    },
];

impl Config {
    /// Bytes of a full segment.
    #[inline]
    pub fn segment(&self) -> u32 {
        u32::from(self.mss)
    }

    /// The settings of a custom congestion controller.
    pub fn settings(&self) -> Settings<'_> {
        self.settings_with(&self.congestion.custom)
    }

    /// The settings of a congestion controller with the parameters `own`.
    #[inline]
    pub(crate) fn settings_with<'a, P>(&self, own: &'a P) -> Settings<'a, P> {
        Settings {
            own,
            segment: self.segment(),
            growth: self.window_growth,
            paced: self.pacing,
            as_ns3: self.loss_recovery == LossRecovery::Ns3v37,
        }
    }

    /// The congestion window and the threshold of a new connection.
    #[cold]
    pub(crate) fn new_window(&self) -> Window {
        let cwnd = u64::from(self.initial_window) * u64::from(self.mss);
        Window { cwnd: window(cwnd), ssthresh: self.initial_ssthresh.0.min(u64::from(u32::MAX)) as u32 }
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

impl ProtocolConfig for Config {
    fn framing(&self) -> Framing {
        Framing {
            payload: self.mss,
            headers: self.full_packet() - self.segment(),
            round_trips: 1,
            pace: None,
        }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        check_ranges(self)?;
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
        check(self.min_rto <= self.max_rto, "min_rto", &self.min_rto, "at most max_rto")?;
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
        self.congestion_control.validate(&self.congestion, self.ecn == EcnMode::Dctcp)?;
        check(self.mptcp == Mptcp::Off || self.mss >= 56, "mss", &self.mss, "at least 56 bytes with mptcp")
    }

    fn payload_key(&self) -> &'static str {
        "mss"
    }

    fn largest_flow(&self) -> u64 {
        u64::MAX
    }

    fn idle(&self) -> &'static [Idle] {
        IDLE
    }

    fn without_marks(&self) -> Option<&'static str> {
        (self.ecn == EcnMode::Dctcp).then_some("DCTCP reacts to losses only")
    }

    fn without_ecn(&self) -> Option<WithoutEcn> {
        (self.ecn == EcnMode::Off).then_some(WithoutEcn {
            why: "transport.ecn is \"off\"",
            fix: "transport.ecn = \"classic\", or transport.profile = \"dctcp\"",
        })
    }

    fn adapts_paths(&self) -> bool {
        self.mptcp != Mptcp::Off
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
