"""The claims G3 to G5, about provisioning: gates, rules, and the worked example."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..._weft import tag_forward_state
from ...statistics import Estimate, estimate
from ..base import settled
from ..outcome import StudyRow
from ..rows import not_measured, row
from . import flows
from .fabric import AGGREGATIONS, CORES, EDGES, GATES, K
from .setup import LABELS, PEERS, TAG_FORWARD
from .table import Measured, of_peer

SOON_S = 0.020
"""Limit for setting all gates (G3)."""
EXAMPLE_ROUTE = ("es1", "as1", "cs2", "as7", "es8")
EXAMPLE_GATES = (48, 48, 32, 32, 30)
EXAMPLE_UP, EXAMPLE_DOWN = 48, 30
"""Section IV (G5)."""

Value = TypeVar("Value")


@dataclass(frozen=True)
class Gates:
    """The measurement of setting gates, before all rounds."""

    emulated: dict[str, Any]

    @property
    def saturated(self) -> bool:
        """Whether other programs saturated the machine's CPU during it."""
        return bool(self.emulated.get("gates_processors", {}).get("saturated", False))


def setting(runs: Sequence[Measured]) -> StudyRow:
    """Holds if all gates are set in less than `SOON_S`, with the whole interval."""
    emulated = _first(run.emulated for run in of_peer(runs, TAG_FORWARD) if "gates_at_once" in run.emulated)
    return settled(_setting, [] if emulated is None else [Gates(emulated)])[0]


def _setting(there: Sequence[Gates]) -> list[StudyRow]:
    claim = "all gates of the 20 switches are set in less than 20 ms (the paper: 186 ms)"
    if not there:
        return [not_measured("G3", claim, "ms", "no run with tags has finished")]
    emulated = there[0].emulated
    found = estimate(one["seconds"] for one in emulated["gates_at_once"])
    in_turn = estimate(one["seconds"] for one in emulated["gates_in_turn"])
    if found is None or found.high is None or in_turn is None:
        return [not_measured("G3", claim, "ms", "gates have to be set at least twice")]
    each = {
        layer: estimate(
            took
            for one in emulated["gates_in_turn"]
            for name, took in one["switches"].items()
            if (name in CORES) is (layer == "a core switch")
        )
        for layer in ("a core switch", "an edge or aggregation switch")
    }
    notes = [
        f"{GATES} gates through the daemons' control sockets, {found.n} times, all switches at once",
        f"one switch after the other, as in the paper: {1e3 * in_turn.mean:.1f} ms, "
        + ", ".join(f"{layer} {1e3 * one.mean:.2f} ms" for layer, one in each.items() if one is not None)
        + " (the paper: 10 and 8 ms)",
    ]
    return [row("G3", claim, found.high < SOON_S, found.scaled(1e3), "ms", notes)]


def state(runs: Sequence[Measured]) -> StudyRow:
    """Holds if switches have only the rules of flows that start there, as counted by `_weft`."""
    claim = "state for a flow only at the source's edge switch, none at the other four of a path between pods"
    unit = "rules per flow, over all switches"
    states = {peer: _first(run.emulated["state"] for run in of_peer(runs, peer)) for peer in PEERS}
    own = states[TAG_FORWARD]
    if own is None:
        return not_measured("G4", claim, unit, "no run with tags has finished")
    counted = json.loads(tag_forward_state(K, K // 2))
    layers = dict(zip(("edge", "aggregation", "core"), (EDGES, AGGREGATIONS, CORES), strict=True))
    wanted = {name: layer["tagged"] for layer in counted["layers"] for name in layers[layer["layer"]]}
    total, pairs = sum(own.values()), int(counted["flows"])
    notes = [f"counted in the daemons: {total} rules for {pairs} flows, {_by_layer(own, layers)}"]
    notes += [
        f"{LABELS[peer]}: {sum(one.values())} rules, {_by_layer(one, layers)}"
        for peer, one in states.items()
        if peer != TAG_FORWARD and one is not None
    ]
    value = total / pairs
    return row("G4", claim, own == wanted, Estimate(value, value, value, 1), unit, notes)


def _by_layer(state: Mapping[str, int], layers: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(
        f"{'-'.join(map(str, sorted({state[name] for name in names})))} at each {layer} switch"
        for layer, names in layers.items()
    )


def example(runs: Sequence[Measured]) -> StudyRow:
    """Holds if the plan's gates are the paper's, and the packet was seen at each switch with the paper's tag."""
    claim = "the worked example: gates, UP = 48, DOWN = 30, and the route es1-as1-cs2-as7-es8"
    unit = "of 5 places where the packet was observed as in the paper"
    seen = _first(run.emulated.get("example") for run in of_peer(runs, TAG_FORWARD))
    if seen is None:
        return not_measured("G5", claim, unit, "no run with tags has finished")
    flow = flows.example()
    tag = {"queue": flow.queue, "up": EXAMPLE_UP, "down": EXAMPLE_DOWN}
    wanted: list[dict[str, Any]] = [{"at": at} | tag for at in EXAMPLE_ROUTE[1:]]
    wanted.append({"at": flow.to_server, "queue": None, "up": None, "down": None})
    planned = tuple(hop.switch for hop in flow.way.hops) == EXAMPLE_ROUTE
    planned = planned and tuple(hop.gate for hop in flow.way.hops) == EXAMPLE_GATES
    right = float(sum(one in seen for one in wanted))
    holds = planned and seen == wanted
    notes = [
        f"gates {', '.join(str(hop.gate) for hop in flow.way.hops)} planned",
        "observed: " + ", ".join(_place(one) for one in seen),
    ]
    return row("G5", claim, holds, Estimate(right, right, right, 1), unit, notes)


def _place(one: Mapping[str, Any]) -> str:
    if one["up"] is None:
        return f"{one['at']} without a tag"
    return f"{one['at']} with QID {one['queue']}, UP {one['up']}, DOWN {one['down']}"


def _first(found: Iterable[Value | None]) -> Value | None:
    return next((one for one in found if one is not None), None)
