"""The paper's setup: the scenarios of each size, and choices where the paper gives no details.

From the paper: spine-leaf 4-4-20 and a three-layer fabric with four disjoint paths between ToRs, links of one rate,
random pairs of different leaves, Poisson arrivals, web search and data mining with means of 1.90 and 2.97 MB, loads of
10, 20, 40 and 60 % of the links, mice below 10 kB and elephants above 10 MB, a lifetime of entries of 10 s, ARP-Path as
default forwarding, elephants marked by a range of source ports; at 10 Mbps flows that start from 800 s to 1400 s count.
From the authors' code: valley-free exploration, ports 3500 to 4500.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...scenario import Scenario
from ..base import Simulated
from ..outcome import Size
from . import recovery

CHOSEN = (
    "Where the paper gives no details: delays of 1 us per link; queues of 100 packets and TCP as in ns-3.26 "
    "(segments of 536 bytes, initial window 1); hosts queue up to 1100 packets at their interface and lose none there "
    "(ns-3.26: a queue disc of 1000 packets above the device's 100). Runs start warm: hosts know all addresses. In the "
    "part `cold` every flow resolves an address, the paper's worst case. Flows of "
    "the first fifth and the last tenth of a run do not count, but at 10 Mbps those of 800 to 1400 s do. No "
    "published table has the paper's means: web search is scaled from 1.71 to 1.90 MB, data mining ends at 100 MB with "
    "probability 1 (2.69 MB) and is scaled to 2.97 MB; then 4.4 and 4.7 % of the flows are elephants. "
    "Three-layer: 4 pods of one ToR with 20 servers, 4 aggregation switches each, 4 spines."
)

DISTRIBUTIONS = ("web-search", "data-mining")
LOADS = (0.1, 0.2, 0.4, 0.6)
SCHEMES = ("ecmp", "arp_path", "tfe", "tcp_path")
"""The paper's three schemes, and ARP-Path alone."""
PAPER_SCHEMES = ("ecmp", "tfe", "tcp_path")
MAIN = "gigabit"
"""The part that the paper's section V-C is about."""
PAPER_RULES = "\n".join(('on_unknown = "repair"', 'announce = "off"', 'learnt = "10 s"', 'attached = "300 s"'))
"""Default forwarding as in the papers: a frame to an unknown station is lost and starts a repair, stations are not
announced, and their entries age like those of flows."""
REFRESH = "200 ms"
"""Interval at which the refreshing variants explore again; an elephant takes at least 80 ms at 1 Gbps."""

GIVE_UP_S = 130
"""ns-3.26's TCP aborts after six timeouts, 127 s from the first: until then, a flow may still finish."""

HOST_QUEUE = 'host_queue = "1100 packets"'
"""ns-3.26: a queue disc of 1000 packets with flow control above the device's queue of 100."""

_MINING_POINTS = (
    (180, 0.1),
    (216, 0.2),
    (560, 0.3),
    (900, 0.4),
    (1_100, 0.5),
    (1_870, 0.6),
    (3_160, 0.7),
    (10_000, 0.8),
    (400_000, 0.9),
    (3_160_000, 0.95),
    (100_000_000, 1.0),
)
"""VL2's table up to 100 MB, with the last probability raised to 1."""


_VALLEY_FREE = 'exploration = "valley-free"'
"""Explorations go up and down once."""
_NO_CACHE = 'arp_cache = "0 s"'
"""Hosts resolve an address for every flow."""
_CLOSING = 'closing = "10 s"'
"""Lifetime of a finished flow's entries."""
_KEYS = (_VALLEY_FREE, _CLOSING)
COLD = "cold"
"""The part in which every flow resolves an address, at 40 % load."""


@dataclass(frozen=True)
class Setup:
    """One scenario of the study: flow sizes and other differences from the main part."""

    what: str
    """Name of the variant: ``gigabit``, ``10mbps``, ``three-layer``, ..."""
    sizes: str
    seeds: int
    seconds: float
    """Simulated time in which flows start, scaled to 1 Gbps."""
    schemes: tuple[str, ...] = PAPER_SCHEMES
    loads: tuple[float, ...] = (0.4,)
    mbps: int = 1000
    profile: str = "ns3-3.26"
    segment: int | None = None
    queue: str = "100 packets"
    published: bool = False
    three_layer: bool = False
    warm: bool = True
    scheme_keys: tuple[str, ...] = _KEYS
    sweep: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the part and of its directory."""
        return f"{self.sizes}_{self.what}"

    @property
    def window(self) -> tuple[float, float]:
        """Measurement window, scaled to 1 Gbps: the paper's 800 to 1400 s at 10 Mbps if the run is long enough."""
        if self.mbps == 10 and self.seconds >= 18:
            return (8.0, 14.0)
        return (0.2 * self.seconds, 0.9 * self.seconds)


@dataclass(frozen=True)
class Extent:
    """Extent of a size: seeds and simulated seconds (at 1 Gbps) of the main part and of the others."""

    seeds: int
    seconds: float
    other_seeds: int
    other_seconds: float
    other_loads: tuple[float, ...]
    meshes: tuple[int, ...]
    """Number of spines (and of leaves) of the fabrics whose explorations are measured."""


EXTENTS = {
    Size.quick: Extent(3, 15.0, 2, 15.0, (0.4,), (4, 16)),
    Size.standard: Extent(5, 20.0, 3, 18.0, (0.2, 0.4), (4, 16, 64)),
    Size.paper: Extent(10, 1800.0, 10, 180.0, LOADS, (4, 16, 64)),
}
"""The paper: 10 runs of 1800 s; scaled to 1 Gbps, 180 s at 100 Mbps and 18 s at 10 Mbps. The window of 15 s has ten
times the ideal time of the largest flow, 1 s."""

OVER = {"ecmp": 0.4, "spanning_tree": 0.1}
"""Default forwardings under TFE other than ARP-Path, and the load at which each is compared with TFE over it: at 10 %,
the tree's only spine has 40 % to carry."""

VARIANTS = {
    "queue-1000": {"queue": "1000 packets"},
    "full-exploration": {"scheme_keys": ('exploration = "full"', _CLOSING)},
    "fixed-order": {"scheme_keys": (*_KEYS, 'flood_order = "fixed"')},
    "shared-hash": {"scheme_keys": (_VALLEY_FREE, 'hash_seed = "shared"')},
    "segments-1448": {"segment": 1448},
}
"""Possible explanations of claims that do not hold: each changes one aspect of the main part, at 40 % load."""


def setups(size: Size) -> list[Setup]:
    """All scenarios of a size, except explorations of meshes."""
    return list(_setups(EXTENTS[size]))


def _setups(extent: Extent) -> Iterator[Setup]:
    for sizes in DISTRIBUTIONS:
        main = Setup(MAIN, sizes, extent.seeds, extent.seconds, schemes=SCHEMES, loads=LOADS)
        yield main
        other = replace(
            main,
            schemes=PAPER_SCHEMES,
            loads=extent.other_loads,
            seeds=extent.other_seeds,
            seconds=extent.other_seconds,
        )
        yield replace(other, what="100mbps", mbps=100)
        yield replace(other, what=COLD, loads=(0.4,), warm=False, scheme_keys=(*_KEYS, _NO_CACHE))
        # Only 1800 s show whether 800 s of warm-up are needed.
        yield replace(other, what="10mbps", mbps=10, seconds=18.0)
        # The other TCP of figure 13, and of the emulation: the same flows over the same time.
        yield replace(other, what="10mbps-linux", mbps=10, profile="linux", seconds=18.0)
        yield replace(other, what="three-layer", mbps=10, seconds=18.0, three_layer=True)
        yield replace(other, what="linux", profile="linux", loads=(*extent.other_loads, 0.6))
        yield replace(other, what="published", published=True, loads=(*extent.other_loads, 0.6))
        yield replace(
            other,
            what="beyond",
            schemes=("tfe", "tcp_path"),
            loads=(0.4, 0.6),
            scheme_keys=(*main.scheme_keys, 'classifier = "auto"'),
            sweep=(f'"scheme.refresh_after" = ["0 s", "{REFRESH}"]',),
        )
    web = replace(other, sizes="web-search", loads=(0.4,), schemes=("ecmp", "tcp_path"))
    for scheme, load in OVER.items():
        keys = (*web.scheme_keys, f'over = "{scheme}"')
        yield replace(web, what=f"over-{scheme}", schemes=(scheme, "tfe"), loads=(load,), scheme_keys=keys)
    for what, change in VARIANTS.items():
        yield replace(web, what=what, **change)  # type: ignore[arg-type]


def parts(size: Size) -> list[Simulated]:
    """The scenarios of a size."""
    flows = [Simulated(setup.name, Scenario.from_text(text(setup), f"{setup.name}.toml")) for setup in setups(size)]
    meshes = EXTENTS[size].meshes
    flows += recovery.parts(PAPER_RULES)
    return flows + [Simulated(mesh_name(n), Scenario.from_text(mesh(n), f"mesh-{n}.toml")) for n in meshes]


def text(setup: Setup) -> str:
    """The scenario of a setup."""
    slower = 1000 / setup.mbps
    start, end = (f'"{second * slower:g} s"' for second in setup.window)
    counts = (
        'kind = "three-layer"\npods = 4\ntors_per_pod = 1\nplanes = 4\nspines_per_plane = 1\nhosts_per_tor = 20'
        if setup.three_layer
        else 'kind = "spine-leaf"\nspines = 4\nleaves = 4\nhosts_per_leaf = 20'
    )
    segment = f"mss = {setup.segment}\n" if setup.segment else ""
    axes = [f'"scheme.name" = {json.dumps(setup.schemes)}', *setup.sweep, f'"traffic.load" = {json.dumps(setup.loads)}']
    return f"""\
name = "tcp-path, {setup.name}"

[fabric]
{counts}
rate = "{setup.mbps} Mbps"
delay = "1 us"
queue = "{setup.queue}"
{HOST_QUEUE if setup.profile.startswith("ns3") else ""}

[traffic]
{sizes(setup)}
pairs = "inter-leaf"
load = 0.4
elephant_ports = [3500, 4500]

[scheme]
name = "{setup.schemes[-1]}"
{PAPER_RULES}
{chr(10).join(setup.scheme_keys)}

[transport]
profile = "{setup.profile}"
{segment}
[run]
duration = "{setup.seconds * slower:g} s"
limit = "{2 * setup.seconds * slower + GIVE_UP_S:g} s"
seeds = {setup.seeds}
warm = {json.dumps(setup.warm)}

[measure]
window = [{start}, {end}]
interval = "1 s"
classes = {{ mouse = "10 kB", elephant = "10 MB" }}
baseline = "{setup.schemes[0]}"

[sweep]
{chr(10).join(axes)}
"""


def sizes(setup: Setup) -> str:
    """The lines with the flow sizes."""
    if setup.published:
        return f'sizes = "{setup.sizes}"'
    if setup.sizes == "web-search":
        return 'sizes = "web-search"\nscale_to_mean = "1.90 MB"'
    points = json.dumps([[f"{size} B", probability] for size, probability in _MINING_POINTS])
    return f'sizes = {{ points = {points} }}\nscale_to_mean = "2.97 MB"'


MESH_FLOWS = 400
"""Flows whose explorations are measured on each mesh."""
MESH_BYTES = 1000
"""Their size: one or two segments, so that only explorations load the fabric."""


def mesh_name(n: int) -> str:
    """The name of the part that measures explorations with `n` spines and `n` leaves."""
    return f"explorations_{n}x{n}"


def mesh(n: int) -> str:
    """Short, widely spaced flows over `n` spines and `n` leaves."""
    return f"""\
name = "tcp-path, explorations {n}x{n}"

[fabric]
kind = "spine-leaf"
spines = {n}
leaves = {n}
hosts_per_leaf = 2
rate = "1 Gbps"
delay = "1 us"

[traffic]
sizes = {{ fixed = "{MESH_BYTES} B" }}
pairs = "inter-leaf"
flows_per_second = 400
flows = {MESH_FLOWS}

[scheme]
name = "tcp_path"
{PAPER_RULES}
exploration = "valley-free"
arp_cache = "0 s"

[transport]
profile = "ns3-3.26"

[run]
duration = "2 s"
limit = "10 s"
seeds = 3
"""
