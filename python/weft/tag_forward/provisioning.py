"""`provision`: installs gates and rules on all switches of a fat-tree in parallel, skipping unresponsive ones."""

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .errors import DaemonError
from .fleet import Fleet, OnProgress, each


@dataclass
class Outcome:
    """The outcome of provisioning a fat-tree: provisioned switches (`provisioned`), and the errors of the others.

    `silent` ports are on no path because their links are down. Then the gates installed, the rules added, replaced,
    removed and kept, and the seconds that each took.
    """

    provisioned: list[str] = field(default_factory=list)
    failed: dict[str, DaemonError] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)
    gates: int = 0
    gates_s: float = 0.0
    rules: Counter[str] = field(default_factory=Counter)
    rules_s: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data for JSON."""
        return vars(self) | {"failed": {switch: str(error) for switch, error in self.failed.items()}}


async def provision(fleet: Fleet, on_progress: OnProgress) -> Outcome:
    """Install gates, then groups and rules on every switch of a fleet.

    First compares the switches' neighbours with the fabric; if links are miswired, changes nothing. Skips paths over
    links that are down. Switches that are already provisioned stay unchanged. Raises `TagForwardError` if links are
    miswired.
    """
    outcome = Outcome()
    left = fleet.tree.switches
    number = len(left)

    def go_on(failed: dict[str, DaemonError]) -> None:
        outcome.failed |= failed
        left[:] = [switch for switch in left if switch not in failed]

    go_on(await each(left, fleet.meet, lambda done: on_progress("querying switches", done, number)))
    await fleet.settle(left, on_progress)
    fleet.check()
    for end in fleet.tree.leads_to:
        if end.node not in outcome.failed:
            fleet.follow(end)
    outcome.silent = fleet.wiring.silent()

    started = time.perf_counter()
    go_on(await each(left, fleet.put_gates, lambda done: on_progress("installing gates", done, number)))
    outcome.gates_s = time.perf_counter() - started
    outcome.gates = sum(len(fleet.tree.ports(switch)) for switch in left)

    started = time.perf_counter()
    go_on(
        await each(
            left, partial(_put_flows, fleet, outcome), lambda done: on_progress("installing rules", done, number)
        )
    )
    outcome.rules_s = time.perf_counter() - started
    outcome.provisioned = left
    return outcome


async def _put_flows(fleet: Fleet, outcome: Outcome, switch: str) -> None:
    outcome.rules.update(await fleet.put_flows(switch))
