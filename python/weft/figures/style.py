"""The configuration of all charts: sizes, fonts and the ranges of schemes; the page and `paper` give the colours."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..palette import Style

HATCHES = (
    "",
    "M0,6L6,0M-1,1L1,-1M5,7L7,5",
    "M1,1h1M4,4h1",
    "M0,0L6,6M-1,5L1,7M5,-1L7,1",
    "M0,0L6,6M0,6L6,0",
    "M0,3h6",
    "M0,3h6M3,0v6",
    "M3,0v6",
)
"""White lines of bars as SVG paths in squares of 6 pixels."""


def config(colors: Mapping[str, Any], looks: Sequence[Style], **more: Any) -> dict[str, Any]:
    """The configuration of a chart, with the styles of schemes in their order; the page and files differ in `more`.

    `colors` are `ink`, `soft`, `grid`, `edge`, and for schemes `category` and `hatched`.
    """
    style = {
        "interval": {"color": colors["ink"], "strokeWidth": 1.4},
        "guide": {"color": colors["soft"], "strokeWidth": 1, "strokeDash": [3, 3]},
        "here": {"color": colors["edge"]},
        "event": {"color": colors["ink"], "strokeWidth": 1.2, "strokeDash": [2, 2]},
        "down": {"color": colors["edge"], "opacity": 0.22},
        "tips": {"opacity": 0, "size": 50},
        "pointed": {"opacity": 0},
        "area": {"color": colors["grid"]},
        "note": {"fontSize": 8, "color": colors["soft"]},
    }
    texts = {"labelColor": colors["ink"], "labelFontSize": 13, "labelLimit": 240, "labelPadding": 8, "title": None}
    base = {
        "axis": {
            "gridColor": colors["grid"],
            "domainColor": colors["edge"],
            "tickColor": colors["edge"],
            "labelColor": colors["soft"],
            "titleColor": colors["ink"],
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titlePadding": 8,
            "labelLimit": 160,
        },
        "header": texts,
        "title": {"color": colors["ink"], "fontSize": 13, "limit": 240, "anchor": "middle", "offset": 8},
        "view": {"stroke": None},
        "point": {"filled": True, "opacity": 1, "size": 50},
        "line": {"strokeWidth": 1.8},
        "facet": {"spacing": 22},
        "concat": {"spacing": 22},
        "range": {
            "category": colors["category"],
            "hatched": colors["hatched"],
            "symbol": [*(look.shape for look in looks), "stroke"],
            "dash": [[2 * part for part in look.dash] or [1, 0] for look in looks],
        },
    }
    for name, value in more.items():
        base[name] = base.get(name, {}) | value if isinstance(value, dict) else value
    base["style"] = style | {name: style.get(name, {}) | value for name, value in more.get("style", {}).items()}
    return base
