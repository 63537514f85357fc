"""The metrics of a run computed from the rows of its flows, as Polars expressions.

The engine computes the same of each class (`crates/sim/src/results/summary.rs`).
"""

import polars as pl

from .samples import QUANTILE


def _sum(column: str) -> pl.Expr:
    """The sum of a count; null if it is unknown for any flow, as for emulated flows."""
    return pl.when(pl.col(column).null_count() == 0).then(pl.col(column).sum())


def _quantile(q: float) -> pl.Expr:
    return pl.col("fct_s").quantile(q, interpolation=QUANTILE)


VALUES = {
    "mean_fct_s": pl.col("fct_s").mean(),
    "median_fct_s": _quantile(0.5),
    "p99_fct_s": _quantile(0.99),
    "p999_fct_s": _quantile(0.999),
    "mean_slowdown": pl.col("slowdown").mean(),
    "mean_throughput_bps": pl.col("throughput_bps").mean(),
    "out_of_order_share": _sum("out_of_order") / _sum("first_transmissions_received"),
    "retransmissions": _sum("retransmissions").cast(pl.Float64),
    "drops": _sum("drops").cast(pl.Float64),
}
"""The value of each of `weft.metrics.METRICS`, by its key."""
