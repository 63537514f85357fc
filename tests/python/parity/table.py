"""The table's rows: the list of cases, and their intended differences from the bridge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import carried, configuring, crowds, faults, floods, groups, idle, kernel, missing, moves
from .cell import Cell
from .fabric import Fabric


@dataclass(frozen=True)
class Case:
    """A case: one row, or several that are measured together.

    Attributes:
        name: Its name.
        run: Runs it in a network; returns cells by row.
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
    "loads": (
        Case("frames to many", floods.measure),
        Case("crowds", crowds.measure),
        Case("groups", groups.measure),
    ),
    "faults": (
        Case("restarts", faults.restarts),
        Case("missing interfaces", missing.measure),
        Case("hangs", faults.hangs),
        Case("pins", faults.pins),
        Case("links", faults.links),
        Case("gray links", faults.gray),
    ),
}
"""The cases of one network, run sequentially; networks run in parallel."""


@dataclass(frozen=True)
class Meant:
    """An intended difference from the bridge, with its exact value.

    Attributes:
        found: The fact's value in every mode.
        why: The reason, as in docs/linux-switch.md.
    """

    found: object
    why: str


_NOWHERE = [0, 0, 0, 0]
_OF_SWITCHES = "Weft's EtherTypes are reserved for switches: frames from hosts are untrusted"
MEANT: dict[tuple[str, str], Meant] = {
    ("STP", "STP"): Meant(
        _NOWHERE, "a fabric has loops and no spanning tree: foreign BPDUs would describe a tree that does not exist"
    ),
    ("Weft's own EtherTypes, from hosts", "Hello to a station"): Meant(_NOWHERE, _OF_SWITCHES),
    ("Weft's own EtherTypes, from hosts", "Path frame to a station"): Meant(_NOWHERE, _OF_SWITCHES),
    ("Weft's own EtherTypes, from hosts", "Path frame to all"): Meant(_NOWHERE, _OF_SWITCHES),
}
"""By row and fact."""

_LEARNS = "a bridge learns a host's location only from frames that pass through it"
_CARRIER = "a bridge port forwards once the kernel reports its carrier, up to 1 s after the host's first frame"
_ROUTERS = "with a querier, a bridge sends groups that nobody has reported to routers only"
_REROUTES = "with STP, flows stop until the link heals, or seconds longer"
_LINKS = (("link of leaf1 to spine1", ""), ("link elsewhere", ": 8 flows to its leaf"))
_HEARS = "STP keeps a link as long as the messages of the bridge nearer to the root arrive there"
_HOSTS = ("from h2", "from h4")
BRIDGE_FALLS_SHORT: dict[tuple[str, str], str] = {
    **{(f"{family} groups, with a querier", "unknown group"): _ROUTERS for family in ("IPv4", "IPv6")},
    ("host moves between live ports, then sends a datagram", "from h4"): _LEARNS,
    **{("host is plugged into another leaf, sends gratuitous ARP Request", name): _CARRIER for name in _HOSTS},
    **{("host is plugged into another leaf, sends a datagram", name): f"{_CARRIER}; {_LEARNS}" for name in _HOSTS},
    **{("host is plugged into another leaf, sends nothing", name): _LEARNS for name in _HOSTS},
    **{(f"{link} loses its carrier{flows}", "longest outage"): _REROUTES for link, flows in _LINKS},
    **{(f"{link} fails silently{flows}", "longest outage"): _REROUTES for link, flows in _LINKS},
    ("link of leaf1 to spine1 loses all that the leaf sends", "longest outage"): _HEARS,
    ("link of leaf1 to spine1 loses a fifth of the frames", "new flows lose a tenth"): _HEARS,
}
"""By row and name: where Weft must do better than a bridge, and the bridge's limitation."""
