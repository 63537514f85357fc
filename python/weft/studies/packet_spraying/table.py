"""The data for the claims, as one table: a row for each scenario, transport, scheme and seed."""

import polars as pl

from ...group_values import per_seed
from ...results import Results

SCHEMA = {
    "kind": pl.String,
    "short": pl.Int64,
    "long": pl.Int64,
    "transport": pl.String,
    "scheme": pl.String,
    "seed": pl.Int64,
    "long_throughput_bps": pl.Float64,
    "short_fct_s": pl.Float64,
    "out_of_order_share": pl.Float64,
    "short_retransmissions": pl.Float64,
    "short_drops": pl.Float64,
    "unfinished": pl.Float64,
}
"""Mean throughput of the long flows; FCT, out-of-order share, retransmissions and drops of the short ones; share of all
flows that did not finish: the means are over the others."""


def gather(results: dict[str, Results]) -> pl.DataFrame:
    """The table (`SCHEMA`) of the results of the study's parts; `kind` is ``static`` or ``random``."""
    frames = [_part(kind, part) for kind, part in results.items()]
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)


def _part(kind: str, results: Results) -> pl.DataFrame:
    keys = {"traffic.short.flows": "short", "traffic.long.flows": "long", "transport.profile": "transport"}
    values = per_seed(results).rename(keys, strict=False)
    if "short" not in values.columns:
        values = values.with_columns(pl.lit(1).alias("short"))

    def only(name: str, column: str) -> pl.Expr:
        return pl.col(column).filter(pl.col("class") == name).first()

    return (
        values.group_by("short", "long", "transport", "scheme", "seed", maintain_order=True)
        .agg(
            only("long", "mean_throughput_bps").alias("long_throughput_bps"),
            only("short", "mean_fct_s").alias("short_fct_s"),
            only("short", "out_of_order_share").alias("out_of_order_share"),
            (only("short", "retransmissions") / only("short", "flows")).alias("short_retransmissions"),
            (only("short", "drops") / only("short", "flows")).alias("short_drops"),
            (1 - pl.col("finished").sum() / pl.col("flows").sum()).alias("unfinished"),
        )
        .with_columns(pl.lit(kind).alias("kind"))
        .select(pl.col(column).cast(dtype) for column, dtype in SCHEMA.items())
    )
