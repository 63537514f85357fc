"""The paper's two scenarios: fixed pairs towards one server, and random pairs.

From the paper: fat-tree k=4, 1 Gbps, 25 us per link, 1000 packets per queue, 0 to 5 long flows of 10 MB, short ones of
200 kB, packets of 1500 bytes (1448 of data with timestamps). Chosen here, as the paper gives no details: all flows
start at random times within the same millisecond; hosts have the same queue length as switches; framing as in ns-3
(`ppp`). The same setup, for manual runs, is in the scenarios `packet-spraying-static` and `-random`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ...scenario import Scenario
from ..base import Simulated
from ..outcome import Size

CHOSEN = (
    "Where the paper gives no details: all flows start at random times within one millisecond; hosts have the same "
    "queue length as switches; framing as in ns-3 (2 bytes around the IP packet)."
)
SCHEMES = ("single_path", "ecmp", "spray")
TRANSPORTS = ("ns3-3.23", "linux")
"""The transport that the paper most likely used, and today's."""
LINK_BPS = 1e9
SEGMENT, PACKET_ON_WIRE = 1448, 1502
"""Application bytes of a full packet, and its bytes on a point-to-point link (1500 and 2 of PPP)."""


@dataclass(frozen=True)
class Extent:
    """Extent of a size: seeds, and numbers of long flows."""

    seeds: int
    static_long: tuple[int, ...]
    random_long: tuple[int, ...]


EXTENTS = {
    Size.quick: Extent(seeds=30, static_long=(0, 1, 2, 3, 4, 5), random_long=(1, 3, 5)),
    Size.standard: Extent(seeds=60, static_long=(0, 1, 2, 3, 4, 5), random_long=(0, 1, 2, 3, 4, 5)),
    Size.paper: Extent(seeds=10, static_long=(0, 1, 2, 3, 4, 5), random_long=(0, 1, 2, 3, 4, 5)),
}
"""The paper repeats each test 10 times; the others repeat more, for narrower intervals."""

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
mss = {segment}

[run]
duration = "1 s"
limit = "60 s"
seeds = {seeds}

[measure]
interval = "5 ms"
baseline = "single_path"

[sweep]
"scheme.name" = {schemes}
"transport.profile" = {transports}
"""

STATIC_PAIRS = '[["h0", "h15"], ["h1", "h15"], ["h2", "h15"], ["h3", "h15"], ["h4", "h15"]]'


def parts(size: Size) -> list[Simulated]:
    """The static and the random scenario at a size."""
    extent = EXTENTS[size]
    static = [_group("short", 1, '[["h0", "h15"]]'), _group("long", 5, STATIC_PAIRS)]
    random = [_group("short", 20, '"random"'), _group("long", 5, '"random"')]
    return [
        _part("static", static, {"traffic.long.flows": extent.static_long}, extent.seeds),
        _part(
            "random",
            random,
            {"traffic.short.flows": (10, 20), "traffic.long.flows": extent.random_long},
            extent.seeds,
        ),
    ]


def _group(kind: str, flows: int, pairs: str) -> str:
    return _GROUP.format(kind=kind, bytes={"long": "10 MB", "short": "200 kB"}[kind], flows=flows, pairs=pairs)


def _part(kind: str, groups: Sequence[str], sweep: dict[str, tuple[int, ...]], seeds: int) -> Simulated:
    tail = _TAIL.format(segment=SEGMENT, seeds=seeds, schemes=json.dumps(SCHEMES), transports=json.dumps(TRANSPORTS))
    axes = "".join(f'"{key}" = {json.dumps(values)}\n' for key, values in sweep.items())
    text = _HEAD.format(title=f"packet-spraying-{kind}") + "".join(groups) + tail + axes
    return Simulated(kind, Scenario.from_text(text, f"packet-spraying-{kind}.toml"))
