"""The events of runs over time: lines at events, and bands while links or nodes are down."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from . import extracts
from .results import Results

_PARTS = 400
"""Events nearer to each other than this part of the time axis are drawn as one."""
_COLUMNS = {"point": pl.String, "at_s": pl.Float64, "until_s": pl.Float64, "text": pl.String}


def drawn_events(results: Results) -> pl.DataFrame:
    """The events of each point, from its first run: `point`, `at_s`, `until_s`, `text`.

    A row with `until_s` is a time in which something is down, others are events. The times end with the time axis.
    """
    if not any(head.get("events") for head in results.heads().values()):
        return pl.DataFrame(schema=_COLUMNS)
    ends = dict(extracts.time_axes(results).iter_rows())
    found = [(at, *row) for at in results.points for row in drawn(events_of(results, at), ends.get(at, 0.0))]
    return pl.DataFrame(found, _COLUMNS, orient="row")


def events_of(results: Results, point: str) -> list[dict[str, Any]]:
    """The events of the first run at a point, as in its summary."""
    first = next(run.id for run in results.finished if run.point == point)
    return results.heads()[first].get("events") or []


def text(event: Mapping[str, Any]) -> str:
    """An event in words: the change and the link or node."""
    return f"{str(event.get('change', '')).replace('_', ' ')} {event.get('target', '')}"


def drawn(events: Iterable[Mapping[str, Any]], end: float) -> list[tuple[float, float | None, str]]:
    """Lines and bands of events up to `end` seconds: `at_s`, `until_s` (null for lines) and `text`."""
    known = [event for event in events if event["at_ps"] / 1e12 <= end]
    apart = end / _PARTS
    lines: list[tuple[float, list[str]]] = []
    for event in known:
        at = event["at_ps"] / 1e12
        if not lines or at - lines[-1][0] > apart:
            lines.append((at, []))
        lines[-1][1].append(text(event))
    bands: list[list[float]] = []
    for begin, until in sorted(_down(known, end)):
        if bands and begin - bands[-1][1] <= apart:
            bands[-1][1] = max(bands[-1][1], until)
        else:
            bands.append([begin, until])
    found: list[tuple[float, float | None, str]] = [(begin, until, "") for begin, until in bands]
    return found + [(at, None, ", ".join(dict.fromkeys(texts))) for at, texts in lines]


def _down(events: Iterable[Mapping[str, Any]], end: float) -> list[tuple[float, float]]:
    """The times from a failure to the next recovery of the same target, or to `end`."""
    since: dict[str, float] = {}
    found = []
    for event in events:
        target, at = str(event.get("target")), event["at_ps"] / 1e12
        if event.get("up") is False:
            since.setdefault(target, at)
        elif event.get("up") and target in since:
            found.append((since.pop(target), at))
    return found + [(begin, end) for begin in since.values()]
