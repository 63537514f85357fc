"""Connection matrices in htsim's format, which both simulators read: number of hosts, connections, triggers.

A pair of hosts, and the number of bytes, are the same for both. Flows start at once or when another is acknowledged.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_SEED = 1
"""Seed of random pairs."""
_SIZE = re.compile(r" size (\d+)")


@dataclass(frozen=True)
class Matrix:
    """Flows between `hosts` hosts: a line for each in htsim's format, and a line for each trigger."""

    hosts: int
    flows: tuple[str, ...]
    triggers: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The file."""
        head = [f"Nodes {self.hosts}", f"Connections {len(self.flows)}"]
        if self.triggers:
            head.append(f"Triggers {len(self.triggers)}")
        return "\n".join((*head, *self.flows, *self.triggers)) + "\n"

    @property
    def bytes(self) -> int:
        """The bytes of all flows."""
        return sum(int(size) for size in _SIZE.findall(self.text))


def permutation(hosts: int, size: int) -> Matrix:
    """Every host sends `size` bytes to one other host and receives from one: a random cycle through all hosts."""
    order = list(range(hosts))
    random.Random(_SEED).shuffle(order)
    return _at_once(hosts, size, sorted(zip(order, order[1:] + order[:1], strict=True)))


def incast(hosts: int, size: int) -> Matrix:
    """All other hosts send `size` bytes to host 0."""
    return _at_once(hosts, size, [(source, 0) for source in range(1, hosts)])


def rack_incasts(hosts: int, rack: int, size: int) -> Matrix:
    """In each group of `rack` hosts with consecutive numbers, all others send `size` bytes to the first."""
    pairs = [(source, source - source % rack) for source in range(hosts) if source % rack]
    return _at_once(hosts, size, pairs)


def all_to_all(hosts: int, size: int) -> Matrix:
    """Every host sends `size` bytes to every other host."""
    pairs = [(source, (source + step) % hosts) for source in range(hosts) for step in range(1, hosts)]
    return _at_once(hosts, size, pairs)


def ring_all_reduce(hosts: int, size: int) -> Matrix:
    """Each of `hosts` parts of `size` bytes travels around the ring of hosts twice, less two steps.

    A host passes a part on when the step before is acknowledged, as htsim's `send_done_trigger` says.
    """
    steps = 2 * (hosts - 1)

    def flows() -> Iterator[str]:
        for first in range(hosts):
            for step in range(steps):
                # Flow f ends with trigger f, counted over all parts; the last flow of a part has none.
                number = first * steps + step + 1
                start = "start 0" if step == 0 else f"trigger {number - 1}"
                end = "" if step == steps - 1 else f" send_done_trigger {number}"
                source = (first + step) % hosts
                yield f"{source}->{(source + 1) % hosts} id {number} {start} size {size}{end}"

    numbers = range(1, hosts * steps + 1)
    return Matrix(hosts, tuple(flows()), tuple(f"trigger id {n} oneshot" for n in numbers if n % steps))


def _at_once(hosts: int, size: int, pairs: list[tuple[int, int]]) -> Matrix:
    lines = (f"{source}->{target} id {n} start 0 size {size}" for n, (source, target) in enumerate(pairs, 1))
    return Matrix(hosts, tuple(lines))
