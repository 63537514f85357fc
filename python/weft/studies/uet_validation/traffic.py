"""The traffic of the validation lists as tables of a scenario.

uet-htsim reads fixed matrices, and the starts in them as microseconds. The large permutations are drawn here by the
seed; the other flows are the same in each run.
"""

from collections.abc import Iterable
from typing import NamedTuple

LONG, SHORT, SMALL = "2 MB", "250 kB", "100 kB"
"""Sizes of flows."""


class Flow(NamedTuple):
    """A flow between two hosts."""

    source: int
    to: int
    size: str
    start: str = "0 s"


def permutation(hosts: int) -> str:
    """Each host sends 2 MB to another one, and receives from another one."""
    return f"""\
pairs = "permutation"
arrivals = "at-once"
flows = {hosts}
sizes = {{ fixed = "{LONG}" }}"""


def shift() -> str:
    """Each of 16 hosts sends to the fifth one after it: all flows leave their pods, as in the list's permutation."""
    return _listed(Flow(source, (source + 5) % 16, LONG) for source in range(16))


def incast(hosts: int, size: str) -> str:
    """All other hosts send to host 0."""
    return _listed(Flow(source, 0, size) for source in range(1, hosts))


def one() -> str:
    """One flow between two pods of 16 hosts."""
    return _listed([Flow(0, 13, LONG)])


def two_directions() -> str:
    """Two hosts in two pods of 16 hosts send to each other."""
    return _listed([Flow(0, 13, LONG), Flow(13, 0, LONG)])


def beside_long() -> str:
    """A long flow of 128 hosts, and 40 us later two short ones to its destination, all from different pods."""
    return _listed([Flow(127, 0, LONG), *(Flow(source, 0, SHORT, "40 us") for source in (95, 61))])


def outcast_incast() -> str:
    """Hosts 1 to 3 send to host 0; host 2 also sends to hosts 4 to 12, host 3 to hosts 13 to 21."""
    incoming = [Flow(source, 0, LONG) for source in (1, 2, 3)]
    outgoing = [Flow(source, to, LONG) for source, first in ((2, 4), (3, 13)) for to in range(first, first + 9)]
    return _listed([*incoming, *outgoing])


def _listed(flows: Iterable[Flow]) -> str:
    each = (
        f'    {{ src = "h{source}", dst = "h{to}", bytes = "{size}", start = "{start}" }},\n'
        for source, to, size, start in flows
    )
    return f"flow_list = [\n{''.join(each)}]"
