"""Which of two controllers steers: the master says so again and again, and one that stands by waits for silence.

Both are connected to every switch. What is said goes through the switches, by the generation ids that come with roles
in OpenFlow (specification, section 6.3.5): the master asks for its role every so often, each time with the next id, and
whoever stands by asks for the last id that a switch has seen. While it grows at any switch, there is a master. No
controller has to know the other's address, and their clocks need not agree.
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


@dataclass
class _Seen:
    generation: int | None
    since: float
    at: float


class Generations:
    """The ids that this controller uses, and those that it has seen."""

    def __init__(self) -> None:
        self._last = int(time.time() * 1000)
        self._seen: dict[int, _Seen] = {}

    @property
    def last(self) -> int:
        """The last that was used."""
        return self._last

    def next(self) -> int:
        """For the next time that the master says so.

        It grows more slowly than time does: one that was away and has not noticed cannot win over who took its place.
        """
        self._last += 1
        return self._last

    def above(self) -> int:
        """To take over with: later than time, and than all that were seen."""
        seen = (one.generation for one in self._seen.values() if one.generation is not None)
        self._last = max(int(time.time() * 1000), self._last + 1, *(generation + 1 for generation in seen))
        return self._last

    def saw(self, now: float, dpid: int, generation: int) -> None:
        """A switch names the last id that it has seen."""
        known = None if generation >= UNKNOWN >> 1 else generation
        before = self._seen.get(dpid)
        since = now if before is None or before.generation != known else before.since
        self._seen[dpid] = _Seen(known, since, now)

    def forget(self, dpid: int) -> None:
        """A switch is not connected, or steered by this controller."""
        self._seen.pop(dpid, None)

    def silent_s(self, now: float) -> float:
        """For how long no switch that answers has named a new id; 0 if none answers."""
        return min((one.at - one.since for one in self._seen.values() if now - one.at < SILENCE_S), default=0.0)
