"""Times of cases, and their differences by seed. The value of a seed is the mean over the rounds after the warm-up."""

from dataclasses import asdict, replace

import polars as pl

from ...statistics import Estimate, estimate
from .setups import WARM_UP, Case


def of_case(table: pl.DataFrame, case: Case) -> pl.DataFrame:
    """The rows of a case."""
    return table.filter(pl.all_horizontal(pl.col(name) == value for name, value in asdict(case).items()))


def by_seed(table: pl.DataFrame, case: Case) -> pl.DataFrame | None:
    """Seeds with their mean `us` and `ratio`; None if the case was not run, or a round did not end."""
    rows = of_case(table, case).filter(pl.col("round") > WARM_UP)
    if rows.is_empty() or rows["us"].has_nulls():
        return None
    return rows.group_by("seed").agg(pl.col("us", "ratio").mean()).sort("seed")


def mean(table: pl.DataFrame, case: Case, column: str = "us") -> Estimate | None:
    """The time in us (or, with `column`, its ratio to the bound) over seeds."""
    found = by_seed(table, case)
    return None if found is None else estimate(found[column])


def more(table: pl.DataFrame, case: Case, other: Case) -> Estimate | None:
    """The time of a case relative to another one, in per cent."""
    return None if (found := _more(table, case, other)) is None else estimate(found["more"])


def loss(table: pl.DataFrame, case: Case) -> Estimate | None:
    """The additional time of a case, whole by itself, with failed uplinks, in per cent."""
    return more(table, replace(case, state="failed"), replace(case, state="whole"))


def loss_more(table: pl.DataFrame, case: Case, other: Case) -> Estimate | None:
    """The `loss` of a case less that of another one, in points of per cent."""
    one, two = (_more(table, replace(of, state="failed"), replace(of, state="whole")) for of in (case, other))
    if one is None or two is None:
        return None
    joined = one.join(two, on="seed", suffix="_other")
    return estimate(joined["more"] - joined["more_other"])


def _more(table: pl.DataFrame, case: Case, other: Case) -> pl.DataFrame | None:
    one, two = by_seed(table, case), by_seed(table, other)
    if one is None or two is None:
        return None
    ratio = 100 * (pl.col("us") / pl.col("us_other") - 1)
    return one.join(two, on="seed", suffix="_other").select("seed", ratio.alias("more"))
