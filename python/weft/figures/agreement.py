"""Ratios of emulated to simulated means, with their intervals and the tolerance band."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..palette import styles
from ..studies.agreement import Cell
from .layers import Layers, axis, crossed, estimates, means, names_of
from .paper import write


def draw(
    found: Sequence[Cell], same: float, labels: Mapping[str, str], path: Path, formats: Sequence[str]
) -> list[Path]:
    """One row of panels per measure, one column per class: the ratio for each point and scheme.

    A band shows the tolerance `same` within which means agree. `labels` are those of measures.
    """
    classes = list(dict.fromkeys(cell.klass for cell in found))
    names = list(dict.fromkeys(cell.scheme for cell in found))
    rows = [
        row
        for cell in found
        for measure, label in labels.items()
        for row in estimates([(cell.point, cell.ratios.get(measure))], scheme=cell.scheme, column=cell.klass, row=label)
    ]
    x = names_of("x") | {"axis": {"labelAngle": 0, "grid": False}}
    y = axis("mean", "emulated / simulated", "ratio", zero=False)
    beside: dict[str, Any] = {"xOffset": {"field": "scheme", "type": "nominal", "sort": names}}
    layers: Layers = means(names, x, y, line=False)
    for layer in layers:
        layer["encoding"] |= beside
    band: Layers = [
        {
            "mark": {"type": "rect", "style": "area"},
            "encoding": {"y": {"datum": 1 - same}, "y2": {"datum": 1 + same}},
        },
        {"mark": {"type": "rule", "style": "guide"}, "encoding": {"y": {"datum": 1}}},
    ]
    spec = crossed("ratios", list(labels.values()), classes, [*band, *layers], height=165, share_y=True)
    return write(spec, {"ratios": rows}, styles(names), path, formats)
