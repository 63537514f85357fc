"""The survey's scenarios: every scheme in every situation, and incast and permutation beside.

The leaf-spine has 8 spines, 8 leaves and 16 hosts per leaf; hosts have 10 Gbps, links between switches 40 Gbps. A leaf
has 160 Gbps of host links and 320 Gbps of uplinks, so hosts cannot fill the uplinks: the load is a share of the host
links, and the uplinks carry half of it. Tag-and-Forward needs a fat-tree, so a fat-tree with as many hosts stands
beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..base import Size
from .setups import MULTIPATH, Setup, able, needs, registry

LEAVES = 8
QUEUES = 'delay = "1 us"\nqueue = "500 packets"\necn_threshold = "65 packets"'
"""Marks as RFC 8257 and DCTCP's paper suggest for 10 Gbps."""
LEAF_SPINE = f"""\
kind = "spine-leaf"
spines = 8
leaves = {LEAVES}
hosts_per_leaf = 16
host_rate = "10 Gbps"
fabric_rate = "40 Gbps"
{QUEUES}"""
FAT_TREE = f'kind = "fat-tree"\nk = 8\nrate = "10 Gbps"\n{QUEUES}'

DEGRADED = '[[event]]\nat = "0 s"\nchange = { share = 0.2 }\nrate = 0.2'
"""Of the uplinks of leaves, drawn by seed, 20 % have a fifth of their rate; routes know it from the start."""
GRAY = "\n\n".join(f'[[event]]\nat = "0 s"\nchange = "l{leaf}-s0"\nloss = 0.02' for leaf in range(LEAVES))
"""Spine 0 loses 2 % of the packets on each of its links; no control plane notices it."""


@dataclass(frozen=True)
class Situation:
    """A state of the fabric."""

    name: str
    title: str
    fabric: str
    events: str = ""


SITUATIONS = (
    Situation("symmetric", "symmetric", LEAF_SPINE),
    Situation("cut", "one uplink cut", f'{LEAF_SPINE}\nfailed = ["l0-s0"]'),
    Situation("degraded", "20 % of uplinks at a fifth", LEAF_SPINE, DEGRADED),
    Situation("gray", "spine 0 loses 2 %", LEAF_SPINE, GRAY),
    Situation("fat-tree", "fat-tree", FAT_TREE),
    Situation("fat-tree-cut", "fat-tree, one uplink cut", f'{FAT_TREE}\nfailed = ["e0-a0"]'),
    Situation("incast", "incast of 32", LEAF_SPINE),
    Situation("permutation", "permutation", LEAF_SPINE),
)
"""All situations, in the order of the table; those of the leaf-spine with the flows of clusters come first."""
MAIN = SITUATIONS[:4]
TITLES = {situation.name: situation.title for situation in SITUATIONS}

TUNED = {"hedera": "interval=1 ms"}
"""Parameters of schemes whose defaults cannot act in the survey: Hedera polls every 5 s, and flows end within 1 s."""

DISTRIBUTIONS = ("web-search", "data-mining", "facebook-hadoop")
PROFILES = ("dctcp", "linux")
TFE_PORTS = "elephant_ports = [3500, 4500]"
"""By these source ports TFE recognises large flows."""
_SIZES = {
    "web-search": 'sizes = "web-search"',
    "data-mining": 'sizes = "data-mining"\ntruncate = "100 MB"',
    "facebook-hadoop": 'sizes = "facebook-hadoop"',
}
_INCAST = (
    f'sizes = {{ fixed = "64 kB" }}\npairs = {{ incast = {{ fan_in = 32 }} }}\nload_of = "host-links"\n{TFE_PORTS}'
)
_PERMUTATION = f'sizes = {{ fixed = "10 MB" }}\narrivals = "at-once"\nflows = 128\npairs = "permutation"\n{TFE_PORTS}'


@dataclass(frozen=True)
class Extent:
    """Extent of a size."""

    seeds: int
    seconds: float
    """Time in which flows start; a quarter of it with Hadoop's flows, which are many and short."""
    loads: tuple[float, ...]
    fat_tree_loads: tuple[float, ...]
    workloads: tuple[tuple[str, str], ...]
    """Distributions, each with a transport profile."""


_ALL = tuple((sizes, profile) for profile in PROFILES for sizes in DISTRIBUTIONS)
EXTENTS = {
    Size.quick: Extent(3, 0.008, (0.4, 0.8), (0.8,), (("web-search", "dctcp"),)),
    Size.standard: Extent(4, 0.025, (0.4, 0.6, 0.8), (0.4, 0.8), (*_ALL[:3], ("web-search", "linux"))),
    Size.paper: Extent(10, 0.06, (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), (0.4, 0.6, 0.8), _ALL),
}
INCAST_LOAD = 0.2


def setups(size: Size) -> list[Setup]:
    """All scenarios of a size, each with the schemes that run in it."""
    return [kept for setup in _setups(EXTENTS[size]) if (kept := able(setup)[0]) is not None]


def refused() -> dict[tuple[str, str], str]:
    """By situation and scheme, why the scheme does not run in it."""
    found: dict[tuple[str, str], str] = {}
    for setup in _setups(EXTENTS[Size.quick]):
        situation = setup.name.partition("_")[0]
        found |= {(situation, scheme.partition(" ")[0]): reason for scheme, reason in able(setup)[1].items()}
    return found


def _setups(extent: Extent) -> Iterator[Setup]:
    plain = tuple(_tuned(scheme) for scheme in registry() if MULTIPATH not in needs(scheme))
    several = ("ecmp", *(scheme for scheme in registry() if MULTIPATH in needs(scheme)))
    for setup in _workloads(extent):
        yield replace(setup, schemes=plain)
        yield replace(
            setup, name=f"{setup.name}_mptcp", schemes=several, transport='mptcp = "ndiffports"\nsubflows = 4'
        )


def _tuned(scheme: str) -> str:
    """A scheme with its parameters in the survey."""
    return f"{scheme} {TUNED[scheme]}" if scheme in TUNED else scheme


def _workloads(extent: Extent) -> Iterator[Setup]:
    """The scenarios without their schemes."""
    for sizes, profile in extent.workloads:
        seconds = extent.seconds / 4 if sizes == "facebook-hadoop" else extent.seconds
        traffic = f'{_SIZES[sizes]}\npairs = "inter-leaf"\nload_of = "host-links"\n{TFE_PORTS}'
        for situation in SITUATIONS:
            setup = Setup(
                name=f"{situation.name}_{sizes}_{profile}",
                fabric=situation.fabric,
                events=situation.events,
                traffic=traffic,
                schemes=(),
                profile=profile,
                seconds=seconds,
                seeds=extent.seeds,
                loads=extent.loads,
            )
            if situation in MAIN:
                yield setup
            elif sizes != "web-search":
                continue
            elif situation.name == "incast":
                loads = (INCAST_LOAD,)
                yield replace(setup, name=f"incast_fixed_{profile}", traffic=_INCAST, loads=loads)
            elif situation.name == "permutation":
                yield replace(setup, name=f"permutation_fixed_{profile}", traffic=_PERMUTATION, loads=())
            else:
                yield replace(setup, loads=extent.fat_tree_loads)
