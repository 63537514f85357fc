"""Completion of the study's collectives, as one table: a row for each case, seed and round."""

from dataclasses import asdict
from typing import Any

import polars as pl

from ...results import Results
from ..rounds import rounds
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
        for one in rounds(part):
            rows.append(
                case
                | {
                    "seed": one.seed,
                    "round": one.number,
                    "us": None if one.picoseconds is None else one.picoseconds * 1e-6,
                    "ratio": one.ratio,
                    "timeouts": one.timeouts,
                }
            )
    return pl.DataFrame(rows, schema=SCHEMA)
