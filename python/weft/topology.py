"""A fabric as data: nodes with their positions, directed links, and measures of the graph."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from . import _weft
from .catalogue import controller_settings
from .errors import ScenarioError
from .files import write_text
from .graph import Graph, Link, Node
from .graph_file import NetworkxGraph, as_text, explained, name_of
from .labels import plural
from .markup import escape
from .user_files import missing, read_text

_MADE = "`weft new mine.toml --from own-fabric` writes a fabric file, `weft scenarios` copies those that come with Weft"
PATHS: int = controller_settings()["paths"]["default"]
"""The number of paths in a set by default: the controller's."""


_DRAWN = 2000
"""Links above which a notebook shows no drawing."""


@dataclass(frozen=True)
class FabricPath:
    """One of the paths of `Fabric.path_set`.

    Attributes:
        nodes: The names of the nodes, including both ends.
        cables: The full-duplex links between them: number `i` is `links[2 * i]` and `links[2 * i + 1]` of the fabric.
        shared: Number of links in common with the first path of the set; for the first path itself, all.
        shared_before: For each link, the number of earlier paths in the set that contain it, summed over its links.
    """

    nodes: tuple[str, ...]
    cables: tuple[int, ...]
    shared: int
    shared_before: int

    @property
    def hops(self) -> int:
        """Number of links."""
        return len(self.cables)


@dataclass(frozen=True, repr=False)
class Fabric(Graph):
    """A graph of hosts and switches, as the engine reads it.

    Attributes:
        measures: The engine's measures: counts by tier, path diversity, bisection, diameter.
        warnings: Parts of the fabric file that Weft ignores.
        origin: The file or graph that `fabric` read; None for the fabric of a scenario.
    """

    measures: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    origin: Path | NetworkxGraph | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"Fabric({self.name!r}: {self._counts})"

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Fabric:
        """Create it from the `nodes` and `links` of the engine or of a ``summary.json``."""
        nodes = [
            Node(
                name=str(n["name"]),
                role=str(n.get("role", "switch")),
                tier=int(n.get("tier") or 0),
                x=float(n.get("x", 0.0)),
                y=float(n.get("y", 0.0)),
                pod=n.get("pod"),
            )
            for n in data["nodes"]
        ]
        links = [
            Link(
                str(link["from"]),
                str(link["to"]),
                float(link["rate_bps"]),
                int(link.get("delay_ps", 0)),
                bool(link.get("up", True)),
            )
            for link in data["links"]
        ]
        measures = {k: v for k, v in data.items() if k not in ("name", "nodes", "links", "warnings")}
        return cls(str(data.get("name", "fabric")), nodes, links, measures, tuple(data.get("warnings", ())))

    @property
    def _counts(self) -> str:
        hosts, switches = plural(len(self.hosts), "host"), plural(len(self.switches), "switch", "switches")
        return f"{hosts}, {switches}, {plural(len(self.links) // 2, 'link')}"

    def path_set(self, start: str, end: str, order: str = "paper", count: int = PATHS) -> list[FabricPath]:
        """The best paths from one node to another, for flows that should share few links.

        Args:
            start: A host or a switch.
            end: A host or a switch.
            order: After the shortest path, ``paper`` prefers paths that share the fewest links with it (smoc, Algorithm
                1); ``disjoint`` those that share the fewest with all earlier paths. Ties go to shorter paths, then to
                the order of the nodes in the fabric (`docs/path-sets.md`).
            count: Maximum number of paths; fewer if there are no more, none if the nodes are not connected.

        Raises:
            ScenarioError: The node or the order does not exist.
        """
        numbers = {node.name: number for number, node in enumerate(self.nodes)}
        for name in (start, end):
            if name not in numbers:
                meant = _weft.nearest(name, list(numbers))
                raise ScenarioError(f"there is no node `{name}`{f'; did you mean `{meant}`?' if meant else ''}")
        if count < 1:
            raise ScenarioError(f"count must be at least 1, not {count}")
        # Hosts do not forward traffic, so hosts other than the two ends are left out.
        open_to = {node.name for node in self.nodes if not node.is_host} | {start, end}
        cables, edges = [], []
        for cable, (forth, back) in enumerate(zip(self.links[::2], self.links[1::2], strict=True)):
            if forth.up and back.up and forth.source in open_to and forth.target in open_to:
                cables.append(cable)
                edges.append((numbers[forth.source], numbers[forth.target]))
        try:
            answer = _weft.path_set(len(self.nodes), edges, numbers[start], numbers[end], order, count)
        except ValueError as error:
            raise ScenarioError(str(error)) from None
        paths: list[FabricPath] = []
        used: Counter[int] = Counter()
        for nodes, taken in json.loads(answer):
            through = tuple(cables[edge] for edge in taken)
            first = paths[0].cables if paths else through
            paths.append(
                FabricPath(
                    nodes=tuple(self.nodes[number].name for number in nodes),
                    cables=through,
                    shared=len(set(through).intersection(first)),
                    shared_before=sum(used[cable] for cable in through),
                )
            )
            used.update(through)
        return paths

    def spelled(self, path: FabricPath) -> str:
        """A path as text: its nodes, and which of several parallel links it takes."""
        words = [path.nodes[0]]
        for cable, (near, far) in zip(path.cables, pairwise(path.nodes), strict=True):
            same = self._parallels[frozenset((near, far))]
            words.append(far if len(same) == 1 else f"({same.index(cable) + 1} of {len(same)}) {far}")
        return " ".join(words)

    @cached_property
    def _parallels(self) -> dict[frozenset[str], list[int]]:
        parallels: dict[frozenset[str], list[int]] = {}
        for cable, link in enumerate(self.links[::2]):
            parallels.setdefault(frozenset((link.source, link.target)), []).append(cable)
        return parallels

    def to_networkx(self) -> Any:
        """The graph as a `networkx.DiGraph`; nodes carry role, tier, pod and pos, edges rate_bps, delay_s and up."""
        import networkx

        graph = networkx.DiGraph(name=self.name)
        for node in self.nodes:
            graph.add_node(node.name, role=node.role, tier=node.tier, pod=node.pod, pos=(node.x, node.y))
        for link in self.links:
            graph.add_edge(link.source, link.target, rate_bps=link.rate_bps, delay_s=link.delay_ps / 1e12, up=link.up)
        return graph

    def _repr_html_(self) -> str:
        """The drawing for a notebook, up to 2000 links, and the numbers of nodes and links."""
        text = f"<div>{escape(self.name)}: {self._counts}</div>"
        if len(self.links) > 2 * _DRAWN:
            return text
        return f'<div style="max-width:760px;padding:6px;background:white">{self.to_svg()}</div>{text}'

    def to_svg(self) -> str:
        """A drawing as one self-contained SVG element."""
        from .drawing import draw

        return draw(self)


def fabric(source: str | Path | NetworkxGraph, sets: Sequence[str] = (), *, measured: bool = True) -> Fabric:
    """Read the fabric of a scenario, a fabric file (Weft TOML, GraphML, node-link JSON), or a graph of NetworkX.

    Args:
        source: The file, where a TOML file with a table ``[fabric]`` is a scenario; or the graph, whose nodes and edges
            have the attributes of fabric files (``docs/fabrics.md``).
        sets: ``key=value`` changes to a scenario.
        measured: Whether to fill in `Fabric.measures`, which takes a while for a large fabric.

    Raises:
        ScenarioError: The file cannot be read or describes no usable fabric; for a graph, the message names the node or
            edge.
    """
    if isinstance(source, NetworkxGraph):
        _refuse_sets("a graph", sets)
        found = _of_graph(source, lambda path: _weft.fabric_file(path, measured))
        return replace(Fabric.from_json(json.loads(found)), origin=source)
    path = Path(source)
    if (text := scenario_text(path, sets)) is not None:
        return Fabric.from_json(json.loads(_weft.fabric(text, path.name, str(path.parent), list(sets), measured)))
    return replace(Fabric.from_json(json.loads(_weft.fabric_file(str(path), measured))), origin=path)


def write_fabric(source: str | Path | NetworkxGraph, target: str | Path, sets: Sequence[str] = ()) -> None:
    """Write the fabric of a scenario, of a fabric file or of a graph of NetworkX as a fabric file.

    Args:
        source: The scenario, the fabric file or the graph.
        target: The file to write; its extension selects the format: ``.toml``, ``.graphml``, ``.json``.
        sets: ``key=value`` changes to a scenario.

    Raises:
        ScenarioError: `source` is not a usable fabric, or `target` is `source` or has a format that cannot represent
            it.
        OutputError: `target` cannot be written.
    """
    target = Path(target)
    if isinstance(source, NetworkxGraph):
        _refuse_sets("a graph", sets)
        write_text(target, _of_graph(source, lambda path: _weft.fabric_file_as(str(target), path)))
        return
    path = Path(source)
    if target.exists() and path.exists() and target.samefile(path):
        raise ScenarioError(f"{target} is the input file: give another output file")
    if (text := scenario_text(path, sets)) is not None:
        content = _weft.fabric_as(str(target), text, path.name, str(path.parent), list(sets))
    else:
        content = _weft.fabric_file_as(str(target), str(path))
    write_text(target, content)


def _of_graph(graph: NetworkxGraph, read: Callable[[str], str]) -> str:
    """The answer of a reader of fabric files for a graph."""
    text = as_text(graph)
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        path = Path(folder) / "graph.json"
        path.write_text(text, encoding="utf-8")
        try:
            return read(str(path))
        except ScenarioError as error:
            wrong = explained(str(error).removeprefix(f"{path}: "), text)
            raise ScenarioError(f"graph `{name_of(graph)}`: {wrong}") from None


def _refuse_sets(what: str, sets: Sequence[str]) -> None:
    if sets:
        raise ScenarioError(f"{what} has no keys to set: leave out `sets`")


def network(path: str | Path) -> Fabric:
    """Like `fabric`, but only for switches and the links between them: a fabric file need not have hosts.

    Raises:
        ScenarioError: The file cannot be read or describes no usable fabric.
    """
    path = Path(path)
    if scenario_text(path) is not None:
        return fabric(path, measured=False)
    return Fabric.from_json(json.loads(_weft.network_file(str(path))))


def scenario_text(path: Path, sets: Sequence[str] = ()) -> str | None:
    """The text of a scenario, or None for a fabric file, which `sets` cannot change.

    A TOML file that is not valid counts as a scenario: the scenario reader reports the position of the error.
    """
    if not path.exists():
        raise missing(path, _MADE)
    if path.suffix.lower() == ".toml":
        text = read_text(path)
        try:
            if "fabric" in tomllib.loads(text):
                return text
        except tomllib.TOMLDecodeError:
            return text
    if sets:
        raise ScenarioError(f"{path}: --set works only with a scenario, and this is a fabric file")
    return None
