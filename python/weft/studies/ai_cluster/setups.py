"""The scenarios of the study: a part for each number of GPUs, fabric, kind of hosts, state of the links and collective.

Both fabrics of a number of GPUs have the same servers, network cards, switches and links. Only the leaves to which the
GPUs of a server are connected differ: one per GPU on rails, in the fat-tree those of its rack.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...scenario import Scenario
from ..outcome import Size

CHOSEN = (
    "Servers have 8 GPUs with a port of 400 Gbps each. Leaves have as many uplinks as hosts. Servers are in order. All"
    " messages between two ranks share a connection that stays open. Of the rounds, the last ones count. RoCE has DCQCN"
    " with conweave-ns3's parameters for 400 Gbps and ports without loss, Ultra Ethernet NSCC and ports that trim. A"
    " share of 1/64 of the uplinks is down from the start, and routes know it."
)

ROUNDS = 3
"""Rounds of a collective."""
WARM_UP = 1
"""So many rounds are left out: in them, windows and rates adapt to the collective."""
FAILED = 1 / 64
"""The share of uplinks that are down in the state `failed`."""


@dataclass(frozen=True)
class Cluster:
    """Pods and servers per pod. A pod has 8 leaves, each with one host and one uplink per server of the pod."""

    pods: int
    servers: int


CLUSTERS = {64: Cluster(1, 8), 256: Cluster(2, 16), 1024: Cluster(4, 32)}
"""Clusters by their number of GPUs."""


@dataclass(frozen=True)
class Collective:
    """A collective: its short title, megabytes of each rank by number of GPUs, and keys of ``[traffic]`` on rails."""

    title: str
    megabytes: dict[int, int]
    on_rails: str = ""


COLLECTIVES = {
    "hierarchical-all-reduce": Collective("all-reduce", {64: 64, 256: 64, 1024: 64}),
    "all-to-all": Collective("all-to-all", {64: 16, 256: 4}, 'relay = "pxn"'),
}
"""Collectives by their names in scenarios. An all-to-all of 1,024 ranks has a million messages: it is left out."""

FABRICS = {"rails": "rails", "tree": "fat-tree"}
"""The fabrics, with their titles."""
STATES = {"whole": "whole fabric", "failed": "uplinks failed"}
"""The states of the links, with their titles."""


@dataclass(frozen=True)
class Hosts:
    """A kind of hosts that answer every packet: its title, ``[transport]``, and keys of ``[fabric]`` for its ports."""

    title: str
    transport: str
    ports: str


HOSTS = {
    "uec": Hosts(
        "UEC",
        'protocol = "uec"\nack_bytes = "0 B"',
        """\
queue = "600 kB"
trim = true
red = { kmin = "120 kB", kmax = "480 kB" }""",
    ),
    "roce": Hosts(
        "RoCE",
        """\
protocol = "roce"
additive_increase = "160 Mbps"
hyper_increase = "400 Mbps\"""",
        """\
queue = "64 MB"
buffer = "64 MB"
alpha = 0.0625
pfc = { queues = [1] }
red = { kmin = "400 kB", kmax = "1600 kB", pmax = 0.2 }""",
    ),
}
"""The kinds of hosts by name: UEC sprays by its entropies, RoCE has a path by hash for each connection."""


@dataclass(frozen=True)
class Extent:
    """Numbers of GPUs and of seeds of a size."""

    gpus: tuple[int, ...]
    seeds: int


EXTENTS = {
    Size.quick: Extent((64,), 3),
    Size.standard: Extent((64, 256, 1024), 3),
    Size.paper: Extent((64, 256, 1024), 10),
}


@dataclass(frozen=True)
class Case:
    """A part of the study."""

    gpus: int
    fabric: str
    hosts: str
    state: str
    collective: str

    @property
    def name(self) -> str:
        """The name of the part, such as ``64-rails-uec-whole-all-to-all``."""
        return f"{self.gpus}-{self.fabric}-{self.hosts}-{self.state}-{self.collective}"

    @classmethod
    def of(cls, name: str) -> "Case":
        """The case of a part."""
        gpus, fabric, hosts, state, collective = name.split("-", 4)
        return cls(int(gpus), fabric, hosts, state, collective)


def cases(sizes: tuple[int, ...]) -> Iterator[Case]:
    """All cases with these numbers of GPUs."""
    for gpus in sizes:
        for name, collective in COLLECTIVES.items():
            if gpus in collective.megabytes:
                for fabric in FABRICS:
                    for hosts in HOSTS:
                        for state in STATES:
                            yield Case(gpus, fabric, hosts, state, name)


def scenarios(size: Size) -> Iterator[tuple[str, Scenario]]:
    """The scenarios by the names of their parts."""
    extent = EXTENTS[size]
    for case in cases(extent.gpus):
        yield case.name, Scenario.from_text(_text(case, extent.seeds), f"{case.name}.toml")


def _fabric(fabric: str, cluster: Cluster) -> str:
    if fabric == "rails":
        return f"""\
kind = "rail-optimised"
pods = {cluster.pods}
servers_per_pod = {cluster.servers}
gpus = 8
spines = {cluster.servers}"""
    return f"""\
kind = "spine-leaf"
leaves = {8 * cluster.pods}
hosts_per_leaf = {cluster.servers}
spines = {cluster.servers}
scale_up = 8"""


def _text(case: Case, seeds: int) -> str:
    hosts, collective = HOSTS[case.hosts], COLLECTIVES[case.collective]
    return f"""\
name = "AI cluster, {case.name}"

[fabric]
{_fabric(case.fabric, CLUSTERS[case.gpus])}
rate = "400 Gbps"
delay = "1 us"
scale_up_rate = "3600 Gbps"
scale_up_delay = "250 ns"
queues = {{ scheduler = "strict-priority", weights = [1, 1] }}
{hosts.ports}

[traffic]
collective = "{case.collective}"
bytes = "{collective.megabytes[case.gpus]} MB"
connections = "persistent"
repeats = {ROUNDS}
{collective.on_rails if case.fabric == "rails" else ""}

[scheme]
name = "ecmp"

[transport]
{hosts.transport}
mtu = 4096
scale_up_mtu = 32768

[run]
duration = "10 ms"
limit = "2 s"
seeds = {seeds}

[measure]
interval = "10 ms"
{_EVENT if case.state == "failed" else ""}"""


_EVENT = f"""
[[event]]
at = "0 s"
fail = {{ share = {FAILED} }}
"""
