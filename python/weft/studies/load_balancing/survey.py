"""The survey's scenarios: every scheme in every situation that distinguishes schemes.

Links have 10 Gbps, so that a large flow can fill an uplink. A leaf has as many uplinks as hosts (1:1), or half as many
(2:1). The load is a share of the capacity that a situation leaves to the leaf with the fewest uplinks. Runs start warm
and last for a warm-up and ten times the ideal time of the largest flow. Tag-and-Forward needs a fat-tree, so a fat-tree
stands beside.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..outcome import Size
from .setups import MULTIPATH, Setup, able, needs, registry

LEAVES, SPINES = 8, 8
GBPS = 10
SEGMENT, PACKET_ON_WIRE = 1448, 1538
"""Application bytes of a full packet, and its bytes on an Ethernet link."""
QUEUES = 'delay = "1 us"\nqueue = "500 packets"\necn_threshold = "65 packets"'
"""Marks as RFC 8257 and DCTCP's paper suggest for 10 Gbps."""


def _leaf_spine(hosts: int) -> str:
    counts = f"spines = {SPINES}\nleaves = {LEAVES}\nhosts_per_leaf = {hosts}"
    return f'kind = "spine-leaf"\n{counts}\nrate = "{GBPS} Gbps"\n{QUEUES}'


LEAF_SPINE = _leaf_spine(SPINES)
OVERSUBSCRIBED = _leaf_spine(2 * SPINES)
FAT_TREE = f'kind = "fat-tree"\nk = 8\nrate = "{GBPS} Gbps"\n{QUEUES}'

DEGRADED = '[[event]]\nat = "0 s"\nchange = { share = 0.2 }\nrate = 0.2'
"""Of the uplinks of leaves, drawn by seed, 20 % have a fifth of their rate; routes know it from the start."""


def _of_spine(change: str) -> str:
    return "\n\n".join(f'[[event]]\nat = "0 s"\nchange = "l{leaf}-s0"\n{change}' for leaf in range(LEAVES))


SLOW = _of_spine("rate = 0.5")
"""The links of spine 0 have half of their rate; routes know it from the start."""
GRAY = _of_spine("loss = 0.02")
"""Spine 0 loses 2 % of the packets on each of its links; no control plane notices it."""


@dataclass(frozen=True)
class Situation:
    """A state of the fabric."""

    name: str
    title: str
    fabric: str
    events: str = ""
    capacity: float = 1.0
    """The uplink capacity of the leaf with the fewest uplinks, as a share of the intact fabric's."""
    warm: bool = True
    is_main: bool = False
    """Whether all workloads run in it."""
    loads: tuple[float, ...] | None = None
    """Its loads, if they are not those of the size."""
    spread: str = ""
    """If not empty, each host sends one flow to another one, and all start within this time.

    Clocks that NTP sets agree within 1 ms. If all start in the same picosecond, ties decide the paths of TCP-Path and
    TFE: the copies of all SYNs meet the same queues.
    """


SITUATIONS = (
    Situation("symmetric", "symmetric, 1:1", LEAF_SPINE, is_main=True),
    Situation("oversubscribed", "symmetric, 2:1", OVERSUBSCRIBED),
    Situation("cut", "one uplink cut", f'{LEAF_SPINE}\nfailed = ["l0-s0"]', capacity=7 / 8),
    Situation("slow", "spine 0 at half the rate", LEAF_SPINE, SLOW, 7.5 / 8, is_main=True, loads=(0.3, 0.6)),
    Situation("gray", "spine 0 loses 2 %", LEAF_SPINE, GRAY, loads=(0.4,)),
    Situation("cold", "symmetric, 1:1, cold start", LEAF_SPINE, warm=False),
    Situation("fat-tree", "fat-tree", FAT_TREE),
    Situation("fat-tree-cut", "fat-tree, one uplink cut", f'{FAT_TREE}\nfailed = ["e0-a0"]', capacity=3 / 4),
    Situation("permutation", "permutation within 1 ms", LEAF_SPINE, spread="1 ms"),
    Situation("at-once", "permutation at once", LEAF_SPINE, spread="0 s"),
)
"""All situations, in the order of the table."""
MAIN = tuple(situation for situation in SITUATIONS if situation.is_main)
TITLES = {situation.name: situation.title for situation in SITUATIONS}

TUNED = {"hedera": "interval=1 ms"}
"""Parameters of schemes whose defaults cannot act in the survey: Hedera polls every 5 s, and flows end within 1 s."""

TFE_PORTS = "elephant_ports = [3500, 4500]"
"""Source ports by which TFE recognises large flows."""
LARGEST_MB = {"web-search": 5, "facebook-hadoop": 5, "data-mining": 50}
"""Larger flows are left out: a run lasts ten times the ideal time of the largest."""
WARM_UP, MEASURED = 4.0, 10.5
"""The warm-up and the measured time, in ideal times of the largest flow."""
_PERMUTATION = f'sizes = {{ fixed = "10 MB" }}\narrivals = "at-once"\nflows = 64\npairs = "permutation"\n{TFE_PORTS}'


@dataclass(frozen=True)
class Extent:
    """Extent of a size: seeds, loads, and distributions, each with a profile. The first runs in all situations."""

    seeds: int
    loads: tuple[float, ...]
    workloads: tuple[tuple[str, str], ...]


WORKLOAD = ("web-search", "dctcp")
"""The schemes that run in all situations."""
_SHORT = (WORKLOAD, ("facebook-hadoop", "dctcp"), ("web-search", "linux"))
EXTENTS = {
    Size.quick: Extent(3, (0.6,), _SHORT[:1]),
    Size.standard: Extent(10, (0.6,), _SHORT),
    Size.paper: Extent(20, (0.3, 0.5, 0.6), (*_SHORT, ("data-mining", "dctcp"))),
}


def seconds(sizes: str) -> tuple[float, float]:
    """The warm-up and the measured time of a workload."""
    ideal = LARGEST_MB[sizes] * 8e6 / (GBPS * 1e9) * PACKET_ON_WIRE / SEGMENT
    return round(WARM_UP * ideal, 4), round(MEASURED * ideal, 4)


def setups(size: Size) -> list[Setup]:
    """All scenarios of a size, each with the schemes that run in it."""
    return [kept for setup in _setups(EXTENTS[size]) if (kept := able(setup)[0]) is not None]


def refused() -> dict[tuple[str, str], str]:
    """The reason why a scheme does not run in a situation, by situation and scheme."""
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
        if setup.name.startswith("symmetric_"):
            yield replace(
                setup, name=f"{setup.name}_mptcp", schemes=several, transport='mptcp = "ndiffports"\nsubflows = 4'
            )


def _tuned(scheme: str) -> str:
    return f"{scheme} {TUNED[scheme]}" if scheme in TUNED else scheme


def _workloads(extent: Extent) -> Iterator[Setup]:
    for workload in extent.workloads:
        sizes, profile = workload
        warm_up, measured = seconds(sizes)
        traffic = f'sizes = "{sizes}"\ntruncate = "{LARGEST_MB[sizes]} MB"\npairs = "inter-leaf"\n{TFE_PORTS}'
        for situation in SITUATIONS:
            if not (situation.is_main or workload == extent.workloads[0]):
                continue
            setup = Setup(
                name=f"{situation.name}_{sizes}_{profile}",
                fabric=situation.fabric,
                events=situation.events,
                traffic=f'{traffic}\nload_of = "fabric-uplinks"',
                schemes=(),
                profile=profile,
                seconds=warm_up + measured,
                seeds=extent.seeds,
                loads=tuple(round(situation.capacity * load, 4) for load in situation.loads or extent.loads),
                window=(warm_up, warm_up + measured),
                warm=situation.warm,
            )
            if situation.spread:
                setup = replace(
                    setup,
                    name=f"{situation.name}_fixed_{profile}",
                    traffic=f'{_PERMUTATION}\njitter = "{situation.spread}"',
                    loads=(),
                    window=None,
                )
            yield setup
