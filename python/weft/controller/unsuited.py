"""Switches that cannot be steered, because they speak another version of OpenFlow: what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_MOST = 64
"""Of them are remembered; the one that was here longest ago makes room."""
_TRIES_S = 60.0
"""Who has not been here for so long does not try any more."""


@dataclass
class _One:
    address: str
    speaks: str
    times: int
    last: float


class Unsuited:
    """Those that have been here.

    Of those that have not said their datapath ids one a machine: such a switch comes from another port each time, and
    cannot be told from others.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], _One] = {}

    def add(self, now: float, host: str, address: str, dpid: int, speaks: str) -> None:
        """One was here, from this address; its datapath id is 0 if it is not known."""
        before = self._seen.pop((host, dpid), None)
        times = before.times if before is not None else 0
        self._seen[host, dpid] = _One(address, speaks, times + 1, now)
        if len(self._seen) > _MOST:
            del self._seen[next(iter(self._seen))]

    def rows(self, now: float, limit: int) -> list[dict[str, Any]]:
        """At most `limit` of them that still try, the last first."""
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
