"""Frames to many: broadcasts, groups, addresses of clusters and of stations that never send, at several rates."""

from __future__ import annotations

import socket
import struct
import time

from .cell import Cell
from .fabric import Fabric
from .frames import BROADCAST, ether
from .tap import Tap

_RATES = (500, 2_000, 10_000, 40_000)
"""Frames per second from one port; a bridge passes all of them."""
_SECONDS = 0.5
"""How long frames are sent at each rate."""
_KIND = 0x88B5
"""An EtherType for local experiments (IEEE 802): no other traffic has it."""
_SETTLE_S = 0.3
"""Time until the last frames have arrived."""
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
    with Tap(fabric.spaces["h1"]) as out:
        for name, to in _TO.items():
            cell = cells[f"frames to {name}"] = Cell()
            frame = ether(to, _SENDER, _KIND, bytes(86))
            for rate in _RATES:
                cell.fact(f"% at {rate}/s", _shares(fabric, out, frame, rate), [100] * len(_AT))
    return cells


def _shares(fabric: Fabric, out: Tap, frame: bytes, rate: int) -> list[int]:
    """The share of the frames that arrives at each of the other hosts, in percent."""
    counts = [fabric.spaces[host].socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_KIND)) for host in _AT]
    sent = paced_sends(out, [frame], rate, round(rate * _SECONDS))
    time.sleep(_SETTLE_S)
    heard = [_arrived(one) for one in counts]
    for one in counts:
        one.close()
    return [round(100 * count / sent) for count in heard]


def _arrived(counts: socket.socket) -> int:
    """The frames that have arrived at a socket, whether or not it has room for them."""
    return int(struct.unpack("II", counts.getsockopt(_SOL_PACKET, _STATISTICS, 8))[0])


def paced_sends(out: Tap, frames: list[bytes], rate: int, count: int) -> int:
    """Send this many frames, in turn, at a rate per second; returns their number."""
    began = time.monotonic()
    for number in range(count):
        ahead = began + number / rate - time.monotonic()
        if ahead > 0.0005:
            time.sleep(ahead)
        out.send(frames[number % len(frames)])
    return count
