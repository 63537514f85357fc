"""The reductions of all runs of a result directory, kept in its folder ``aggregates``.

Large sweeps are read once: `Aggregates` computes missing tables, some runs at a time, and keeps them. A run is computed
again when one of its files has another size or modification time. Small results are not kept, they are read quickly.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from . import reduction
from .cached_tables import ENTRY, CachedTables, Tables, compact, joined
from .one_run import FLOWS, SERIES, SUMMARY, Run
from .rows import flow_rows, rows

FOLDER = "aggregates"
"""Subfolder of a result directory."""
WORTH = 1 << 22
"""Bytes read from which on the outcome is kept."""
BATCH = 1 << 22
"""Bytes read at a time; decoded, samples take some fifty times as much."""
THREADS = min(4, os.cpu_count() or 1)
"""Batches computed at a time."""

Watch = Callable[[str, float, float], None]
"""Called with a description of the work, the bytes read and the bytes to read."""


class Aggregates:
    """The reductions of at least one run, in their order.

    Those of large results are kept in `folder`, unless it is None; `watch` is called while large results are read.
    """

    def __init__(self, runs: Sequence[Run], folder: Path | None, watch: Watch) -> None:
        self._runs = {run.id: run for run in runs}
        self._folder = folder
        self._watch = watch
        self._heads: dict[str, dict[str, Any]] = {}
        self._files: dict[str, dict[str, tuple[int, int]]] = {}

    def _found(self, name: str) -> dict[str, tuple[int, int]]:
        """Size and modification time of each run's file of this name."""
        if name not in self._files:
            found = {ident: run.status(name) for ident, run in self._runs.items()}
            self._files[name] = {ident: (status.st_size, status.st_mtime_ns) for ident, status in found.items()}
        return self._files[name]

    def heads(self) -> dict[str, dict[str, Any]]:
        """``summary.json`` of each run without `links` and `nodes`."""
        if not self._heads:
            self._heads = {run: json.loads(head) for run, head in self._summaries["heads"].iter_rows()}
        return self._heads

    def measured(self, samples: pl.LazyFrame) -> pl.LazyFrame:
        """The samples in their run's measurement window: after its start, up to its end."""
        windows = [(run, *head["window_ps"]) for run, head in self.heads().items()]
        bounds = pl.LazyFrame(windows, {ENTRY: pl.String, "from_ps": pl.Int64, "to_ps": pl.Int64}, orient="row")
        within = (pl.col("time_ps") > pl.col("from_ps")) & (pl.col("time_ps") <= pl.col("to_ps"))
        return samples.join(bounds, on=ENTRY, maintain_order="left").filter(within).drop("from_ps", "to_ps")

    def links(self) -> pl.DataFrame:
        """The links of ``summary.json`` with the column `run`; of a link without a key, the value is null."""
        return self._summaries["links"]

    def classes(self) -> pl.DataFrame:
        """The metrics of each run and class: `run`, `class`, `flows`, `finished` and those of `weft.metrics`."""
        return self._flows["classes"]

    def whole(self) -> pl.DataFrame:
        """The metrics of each run over all its classes."""
        return self._flows["whole"]

    def samples(self, name: str) -> pl.DataFrame:
        """A table of `weft.reduction.of_series`."""
        return self._series[name]

    @cached_property
    def _summaries(self) -> Tables:
        def compute(runs: Sequence[str]) -> Tables:
            return reduction.of_summaries({run: self._runs[run].summary() for run in runs})

        return self.of_runs("summaries", (SUMMARY,), compute)

    @cached_property
    def _flows(self) -> Tables:
        def compute(runs: Sequence[str]) -> Tables:
            return reduction.of_flows(flow_rows([self._runs[run] for run in runs], *reduction.OF_FLOWS))

        return self.of_runs("flows", (FLOWS,), compute)

    @cached_property
    def _series(self) -> Tables:
        heads = self.heads()

        def compute(runs: Sequence[str]) -> Tables:
            series = rows([self._runs[run] for run in runs], SERIES, "time_ps", "metric", "entity", "value")
            return reduction.of_series(series, {run: heads[run] for run in runs})

        return self.of_runs("series", (SERIES, SUMMARY), compute)

    def of_runs(self, name: str, files: Sequence[str], compute: Callable[[Sequence[str]], Tables]) -> Tables:
        """Tables computed from `files` of each run."""
        found = [self._found(file) for file in files]
        sources = {run: [sizes[run] for sizes in found] for run in found[0]}
        stamps = {run: " ".join(f"{size}:{time}" for size, time in source) for run, source in sources.items()}
        weights = {run: sum(size for size, _ in source) for run, source in sources.items()}
        return self._kept(name, stamps, weights, compute)

    def of_groups(
        self,
        name: str,
        groups: Mapping[str, Sequence[str]],
        settings: object,
        compute: Callable[[Sequence[str]], Tables],
        files: Sequence[str] = (FLOWS,),
    ) -> Tables:
        """Tables that `compute` makes of `files` of groups of runs; their column `ENTRY` has the group.

        They are kept in a file called `name`. `settings`: everything else on which the tables depend.
        """
        found = [self._found(file) for file in files]
        stamp_of = {
            ident: [ident, run.scheme, run.seed, *(sizes[ident] for sizes in found)]
            for ident, run in self._runs.items()
        }
        common = reduction.digest(settings)
        stamps = {
            group: reduction.digest([common, *(stamp_of[ident] for ident in idents)])
            for group, idents in groups.items()
        }
        weights = {
            group: sum(sizes[ident][0] for sizes in found for ident in idents) for group, idents in groups.items()
        }
        return self._kept(name, stamps, weights, compute)

    def _kept(
        self,
        name: str,
        stamps: Mapping[str, str],
        weights: Mapping[str, int],
        compute: Callable[[Sequence[str]], Tables],
    ) -> Tables:
        """The tables of the entries in `stamps`, in this order; missing and stale ones are computed and kept."""
        file = None if self._folder is None else CachedTables(self._folder / name, reduction.VERSION)
        there, tables = ({}, {}) if file is None else file.load()
        missing = [entry for entry, stamp in stamps.items() if there.get(entry) != stamp]
        if missing:
            # Entries of which nothing is known here belong to runs that this part of the results leaves out.
            valid = {entry: stamp for entry, stamp in there.items() if stamps.get(entry, stamp) == stamp}
            parts = [{key: table.filter(pl.col(ENTRY).is_in(list(valid))) for key, table in tables.items()}]
            total, done = sum(weights[entry] for entry in missing), 0
            try:
                self._watch(f"Reading {name}", done, total)
                for batch, part in _computed(list(batches(missing, weights)), compute):
                    parts.append(part)
                    valid |= {entry: stamps[entry] for entry in batch}
                    done += sum(weights[entry] for entry in batch)
                    self._watch(f"Reading {name}", done, total)
            finally:
                tables = joined(parts)
                if done >= WORTH and file is not None:
                    file.save(valid, tables)
        return {key: _in_order(table, list(stamps)) for key, table in tables.items()}


def _computed(work: list[list[str]], compute: Callable[[Sequence[str]], Tables]) -> Iterator[tuple[list[str], Tables]]:
    """Batches and their tables, in order: `THREADS` at a time, as much of the work on one is not parallel."""
    pool = ThreadPoolExecutor(THREADS)
    try:
        yield from zip(work, pool.map(lambda batch: compact(compute(batch)), work), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


def batches(entries: Sequence[str], weights: Mapping[str, int]) -> Iterator[list[str]]:
    """The entries in parts of about `BATCH` bytes, at least one in each."""
    batch: list[str] = []
    size = 0
    for entry in entries:
        if batch and size + weights[entry] > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += weights[entry]
    if batch:
        yield batch


def _in_order(table: pl.DataFrame, entries: list[str]) -> pl.DataFrame:
    """The rows of `entries`, in their order."""
    place = pl.DataFrame({ENTRY: entries, "place": range(len(entries))}, {ENTRY: pl.String, "place": pl.Int64})
    found = table.join(place, on=ENTRY, how="inner", maintain_order="left")
    return found.sort("place", maintain_order=True).drop("place")
