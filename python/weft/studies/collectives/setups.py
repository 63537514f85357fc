"""The scenarios of the study: a part for each way to use the paths, on the whole fabric and with a failed uplink.

A way is a kind of hosts, with the ports that they need, and the scheme of their packets' paths. Each kind of hosts
is also there with one path per connection, so that the effect of paths can be separated from that of hosts. All have
the same switches, links, ranks, bytes per rank and payload per packet, and connections that stay open.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...scenario import Scenario
from ..outcome import Size

CHOSEN = (
    "All messages between two ranks share a connection that stays open; these open within 1 ms. Of 20 rounds, the last"
    " three count. Packets have 4 096 bytes of payload, TCP starts with a window of a bandwidth-delay product (40"
    " segments), as RoCE and Ultra Ethernet do by their own rules. Ports follow the hosts: TCP and RoCE 9 MB shared by"
    " each switch, with marks and RoCE without loss, Ultra Ethernet trimming at 200 kB. Ranks are placed at random. The"
    " uplink is down from the start, and routes know it."
)

COLLECTIVES = ("ring-all-reduce", "all-to-all")
STATES = {"whole": "", "failed": 'failed = ["e0-a0"]'}
"""The fabric: symmetric, or without one of the uplinks of the first edge switch."""

ROUNDS = 20
"""Rounds of a collective."""
SPREAD = "1 ms"
"""The time within which connections open. If all did so at once, TCP-Path's explorations would find all paths idle."""
WARM_UP = 17
"""So many rounds are left out: the first one opens the connections, and smoc's controller needs several to give all
subflows their paths. After seven, rules were still missing in 5 of 20 all-to-all runs."""

_BUFFER = """\
queue = "9 MB"
queues = { scheduler = "strict-priority", weights = [1, 1] }
buffer = "9 MB"
"""
_TCP_PORTS = _BUFFER + 'alpha = 1.0\necn_threshold = "100 kB"'
_LOSSLESS_PORTS = f"""\
{_BUFFER}alpha = 0.0625
pfc = {{ queues = [1] }}
red = {{ kmin = "100 kB", kmax = "400 kB", pmax = 0.2 }}"""
_TRIMMING_PORTS = """\
queue = "200 kB"
queues = { scheduler = "strict-priority", weights = [1, 1] }
trim = true
red = { kmin = "40 kB", kmax = "160 kB" }"""
_WINDOW = "mss = 4096\ninitial_window = 40"


@dataclass(frozen=True)
class Kind:
    """A kind of hosts: its title, the hosts' ``[transport]``, and keys of ``[fabric]`` for the ports that they need."""

    title: str
    transport: str
    ports: str


KINDS = {
    "linux": Kind("Linux TCP", f'profile = "linux"\n{_WINDOW}', _TCP_PORTS),
    "dctcp": Kind("DCTCP", f'profile = "dctcp"\n{_WINDOW}', _TCP_PORTS),
    "mptcp": Kind("MPTCP", f'profile = "dctcp"\nmptcp = "ndiffports"\n{_WINDOW}', _TCP_PORTS),
    "roce": Kind("RoCE", 'protocol = "roce"\nmtu = 4096', _LOSSLESS_PORTS),
    "uec": Kind("UEC", 'protocol = "uec"\nmtu = 4096', _TRIMMING_PORTS),
}
"""The kinds of hosts by name."""

REFERENCE = "dctcp"
"""The kind with which the others are compared, each on one path."""


@dataclass(frozen=True)
class Way:
    """A way to use paths: title, kind of hosts, scheme, further keys of ``[scheme]`` and of ``[transport]``."""

    title: str
    kind: str
    scheme: str
    params: str = ""
    transport: str = ""


WAYS = {
    "linux-one": Way("Linux TCP, one path", "linux", "ecmp"),
    "linux-spray": Way("Linux TCP, spraying", "linux", "spray"),
    "dctcp-one": Way("DCTCP, one path", "dctcp", "ecmp"),
    "tcp-path": Way("DCTCP, TCP-Path", "dctcp", "tcp_path"),
    "tag-forward": Way("DCTCP, Tag-and-Forward", "dctcp", "tag_forward", 'choice = "least-loaded"'),
    "dctcp-spray": Way("DCTCP, spraying", "dctcp", "spray"),
    "mptcp-one": Way("MPTCP, one path", "mptcp", "ecmp", transport="subflows = 1"),
    "smoc": Way("MPTCP, smoc", "mptcp", "smoc", transport="subflows = 4"),
    "roce-one": Way("RoCE, one path", "roce", "ecmp"),
    "conweave": Way("RoCE, ConWeave", "roce", "conweave"),
    "uec-one": Way("UEC, one path", "uec", "ecmp", transport='entropy_choice = "oblivious"\nentropies = 1'),
    "uec-spray": Way("UEC, spraying", "uec", "ecmp", transport='entropy_choice = "oblivious"'),
    "reps": Way("UEC, REPS", "uec", "ecmp", transport='entropy_choice = "reps"'),
}
"""The ways by the names of their parts."""

SPRAYS = {"linux": "linux-spray", "dctcp": "dctcp-spray", "uec": "uec-spray"}
"""The kinds of hosts that can spray, with that way."""


def one_path(kind: str) -> str:
    """The way of a kind of hosts with one path per connection."""
    return f"{kind}-one"


@dataclass(frozen=True)
class Extent:
    """Ports per switch, megabytes per rank, and seeds of a size."""

    ports: int
    megabytes: int
    seeds: int


EXTENTS = {Size.quick: Extent(4, 4, 10), Size.standard: Extent(6, 4, 10), Size.paper: Extent(8, 32, 20)}


def scenarios(size: Size) -> Iterator[tuple[str, Scenario]]:
    """The scenarios by the names of their parts, such as ``reps-failed``."""
    for name, way in WAYS.items():
        for state, failed in STATES.items():
            part = f"{name}-{state}"
            yield part, Scenario.from_text(_text(part, way, failed, EXTENTS[size]), f"{part}.toml")


def _text(name: str, way: Way, failed: str, extent: Extent) -> str:
    kind = KINDS[way.kind]
    return f"""\
name = "collectives, {name}"

[fabric]
kind = "fat-tree"
k = {extent.ports}
rate = "100 Gbps"
delay = "1 us"
{kind.ports}
{failed}

[traffic]
collective = "{COLLECTIVES[0]}"
bytes = "{extent.megabytes} MB"
placement = "random"
connections = "persistent"
jitter = "{SPREAD}"
repeats = {ROUNDS}

[scheme]
name = "{way.scheme}"
{way.params}

[transport]
{kind.transport}
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
