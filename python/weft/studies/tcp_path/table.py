"""The tables of the study: classes of flows, runs, elephants over time, explorations of meshes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from ...one_run import Run
from ...paths import flood_ratio, into_leaves, mean_entries, mean_exploration, sampled
from ...results import Results
from . import recovery
from .scenarios import MAIN, MESH_FLOWS

KEYS: dict[str, Any] = {
    "part": pl.String,
    "sizes": pl.String,
    "scheme": pl.String,
    "load": pl.Float64,
    "seed": pl.Int64,
}
"""Key columns of runs. `part` is a setup's `what`; `scheme` is ``tfe-auto`` if it classifies by bytes, and ends with
``-refresh`` if it explores for better paths."""

CLASSES = KEYS | {
    "class": pl.String,
    "flows": pl.Int64,
    "unfinished": pl.Int64,
    "throughput_bps": pl.Float64,
    "fct_s": pl.Float64,
    "median_fct_s": pl.Float64,
    "moves": pl.Float64,
    "out_of_order_per_move": pl.Float64,
}
"""Means over the flows of a class."""

RUNS = KEYS | {
    "flow_entries": pl.Float64,
    "exploration_ratio": pl.Float64,
    "broadcast_ratio": pl.Float64,
    "seconds_per_second": pl.Float64,
}
"""Mean flow entries per switch; bytes of explorations, and of explorations and ARP, over all other bytes at the leaves;
CPU seconds per simulated second."""

TIME = KEYS | {"start_s": pl.Float64, "throughput_bps": pl.Float64}
"""One row per elephant, inside and outside the measurement window."""

MESHES = {
    "leaves": pl.Int64,
    "seed": pl.Int64,
    "copies": pl.Float64,
    "frame_bytes": pl.Float64,
    "exploration_s": pl.Float64,
}
"""Copies of a request that a leaf has to process, their length on the wire, and duration of an exploration."""


SIZES: dict[str, Any] = {
    "sizes": pl.String,
    "class": pl.String,
    "flows": pl.Int64,
    "bytes": pl.Int64,
    "points": pl.List(pl.Int64),
}
"""Generated flows of the main part by class: their number, their bytes, and quantiles of their sizes."""
POINTS = 40
"""Quantiles of a class."""


@dataclass(frozen=True)
class Tables:
    """All tables of the study."""

    classes: pl.DataFrame
    runs: pl.DataFrame
    time: pl.DataFrame
    meshes: pl.DataFrame
    sizes: pl.DataFrame
    recovery: pl.DataFrame


def gather(results: dict[str, Results]) -> Tables:
    """The tables of the results of the study's parts, by part name."""
    classes, runs, time, meshes, made, failed = [], [], [], [], [], []
    for name, part in results.items():
        if name.startswith("explorations_"):
            meshes += [_mesh(run, summary) for run, summary in zip(part.finished, part.summaries(), strict=True)]
            continue
        if name.startswith(recovery.PREFIX):
            failed += recovery.rows(name, part)
            continue
        sizes, _, what = name.partition("_")
        keyed = _runs(part, what, sizes)
        classes.append(_classes(part, keyed))
        time.append(_time(part, keyed))
        if what == MAIN:
            made.append(_sizes(part, keyed))
        costs, with_sizes = _costs(part), sampled(part)
        for run, summary in zip(part.finished, part.summaries(), strict=True):
            runs.append(keyed[run.id] | _sums(with_sizes(run, summary)) | {"seconds_per_second": costs.get(run.id)})
    return Tables(
        pl.concat(classes) if classes else pl.DataFrame(schema=CLASSES),
        pl.DataFrame(runs, schema=RUNS),
        pl.concat(time) if time else pl.DataFrame(schema=TIME),
        pl.DataFrame(meshes, schema=MESHES),
        pl.concat(made) if made else pl.DataFrame(schema=SIZES),
        pl.DataFrame(failed, schema=recovery.SCHEMA),
    )


def _runs(part: Results, what: str, sizes: str) -> dict[str, dict[str, Any]]:
    """The values that identify a run in the tables, by run id."""
    keyed = {}
    for run, summary in zip(part.finished, part.summaries(), strict=True):
        params = summary["scheme"]["params"]
        scheme = summary["scheme"]["name"]
        if scheme == "tfe" and params.get("classifier") == "auto":
            scheme = "tfe-auto"
        if params.get("refresh_after", "0 s") != "0 s":
            scheme += "-refresh"
        load = float(summary["overrides"]["traffic.load"])
        keyed[run.id] = {"part": what, "sizes": sizes, "scheme": scheme, "load": load, "seed": run.seed}
    return keyed


def _costs(part: Results) -> dict[str, float]:
    """Processor seconds per simulated second in which flows start, by run id."""
    path = part.path / "performance.json"
    if not path.is_file():
        return {}
    spent = {row["run"]: row["cpu_seconds"] for row in json.loads(path.read_text(encoding="utf-8"))}
    lasts = {run.id: s["duration_ps"] / 1e12 for run, s in zip(part.finished, part.summaries(), strict=True)}
    return {run: spent[run] / lasts[run] for run in spent.keys() & lasts.keys()}


def _flows(part: Results, keyed: dict[str, dict[str, Any]], *, measured: bool) -> pl.LazyFrame:
    names = pl.LazyFrame([{"run": run} | row for run, row in keyed.items()], schema={"run": pl.String} | KEYS)
    return part.scan_flows(measured=measured).drop("scheme", "seed", "point").join(names, on="run")


def _classes(part: Results, keyed: dict[str, dict[str, Any]]) -> pl.DataFrame:
    moved = pl.col("moves") > 0
    return (
        _flows(part, keyed, measured=True)
        .group_by(*KEYS, "class")
        .agg(
            pl.len().alias("flows"),
            pl.col("fct_ps").is_null().sum().alias("unfinished"),
            # A flow that does not finish has a throughput of zero: no scheme gains by its loss.
            pl.col("throughput_bps").fill_null(0.0).mean(),
            pl.col("fct_s").mean(),
            pl.col("fct_s").median().alias("median_fct_s"),
            pl.col("moves").mean(),
            (pl.col("out_of_order").filter(moved).sum() / pl.col("moves").sum()).alias("out_of_order_per_move"),
        )
        .sort(*KEYS, "class")
        .select(pl.col(name).cast(dtype) for name, dtype in CLASSES.items())
        .collect()
    )


def _time(part: Results, keyed: dict[str, dict[str, Any]]) -> pl.DataFrame:
    elephants = _flows(part, keyed, measured=False).filter(pl.col("class") == "elephant")
    return (
        elephants.with_columns((pl.col("start_ps") / 1e12).alias("start_s"), pl.col("throughput_bps").fill_null(0.0))
        .sort(*KEYS, "start_s")
        .select(pl.col(name).cast(dtype) for name, dtype in TIME.items())
        .collect()
    )


def _sizes(part: Results, keyed: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """All flows of one scheme, at all loads and seeds: the others have the same."""
    quantiles = [pl.col("bytes").quantile(at / (POINTS - 1), "nearest").cast(pl.Int64) for at in range(POINTS)]
    return (
        _flows(part, keyed, measured=False)
        .filter(pl.col("scheme") == next(iter(keyed.values()))["scheme"])
        .group_by("sizes", "class")
        .agg(
            pl.len().cast(pl.Int64).alias("flows"),
            pl.col("bytes").sum().cast(pl.Int64).alias("total"),
            pl.concat_list(quantiles).first().alias("points"),
        )
        .rename({"total": "bytes"})
        .sort("sizes", "class")
        .select(pl.col(name).cast(dtype) for name, dtype in SIZES.items())
        .collect()
    )


def _sums(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "flow_entries": mean_entries(summary),
        "exploration_ratio": flood_ratio(summary, "exploration"),
        "broadcast_ratio": flood_ratio(summary, "exploration", "broadcast"),
    }


def _mesh(run: Run, summary: dict[str, Any]) -> dict[str, Any]:
    into = into_leaves(summary)
    leaves = len({link["to"] for link in into})
    copies = sum(link["explorations"] for link in into)
    return {
        "leaves": leaves,
        "seed": run.seed,
        "copies": copies / leaves / MESH_FLOWS,
        "frame_bytes": sum(link["exploration_bytes"] for link in into) / copies if copies else None,
        "exploration_s": mean_exploration(summary),
    }
