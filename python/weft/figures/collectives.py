"""Completion of collectives, and its ratio to the bound: one panel for each collective. Only in files."""

from collections.abc import Sequence
from typing import Any

from .. import paths
from ..labels import visible
from .layers import Spec, axis, bars, faceted, names_of

KEYS = {"collective-time": "completion_s", "collective-ratio": "bound_ratio"}
"""The columns of `weft.paths` by name of the file."""


def spec(rows: Sequence[paths.Row], key: str, names: Sequence[str]) -> Spec:
    """Bars with intervals: one for each scheme, at each point if there are several; the data set is `collectives`."""
    column = next(one for one in paths.COLLECTIVE_COLUMNS if one.key == key)
    of_schemes = len({row.point for row in rows}) == 1
    x = names_of("scheme" if of_schemes else "point", axis={"labelAngle": -30, "grid": False, "labelLimit": 150})
    if of_schemes:
        x["sort"] = list(names)
    order = [visible(name) for name in dict.fromkeys(row.collective for row in rows)]
    return faceted("collectives", "collective", order, bars(names, x, axis("mean", column.title, column.kind)))


def data(rows: Sequence[paths.Row], key: str) -> list[dict[str, Any]]:
    """The rows of `collectives` that are in a steady state."""
    return [
        {
            "collective": visible(row.collective),
            "point": visible(row.point),
            "scheme": visible(row.scheme),
            "mean": found.mean,
            "low": None if found.low is None else max(found.low, 0.0),
            "high": found.high,
        }
        for row in rows
        if row.mark is None and (found := row.estimates[key]) is not None
    ]
