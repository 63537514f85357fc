"""Whether runs were in a steady state: the judgement in ``summary.json``, for tables, figures and verdicts.

Each run is judged when it ends (`crates/sim/src/results/steady/`). A group of runs is marked if at least one of its
runs is: such a mean depends on the time run. The runs of a scheme at a point are judged by their sums, where all have
been judged: growth of the backlog that could be chance in each run adds up, and chance growth in a single run does
not. A run that is too short for its largest flow does not count if enough has arrived in all of them.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

from . import _weft
from .labels import column, plural, short_key, show
from .runs import Runs

LABELS = {"overloaded": "unstable", "growing": "unstable", "too-short": "too short", "out-of-range": "out of range"}
"""The label shown instead of a mean, by state.

Runs that are ``steady``, ``static`` or ``not-judged``, and those of an earlier version, are not marked.
"""
_SUMMED = ("steady", "growing", "too-short")
"""The states of runs that are judged by their sums."""


@dataclass(frozen=True)
class Mark:
    """Why the means of a group of runs say nothing."""

    label: str
    """The label shown instead of a mean."""
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
        """The mark as plain data for JSON."""
        return {"label": self.label, "runs": self.runs, "of": self.of, "reason": self.reason}


NAMED = 5
"""Maximum number of marked groups that are named."""


def lines(by: Sequence[str], groups: Iterable[tuple[Mapping[str, Any], Mark | None]]) -> list[str]:
    """The marked groups: their values and the reason; groups that differ in their class only are one.

    Groups of the same reason are one line.
    """
    found: dict[str, str] = {}
    keys = [key for key in by if key != "class"]
    for group, mark in groups:
        if mark is not None:
            shown = [
                show(group[key]) if key in ("scheme", "point") else f"{short_key(key, keys)} {show(group[key])}"
                for key in sorted(keys, key=lambda key: key != "scheme")
            ]
            found.setdefault(", ".join(value for value in shown if value), mark.text)
    same: dict[str, list[str]] = {}
    for values, text in list(found.items())[:NAMED]:
        same.setdefault(text, []).append(values)
    listed = [f"{'; '.join(groups)}: {text}".removeprefix(": ") for text, groups in same.items()]
    more = len(found) - NAMED
    return [*listed, f"and {more} more without a steady state"] if more > 0 else listed


def mark_of(runs: Iterable[tuple[Hashable, Mapping[str, Any]]]) -> Mark | None:
    """The mark of a group of runs; None if all of them count.

    `runs` has the scheme and point of each, in any form, and its ``summary.json``. Growth, and the share of bytes that
    has arrived, are judged over all runs of one of them.
    """
    points: dict[Hashable, list[Mapping[str, Any]]] = {}
    for point, summary in runs:
        points.setdefault(point, []).append(summary.get("steady") or {})
    found = [one for runs_of_one in points.values() for one in _marked(runs_of_one)]
    return Mark(found[0][0], len(found), sum(map(len, points.values())), found[0][1]) if found else None


def _marked(runs: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The label and reason of each marked run of a point."""
    alone = [
        (LABELS[run["state"]], "; ".join(run.get("reasons") or [""])) for run in runs if run.get("state") in LABELS
    ]
    if not all(run.get("growth_error_bytes") is not None and run["state"] in _SUMMED for run in runs):
        return alone
    long = [run for run in runs if run["state"] != "too-short"]
    if len(long) < len(runs) and _share_arrived(runs) < _weft.ARRIVED:
        return alone
    reason = _growth(long) if long else None
    return [(LABELS["growing"], reason)] * len(runs) if reason is not None else []


def _share_arrived(runs: Sequence[Mapping[str, Any]]) -> float:
    """The share of the bytes offered by these runs that had arrived at the end of arrivals."""
    offered = sum(run["offered_bytes"] for run in runs)
    return sum(run["offered_bytes"] * run["arrived_share"] for run in runs) / offered if offered else 1.0


def _growth(runs: Sequence[Mapping[str, Any]]) -> str | None:
    """How the backlog of these runs grows together; None if it does not, or only by chance."""
    first, second, third, fourth, last = (
        sum(part) for part in zip(*(run["backlog_bytes"] for run in runs), strict=True)
    )
    offered = sum(run["offered_bytes"] for run in runs)
    remaining = sum(run["offered_bytes"] * (1 - run["arrived_share"]) for run in runs)
    error = hypot(*(run["growth_error_bytes"] for run in runs))
    return _weft.growth((first, second, third, fourth, last), offered, remaining, error)


def marks(results: Runs, keys: Sequence[str]) -> dict[tuple[Any, ...], Mark]:
    """The marks of the groups of finished runs with the same values of these columns (no class), by their values."""
    heads = results.heads()
    columns = results.run_columns()
    values = list(zip(*(columns[column(key)] for key in keys), strict=True)) if keys else [()] * len(results.finished)
    groups: dict[tuple[Any, ...], list[tuple[Hashable, Mapping[str, Any]]]] = {}
    for run, group in zip(results.finished, values, strict=True):
        groups.setdefault(group, []).append(((run.scheme, run.point), heads[run.id]))
    found = {group: mark_of(runs) for group, runs in groups.items()}
    return {group: mark for group, mark in found.items() if mark is not None}
