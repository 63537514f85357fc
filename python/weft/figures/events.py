"""Events of a run in figures over time: a line at each, and a band while links or nodes are down."""

from collections.abc import Iterable, Mapping
from typing import Any

from .. import quantity
from ..content import Content
from .layers import Layers, formatted

DATA = "events"
"""Name of the data set, the rows of `Content.events`."""


def layers(content: Content) -> Layers:
    """Bands and lines of the data set `DATA`, for a panel with the time in seconds across; none without events."""
    if content.events.is_empty():
        return []
    across = {"field": "at_s", "type": "quantitative"}
    return [
        {
            "data": {"name": DATA},
            "transform": [{"filter": "isValid(datum.until_s)"}],
            "mark": {"type": "rect", "style": "down", "clip": True},
            "encoding": {"x": across, "x2": {"field": "until_s"}},
        },
        {
            "data": {"name": DATA},
            "transform": [
                {"filter": "!isValid(datum.until_s)"},
                {"calculate": formatted("s", "at_s"), "as": "when"},
            ],
            "mark": {"type": "rule", "style": "event", "clip": True},
            "encoding": {
                "x": across,
                "tooltip": [
                    {"field": "text", "type": "nominal", "title": "event"},
                    {"field": "when", "type": "nominal", "title": "time in the run"},
                ],
            },
        },
    ]


def note(content: Content) -> str:
    """The sentence of a caption about them; empty without events."""
    return "" if content.events.is_empty() else " Vertical lines: events; grey bands: from a failure to its recovery."


def listed(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The line below a figure in a file that gives the times of the events, as an axis has few labels."""
    found = [f"{row['text']} at {quantity.seconds(row['at_s'])}" for row in rows if row["until_s"] is None]
    return [f"Events: {'; '.join(found)}"] if found else []
