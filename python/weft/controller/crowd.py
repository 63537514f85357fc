"""How many connections there are, in all and of one address: nobody keeps others out."""

from __future__ import annotations

from collections import Counter

MOST = 4096
"""Connections that are taken at a time, ready or not."""
OF_ADDRESS = 1088
"""Of them from one address: as many as there may be switches, and some that connect again."""
UNREADY_OF_ADDRESS = 256
"""Of these such as cannot be steered yet."""


class Crowd:
    """Connections by address."""

    def __init__(self) -> None:
        self._count = 0
        self._all: Counter[str] = Counter()
        self._unready: Counter[str] = Counter()

    def enter(self, host: str) -> str:
        """A connection has come in, which is not ready; returns why there are too many, empty if there are not."""
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
        """One of them is ready."""
        self._drop(self._unready, host)

    def leave(self, host: str, *, was_ready: bool) -> None:
        """One of them is gone."""
        self._count -= 1
        self._drop(self._all, host)
        if not was_ready:
            self._drop(self._unready, host)

    @staticmethod
    def _drop(counts: Counter[str], host: str) -> None:
        counts[host] -= 1
        if counts[host] <= 0:
            del counts[host]
