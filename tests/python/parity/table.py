"""The table's rows: one list of cases, and for each what is meant to differ from the bridge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import carried, configuring, faults, idle, kernel, moves
from .cell import Cell
from .fabric import Fabric


@dataclass(frozen=True)
class Case:
    """A case: one row, or several that are measured together.

    Attributes:
        name: What it is called.
        run: Tries it in a network; cells by row.
    """

    name: str
    run: Callable[[Fabric], Mapping[str, Cell]]


GROUPS: dict[str, tuple[Case, ...]] = {
    "idle": (Case("idle hosts", idle.measure),),
    "frames": (
        Case("kinds of frames", carried.measure),
        Case("kernels", kernel.measure),
        Case("configuration", configuring.measure),
    ),
    "moves": (Case("moves", moves.measure), Case("loops", faults.loops)),
    "faults": (Case("restarts", faults.restarts), Case("hangs", faults.hangs), Case("pins", faults.pins)),
}
"""What is tried in one network, one case after another; networks run side by side."""


@dataclass(frozen=True)
class Meant:
    """A difference from the bridge that is meant: then this is how it has to be, exactly.

    Attributes:
        found: The fact's value in every mode.
        why: The reason, as docs/linux-switch.md has it.
    """

    found: object
    why: str


_NOWHERE = [0, 0, 0, 0]
_OF_SWITCHES = "EtherTypes of Weft are the switches' own: a host that sends them is not trusted"
MEANT: dict[tuple[str, str], Meant] = {
    ("STP", "STP"): Meant(
        _NOWHERE, "a fabric has loops and no spanning tree: BPDUs of others would be about a tree that is not there"
    ),
    ("Weft's own EtherTypes, from hosts", "Hello to a station"): Meant(_NOWHERE, _OF_SWITCHES),
    ("Weft's own EtherTypes, from hosts", "Path frame to a station"): Meant(_NOWHERE, _OF_SWITCHES),
    ("Weft's own EtherTypes, from hosts", "Path frame to all"): Meant(_NOWHERE, _OF_SWITCHES),
}
"""By row and fact."""

_LEARNS = "a bridge learns where a host is only from frames that come by it"
_CARRIER = "a bridge's port forwards when the kernel tells of its carrier, up to a second after the host's first frame"
_HOSTS = ("from h2", "from h4")
BRIDGE_FALLS_SHORT: dict[tuple[str, str], str] = {
    ("host moves between live ports, then sends a datagram", "from h4"): _LEARNS,
    **{("host is plugged into another leaf, sends gratuitous ARP Request", name): _CARRIER for name in _HOSTS},
    **{("host is plugged into another leaf, sends a datagram", name): f"{_CARRIER}; {_LEARNS}" for name in _HOSTS},
    **{("host is plugged into another leaf, sends nothing", name): _LEARNS for name in _HOSTS},
}
"""By row and name: where Weft has to do what a bridge does not, and why the bridge does not."""
