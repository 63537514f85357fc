"""The open connections, within the limits of `ConnectionLimits`: TLS handshakes, and switches until they are gone."""

from collections import Counter
from collections.abc import Iterator

from .connection_limits import ConnectionLimits
from .notices import Notices
from .switch import Stage, Switch
from .tls import Securing


class Connections:
    """The open connections of switches, ready or not, and the TLS handshakes in progress.

    `len` and iteration are over the switches; connections may close during the iteration.
    """

    def __init__(self, counts: Counter[str], notices: Notices) -> None:
        """Refusals are counted in `counts` and reported to `notices`."""
        self._counts = counts
        self._notices = notices
        self._limits = ConnectionLimits()
        self._open: set[Switch] = set()
        self._ready: set[Switch] = set()
        self._securing: set[Securing] = set()

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Switch]:
        return iter(list(self._open))

    def close(self, why: str) -> None:
        """Close all."""
        for securing in self._securing:
            securing.give_up()
        for switch in self:
            switch.stage = Stage.GONE
            switch.close(why)

    def enter(self, switch: Switch) -> None:
        """A connection has opened; close it if there are too many."""
        self._open.add(switch)
        if why := self._limits.enter(switch.host):
            self._counts["connections_refused"] += 1
            self._notices.full(switch.host, switch.peer, why)
            switch.close("too many connections")

    def ready(self, switch: Switch) -> None:
        """A connection no longer counts as unready."""
        if switch not in self._ready:
            self._limits.ready(switch.host)
            self._ready.add(switch)

    def leave(self, switch: Switch) -> None:
        """A connection is closed; this may be reported more than once."""
        if switch in self._open:
            self._open.discard(switch)
            self._limits.leave(switch.host, was_ready=switch in self._ready)
            self._ready.discard(switch)

    def admit(self, securing: Securing) -> bool:
        """Count a new TLS connection. Returns whether it may start its handshake."""
        if why := self._limits.enter(securing.host):
            self._limits.leave(securing.host, was_ready=False)
            self._counts["connections_refused"] += 1
            self._notices.full(securing.host, securing.peer, why)
            return False
        self._securing.add(securing)
        return True

    def secured(self, securing: Securing, why: str) -> None:
        """A TLS handshake has succeeded, or failed (`why`)."""
        self._securing.discard(securing)
        self._limits.leave(securing.host, was_ready=False)
        if why:
            self._counts["handshakes_refused"] += 1
            self._notices.unsecured(securing.host, securing.peer, why)
