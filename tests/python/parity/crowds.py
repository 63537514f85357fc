"""Thousands of stations behind one port: a network that is connected through a single cable."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from .cell import Cell
from .fabric import Fabric
from .floods import batches, send
from .frames import BROADCAST, IPV4, REPLY, REQUEST, arp, ether, mac
from .stations import Address, address, datagram
from .tap import Tap

_COUNT = 5_000
_FIRST = 20_000
"""The number of the first of these stations."""
_RATE, _BATCH, _IN_FLIGHT = 10_000, 10, 40
"""Frames per second, at once, and before they are answered: a busy machine makes the sender slower, and loses none."""
_PATIENCE_S = 3.0
"""Time without an answer after which the missing ones count as lost."""
_DOWN_S = 1.0
_SERVER: Address = ("02:aa:ff:00:00:01", "10.0.99.1")
_ROUNDS = 3


def measure(fabric: Fabric) -> dict[str, Cell]:
    """All rows."""
    cells = {}
    unknown = "00:00:00:00:00:00"
    for at, name in enumerate(("request an address", "send a datagram")):
        stations = [address(number) for number in range(_FIRST + at * _COUNT, _FIRST + (at + 1) * _COUNT)]
        ask = [arp(REQUEST, station, (unknown, _SERVER[1])) for station in stations]
        frames = [datagram(station, _SERVER, 0) for station in stations] if at else ask
        cell = cells[f"5000 stations behind a port {name}"] = Cell()
        with _Server(fabric), Tap(fabric.spaces["left"]) as crowd:
            for number in range(1, _ROUNDS + 1):
                cell.fact(f"answered, round {number}", _answered(crowd, frames), _COUNT)
            fabric.spaces["left"].ip("link set dev eth0 down")
            time.sleep(_DOWN_S)
            fabric.spaces["left"].ip("link set dev eth0 up")
            fabric.settle()
            cell.fact(f"answered, after {_DOWN_S:g} s without a carrier", _answered(crowd, frames), _COUNT)
    return cells


def _answered(crowd: Tap, frames: Sequence[bytes]) -> int:
    """How many stations get an answer to their frame."""
    crowd.read()
    heard: set[bytes] = set()
    lost = 0
    for sent in batches(_RATE, len(frames), _BATCH):
        for frame in frames[sent : sent + _BATCH]:
            send(crowd, frame)
        # What is lost does not slow down the rest.
        lost = lost or _await(crowd, heard, sent - _IN_FLIGHT)
    _await(crowd, heard, len(frames) - lost)
    return len(heard)


def _await(crowd: Tap, heard: set[bytes], count: int) -> int:
    """Wait until this many stations have answers, or no more come; returns how many are missing."""
    end = time.monotonic() + _PATIENCE_S
    while True:
        came = {one.frame[:6] for one in crowd.read() if one.frame[6:12] == mac(_SERVER[0])} - heard
        if came:
            heard |= came
            end = time.monotonic() + _PATIENCE_S
        if len(heard) >= count or time.monotonic() > end:
            return max(0, count - len(heard))
        time.sleep(0.001)


class _Server:
    """Answers all requests and datagrams, from a station at the other leaf."""

    def __init__(self, fabric: Fabric) -> None:
        self._tap = Tap(fabric.spaces["right"])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop.is_set():
            for heard in self._tap.listen(0.005):
                frame = heard.frame
                source = ":".join(f"{byte:02x}" for byte in frame[6:12])
                if frame[12:14] == b"\x08\x06" and frame[:6] == mac(BROADCAST):
                    asker = (source, ".".join(map(str, frame[28:32])))
                    send(self._tap, arp(REPLY, _SERVER, asker, to=source))
                elif frame[:6] == mac(_SERVER[0]):
                    send(self._tap, ether(source, _SERVER[0], IPV4, frame[14:]))

    def __enter__(self) -> None:
        self._tap.send(arp(REQUEST, _SERVER, ("00:00:00:00:00:00", _SERVER[1])))
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._tap.close()
