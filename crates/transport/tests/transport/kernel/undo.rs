//! Undoing reductions that were unnecessary: after timeouts and fast retransmissions.

use super::script::{Vector, check};
use weft_transport::{Config, EcnMode};

const NO_PROBE: fn(&mut Config) = |cfg| cfg.tail_loss_probe = false;
const NO_TIMESTAMPS: fn(&mut Config) = |cfg| {
    (cfg.timestamps, cfg.paws, cfg.tail_loss_probe) = (false, false, false);
};
const NO_RACK: fn(&mut Config) = |cfg| (cfg.rack, cfg.tail_loss_probe) = (false, false);

/// A spurious timeout: the originals of all segments arrive after it.
const LATE: &str = "
    0 write 40
    0 > 1-10
    300 > ~1
    300 cwnd 1
    300 ssthresh 7
    400 < 1 echo 0
    400 ssthresh -
    400 cwnd 11
    400 > 11-12
    401 < 2 echo 0
    401 > 13-14
    401 timeouts 1
";

const VECTORS: &[Vector] = &[
    Vector {
        name: "a spurious timeout is undone by the echo of the original",
        source: "RFC 3522 and 4015; tcp_input.c, tcp_try_undo_loss",
        tune: NO_PROBE,
        rtt: 100,
        script: LATE,
    },
    Vector {
        name: "the same without RACK",
        source: "RFC 3522 and 4015; tcp_input.c, tcp_try_undo_loss",
        tune: NO_RACK,
        rtt: 100,
        script: LATE,
    },
    Vector {
        name: "the same without F-RTO",
        source: "RFC 3522 and 4015; tcp_input.c, tcp_try_undo_loss",
        tune: |cfg| (cfg.frto, cfg.tail_loss_probe) = (false, false),
        rtt: 100,
        script: LATE,
    },
    Vector {
        name: "a repeated spurious timeout is undone, too",
        source: "tcp_input.c, tcp_try_undo_loss",
        tune: NO_PROBE,
        rtt: 100,
        script: "
            0 write 12
            0 > 1-10
            300 > ~1
            900 > ~1
            1000 < 1 echo 0
            1000 ssthresh -
            1000 cwnd 11
            1000 > 11-12
        ",
    },
    Vector {
        name: "the echo of the retransmission undoes nothing",
        source: "tcp_input.c, tcp_packet_delayed",
        tune: |cfg| (cfg.frto, cfg.tail_loss_probe) = (false, false),
        rtt: 100,
        script: "
            0 write 40
            0 > 1-10
            300 > ~1
            400 < 1 echo 300
            400 ssthresh 7
            400 cwnd 2
            400 > ~2-3
        ",
    },
    Vector {
        name: "without timestamps F-RTO sends new data and finds the originals",
        source: "RFC 5682, section 3.1; tcp_input.c, tcp_process_loss",
        tune: NO_TIMESTAMPS,
        rtt: 100,
        script: "
            0 write 40
            0 > 1-10
            300 > ~1
            400 < 1
            400 > 11-12
            400 ssthresh 7
            401 < 2
            401 ssthresh -
            401 cwnd 11
            401 > 13
        ",
    },
    Vector {
        name: "F-RTO finds that the loss was real by a report of the new data",
        source: "RFC 5682, section 3.1, step 3.a; tcp_input.c, tcp_process_loss",
        tune: NO_TIMESTAMPS,
        rtt: 100,
        script: "
            0 write 40
            0 > 1-10
            300 > ~1
            400 < 1
            400 > 11-12
            500 < 1 sack 11
            500 ssthresh 7
            500 > ~2
        ",
    },
    Vector {
        name: "F-RTO applies to a repeated timeout",
        source: "RFC 5682, section 3.2; tcp_input.c, tcp_enter_loss",
        tune: NO_TIMESTAMPS,
        rtt: 100,
        script: "
            0 write 40
            0 > 1-10
            300 > ~1
            900 > ~1
            1000 < 1
            1000 > 11-12
            1001 < 2
            1001 ssthresh -
            1001 > 13
        ",
    },
    Vector {
        name: "a spurious timeout without originals is undone by the report of the duplicate",
        source: "RFC 3708; tcp_input.c, tcp_try_undo_dsack",
        tune: NO_TIMESTAMPS,
        rtt: 100,
        script: "
            0 write 1
            0 > 1
            300 > ~1
            310 < 1
            310 ssthresh 7
            400 < 1 sack 1
            400 ssthresh -
            400 cwnd 10
        ",
    },
    Vector {
        name: "a spurious fast retransmission is undone by the report of the duplicate",
        source: "RFC 3708; tcp_input.c, tcp_try_undo_dsack; duplicates as in tcp_dsack_mult.pkt",
        tune: NO_TIMESTAMPS,
        rtt: 100,
        script: "
            0 write 10
            0 > 1-10
            100 < 0 sack 2-8
            100 > ~1
            100 ssthresh 7
            110 < 10
            110 cwnd 7
            200 < 10 sack 1
            200 ssthresh -
            200 cwnd 10
        ",
    },
    Vector {
        name: "a duplicate of two segments counts for two",
        source: "tcp_input.c, tcp_dsack_seen",
        tune: NO_TIMESTAMPS,
        rtt: 100,
        script: "
            0 write 10
            0 > 1-10
            100 < 0 sack 3-10
            100 > ~1-2
            110 < 10
            200 < 10 sack 1-2
            200 ssthresh -
        ",
    },
    Vector {
        name: "one duplicate of two retransmissions undoes nothing",
        source: "tcp_input.c, tcp_may_undo",
        tune: NO_TIMESTAMPS,
        rtt: 100,
        script: "
            0 write 10
            0 > 1-10
            100 < 0 sack 3-10
            100 > ~1-2
            110 < 10
            200 < 10 sack 1
            200 ssthresh 7
            210 < 10 sack 2
            210 ssthresh -
        ",
    },
    Vector {
        name: "a spurious fast retransmission is undone by the echo of the original",
        source: "RFC 3522; tcp_input.c, tcp_try_undo_recovery",
        tune: NO_PROBE,
        rtt: 100,
        script: "
            0 write 10
            0 > 1-10
            100 < 0 sack 2-8
            100 > ~1
            100 ssthresh 7
            110 < 10 echo 0
            110 ssthresh -
            110 cwnd 10
        ",
    },
    Vector {
        name: "a real loss is not undone",
        source: "tcp_input.c, tcp_packet_delayed",
        tune: NO_PROBE,
        rtt: 100,
        script: "
            0 write 10
            0 > 1-10
            100 < 0 sack 2-8
            100 > ~1
            200 < 10 echo 100
            200 ssthresh 7
            200 cwnd 7
        ",
    },
    Vector {
        name: "a mark is not undone",
        source: "tcp_input.c, tcp_enter_cwr and tcp_enter_recovery",
        tune: |cfg| (cfg.ecn, cfg.tail_loss_probe) = (EcnMode::Classic, false),
        rtt: 100,
        script: "
            0 write 10
            0 > 1-10
            100 < 0 sack 2-8 mark
            100 > ~1
            110 < 10 echo 0
            110 ssthresh 7
        ",
    },
    Vector {
        name: "a mark after a recovery forbids that a late duplicate undoes it",
        source: "tcp_input.c, tcp_enter_cwr",
        tune: |cfg| {
            (cfg.timestamps, cfg.paws, cfg.tail_loss_probe) = (false, false, false);
            cfg.ecn = EcnMode::Classic;
        },
        rtt: 100,
        script: "
            0 write 20
            0 > 1-10
            100 < 0 sack 2-10
            100 > ~1 11-16
            110 < 10
            110 > 17
            150 < 11 mark
            150 > 18
            150 ssthresh 4
            160 < 11 sack 1
            160 ssthresh 4
        ",
    },
];

#[test]
fn reductions_are_undone_as_by_the_kernel() {
    check(VECTORS);
}
