"""Completion of the last flow by entropies, ours and csg-htsim's."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ...figures.layers import axis, estimates, faceted, means
from ...figures.paper import write
from ...palette import styles
from ...statistics import estimate
from . import published
from .setups import paths

OURS, THEIRS = "Weft", "csg-htsim"


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """One panel for each number of hosts."""
    part = table.filter(pl.col("kind") == "hosts")
    numbers = sorted(part["hosts"].unique().to_list())
    if not numbers:
        return []
    rows = []
    for hosts in numbers:
        own, place = part.filter(pl.col("hosts") == hosts), published.HOSTS.index(hosts)
        for asked, values in published.LAST_US.items():
            ours = estimate(own.filter(pl.col("entropies") == min(asked, paths(hosts)))["max"])
            for name, value in ((OURS, ours), (THEIRS, estimate([values[place]]))):
                rows += estimates([(asked, value)], scheme=name, panel=f"{hosts} hosts")
    x = axis("x", "entropies", "number", log="child_x", values=list(published.LAST_US), base=2)
    y = axis("mean", "completion of the last flow, us", "number", domainMin=0)
    order = [f"{hosts} hosts" for hosts in numbers]
    spec = faceted("last", "panel", order, means((OURS, THEIRS), x, y), share_y=True)
    return write(spec, {"last": rows}, styles((OURS, THEIRS)), out / "last-flow", formats)
