"""The daemons of a fat-tree's switches: their identity, neighbours, gates and rules."""

import asyncio
import ipaddress
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .._weft import Provisioner
from .client import PROMPT_S, Daemon
from .errors import DaemonError, TagForwardError
from .fabric import End, FatTree
from .wiring import Port, Wiring

MODE = "tag-forward"
"""The daemon mode that supports gates and tag rules."""
PRIORITY = 1000
"""The priority of the provisioner's rules; rules with other priorities are left unchanged."""
ALL_RULES = 10_000_000
"""A limit above the number of rules of any switch."""
_AT_ONCE = 64
"""Maximum number of concurrent requests to daemons."""
_LOOK_S = 0.1
"""Polling interval for listening ports, in seconds."""
_SPARE_S = 2.0
"""Seconds added to the hold time when waiting for listening ports."""

OnProgress = Callable[[str, int, int], None]
"""Progress callback: stage, number of switches done, total number."""


class Fleet:
    """All switches of a fat-tree.

    The `provisioner` computes gates and rules, and tracks which links work; `wiring` has the neighbours that switches
    report. `held_ms` is the Hello hold time by switch: how long a port listens at most. `pairs` are, by switch, the
    (source, destination) pairs that have a rule there, with the time of its installation; None if all destinations
    have.
    """

    def __init__(
        self,
        tree: FatTree,
        addresses: Mapping[str, list[str]],
        sockets: Mapping[str, Path],
        *,
        on_demand: bool = False,
    ) -> None:
        """A fat-tree with the addresses of its hosts and the control sockets of its switches.

        `on_demand`: install rules only for pairs that have sent packets.
        """
        self.pairs: dict[str, dict[tuple[str, str], float]] | None = {} if on_demand else None
        self.tree = tree
        self.daemons = {switch: Daemon(switch, sockets[switch]) for switch in tree.switches}
        self.provisioner = Provisioner(tree.plan, dict(addresses))
        self.wiring = Wiring(tree)
        self.held_ms: dict[str, int] = {}
        self._down: set[End] = set()

    async def meet(self, switch: str) -> None:
        """Query a daemon's identity and ports.

        Raises `DaemonError` if it does not respond, or cannot be provisioned.
        """
        status = await self.daemons[switch].ask("GET", "status", patience=PROMPT_S)
        try:
            mode, id_, ports = status["mode"], status["switch_id"], int(status["ports"])
            self.held_ms[switch] = int(status["hello_hold_ms"])
        except (KeyError, TypeError, ValueError):
            raise DaemonError(f"the process on {self.daemons[switch].path} is not a weft-switchd") from None
        if mode != MODE:
            raise DaemonError(f"{switch} runs in mode {mode}, not {MODE}: set `mode` in its configuration")
        number = len(self.tree.ports(switch))
        if ports < number:
            raise DaemonError(
                f"{switch} has {ports} ports, but {number} in the fabric: list all in `ports` of its configuration, in"
                " the fabric's order"
            )
        self.wiring.met(switch, id_)
        await self.look(switch)

    async def look(self, switch: str) -> None:
        """Query the ports of a daemon."""
        ports = await self.daemons[switch].ask("GET", "ports", patience=PROMPT_S)
        if not isinstance(ports, list):
            raise DaemonError(f"the process on {self.daemons[switch].path} is not a weft-switchd")
        for number, port in enumerate(ports):
            self.wiring.learn(End(switch, number), Port.from_json(port))

    async def settle(self, switches: Iterable[str], on_progress: OnProgress) -> None:
        """Wait until the neighbours of all ports of these switches are known, at most their hold time."""
        left = [switch for switch in switches if self.wiring.settling(switch)]
        until = time.monotonic() + max((self.held_ms[switch] for switch in left), default=0) / 1000 + _SPARE_S
        number = len(left)
        while left and time.monotonic() < until:
            on_progress("waiting for neighbours", number - len(left), number)
            await asyncio.sleep(_LOOK_S)
            failed = await each(left, self.look)
            left = [switch for switch in left if switch not in failed and self.wiring.settling(switch)]

    def check(self) -> None:
        """Check the wiring.

        Raises `TagForwardError` if links are miswired (the message lists them all), or switches have the same id.
        """
        twins = self.wiring.twins()
        if twins:
            raise TagForwardError(
                f"switches have the same id: {'; '.join(twins)}", "a different `switch_id` in each configuration"
            )
        mistakes = self.wiring.mistakes()
        if mistakes:
            raise TagForwardError(
                f"the switches are not wired as in the fabric: {'; '.join(mistakes)}",
                "fix the wiring or the fabric file; nothing was changed",
            )

    def follow(self, end: End) -> list[tuple[str, int, str]]:
        """Update the state of the link at a port; returns the resulting changes, as in `Provisioner.link_changed`."""
        works = self.wiring.works(end)
        if works is (end not in self._down) or end not in self.tree.leads_to:
            return []
        (self._down.discard if works else self._down.add)(end)
        return self.provisioner.link_changed(end.node, end.port, works)

    def is_down(self, end: End) -> bool:
        """Whether a port's link is down."""
        return end in self._down

    async def put_gates(self, switch: str) -> None:
        """Install the gates of a switch."""
        await self.daemons[switch].ask("PUT", "gates", self.provisioner.gates(switch))

    async def put_flows(self, switch: str) -> dict[str, int]:
        """Install the groups and rules of a switch; returns the numbers of rules added, replaced, removed, kept."""
        if self.pairs is None:
            body = self.provisioner.flows(switch)
        else:
            there = await self._pairs_there(switch)
            pairs = self.pairs.setdefault(switch, {})
            pairs |= dict.fromkeys(there, time.monotonic())
            body = self.provisioner.flows(switch, list(pairs))
        answer = await self.daemons[switch].ask("PUT", "flows", body)
        return {what: int(number) for what, number in answer.items()}

    async def post_flows(self, switch: str, changes: Iterable[str]) -> None:
        """Change groups and rules of a switch."""
        await self.daemons[switch].ask("POST", "flows", f'{{"changes":[{",".join(changes)}]}}')

    async def _pairs_there(self, switch: str) -> list[tuple[str, str]]:
        there = await self.daemons[switch].ask("GET", f"flows?limit={ALL_RULES}")
        own = (pair_of(match_of(rule)) for rule in there["rules"] if rule["priority"] == PRIORITY)
        return [pair for pair in own if pair is not None]


def match_of(rule: dict[str, Any]) -> tuple[str, str]:
    """The source and destination networks of a rule."""
    return rule["matches"]["source"], rule["matches"]["destination"]


def pair_of(match: tuple[str, str]) -> tuple[str, str] | None:
    """The two addresses that a rule matches; None if it matches networks."""
    source, destination = map(ipaddress.ip_network, match)
    if source.prefixlen != source.max_prefixlen or destination.prefixlen != destination.max_prefixlen:
        return None
    return str(source.network_address), str(destination.network_address)


async def each(
    switches: Iterable[str],
    work: Callable[[str], Awaitable[Any]],
    on_progress: Callable[[int], None] = lambda _: None,
) -> dict[str, DaemonError]:
    """Run `work` for all `switches` concurrently; returns the errors by switch."""
    failed: dict[str, DaemonError] = {}
    room, done = asyncio.Semaphore(_AT_ONCE), 0

    async def one(switch: str) -> None:
        nonlocal done
        async with room:
            try:
                await work(switch)
            except DaemonError as error:
                failed[switch] = error
        done += 1
        on_progress(done)

    async with asyncio.TaskGroup() as group:
        for switch in switches:
            group.create_task(one(switch))
    return failed
