//! Retransmission timeouts: their length, their backoff, and the samples that end it.

use super::script::{Vector, check};
use weft_transport::{Config, RttSource, TimestampClock};

const NO_TIMESTAMPS: fn(&mut Config) = |cfg| {
    (cfg.timestamps, cfg.paws, cfg.tail_loss_probe) = (false, false, false);
};
const NO_PROBE: fn(&mut Config) = |cfg| cfg.tail_loss_probe = false;
const NO_RACK: fn(&mut Config) = |cfg| (cfg.rack, cfg.tail_loss_probe) = (false, false);
/// As in profile `dctcp`.
const EVERY_ECHO: fn(&mut Config) = |cfg| {
    (cfg.rack, cfg.tail_loss_probe) = (false, false);
    (cfg.rtt_source, cfg.timestamp_clock) = (RttSource::Timestamps, TimestampClock::Millisecond);
};

/// The script of a repeated timeout whose ACK echoes the third transmission.
const TWICE: &str = "
    0 write 40
    0 > 1-10
    0 rto 300
    300 > ~1
    300 rto 600
    900 > ~1
    900 rto 1200
    1000 < 1 echo 900
    1000 rto 300
    1000 > 11-12
";

const VECTORS: &[Vector] = &[
    Vector {
        name: "a probe takes the place of a shorter timeout, which then starts again",
        source: "gtests/net/tcp/cubic/cubic-rto-ss-ca-cwnd-bump.pkt",
        tune: |cfg| (cfg.timestamps, cfg.paws) = (false, false),
        rtt: 150,
        script: "
            0 write 1
            0 > 1
            150 < 1
            150 rto 450
            150 write 1
            150 > 2
            600 > ~2
            1050 > ~2
            1200 < 2
            1200 cwnd 2
            1200 ssthresh 7
        ",
    },
    Vector {
        name: "a stable round trip leaves the variance term at its minimum",
        source: "tcp_input.c, tcp_rtt_estimator",
        tune: NO_PROBE,
        rtt: 40,
        script: "
            0 rto 240
            0 write 1
            0 > 1
            40 < 1
            40 rto 240
        ",
    },
    Vector {
        name: "a round trip ten times as long raises the timeout at once",
        source: "tcp_input.c, tcp_rtt_estimator",
        tune: NO_PROBE,
        rtt: 15,
        script: "
            0 write 1
            0 > 1
            150 < 1
            150 rto 232
            150 write 1
            150 > 2
            300 < 2
            300 rto 283
        ",
    },
    Vector {
        name: "without a sample the timeout stays doubled until new data is timed",
        source: "RFC 6298, sections 5.5 to 5.7; tcp_input.c, tcp_ack_update_rtt",
        tune: |cfg| {
            NO_TIMESTAMPS(cfg);
            cfg.frto = false;
        },
        rtt: 100,
        script: "
            0 write 13
            0 > 1-10
            300 > ~1
            900 > ~1
            1000 < 1
            1000 rto 1200
            1000 > ~2-3
            1100 < 10
            1100 rto 1200
            1100 > 11-13
            1200 < 13
            1200 rto 300
            1200 timeouts 2
        ",
    },
    Vector {
        name: "with timestamps the echo gives a sample",
        source: "RFC 7323, section 4; tcp_input.c, tcp_ack_update_rtt",
        tune: NO_PROBE,
        rtt: 100,
        script: TWICE,
    },
    Vector {
        name: "the same without RACK",
        source: "RFC 7323, section 4; tcp_input.c, tcp_ack_update_rtt",
        tune: NO_RACK,
        rtt: 100,
        script: TWICE,
    },
    Vector {
        name: "the same with samples from every echo",
        source: "RFC 7323, section 4",
        tune: EVERY_ECHO,
        rtt: 100,
        script: TWICE,
    },
    Vector {
        name: "an ACK that covers a retransmission gives no sample by the send times of what else it covers",
        source: "tcp_input.c, tcp_clean_rtx_queue: FLAG_RETRANS_DATA_ACKED",
        tune: NO_TIMESTAMPS,
        rtt: 100,
        script: "
            0 write 3
            0 > 1-3
            300 > ~1
            800 < 3
            800 rto 600
        ",
    },
    Vector {
        name: "an echo of the current tick counts as one tick",
        source: "tcp_input.c, tcp_rtt_tsopt_us",
        tune: NO_PROBE,
        rtt: 100,
        script: "
            0 write 1
            0 > 1
            300 > ~1
            300 < 1 echo 300
            300 rto 294
        ",
    },
    Vector {
        name: "a timeout in recovery does not reduce the threshold again",
        source: "tcp_input.c, tcp_enter_loss",
        tune: NO_PROBE,
        rtt: 100,
        script: "
            0 write 10
            0 > 1-10
            100 < 0 sack 2-5
            100 > ~1
            100 ssthresh 7
            400 > ~1
            400 ssthresh 7
            400 timeouts 1
        ",
    },
    Vector {
        name: "reports of data sent after the head do not defer the timeout",
        source: "tcp_input.c, tcp_clean_rtx_queue: the condition of FLAG_SET_XMIT_TIMER",
        tune: NO_RACK,
        rtt: 100,
        script: "
            0 write 1
            0 > 1
            50 write 2
            50 > 2-3
            150 < 0 sack 2
            160 < 0 sack 2-3
            300 > ~1
        ",
    },
];

#[test]
fn timeouts_are_those_of_the_kernel() {
    check(VECTORS);
}
