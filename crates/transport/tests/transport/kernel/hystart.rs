//! HyStart: where slow start ends.

use super::script::{Vector, check};

const VECTORS: &[Vector] = &[
    Vector {
        name: "nine samples an eighth above the least delay end slow start",
        source: "gtests/net/tcp/cubic/cubic-hystart-delay-rtt-jumps-upward.pkt",
        tune: |cfg| (cfg.timestamps, cfg.paws) = (false, false),
        rtt: 120,
        script: "
            0 write 64
            0 > 1-10
            120 < 10
            120 > 11-30
            120 cwnd 20
            256 < 12
            256 > 31-34
            257 < 14
            257 > 35-38
            258 < 16
            258 > 39-42
            259 < 18
            259 > 43-46
            260 < 20
            260 > 47-50
            261 < 22
            261 > 51-54
            262 < 24
            262 > 55-58
            263 < 26
            263 > 59-62
            263 cwnd 36
            263 ssthresh -
            264 < 28
            264 > 63-64
            264 ssthresh 36
            264 cwnd 36
        ",
    },
    Vector {
        name: "less than an eighth does not",
        source: "gtests/net/tcp/cubic/cubic-hystart-delay-rtt-jumps-upward.pkt, the other side of its limit",
        tune: |cfg| (cfg.timestamps, cfg.paws) = (false, false),
        rtt: 120,
        script: "
            0 write 100
            0 > 1-10
            120 < 10
            120 > 11-30
            254 < 12
            254 > 31-34
            255 < 14
            255 > 35-38
            256 < 16
            256 > 39-42
            257 < 18
            257 > 43-46
            258 < 20
            258 > 47-50
            259 < 22
            259 > 51-54
            260 < 24
            260 > 55-58
            261 < 26
            261 > 59-62
            262 < 28
            262 > 63-66
            263 < 30
            263 > 67-70
            263 ssthresh -
            263 cwnd 40
        ",
    },
    Vector {
        name: "a sample that becomes the least after the eighth does not",
        source: "gtests/net/tcp/cubic/cubic-hystart-delay-min-rtt-jumps-downward.pkt",
        tune: |cfg| (cfg.timestamps, cfg.paws) = (false, false),
        rtt: 150,
        script: "
            0 write 28
            0 > 1-10
            150 < 10
            150 > 11-28
            290 write 2
            290 > 29-30
            300 < 12
            301 < 14
            302 < 16
            303 < 18
            304 < 20
            305 < 22
            306 < 24
            307 < 26
            308 < 28
            309 < 30
            309 ssthresh -
        ",
    },
    Vector {
        name: "a train longer than half the least delay and the cushion of 1 ms ends slow start",
        source: "tcp_cubic.c, hystart_update",
        tune: |cfg| (cfg.timestamps, cfg.paws, cfg.initial_window) = (false, false, 20),
        rtt: 6,
        script: "
            0 write 60
            0 > 1-20
            6 < 2
            6 > 21-24
            7 < 4
            7 > 25-28
            8 < 6
            8 > 29-32
            9 < 8
            9 > 33-36
            9 ssthresh -
            10 < 10
            10 ssthresh 28
            10 > 37-38
        ",
    },
    Vector {
        name: "ACKs below the low window do not belong to a train",
        source: "tcp_cubic.c, hystart_update",
        tune: |cfg| (cfg.timestamps, cfg.paws) = (false, false),
        rtt: 6,
        script: "
            0 write 60
            0 > 1-10
            6 < 2
            6 > 11-14
            7 < 4
            7 > 15-18
            8 < 6
            8 > 19-22
            9 < 8
            9 > 23-26
            10 < 10
            10 > 27-30
            10 ssthresh -
        ",
    },
    Vector {
        name: "the first ACK of a round is not measured against the last round's start",
        source: "tcp_cubic.c, hystart_update since 5.16 (4e1fddc98d25)",
        tune: |_| {},
        rtt: 2,
        script: "
            0 write 100
            0 > 1-10
            2 < 10
            2 > 11-30
            3 cwnd 20
            4 < 30
            4 > 31-70
            4 ssthresh -
            6 < 70
            6 > 71-100
            6 ssthresh -
        ",
    },
    Vector {
        name: "a round begins with an ACK that lets the window not grow, too",
        source: "tcp_cubic.c, cubictcp_acked: before and apart from cubictcp_cong_avoid",
        tune: |cfg| cfg.congestion.cubic.hystart.delay_min = weft_units::Duration::from_ms(16),
        rtt: 2,
        script: "
            0 write 16
            0 > 1-10
            2 < 10
            2 > 11-16
            4 < 16
            4 cwnd 20
            5 write 2
            5 > 17-18
            7 < 18
            7 cwnd 20
            8 write 40
            8 > 19-38
            10 < 38
            10 ssthresh -
            10 > 39-58
        ",
    },
];

#[test]
fn slow_start_ends_where_the_kernels_does() {
    check(VECTORS);
}
