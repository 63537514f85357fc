"""Link counters have the same meaning as in a simulation."""

from __future__ import annotations

from plans import plan_of
from weft.emulation.sampling import Counters, Links, counters_of

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


class Read(Links):
    """Links whose counters grow by a thousand bytes with each reading."""

    readings = 0

    def _read(self, *, everywhere: bool) -> dict[str, Counters]:
        self.readings += 1
        return {interface: Counters(1_000 * self.readings, self.readings, 0, 0, 0) for interface in self._ends}


def test_bytes_of_the_window_are_those_between_the_readings_at_its_ends():
    window = {"interval_ps": 10**11, "window_ps": [10**11, 10**12]}
    links = Read(plan_of(measure=window), {})
    links.begin()
    links.mark(iter([100, 300]).__next__)
    assert links.window_ps() == (200, 10**12), "the run may end before the window does"
    assert {row["window_bytes"] for row in links.totals()} == {1_000}
    links.mark(iter([900, 1_300]).__next__)
    assert links.window_ps() == (200, 1_100)
    assert [(row["bytes"], row["window_bytes"]) for row in links.totals()] == [(4_000, 2_000)] * 4
