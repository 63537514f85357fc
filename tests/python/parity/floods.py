"""Frames to many: broadcasts, groups, addresses of clusters and of stations that never send, at several rates."""

from __future__ import annotations

import contextlib
import errno
import socket
import struct
import time
from collections.abc import Iterator

from .cell import Cell
from .fabric import FULL, Fabric
from .frames import BROADCAST, ether
from .tap import Tap

_RATES = (500, 2_000, 10_000, 40_000)
"""Frames per second from one port; a bridge passes all of them."""
_FULL_S, _SHORT_S = 2.0, 0.4
"""How long frames are sent at each rate."""
_KIND = 0x88B5
"""An EtherType for local experiments (IEEE 802): no other traffic has it."""
_BATCH, _IN_FLIGHT = 10, 40
"""Frames sent at once, and sent before they arrive: a busy machine makes the sender slower, and loses none."""
_PATIENCE_S = 3.0
"""Time without an arrival after which frames count as lost."""
_SOL_PACKET, _STATISTICS = 263, 6
_SENDER = "02:aa:00:05:00:01"
_TO = {
    "broadcast": BROADCAST,
    "multicast": "01:00:5e:01:02:03",
    "a station that never sends": "02:aa:00:05:00:02",
    "a cluster's unicast address": "02:bf:0a:00:00:64",
    "a cluster's multicast address": "03:bf:0a:00:00:64",
}
_AT = ("h2", "h3", "h4")


def measure(fabric: Fabric) -> dict[str, Cell]:
    """All rows."""
    cells = {}
    seconds = _FULL_S if fabric.pace is FULL else _SHORT_S
    with Tap(fabric.spaces["h1"]) as out:
        for name, to in _TO.items():
            cell = cells[f"frames to {name}"] = Cell()
            frame = ether(to, _SENDER, _KIND, bytes(86))
            for rate in _RATES:
                cell.fact(f"% at {rate}/s", _shares(fabric, out, frame, rate, round(rate * seconds)), [100] * len(_AT))
    return cells


class _Counter:
    """Counts the frames that arrive at a host, whether or not the socket has room for them."""

    def __init__(self, fabric: Fabric, host: str) -> None:
        self._socket = fabric.spaces[host].socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_KIND))
        self._total = 0

    def __call__(self) -> int:
        # The kernel counts from the last call.
        self._total += int(struct.unpack("II", self._socket.getsockopt(_SOL_PACKET, _STATISTICS, 8))[0])
        return self._total

    def close(self) -> None:
        self._socket.close()


def _shares(fabric: Fabric, out: Tap, frame: bytes, rate: int, count: int) -> list[int]:
    """The share of the frames that arrives at each of the other hosts, in percent."""
    counters = [_Counter(fabric, host) for host in _AT]
    lost = 0
    for sent in batches(rate, count, _BATCH):
        for _ in range(min(_BATCH, count - sent)):
            send(out, frame)
        # What is lost does not slow down the rest.
        lost = lost or _await(counters, sent - _IN_FLIGHT)
    _await(counters, count - lost)
    shares = [round(100 * counter() / count) for counter in counters]
    for counter in counters:
        counter.close()
    return shares


def _await(counters: list[_Counter], count: int) -> int:
    """Wait until this many frames have arrived everywhere, or no more arrive; returns how many are missing."""
    most, end = 0, time.monotonic() + _PATIENCE_S
    while (least := min(counter() for counter in counters)) < count and time.monotonic() < end:
        if least > most:
            most, end = least, time.monotonic() + _PATIENCE_S
        time.sleep(0.001)
    return max(0, count - least)


def send(out: Tap, frame: bytes) -> None:
    """Send a frame as soon as the kernel has room for it: on a busy machine its queue may be full."""
    while True:
        try:
            return out.send(frame)
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
        time.sleep(0.001)


def batches(rate: int, count: int, size: int) -> Iterator[int]:
    """The numbers of the first frames of batches, each when it is due at this rate per second."""
    due = time.monotonic()
    for first in range(0, count, size):
        with contextlib.suppress(ValueError):  # It is late.
            time.sleep(due - time.monotonic())
        yield first
        due += size / rate
