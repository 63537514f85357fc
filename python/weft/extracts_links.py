"""Utilisation and queue of each link over time at one point of a sweep, thinned to a number of steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from .aggregates import batches
from .kept import ENTRY
from .rows import SERIES, numbered, of_runs, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .results import Results, Run


@dataclass(frozen=True)
class LinkSeries:
    """Averages over seeds; each array has a row per link and a column per step."""

    step_ps: float
    """Length of a step."""
    utilisation: dict[str, np.ndarray]
    """By scheme: mean share of the link's rate used in the step."""
    queue: dict[str, np.ndarray]
    """By scheme: largest sample of queued bytes in the step."""


@dataclass(frozen=True)
class _Samples:
    """The samples of one run, at drawn links and others."""

    link: np.ndarray
    """Place of the link; -1 if it is not drawn."""
    step: np.ndarray
    queued: np.ndarray
    """Whether the value is bytes in a queue; else it is a utilisation."""
    time: np.ndarray
    value: np.ndarray


_UTILISATION, _QUEUE = "link_utilisation", "queue_bytes"


def link_series(results: Results, point: str, links: Sequence[str], steps: int) -> LinkSeries | None:
    """The series of the links named in `links` (``e0->a1``) at a point; None if no link was sampled there.

    Args:
        results: The results.
        point: A point of the sweep.
        links: Entities of the series.
        steps: Maximum number of steps of the time axis, which ends like that of other time series: with the
            measurement window, or with the run if more bytes left the links after it.
    """
    heads = {run.id: results.aggregates.heads()[run.id] for run in results.finished if run.point == point}
    interval = min(int(head.get("interval_ps") or 0) for head in heads.values()) or 10**9
    samples = max(1, -(-_end(results, heads) // interval))
    step = interval * -(-samples // steps)
    shape = len(links), -(-samples * interval // step)
    # Only an emulation samples irregularly.
    planned = None if any("emulated" in head for head in heads.values()) else step // interval
    part = results.only(heads)
    seeds = {scheme: sum(run.scheme == scheme for run in part.finished) for scheme in results.schemes}
    use, queue = ({scheme: np.zeros(shape) for scheme, count in seeds.items() if count} for _ in range(2))
    sampled = False
    for run, found in _samples(part, links, step, shape[1]):
        sampled = _add(found, use[run.scheme], queue[run.scheme], planned) or sampled
    if not sampled:
        return None
    for arrays in (use, queue):
        for scheme, array in arrays.items():
            array /= seeds[scheme]
    return LinkSeries(step, use, queue)


def _samples(results: Results, links: Sequence[str], step: int, steps: int) -> Iterator[tuple[Run, _Samples]]:
    """The samples of each run, of which some are read at a time."""
    sizes = {
        run.id: Path(file).stat().st_size for run, file in zip(results.finished, results.files(SERIES), strict=True)
    }
    within = pl.col("time_ps").is_between(1, step * steps)
    for batch in batches(list(sizes), sizes):
        some = results.only(batch)
        of_links = pl.col("metric").is_in([_UTILISATION, _QUEUE])
        found = rows(some, SERIES, "metric", "entity", "time_ps", "value", where=of_links & within)
        link = numbered(found["entity"], links)
        queued = (found["metric"] == _QUEUE).to_numpy()
        time, value = found["time_ps"].to_numpy(), found["value"].to_numpy()
        step_of = (time - 1) // step
        for run, own in zip(some.finished, of_runs(found, len(batch)), strict=True):
            yield run, _Samples(link[own], step_of[own], queued[own], time[own], value[own])


def _add(found: _Samples, use: np.ndarray, queue: np.ndarray, planned: int | None) -> bool:
    """Add a run's mean utilisation and largest queue in each step; whether a drawn link was sampled.

    Sums are in the order of the samples, so that their last digits are always the same.

    Args:
        found: The samples of the run.
        use: The sums over runs, as in `LinkSeries`.
        queue: Likewise.
        planned: Number of samples in a step; None to count them.
    """
    links, steps = use.shape
    taken: int | np.ndarray
    if planned is None:
        _, first = np.unique(found.time, return_index=True)
        taken = np.maximum(np.bincount(found.step[first], minlength=steps), 1)
    else:
        taken = planned
    drawn = found.link >= 0
    cell = found.link * steps + found.step
    mean, most = drawn & ~found.queued, drawn & found.queued
    sums = np.bincount(cell[mean], found.value[mean], minlength=use.size).reshape(links, steps)
    use += sums / taken
    largest = np.zeros(use.size)
    np.maximum.at(largest, cell[most], found.value[most])
    queue += largest.reshape(links, steps)
    return bool(drawn.any())


def _end(results: Results, heads: Mapping[str, Mapping[str, Any]]) -> int:
    """End of the time axis of these runs in ps."""
    links = results.aggregates.links().filter(pl.col(ENTRY).is_in(list(heads)))
    late = False
    if {"bytes", "window_bytes"} <= set(links.columns) and links["window_bytes"].null_count() == 0:
        late = bool(links["bytes"].sum() > 2 * links["window_bytes"].sum())
    return max(
        int(head["simulated_ps"] if late and head.get("simulated_ps") else head["window_ps"][1])
        for head in heads.values()
    )
