"""The paper's two scenarios: fixed pairs towards one server, and random pairs.

From Table 1: fat-tree k=4, 1 Gbps, 25 us a link, 1000 packets a queue, long flows of 10 MB, short ones of 200 kB,
packets of 1500 bytes (a segment of 1448 with timestamps). What the paper does not say and is chosen here: all flows
start within the same millisecond, each at a random time in it, and every host's own queue is as long as a switch's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...scenario import Scenario
from ..base import Part, Size

SCHEMES = ("single_path", "ecmp", "spray")
TRANSPORTS = ("ns3-3.23", "linux")
"""The transport the paper most likely used, and today's."""
LINK_BPS = 1e9
SEGMENT, PACKET_ON_WIRE = 1448, 1502
"""Application bytes of a full packet, and what it takes on a point-to-point link (1500 and 2 of PPP)."""

_SOURCES = ("h0", "h1", "h2", "h3", "h4")
_SINK = "h15"
_STATIC_LONG = (0, 1, 2, 3, 4, 5)
_SHORT = (10, 20)


@dataclass(frozen=True)
class Extent:
    """What a size runs: how many seeds, and which numbers of long flows between random pairs."""

    seeds: int
    long: tuple[int, ...]


EXTENTS = {
    Size.quick: Extent(seeds=5, long=(4, 12)),
    Size.standard: Extent(seeds=20, long=(2, 4, 8, 12, 16, 20)),
    Size.paper: Extent(seeds=10, long=(2, 4, 8, 12, 16, 20)),
}
"""The paper repeats each test 10 times; `standard` takes more, because here it may."""

_HEAD = """\
name = "{title}"

[fabric]
kind = "fat-tree"
k = 4
rate = "1 Gbps"
delay = "25 us"
queue = "1000 packets"
overhead = "ppp"
"""

_GROUP = """
[[traffic]]
class = "{kind}"
sizes = {{ fixed = "{bytes}" }}
arrivals = "at-once"
jitter = "1 ms"
flows = {flows}
pairs = {pairs}
"""

_TAIL = """
[scheme]
name = "single_path"

[transport]
profile = "ns3-3.23"
mss = "{segment} B"

[run]
duration = "1 ms"
limit = "100 s"
seeds = {seeds}

[measure]
interval = "5 ms"
baseline = "single_path"

[sweep]
"scheme.name" = [{schemes}]
"transport.profile" = [{transports}]
"""


def parts(size: Size) -> list[Part]:
    """All scenarios of a size."""
    extent = EXTENTS[size]
    static = [_static(long, extent.seeds) for long in _STATIC_LONG]
    return static + [_random(short, long, extent.seeds) for short in _SHORT for long in extent.long]


def part_name(kind: str, short: int, long: int) -> str:
    """The directory of a scenario; `table.gather` reads the numbers back from it."""
    return f"{kind}-short{short}-long{long}"


def _static(long: int, seeds: int) -> Part:
    pairs = ", ".join(f'["{source}", "{_SINK}"]' for source in _SOURCES)
    groups = [_group("long", long, f"[{pairs}]")] if long else []
    groups.append(_group("short", 1, f'[["{_SOURCES[0]}", "{_SINK}"]]'))
    return _part("static", 1, long, groups, seeds)


def _random(short: int, long: int, seeds: int) -> Part:
    # Long flows come first, so that a seed draws the same ones whatever the number of short flows.
    groups = [_group("long", long, '"random"'), _group("short", short, '"random"')]
    return _part("random", short, long, groups, seeds)


def _group(kind: str, flows: int, pairs: str) -> str:
    return _GROUP.format(kind=kind, bytes={"long": "10 MB", "short": "200 kB"}[kind], flows=flows, pairs=pairs)


def _part(kind: str, short: int, long: int, groups: Sequence[str], seeds: int) -> Part:
    def quoted(names: Sequence[str]) -> str:
        return ", ".join(f'"{name}"' for name in names)

    title = f"packet spraying, {kind} pairs, {long} long and {short} short flows"
    tail = _TAIL.format(segment=SEGMENT, seeds=seeds, schemes=quoted(SCHEMES), transports=quoted(TRANSPORTS))
    name = part_name(kind, short, long)
    return Part(name, Scenario.from_text(_HEAD.format(title=title) + "".join(groups) + tail, f"{name}.toml"))
