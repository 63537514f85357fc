"""Whether runs were in a steady state: what ``summary.json`` says of it, for tables, figures and verdicts.

Each run is judged when it ends (`crates/sim/src/results/steady.rs`). A group of runs is marked if one of them is
overloaded, too short or out of range, or if the backlog grows in all runs of a scheme at a point together: their mean
depends on how long they were. Growth in one run of several may be one late burst.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, Any

from . import _weft
from .labels import column, plural, short_key, show

if TYPE_CHECKING:
    from .results import Results
    from .summary import Summary

LABELS = {"overloaded": "unstable", "growing": "unstable", "too-short": "too short", "out-of-range": "out of range"}
"""What stands in the place of a mean, by state.

Runs that are ``steady``, ``static`` or ``not-judged``, and those of an earlier version, are not marked.
"""
NAMED = 5
"""Maximum number of marked groups that are named."""


@dataclass(frozen=True)
class Mark:
    """Why the means of a group of runs say nothing."""

    label: str
    """What stands in the place of a mean."""
    runs: int
    """Runs that are marked."""
    of: int
    """Runs of the group."""
    reason: str
    """The reason for the first of them."""

    @property
    def text(self) -> str:
        """Such as ``unstable in 1 of 5 runs: offered load on ...``."""
        how_many = "" if self.of == 1 else f" in {self.runs} of {plural(self.of, 'run')}"
        return f"{self.label}{how_many}: {self.reason}"

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {"label": self.label, "runs": self.runs, "of": self.of, "reason": self.reason}


def label_of(summary: Mapping[str, Any]) -> str | None:
    """The label of a run that is marked, from its ``summary.json``."""
    return LABELS.get((summary.get("steady") or {}).get("state", ""))


def mark_of(summaries: Iterable[Mapping[str, Any]]) -> Mark | None:
    """The mark of a group of runs; None if all of them count."""
    every = list(summaries)
    found: list[tuple[str, str] | None] = [
        None if (label := label_of(summary)) is None else (label, "; ".join(summary["steady"].get("reasons") or [""]))
        for summary in every
    ]
    for runs in _points(every):
        reason = _growth([every[run]["steady"] for run in runs])
        for run in runs:
            found[run] = None if reason is None else (LABELS["growing"], reason)
    marked = [one for one in found if one is not None]
    return Mark(marked[0][0], len(marked), len(every), marked[0][1]) if marked else None


def _points(every: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """The runs of each point whose growth is judged together, if there are several."""
    points: dict[str, list[int]] = {}
    for run, summary in enumerate(every):
        steady = summary.get("steady") or {}
        if steady.get("state") in ("steady", "growing") and "growth_error_bytes" in steady:
            point = json.dumps([summary.get("scheme"), summary.get("overrides")], sort_keys=True)
            points.setdefault(point, []).append(run)
    return [runs for runs in points.values() if len(runs) > 1]


def _growth(runs: Sequence[Mapping[str, Any]]) -> str | None:
    """How the backlog of these runs grows together."""
    first, second, third, fourth, last = (
        sum(part) for part in zip(*(run["backlog_bytes"] for run in runs), strict=True)
    )
    offered = sum(run["offered_bytes"] for run in runs)
    remaining = sum(run["offered_bytes"] * (1 - run["arrived_share"]) for run in runs)
    error = hypot(*(run["growth_error_bytes"] for run in runs))
    return _weft.growth((first, second, third, fourth, last), offered, remaining, error)


def marks(results: Results, keys: Sequence[str]) -> dict[tuple[Any, ...], Mark]:
    """The marks of the groups of finished runs with the same values of these columns (no class), by their values."""
    heads = results.aggregates.heads()
    # The values of the table of runs: Polars may turn a swept 1 into 1.0.
    values = results.run_table().select(column(key) for key in keys).rows() if keys else [()] * len(results.finished)
    groups: dict[tuple[Any, ...], list[str]] = {}
    for run, group in zip(results.finished, values, strict=True):
        groups.setdefault(group, []).append(run.id)
    found = {group: mark_of(heads[run] for run in runs) for group, runs in groups.items()}
    return {group: mark for group, mark in found.items() if mark is not None}


def notes(summary: Summary) -> list[str]:
    """One line for each marked group: its values and the reason; groups that differ in their class only are one."""
    found: dict[str, str] = {}
    for row in summary.rows:
        if row.mark is not None:
            keys = [key for key in summary.by if key != "class"]
            values = [
                show(row.group[key]) if key in ("scheme", "point") else f"{short_key(key, keys)} {show(row.group[key])}"
                for key in sorted(keys, key=lambda key: key != "scheme")
            ]
            found.setdefault(", ".join(value for value in values if value), row.mark.text)
    lines = [f"{group + ': ' if group else ''}{text}" for group, text in found.items()]
    more = len(lines) - NAMED
    return [*lines[:NAMED], f"and {more} more without a steady state"] if more > 0 else lines


def without_means(summary: Summary) -> list[str]:
    """Why there is no mean to show, one sentence and the reasons; empty unless all groups are marked."""
    if not summary.rows or any(row.mark is None for row in summary.rows):
        return []
    return ["No point was in a steady state, so there are no means to show.", *notes(summary)]


def remark(parts: Mapping[str, Results]) -> str:
    """Which runs of a study are marked, with the first reason; empty if none is."""
    heads = [head for part in parts.values() if part.finished for head in part.aggregates.heads().values()]
    mark = mark_of(heads)
    if mark is None:
        return ""
    how_many = f"{mark.runs} of {plural(mark.of, 'run')} were not in a steady state"
    return f"{how_many}, the first {mark.label}: {mark.reason}"


@dataclass(frozen=True)
class MarkedGroup:
    """All runs of a scheme at a point of a study's part, at least one of which is marked."""

    part: str
    name: str
    runs: frozenset[str]
    mark: Mark

    @property
    def text(self) -> str:
        """Such as ``2 of 3 runs were not in a steady state, in clos (ecmp, load 0.8) unstable: offered ...``."""
        mark = self.mark
        how_many = f"{mark.runs} of {plural(mark.of, 'run')} were not in a steady state"
        return f"{how_many}, in {self.part} ({self.name}) {mark.label}: {mark.reason}"


def groups(parts: Mapping[str, Results]) -> list[MarkedGroup]:
    """The marked groups of a study's parts."""
    found = []
    for name, part in parts.items():
        if not part.finished:
            continue
        heads = part.aggregates.heads()
        runs: dict[tuple[str, str], list[str]] = {}
        for run in part.finished:
            runs.setdefault((run.scheme, run.point), []).append(run.id)
        for values, own in runs.items():
            mark = mark_of(heads[run] for run in own)
            if mark is not None:
                found.append(MarkedGroup(name, ", ".join(filter(None, values)), frozenset(own), mark))
    return found


def without(parts: Mapping[str, Results], groups: Iterable[MarkedGroup]) -> dict[str, Results]:
    """The parts of a study without these groups; parts without any run left are left out."""
    left_out: dict[str, set[str]] = {}
    for group in groups:
        left_out.setdefault(group.part, set()).update(group.runs)
    kept = {
        name: part.only([run.id for run in part.finished if run.id not in left_out[name]]) if name in left_out else part
        for name, part in parts.items()
    }
    return {name: part for name, part in kept.items() if part.finished or name not in left_out}
