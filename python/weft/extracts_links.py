"""Utilisation and queue of each link at one point of a sweep: over time, and compared between two schemes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .aggregates import batches
from .cached_tables import ENTRY
from .one_run import SERIES, Run
from .results import Results
from .rows import numbered, of_runs, rows
from .samples import Estimates


@dataclass(frozen=True)
class LinkSeries:
    """Means over seeds and their intervals; each array has a row per link and a column per step."""

    step_ps: float
    """Length of a step."""
    utilisation: dict[str, Estimates]
    """Mean share of the link's rate used in the step, by scheme."""
    queue: dict[str, Estimates]
    """Largest sample of queued bytes in the step, by scheme."""


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

    The time axis has at most so many `steps`, and ends like that of other time series: with the measurement window or
    the last run, whichever is first, or with the last run if more bytes left the links after the window.
    """
    heads = {run.id: results.heads()[run.id] for run in results.finished if run.point == point}
    interval = min(int(head.get("interval_ps") or 0) for head in heads.values()) or 10**9
    samples = max(1, -(-_end(results, heads) // interval))
    step = interval * -(-samples // steps)
    shape = len(links), -(-samples * interval // step)
    # Only an emulation samples irregularly.
    planned = None if any("emulated" in head for head in heads.values()) else step // interval
    part = results.only(heads)
    there = {run.scheme for run in part.finished}
    use, queue = ({name: Estimates(shape) for name in results.schemes if name in there} for _ in range(2))
    sampled = False
    for run, found in _samples(part, links, step, shape[1]):
        used, queued = _in_steps(found, shape, planned)
        use[run.scheme].add(used)
        queue[run.scheme].add(queued)
        sampled = sampled or bool((found.link >= 0).any())
    return LinkSeries(step, use, queue) if sampled else None


def paired_differences(
    table: pl.DataFrame, schemes: Sequence[str], links: Sequence[tuple[str, str]], metrics: Sequence[str]
) -> dict[tuple[str, str], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """The difference between each two schemes, link by link, paired by seed, and the half-width of its 95 % interval.

    By pair and metric, two arrays with a value per link, zero for a link that is not in `table` (rows of
    `Results.links` of one point). Pairs of schemes with different seeds are left out: the difference of their means is
    not that of the same seeds.
    """
    known = pl.DataFrame(links, {"from": pl.String, "to": pl.String}, orient="row").with_row_index("link")
    table = table.filter(pl.col("scheme").is_in(list(schemes)))
    table = table.join(known, on=["from", "to"], how="inner", maintain_order="left")
    seeds, seed = np.unique(table["seed"].to_numpy(), return_inverse=True)
    scheme = numbered(table["scheme"], schemes)
    there = np.zeros((len(schemes), len(seeds)), dtype=bool)
    there[scheme, seed] = True
    values = np.zeros((len(schemes), len(seeds), len(metrics), len(links)))
    columns = table.select(pl.col(metrics).cast(pl.Float64).fill_null(0))
    values[scheme, seed, :, table["link"].to_numpy()] = columns.to_numpy()
    found = {}
    for first, second in combinations(range(len(schemes)), 2):
        if not np.array_equal(there[first], there[second]):
            continue
        differences = Estimates(values.shape[2:])
        for of_seed in values[first, there[first]] - values[second, there[first]]:
            differences.add(of_seed)
        if differences.half is not None:
            each = zip(differences.mean, differences.half, strict=True)
            found[schemes[first], schemes[second]] = dict(zip(metrics, each, strict=True))
    return found


def _samples(results: Results, links: Sequence[str], step: int, steps: int) -> Iterator[tuple[Run, _Samples]]:
    """The samples of each run, of which some are read at a time."""
    sizes = {
        run.id: Path(file).stat().st_size for run, file in zip(results.finished, results.files(SERIES), strict=True)
    }
    by_id = {run.id: run for run in results.finished}
    within = pl.col("time_ps").is_between(1, step * steps)
    for batch in batches(list(sizes), sizes):
        some = [by_id[run] for run in batch]
        of_links = pl.col("metric").is_in([_UTILISATION, _QUEUE])
        found = rows(some, SERIES, "metric", "entity", "time_ps", "value", where=of_links & within)
        link = numbered(found["entity"], links)
        queued = (found["metric"] == _QUEUE).to_numpy()
        time, value = found["time_ps"].to_numpy(), found["value"].to_numpy()
        step_of = (time - 1) // step
        for run, own in zip(some, of_runs(found, len(batch)), strict=True):
            yield run, _Samples(link[own], step_of[own], queued[own], time[own], value[own])


def _in_steps(found: _Samples, shape: tuple[int, int], planned: int | None) -> tuple[np.ndarray, np.ndarray]:
    """A run's mean utilisation and largest queue of each link in each step; `shape`: numbers of links and of steps.

    Sums are in the order of the samples, so that their last digits are always the same. `planned` is the number of
    samples in a step; None to count them.
    """
    links, steps = shape
    taken: int | np.ndarray
    if planned is None:
        _, first = np.unique(found.time, return_index=True)
        taken = np.maximum(np.bincount(found.step[first], minlength=steps), 1)
    else:
        taken = planned
    drawn = found.link >= 0
    cell = found.link * steps + found.step
    mean, most = drawn & ~found.queued, drawn & found.queued
    sums = np.bincount(cell[mean], found.value[mean], minlength=links * steps).reshape(links, steps)
    largest = np.zeros(links * steps)
    np.maximum.at(largest, cell[most], found.value[most])
    return sums / taken, largest.reshape(links, steps)


def _end(results: Results, heads: Mapping[str, Mapping[str, Any]]) -> int:
    links = results.aggregates.links().filter(pl.col(ENTRY).is_in(list(heads)))
    late = False
    if {"bytes", "window_bytes"} <= set(links.columns) and links["window_bytes"].null_count() == 0:
        late = bool(links["bytes"].sum() > 2 * links["window_bytes"].sum())

    def end(head: Mapping[str, Any]) -> int:
        window = int(head["window_ps"][1])
        ran = int(head.get("simulated_ps") or window)
        return ran if late else min(ran, window)

    return max(map(end, heads.values()))
