"""The cases: the paths of a connection's subflows, competing traffic, and link failures.

A case is one connection from `a` to `b` over switches `s1` (the sender's) to `s2` (the receiver's). Emulated, the
sender has one link and an alias address for each additional subflow, and `s1` forwards by address. Simulated, it has a
link for each subflow, since no scheme forwards by alias; where paths diverge, each starts at its own switch in place of
`s1`. Links, rates and queues beyond it are the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

RATE_BPS = 25_000_000
"""Rate of links between switches: two shared cores easily forward two or three of them in user space."""
HOST_RATE_BPS = 1_000_000_000
QUEUE = 100
"""Queue length of links between switches, in packets."""
FRAME = 1538
"""Bytes on the link of a full 1500-byte packet."""
PAYLOAD = 1420
"""Payload of a subflow's full segment, with timestamps; plain TCP's has 1448."""
LINK_BPS = RATE_BPS * PAYLOAD / FRAME
"""Maximum goodput of a subflow's link."""
SENDER, RECEIVER = "a", "b"
TCP_SENDER, TCP_RECEIVER = "c", "d"
"""Hosts of the competing plain TCP connection."""
FIRST, LAST = "s1", "s2"
WARM_UP_S = 3.0
"""Start of the measurement: before that, windows grow and shares settle."""


@dataclass(frozen=True)
class Case:
    """A case, run simulated and emulated.

    Attributes:
        name: Unique.
        paths: The switches from `s1` to `s2` of each subflow, initial subflow first.
        beside: Whether a plain TCP connection shares the path.
        congestion: Congestion control of all connections, uncoupled between subflows.
        cut_s: When the last link of the last subflow fails; None: never.
        stale_loss_count: Linux's `stale_loss_cnt`, our `mptcp_stale_loss_count`.
        seconds: Duration of the transfer.
    """

    name: str
    paths: tuple[tuple[str, ...], ...]
    beside: bool = False
    congestion: str = "cubic"
    cut_s: float | None = None
    stale_loss_count: int = 4
    seconds: float = 10.0

    @property
    def subflows(self) -> int:
        """Number of subflows."""
        return len(self.paths)

    @property
    def capacity_bps(self) -> float:
        """Maximum total goodput of the paths, limited by their distinct last links."""
        return len({path[-2:] for path in self.paths}) * LINK_BPS

    @property
    def hosts(self) -> list[str]:
        """Sender and receiver, then those of the competing connection."""
        return [SENDER, RECEIVER, *((TCP_SENDER, TCP_RECEIVER) if self.beside else ())]

    @property
    def cut(self) -> tuple[str, str]:
        """The link that is cut, its far end second."""
        return self.paths[-1][-2], self.paths[-1][-1]


def _isolated(count: int) -> tuple[tuple[str, ...], ...]:
    return tuple((FIRST, f"s{3 + number}", LAST) for number in range(count))


_SHARED = ((FIRST, "s3", LAST), (FIRST, "s4", "s6", LAST), (FIRST, "s5", "s6", LAST))
"""The paths of the smoc paper's topology 2."""
_ONE = (FIRST, LAST)

CASES = (
    *(Case(f"disjoint-{count}", _isolated(count)) for count in (1, 2, 4)),
    Case("shared-2", _SHARED[1:]),
    Case("shared-3", _SHARED),
    *(
        Case(f"beside-tcp-{congestion}-{count}", (_ONE,) * count, True, congestion, seconds=20.0)
        for congestion in ("cubic", "reno")
        for count in (1, 2, 4)
    ),
    *(Case(f"cut-stale-{count}", _isolated(2), cut_s=5.0, stale_loss_count=count, seconds=10.0) for count in (4, 2)),
)
BY_NAME = {case.name: case for case in CASES}


def fabric(one: Case, *, link_each: bool) -> str:
    """The text of a case's fabric file; with `link_each` the sender has a link for each subflow."""
    ways = list(dict.fromkeys(one.paths))
    begins = [f"s1{number}" if link_each and len(ways) > 1 else FIRST for number in range(len(ways))]
    begun = [(begin, *way[1:]) for way, begin in zip(ways, begins, strict=True)]
    cables = list(dict.fromkeys(pair for way in begun for pair in pairwise(way)))
    attached = [begins[ways.index(path)] for path in one.paths]
    hosts = [(SENDER, switch) for switch in (attached if link_each else attached[:1])]
    hosts += [(RECEIVER, LAST)]
    hosts += [(TCP_SENDER, FIRST), (TCP_RECEIVER, LAST)] if one.beside else []
    switches = sorted({switch for cable in cables for switch in cable})
    lines = [f'name = "{one.name}"', "", "[defaults]", f'rate = "{RATE_BPS} bps"', 'delay = "0 s"']
    lines += [f'queue = "{QUEUE} packets"', ""]
    roles = [*((host, "host") for host in one.hosts), *((switch, "switch") for switch in switches)]
    lines += [line for name, role in roles for line in ("[[node]]", f'name = "{name}"', f'role = "{role}"', "")]
    fast = (f'rate = "{HOST_RATE_BPS} bps"', 'queue = "1000 packets"')
    lines += [line for ends in hosts for line in ("[[link]]", f"between = {json.dumps(ends)}", *fast, "")]
    lines += [line for ends in cables for line in ("[[link]]", f"between = {json.dumps(ends)}", "")]
    return "\n".join(lines)
