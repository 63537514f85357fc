"""Tables as compact data for the page's script: columns of numbers, with names replaced by their places in lists."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ..content import Content
from ..figures import collectives, events
from ..figures.figure import ALL
from ..figures.registry import FIGURES
from ..metrics import METRICS

_DIGITS = 5
"""Significant digits of the numbers in the page."""
_COLLECTIVES = dict.fromkeys(("collective", "point", "scheme"), pl.String) | dict.fromkeys(
    ("mean", "low", "high"), pl.Float64
)


def frame(table: pl.DataFrame, places: Mapping[str, Sequence[str]]) -> dict[str, list[Any]]:
    """The columns of a table as lists.

    Columns of names in `places` have each name's place in the list there; rows with other names are left out.
    """
    names = {name: list(values) for name, values in places.items() if name in table.columns}
    for name, values in names.items():
        table = table.filter(pl.col(name).is_in(values)).with_columns(
            pl.col(name).replace_strict(values, range(len(values)), return_dtype=pl.Int64)
        )
    table = table.sort(list(names), maintain_order=True) if names else table
    return {name: [_short(value) for value in table[name].to_list()] for name in table.columns}


def _short(value: Any) -> Any:
    """A number with a few digits, and without a decimal point if it is whole."""
    if not isinstance(value, float):
        return value
    rounded = float(f"{value:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def frames(content: Content) -> dict[str, dict[str, list[Any]]]:
    """The tables of all charts, by name; those of figures without data are left out."""
    classes = [*content.classes, ALL] if len(content.classes) > 1 else content.classes
    known = set(content.intervals()["metric"])
    places = {"point": content.points, "scheme": content.schemes, "class": classes}
    places["metric"] = [metric.key for metric in METRICS if metric.key in known]
    found: dict[str, pl.DataFrame] = {}
    for figure in FIGURES:
        tables = figure.data(content)
        if tables and not any(table.is_empty() for table in tables.values()):
            found |= tables
    if not content.events.is_empty():
        found[events.DATA] = content.events
    if content.collectives:
        found["collectives"] = pl.DataFrame(collectives.data(content.collectives, "completion_s"), _COLLECTIVES)
    return {name: frame(table, places) for name, table in found.items()}
