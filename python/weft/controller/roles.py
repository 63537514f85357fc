"""Master and standby: the master renews its role periodically, and a standby takes over when the renewals stop.

Both are connected to every switch and communicate only through the generation ids of OpenFlow roles (specification,
section 6.3.5): the master requests its role periodically, each time with the next id, and a standby polls the last id
that each switch has seen. While the id increases at half of the responding switches, there is a master. Neither
controller needs the other's address, and their clocks need not agree.

An id reported by a switch is used for this switch only: each switch is sent ids above its own last one. So a switch
that reports the highest possible id locks no controller out of the others, and fewer than half of the switches cannot
prevent a takeover.
"""

import time
from dataclasses import dataclass

BEAT_S = 0.25
"""Interval at which the master renews its role and a standby polls."""
SILENCE_S = 1.25
"""A standby takes over after this time without new generation ids."""
UNKNOWN = 2**64 - 1
"""The generation id of a switch that never had a master."""


_LEAP = 1000
"""Distance of a takeover's ids from the last ids of the controller before, which may wake up: 250 s of renewals."""
_IDS = 2**64
"""Ids wrap around: of two ids, the later is less than half the range ahead (section 6.3.5)."""


@dataclass
class _Seen:
    generation: int
    since: float
    at: float


class Generations:
    """The ids that this controller sends, and those that switches reported."""

    def __init__(self) -> None:
        self._last = int(time.time() * 1000)
        self._seen: dict[int, _Seen] = {}
        self._ahead: dict[int, int] = {}

    def of(self, dpid: int) -> int:
        """The id to send to a switch now."""
        return (self._last + self._ahead.get(dpid, 0)) % _IDS

    def step(self) -> None:
        """Advance the ids for the next renewal.

        They grow more slowly than time: a master that was suspended cannot win against the one that replaced it.
        """
        self._last += 1

    def rise(self) -> None:
        """Raise the ids to take over: above the current time in ms, and well above each waiting switch's last id.

        The ids of other switches do not decrease, even if the clock is far behind that of an earlier controller.
        """
        before = self._last
        self._last = max(int(time.time() * 1000), before + 1)
        grown = self._last - before
        self._ahead = {dpid: ahead - grown for dpid, ahead in self._ahead.items() if ahead > grown}
        for dpid, one in self._seen.items():
            ahead = (one.generation + _LEAP - self._last) % _IDS
            if one.generation != UNKNOWN and ahead < _IDS // 2:
                self._ahead[dpid] = ahead
            else:
                self._ahead.pop(dpid, None)

    def saw(self, now: float, dpid: int, generation: int) -> None:
        """A switch reports the last id it has seen."""
        before = self._seen.get(dpid)
        since = now if before is None or before.generation != generation else before.since
        self._seen[dpid] = _Seen(generation, since, now)

    def forget(self, dpid: int) -> None:
        """A switch has disconnected, or is now controlled by this controller."""
        self._seen.pop(dpid, None)

    def silent_s(self, now: float) -> float:
        """How long most of the responding switches have reported no new id; 0 if none responds."""
        silent = sorted(one.at - one.since for one in self._seen.values() if now - one.at < SILENCE_S)
        return silent[(len(silent) - 1) // 2] if silent else 0.0
