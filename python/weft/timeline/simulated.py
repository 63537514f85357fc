"""A flow of a scenario, simulated with all other traffic until it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from .. import _weft
from ..catalogue import schemes
from ..errors import ScenarioError
from ..scenario import Point, Scenario
from .course import Course

_LONG = 1_000_000
"""Bytes of a flow that shows a congestion window well."""
_WARM_UP = 0.1
"""Share of the run after which such a flow is looked for."""

Ends = tuple[str, str, int | None, int | None]
"""Source, destination, and their ports or None."""


def explores(plan: dict[str, Any]) -> bool:
    """Whether the scheme of a plan explores paths."""
    return plan["scheme"]["name"] in _exploring()


def _exploring() -> set[str]:
    return {scheme["name"] for scheme in schemes() if scheme["explores"]}


def planned(scenario: Scenario, points: Sequence[Point]) -> dict[str, Any]:
    """The plan of the first point whose scheme explores, else of the first; see `weft._weft.plan`."""
    exploring = _exploring()
    found = [point for point in points if point.overrides.get("scheme.name") in exploring]
    plan: dict[str, Any] = json.loads(_weft.plan(*scenario.source, (found or points)[0].id))
    return plan


def number_of(plan: dict[str, Any], flow: int | None, ends: Ends | None) -> int:
    """The number of a flow.

    Args:
        plan: The plan of the run.
        flow: The number, which need not exist.
        ends: Its hosts and ports instead; with neither, the first long flow after the beginning, else the largest.

    Raises:
        ScenarioError: There is no such flow.
    """
    flows = plan["flows"]
    if flow is not None:
        return flow
    if ends is None:
        warm = [one for one in flows if one["start_ps"] >= _WARM_UP * plan["run"]["duration_ps"]]
        found = [one for one in warm if one["bytes"] >= _LONG][:1] or sorted(flows, key=lambda one: -one["bytes"])
    else:
        source, target, *ports = ends
        hosts = [host["name"] for host in plan["hosts"]]
        if unknown := [name for name in (source, target) if name not in hosts]:
            raise ScenarioError(f"there is no host `{unknown[0]}`: the hosts are {hosts[0]} to {hosts[-1]}")
        found = [one for one in flows if (one["src"], one["dst"]) == (source, target) and _fits(one, ports)]
    if not found:
        where = "the scenario has no flows" if ends is None else f"no flow goes from {ends[0]} to {ends[1]}"
        raise ScenarioError(where if ends is None or ends[2:] == (None, None) else f"{where} with these ports")
    return int(found[0]["flow"])


def _fits(flow: dict[str, Any], ports: Sequence[int | None]) -> bool:
    return all(asked in (None, flow[side]) for asked, side in zip(ports, ("sport", "dport"), strict=True))


def simulated(
    scenario: Scenario, plan: dict[str, Any], flow: int, progress: Callable[[dict[str, Any]], None]
) -> Course:
    """Simulate the run of a plan until a flow ends.

    Args:
        scenario: The scenario.
        plan: The plan of one of its runs.
        flow: The number of the flow.
        progress: Called a few times a second with `fraction` and `packet_hops`; may raise KeyboardInterrupt.

    Raises:
        ScenarioError: There is no such flow, or it has too many packets.
    """
    duration = plan["run"]["duration_ps"] / 1e12

    def forward(event: str) -> None:
        told = json.loads(event)
        progress({"fraction": min(1.0, told["sim_time_s"] / duration), "packet_hops": told["packet_hops"]})

    [data] = json.loads(_weft.why(*scenario.source, plan["id"], [flow], True, forward))
    return Course(plan["label"] or plan["scheme"]["name"], plan["seed"], data)
