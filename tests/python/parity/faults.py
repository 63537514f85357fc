"""Faults in the network: daemons that restart or hang, deleted pins, links that fail, loops on host ports."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from waiting import paced, until

from .cell import Cell
from .fabric import FABRIC_MTU, HOSTS, ROUTED, Fabric, host_address
from .frames import BROADCAST, ether
from .netns import run
from .stations import GAP, PORT, Stream, address, flow, introduce, others, undisturbed
from .tap import Tap

_JOINED = ("w1", "w2", "x", "y")
"""Ports that a case may form a loop with."""
_CIRCLING = 5000

_WAYS = (("h1", "h3"), ("h3", "h1"), ("h2", "h4"), ("h4", "h2"))
_TO_LEAF1 = (("h3", "h1"), ("h3", "h2"), ("h4", "h1"), ("h4", "h2"))
_PORTS = (PORT, PORT + 1)
_FIFTH = "4,32 0 0 4294963256,53 1 0 858993459,6 0 0 4,6 0 0 4294967295"
"""A classic BPF program that loses 20 % of the frames, at random; their sender is not told (TC_ACT_STOLEN)."""
_TOLERATED = 0.1
"""The share of datagrams that new flows may lose once the network knows of such a link: one of four may take it."""

_base = iter(range(0x600, 0xF000, 0x20))


def restarts(fabric: Fabric) -> dict[str, Cell]:
    """One row per switch and way of ending its daemon."""
    cells = {}
    for name in ("leaf1", "spine1"):
        for what, number in (("restarts", signal.SIGTERM), ("is killed and starts", signal.SIGKILL)):
            cells[f"daemon of {name} {what}"] = _while(
                fabric, lambda name=name, number=number: fabric.restart(name, number)
            )
    return cells


def hangs(fabric: Fabric) -> dict[str, Cell]:
    """One row per switch whose daemon hangs for ten times the Hello hold time."""
    cells = {}
    for name in ("leaf1", "spine1"):
        met = []

        def hang(name: str = name, met: list[bool] = met) -> None:
            with fabric.hung(name):
                fabric.hellos(25)
                met.append(_meet(fabric, next(_base)))
                fabric.hellos(5)

        cell = _while(fabric, hang)
        cell.fact("new hosts find each other during it", met, [True])
        cells[f"daemon of {name} hangs"] = cell
    return cells


def pins(fabric: Fabric) -> dict[str, Cell]:
    """One row per switch whose pins are deleted."""
    cells = {}
    for name in ("leaf1", "spine1"):
        hold = 3.0 * fabric.pace.hello
        cells[f"pins of {name} are deleted"] = _while(fabric, lambda name=name: fabric.remove_pins(name), hold_ms=hold)
        fabric.restart(name, signal.SIGKILL)
        fabric.settle()
    return cells


def links(fabric: Fabric) -> dict[str, Cell]:
    """One row per way in which a link between a leaf and a spine fails: the outage of flows from and to that leaf."""
    fabric.with_second_spine()
    ends = (("leaf1", "u1"), ("spine1", "d1"))
    hello = fabric.pace.hello

    def carrier(works: bool) -> None:
        fabric.spaces["leaf1"].ip(f"link set dev u1 {'up' if works else 'down'}")

    def silent(works: bool) -> None:
        for name, port in ends:
            _lose_all(fabric, name, port, works)

    def one_way(works: bool) -> None:
        _lose_all(fabric, *ends[0], works)

    def long_frames(works: bool) -> None:
        fabric.spaces["leaf1"].ip(f"link set dev u1 mtu {FABRIC_MTU if works else 1400}")

    return {
        "link of leaf1 to spine1 loses its carrier": _link(fabric, carrier, 2.0 * hello),
        "link of leaf1 to spine1 fails silently": _link(fabric, silent, 4.0 * hello),
        "link of leaf1 to spine1 has an MTU of 1400": _link(fabric, long_frames, 2.0 * hello, filling=1464),
        # The spine closes it after the hold time, and says so at once.
        "link of leaf1 to spine1 loses all that the leaf sends": _link(fabric, one_way, 4.0 * hello),
        "link elsewhere loses its carrier: 8 flows to its leaf": _link(
            fabric, carrier, 2.0 * hello, ways=_TO_LEAF1, ports=_PORTS
        ),
        "link elsewhere fails silently: 8 flows to its leaf": _link(
            fabric, silent, 5.0 * hello, ways=_TO_LEAF1, ports=_PORTS
        ),
    }


def _lose_all(fabric: Fabric, name: str, port: str, works: bool) -> None:
    """Lose all frames that leave a port, unless it works."""
    words = ("del", "dev", port, "root") if works else ("replace", "dev", port, "root", "blackhole")
    run(*fabric.spaces[name].command("tc", "qdisc", *words))


def gray(fabric: Fabric) -> dict[str, Cell]:
    """The row: a link loses a fifth of the frames in one direction; flows that start later avoid it."""
    fabric.with_second_spine()
    fabric.tolerate_losses()
    cell, leaf = Cell(), fabric.spaces["leaf1"]
    program = Path("/run/fifth")
    program.write_text(_FIFTH, encoding="ascii")
    run(*leaf.command("tc", "qdisc", "add", "dev", "u1", "clsact"))
    run(*leaf.command("tc", "filter", "add", "dev", "u1", "egress", *f"bpf da bytecode-file {program}".split()))
    fabric.avoids("leaf1", "u1")
    hosts = {host: (host_address(host), f"10.0.0.{host[1:]}") for host in HOSTS}
    ways = (("h1", "h3"), ("h2", "h4"))
    if fabric.kind in ROUTED:
        streams = [Stream(fabric, (a, hosts[a]), (b, hosts[b]), port=port) for port in _PORTS for a, b in ways]
    else:
        # Hosts without an entry on any switch: their flows are explored.
        base = next(_base)
        streams = [
            Stream(fabric, (a, address(base + 2 * at)), (b, address(base + 2 * at + 1)))
            for at, (a, b) in enumerate(2 * ways)
        ]
    flow(streams, 200)
    for stream in streams:
        stream.end()
    run(*leaf.command("tc", "qdisc", "del", "dev", "u1", "clsact"))
    lost = sum(stream.lost for stream in streams) / sum(len(stream.sent) for stream in streams)
    print(f"{fabric.kind}: new flows lose {100 * lost:.1f} %", file=sys.stderr)
    cell.fact("new flows lose a tenth", lost > _TOLERATED, False)
    return {"link of leaf1 to spine1 loses a fifth of the frames": cell}


def _link(
    fabric: Fabric,
    works: Callable[[bool], None],
    bound_ms: float,
    filling: int = 18,
    ways: Sequence[tuple[str, str]] = _WAYS,
    ports: Sequence[int] = (PORT,),
) -> Cell:
    """The longest outage of a flow between hosts, which have routes, while a link fails and works again."""
    cell = Cell()
    hosts = {host: (host_address(host), f"10.0.0.{host[1:]}") for host in HOSTS}
    streams = [
        Stream(fabric, (a, hosts[a]), (b, hosts[b]), filling=filling, port=port) for port in ports for a, b in ways
    ]
    try:
        flow(streams)
        for state in (False, True):
            works(state)
            # Twice the hold time.
            _send(streams, 6.0 * fabric.pace.hello)
    finally:
        for stream in streams:
            stream.end()
    fabric.settle()
    cell.fact("hosts found each other", [stream.known for stream in streams], [True] * len(streams))
    cell.time("longest outage", max(stream.outage_ms for stream in streams), bound_ms)
    return cell


def _send(streams: Sequence[Stream], milliseconds: float) -> None:
    """Wait until streams have sent datagrams for this time, whether or not they arrive."""
    goals = [len(stream.sent) + milliseconds / (1000 * GAP) for stream in streams]
    until("datagrams", lambda: all(len(stream.sent) >= goal for stream, goal in zip(streams, goals, strict=True)))


def _while(fabric: Fabric, happens: Callable[[], None], hold_ms: float | None = None) -> Cell:
    """Losses of running streams during a fault, and whether two new stations find each other afterwards."""
    cell, base = Cell(), next(_base)
    with others(fabric, base) as streams:
        happens()
        if hold_ms is not None:
            # Twice the hold time.
            fabric.hellos(6)
        flow(streams, 100)
        met = _meet(fabric, base + 16)
    undisturbed(cell, streams, lossless=hold_ms is None)
    cell.fact("new hosts find each other afterwards", met, True)
    if hold_ms is not None:
        cell.time("longest outage", max(stream.outage_ms for stream in streams), hold_ms)
    return cell


def _meet(fabric: Fabric, base: int) -> bool:
    """Whether two new stations find each other."""
    with Tap(fabric.spaces["h2"]) as a, Tap(fabric.spaces["h3"]) as b:
        return introduce((a, address(base)), (b, address(base + 1)), patience=1.0)


def loops(fabric: Fabric) -> dict[str, Cell]:
    """Loops on host ports: detected by Hello messages, or not, if fabric ports are configured."""
    fabric.with_stp()
    cells = {}

    def link(leaf: str, port: str, *, up: bool) -> None:
        fabric.spaces[leaf].ip(f"link set dev {port} {'up' if up else 'down'}")

    def same_leaf(up: bool) -> None:
        link("leaf1", "w1", up=up)
        link("leaf1", "w2", up=up)

    def across(up: bool) -> None:
        link("leaf1", "x", up=up)
        link("leaf2", "x", up=up)

    def small(up: bool) -> None:
        fabric.small_switch() if up else fabric.unplug_small_switch()

    for guarded in (False, True):
        if guarded:
            fabric.guard()
        if guarded and fabric.bridged:
            # A bridge has no such list: the results are the same.
            cells |= {f"{row}, fabric ports configured": cell for row, cell in cells.items()}
            break
        known = ", fabric ports configured" if guarded else ""
        cells[f"loop: two host ports of a leaf joined{known}"] = _loop(fabric, same_leaf)
        cells[f"loop: host ports of two leaves joined{known}"] = _loop(fabric, across)
    cells["loop: two leaves joined by an unmanaged switch"] = _loop(fabric, small)
    return cells


def _loop(fabric: Fabric, switch: Callable[[bool], None]) -> Cell:
    cell, base = Cell(), next(_base)
    with others(fabric, base) as streams:
        switch(True)
        fabric.settle()
        flow(streams)
        storm = _broadcasts(cell, fabric, base + 16)
        met = _meet(fabric, base + 18)
        circling = _received(fabric)
        # Hosts that find each other over the loop may be learnt behind it.
        with others(fabric, base + 20):
            circling = _received(fabric) - circling
        switch(False)
        flow(streams)
    fabric.settle()
    undisturbed(cell, streams)
    cell.fact("new hosts find each other", met, True)
    cell.fact("more than 200 other frames at h3 in a second", storm > 200, False)
    # A bridge without STP received 425 000 frames a second, and a leaf that missed the loop 340 000.
    cell.fact("frames circle", circling > _CIRCLING, False)
    return cell


def _received(fabric: Fabric) -> int:
    """Frames received so far on the ports of both leaves that lead to no other switch."""
    total = 0
    for leaf in ("leaf1", "leaf2"):
        with fabric.spaces[leaf].entered():
            table = Path("/proc/thread-self/net/dev").read_text(encoding="ascii")
        counts = (line.split(":") for line in table.splitlines()[2:])
        total += sum(int(values.split()[1]) for name, values in counts if name.strip() in _JOINED)
    return total


def _broadcasts(cell: Cell, fabric: Fabric, base: int) -> int:
    """Ten broadcasts in a second: records their copies at each host; returns the number of other frames at h3."""
    hosts = ("h1", "h2", "h3", "h4")
    taps = {host: Tap(fabric.spaces[host]) for host in hosts}
    source, copies, total = address(base), {host: Counter() for host in hosts}, 0
    for _, number in zip(paced(0.1), range(10), strict=False):
        frame = ether(BROADCAST, source[0], 0x88B5, bytes([number]) * 50)
        taps["h1"].send(frame)
    for host, tap in taps.items():
        for heard in tap.listen(0.1):
            if heard.frame[12:14] == b"\x88\xb5":
                copies[host][heard.frame] += 1
            elif host == "h3" and heard.frame[:2] != b"\x02\xaa":
                total += 1
        tap.close()
    for host in hosts:
        counts = sorted(set(copies[host].values()))
        cell.fact(
            f"copies of a broadcast at {host}", [len(copies[host]), counts], [0, []] if host == "h1" else [10, [1]]
        )
    return total
