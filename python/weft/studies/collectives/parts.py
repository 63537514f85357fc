"""The parts of each set-up's time due to paths and to hosts: a row for each way, fabric and collective.

The part of the paths is the time of a way relative to that of the same hosts with one path per connection. The part of
the hosts is the time of these, with one path, relative to DCTCP with one path. Both are paired by seed. The value of a
seed is the mean over the rounds after the warm-up.
"""

from typing import Any

import polars as pl

from ...statistics import Estimate, estimate
from .setups import COLLECTIVES, REFERENCE, STATES, WARM_UP, WAYS, one_path

SCHEMA: dict[str, Any] = {
    "way": pl.String,
    "state": pl.String,
    "collective": pl.String,
    "seeds": pl.Int64,
    **{
        f"{name}{end}": pl.Float64
        for name in ("ratio", "paths_percent", "hosts_percent")
        for end in ("", "_low", "_high")
    },
}
"""Means with the ends of their 95 % intervals: `ratio`, times the bound; `paths_percent` and `hosts_percent`, time
against the same hosts with one path, and of these against DCTCP with one path."""


def by_seed(table: pl.DataFrame, collective: str, state: str) -> dict[str, pl.DataFrame]:
    """For each way whose rounds all ended: its seeds, and the mean ratio of each after the warm-up."""
    part = table.filter((pl.col("collective") == collective) & (pl.col("state") == state) & (pl.col("round") > WARM_UP))
    found = {}
    for way in WAYS:
        rows = part.filter(pl.col("way") == way)
        if not rows.is_empty() and not rows["ratio"].has_nulls():
            found[way] = rows.group_by("seed").agg(pl.col("ratio").mean()).sort("seed")
    return found


def ratios(table: pl.DataFrame, collective: str, state: str) -> dict[str, Estimate]:
    """Times over the bound by way, the shortest first; ways with a round that did not end are left out."""
    each = by_seed(table, collective, state).items()
    found = {way: value for way, seeds in each if (value := estimate(seeds["ratio"])) is not None}
    return dict(sorted(found.items(), key=lambda one: one[1].mean))


def timeouts(table: pl.DataFrame, collective: str, state: str) -> dict[str, float]:
    """The share of runs with timeouts, of the ways that have some."""
    part = table.filter((pl.col("collective") == collective) & (pl.col("state") == state) & (pl.col("round") == 1))
    shares = part.group_by("way").agg((pl.col("timeouts") > 0).mean().alias("share"))
    found = dict(shares.iter_rows())
    return {way: found[way] for way in WAYS if found.get(way, 0) > 0}


def against(found: dict[str, pl.DataFrame], one: str, other: str) -> Estimate | None:
    """The time of a way relative to that of another, by seed, in per cent; None if one of them did not end."""
    if one not in found or other not in found:
        return None
    joined = found[one].join(found[other], on="seed", suffix="_other")
    return estimate(100 * (joined["ratio"] / joined["ratio_other"] - 1))


def split(table: pl.DataFrame) -> pl.DataFrame:
    """The table (`SCHEMA`) of all ways."""
    rows = []
    for collective in COLLECTIVES:
        for state in STATES:
            found = by_seed(table, collective, state)
            for way, seeds in found.items():
                one = one_path(WAYS[way].kind)
                values = {
                    "ratio": estimate(seeds["ratio"]),
                    "paths_percent": against(found, way, one) if way != one else None,
                    "hosts_percent": against(found, one, one_path(REFERENCE)) if one != one_path(REFERENCE) else None,
                }
                row = {"way": way, "state": state, "collective": collective, "seeds": len(seeds)}
                for name, value in values.items():
                    if value is not None:
                        row |= {name: value.mean, f"{name}_low": value.low, f"{name}_high": value.high}
                rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA)
