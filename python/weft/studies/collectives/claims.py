"""The rows of the study: for each collective and fabric, the ways by their times, and which kind of way is first.

No paper has these claims. A row holds if the collective ends first, in the mean over seeds, under a way that sends
the packets of a flow over several paths at the same time. Its value is the time of the best such way relative to that
of the best one that keeps a flow on one path.
"""

from __future__ import annotations

import polars as pl

from ...statistics import Estimate, estimate
from ..base import StudyRow
from ..rows import not_measured, row
from .setups import COLLECTIVES, STATES, WAYS

CLAIM = "{collective} ends first with flows over several paths at a time, {state}"
UNIT = "% time against the best with one path per flow"
TITLES = {"whole": "whole fabric", "failed": "an uplink failed"}


def judge(table: pl.DataFrame) -> list[StudyRow]:
    """A row for each collective on each fabric."""
    return [_row(table, collective, state) for collective in COLLECTIVES for state in STATES]


def ratios(table: pl.DataFrame, collective: str, state: str) -> dict[str, Estimate]:
    """Times over the bound by way, the shortest first; ways with a collective that did not end are left out."""
    part = _part(table, collective, state)
    found = {}
    for way in WAYS:
        values = part.filter(pl.col("way") == way)["ratio"]
        value = None if values.is_empty() or values.has_nulls() else estimate(values)
        if value is not None:
            found[way] = value
    return dict(sorted(found.items(), key=lambda one: one[1].mean))


def _row(table: pl.DataFrame, collective: str, state: str) -> StudyRow:
    ident = f"F-{collective}-{state}"
    claim = CLAIM.format(collective=collective, state=TITLES[state])
    found = ratios(table, collective, state)
    missing = [WAYS[way].title for way in WAYS if way not in found]
    best = {spreads: next((way for way in found if WAYS[way].spreads is spreads), None) for spreads in (True, False)}
    over, alone = best[True], best[False]
    if over is None or alone is None:
        return not_measured(ident, claim, UNIT, f"not finished: {', '.join(missing)}")
    pairs = _paired(_part(table, collective, state), over, alone)
    notes = [", ".join(f"{WAYS[way].title} {value.mean:.2f}" for way, value in found.items()) + " times the bound"]
    notes.append(f"not finished: {', '.join(missing)}" if missing else "")
    return row(ident, claim, found[over].mean < found[alone].mean, pairs, UNIT, notes)


def _part(table: pl.DataFrame, collective: str, state: str) -> pl.DataFrame:
    """The rows of a collective on a fabric."""
    return table.filter((pl.col("collective") == collective) & (pl.col("state") == state))


def _paired(part: pl.DataFrame, one: str, other: str) -> Estimate | None:
    """The time of a way relative to that of another, by seed, in per cent."""
    times = [part.filter(pl.col("way") == way).select("seed", "ratio") for way in (one, other)]
    joined = times[0].join(times[1], on="seed", suffix="_other")
    return estimate(100 * (joined["ratio"] / joined["ratio_other"] - 1))
