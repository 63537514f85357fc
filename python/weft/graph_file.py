"""A graph of NetworkX as the text of a fabric file, and the reader's errors in the graph's terms."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from .errors import ScenarioError

_POSITION = re.compile(r"^line \d+, column \d+: ")
_NUMBERED = re.compile(r"^(node|link) (\d+)(?: \(.*?\))?: ")
_PER_SECOND = 10**12
"""Picoseconds."""


@runtime_checkable
class NetworkxGraph(Protocol):
    """Any graph class of NetworkX, which need not be installed to import Weft."""

    @property
    def graph(self) -> Mapping[Any, Any]:
        """Attributes of the graph; ``name`` is that of the fabric."""

    @property
    def nodes(self) -> Any:
        """The nodes with their attributes."""

    @property
    def edges(self) -> Any:
        """The edges with their attributes."""

    def is_directed(self) -> bool:
        """Whether each direction of a link is an edge of its own."""

    def is_multigraph(self) -> bool:
        """Whether two nodes may have several links."""


def name_of(graph: NetworkxGraph) -> str:
    """The name of its fabric."""
    return str(graph.graph.get("name") or "graph")


def as_text(graph: NetworkxGraph) -> str:
    """The graph as node-link JSON, the format of fabric files for graphs.

    Nodes are named as text, tuples such as ``(0, 1)`` as ``0,1``. The attributes `rate_bps` and
    `delay_s` of `Fabric.to_networkx` are read as well.

    Raises:
        ScenarioError: Two nodes have the same name, or an undirected edge has an attribute for one direction.
    """
    names: dict[Any, str] = {}
    owners: dict[str, Any] = {}
    for node in graph.nodes:
        names[node] = _name(node)
        if (other := owners.setdefault(names[node], node)) is not node:
            raise ScenarioError(f"the nodes {other!r} and {node!r} have the same name, `{names[node]}`: rename one")
    nodes = [_attributes(attributes) | {"id": names[node]} for node, attributes in graph.nodes(data=True)]
    links = []
    for source, target, attributes in graph.edges(data=True):
        back = [key for key in attributes if str(key).endswith("_back")]
        if back and not graph.is_directed():
            raise ScenarioError(
                f"edge `{names[source]}` - `{names[target]}`: `{back[0]}` needs to know which end is first, and an "
                "undirected graph does not keep that: use a networkx.DiGraph with an edge for each direction"
            )
        links.append(_link(attributes) | {"source": names[source], "target": names[target]})
    document = {
        "directed": graph.is_directed(),
        "multigraph": graph.is_multigraph(),
        "graph": {"name": name_of(graph)},
        "nodes": nodes,
        "links": links,
    }
    return json.dumps(document, default=_plain, indent=1)


def given_by_all(graph: NetworkxGraph) -> set[str]:
    """The attributes that all edges have."""
    keys = [_link(attributes).keys() for _, _, attributes in graph.edges(data=True)]
    return set.intersection(*map(set, keys)) if keys else set()


def explained(message: str, text: str) -> str:
    """A reader's message about a text of `as_text`, with the names of the node or edge in place of numbers."""
    message = _POSITION.sub("", message)
    found = _NUMBERED.match(message)
    if found is None:
        return message
    document, at = json.loads(text), int(found[2]) - 1
    if found[1] == "node":
        return f"node `{document['nodes'][at]['id']}`: {message[found.end() :]}"
    link = document["links"][at]
    arrow = "->" if document["directed"] else "-"
    return f"edge `{link['source']}` {arrow} `{link['target']}`: {message[found.end() :]}"


def _name(node: Any) -> str:
    return ",".join(map(str, node)) if isinstance(node, tuple) else str(node)


def _attributes(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in attributes.items() if value is not None}


def _link(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """The attributes of an edge, with the numbers of `Fabric.to_networkx` as texts with units."""
    found = _attributes(attributes)
    for key, name, size, unit in (("rate_bps", "rate", 1, "bps"), ("delay_s", "delay", _PER_SECOND, "ps")):
        if isinstance(found.get(key), int | float) and name not in found:
            found[name] = f"{round(found.pop(key) * size)} {unit}"
    return found


def _plain(value: Any) -> Any:
    """A value that JSON does not know: numbers and arrays of NumPy as those of Python, others as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
