"""Failures of drawn links, from the events of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Ends = tuple[str, str]
_OF_NODES, _OF_CABLES = ("fail_node", "heal_node"), ("fail", "heal")
_DRAWN = "of the uplinks"
"""In the target of events at links that the seed draws: these are not named."""


def intervals(events: Iterable[Mapping[str, Any]], links: Sequence[Ends]) -> dict[int, list[tuple[int, float]]]:
    """When links are down by place in `links`: begins and ends in picoseconds; an end without recovery is infinite."""
    cable_of = [frozenset(ends) for ends in links]
    by_name: dict[str, frozenset[str]] = {}
    for (source, target), cable in zip(links, cable_of, strict=True):
        for name in (f"{source}-{target}", f"{target}-{source}"):
            by_name.setdefault(name, cable)
    nodes: set[str] = set()
    cables: set[frozenset[str]] = set()
    since: dict[int, int] = {}
    found: dict[int, list[tuple[int, float]]] = {}
    for event in sorted(events, key=lambda event: int(event["at_ps"])):
        change, target, now = str(event.get("change")), str(event.get("target")), int(event["at_ps"])
        fails = change.startswith("fail")
        if change in _OF_NODES:
            (nodes.add if fails else nodes.discard)(target)
        elif change in _OF_CABLES:
            named = {by_name[name] for name in target.split(", ") if name in by_name}
            (cables.update if fails else cables.difference_update)(named)
        else:
            continue
        for at, cable in enumerate(cable_of):
            if nodes & cable or cable in cables:
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
    """The links that no event takes down, of those that are down at the end of the run."""
    if any(_DRAWN in str(event.get("target")) and str(event.get("change")).startswith("fail") for event in events):
        return []
    failing = intervals(events, links)
    return [at for at in down if at not in failing]
