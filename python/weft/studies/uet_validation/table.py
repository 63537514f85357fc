"""Completion times of the study's runs, as one table: a row for each set-up and seed."""

from typing import Any

import polars as pl

from ...against.networks import BACK_PS
from ...results import Results

WATCHED = ("h1", "h0")
"""Source and destination of the flow with a limit of its own."""

SCHEMA: dict[str, Any] = {
    "setup": pl.String,
    "seed": pl.Int64,
    "last": pl.Float64,
    "watched": pl.Float64,
    "unfinished": pl.Int64,
}
"""`last` and `watched`: when the last and the `WATCHED` flow are complete at their senders, in microseconds."""


def gather(results: dict[str, Results]) -> pl.DataFrame:
    """The table (`SCHEMA`) of the results of the study's parts."""
    frames = [_part(name, part) for name, part in results.items()]
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)


def _part(name: str, part: Results) -> pl.DataFrame:
    # The receiver has the last byte at `end_ps`; its answer takes the way back.
    done = (pl.col("end_ps") + pl.col("hops") * BACK_PS) / 1e6
    is_watched = (pl.col("src") == WATCHED[0]) & (pl.col("dst") == WATCHED[1])
    flows = part.scan_flows(measured=False).with_columns(done.alias("us"))
    found = flows.group_by("run").agg(
        pl.col("us").max().alias("last"),
        pl.col("us").filter(is_watched).max().alias("watched"),
        pl.col("fct_ps").is_null().sum().alias("unfinished"),
    )
    runs = pl.DataFrame([{"run": run.id, "setup": name, "seed": run.seed} for run in part.finished])
    joined = runs.join(found.collect(), on="run")
    return joined.select(pl.col(column).cast(dtype) for column, dtype in SCHEMA.items())
