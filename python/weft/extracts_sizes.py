"""Completion time and slowdown by flow size: mean and 99th percentile in bins of sizes, averaged over seeds."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from .cached_tables import ENTRY, Tables
from .metrics import METRICS
from .results import Results
from .rows import flow_rows
from .samples import QUANTILE
from .statistics import estimate

_PER_DECADE = 3
"""Bins of sizes in a factor of ten."""
_LEAST = 30
"""Flows per run, on average, that a bin has; smaller bins are joined with the next."""
VALUES = ("slowdown", "fct_s")
STATISTICS = ("mean", "p99")
_MEASURES = tuple(f"{statistic}_{value}" for value in VALUES for statistic in STATISTICS)
ENOUGH = next(metric.least for metric in METRICS if metric.quantile == 0.99)
"""Flows of a run from which on a 99th percentile does not lie between the two largest values."""


def by_size(results: Results) -> pl.DataFrame:
    """A row for each `point`, `scheme` and bin of sizes; finished flows count.

    `bytes` is the geometric mean of the sizes, `least_bytes` and `most_bytes` are the smallest and the largest; `flows`
    is the number in the run with the fewest. For each measure (``mean_slowdown``, ``p99_fct_s`` ...) there is its mean
    over seeds and, with several seeds, its 95 % interval (``_low``, ``_high``).
    """
    groups: dict[str, list[str]] = {}
    scheme_of = {run.id: run.scheme for run in results.finished}
    for run in results.finished:
        groups.setdefault(run.point, []).append(run.id)

    def compute(some: Sequence[str]) -> Tables:
        frames = []
        for point in some:
            flows = flow_rows(results.only(dict.fromkeys(groups[point])).finished, "bytes", *VALUES)
            found = _of_point(flows.drop_nulls("fct_s"), len(groups[point]))
            frames.append(found.with_columns(pl.lit(point).alias(ENTRY), pl.col(ENTRY).cast(pl.String).alias("of")))
        return {"sizes": pl.concat(frames)}

    runs = results.aggregates.of_groups("sizes", groups, [_PER_DECADE, _LEAST], compute)["sizes"]
    runs = runs.with_columns(pl.col("of").replace_strict(scheme_of, return_dtype=pl.String).alias("scheme"))
    rows: list[dict[str, Any]] = []
    keys = [ENTRY, "scheme", "bytes", "least_bytes", "most_bytes"]
    for names, part in runs.group_by(keys, maintain_order=True):
        row: dict[str, Any] = dict(zip(("point", *keys[1:]), names, strict=True)) | {"flows": part["flows"].min()}
        for measure in _MEASURES:
            found = estimate(part[measure].drop_nulls())
            ends = (None, None, None) if found is None else (found.mean, found.low, found.high)
            low = None if ends[1] is None else max(ends[1], 0.0)
            row |= {measure: ends[0], f"{measure}_low": low, f"{measure}_high": ends[2]}
        rows.append(row)
    order = {name: at for at, name in enumerate(results.schemes)}
    places = {name: at for at, name in enumerate(results.points)}
    rows.sort(key=lambda row: (places[row["point"]], order[row["scheme"]], row["bytes"]))
    kinds: dict[str, Any] = dict.fromkeys(("point", "scheme"), pl.String) | {"bytes": pl.Float64}
    kinds |= dict.fromkeys(("least_bytes", "most_bytes", "flows"), pl.Int64)
    kinds |= {f"{measure}{end}": pl.Float64 for measure in _MEASURES for end in ("", "_low", "_high")}
    return pl.DataFrame(rows, kinds)


def bins(sizes: np.ndarray, runs: int) -> list[float]:
    """The upper limits of bins of some sizes, of all runs together; the last is infinite."""
    if not len(sizes):
        return [np.inf]
    steps = np.floor(np.log10(np.maximum(sizes, 1)) * _PER_DECADE + 1e-9).astype(np.int64)
    found, counts = np.unique(steps, return_counts=True)
    limits: list[float] = []
    held = 0
    for (step, following), count in zip(pairwise([*found, None]), counts, strict=True):
        held += int(count)
        if following is not None and held >= _LEAST * runs:
            limits.append(10 ** ((step + 1) / _PER_DECADE))
            held = 0
    if limits and held < _LEAST * runs:
        limits.pop()
    return [*limits, np.inf]


def _of_point(flows: pl.DataFrame, runs: int) -> pl.DataFrame:
    """The measures of each run in each bin."""
    limits = bins(flows["bytes"].to_numpy(), runs)
    place = np.searchsorted(np.array(limits[:-1]), flows["bytes"].to_numpy(), side="right")
    binned = flows.with_columns(pl.Series("bin", place, dtype=pl.Int64))
    sizes = binned.group_by("bin").agg(
        pl.col("bytes").log().mean().exp().round_sig_figs(6).alias("bytes"),
        pl.col("bytes").min().cast(pl.Int64).alias("least_bytes"),
        pl.col("bytes").max().cast(pl.Int64).alias("most_bytes"),
    )
    values = [
        (pl.col(value).mean() if statistic == "mean" else pl.col(value).quantile(0.99, interpolation=QUANTILE)).alias(
            f"{statistic}_{value}"
        )
        for value in VALUES
        for statistic in STATISTICS
    ]
    measured = binned.group_by(ENTRY, "bin", maintain_order=True).agg(pl.len().cast(pl.Int64).alias("flows"), *values)
    return measured.join(sizes, on="bin", how="left", maintain_order="left").drop("bin")
