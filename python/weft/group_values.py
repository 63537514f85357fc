"""The values of groups of flows, computed from the rows of flows: one per run, and one per seed."""

from collections.abc import Sequence

import polars as pl

from .errors import ResultsError
from .grouping import group_keys
from .labels import column
from .metrics import COUNTED, METRIC_KEYS
from .runs import Runs


def per_seed(results: Runs, by: Sequence[str] | None = None) -> pl.DataFrame:
    """One row per group and seed: `flows`, `finished` and one column for each of `METRICS`.

    Each is the value of the run; if a group has several runs of the seed, the mean over those that have a value. Groups
    are in the order of the sweep; `by` defaults to every swept key, the class and the scheme.
    """
    keys = group_keys(results, by)
    return over_runs(per_run(results, keys), keys)


def per_run(results: Runs, keys: Sequence[str]) -> pl.DataFrame:
    """One row per group and run, with the columns of `per_seed` and `run`."""
    _check_columns(results)
    found = results.aggregates.classes() if "class" in keys else results.aggregates.whole()
    runs = results.run_table().rename({column(key): key for key in results.keys})
    return (
        found.join(runs, on="run", how="left", maintain_order="left")
        .select(*keys, "seed", "run", "flows", "finished", *METRIC_KEYS)
        .with_columns(pl.col(key).fill_nan(None) for key in METRIC_KEYS)
    )


def over_runs(runs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows of `per_run` as one row per group and seed; counts of single runs remain integers."""
    group = [*keys, "seed"]
    if not runs.select(group).is_duplicated().any():
        return runs.drop("run")
    return runs.group_by(group, maintain_order=True).agg(pl.col("flows", "finished", *METRIC_KEYS).mean())


def _check_columns(results: Runs) -> None:
    """Reject emulated runs whose flows lack columns: an earlier version of a study wrote such files."""
    heads = results.heads()
    for run in results.finished:
        file = run.path / "flows.parquet"
        if "emulated" not in heads[run.id] or not file.is_file():
            continue
        there = pl.scan_parquet(file, glob=False).collect_schema()
        missing = [name for name in COUNTED if name not in there]
        if missing:
            raise ResultsError(
                f"{file} has no column `{missing[0]}`: it was written by an earlier version of Weft. `weft plot` still"
                " draws its study; for a table or a page, repeat the study in a new directory"
            )
