"""Completion of the study's collectives, as one table: a row for each case, seed and round."""

from dataclasses import asdict
from typing import Any

import polars as pl

from ...results import Results
from .setups import Case

SCHEMA: dict[str, Any] = {
    "gpus": pl.Int64,
    "fabric": pl.String,
    "hosts": pl.String,
    "state": pl.String,
    "collective": pl.String,
    "seed": pl.Int64,
    "round": pl.Int64,
    "us": pl.Float64,
    "ratio": pl.Float64,
    "timeouts": pl.Int64,
}
"""`us` is the time from the first flow's start to the last byte of the last flow, `ratio` that time over the bound of
the hosts' links. Both are null if flows did not finish. `timeouts` are those of all rounds of the run."""


def gather(results: dict[str, Results]) -> pl.DataFrame:
    """The table (`SCHEMA`) of the results of the study's parts."""
    rows = []
    for name, part in results.items():
        case = asdict(Case.of(name))
        summaries = {summary["id"]: summary for summary in part.summaries()}
        late = part.scan_flows(measured=False).group_by("run").agg(pl.col("timeouts").sum()).collect()
        timeouts = dict(late.iter_rows())
        for run in part.finished:
            for done in summaries[run.id]["collectives"]:
                time = done["completion_ps"]
                rows.append(
                    case
                    | {
                        "seed": run.seed,
                        "round": done["round"],
                        "us": None if time is None else time * 1e-6,
                        "ratio": done["ratio"],
                        "timeouts": timeouts.get(run.id, 0),
                    }
                )
    return pl.DataFrame(rows, schema=SCHEMA)
