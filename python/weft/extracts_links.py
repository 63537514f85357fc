"""Utilisation and queue of each link over time at one point of a sweep, thinned to a number of steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from .aggregates import SERIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .results import Results


@dataclass(frozen=True)
class LinkSeries:
    """Averages over seeds; each array has a row per link and a column per step."""

    step_ps: float
    """Length of a step."""
    utilisation: dict[str, np.ndarray]
    """By scheme: mean share of the link's rate used in the step."""
    queue: dict[str, np.ndarray]
    """By scheme: largest sample of queued bytes in the step."""


_METRICS = ("link_utilisation", "queue_bytes")


def link_series(results: Results, point: str, links: Sequence[str], steps: int) -> LinkSeries | None:
    """The series of the links named in `links` (``e0->a1``) at a point; None if no link was sampled there.

    Args:
        results: The results.
        point: A point of the sweep.
        links: Entities of the series.
        steps: Maximum number of steps of the time axis, which ends like that of other time series: with the
            measurement window, or with the run if more bytes left the links after it.
    """
    runs = [run for run in results.finished if run.point == point]
    part = results.only([run.id for run in runs])
    summaries = part.summaries()
    interval = min(int(summary.get("interval_ps") or 0) for summary in summaries) or 10**9
    samples = max(1, -(-_end(summaries) // interval))
    step = interval * -(-samples // steps)
    bins = -(-samples * interval // step)
    binned = (
        part.scan(SERIES)
        .filter(pl.col("metric").cast(pl.String).is_in(_METRICS))
        .select("run", "scheme", "metric", "entity", "value", "time_ps", ((pl.col("time_ps") - 1) // step).alias("bin"))
        .filter(pl.col("bin") < bins)
    )
    found = (
        binned.group_by("run", "scheme", "metric", "entity", "bin")
        .agg(pl.col("value").sum().alias("sum"), pl.col("value").max().alias("max"))
        .with_columns(pl.col("metric", "entity").cast(pl.String))
        .join(_samples(binned, summaries, step // interval), on=["run", "bin"])
        .group_by("scheme", "metric", "entity", "bin")
        .agg((pl.col("sum") / pl.col("samples")).sum(), pl.col("max").sum())
        .join(
            pl.LazyFrame({"entity": links, "link": range(len(links))}, {"entity": pl.String, "link": pl.Int64}),
            on="entity",
        )
        .collect()
    )
    if found.is_empty():
        return None
    seeds = {scheme: sum(run.scheme == scheme for run in runs) for scheme in results.schemes}
    arrays = {metric: {s: np.zeros((len(links), bins)) for s, n in seeds.items() if n} for metric in _METRICS}
    for (scheme, metric), rows in found.group_by("scheme", "metric"):
        value = rows["sum" if metric == "link_utilisation" else "max"].to_numpy()
        arrays[str(metric)][str(scheme)][rows["link"].to_numpy(), rows["bin"].to_numpy()] = value / seeds[str(scheme)]
    return LinkSeries(step, arrays["link_utilisation"], arrays["queue_bytes"])


def _samples(binned: pl.LazyFrame, summaries: Sequence[dict[str, Any]], planned: int) -> pl.LazyFrame:
    """Number of samples in each step: `run`, `bin`, `samples`; only an emulation samples irregularly."""
    times = pl.col("time_ps").n_unique() if any("emulated" in summary for summary in summaries) else pl.lit(planned)
    return binned.group_by("run", "bin").agg(times.alias("samples"))


def _end(summaries: Sequence[dict[str, Any]]) -> int:
    """End of the time axis in ps."""
    totals = [
        (link.get("bytes") or 0, link.get("window_bytes")) for summary in summaries for link in summary.get("links", ())
    ]
    within = [inside for _, inside in totals if inside is not None]
    late = len(within) == len(totals) and sum(total for total, _ in totals) > 2 * sum(within)
    return max(
        int(summary["simulated_ps"] if late and summary.get("simulated_ps") else summary["window_ps"][1])
        for summary in summaries
    )
