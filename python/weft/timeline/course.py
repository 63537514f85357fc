"""The course of a flow in one run, as data for the page: times are picoseconds since the start of the flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from ..explanation import on_the_way

MOST_PACKETS = 20_000
"""Packets on the page, over all runs."""
_MOST_STEPS = 6_000
"""Steps of a line, over all runs."""
_MOST_PARTS = 4_000
"""Parts of the flow's time, over all runs."""
_RARE = frozenset(("lost", "lost answer", "repeated", "handshake", "marked"))
"""Kinds of packets that are kept first."""
_OF_DESTINATION = frozenset(("answer", "lost answer"))

Steps = tuple[list[int], list[int]]
"""Times, and the values from then on."""


class Packet(NamedTuple):
    """A packet as the engine describes it; `ended` is None if the run ended first, `link` where it was lost."""

    sent: int
    ended: int | None
    first: int
    next: int
    subflow: int
    kind: str
    link: str | None


@dataclass(frozen=True)
class Course:
    """A flow in a run.

    `data` is the engine's explanation with `packets` and `windows`; see `weft.explanation.explain`.
    """

    label: str
    """The scheme, with its swept parameters."""
    seed: int
    data: dict[str, Any]

    @cached_property
    def packets(self) -> list[Packet]:
        """Its packets in the order in which they were sent."""
        return [Packet(*one) for one in self.data["packets"]]

    @cached_property
    def counts_bytes(self) -> bool:
        """Whether positions are bytes, as for TCP; else they are packets."""
        return any(one.next - one.first > 1 for one in self.packets)

    @cached_property
    def end(self) -> int:
        """When the flow or, if it did not finish, the run ended."""
        parts = self.data["parts"]
        return int(parts[-1]["to"]) if parts else 1

    def counts(self) -> dict[str, int]:
        """Packets sent, lost, repeated and marked, and timeouts."""
        kinds = Counter(one.kind for one in self.packets)
        return {
            "packets": len(self.packets),
            "lost": kinds["lost"] + kinds["lost answer"],
            "repeated": int(self.data["retransmissions"]),
            "marked": kinds["marked"],
            "timeouts": int(self.data["timeouts"]),
        }

    @cached_property
    def _own(self) -> list[Packet]:
        """The packets of the source, without copies that switches made."""
        return [one for one in self.packets if one.kind not in _OF_DESTINATION and one.kind != "copy"]

    def in_flight(self) -> Steps:
        """Bytes sent and not acknowledged or, where packets are counted, the source's packets on their way."""
        return _joined(self._unacknowledged() if self.counts_bytes else self._under_way())

    def _unacknowledged(self) -> Iterator[tuple[int, int]]:
        sends = ((one.sent, 0, one) for one in self._own if one.kind != "handshake")
        answers = ((one.ended, 1, one) for one in self.packets if one.kind == "answer" and one.ended is not None)
        sent: dict[int, int] = {}
        acknowledged: dict[int, int] = {}
        for at, is_answer, one in sorted(chain(sends, answers), key=lambda event: event[:2]):
            known = acknowledged if is_answer else sent
            known[one.subflow] = max(known.get(one.subflow, one.next), one.next)
            if not is_answer:
                acknowledged.setdefault(one.subflow, one.first)
            yield at, sum(max(0, most - acknowledged[subflow]) for subflow, most in sent.items())

    def _under_way(self) -> Iterator[tuple[int, int]]:
        ended = ((one.ended, -1) for one in self._own if one.ended is not None)
        changes = chain(((one.sent, 1) for one in self._own), ended)
        count = 0
        for at, change in sorted(changes):
            count += change
            yield at, count

    def shown(self, share: int = 1) -> dict[str, Any]:
        """The data for a page with `share` courses."""
        packets = _thinned(self.packets, MOST_PACKETS // share)
        parts = _merged(self.data["parts"], _MOST_PARTS // share)
        return {
            "label": self.label,
            "bytes": self.counts_bytes,
            "end": max(self.end, 1),
            "all": len(self.packets),
            "packets": {name: [getattr(one, name) for one in packets] for name in Packet._fields},
            "subflows": sorted({one.subflow for one in self.packets}),
            "parts": [[part["from"], part["to"], part["cause"], part["lost"], _place(part)] for part in parts],
            "sums": [[one["cause"], one["lost"], _place(one), one["ps"]] for one in self.data["sums"]],
            "window": _fewer(_joined((at, size) for at, size in self.data["windows"]), _MOST_STEPS // share),
            "flight": _fewer(self.in_flight(), _MOST_STEPS // share),
        }


def _place(part: dict[str, Any]) -> str:
    """The link to which a part is due, with the way back."""
    return on_the_way(part["link"] or "", part["direction"])


def _joined(steps: Iterator[tuple[int, int]]) -> Steps:
    """The steps, with the last value of each time only."""
    found = dict(steps)
    return list(found), list(found.values())


def _spread(count: int, keep: int) -> Iterator[int]:
    """At most `keep` of `count` places, evenly spread."""
    keep = min(keep, count)
    return ((at * count) // keep for at in range(keep))


def _thinned(packets: Sequence[Packet], most: int) -> list[Packet]:
    """At most `most` packets, evenly spread; rare kinds are kept first, but take no more than half of the room."""
    if len(packets) <= most:
        return list(packets)
    rare = [at for at, one in enumerate(packets) if one.kind in _RARE]
    others = [at for at, one in enumerate(packets) if one.kind not in _RARE]
    room = min(len(rare), max(most // 2, most - len(others)))
    places = [rare[at] for at in _spread(len(rare), room)] + [others[at] for at in _spread(len(others), most - room)]
    return [packets[at] for at in sorted(places)]


def _fewer(steps: Steps, most: int) -> Steps:
    """At most `most` steps: the smallest and the largest of each group of consecutive ones."""
    times, values = steps
    if len(times) <= most:
        return steps
    size = -(-2 * len(times) // most)
    kept: list[int] = []
    for at in range(0, len(times), size):
        group = range(at, min(at + size, len(times)))
        kept += sorted({min(group, key=values.__getitem__), max(group, key=values.__getitem__)})
    return [times[at] for at in kept], [values[at] for at in kept]


def _merged(parts: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The parts, in order; if there are many, the shortest ones become `others` with their neighbours."""
    if len(parts) <= most:
        return list(parts)
    least = sorted((part["to"] - part["from"] for part in parts), reverse=True)[most // 2]
    found: list[dict[str, Any]] = []
    for part in parts:
        if part["to"] - part["from"] > least:
            found.append(part)
        elif found and found[-1]["cause"] == "others":
            found[-1] = found[-1] | {"to": part["to"]}
        else:
            found.append(part | {"cause": "others", "lost": None, "link": None, "direction": None})
    return found
