"""The state of a fat-tree's switches, and its differences from the plan."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from ..labels import plural
from .fabric import End
from .fleet import ALL_RULES, PRIORITY, Fleet, each, match_of, pair_of

_NAMED = 4
"""Maximum number of wrong gates listed individually."""


@dataclass
class SwitchState:
    """One switch: numbers of its gates, rules (`others`: of other priorities), groups (sets of paths) and links.

    `layer` is ``edge``, ``aggregation`` or ``core``; `error` why its daemon cannot be queried. `packets` and `bytes`
    are those that its rules matched; `working` links connect to the planned port; `differs` are differences from the
    plan.
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
    """The states of a fat-tree's switches in the fabric's order, miswired links, and ports whose link is down."""

    switches: list[SwitchState]
    mistakes: list[str]
    silent: list[str]

    @property
    def as_planned(self) -> bool:
        """Whether every switch responds and matches the plan, and no link is miswired."""
        return not self.mistakes and all(not one.differs and one.error is None for one in self.switches)

    def as_dict(self) -> dict[str, Any]:
        """The state as plain data for JSON."""
        return {"as_planned": self.as_planned, **asdict(self)}


async def state(fleet: Fleet) -> State:
    """Query all switches of a fleet."""
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
    planned = fleet.tree.gates[found.switch]
    found.gates = len(there["gates"])
    if not there["gates"]:
        found.differs.append("it has no gates")
        return
    if there["width"] != fleet.tree.data["width"]:
        found.differs.append(f"its tags are {there['width']}, expected {fleet.tree.data['width']}")
    for key, name in (("down_divisor", "DOWN"), ("up_divisor", "UP")):
        if there[key] != planned[key]:
            found.differs.append(f"its {name} divisor is {there[key]}, expected {planned[key]}")
    here = {gate["port"]: _gate(gate) for gate in there["gates"]}
    wanted = {gate["port"]: _gate(gate) for gate in planned["gates"]}
    wrong = [port for port in sorted(here.keys() | wanted.keys()) if here.get(port) != wanted.get(port)]
    for port in wrong[:_NAMED]:
        said = (gates.get(port, "none") for gates in (here, wanted))
        found.differs.append("the gate of {} is {}, expected {}".format(End(found.switch, port), *said))
    if len(wrong) > _NAMED:
        found.differs.append(f"{len(wrong) - _NAMED} more gates differ from the plan")


def _gate(gate: dict[str, Any]) -> str:
    """A gate as text; normalises flags, which daemons and plans write differently."""
    flag = gate.get("flag")
    return f"{gate['gate']} {gate['direction']}" + (f" {flag.lower().removeprefix('g_')}" if flag else "")


def _flows(fleet: Fleet, found: SwitchState, there: dict[str, Any]) -> None:
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
    # On demand, there are only rules for pairs.
    missing = wanted.keys() - own.keys() if fleet.pairs is None else set()
    wrong = sum(own[match] != wanted[match] for match in wanted.keys() & own.keys())
    wrong += sum(asked.get(match) != action for match, action in extra.items())
    ways = {group["id"]: group["ways"] for group in there["groups"]}
    groups = sum(ways.get(group["id"]) != group["ways"] for group in planned["groups"])
    for number, what in ((len(missing), "missing"), (wrong, "wrong")):
        if number:
            found.differs.append(f"{plural(number, 'rule is', 'rules are')} {what}")
    if groups:
        found.differs.append(f"{plural(groups, 'group is', 'groups are')} wrong")
