"""An estimate of the time for the paper's evaluation at 1 Gbps, from the study's runs."""

import polars as pl

from .scenarios import DISTRIBUTIONS, LOADS, MAIN, PAPER_SCHEMES
from .table import Tables

SECONDS, SEEDS, CORES = 1800, 10, 2


def estimate(tables: Tables) -> list[str]:
    """One line: hours on two CPU cores for 3 schemes, 2 distributions, 4 loads and 10 seeds of 1800 s."""
    measured = tables.runs.filter(
        (pl.col("part") == MAIN)
        & pl.col("scheme").is_in(PAPER_SCHEMES)
        & pl.col("load").is_in(LOADS)
        & pl.col("seconds_per_second").is_not_null()
    )
    cells = measured.group_by("scheme", "sizes", "load").agg(pl.col("seconds_per_second").mean())
    if len(cells) < len(PAPER_SCHEMES) * len(DISTRIBUTIONS) * len(LOADS):
        return []
    hours = float(cells["seconds_per_second"].sum()) * SECONDS * SEEDS / CORES / 3600
    evaluation = f"3 schemes x 2 distributions x 4 loads x {SEEDS} seeds x {SECONDS} s"
    return [
        f"The paper's evaluation at 1 Gbps ({evaluation}) would take about {hours:.1f} hours on {CORES} CPU cores "
        f"like those of this machine, at the mean speed of {len(measured)} runs."
    ]
