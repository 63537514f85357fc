"""The limits of uet-htsim's validation lists, and uet-htsim's own results.

Limits: `validate_uec_sender.txt` (U) and `validate_load_balancing_snd.txt` (B) in `htsim/sim/datacenter` of
https://github.com/ultraethernet/uet-htsim. Results: measured with commit `COMMIT`, with the parameters of the lists and
seeds from 13, uet-htsim's default, on.
"""

from dataclasses import dataclass

COMMIT = "40ccb0526bb6297eeb22ab33f9934fb35278dbaf"


@dataclass(frozen=True)
class Limit:
    """One limit: the completion time of the last flow, or of the watched one, in microseconds.

    `setup` names the set-up in `setups`, `htsim` has uet-htsim's own results by seed.
    """

    ident: str
    title: str
    setup: str
    limit: float
    htsim: tuple[float, ...]
    of: str = "last"


LIMITS: tuple[Limit, ...] = (
    Limit("U1", "one flow", "one", 190, (176.2, 176.2, 176.2, 176.2, 176.2, 176.2, 176.2)),
    Limit("U2", "two directions", "two-directions", 190, (176.8, 176.8, 176.8, 176.8, 176.8, 176.8, 176.8)),
    Limit("U3", "incast, 16 hosts", "incast-16", 2550, (2478.5, 2461.1, 2454.8, 2457.9, 2458, 2476.4, 2462)),
    Limit("U4", "incast, 128 hosts", "incast-128", 23000, (21029.3, 21034.4)),
    Limit("U5", "incast, 1024 hosts", "incast-1024", 8950, (10556.2,)),
    Limit("U6", "incast of 3 with a long flow", "beside-long", 220, (221.7, 226.1, 222.1, 223.1, 221.1, 217.6, 218.4)),
    Limit("U7", "outcast and incast", "outcast-incast", 2500, (1638.1, 1638.1, 1637.9, 1638.1, 1637.9, 1637.9, 1637.9)),
    Limit(
        "U7-flow",
        "outcast and incast, flow from host 1 to host 0",
        "outcast-incast",
        215,
        (208, 208, 208, 208, 208, 208, 208),
        "watched",
    ),
    Limit("U8", "permutation, 16 hosts", "small", 210, (194, 194, 196.5, 198.5, 199.3, 195.4, 200.5)),
    Limit(
        "U9",
        "permutation, 16 hosts, a slow link",
        "small-slow-link",
        210,
        (238.2, 239.8, 238.4, 231.2, 233.4, 233, 237.8),
    ),
    Limit(
        "U10",
        "permutation, 16 hosts, one path",
        "small-one-path",
        1300,
        (527.8, 537.8, 435.6, 564, 458.7, 428.7, 510.4),
    ),
    Limit("U11", "permutation, 1024 hosts", "large-mixed", 220, (200.5,)),
    Limit("U12", "permutation, 1024 hosts, a slow link", "large-slow-link", 220, (202.3, 203.5)),
    Limit("U13", "permutation, 1024 hosts, one path", "large-one-path", 1300, (889.9, 1018.4)),
    Limit("U14", "permutation, 1:4 oversubscribed", "oversubscribed-4", 880, (785.8, 785.7)),
    Limit("U15", "permutation, 1:8 oversubscribed", "oversubscribed-8", 1760, (1443.4, 1421.2)),
    Limit("B1", "oblivious", "oblivious", 220, (212.8,)),
    Limit("B2", "oblivious, large queues", "oblivious-long-queues", 220, (221.9,)),
    Limit("B3", "bitmap", "bitmap", 220, (200.5,)),
    Limit("B4", "bitmap, large queues", "bitmap-long-queues", 220, (202.3,)),
    Limit("B5", "REPS, an answer to each packet", "reps-each", 220, (198.2,)),
    Limit("B6", "REPS, an answer to each packet, large queues", "reps-each-long-queues", 220, (198.2,)),
    Limit("B7", "REPS, an answer for every four packets", "reps", 220, (208.2,)),
    Limit("B8", "mixed, an answer to each packet", "mixed-each", 220, (193.2,)),
    Limit("B9", "mixed, an answer to each packet, large queues", "mixed-each-long-queues", 220, (193.2,)),
    Limit("B10", "mixed, an answer for every four packets", "large-mixed", 220, (200.5,)),
)
"""Rows of both lists in their order. B10 has the set-up of U11."""
