"""The setups that claims need of their own: fabrics, loads and transports close to the papers'.

* `testbed`: CONGA's and LetFlow's two leaves and two spines with 32 hosts a leaf, 2:1. A link of 80 Gbps stands for the
  paper's two parallel links of 40 Gbps, and falls to half its rate if one of them fails.
* `clos`: 8 spines, 8 leaves, 8 hosts a leaf, all links 10 Gbps, so that uplinks are as scarce as in the papers.
* `single-switch`: the hosts of `clos` on two halves of one switch: a link of 10 Tbps joins the halves.
* `elephants`: a fat-tree of k = 8 at 100 Mbps with a long flow per host, so that Hedera's 5 s are a part of a flow.
* `striped`: leaves whose uplinks have 80, 80, 20 and 20 Gbps, as much as their 20 hosts; 16 long, equal flows per host.
* `hermes`: 8 spines, 8 leaves, 16 hosts a leaf, all links 10 Gbps: Hermes's, 2:1.
"""

import json
from collections.abc import Iterator
from dataclasses import replace

from ..outcome import Size
from .setups import Setup, able, known
from .survey import DEGRADED, GRAY, LARGEST_MB, QUEUES, seconds

_TESTBED = f"""\
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 32
host_rate = "10 Gbps"
fabric_rate = "80 Gbps"
{QUEUES}

[[fabric.link]]
between = "l1-s1"
rate = """
_CLOS = f'kind = "spine-leaf"\nspines = 8\nleaves = 8\nhosts_per_leaf = 8\nrate = "10 Gbps"\n{QUEUES}'
_HERMES = f'kind = "spine-leaf"\nspines = 8\nleaves = 8\nhosts_per_leaf = 16\nrate = "10 Gbps"\n{QUEUES}'
_SWITCH = f'kind = "dumbbell"\nleft = 32\nright = 32\nrate = "10 Gbps"\nbottleneck_rate = "10 Tbps"\n{QUEUES}'
_ELEPHANTS = 'kind = "fat-tree"\nk = 8\nrate = "100 Mbps"\ndelay = "1 us"\nqueue = "100 packets"'
_STRIPED = (
    'kind = "spine-leaf"\nspines = 4\nleaves = 4\nhosts_per_leaf = 20\nhost_rate = "10 Gbps"\nfabric_rate = "80 Gbps"\n'
    + QUEUES
    + "".join(
        f'\n\n[[fabric.link]]\nbetween = "l{leaf}-s{spine}"\nrate = "20 Gbps"' for leaf in range(4) for spine in (2, 3)
    )
)

_SIZES = f'sizes = "web-search"\ntruncate = "{LARGEST_MB["web-search"]} MB"'
_SEARCH = f'{_SIZES}\npairs = "inter-leaf"\nload_of = "fabric-uplinks"'
_RANDOM = f'{_SIZES}\npairs = "random"\nload_of = "host-links"'


def _staggered() -> list[tuple[str, str]]:
    """A permutation of the hosts of a fat-tree of k = 8: of the 4 hosts of an edge switch, 2 send to each other.

    One sends to the next edge switch of its pod, one to the next pod.
    """
    pairs = []
    for edge in range(32):
        pod, place = divmod(edge, 4)
        beside, beyond = 4 * pod + (place + 1) % 4, (edge + 4) % 32
        ends = ((0, 4 * beside), (1, 4 * beyond + 1), (2, 4 * edge + 3), (3, 4 * edge + 2))
        pairs += [(f"h{4 * edge + source}", f"h{end}") for source, end in ends]
    return pairs


CLOS_LOAD, PLB_LOAD, PRESTO_LOAD = 0.8, 0.8, 0.6
TESTBED_LOADS = {"mild": (0.3, 0.4), "large": (0.3, 0.4)}
"""Loads of the uplinks. 50 % is all that the halved link carries under an even split, which is never steady."""
LONG = 4
"""Factor by which queues take longer to settle where flows must share 80 % of the links."""
HERMES_LOAD, HERMES_DEGRADED_LOAD = 0.6, 0.4
"""Load of the intact uplinks. Up to five of the eight uplinks of a leaf are slow; the rest then carries 50 %."""
HERMES_RIVALS = ("conga", "clove", "letflow", "presto", "drill", "ecmp")
WITH_DCTCP = "-dctcp"
"""Suffix of the names of setups that complement those with loss-driven TCP."""
SHORT_GAP = "letflow gap=100 us"
"""LetFlow with a pause that flows of 10 Gbps make more often than the default."""
PATTERNS = {"permutation": '"permutation"', "staggered": json.dumps(_staggered())}
ELEPHANT_BPS = 1e8


SEEDS = {Size.quick: 3, Size.standard: 10, Size.paper: 20}


def setups(size: Size) -> list[Setup]:
    """The setups of a size whose schemes this version of Weft has and whose events it simulates."""
    found = [
        able(setup)[0] for setup in _setups(SEEDS[size]) if len(setup.schemes) > 1 or setup.name == "single-switch"
    ]
    return [setup for setup in found if setup is not None]


def _both(setup: Setup) -> Iterator[Setup]:
    """A setup with TCP that reacts to loss, as the papers', and with DCTCP, whose means no timeouts dominate."""
    yield setup
    yield replace(setup, name=setup.name + WITH_DCTCP, profile="dctcp")


def _search(
    name: str,
    fabric: str,
    traffic: str,
    schemes: tuple[str, ...],
    profile: str,
    seeds: int,
    loads: tuple[float, ...],
    times: int = 1,
) -> Setup:
    """A setup with the flows of web search, so many times as long as those of the survey."""
    warm_up, measured = (times * part for part in seconds("web-search"))
    last = warm_up + measured
    return Setup(name, fabric, traffic, schemes, profile, last, seeds, loads=loads, window=(warm_up, last))


def _setups(seeds: int) -> Iterator[Setup]:
    for kind, rate in (("mild", "40 Gbps"), ("large", "16 Gbps")):
        schemes = known(("ecmp", "conga", "letflow", SHORT_GAP))
        fabric = f'{_TESTBED}"{rate}"'
        loads = TESTBED_LOADS[kind]
        yield from _both(_search(f"testbed-{kind}", fabric, _SEARCH, schemes, "linux", seeds, loads))
    schemes = known(("ecmp", "drill", "conga", "presto"))
    yield from _both(_search("clos", _CLOS, _SEARCH, schemes, "linux", seeds, (CLOS_LOAD,), LONG))
    presto = known(("ecmp", "presto"))
    for name, fabric, schemes in (("clos-random", _CLOS, presto), ("single-switch", _SWITCH, presto[:1])):
        if len(presto) > 1:
            yield _search(name, fabric, _RANDOM, schemes, "dctcp", seeds, (PRESTO_LOAD,))
    plb = known(("ecmp", "plb"))
    ecn = 'ecn = "classic"'
    # Short queues, so that hosts that react to marks lose packets too.
    short = _CLOS.replace("500 packets", "100 packets")
    yield replace(_search("clos-ecn", short, _SEARCH, plb, "linux", seeds, (PLB_LOAD,), LONG), transport=ecn)
    for pattern, pairs in PATTERNS.items():
        traffic = (
            f'sizes = {{ fixed = "500 MB" }}\narrivals = "at-once"\njitter = "100 ms"\nflows = 128\npairs = {pairs}'
        )
        hedera = known(("ecmp", "hedera"))
        # The flows do not end: the run stops at the end of the window.
        window = (8.0, 16.0)
        yield Setup(
            f"elephants-{pattern}", _ELEPHANTS, traffic, hedera, "linux", 16.0, seeds, limit=16.0, window=window
        )
    traffic = 'sizes = { fixed = "10 MB" }\narrivals = "at-once"\njitter = "1 ms"\nflows = 1280\npairs = "permutation"'
    yield from _both(Setup("striped", _STRIPED, traffic, known(("ecmp", "wcmp")), "linux", 0.01, seeds, limit=8.0))
    rivals = known(("hermes", *HERMES_RIVALS))
    if rivals[0] == "hermes":
        for name, events, load in (
            ("hermes-degraded", DEGRADED, HERMES_DEGRADED_LOAD),
            ("hermes-gray", GRAY, HERMES_LOAD),
        ):
            yield replace(_search(name, _HERMES, _SEARCH, rivals, "dctcp", seeds, (load,)), events=events)
