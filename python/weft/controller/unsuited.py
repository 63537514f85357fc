"""Switches that cannot be controlled because they speak another version of OpenFlow."""

from dataclasses import dataclass
from typing import Any

_MOST = 64
"""Maximum number remembered; the least recently seen is evicted."""
_TRIES_S = 60.0
"""A switch not seen for this long has stopped trying."""


@dataclass
class _One:
    address: str
    speaks: str
    times: int
    last: float


class Unsuited:
    """The switches seen.

    Switches with unknown datapath id count as one per machine: each attempt comes from another port, so they cannot be
    distinguished.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], _One] = {}

    def add(self, now: float, host: str, address: str, dpid: int, speaks: str) -> None:
        """A switch has tried to connect from this address; its datapath id is 0 if unknown."""
        before = self._seen.pop((host, dpid), None)
        times = before.times if before is not None else 0
        self._seen[host, dpid] = _One(address, speaks, times + 1, now)
        if len(self._seen) > _MOST:
            del self._seen[next(iter(self._seen))]

    def rows(self, now: float, limit: int) -> list[dict[str, Any]]:
        """At most `limit` switches that still try to connect, most recent first."""
        return [
            {
                "address": one.address,
                "dpid": f"{dpid:016x}" if dpid else None,
                "speaks": one.speaks,
                "times": one.times,
                "last_s": round(now - one.last, 1),
            }
            for (_, dpid), one in list(reversed(self._seen.items()))[:limit]
            if now - one.last <= _TRIES_S
        ]
