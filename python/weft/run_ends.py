"""Runs that end long before their measurement window or their first sample, and the texts about them."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from . import quantity
from .results import Results

_IDLE = 0.1
"""Share of the measurement window, after the end of all runs at a point, from which on it is left out."""
_SAMPLES = 50
"""Samples of the shortest run with the interval that `unsampled` suggests, or somewhat more."""
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps"))


def early(results: Results) -> dict[str, int]:
    """Points at which all runs end before the last tenth of their measurement window, with the last end in ps."""
    heads = results.heads()
    windows: dict[str, list[tuple[int, int, int | None]]] = {}
    for run in results.finished:
        head = heads[run.id]
        # An emulation measures utilisation over the time between its readings.
        end = None if "emulated" in head else head.get("simulated_ps")
        windows.setdefault(run.point, []).append((*head["window_ps"], end))
    found = {}
    for point, of_runs in windows.items():
        ends = [end for _, _, end in of_runs if end is not None]
        if len(ends) < len(of_runs):
            continue
        last = max(ends)
        if all(0 < last - start < (end - start) * (1 - _IDLE) for start, end, _ in of_runs):
            found[point] = last
    return found


def links(results: Results) -> pl.DataFrame:
    """`Results.links`, with utilisation up to the last run's end at points that `early` names.

    The time is the same for all runs at a point, so that schemes can be compared.
    """
    last, heads = early(results), results.heads()
    longer = {}
    for run in results.finished:
        if run.point in last:
            start, end = heads[run.id]["window_ps"]
            longer[run.id] = (end - start) / (last[run.point] - start)
    table = results.links()
    if not longer:
        return table
    factor = pl.col("run").cast(pl.String).replace_strict(longer, default=1.0, return_dtype=pl.Float64)
    return table.with_columns(pl.col("utilisation").cast(pl.Float64) * factor)


def unsampled(heads: Sequence[Mapping[str, Any]]) -> str:
    """Why no run has a sample, and the remedy, if all runs ended before their first one; else empty."""
    ends, firsts = ([int(head.get(key) or 0) for head in heads] for key in ("simulated_ps", "interval_ps"))
    if not all(0 < end < first for end, first in zip(ends, firsts, strict=True)):
        return ""
    ended, due = (quantity.span((ps / 1e12 for ps in of_runs), quantity.seconds) for of_runs in (ends, firsts))
    who = "The run" if len(heads) == 1 else "All runs"
    shorter = _round(min(ends) / 1e12 / _SAMPLES)
    return (
        f"{who} ended after {ended}, before the first sample at {due}: set measure.interval to a shorter time, such as "
        f'"{shorter}", and run the scenario again.'
    )


def _round(seconds: float) -> str:
    """The next shorter time with one digit (1, 2 or 5), as in a scenario."""
    factor, unit = next(((f, u) for f, u in _UNITS if seconds >= f), _UNITS[-1])
    number = max(seconds / factor, 1.0)
    return f"{max(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500) if step <= number)} {unit}"
