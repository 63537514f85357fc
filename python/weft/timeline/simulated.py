"""A flow of a scenario, simulated with all other traffic until it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from .. import _weft
from ..scenario import Point, Scenario
from .course import Course

Ends = tuple[str, str, int | None, int | None]
"""Source, destination, and their ports or None."""


def simulated(
    scenario: Scenario,
    points: Sequence[Point],
    flow: int | None,
    ends: Ends | None,
    progress: Callable[[dict[str, Any]], None],
) -> tuple[Course, str]:
    """Simulate the first point whose scheme explores, else the first, until a flow ends.

    Args:
        scenario: The scenario.
        points: Some of its points.
        flow: The number of the flow.
        ends: Its hosts and ports instead; with neither, the first long flow after the beginning, else the largest.
        progress: Called a few times a second with `fraction` and `packet_hops`; may raise KeyboardInterrupt.

    Returns:
        The course of the flow, and the name of the scenario.

    Raises:
        ScenarioError: There is no such flow, or it has too many packets.
    """

    def forward(event: str) -> None:
        progress(json.loads(event))

    ids = [point.id for point in points]
    data = json.loads(_weft.time_line(*scenario.source, ids, flow, ends, forward))
    return Course(data["label"], data["seed"], data["flow"]), str(data["name"])
