"""Completion of the study's collectives, as one table: a row for each way, fabric, collective, seed and round."""

from typing import Any

import polars as pl

from ...results import Results

SCHEMA: dict[str, Any] = {
    "way": pl.String,
    "state": pl.String,
    "collective": pl.String,
    "seed": pl.Int64,
    "round": pl.Int64,
    "ms": pl.Float64,
    "ratio": pl.Float64,
    "timeouts": pl.Int64,
}
"""`ms` is the time from the first flow's start to the last byte of the last flow, `ratio` that time over the bound of
the hosts' links. Both are null if flows did not finish. Round 1 opens the connections. `timeouts` are those of all
rounds of the run."""


def gather(results: dict[str, Results]) -> pl.DataFrame:
    """The table (`SCHEMA`) of the results of the study's parts."""
    rows = []
    for name, part in results.items():
        way, _, state = name.rpartition("-")
        summaries = {summary["id"]: summary for summary in part.summaries()}
        late = part.scan_flows(measured=False).group_by("run").agg(pl.col("timeouts").sum()).collect()
        timeouts = dict(late.iter_rows())
        for run in part.finished:
            for done in summaries[run.id]["collectives"]:
                time = done["completion_ps"]
                rows.append(
                    {
                        "way": way,
                        "state": state,
                        "collective": done["kind"],
                        "seed": run.seed,
                        "round": done["round"],
                        "ms": None if time is None else time * 1e-9,
                        "ratio": done["ratio"],
                        "timeouts": timeouts.get(run.id, 0),
                    }
                )
    return pl.DataFrame(rows, schema=SCHEMA)
