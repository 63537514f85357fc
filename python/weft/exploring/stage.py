"""Layout of the page's drawing: tiers as rows, the flow's two hosts large, others small or, if many, omitted."""

from typing import Any

from ..drawing import Frame, Place, draws_hosts, gap, laid_out, named_rows
from ..graph import Node
from ..topology import Fabric

WIDTH = 1000
_FRAME = Frame(left=40, right=40, top=34, row=176, plain=620, labels=64)
_BOTTOM = 66
_LETTER = 8.6
"""Approximate width of a letter in a label."""


def stage(fabric: Fabric, ends: tuple[str, str]) -> dict[str, Any]:
    """Size, row labels and, for each node of the fabric in order, its position; None if it is not drawn."""
    drawn = [node for node in fabric.nodes if not node.is_host or draws_hosts(fabric) or node.name in ends]
    places, inner, tiered = laid_out(fabric, drawn, WIDTH, _FRAME)
    switches = [node.name for node in drawn if not node.is_host]
    half = min(34.0, max(4.0, gap((places[name] for name in switches), 120.0) * 0.4))
    named = {name for name in switches if all(2 * half > _LETTER * len(other) + 4 for other in switches)} | set(ends)
    return {
        "width": WIDTH,
        "height": inner + _FRAME.top + _BOTTOM,
        "half": round(half, 1),
        "rows": [{"y": y, "text": name} for y, name in named_rows(drawn, places)] if tiered else [],
        "nodes": [_node(node, places.get(node.name), named, ends) for node in fabric.nodes],
    }


def _node(node: Node, place: Place | None, named: set[str], ends: tuple[str, str]) -> dict[str, Any] | None:
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
