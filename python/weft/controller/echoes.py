"""Echo requests on the connection of a switch: their replies prove that it has received all earlier messages."""

from __future__ import annotations

from collections.abc import Callable

from .._weft import OpenFlow
from .connection import Connection


class Echoes:
    """The unanswered echo requests of one connection: at most one from `ask`, and one from `probe`."""

    def __init__(self, connection: Connection) -> None:
        """Send them on this connection."""
        self._connection = connection
        self._question: tuple[int, float] | None = None
        self._asks_again = False
        self._probe = 0
        self._on_reply: Callable[[], None] | None = None

    def ask(self, now: float) -> None:
        """Request a reply to everything sent until `now`: at once, or when the request before it is answered."""
        if self._question is not None:
            self._asks_again = True
            return
        self._question = (self._send(), now)

    def probe(self, on_reply: Callable[[], None]) -> None:
        """Send a request at once; `on_reply` is called on the reply to this request only."""
        self._probe, self._on_reply = self._send(), on_reply

    def replied(self, xid: int) -> float | None:
        """Process a reply.

        Returns the time of the request if `ask` sent it: the switch has received everything that was sent before.
        """
        if self._on_reply is not None and xid == self._probe:
            on_reply, self._on_reply = self._on_reply, None
            on_reply()
        if self._question is None or xid != self._question[0]:
            return None
        asked_at, self._question = self._question[1], None
        if self._asks_again:
            self._asks_again = False
            self.ask(self._connection.arrived)
        return asked_at

    def _send(self) -> int:
        xid = self._connection.xids(1)
        self._connection.send(OpenFlow.echo_request(xid))
        return xid
