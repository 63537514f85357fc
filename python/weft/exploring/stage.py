"""Layout of the page's drawing: tiers as rows, the flow's two hosts large, others small or, if many, omitted."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ..drawing import draws_hosts
from ..graph import Node, tier_name
from ..topology import Fabric

WIDTH = 1000
_LEFT, _RIGHT, _TOP, _BOTTOM = 104, 40, 34, 66
_ROW = 176
_PLAIN = 620
"""Height of a drawing without rows."""
_LETTER = 8.6
"""Approximate width of a letter in a label."""


def stage(fabric: Fabric, ends: tuple[str, str]) -> dict[str, Any]:
    """Size, row labels and, for each node of the fabric in order, its position; None if it is not drawn."""
    drawn = [node for node in fabric.nodes if not node.is_host or draws_hosts(fabric) or node.name in ends]
    points = fabric.places()
    xs, ys = ([points[node.name][axis] for node in drawn] for axis in (0, 1))
    rows = sorted({round(y, 6) for y in ys}, reverse=True)
    tiered = len(rows) <= 6
    inner = _ROW * max(len(rows) - 1, 1) if tiered else _PLAIN
    left = _LEFT if tiered else _RIGHT
    span_x, span_y = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    places = {}
    for node, x, y in zip(drawn, xs, ys, strict=True):
        across = (x - min(xs)) / span_x if max(xs) > min(xs) else 0.5
        places[node.name] = (left + across * (WIDTH - _RIGHT - left), _TOP + (max(ys) - y) / span_y * inner)
    switches = [node.name for node in drawn if not node.is_host]
    half = min(34.0, max(4.0, _gap([places[name] for name in switches]) * 0.4))
    named = {name for name in switches if all(2 * half > _LETTER * len(other) + 4 for other in switches)} | set(ends)
    return {
        "width": WIDTH,
        "height": inner + _TOP + _BOTTOM,
        "half": round(half, 1),
        "rows": _rows(drawn, places) if tiered else [],
        "nodes": [_node(node, places.get(node.name), named, ends) for node in fabric.nodes],
    }


def _node(
    node: Node, place: tuple[float, float] | None, named: set[str], ends: tuple[str, str]
) -> dict[str, Any] | None:
    if place is None:
        return None
    role = (
        ("source", "destination")[ends.index(node.name)] if node.name in ends else "host" if node.is_host else "switch"
    )
    return {
        "name": node.name,
        "role": role,
        "x": round(place[0], 1),
        "y": round(place[1], 1),
        "label": node.name in named,
    }


def _rows(nodes: list[Node], places: dict[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """Labels of the rows, if each tier is one row."""
    rows: dict[int, set[float]] = {}
    for node in nodes:
        rows.setdefault(node.tier, set()).add(round(places[node.name][1], 1))
    if len(rows) < 2 or any(len(ys) > 1 for ys in rows.values()):
        return []
    return [{"y": min(ys), "text": tier_name(tier, max(rows))} for tier, ys in rows.items()]


def _gap(places: list[tuple[float, float]]) -> float:
    """The smallest horizontal distance between neighbours in a row."""
    rows: dict[float, list[float]] = {}
    for x, y in places:
        rows.setdefault(round(y, 1), []).append(x)
    return min((b - a for xs in rows.values() for a, b in pairwise(sorted(xs)) if b > a), default=120.0)
