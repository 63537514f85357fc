"""The flows of the study, and the flow tables that carry them.

A flow is a pair of addresses, and a rule matches exactly these, as in the paper. Servers have one address each; the
load consists of `LOAD` flows between servers of different pods, each with its own addresses, like virtual machines, so
that every flow needs its own rule. Filler rules are for unused addresses.
"""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, permutations

from .fabric import SERVERS, Hop, Way, pod, way

LOAD = 8_000
"""Concurrent UDP flows."""
_SOURCES, _DESTINATIONS = (int(ipaddress.IPv4Address(first)) for first in ("172.16.0.0", "172.24.0.0"))
EXAMPLE = ("172.31.0.1", "172.31.0.2")
"""Addresses of the paper's example."""
_NOBODY, _NOWHERE = (int(ipaddress.IPv4Address(first)) for first in ("100.64.0.0", "100.96.0.0"))
"""Addresses of filler rules: shared address space (RFC 6598)."""


@dataclass(frozen=True)
class Flow:
    """Packets between two addresses of two servers, and their path."""

    source: str
    destination: str
    from_server: str
    to_server: str
    way: Way
    queue: int = 0


@dataclass(frozen=True)
class Passing:
    """A flow at a switch of its path."""

    flow: Flow
    hop: Hop

    @property
    def is_first(self) -> bool:
        """Whether it is the source's switch."""
        return self.hop is self.flow.way.hops[0]


def of_servers(addresses: dict[str, str]) -> list[Flow]:
    """One from each server to every other, spread evenly over all paths, as counted by `_weft.tag_forward_state`."""
    place = {server: number for number, server in enumerate(SERVERS)}
    return [
        Flow(addresses[a], addresses[b], a, b, way(a, b, place[a] + place[b] // 2)) for a, b in permutations(SERVERS, 2)
    ]


def of_load() -> list[Flow]:
    """The load: equally many from each server, spread evenly over servers of other pods and over cores."""
    pairs = [(a, b) for a, b in permutations(SERVERS, 2) if pod(a) != pod(b)]
    return [
        Flow(
            _dotted(_SOURCES + number), _dotted(_DESTINATIONS + number), a, b, way(a, b, number // len(pairs) + number)
        )
        for number, (a, b) in zip(range(LOAD), cycle(pairs), strict=False)
    ]


def example() -> Flow:
    """The flow of section IV: from the first server of es1 to the first of es8 over cs2, in queue 1."""
    source, destination = EXAMPLE
    return Flow(source, destination, SERVERS[0], SERVERS[-2], way(SERVERS[0], SERVERS[-2], 1), 1)


def at_switches(flows: Sequence[Flow]) -> dict[str, list[Passing]]:
    """The flows that pass each switch."""
    passing: dict[str, list[Passing]] = {}
    for flow in flows:
        for hop in flow.way.hops:
            passing.setdefault(hop.switch, []).append(Passing(flow, hop))
    return passing


def filling(count: int) -> Iterator[tuple[str, str]]:
    """The addresses of rules that only fill a table."""
    return ((_dotted(_NOBODY + number), _dotted(_NOWHERE + number)) for number in range(count))


def _dotted(number: int) -> str:
    return str(ipaddress.IPv4Address(number))
