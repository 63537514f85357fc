"""Which of two controllers steers: the master says so again and again, and one that stands by waits for silence.

Both are connected to every switch. What is said goes through the switches, by the generation ids that come with roles
in OpenFlow (specification, section 6.3.5): the master asks for its role every so often, each time with the next id, and
whoever stands by asks for the last id that a switch has seen. While it grows at half of the switches that answer, there
is a master. No controller has to know the other's address, and their clocks need not agree.

What a switch says of ids is believed of this switch alone: each is sent ids above its own last one. So a switch that
names the highest possible id shuts nobody out of the others, and fewer than half of the switches cannot keep a standby
from taking over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

BEAT_S = 0.25
"""Between two times that the master says so, and that others ask."""
SILENCE_S = 1.25
"""Without a new generation id at any switch, until a controller that stands by takes over."""
UNKNOWN = 2**64 - 1
"""The generation id of a switch that never had a master."""


_IDS = 2**64
"""Ids are compared as if in a circle: of two, the later is less than half of it ahead (section 6.3.5)."""


@dataclass
class _Seen:
    generation: int
    since: float
    at: float


class Generations:
    """The ids that this controller uses, and those that it has seen."""

    def __init__(self) -> None:
        self._last = int(time.time() * 1000)
        self._seen: dict[int, _Seen] = {}
        self._ahead: dict[int, int] = {}

    def of(self, dpid: int) -> int:
        """The id to tell a switch now."""
        return (self._last + self._ahead.get(dpid, 0)) % _IDS

    def step(self) -> None:
        """The master says so another time: ids are the next ones.

        They grow more slowly than time does: one that was away and has not noticed cannot win over who took its place.
        """
        self._last += 1

    def rise(self) -> None:
        """To take over: at every switch above time, and above what that switch has seen."""
        self._last = max(int(time.time() * 1000), self._last + 1)
        self._ahead.clear()
        for dpid, one in self._seen.items():
            ahead = (one.generation + 1 - self._last) % _IDS
            if one.generation != UNKNOWN and ahead < _IDS // 2:
                self._ahead[dpid] = ahead

    def saw(self, now: float, dpid: int, generation: int) -> None:
        """A switch names the last id that it has seen."""
        before = self._seen.get(dpid)
        since = now if before is None or before.generation != generation else before.since
        self._seen[dpid] = _Seen(generation, since, now)

    def forget(self, dpid: int) -> None:
        """A switch is not connected, or steered by this controller."""
        self._seen.pop(dpid, None)

    def silent_s(self, now: float) -> float:
        """For how long most of the switches that answer have named no new id; 0 if none answers."""
        silent = sorted(one.at - one.since for one in self._seen.values() if now - one.at < SILENCE_S)
        return silent[(len(silent) - 1) // 2] if silent else 0.0
