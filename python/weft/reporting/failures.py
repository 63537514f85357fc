"""Failures of drawn links, from the events of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Ends = tuple[str, str]
_OF_NODES, _OF_CABLES = ("fail_node", "heal_node"), ("fail", "heal")
_DRAWN = "of the uplinks"
"""In the target of events at links that the seed draws: these are not named."""


def intervals(events: Iterable[Mapping[str, Any]], links: Sequence[Ends]) -> dict[int, list[tuple[float, float]]]:
    """When links are down: by place in `links`, begins and ends in seconds; the end is infinite without recovery."""
    by_name: dict[str, list[int]] = {}
    for at, (source, target) in enumerate(links):
        for name in (f"{source}-{target}", f"{target}-{source}", source, target):
            by_name.setdefault(name, []).append(at)
    failed: set[str] = set()
    since: dict[int, float] = {}
    found: dict[int, list[tuple[float, float]]] = {}
    for event in sorted(events, key=lambda event: int(event["at_ps"])):
        change, target, seconds = str(event.get("change")), str(event.get("target")), event["at_ps"] / 1e12
        names = [target] if change in _OF_NODES else target.split(", ") if change in _OF_CABLES else []
        (failed.update if change.startswith("fail") else failed.difference_update)(names)
        for at in {at for name in names for at in by_name.get(name, ())}:
            source, end = links[at]
            if failed & {f"{source}-{end}", f"{end}-{source}", source, end}:
                since.setdefault(at, seconds)
            elif at in since:
                found.setdefault(at, []).append((since.pop(at), seconds))
    for at, begin in since.items():
        found.setdefault(at, []).append((begin, math.inf))
    return found


def steps(down: Mapping[int, Sequence[tuple[float, float]]], step: float, number: int) -> list[list[int]]:
    """Places of links, each with the first and the last step of `step` seconds of one time for which it is down."""
    found = []
    for at, times in sorted(down.items()):
        covered = [(math.floor(begin / step), min(end / step, number)) for begin, end in times if begin < number * step]
        spans: list[list[int]] = []
        for first, end in covered:
            last = max(first, math.ceil(end) - 1)
            if spans and first <= spans[-1][2] + 1:
                spans[-1][2] = max(spans[-1][2], last)
            else:
                spans.append([at, first, last])
        found += spans
    return found


def never_up(events: Sequence[Mapping[str, Any]], links: Sequence[Ends], down: Iterable[int]) -> list[int]:
    """The links that no event takes down, of those that are down at the end of the run."""
    if any(_DRAWN in str(event.get("target")) and str(event.get("change")).startswith("fail") for event in events):
        return []
    failing = intervals(events, links)
    return [at for at in down if at not in failing]
