"""The rows of the study and how each is decided: pure functions of `table.SCHEMA`.

A row holds if the mean over seeds of the completion time is at or below the limit of uet-htsim's list.
"""

import polars as pl

from ...statistics import estimate
from ..outcome import StudyRow
from ..rows import not_measured, row
from . import published, rules
from .published import Limit

LAST = "{title}: last flow within {limit:g} us"
WATCHED = "{title}: within {limit:g} us"
UNIT = "us"


def judge(table: pl.DataFrame) -> list[StudyRow]:
    """The rows of both lists in their order."""
    return [_judged(table.filter(pl.col("setup") == limit.setup), limit) for limit in published.LIMITS]


def _judged(table: pl.DataFrame, limit: Limit) -> StudyRow:
    ident, claim = limit.ident, (LAST if limit.of == "last" else WATCHED).format(title=limit.title, limit=limit.limit)
    if table["unfinished"].sum():
        return not_measured(ident, claim, UNIT, "some flows did not finish")
    values = table[limit.of].to_list()
    found = estimate(values)
    if found is None:
        return not_measured(ident, claim, UNIT, f"no run of set-up {limit.setup}")
    holds = found.mean <= limit.limit
    theirs = limit.htsim
    notes = [
        f"{found.n} seeds: {min(values):.1f} to {max(values):.1f} us",
        f"uet-htsim {theirs.mean:.1f} us, {theirs.seeds} seeds: {theirs.least:.1f} to {theirs.greatest:.1f} us "
        f"({100 * (found.mean / theirs.mean - 1):+.1f} %)",
    ]
    if not holds:
        notes.append(rules.DECIDING.get(ident, "the reason is not known"))
    return row(ident, claim, holds, found, UNIT, notes)
