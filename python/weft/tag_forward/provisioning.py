"""`provision`: gates and rules to all switches of a fat-tree at once; those that do not answer hold nobody up."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .errors import DaemonError
from .fleet import Fleet, Told, each


@dataclass
class Outcome:
    """What became of a fat-tree's switches.

    Attributes:
        told: Switches that have their gates and rules.
        failed: Why others have not.
        silent: Ports that no frames are led through, as their cables do not work.
        gates: Gates that were set.
        gates_s: Seconds that took, all switches together.
        rules: Rules that were added, replaced, removed and kept.
        rules_s: Seconds that took, all switches together.
    """

    told: list[str] = field(default_factory=list)
    failed: dict[str, DaemonError] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)
    gates: int = 0
    gates_s: float = 0.0
    rules: Counter[str] = field(default_factory=Counter)
    rules_s: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """As an object for JSON."""
        return {
            "told": self.told,
            "failed": {switch: str(error) for switch, error in self.failed.items()},
            "silent": self.silent,
            "gates": self.gates,
            "gates_s": self.gates_s,
            "rules": dict(self.rules),
            "rules_s": self.rules_s,
        }


async def provision(fleet: Fleet, told: Told) -> Outcome:
    """Give every switch of a fleet its gates, then its groups and rules.

    What the switches hear of each other is held against the fabric before: nothing is changed where cables are
    elsewhere. Ways over cables that do not work are left out. Switches that have it all already keep it.

    Raises:
        TagForwardError: Cables are elsewhere.
    """
    outcome = Outcome()
    left = fleet.tree.switches
    number = len(left)

    def go_on(failed: dict[str, DaemonError]) -> None:
        outcome.failed |= failed
        left[:] = [switch for switch in left if switch not in failed]

    go_on(await each(left, fleet.meet, lambda done: told("asking switches", done, number)))
    await fleet.settle(left, told)
    fleet.check()
    for end in fleet.tree.leads_to:
        if end.node not in outcome.failed:
            fleet.follow(end)
    outcome.silent = fleet.wiring.silent()

    started = time.perf_counter()
    go_on(await each(left, fleet.put_gates, lambda done: told("setting gates", done, number)))
    outcome.gates_s = time.perf_counter() - started
    outcome.gates = sum(len(fleet.tree.ports(switch)) for switch in left)

    started = time.perf_counter()
    go_on(await each(left, partial(_put_flows, fleet, outcome), lambda done: told("setting rules", done, number)))
    outcome.rules_s = time.perf_counter() - started
    outcome.told = left
    return outcome


async def _put_flows(fleet: Fleet, outcome: Outcome, switch: str) -> None:
    outcome.rules.update(await fleet.put_flows(switch))
