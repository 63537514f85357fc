"""Completion of the study's collectives, as one table: a row for each way, fabric, collective, seed and round."""

from typing import Any

import polars as pl

from ...results import Results
from ..rounds import rounds

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
        for one in rounds(part):
            rows.append(
                {
                    "way": way,
                    "state": state,
                    "collective": one.kind,
                    "seed": one.seed,
                    "round": one.number,
                    "ms": None if one.picoseconds is None else one.picoseconds * 1e-9,
                    "ratio": one.ratio,
                    "timeouts": one.timeouts,
                }
            )
    return pl.DataFrame(rows, schema=SCHEMA)
