"""Completion times of the study's runs, as one table: a row for each part, number of entropies and seed."""

from typing import Any

import polars as pl

from ...results import Results
from ...samples import QUANTILE
from .setups import ANSWER_BITS, DELAY_S, RATE_BPS

SCHEMA: dict[str, Any] = {
    "kind": pl.String,
    "hosts": pl.Int64,
    "entropies": pl.Int64,
    "seed": pl.Int64,
    "p50": pl.Float64,
    "p99": pl.Float64,
    "max": pl.Float64,
    "unfinished": pl.Int64,
    "trimmed_share": pl.Float64,
}
"""Completion times are in microseconds, at the sender; `trimmed_share` is retransmissions per packet."""


def gather(results: dict[str, Results]) -> pl.DataFrame:
    """The table (`SCHEMA`) of the results of the study's parts."""
    frames = [_part(name, part) for name, part in results.items()]
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)


def _part(name: str, part: Results) -> pl.DataFrame:
    kind, _, hosts = name.partition("-")
    # The receiver has the last byte at `fct_s`; its answer takes the way back.
    back = pl.col("hops") * (DELAY_S + ANSWER_BITS / RATE_BPS)
    flows = part.scan_flows(measured=False).with_columns((1e6 * (pl.col("fct_s") + back)).alias("us"))

    def at(share: float) -> pl.Expr:
        return pl.col("us").quantile(share, interpolation=QUANTILE)

    found = flows.group_by("run").agg(
        at(0.5).alias("p50"),
        at(0.99).alias("p99"),
        pl.col("us").max().alias("max"),
        pl.col("fct_ps").is_null().sum().alias("unfinished"),
        (pl.col("retransmissions").sum() / pl.col("packets_sent").sum()).alias("trimmed_share"),
    )
    runs = pl.DataFrame(
        [
            {
                "run": run.id,
                "kind": kind,
                "hosts": int(hosts),
                "entropies": run.overrides["transport.entropies"],
                "seed": run.seed,
            }
            for run in part.finished
        ]
    )
    joined = runs.join(found.collect(), on="run")
    return joined.select(pl.col(column).cast(dtype) for column, dtype in SCHEMA.items())
