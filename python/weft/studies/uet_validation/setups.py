"""The scenarios of the study: one for each set-up of uet-htsim's validation lists."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...against.networks import (
    HEADER,
    PAYLOAD,
    SACK_BYTES,
    Network,
    fat_tree,
    leaf_spine,
    ports,
    slow_link,
    timeout_ps,
)
from ...scenario import Scenario
from ..outcome import Size
from . import traffic

CHOSEN = (
    "Mean over seeds. The seed draws the permutations of 1024 hosts; uet-htsim reads a fixed one. Completion is at the "
    "sender, as there: the answer to its last packet has arrived."
)

LARGE = 1024
"""Set-ups with this many hosts have fewer seeds."""
MANY_PACKETS = 500
"""The large queues of the lists."""
FIRST_WINDOW = 50
"""Packets of the initial window with `-cwnd 50`."""
ENTROPIES, DEFAULT_ENTROPIES = 128, 64
"""Entropies with `-paths 128`, and without `-paths`."""


@dataclass(frozen=True)
class Setup:
    """One scenario; `queue` (default: a bandwidth-delay product) and `initial_window` (1.5 of these) are in packets."""

    name: str
    network: Network
    flows: str
    entropies: int = ENTROPIES
    choice: str = "mixed"
    queue: int | None = None
    ack_bytes: int = SACK_BYTES
    has_slow_link: bool = False
    initial_window: int | None = None

    def scenario(self, seeds: int) -> Scenario:
        """Its scenario with that many seeds."""
        return Scenario.from_text(text(self, seeds), f"{self.name}.toml")


SMALL_TREE, MIDDLE_TREE, LARGE_TREE = fat_tree(4), fat_tree(8), fat_tree(16)
SMALL, BIG = traffic.shift(), traffic.permutation(1024)
EACH = 4000
"""`-sack_threshold 4000`: an answer to each packet."""

SETUPS: tuple[Setup, ...] = (
    Setup("one", SMALL_TREE, traffic.one(), DEFAULT_ENTROPIES),
    Setup("two-directions", SMALL_TREE, traffic.two_directions(), DEFAULT_ENTROPIES),
    Setup("incast-16", SMALL_TREE, traffic.incast(16, traffic.LONG), DEFAULT_ENTROPIES),
    Setup("incast-128", MIDDLE_TREE, traffic.incast(128, traffic.LONG), DEFAULT_ENTROPIES),
    Setup(
        "incast-1024", LARGE_TREE, traffic.incast(1024, traffic.SMALL), DEFAULT_ENTROPIES, initial_window=FIRST_WINDOW
    ),
    Setup("beside-long", MIDDLE_TREE, traffic.beside_long(), DEFAULT_ENTROPIES, initial_window=FIRST_WINDOW),
    Setup("outcast-incast", MIDDLE_TREE, traffic.outcast_incast(), DEFAULT_ENTROPIES),
    Setup("small", SMALL_TREE, SMALL),
    Setup("small-slow-link", SMALL_TREE, SMALL, has_slow_link=True),
    Setup("small-one-path", SMALL_TREE, SMALL, entropies=1),
    Setup("large-mixed", LARGE_TREE, BIG),
    Setup("large-slow-link", LARGE_TREE, BIG, has_slow_link=True),
    Setup("large-one-path", LARGE_TREE, BIG, entropies=1),
    Setup("oversubscribed-4", leaf_spine(4), BIG),
    Setup("oversubscribed-8", leaf_spine(8), BIG),
    Setup("oblivious", LARGE_TREE, BIG, choice="oblivious"),
    Setup("oblivious-long-queues", LARGE_TREE, BIG, choice="oblivious", queue=MANY_PACKETS),
    Setup("bitmap", LARGE_TREE, BIG, choice="bitmap"),
    Setup("bitmap-long-queues", LARGE_TREE, BIG, choice="bitmap", queue=MANY_PACKETS),
    Setup("reps-each", LARGE_TREE, BIG, choice="reps", ack_bytes=EACH),
    Setup("reps-each-long-queues", LARGE_TREE, BIG, choice="reps", ack_bytes=EACH, queue=MANY_PACKETS),
    Setup("reps", LARGE_TREE, BIG, choice="reps"),
    Setup("mixed-each", LARGE_TREE, BIG, ack_bytes=EACH),
    Setup("mixed-each-long-queues", LARGE_TREE, BIG, ack_bytes=EACH, queue=MANY_PACKETS),
)

SEEDS: dict[Size, tuple[int, int]] = {Size.quick: (8, 4), Size.standard: (16, 8), Size.paper: (32, 32)}
"""Seeds of set-ups with fewer than `LARGE` hosts, and of the others."""


def scenarios(size: Size) -> Iterator[tuple[str, Scenario]]:
    """Name and scenario of each set-up."""
    few, large = SEEDS[size]
    for setup in SETUPS:
        yield setup.name, setup.scenario(large if setup.network.hosts >= LARGE else few)


def text(setup: Setup, seeds: int) -> str:
    """The scenario of a set-up as TOML."""
    network = setup.network
    queue = setup.queue or network.queue
    first = f"initial_window = {setup.initial_window}\n" if setup.initial_window else ""
    return f"""\
name = "uet validation, {setup.name}"

[fabric]
{network.shape}
rate = "100 Gbps"
delay = "1 us"
overhead = "ethernet-frame"
{ports(network, queue)}
{slow_link(network) if setup.has_slow_link else ""}
[traffic]
{setup.flows}

[scheme]
name = "ecmp"

[transport]
protocol = "uec"
mtu = {PAYLOAD}
header = {HEADER}
base_rtt = "{network.rtt_ps} ps"
rto = "{timeout_ps(queue)} ps"
ack_bytes = "{setup.ack_bytes} B"
answer_requests = false
entropies = {setup.entropies}
entropy_choice = "{setup.choice}"
{first}
[run]
duration = "1 ms"
limit = "100 ms"
seeds = {seeds}

[measure]
interval = "100 us"
"""
