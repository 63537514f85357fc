"""Weft's own switch as a peer: with tags, and with a flow-table lookup at every hop.

Both are the same daemon, with the same gates and the same kind of rules; without tags, every switch on the path has the
rule of a flow, with tags only the first one.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..._weft import version
from ...emulation.errors import EmulationError
from ...emulation.plan import SwitchNode
from ...emulation.requirements import find_mininet
from ...tag_forward.client import Daemon
from ...tag_forward.errors import DaemonError
from .fabric import AGGREGATIONS, CORES, EDGES, SWITCHES, gates
from .flows import Flow, Passing, at_switches, filling
from .forwarder import Forwarder
from .setup import FLOW_TABLE, TAG_FORWARD
from .testbed import Testbed

_PRIORITY = 1000
_MODES = {FLOW_TABLE: "flow-table", TAG_FORWARD: "tag-forward"}
_NONE: dict[str, Any] = {"gates": []}
Answer = TypeVar("Answer")


class Daemons(Forwarder):
    """A `weft-switchd` for each switch."""

    def __init__(self, directory: Path, peer: str) -> None:
        """Create the testbed; `directory` is for files, `peer` is `FLOW_TABLE` or `TAG_FORWARD`."""
        find_mininet()
        from ...emulation.topology import HELLO
        from ...emulation.weft_mininet import WeftSwitch

        def parameters(switch: SwitchNode) -> dict[str, Any]:
            return {"mode": _MODES[peer], "switch_id": switch.id, "tier": switch.tier, "parameters": dict(HELLO)}

        self.testbed = Testbed(directory, WeftSwitch, parameters)
        self._tags = peer == TAG_FORWARD
        self._loop = asyncio.new_event_loop()
        self._daemons: dict[str, Daemon] = {}
        self._gates: dict[str, dict[str, Any]] = {one["switch"]: one for one in json.loads(gates().json())["switches"]}
        self._own: dict[str, list[str]] = {name: [] for name in SWITCHES}

    def start(self, on_progress: Callable[[float], None]) -> None:
        """Start the daemons, and set their gates."""
        from ...emulation.weft_mininet import ControlError

        switches = [self.testbed.switches[name] for name in SWITCHES]
        try:
            for number, switch in enumerate(switches, 1):
                switch.start(())
                # Attach programs one switch at a time: on a busy machine, the last of twenty would time out.
                switch.wait()
                on_progress(0.8 * number / len(switches))
            for switch in switches:
                switch.settle()
        except ControlError as refusal:
            raise EmulationError(str(refusal)) from refusal
        self.testbed.wait_for_links()
        self._daemons = {name: Daemon(name, self.testbed.switches[name].socket_path) for name in SWITCHES}
        self._done(self._at_once(self._put_gates))
        on_progress(1.0)

    def carry(self, flows: Sequence[Flow], on_progress: Callable[[float], None], *, fill: int = 0) -> None:
        """Install rules that match both addresses and select a gate."""
        passing = at_switches(flows)
        for number, name in enumerate(SWITCHES, 1):
            own = self._own[name]
            own += [_rule(one) for one in passing.get(name, ()) if one.is_first or not self._tags]
            if own:
                # Filler rules use the first flow's action.
                action = own[0].partition('"action":')[2]
                rest = (_text(source, destination, action) for source, destination in filling(fill - len(own)))
                body = f'{{"priority":{_PRIORITY},"rules":[{",".join((*own, *rest))}],"groups":[]}}'
                self._done(self._daemons[name].ask("PUT", "flows", body))
            on_progress(number / len(SWITCHES))

    def stop(self) -> None:
        """Mininet stops the daemons."""
        self._loop.close()

    def rules(self) -> dict[str, int]:
        """Number of rules as counted by each daemon."""
        return {name: int(self._asked(name, "flows?limit=0")["total"]) for name in SWITCHES}

    def report(self) -> dict[str, Any]:
        """Version, mode and number of gates."""
        return {
            "weft": version(),
            "mode": self._asked(SWITCHES[0], "status")["mode"],
            "gates": sum(len(self._asked(name, "gates")["gates"]) for name in SWITCHES),
        }

    def set_gates(self, *, at_once: bool) -> dict[str, Any]:
        """Remove all gates, then set them; returns the time in total and by switch, in seconds.

        With `at_once`, all switches in parallel, as `weft tag-forward provision` does; else one after the other, as in
        the paper, cores first.
        """
        self._done(self._at_once(self._take_gates))
        took: dict[str, float] = {}

        async def put(name: str) -> None:
            begun = time.perf_counter()
            await self._put_gates(name)
            took[name] = time.perf_counter() - begun

        begun = time.perf_counter()
        self._done(self._at_once(put) if at_once else _in_turn(put))
        return {"seconds": time.perf_counter() - begun, "switches": took}

    async def _put_gates(self, name: str) -> None:
        await self._daemons[name].ask("PUT", "gates", json.dumps(self._gates[name]))

    async def _take_gates(self, name: str) -> None:
        await self._daemons[name].ask("PUT", "gates", json.dumps(self._gates[name] | _NONE))

    async def _at_once(self, work: Callable[[str], Awaitable[None]]) -> None:
        await asyncio.gather(*(work(name) for name in SWITCHES))

    def _asked(self, name: str, what: str) -> Any:
        return self._done(self._daemons[name].ask("GET", what))

    def _done(self, work: Awaitable[Answer]) -> Answer:
        async def waiting() -> Answer:
            return await work

        try:
            return self._loop.run_until_complete(waiting())
        except DaemonError as error:
            raise EmulationError(str(error)) from error


async def _in_turn(work: Callable[[str], Awaitable[None]]) -> None:
    """One switch after the other, from the cores down as in the paper's Figure 2c."""
    for name in (*CORES, *AGGREGATIONS, *EDGES):
        await work(name)


def _rule(one: Passing) -> str:
    """A flow's rule at a switch, as JSON; without tags only the gate matters."""
    flow, way = one.flow, one.flow.way
    to = f'{{"way":{{"gate":{one.hop.gate},"up":{way.up}}}}}'
    action = f'{{"queue":{flow.queue},"down":{way.down},"to":{to}}}}}'
    return _text(flow.source, flow.destination, action)


def _text(source: str, destination: str, action: str) -> str:
    matches = f'{{"source":"{source}/32","destination":"{destination}/32"}}'
    return f'{{"priority":{_PRIORITY},"matches":{matches},"action":{action}'
