"""The daemons of a fat-tree's switches: who they are, what they hear, what they are told."""

from __future__ import annotations

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
"""The mode of a daemon that can be told gates and rules of tags."""
PRIORITY = 1000
"""The priority of the provisioner's rules; those of others are not touched."""
ALL_RULES = 10_000_000
"""More rules than a switch has."""
_AT_ONCE = 64
"""Daemons that are talked to at a time."""
_LOOK_S = 0.1
"""Seconds between two looks at ports that listen."""
_SPARE_S = 2.0
"""Seconds beyond what a port listens at most."""

Told = Callable[[str, int, int], None]
"""Hears what is being done, of how many switches it is done, and of how many it is to be."""


class Fleet:
    """All switches of a fat-tree.

    Attributes:
        tree: The fabric and its gates.
        daemons: By switch.
        provisioner: What they are to be told; it knows which cables work.
        wiring: What they hear of each other.
        held_ms: By switch, for how long one of its ports listens at most.
        pairs: By switch, the sources and destinations that have a rule there, and when it was made; None where all
            destinations have one.
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

        `on_demand`: switches have rules only for the pairs that were asked for.
        """
        self.pairs: dict[str, dict[tuple[str, str], float]] | None = {} if on_demand else None
        self.tree = tree
        self.daemons = {switch: Daemon(switch, sockets[switch]) for switch in tree.switches}
        self.provisioner = Provisioner(tree.plan, dict(addresses))
        self.wiring = Wiring(tree)
        self.held_ms: dict[str, int] = {}
        self._down: set[End] = set()

    async def meet(self, switch: str) -> None:
        """Ask a daemon who it is and how its ports are.

        Raises:
            DaemonError: It does not answer, or is not one that can be told.
        """
        status = await self.daemons[switch].ask("GET", "status", patience=PROMPT_S)
        try:
            mode, id_, ports = status["mode"], status["switch_id"], int(status["ports"])
            self.held_ms[switch] = int(status["hello_hold_ms"])
        except (KeyError, TypeError, ValueError):
            raise DaemonError(f"what answers on {self.daemons[switch].path} is no weft-switchd") from None
        if mode != MODE:
            raise DaemonError(f"{switch} runs in mode {mode}, not {MODE}: its configuration says `mode`")
        number = len(self.tree.ports(switch))
        if ports < number:
            raise DaemonError(
                f"{switch} has {ports} ports, the fabric {number}: all are to be in `ports` of its configuration, in"
                " the fabric's order"
            )
        self.wiring.met(switch, id_)
        await self.look(switch)

    async def look(self, switch: str) -> None:
        """Ask a daemon how its ports are."""
        ports = await self.daemons[switch].ask("GET", "ports", patience=PROMPT_S)
        if not isinstance(ports, list):
            raise DaemonError(f"what answers on {self.daemons[switch].path} is no weft-switchd")
        for number, port in enumerate(ports):
            self.wiring.learn(End(switch, number), Port.from_json(port))

    async def settle(self, switches: Iterable[str], told: Told) -> None:
        """Wait until it is known what is behind every port of these switches, for as long as that may take."""
        left = [switch for switch in switches if self.wiring.settling(switch)]
        until = time.monotonic() + max((self.held_ms[switch] for switch in left), default=0) / 1000 + _SPARE_S
        number = len(left)
        while left and time.monotonic() < until:
            told("waiting until it is known what is behind ports", number - len(left), number)
            await asyncio.sleep(_LOOK_S)
            failed = await each(left, self.look)
            left = [switch for switch in left if switch not in failed and self.wiring.settling(switch)]

    def check(self) -> None:
        """Refuse a fabric in which cables are elsewhere.

        Raises:
            TagForwardError: With all that are; or switches cannot be told apart.
        """
        twins = self.wiring.twins()
        if twins:
            raise TagForwardError(f"switches have the same id: {'; '.join(twins)}", "a `switch_id` in a configuration")
        mistakes = self.wiring.mistakes()
        if mistakes:
            raise TagForwardError(
                f"the switches are not wired as the fabric says: {'; '.join(mistakes)}",
                "the cables put right, or a fabric file that has them as they are; nothing was changed",
            )

    def follow(self, end: End) -> list[tuple[str, int, str]]:
        """Take in whether the link that leaves a port works; which switches are to be told what, as `Provisioner`."""
        works = self.wiring.works(end)
        if works is (end not in self._down) or end not in self.tree.leads_to:
            return []
        (self._down.discard if works else self._down.add)(end)
        return self.provisioner.link_changed(end.node, end.port, works)

    def is_down(self, end: End) -> bool:
        """Whether a port's link was found not to work."""
        return end in self._down

    async def put_gates(self, switch: str) -> None:
        """Have a switch take its gates."""
        await self.daemons[switch].ask("PUT", "gates", self.provisioner.gates(switch))

    async def put_flows(self, switch: str) -> dict[str, int]:
        """Have a switch take its groups and rules; how many rules were added, replaced, removed, kept."""
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
        """Have a switch change its groups and rules."""
        await self.daemons[switch].ask("POST", "flows", f'{{"changes":[{",".join(changes)}]}}')

    async def _pairs_there(self, switch: str) -> list[tuple[str, str]]:
        """The pairs that a switch has rules for, from an earlier time."""
        there = await self.daemons[switch].ask("GET", f"flows?limit={ALL_RULES}")
        own = (pair_of(match_of(rule)) for rule in there["rules"] if rule["priority"] == PRIORITY)
        return [pair for pair in own if pair is not None]


def match_of(rule: dict[str, Any]) -> tuple[str, str]:
    """The source's and the destination's network of a rule."""
    return rule["matches"]["source"], rule["matches"]["destination"]


def pair_of(match: tuple[str, str]) -> tuple[str, str] | None:
    """The two addresses that a rule is for; None where it is for networks."""
    source, destination = map(ipaddress.ip_network, match)
    if source.prefixlen != source.max_prefixlen or destination.prefixlen != destination.max_prefixlen:
        return None
    return str(source.network_address), str(destination.network_address)


async def each(
    switches: Iterable[str],
    work: Callable[[str], Awaitable[Any]],
    told: Callable[[int], None] = lambda _: None,
) -> dict[str, DaemonError]:
    """Do `work` for all of `switches` at once; what went wrong, by switch."""
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
        told(done)

    async with asyncio.TaskGroup() as group:
        for switch in switches:
            group.create_task(one(switch))
    return failed
