"""Failures of drawn links, from the events of a run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Ends = tuple[str, str]


def intervals(events: Iterable[Mapping[str, Any]], links: Sequence[Ends]) -> dict[int, list[tuple[int, float]]]:
    """When links are down by place in `links`: begins and ends in picoseconds; an end without recovery is infinite.

    Links that the seed draws differ between runs: they are left out.
    """
    places: dict[frozenset[str], list[int]] = {}
    for at, ends in enumerate(links):
        places.setdefault(frozenset(ends), []).append(at)
    since: dict[int, int] = {}
    found: dict[int, list[tuple[int, float]]] = {}
    for event in events:
        up, now = event.get("up"), int(event["at_ps"])
        if up is None:
            continue
        for at in (at for ends in event["links"] or () for at in places.get(frozenset(ends), ())):
            if not up:
                since.setdefault(at, now)
            elif at in since:
                found.setdefault(at, []).append((since.pop(at), now))
    for at, begin in since.items():
        found.setdefault(at, []).append((begin, math.inf))
    return found


def steps(down: Mapping[int, Sequence[tuple[int, float]]], step: int, number: int) -> list[list[int]]:
    """Place of a link, first and last step of each period in which it is down; `number` steps of `step` picoseconds."""
    found = []
    for at, times in sorted(down.items()):
        spans: list[list[int]] = []
        for begin, end in times:
            if begin >= number * step:
                continue
            first = begin // step
            last = max(first, math.ceil(min(end, number * step) / step) - 1)
            if spans and first <= spans[-1][2] + 1:
                spans[-1][2] = max(spans[-1][2], last)
            else:
                spans.append([at, first, last])
        found += spans
    return found


def never_healed(events: Iterable[Mapping[str, Any]], links: Sequence[Ends]) -> list[int]:
    """The links that are down at the end of the run because of its events."""
    return sorted(at for at, times in intervals(events, links).items() if times[-1][1] == math.inf)


def never_up(events: Sequence[Mapping[str, Any]], links: Sequence[Ends], down: Iterable[int]) -> list[int]:
    """The links that no event takes down, of those that are down at the end; none if the seed draws links that fail."""
    if any(event.get("up") is False and event["links"] is None for event in events):
        return []
    failing = intervals(events, links)
    return [at for at in down if at not in failing]
