"""Slowdown and completion time by flow size: mean and 99th percentile in bins of sizes."""

import polars as pl

from .. import extracts_sizes
from ..content import Content
from ..markup import escape
from .figure import NONE_ENDED, Drawn, Figure, Toggle, interval_note
from .layers import Layers, Spec, axis, beside, end, formatted, means, panel, span, tips

_TITLES = {"mean": "mean", "p99": "p99"}
_KINDS = {"slowdown": ("slowdown", "ratio"), "fct_s": ("completion time", "s")}
_MEASURES = {f"{statistic}_{value}": (statistic, value) for value in _KINDS for statistic in _TITLES}
_APART = 3
"""Pixels between the intervals of two schemes at one size, so that they do not hide each other; marks are not moved."""
_LEAST = 4
"""Ratio of the largest and the smallest size on an axis, at least: a single size is in the middle."""
_ENDS: Layers = [
    {
        "joinaggregate": [
            {"op": "min", "field": "bytes", "as": "first"},
            {"op": "max", "field": "bytes", "as": "last"},
        ],
        "groupby": [],
    },
    {"calculate": f"sqrt(max(1, {_LEAST} * datum.first / datum.last))", "as": "more"},
    {"calculate": "datum.first / datum.more", "as": "from"},
    {"calculate": "datum.last * datum.more", "as": "to"},
]


def _spec(drawn: Drawn) -> Spec:
    log = any(name.endswith("-y") for name in drawn.on)
    names = list(drawn.names)
    beside_mark = {"expr": f"{_APART} * (datum.place - {(len(names) - 1) / 2:g})"}
    panels = []
    for place, (measure, (statistic, value)) in enumerate(_MEASURES.items()):
        title, kind = _KINDS[value]
        x = axis("bytes", "flow size", "bytes", log=f"concat_{place}_x", digits="1", grid=False, padding=10)
        y = axis(measure, title, kind, log=f"concat_{place}_y" if log else "", zero=not log)
        texts = {
            "scheme": "datum.scheme",
            "flow sizes": f"{formatted('bytes', 'least_bytes')} + ' to ' + {formatted('bytes', 'most_bytes')}",
            f"{_TITLES[statistic]}, mean over seeds": formatted(kind, measure),
            "95 % interval": span(kind, f"{measure}_low", f"{measure}_high"),
            "flows per run (fewest)": "format(datum.flows, ',')"
            + (f" + (datum.flows < {extracts_sizes.ENOUGH} ? ' (few)' : '')" if statistic == "p99" else ""),
        }
        one = panel("sizes", [], f"{title}: {_TITLES[statistic]}")
        one["transform"] = [
            {"filter": f"isValid(datum.{measure})" + (f" && datum.{measure} > 0" if log else "")},
            # An interval without ends has no length: a layer without values would have no scale.
            *(
                {"calculate": f"isValid(datum.{measure}_{side}) ? {limit} : datum.{measure}", "as": name}
                for side, name, limit in (
                    ("low", "bottom", f"max(datum.{measure}_low, {f'datum.{measure} / 1000' if log else '0'})"),
                    ("high", "top", f"datum.{measure}_high"),
                )
            ),
        ]
        layers = means(names, x, y)
        layers[1]["mark"]["xOffset"] = beside_mark
        layers[1]["encoding"] |= {"y": y | {"field": "bottom"}, "y2": {"field": "top"}}
        layers[1]["transform"] = []
        span_of_x: Spec = {
            "transform": _ENDS,
            "mark": {"type": "rule", "opacity": 0, "aria": False},
            "encoding": {"x": x | {"field": "from"}, "x2": end("to"), "y": {"value": 0}},
        }
        one["layer"] = [*layers, tips(x, y, texts), span_of_x]
        panels.append(one)
    return beside(*panels)


def _sizes(content: Content) -> pl.DataFrame:
    """The rows of the schemes and points in a steady state."""
    found = extracts_sizes.by_size(content.results)
    marked = pl.DataFrame(list(content.marks), {"point": pl.String, "scheme": pl.String}, orient="row")
    return found.join(marked, on=["point", "scheme"], how="anti", maintain_order="left")


def _empty(content: Content) -> str:
    """The sentence in the place of the figure; the top of the page has the reasons."""
    why = content.summary.without_means()
    return f"<p>{escape(why[0])} The top of the page has the reasons.</p>" if why else NONE_ENDED


def _caption(content: Content) -> str:
    left_out = "Schemes that were not in a steady state are left out. " if content.marks else ""
    return (
        "All classes together, in bins of sizes (three in a factor of ten, joined where there would be few flows). "
        "A mark is at the mean size of its bin; intervals of several schemes stand side by side. "
        "Each run has one mean and one 99th percentile for each bin; only finished flows count. "
        f"A 99th percentile of fewer than {extracts_sizes.ENOUGH} flows lies between the two largest values. "
        + left_out
        + interval_note(content)
    )


FIGURE = Figure(
    "by-size",
    "Slowdown and completion time by flow size",
    _caption,
    {"sizes": _sizes},
    {
        **dict.fromkeys(("bytes", "least_bytes", "most_bytes"), "bytes"),
        "flows": "count",
        **{f"{name}{end}": _KINDS[value][1] for name, (_, value) in _MEASURES.items() for end in ("", "_low", "_high")},
    },
    _spec,
    _empty,
    file="fct-by-size",
    steady=True,
    toggles=(Toggle("by-size-y", "log axis"),),
)
