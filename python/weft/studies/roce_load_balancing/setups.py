"""The scenarios of the study.

From conweave-ns3's `run.py`, `leaf_spine_128_100G_OS2.txt` and sources: 128 hosts, 8 leaves and 8 spines, 100 Gbps,
1 us per link, twice as much capacity of hosts as of uplinks, buffers of 9 MB with dynamic thresholds (alpha 1/16),
marks from 100 to 400 kB with at most 20 % when packets leave; each mark notifies the sender; sizes
`AliStorage2019`, pairs at random, acknowledgements in an urgent queue. Its full packet takes 1048 bytes of a line and
its acknowledgement 60, without preamble and gap: here 1046 and 50. Load is that of the uplinks: `run.py` divides it by
the oversubscription to get that of the hosts' links.
"""

import json
from collections.abc import Iterator

from ...scenario import Scenario
from ..outcome import Size

CHOSEN = (
    "CONGA, LetFlow and ConWeave have conweave-ns3's parameters, and CONGA leaves acknowledgements out, as there "
    "(carriers = data); otherwise each scheme is that of its paper. Slowdown is at the sender, as there: the way of "
    "the last acknowledgement counts in completion and ideal time. Pairs are random, also within a rack, as in "
    "conweave-ns3's generator."
)

LOADS = (50, 80)
"""Loads of the uplinks, in per cent."""
OVERSUBSCRIPTION = 2

DELAY_S, ANSWER_BITS, RATE_BPS = 1e-6, 50 * 8, 100e9
"""Delay of a link; size of an acknowledgement on the wire; rate of a link."""

SCHEMES = {
    "ecmp": "",
    "letflow": 'gap = "100 us"',
    "conga": 'gap = "100 us"\ndre_interval = "50 us"\naging = "500 us"\ncarriers = "data"',
    "conweave": 'waiting = "aside"',
}
"""The schemes with their parameters."""

ALI_STORAGE = (
    ("4 kB", 0.2293),
    ("8 kB", 0.6921),
    ("16 kB", 0.8061),
    ("32 kB", 0.9047),
    ("64 kB", 0.9353),
    ("128 kB", 0.9677),
    ("256 kB", 0.9753),
    ("2 MB", 1),
)
"""`AliStorage2019.txt`: the mean is 40.9 kB."""

EXTENTS: dict[Size, tuple[str, str, int]] = {
    Size.quick: ("4 ms", "1 ms", 2),
    Size.standard: ("100 ms", "5 ms", 1),
    Size.paper: ("100 ms", "5 ms", 3),
}
"""Duration, start of the measurement, seeds."""

SENDERS = (2, 4, 10)
"""Senders of E5."""
LINE_BPS, PACKET, FRAMED = 40e9, 1000, 1082
"""The rate of their line; payload of a packet, and its bytes on the wire."""
SECONDS: dict[Size, tuple[float, float]] = {Size.quick: (0.25, 1.0), Size.standard: (0.5, 2.0), Size.paper: (0.5, 2.0)}
"""Durations for which they fill the line in two runs. Until the shorter one ends, both are the same: their difference
omits the start at line rate."""


def scenarios(size: Size) -> Iterator[tuple[str, Scenario]]:
    """The scenarios by name."""
    duration, warm_up, seeds = EXTENTS[size]
    sizes = "{ points = [" + ", ".join(f'["{bytes}", {share}]' for bytes, share in ALI_STORAGE) + "] }"
    loads = [load / 100 / OVERSUBSCRIPTION for load in LOADS]
    for name, params in SCHEMES.items():
        traffic = f'pairs = "random"\nload = {loads[0]}\nload_of = "host-links"\nsizes = {sizes}'
        sweep = f'[sweep]\n"traffic.load" = {loads}'
        run = (
            f'duration = "{duration}"\nseeds = {seeds}\n\n[measure]\nwindow = ["{warm_up}", "{duration}"]\n'
            f'interval = "1 ms"\n\n{sweep}'
        )
        yield name, _scenario(name, _fabric(), traffic, f'name = "{name}"\n{params}', run)
    traffic = (
        'pairs = { incast = { fan_in = 64, receiver = "h0" } }\narrivals = "at-once"\nflows = 256\n'
        'sizes = { fixed = "500 kB" }'
    )
    run = 'duration = "1 ms"\n\n[measure]\ninterval = "1 ms"'
    yield "incast", _scenario("incast", _fabric(), traffic, 'name = "ecmp"', run)
    for senders in SENDERS:
        name = f"dcqcn-{senders}"
        yield name, Scenario.from_text(_dcqcn(name, senders, SECONDS[size]), f"{name}.toml")


def flow_bytes(senders: int, seconds: float) -> int:
    """Bytes that one of `senders` sends in this time, at its share of the line."""
    return int(LINE_BPS / 8 * PACKET / FRAMED / senders * seconds)


def _fabric() -> str:
    return """\
kind = "spine-leaf"
spines = 8
leaves = 8
hosts_per_leaf = 16
rate = "100 Gbps"
delay = "1 us"
overhead = "ppp"
queue = "9 MB"
queues = { scheduler = "strict-priority", weights = [1, 1] }
buffer = "9 MB"
alpha = 0.0625
pfc = { queues = [1] }
red = { kmin = "100 kB", kmax = "400 kB", pmax = 0.2, at = "dequeue" }"""


def _scenario(name: str, fabric: str, traffic: str, scheme: str, run: str) -> Scenario:
    text = f"""\
name = "RoCE, {name}"

[fabric]
{fabric}

[traffic]
{traffic}

[scheme]
{scheme}

[transport]
protocol = "roce"

[run]
{run}
"""
    return Scenario.from_text(text, f"{name}.toml")


def _dcqcn(name: str, senders: int, seconds: tuple[float, float]) -> str:
    """Senders on one line, with the parameters of DCQCN's paper: marks and times as in its fluid model."""
    sizes = [f"{flow_bytes(senders, length)} B" for length in seconds]
    pairs = ", ".join(f'["h{number}", "h{senders}"]' for number in range(senders))
    return f"""\
name = "RoCE, {name}"

[fabric]
kind = "dumbbell"
left = {senders}
right = 1
rate = "40 Gbps"
delay = "1 us"
queue = "10 MB"
red = {{ kmin = "5 kB", kmax = "1 MB", pmax = 0.05 }}

[traffic]
pairs = [{pairs}]
arrivals = "at-once"
flows = {senders}
sizes = {{ fixed = "{sizes[0]}" }}

[scheme]
name = "ecmp"

[transport]
protocol = "roce"
cnp_interval = "50 us"
decrease_interval = "50 us"
alpha_interval = "55 us"
increase_interval = "55 us"
increase_bytes = "10 MB"
fast_recovery_times = 5
additive_increase = "40 Mbps"
hyper_increase = "40 Mbps"
min_rate = "10 Mbps"
clamp_target_rate = true

[run]
duration = "10 ms"
limit = "60 s"

[measure]
interval = "10 ms"

[sweep]
"traffic.sizes.fixed" = {json.dumps(sizes)}
"""
