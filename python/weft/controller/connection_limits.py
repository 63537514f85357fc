"""Limits on the number of connections, in total and per address: no host can lock out others."""

from collections import Counter

MOST = 4096
"""Maximum concurrent connections, ready or not."""
OF_ADDRESS = 1088
"""Maximum from one address: the maximum number of switches, plus some that reconnect."""
UNREADY_OF_ADDRESS = 256
"""Maximum from one address that have not completed the handshake."""


class ConnectionLimits:
    """Connections by address."""

    def __init__(self) -> None:
        self._count = 0
        self._all: Counter[str] = Counter()
        self._unready: Counter[str] = Counter()

    def enter(self, host: str) -> str:
        """A new connection, not ready yet; returns the limit it exceeds, or an empty string."""
        self._count += 1
        self._all[host] += 1
        self._unready[host] += 1
        if self._count > MOST:
            return f"more than {MOST} connections"
        if self._all[host] > OF_ADDRESS:
            return f"more than {OF_ADDRESS} connections from {host}"
        if self._unready[host] > UNREADY_OF_ADDRESS:
            return f"more than {UNREADY_OF_ADDRESS} connections from {host} that are not ready"
        return ""

    def ready(self, host: str) -> None:
        """A connection is ready."""
        self._drop(self._unready, host)

    def leave(self, host: str, *, was_ready: bool) -> None:
        """A connection is closed."""
        self._count -= 1
        self._drop(self._all, host)
        if not was_ready:
            self._drop(self._unready, host)

    @staticmethod
    def _drop(counts: Counter[str], host: str) -> None:
        counts[host] -= 1
        if counts[host] <= 0:
            del counts[host]
