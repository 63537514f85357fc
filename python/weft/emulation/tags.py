"""The control plane of Tag-and-Forward over an emulated network: `weft tag-forward provision --watch`, in a thread.

The switches are daemons in mode `tag-forward`, which know nothing until they are told over their control sockets; so
what carries a scenario out is what would run a fabric of real switches. When a cable fails, their notices set off what
follows, nothing here does.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from .. import _weft
from ..tag_forward.errors import TagForwardError
from ..tag_forward.fabric import FatTree
from ..tag_forward.fleet import Fleet
from ..tag_forward.provisioning import Outcome, provision
from ..tag_forward.watch import Watch
from .errors import EmulationError
from .network import Network
from .plan import Plan

_PATIENCE_S = 60.0
"""Seconds that provisioning may take."""

_T = TypeVar("_T")


def fat_tree(plan: Plan) -> FatTree:
    """The fabric of a plan, with its gates.

    Raises:
        EmulationError: It is no fat-tree, or the tags are too narrow for it.
    """
    nodes: list[dict[str, Any]] = [{"id": host.name, "role": "host"} for host in plan.hosts]
    nodes += [{"id": switch.name, "role": "switch", "tier": switch.tier} for switch in plan.switches]
    cables = [{"source": cable.a.node, "target": cable.b.node} for cable in plan.cables]
    graph = {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "edges": cables}
    try:
        return FatTree(_weft.GatePlan.of_file("fabric.json", json.dumps(graph), str(plan.params["width"])))
    except ValueError as wrong:
        raise EmulationError(f"scheme `tag_forward` cannot be emulated here: {wrong}") from None


def refuse(plan: Plan) -> None:
    """Refuse a plan that switches with tags cannot carry out.

    Raises:
        EmulationError: See `fat_tree`; or paths are chosen by what the switch's program cannot see.
    """
    if plan.params["choice"] == "least-loaded":
        raise EmulationError(
            "`scheme.choice` is least-loaded, and the Linux switch does not see the queues of its ports",
            "`weft run` simulates it; or `--set 'scheme.choice=\"spray\"'`, or ecmp",
        )
    fat_tree(plan)


class ControlPlane:
    """Provisions the switches of a network, and leads around cables that fail."""

    def __init__(self, network: Network) -> None:
        """For a network whose switches answer."""
        plan = network.plan
        tree = fat_tree(plan)
        sockets = {name: switch.socket_path for name, switch in network.switches.items()}
        self._fleet = Fleet(tree, {host.name: [host.address] for host in plan.hosts}, sockets)
        self._outcome: Outcome
        self._watch: Watch
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def start(self) -> None:
        """Give all switches gates and rules, and follow them from then on.

        Raises:
            EmulationError: One of them does not take them.
        """
        try:
            self._outcome = self._do(provision(self._fleet, lambda *_: None))
        except TagForwardError as error:
            raise EmulationError(str(error)) from error
        if self._outcome.failed:
            raise EmulationError("; ".join(map(str, self._outcome.failed.values())))
        self._watch = Watch(self._fleet, self._outcome.told)
        self._following = self._do(self._follow())

    async def _follow(self) -> asyncio.Task[None]:
        following = asyncio.get_running_loop().create_task(self._watch.run())
        await self._watch.begun.wait()
        return following

    def end(self) -> dict[str, Any]:
        """Follow no longer; what was done, for the result.

        Raises:
            EmulationError: Following has ended before, by a fault of this program.
        """
        failure = self._do(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        if failure is not None:
            raise EmulationError(f"the control plane has ended: {failure}")
        outcome = self._outcome
        return {
            "gates": outcome.gates,
            "gates_s": outcome.gates_s,
            "rules": outcome.rules["added"],
            "rules_s": outcome.rules_s,
            "reactions": [
                {"what": one.what, "groups": one.groups, "switches": one.switches, "took_s": took}
                for one, took in self._watch.reactions
            ],
        }

    async def _stop(self) -> BaseException | None:
        self._following.cancel()
        (ended,) = await asyncio.gather(self._following, return_exceptions=True)
        return ended if isinstance(ended, Exception) else None

    def _do(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE_S)
