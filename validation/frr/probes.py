"""A stream of numbered packets from one host to another, and the time without any after a failure."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import suppress
from typing import Self

from weft.emulation.namespace import entered

from .fabric import FrrFabric, namespace

SPACING_S = 0.001
"""Between two probes."""
_PORT = 5000
_NUMBER = struct.Struct("!I")


class Probes:
    """Sends a UDP packet every millisecond while it is entered as a context.

    All belong to one flow, so that each switch sends all to one next hop.
    """

    def __init__(self, fabric: FrrFabric, source: str, destination: str) -> None:
        self._sent: list[float] = []
        self._received: set[int] = set()
        self._ends = threading.Event()
        with entered(namespace(destination)):
            self._listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._listener.bind((fabric.hosts[destination], _PORT))
        self._listener.settimeout(SPACING_S * 100)
        with entered(namespace(source)):
            self._sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sender.bind((fabric.hosts[source], _PORT))
        self._to = (fabric.hosts[destination], _PORT)
        self._threads = [threading.Thread(target=work) for work in (self._receive, self._send)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()
        self._listener.close()
        self._sender.close()

    def _send(self) -> None:
        due = time.monotonic()
        while not self._ends.is_set():
            now = time.monotonic()
            self._sent.append(now)
            # A node without a route refuses to send.
            with suppress(OSError):
                self._sender.sendto(_NUMBER.pack(len(self._sent) - 1), self._to)
            due = max(due + SPACING_S, now)
            time.sleep(max(0.0, due - time.monotonic()))

    def _receive(self) -> None:
        while not self._ends.is_set():
            with suppress(TimeoutError):
                self._received.add(_NUMBER.unpack(self._listener.recv(_NUMBER.size))[0])

    @property
    def sent(self) -> int:
        """The number of probes sent so far."""
        return len(self._sent)

    def arrives_after(self, first: int) -> bool:
        """Whether 100 probes in a row arrived, none of them older than `first`, and the latest ones."""
        last = len(self._sent) - 20
        return last - 100 >= first and all(number in self._received for number in range(last - 100, last))

    def silence_s(self, first: int) -> float:
        """Time from the first lost probe to the first one after the last lost; 0 without losses.

        Only probes from number `first` on count. Call it once the probes arrive again.
        """
        last = max(self._received)
        lost = [number for number in range(first, last) if number not in self._received]
        return self._sent[lost[-1] + 1] - self._sent[lost[0]] if lost else 0.0
