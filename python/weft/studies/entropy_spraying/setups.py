"""The scenarios of the study.

From csg-htsim's `run.sh` and sources: three-tier fat-tree, 100 Gbps, 1 us per link, no delay in switches, 4000 bytes of
payload in packets of 4064 on the wire, answers of 64, a flow of 2 MB per host, all at once, a window of 50 packets,
queues of 35 packets of 4000 bytes with trimming. htsim counts the packet being sent: 34 packets of 4064 bytes fit, here
33 besides that one. Marks are set at dequeue if more than 18 packets of 4000 bytes stay behind: 76 kB with the one that
leaves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...scenario import Scenario
from ..outcome import Size
from . import published

CHOSEN = (
    "A fixed window of 50 packets and an answer to each packet stand for NDP, whose receivers pull packets. At most as "
    "many entropies as paths between pods, as in csg-htsim: 36 with 432 hosts. Completion is at the sender: the answer "
    "to its last packet has arrived."
)

PORTS = dict(zip(published.HOSTS, (12, 16, 20, 24, 32), strict=True))
"""Ports of the switches by number of hosts."""

DELAY_S, ANSWER_BITS, RATE_BPS = 1e-6, 46 * 8, 100e9
"""Delay of a link; size of an answer on the wire; rate of a link."""

TRIMMING = """\
queue = "136 kB"
queues = { scheduler = "strict-priority", weights = [1, 1] }
trim = true"""
LARGE = """\
queue = "4 MB"
queues = { scheduler = "strict-priority", weights = [1, 1] }"""
MARKING = f"""\
{LARGE}
red = {{ kmin = "76 kB", kmax = "76 kB", at = "dequeue" }}"""

KINDS = {"large": (LARGE, "oblivious"), "trim": (TRIMMING, "oblivious"), "ecn": (MARKING, "bitmap")}
"""The queues and the choice of entropies of E2."""


@dataclass(frozen=True)
class Setup:
    """One scenario."""

    name: str
    hosts: int
    queue: str
    choice: str
    entropies: tuple[int, ...]
    seeds: int

    def scenario(self) -> Scenario:
        """Its scenario."""
        return Scenario.from_text(text(self), f"{self.name}.toml")


EXTENTS: dict[Size, tuple[tuple[int, ...], int]] = {
    Size.quick: ((432,), 4),
    Size.standard: ((432, 1024), 4),
    Size.paper: (published.HOSTS, 4),
}
"""Numbers of hosts, and seeds."""


def paths(hosts: int) -> int:
    """Paths between two pods of the fat-tree."""
    return (PORTS[hosts] // 2) ** 2


def entropies(hosts: int, asked: Sequence[int]) -> tuple[int, ...]:
    """Numbers of entropies that differ: no more than there are paths."""
    return tuple(dict.fromkeys(min(number, paths(hosts)) for number in asked))


def setups(size: Size) -> Iterator[Setup]:
    """E1 for each number of hosts, then E2 for the largest."""
    numbers, seeds = EXTENTS[size]
    for hosts in numbers:
        yield Setup(f"hosts-{hosts}", hosts, TRIMMING, "oblivious", entropies(hosts, tuple(published.LAST_US)), seeds)
    hosts = numbers[-1]
    for kind, (queue, choice) in KINDS.items():
        yield Setup(f"{kind}-{hosts}", hosts, queue, choice, (32, 256), 1 if size is Size.paper else seeds)


def text(setup: Setup) -> str:
    """The scenario of a setup as TOML."""
    return f"""\
name = "entropy spraying, {setup.name}"

[fabric]
kind = "fat-tree"
k = {PORTS[setup.hosts]}
rate = "100 Gbps"
delay = "1 us"
overhead = "none"
{setup.queue}

[traffic]
pairs = "permutation"
arrivals = "at-once"
flows = {setup.hosts}
sizes = {{ fixed = "2 MB" }}

[scheme]
name = "ecmp"

[transport]
protocol = "uec"
congestion = "fixed"
window = 50
mtu = 4000
header = 36
ack_bytes = "0 B"
entropy_choice = "{setup.choice}"
entropies = {setup.entropies[0]}
rto = "20 ms"

[run]
duration = "1 ms"
limit = "100 ms"
seeds = {setup.seeds}

[measure]
interval = "100 us"

[sweep]
"transport.entropies" = {list(setup.entropies)}
"""
