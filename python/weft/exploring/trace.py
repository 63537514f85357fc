"""The engine's trace of one flow: frames with their hops and ends, and table entries of switches, by scene."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import _weft
from ..scenario import Point, Scenario
from ..topology import Fabric

REQUESTS = ("arp_request", "path_request", "recovery_request")
"""Frames flooded to explore paths."""
REPLIES = ("arp_reply", "path_reply", "recovery_reply")
"""Frames that return over the path found."""
SEGMENTS = ("syn", "syn_ack", "data", "ack", "fin", "rst")
"""Frames of the connection itself."""


@dataclass(frozen=True)
class Scene:
    """A part of a run; times are picoseconds since its start.

    `data` is the engine's: `frames`, `kept`, `links`, `path`, `done`, `failure`, `cut`.
    """

    data: dict[str, Any]

    @property
    def is_recovery(self) -> bool:
        """Whether the flow's path fails in it."""
        return bool(self.data["kind"] == "recovery")

    @cached_property
    def is_under_way(self) -> bool:
        """Whether the flow has already sent data: its path fails, or the exploration takes place while it sends."""
        return self.is_recovery or not any(hop["what"] in ("syn", "arp_request") for _, hop in self.hops())

    @property
    def frames(self) -> list[dict[str, Any]]:
        """Its frames; each copy of a flood is one."""
        return list(self.data["frames"])

    @property
    def done(self) -> int | None:
        """Time at which data was delivered on the path found; None if it was not in time."""
        return None if self.data["done"] is None else int(self.data["done"])

    def hops(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every frame with each of its hops."""
        for frame in self.frames:
            for hop in frame["hops"]:
                yield frame, hop

    @cached_property
    def copies(self) -> int:
        """Number of requests and Path Fails sent on links."""
        return sum(hop["what"] in (*REQUESTS, "path_fail") for _, hop in self.hops())

    @cached_property
    def late(self) -> int:
        """Number of copies that arrived after another one and were dropped."""
        return sum((frame["end"] or {}).get("reason") == "late_copy" for frame in self.frames)

    @cached_property
    def lost(self) -> int:
        """Number of data segments that were lost."""
        return sum(
            (frame["end"] or {}).get("fate") == "dropped" and frame["hops"][-1]["what"] == "data"
            for frame in self.frames
        )

    @cached_property
    def unconfirmed(self) -> int:
        """Number of switches that are locked at the end without having received a reply."""
        last = {change["node"]: change for change in self.data["kept"]}
        return sum(
            change["source"] is not None and not change["source"]["confirmed"] and change["at"] > 0
            for change in last.values()
        )


@dataclass(frozen=True)
class Trace:
    """The trace of an exploration.

    `data` is the engine's: `name`, `label`, `seed`, `scheme`, `flow`, `lock_ps`, `fabric`, `scenes`.
    """

    data: dict[str, Any]

    @cached_property
    def fabric(self) -> Fabric:
        """The fabric; scenes number its nodes and links."""
        return Fabric.from_json(self.data["fabric"])

    @cached_property
    def scenes(self) -> list[Scene]:
        """The exploration, and the recovery if there is one."""
        return [Scene(scene) for scene in self.data["scenes"]]

    @property
    def flow(self) -> dict[str, Any]:
        """Number, ends (as node numbers), TCP ports, bytes and start of the flow."""
        return dict(self.data["flow"])

    @property
    def no_recovery(self) -> str | None:
        """Why there is no second scene."""
        why = self.data["no_recovery"]
        return None if why is None else str(why)

    @cached_property
    def ends(self) -> tuple[str, str]:
        """The names of source and destination."""
        nodes = self.fabric.nodes
        return nodes[self.flow["from"]].name, nodes[self.flow["to"]].name

    def route(self, path: list[int]) -> list[str]:
        """The nodes along the links of a path."""
        links = self.fabric.links
        return [links[path[0]].source, *(links[link].target for link in path)] if path else []


def follow(
    scenario: Scenario,
    *,
    points: Sequence[Point] | None = None,
    flow: int | None = None,
    ends: tuple[str, str, int | None, int | None] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Trace:
    """Run `scenario`, with all its traffic, until one exploration is complete.

    Args:
        scenario: The scenario.
        points: The candidates; the first whose scheme explores is run; default all.
        flow: The number of the flow, as in ``flows.parquet``; default a suitable one.
        ends: Names of source and destination, and their TCP ports or None, instead of `flow`.
        progress: Called a few times a second with `scene` (0 or 1) and `fraction`; may raise KeyboardInterrupt.

    Raises:
        ScenarioError: The scenario is not valid, no scheme explores, or the flow does not exist.
    """

    def forward(event: str) -> None:
        if progress is not None:
            progress(json.loads(event))

    ids = [point.id for point in (scenario.points() if points is None else points)]
    return Trace(json.loads(_weft.explore(*scenario.source, ids, flow, ends, forward)))
