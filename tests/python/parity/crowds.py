"""Thousands of stations behind one port: a network that is connected through a single cable."""

from __future__ import annotations

import threading
import time

from waiting import until

from .cell import Cell
from .fabric import Fabric
from .floods import paced_sends
from .frames import REPLY, REQUEST, arp, mac
from .stations import Address, address
from .tap import Tap

_COUNT = 5_000
_BASE = 20_000
"""The number of the first of these stations."""
_RATE = 10_000
"""Requests per second."""
_PATIENCE_S = 1.0
"""How long a round waits for its last answers."""
_SERVER: Address = ("02:aa:ff:00:00:01", "10.0.99.1")
_ROUNDS = 3


def measure(fabric: Fabric) -> dict[str, Cell]:
    """All rows."""
    requests = [
        arp(REQUEST, address(number), ("00:00:00:00:00:00", _SERVER[1])) for number in range(_BASE, _BASE + _COUNT)
    ]
    cells = {"5000 stations behind a port": Cell(), "5000 stations behind a port that went down for 1 s": Cell()}
    cold, back = cells.values()
    with _Server(fabric), Tap(fabric.spaces["left"]) as crowd:
        for number in range(1, _ROUNDS + 1):
            cold.fact(f"round {number}", _answered(crowd, requests), _COUNT)
        fabric.spaces["left"].ip("link set dev eth0 down")
        time.sleep(1)
        fabric.spaces["left"].ip("link set dev eth0 up")
        fabric.settle()
        back.fact("at once", _answered(crowd, requests), _COUNT)
    return cells


def _answered(crowd: Tap, requests: list[bytes]) -> int:
    """How many stations get an answer to their request."""
    crowd.read()
    heard: set[bytes] = set()

    def take() -> bool:
        heard.update(one.frame[:6] for one in crowd.read() if one.frame[6:12] == mac(_SERVER[0]))
        return len(heard) >= len(requests)

    for at in range(0, len(requests), 100):
        paced_sends(crowd, requests[at : at + 100], _RATE, 100)
        take()
    end = time.monotonic() + _PATIENCE_S
    until("answers", lambda: take() or time.monotonic() > end)
    return len(heard)


class _Server:
    """Answers all requests, from a station at the other leaf."""

    def __init__(self, fabric: Fabric) -> None:
        self._tap = Tap(fabric.spaces["right"])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop.is_set():
            for heard in self._tap.listen(0.01):
                frame = heard.frame
                if frame[12:14] == b"\x08\x06" and frame[20:22] == b"\x00\x01":
                    source = ":".join(f"{byte:02x}" for byte in frame[6:12])
                    sender = (source, ".".join(map(str, frame[28:32])))
                    self._tap.send(arp(REPLY, _SERVER, sender, to=source))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._tap.close()
