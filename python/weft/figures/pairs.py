"""Completion times of the same flows under two schemes, one panel for each class. Only on the page.

The script fills in the schemes' names for `FIRST` and `SECOND`.
"""

from collections.abc import Sequence

from .layers import Spec, axis, end, faceted, formatted, tips

FIRST, SECOND = "$first", "$second"


def spec(schemes: Sequence[str], classes: Sequence[str], *, log: bool) -> Spec:
    """Points of flows, and the line on which both times are equal; the data set is `pairs`."""
    x, y = (
        axis(field, name, "s", log=f"child_{field}" if log else "", ticks=4, nice=False, zero=not log)
        for field, name in (("x", FIRST), ("y", SECOND))
    )
    line = {
        "transform": [
            {"fold": ["x", "y"], "as": ["of", "value"]},
            {"aggregate": [{"op": op, "field": "value", "as": op} for op in ("min", "max")], "groupby": []},
            {"calculate": "datum.min / 1.1" if log else "0", "as": "low"},
            {"calculate": "datum.max * 1.1", "as": "high"},
        ],
        "mark": {"type": "rule", "style": "guide", "aria": False},
        "encoding": {"x": x | {"field": "low"}, "x2": end("high"), "y": y | {"field": "low"}, "y2": end("high")},
    }
    texts = {
        "flow": "datum.flow + ' (seed ' + datum.seed + ')'",
        "first scheme": f"{formatted('s', 'x')} + ' under ' + datum.first",
        "second scheme": f"{formatted('s', 'y')} + ' under ' + datum.second",
        "ratio": f"{formatted('ratio', 'ratio')} + ' (' + datum.second + ' / ' + datum.first + ')'",
    }
    points = tips(x, y, texts, {"calculate": "datum.y / datum.x", "as": "ratio"})
    # Without descriptions: Vega-Lite writes the titles, which are names here, into expressions.
    points["mark"] = {"type": "point", "size": 26, "opacity": 0.8, "aria": False}
    points["encoding"] |= {
        channel: {"field": "faster", "type": "nominal", "scale": {"domain": [*schemes, "equal"], "range": name}}
        for channel, name in (("color", "category"), ("shape", "symbol"))
    }
    return faceted("pairs", "class", classes, [line, points])
