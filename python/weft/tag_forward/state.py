"""How the switches of a fat-tree are, and where that differs from the plan."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from ..labels import plural
from .fabric import End
from .fleet import ALL_RULES, PRIORITY, Fleet, each, match_of, pair_of

_NAMED = 4
"""Gates that are other than planned and named one by one."""


@dataclass
class SwitchState:
    """One switch.

    Attributes:
        switch: Its name.
        layer: ``edge``, ``aggregation`` or ``core``.
        error: Why its daemon cannot be asked; None if it can.
        gates: Gates that it has.
        rules: Rules of the control plane's priority.
        others: Rules of other priorities.
        groups: Groups of ways.
        packets: Packets that its rules were for.
        bytes: Their bytes.
        cables: Ports with a cable.
        working: Those of them that lead where they should.
        differs: What is other than planned.
    """

    switch: str
    layer: str
    error: str | None = None
    gates: int = 0
    rules: int = 0
    others: int = 0
    groups: int = 0
    packets: int = 0
    bytes: int = 0
    cables: int = 0
    working: int = 0
    differs: list[str] = field(default_factory=list)


@dataclass
class State:
    """A fat-tree.

    Attributes:
        switches: In the fabric's order.
        mistakes: Cables that are elsewhere.
        silent: Ports whose cable does not work.
    """

    switches: list[SwitchState]
    mistakes: list[str]
    silent: list[str]

    @property
    def as_planned(self) -> bool:
        """Whether every switch answers and has what the plan says, over cables that are where they should be."""
        return not self.mistakes and all(not one.differs and one.error is None for one in self.switches)

    def as_dict(self) -> dict[str, Any]:
        """As an object for JSON."""
        return {"as_planned": self.as_planned, **asdict(self)}


async def state(fleet: Fleet) -> State:
    """Ask all switches of a fleet."""
    states = {name: SwitchState(name, gates["layer"]) for name, gates in fleet.tree.gates.items()}
    failed = await each(states, fleet.meet)
    for switch in states.keys() - failed.keys():
        for end in fleet.tree.ports(switch):
            fleet.follow(end)

    async def ask(switch: str) -> None:
        gates = await fleet.daemons[switch].ask("GET", "gates")
        flows = await fleet.daemons[switch].ask("GET", f"flows?limit={ALL_RULES}")
        _gates(fleet, states[switch], gates)
        _flows(fleet, states[switch], flows)
        ports = fleet.tree.ports(switch)
        states[switch].cables = len(ports)
        states[switch].working = sum(fleet.wiring.works(end) for end in ports)

    failed |= await each((switch for switch in states if switch not in failed), ask)
    for switch, error in failed.items():
        states[switch].error = str(error)
    return State(list(states.values()), fleet.wiring.mistakes(), fleet.wiring.silent())


def _gates(fleet: Fleet, found: SwitchState, there: dict[str, Any]) -> None:
    """Hold the gates of a switch against the plan's."""
    planned = fleet.tree.gates[found.switch]
    found.gates = len(there["gates"])
    if not there["gates"]:
        found.differs.append("it has no gates")
        return
    if there["width"] != fleet.tree.data["width"]:
        found.differs.append(f"its tags are {there['width']}, expected {fleet.tree.data['width']}")
    for key, name in (("down_divisor", "DOWN"), ("up_divisor", "UP")):
        if there[key] != planned[key]:
            found.differs.append(f"its {name} gates are {there[key]} apart, expected {planned[key]}")
    here = {gate["port"]: _gate(gate) for gate in there["gates"]}
    wanted = {gate["port"]: _gate(gate) for gate in planned["gates"]}
    wrong = [port for port in sorted(here.keys() | wanted.keys()) if here.get(port) != wanted.get(port)]
    for port in wrong[:_NAMED]:
        said = (gates.get(port, "none") for gates in (here, wanted))
        found.differs.append("the gate of {} is {}, expected {}".format(End(found.switch, port), *said))
    if len(wrong) > _NAMED:
        found.differs.append(f"{len(wrong) - _NAMED} more gates are other than planned")


def _gate(gate: dict[str, Any]) -> str:
    """A gate as people call it: daemons write flags otherwise than plans."""
    flag = gate.get("flag")
    return f"{gate['gate']} {gate['direction']}" + (f" {flag.lower().removeprefix('g_')}" if flag else "")


def _flows(fleet: Fleet, found: SwitchState, there: dict[str, Any]) -> None:
    """Hold the rules and groups of a switch against those that it should have while cables are as they are."""
    own = {match_of(rule): rule["action"] for rule in there["rules"] if rule["priority"] == PRIORITY}
    found.rules, found.others = len(own), len(there["rules"]) - len(own)
    found.groups = len(there["groups"])
    found.packets = sum(rule["packets"] for rule in there["rules"])
    found.bytes = sum(rule["bytes"] for rule in there["rules"])

    planned = json.loads(fleet.provisioner.flows(found.switch))
    wanted = {match_of(rule): rule["action"] for rule in planned["rules"]}
    extra = {match: action for match, action in own.items() if match not in wanted}
    pairs = json.loads(fleet.provisioner.flows(found.switch, [pair for match in extra if (pair := pair_of(match))]))
    asked = {match_of(rule): rule["action"] for rule in pairs["rules"]}
    # On demand those of pairs are all that there are.
    missing = wanted.keys() - own.keys() if fleet.pairs is None else set()
    wrong = sum(own[match] != wanted[match] for match in wanted.keys() & own.keys())
    wrong += sum(asked.get(match) != action for match, action in extra.items())
    ways = {group["id"]: group["ways"] for group in there["groups"]}
    groups = sum(ways.get(group["id"]) != group["ways"] for group in planned["groups"])
    for number, what in ((len(missing), "missing"), (wrong, "other than planned")):
        if number:
            found.differs.append(f"{plural(number, 'rule is', 'rules are')} {what}")
    if groups:
        found.differs.append(f"{plural(groups, 'group is', 'groups are')} other than planned")
