"""The limits of uet-htsim's validation lists, and uet-htsim's own results.

Limits: `validate_uec_sender.txt` (U) and `validate_load_balancing_snd.txt` (B) in `htsim/sim/datacenter` of
https://github.com/ultraethernet/uet-htsim. Results: measured with commit `COMMIT`, with the parameters of the lists and
seeds from 13, its default, on.
"""

from dataclasses import dataclass

COMMIT = "40ccb0526bb6297eeb22ab33f9934fb35278dbaf"


@dataclass(frozen=True)
class Peer:
    """uet-htsim's own result: mean, least and greatest over seeds, in microseconds."""

    mean: float
    least: float
    greatest: float
    seeds: int


@dataclass(frozen=True)
class Limit:
    """One limit: the completion time of the last flow, or of the watched one, in microseconds.

    `setup` names the set-up in `setups`, `htsim` is uet-htsim's own result.
    """

    ident: str
    title: str
    setup: str
    limit: float
    htsim: Peer
    of: str = "last"


LIMITS: tuple[Limit, ...] = (
    Limit("U1", "one flow", "one", 190, Peer(176.2, 176.2, 176.2, 20)),
    Limit("U2", "two directions", "two-directions", 190, Peer(176.8, 176.8, 176.8, 20)),
    Limit("U3", "incast, 16 hosts", "incast-16", 2550, Peer(2466.9, 2453.5, 2482.2, 20)),
    Limit("U4", "incast, 128 hosts", "incast-128", 23000, Peer(21036.5, 21029.3, 21045.8, 3)),
    Limit("U5", "incast, 1024 hosts", "incast-1024", 8950, Peer(10563.3, 10556.2, 10575.3, 3)),
    Limit("U6", "incast of 3 with a long flow", "beside-long", 220, Peer(221.8, 217.6, 226.1, 20)),
    Limit("U7", "outcast and incast", "outcast-incast", 2500, Peer(1638, 1637.9, 1638.2, 20)),
    Limit(
        "U7-flow",
        "outcast and incast, flow from host 1 to host 0",
        "outcast-incast",
        215,
        Peer(208, 208, 208, 20),
        "watched",
    ),
    Limit("U8", "permutation, 16 hosts", "small", 210, Peer(195.9, 192.5, 200.5, 20)),
    Limit(
        "U9",
        "permutation, 16 hosts, a slow link",
        "small-slow-link",
        210,
        Peer(236.5, 228.9, 241.8, 20),
    ),
    Limit(
        "U10",
        "permutation, 16 hosts, one path",
        "small-one-path",
        1300,
        Peer(535.3, 399.2, 708.7, 50),
    ),
    Limit("U11", "permutation, 1024 hosts", "large-mixed", 220, Peer(200.8, 200.1, 201.8, 3)),
    Limit("U12", "permutation, 1024 hosts, a slow link", "large-slow-link", 220, Peer(202.3, 201.2, 203.5, 3)),
    Limit("U13", "permutation, 1024 hosts, one path", "large-one-path", 1300, Peer(977.4, 889.9, 1023.7, 3)),
    Limit("U14", "permutation, 1:4 oversubscribed", "oversubscribed-4", 880, Peer(785.7, 785.5, 785.8, 3)),
    Limit("U15", "permutation, 1:8 oversubscribed", "oversubscribed-8", 1760, Peer(1430.5, 1421.2, 1443.4, 3)),
    Limit("B1", "oblivious", "oblivious", 220, Peer(216.3, 212.8, 221.9, 3)),
    Limit("B2", "oblivious, large queues", "oblivious-long-queues", 220, Peer(226.9, 221.2, 237.8, 3)),
    Limit("B3", "bitmap", "bitmap", 220, Peer(200.9, 200.5, 201.5, 3)),
    Limit("B4", "bitmap, large queues", "bitmap-long-queues", 220, Peer(201.8, 201.4, 202.3, 3)),
    Limit("B5", "REPS, an answer to each packet", "reps-each", 220, Peer(197.5, 196.8, 198.2, 3)),
    Limit(
        "B6", "REPS, an answer to each packet, large queues", "reps-each-long-queues", 220, Peer(197.5, 196.8, 198.2, 3)
    ),
    Limit("B7", "REPS, an answer for every four packets", "reps", 220, Peer(208.8, 208.2, 209.4, 3)),
    Limit("B8", "mixed, an answer to each packet", "mixed-each", 220, Peer(193.9, 193.2, 194.5, 3)),
    Limit(
        "B9",
        "mixed, an answer to each packet, large queues",
        "mixed-each-long-queues",
        220,
        Peer(193.9, 193.2, 194.5, 3),
    ),
    Limit("B10", "mixed, an answer for every four packets", "large-mixed", 220, Peer(200.8, 200.1, 201.8, 3)),
)
"""Rows of both lists in their order. B10 has the set-up of U11."""
