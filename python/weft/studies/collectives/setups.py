"""The scenarios of the study: a part for each way to use the paths, on the whole fabric and with a failed uplink.

A way is a scheme with the hosts and the ports that it was made for. All have the same switches, links, ranks and bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...scenario import Scenario
from ..base import Size

CHOSEN = (
    "Each scheme has the hosts that it was made for: TCP-Path and Tag-and-Forward TCP (DCTCP), smoc Multipath TCP with"
    " four subflows (DCTCP), ConWeave RoCE over lossless ports, REPS and spraying Ultra Ethernet with trimming."
    " Spraying and ECMP are there with TCP, too, and ECMP with RoCE. Every flow is a new connection. Ranks are placed"
    " at random. The uplink is down from the start, and routes know it."
)

COLLECTIVES = ("ring-all-reduce", "all-to-all")
STATES = {"whole": "", "failed": 'failed = ["e0-a0"]'}
"""The fabric: symmetric, or without one of the uplinks of the first edge switch."""

_TCP_PORTS = 'queue = "400 packets"\necn_threshold = "65 packets"'
_LOSSLESS_PORTS = """\
queue = "9 MB"
queues = { scheduler = "strict-priority", weights = [1, 1] }
buffer = "9 MB"
alpha = 0.0625
pfc = { queues = [1] }
red = { kmin = "100 kB", kmax = "400 kB", pmax = 0.2 }"""
_TRIMMING_PORTS = """\
queue = "200 kB"
queues = { scheduler = "strict-priority", weights = [1, 1] }
trim = true
red = { kmin = "40 kB", kmax = "160 kB" }"""
_DCTCP = 'profile = "dctcp"'
_SUBFLOWS = 'profile = "dctcp"\nmptcp = "ndiffports"\nsubflows = 4'


@dataclass(frozen=True)
class Way:
    """A way to use the paths of a fabric.

    Attributes:
        title: Its name in tables and figures.
        scheme: The scheme of the switches.
        transport: The hosts' ``[transport]``.
        ports: Keys of ``[fabric]``.
        params: Further keys of ``[scheme]``.
        spreads: Whether the packets of one flow take several paths at the same time.
    """

    title: str
    scheme: str
    transport: str
    ports: str
    params: str = ""
    spreads: bool = False


WAYS = {
    "ecmp": Way("ECMP, TCP", "ecmp", _DCTCP, _TCP_PORTS),
    "tcp-path": Way("TCP-Path", "tcp_path", _DCTCP, _TCP_PORTS),
    "tag-forward": Way("Tag-and-Forward", "tag_forward", _DCTCP, _TCP_PORTS, 'choice = "least-loaded"', spreads=True),
    "spray": Way("spraying, TCP", "spray", _DCTCP, _TCP_PORTS, spreads=True),
    "smoc": Way("smoc, MPTCP", "smoc", _SUBFLOWS, _TCP_PORTS, spreads=True),
    "ecmp-roce": Way("ECMP, RoCE", "ecmp", 'protocol = "roce"', _LOSSLESS_PORTS),
    "conweave": Way("ConWeave, RoCE", "conweave", 'protocol = "roce"', _LOSSLESS_PORTS),
    "spray-uec": Way(
        "spraying, UEC", "ecmp", 'protocol = "uec"\nentropy_choice = "oblivious"', _TRIMMING_PORTS, spreads=True
    ),
    "reps": Way("REPS, UEC", "ecmp", 'protocol = "uec"\nentropy_choice = "reps"', _TRIMMING_PORTS, spreads=True),
}
"""The ways by the names of their parts."""


@dataclass(frozen=True)
class Extent:
    """Ports per switch, megabytes per rank, and seeds of a size."""

    ports: int
    megabytes: int
    seeds: int


EXTENTS = {Size.quick: Extent(4, 16, 3), Size.standard: Extent(8, 64, 5), Size.paper: Extent(8, 256, 10)}


def scenarios(size: Size) -> Iterator[tuple[str, Scenario]]:
    """The scenarios by the names of their parts, such as ``reps-failed``."""
    for name, way in WAYS.items():
        for state, failed in STATES.items():
            part = f"{name}-{state}"
            yield part, Scenario.from_text(_text(part, way, failed, EXTENTS[size]), f"{part}.toml")


def _text(name: str, way: Way, failed: str, extent: Extent) -> str:
    return f"""\
name = "collectives, {name}"

[fabric]
kind = "fat-tree"
k = {extent.ports}
rate = "100 Gbps"
delay = "1 us"
{way.ports}
{failed}

[traffic]
collective = "{COLLECTIVES[0]}"
bytes = "{extent.megabytes} MB"
placement = "random"

[scheme]
name = "{way.scheme}"
{way.params}

[transport]
{way.transport}

[run]
duration = "10 ms"
limit = "20 s"
seeds = {extent.seeds}

[measure]
interval = "10 ms"

[sweep]
"traffic.collective" = {list(COLLECTIVES)}
"""
