"""Links' counters mean what they do in a simulation."""

from __future__ import annotations

from plans import plan_of
from weft.emulation.sampling import Counters, counters_of

LISTING = [
    {"dev": "l0-eth1", "kind": "htb", "root": True, "bytes": 15_140, "packets": 10, "drops": 3, "backlog": 0},
    {"dev": "l0-eth1", "kind": "pfifo", "parent": "1:1", "drops": 3, "backlog": 3_028, "qlen": 2},
    {"dev": "lo", "kind": "noqueue", "root": True},
]


def test_bytes_are_those_on_the_scenarios_links():
    plan = plan_of()
    ends = {plan.interface(end): end for cable in plan.cables for end in cable.ends}
    # Ten frames of 1514 bytes as Linux counts them are ten of 1538 on an Ethernet.
    assert counters_of(LISTING, ends) == {"l0-eth1": Counters(15_380, 10, 3, 3_076, 2)}
    bare = plan_of(end={"overhead": "none"})
    ends = {bare.interface(end): end for cable in bare.cables for end in cable.ends}
    assert counters_of(LISTING, ends)["l0-eth1"].bytes == 15_000
