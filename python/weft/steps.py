"""Where the time of collectives and traces went: rounds, ranks, processors, rings and critical paths, as frames.

The files are there only in results of runs with such traffic; see ``docs/results.md``.
"""

import json

import polars as pl

from . import _weft
from .one_run import Run
from .paths import PARTS
from .runs import Runs

WORK, RANKS, PATH = "work.parquet", "ranks.parquet", "critical_path.parquet"
RING_STEPS = "ring_steps.parquet"
"""Files that only some runs have."""
_TEXTS = ("host", "kind", "part")
_KINDS = {"text": pl.String, "int32": pl.Int32, "int64": pl.Int64}
_JOB = {
    "group": pl.Int64,
    "class": pl.String,
    "kind": pl.String,
    "round": pl.Int64,
    "ranks": pl.Int64,
    "bytes": pl.Int64,
    "flows": pl.Int64,
    "flows_finished": pl.Int64,
    "start_ps": pl.Int64,
    "completion_ps": pl.Int64,
    "bound_ps": pl.Int64,
    "ratio": pl.Float64,
    "bus_bps": pl.Float64,
}
_RANKS = ("compute_ps", "exposed_ps", "idle_ps")


def steps(results: Runs) -> pl.DataFrame:
    """A row for each round of a collective, and for each trace; see `weft.Results.steps`."""
    schema = (
        {"run": pl.String, "job": pl.Int64}
        | _JOB
        | {"time_s": pl.Float64}
        | {f"path_{part}_ps": pl.Int64 for part in PARTS}
        | {f"ranks_{name}": pl.Float64 for name in _RANKS}
        | {"longest_exposed_ps": pl.Int64}
    )
    rows = []
    for run, head in results.heads().items():
        for number, job in enumerate(head.get("collectives", ())):
            path, ranks, took = job.get("critical_path") or {}, job.get("ranks_mean") or {}, job["completion_ps"]
            rows.append(
                {"run": run, "job": number, "time_s": None if took is None else took / 1e12}
                | {name: job.get(name) for name in _JOB}
                | {f"path_{part}_ps": path.get(f"{part}_ps") for part in PARTS}
                | {f"ranks_{name}": ranks.get(name) for name in _RANKS}
                | {"longest_exposed_ps": ranks.get("longest_exposed_ps")}
            )
    return _named(results, pl.DataFrame(rows, schema))


def rows(results: Runs, file: str) -> pl.DataFrame:
    """The rows of one of these files of all finished runs that have it."""
    found = [_of_run(run, file) for run in results.at_least_one() if (run.path / file).is_file()]
    return _named(results, pl.concat(found) if found else _empty(file))


def _of_run(run: Run, file: str) -> pl.DataFrame:
    table = pl.read_parquet(run.path / file)
    texts = [pl.col(name).cast(pl.String) for name in _TEXTS if name in table.columns]
    return table.select(pl.lit(run.id).alias("run"), *table.columns).with_columns(texts)


def _empty(file: str) -> pl.DataFrame:
    columns = json.loads(_weft.result_tables())[file.removesuffix(".parquet")]
    return pl.DataFrame(schema={"run": pl.String} | {one["name"]: _KINDS[one["kind"]] for one in columns})


def _named(results: Runs, table: pl.DataFrame) -> pl.DataFrame:
    """The table with the columns that identify each run."""
    identity = results.run_table()
    joined = table.join(identity, on="run", how="left", maintain_order="left")
    return joined.select(*identity.columns, *(name for name in table.columns if name != "run"))
