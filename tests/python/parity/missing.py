"""An interface of a switch that is missing when the switch starts, and is created later."""

from __future__ import annotations

import contextlib
import itertools
import signal
import time

from waiting import paced

from .cell import Cell
from .fabric import MTU, Fabric
from .frames import REQUEST, gratuitous, mac
from .netns import wire
from .stations import Address, address, datagram, flow, introduce, number_of, others, undisturbed
from .tap import Tap

_LEAF, _PORT = "leaf1", "p3"
_BOUND_MS = 1000.0
_GAP = 0.005
_PATIENCE_S = 5.0
"""Longest wait for frames through the new interface."""
_numbers = itertools.count(0x9000, 0x20)


def measure(fabric: Fabric) -> dict[str, Cell]:
    """The row: the times from the moment a missing interface is created and up until it carries frames."""
    cell, base, roamer = Cell(), next(_numbers), fabric.spaces["roamer"]
    newcomer, peer = address(base + 16), address(base + 17)
    with others(fabric, base) as streams:
        fabric.restart(_LEAF, signal.SIGKILL, lambda: roamer.ip("link del dev eth0"))
        flow(streams)
        wire((fabric.spaces[_LEAF], _PORT), (roamer, "eth0"), mtu=MTU)
        if fabric.bridged:
            fabric.spaces[_LEAF].ip(f"link set dev {_PORT} master br0")
        created = time.time()
        for way, milliseconds in _first_frames(fabric, newcomer, peer, created).items():
            cell.time(way, milliseconds, _BOUND_MS)
        flow(streams)
        with Tap(roamer) as a, Tap(fabric.spaces["h3"]) as b:
            met = introduce((a, newcomer), (b, address(base + 18)))
    fabric.settle()
    undisturbed(cell, streams)
    cell.fact("new hosts find each other afterwards", met, True)
    return {f"an interface of {_LEAF} is missing when it starts, and is created later": cell}


def _first_frames(fabric: Fabric, newcomer: Address, peer: Address, since: float) -> dict[str, float | None]:
    """The times until frames from and to the new interface arrive, in milliseconds after `since`."""
    first: dict[str, float | None] = {"to h2": None, "to h4": None, "from h2": None}
    with contextlib.ExitStack() as stack:
        new = stack.enter_context(Tap(fabric.spaces["roamer"]))
        taps = {host: stack.enter_context(Tap(fabric.spaces[host])) for host in ("h2", "h4")}
        for number in paced(_GAP):
            new.send(gratuitous(REQUEST, newcomer))
            taps["h2"].send(datagram(peer, newcomer, number))
            for host, tap in taps.items():
                for heard in tap.read():
                    if heard.frame[6:12] == mac(newcomer[0]) and first[f"to {host}"] is None:
                        first[f"to {host}"] = (heard.at - since) * 1000
            for heard in new.read():
                if heard.frame[6:12] == mac(peer[0]) and number_of(heard) is not None and first["from h2"] is None:
                    first["from h2"] = (heard.at - since) * 1000
            if None not in first.values() or time.time() - since > _PATIENCE_S:
                return first
    return first
