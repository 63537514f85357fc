"""Slowdown and completion time by flow size: mean and 99th percentile in bins of sizes."""

from .. import extracts_sizes
from ..content import Content
from .figure import NONE_ENDED, Drawn, Figure, Toggle, interval_note
from .layers import Spec, axis, beside, formatted, means, panel, span, tips

_TITLES = {"mean": "mean", "p99": "p99"}
_KINDS = {"slowdown": ("slowdown", "ratio"), "fct_s": ("completion time", "s")}
_MEASURES = {f"{statistic}_{value}": (statistic, value) for value in _KINDS for statistic in _TITLES}
_SPREAD = 1.3
"""Ratio of the places of the first and the last scheme at one size: so that intervals do not hide each other."""


def _spec(drawn: Drawn) -> Spec:
    log = any(name.endswith("-y") for name in drawn.on)
    names = list(drawn.names)
    at = f"datum.bytes * pow({_SPREAD}, datum.place / {max(len(names) - 1, 1)} - {0.5 if len(names) > 1 else 0})"
    panels = []
    for place, (measure, (statistic, value)) in enumerate(_MEASURES.items()):
        title, kind = _KINDS[value]
        x = axis("at", "flow size", "bytes", log=f"concat_{place}_x", digits="1", grid=False, padding=10)
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
            {"calculate": at, "as": "at"},
            # An interval without ends has no length: a layer without values would have no scale.
            *(
                {"calculate": f"isValid(datum.{measure}_{end}) ? {limit} : datum.{measure}", "as": name}
                for end, name, limit in (
                    ("low", "bottom", f"max(datum.{measure}_low, {f'datum.{measure} / 1000' if log else '0'})"),
                    ("high", "top", f"datum.{measure}_high"),
                )
            ),
        ]
        layers = means(names, x, y)
        layers[1]["encoding"] |= {"y": y | {"field": "bottom"}, "y2": {"field": "top"}}
        layers[1]["transform"] = []
        one["layer"] = [*layers, tips(x, y, texts)]
        panels.append(one)
    return beside(*panels)


def _caption(content: Content) -> str:
    return (
        "All classes together, in bins of sizes (three in a factor of ten, joined where there would be few flows). "
        "Each run has one mean and one 99th percentile for each bin; only finished flows count. "
        f"A 99th percentile of fewer than {extracts_sizes.ENOUGH} flows lies between the two largest values. "
        + interval_note(content)
    )


FIGURE = Figure(
    "by-size",
    "Slowdown and completion time by flow size",
    _caption,
    {"sizes": lambda content: extracts_sizes.by_size(content.results)},
    {
        **dict.fromkeys(("bytes", "least_bytes", "most_bytes"), "bytes"),
        "flows": "count",
        **{f"{name}{end}": _KINDS[value][1] for name, (_, value) in _MEASURES.items() for end in ("", "_low", "_high")},
    },
    _spec,
    lambda _: NONE_ENDED,
    file="fct-by-size",
    toggles=(Toggle("by-size-y", "log axis"),),
)
