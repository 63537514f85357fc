"""Link utilisation for each point and scheme, in the form that the drawing needs."""

from __future__ import annotations

from typing import Any

from .. import extracts, quantity
from ..content import Content
from . import drawing

_MAX_DETAILS = 40_000
"""Links x points x schemes above which tooltips show only utilisation, to keep the page small."""


def link_use(content: Content) -> dict[str, dict[str, dict[str, list[Any]]]]:
    """For each point and scheme, the utilisation (per mille) and tooltip data of each drawn link."""
    use = extracts.link_use(content.results)
    shown = drawing.drawn_links(content.fabric)
    names = [(content.fabric.links[i].source, content.fabric.links[i].target) for i in shown]
    detailed = len(names) * len(content.points) * len(content.schemes) <= _MAX_DETAILS
    found: dict[str, dict[str, dict[str, list[Any]]]] = {}
    for (point, scheme), part in use.group_by("point", "scheme", maintain_order=True):
        by_name = {(a, b): rest for _, _, a, b, *rest in part.iter_rows()}
        rows = [by_name.get(name, (0.0, 0.0, 0.0)) for name in names]
        entry: dict[str, list[Any]] = {"utilisation": [round((row[0] or 0) * 1000) for row in rows]}
        if detailed:
            entry["drops"] = [quantity.count(row[1] or 0.0) for row in rows]
            entry["queues"] = [quantity.size(row[2] or 0.0) for row in rows]
        found.setdefault(str(point), {})[str(scheme)] = entry
    return found
