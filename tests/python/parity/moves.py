"""Hosts that move, and hosts that share an address."""

from __future__ import annotations

import itertools
import time

from waiting import paced, until

from .cell import Cell
from .fabric import LEAVES, Fabric
from .frames import REQUEST, advertisement, gratuitous, mac, virtual_router, vrrp
from .stations import Address, address, datagram, introduce, number_of, others, undisturbed
from .tap import Tap

_ANNOUNCED_MS, _SILENT_MS = 100.0, 1000.0
_GAP = 0.005
_AWAY = 1.2
"""Seconds to wait for a host that has moved."""
_BEFORE = 0.2
"""Seconds for which its peers send before it moves."""
_ENDS = ("eth0", "eth1")
_numbers = itertools.count(1)


def measure(fabric: Fabric) -> dict[str, Cell]:
    """All rows."""
    cells = {}
    for how in ("gratuitous ARP Request", "gratuitous ARP Reply", "unsolicited NA", "a datagram"):
        bound = _SILENT_MS if how == "a datagram" else _ANNOUNCED_MS
        cells[f"host moves between live ports, then sends {how}"] = _moves(fabric, how, replugged=False, bound=bound)
    for how in ("gratuitous ARP Request", "a datagram", "nothing"):
        bound = _ANNOUNCED_MS if how.startswith("gratuitous") else _SILENT_MS
        cells[f"host is plugged into another leaf, sends {how}"] = _moves(fabric, how, replugged=True, bound=bound)
    for how, named in (("VRRP", "advertisement and gratuitous ARP"), ("a VRRP advertisement", "advertisement only")):
        cells[f"virtual router moves, {named}"] = _moves(fabric, how, replugged=False, bound=_ANNOUNCED_MS)
    cells["two hosts with one MAC address"] = _duplicates(fabric)
    return cells


def _moves(fabric: Fabric, how: str, *, replugged: bool, bound: float) -> Cell:
    """Moves a host there and back while a host at each leaf sends to it: the time until frames from each arrive."""
    cell, roamer = Cell(), fabric.spaces["roamer"]
    for end in _ENDS:
        _carrier(fabric, end, up=True)
    # The last row may have left an end unplugged.
    fabric.settle()
    number, callers = next(_numbers), {}
    mover = address(0x300 + number)
    if "VRRP" in how:
        mover = virtual_router(number), mover[1]
    ends = [Tap(roamer, end) for end in _ENDS]
    for host in ("h2", "h4"):
        callers[host] = (Tap(fabric.spaces[host]), address(0x400 + next(_numbers)))
    if replugged:
        _carrier(fabric, _ENDS[1], up=False)
        fabric.settle()
    found = [introduce(caller, (ends[0], mover)) for caller in callers.values()]
    cell.fact("found at first", found, [True, True])
    worst: dict[str, float | None] = dict.fromkeys(callers, 0.0)
    for old, new in ((0, 1), (1, 0), (0, 1)):
        took = _one_move(fabric, how, replugged, mover, callers, ends, old, new)
        for host, milliseconds in took.items():
            before = worst[host]
            worst[host] = None if before is None or milliseconds is None else max(before, milliseconds)
    for host, milliseconds in worst.items():
        cell.time(f"from {host}", milliseconds, bound)
    for tap in (*ends, *(tap for tap, _ in callers.values())):
        tap.close()
    return cell


def _one_move(
    fabric: Fabric,
    how: str,
    replugged: bool,
    mover: Address,
    callers: dict[str, tuple[Tap, Address]],
    ends: list[Tap],
    old: int,
    new: int,
) -> dict[str, float | None]:
    sources = {mac(at[0]): host for host, (_, at) in callers.items()}
    for end in ends:
        end.read()
    number, moved = itertools.count(), None
    first: dict[str, float] = {}
    begun = time.monotonic()
    last = float("inf")
    for _ in paced(_GAP):
        for tap, at in callers.values():
            tap.send(datagram(at, mover, next(number)))
        if moved is None and time.monotonic() - begun >= _BEFORE:
            if replugged:
                _carrier(fabric, _ENDS[old], up=False)
                _carrier(fabric, _ENDS[new], up=True)
            ends[new].read()
            # The clock starts here, however long plugging in took on a busy machine.
            moved, last = time.time(), time.monotonic() + _AWAY
            _speak(how, ends[new], mover, callers["h2"][1])
        for heard in ends[new].read():
            source = sources.get(heard.frame[6:12])
            if (
                moved is not None
                and source
                and heard.frame[:6] == mac(mover[0])
                and number_of(heard) is not None
                and heard.at >= moved
            ):
                first.setdefault(source, (heard.at - moved) * 1000)
        if time.monotonic() >= last or len(first) == len(callers):
            break
    # The host answers from its new place, as real hosts do; the next move starts there.
    answered: set[str] = set()

    def call_and_read() -> bool:
        for host, (tap, at) in callers.items():
            if host not in answered:
                ends[new].send(datagram(mover, at, 0, b"here"))
            if any(number_of(heard, b"here") is not None for heard in tap.read()):
                answered.add(host)
        return answered == set(callers)

    until("the host answers from its new place", call_and_read, state=lambda: answered)
    return {host: first.get(host) for host in callers}


def _speak(how: str, tap: Tap, mover: Address, caller: Address) -> None:
    if how == "gratuitous ARP Request":
        tap.send(gratuitous(REQUEST, mover))
    elif how == "gratuitous ARP Reply":
        tap.send(gratuitous(2, mover))
    elif how == "unsolicited NA":
        tap.send(advertisement((mover[0], "fd00:aa::33")))
    elif "VRRP" in how:
        # In the order of RFC 9568, 6.4.2.
        tap.send(vrrp(mover))
        if how == "VRRP":
            tap.send(gratuitous(REQUEST, mover))
    elif how == "a datagram":
        tap.send(datagram(mover, caller, 0))


def _carrier(fabric: Fabric, end: str, *, up: bool) -> None:
    """Plug one end of the roamer in or out; the leaf's port gains or loses its carrier."""
    fabric.spaces["roamer"].ip(f"link set dev {end} {'up' if up else 'down'}")


def _duplicates(fabric: Fabric) -> Cell:
    """Two stations with the same MAC address, one at each leaf, send to two others while other streams run."""
    cell = Cell()
    twin = address(0x501)
    partners = address(0x502), address(0x503)
    with others(fabric, 0x510) as streams, Tap(fabric.spaces["h2"]) as here, Tap(fabric.spaces["h4"]) as there:
        for _, number in zip(paced(0.02), range(150), strict=False):
            for tap, partner in ((here, partners[0]), (there, partners[1])):
                tap.send(datagram(twin, partner, number))
                if number % 20 == 0:
                    tap.send(gratuitous(REQUEST, twin))
    undisturbed(cell, streams)
    if not fabric.bridged:
        until("the station is named in a log", lambda: any(twin[0] in fabric.log(name) for name in LEAVES))
    return cell
