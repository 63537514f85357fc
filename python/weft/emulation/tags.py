"""The control plane of Tag-and-Forward over an emulated network: `weft tag-forward provision --watch`, in a thread.

The switches are daemons in mode `tag-forward`, which have no configuration until they are provisioned over their
control sockets, so this is the same control plane as for real switches. When a link fails, only their notices trigger
the reaction.
"""

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
"""Timeout of provisioning, in seconds."""

_T = TypeVar("_T")


def fat_tree(plan: Plan) -> FatTree:
    """The fabric of a plan, with its gates.

    Raises `EmulationError` if it is not a fat-tree, or the tags are too narrow for it.
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
    """Check that switches with tags can carry out a plan.

    Raises `EmulationError` as `fat_tree`, or if path selection depends on queues that the switch cannot observe.
    """
    if plan.params["choice"] == "least-loaded":
        raise EmulationError(
            "`scheme.choice` is least-loaded, but the Linux switch cannot observe its ports' queues",
            "`weft run` simulates it; or `--set 'scheme.choice=\"spray\"'`, or ecmp",
        )
    fat_tree(plan)


class ControlPlane:
    """Provisions the switches of a network, and reroutes around failed links."""

    def __init__(self, network: Network) -> None:
        """Takes a network whose switches are running."""
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
        """Provision all switches and follow them from then on.

        Raises `EmulationError` if a switch cannot be provisioned.
        """
        try:
            self._outcome = self._do(provision(self._fleet, lambda *_: None))
        except TagForwardError as error:
            raise EmulationError(str(error)) from error
        if self._outcome.failed:
            raise EmulationError("; ".join(map(str, self._outcome.failed.values())))
        self._watch = Watch(self._fleet, self._outcome.provisioned)
        self._following = self._do(self._follow())

    async def _follow(self) -> asyncio.Task[None]:
        following = asyncio.get_running_loop().create_task(self._watch.run())
        await self._watch.begun.wait()
        return following

    def end(self) -> dict[str, Any]:
        """Stop following; returns the outcome for the result.

        Raises `EmulationError` if the control plane failed during the run.
        """
        failure = self._do(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        if failure is not None:
            raise EmulationError(f"the control plane failed: {failure}")
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
