"""Opens connections at a fixed pace and times each; a separate program, so that it blocks nobody."""

from __future__ import annotations

import errno
import json
import os
import selectors
import socket
import sys
import time

from lab import IPPROTO_MPTCP
from weft.emulation.namespace import entered

_HELD_S = 0.5
"""Time that a connection stays open after its answer, so that MPTCP adds its subflows."""
_LAST_S = 60.0
"""Time after which a connection without an answer counts as failed."""


class Opener:
    """A client in this namespace and a server in another one; times are those of `time.monotonic`."""

    def __init__(self, config: dict) -> None:
        """Listen."""
        self.address, self.every_s = tuple(config["address"]), config["every_s"]
        self.selector = selectors.DefaultSelector()
        with entered(config["namespace"]):
            listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
            listening.bind(self.address)
            listening.listen(4096)
        self._watch(listening, self._accept)
        self.waiting: dict[socket.socket, float] = {}
        self.held: list[tuple[float, socket.socket]] = []
        self.answered: list[tuple[float, float]] = []
        self.failed: list[str] = []
        self.opened = self.wanted = 0
        self.since = 0.0
        self.stopped = False
        self.selector.register(0, selectors.EVENT_READ, self._command)

    def open(self) -> None:
        """Open a connection; every second one is plain TCP."""
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, (IPPROTO_MPTCP, 0)[self.opened % 2])
        one.setblocking(False)
        self.opened += 1
        self.waiting[one] = time.monotonic()
        began = one.connect_ex(self.address)
        if began != errno.EINPROGRESS:
            self._fail(one, OSError(began, os.strerror(began)))
            return
        self.selector.register(one, selectors.EVENT_WRITE, self._ask)

    def turn(self, until: float) -> None:
        """Handle what happens until a time."""
        while (left := until - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                key.data(key.fileobj)
            now = time.monotonic()
            while self.held and self.held[0][0] < now:
                self.held.pop(0)[1].close()

    def finish(self) -> None:
        """Wait for the answers of all connections."""
        end = time.monotonic() + _LAST_S
        while self.waiting and time.monotonic() < end:
            self.turn(time.monotonic() + self.every_s)
        self.failed += ["no answer" for _ in self.waiting]

    def _command(self, stdin: int) -> None:
        line = os.read(stdin, 100).strip()
        if line == b"stop":
            self.stopped = True
            self.selector.unregister(stdin)
        else:
            self.wanted, self.since = int(line), time.monotonic()

    def reply(self) -> None:
        """Report that as many connections are answered as the last command asked for."""
        if self.wanted and sum(began > self.since for began, _ in self.answered) >= self.wanted:
            print("answered", flush=True)
            self.wanted = 0

    def _watch(self, one: socket.socket, then) -> None:
        one.setblocking(False)
        self.selector.register(one, selectors.EVENT_READ, then)

    def _accept(self, listening: socket.socket) -> None:
        self._watch(listening.accept()[0], self._answer)

    def _answer(self, one: socket.socket) -> None:
        try:
            said = one.recv(1)
        except OSError:
            said = b""
        if said:
            one.send(said)
        else:
            self.selector.unregister(one)
            one.close()

    def _ask(self, one: socket.socket) -> None:
        self.selector.unregister(one)
        try:
            if error := one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(error, os.strerror(error))
            one.send(b"?")
        except OSError as error:
            self._fail(one, error)
        else:
            self._watch(one, self._answered)

    def _answered(self, one: socket.socket) -> None:
        self.selector.unregister(one)
        now = time.monotonic()
        try:
            one.recv(1)
        except OSError as error:
            self._fail(one, error)
            return
        began = self.waiting.pop(one)
        self.answered.append((began, now - began))
        self.held.append((now + _HELD_S, one))

    def _fail(self, one: socket.socket, error: OSError) -> None:
        self.failed.append(f"{error} after {time.monotonic() - self.waiting.pop(one):.2f} s")
        one.close()


def main() -> None:
    """Open connections until `stop` arrives on stdin; reply to a number once so many later ones are answered."""
    opener = Opener(json.loads(sys.argv[1]))
    print("opening", flush=True)
    due = time.monotonic()
    while not opener.stopped:
        opener.open()
        # No catching up after a delay.
        due = max(due + opener.every_s, time.monotonic())
        opener.turn(due)
        opener.reply()
    opener.finish()
    print(json.dumps({"answered": opener.answered, "failed": opener.failed}))


if __name__ == "__main__":
    main()
