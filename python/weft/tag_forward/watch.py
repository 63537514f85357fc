"""`Watch`: keeps a fat-tree provisioned while links fail, daemons restart and new pairs of hosts communicate.

Each daemon sends notices over its own connection: changes of its ports, and first packets without a rule. The resulting
changes are sent to all affected switches at once, only the latest for each group. A daemon that comes back is fully
provisioned again; rules it already has stay unchanged.
"""

import asyncio
import logging
import signal
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from .. import quantity
from ..labels import plural
from .client import PROMPT_S
from .errors import DaemonError, RefusedError
from .fabric import End
from .fleet import Fleet
from .wiring import Port

_log = logging.getLogger(__name__)

_AGAIN_S = (0.05, 2.0)
"""Initial and maximum retry interval for an unreachable daemon, in seconds."""
_MADE_S = 2.0
"""Seconds after which a rule is installed, unless someone removed it."""
_QUIET_S = 10.0
"""Seconds without a notice after which a daemon is probed."""


@dataclass
class Reaction:
    """The changes caused by one link change: numbers of switches, and of groups over all of them.

    `began` is the time of the notice, in seconds of the monotonic clock; `waiting` switches have not confirmed yet.
    """

    what: str
    down: bool
    began: float
    waiting: set[str] = field(default_factory=set)
    switches: int = 0
    groups: int = 0


@dataclass
class Outbox:
    """Pending changes for a switch: the latest of each group, rules for pairs, and the reactions that wait for them.

    `whole`: all groups and rules are to be sent; `busy`: changes are being sent.
    """

    groups: dict[int, str] = field(default_factory=dict)
    rules: dict[tuple[str, str], str] = field(default_factory=dict)
    reactions: list[Reaction] = field(default_factory=list)
    whole: bool = False
    busy: bool = False


class Watch:
    """Follows the daemons of a provisioned fleet.

    `reactions` to link changes have the seconds until the last switch confirmed, `asked` is the number of rules
    installed on demand. `begun` is set once every daemon is being followed or was found unreachable.
    """

    def __init__(self, fleet: Fleet, provisioned: list[str]) -> None:
        """`provisioned` are the switches already provisioned; others follow when they respond."""
        self.reactions: list[tuple[Reaction, float]] = []
        self.asked = 0
        self.begun = asyncio.Event()
        self._fleet = fleet
        self._there = set(provisioned)
        self._outboxes: dict[str, Outbox] = defaultdict(Outbox)
        self._wrong: dict[str, str] = {}
        self._tried: set[str] = set()
        self._group: asyncio.TaskGroup

    async def run(self) -> None:
        """Follow all daemons until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            for switch in self._fleet.tree.switches:
                self._group.create_task(self._keep(switch))

    async def _keep(self, switch: str) -> None:
        wait = _AGAIN_S[0]
        while True:
            try:
                await self._provision(switch)
                self._wrong.pop(switch, None)
                wait = _AGAIN_S[0]
                async with aclosing(self._fleet.daemons[switch].follow("notices")) as notices:
                    async for notice in self._heard(switch, notices):
                        self._take(switch, notice)
                        self._begin(switch)
                raise DaemonError(f"{switch} closed its notices: its daemon has stopped")
            except DaemonError as error:
                self._there.discard(switch)
                outbox = self._outboxes[switch]
                self._done(switch, outbox.reactions)
                outbox.reactions = []
                if self._wrong.get(switch) != str(error):
                    _log.warning("%s", error)
                self._wrong[switch] = str(error)
                self._begin(switch)
            await asyncio.sleep(wait)
            wait = min(2 * wait, _AGAIN_S[1])

    async def _heard(self, switch: str, notices: AsyncGenerator[Any, None]) -> AsyncIterator[Any]:
        """The notices of a daemon; probes it while none arrive.

        A connection through a tunnel may outlive the daemon. Raises `DaemonError` if it does not respond.
        """
        while True:
            coming = asyncio.ensure_future(anext(notices, None))
            try:
                while not (await asyncio.wait({coming}, timeout=_QUIET_S))[0]:
                    await self._fleet.daemons[switch].ask("GET", "status", patience=PROMPT_S)
                notice = coming.result()
            finally:
                coming.cancel()
                await asyncio.wait({coming})
            if notice is None:
                return
            yield notice

    def _begin(self, switch: str) -> None:
        """Record that a daemon is being followed or unreachable; log once this holds for all."""
        if not self.begun.is_set():
            self._tried.add(switch)
            if len(self._tried) == len(self._fleet.tree.switches):
                self.begun.set()
                number = len(self._tried) - len(self._wrong)
                _log.info("following %s; stop with Ctrl-C: switches keep gates and rules", _switches(number))

    async def _provision(self, switch: str) -> None:
        """Provision a switch unless it is already provisioned."""
        fleet, outbox = self._fleet, self._outboxes[switch]
        await fleet.meet(switch)
        for end in fleet.tree.ports(switch):
            self._follow(end)
        if switch in self._there:
            return
        await fleet.put_gates(switch)
        outbox.groups, outbox.rules, outbox.whole = {}, {}, False
        counts = await fleet.put_flows(switch)
        changed = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
        _log.info("%s is provisioned: %s", switch, f"rules {changed}" if changed else "no rules")
        self._there.add(switch)
        self._send(switch)

    def _take(self, switch: str, notice: dict[str, Any]) -> None:
        match notice:
            case {"what": "port", "port": int(port), "interface": str(), "role": str()}:
                end = End(switch, port)
                self._fleet.wiring.learn(end, Port.from_json(notice))
                self._follow(end)
            case {"what": "miss", "source": str(source), "destination": str(destination)}:
                self._ask(switch, source, destination)
            case {"what": "lost"}:
                # A port notice may have been lost, so query the ports.
                self._group.create_task(self._look(switch))
            case _:
                _log.debug("%s sent an unknown notice: %s", switch, notice)

    async def _look(self, switch: str) -> None:
        try:
            await self._fleet.look(switch)
        except DaemonError as error:
            _log.debug("%s", error)
            return
        for end in self._fleet.tree.ports(switch):
            self._follow(end)

    def _follow(self, end: End) -> None:
        """Send the changes that result from the state of a port."""
        fleet, began = self._fleet, time.monotonic()
        other = fleet.tree.leads_to.get(end)
        if other is None:
            return
        was_down = fleet.is_down(end) or fleet.is_down(other)
        changes = fleet.follow(end)
        is_down = fleet.is_down(end) or fleet.is_down(other)
        if was_down == is_down:
            return
        said = fleet.wiring.about(end) or fleet.wiring.about(other)
        became = f"is down ({said})" if is_down else "is up"
        reaction = Reaction(f"link {fleet.tree.cable(end)} {became}", is_down, began)
        for switch, group, change in changes:
            self._outboxes[switch].groups[group] = change
            # The others are fully provisioned when they come back.
            if switch in self._there and switch not in reaction.waiting:
                self._outboxes[switch].reactions.append(reaction)
                reaction.waiting.add(switch)
        reaction.switches, reaction.groups = len(reaction.waiting), len(changes)
        if not reaction.waiting:
            self._say(reaction)
        for switch in list(reaction.waiting):
            self._send(switch)

    def _ask(self, switch: str, source: str, destination: str) -> None:
        if self._fleet.pairs is None:
            return
        pair, pairs = (source, destination), self._fleet.pairs.setdefault(switch, {})
        made = pairs.get(pair)
        if made is not None:
            # The rule was removed by someone else, unless it is still being installed.
            if time.monotonic() - made > _MADE_S:
                pairs[pair] = time.monotonic()
                self._outboxes[switch].whole = True
                self._send(switch)
            return
        try:
            change = self._fleet.provisioner.pair(switch, source, destination)
        except ValueError as why:
            _log.debug("%s: no rule for %s -> %s: %s", switch, source, destination, why)
            return
        pairs[pair] = time.monotonic()
        self.asked += 1
        self._outboxes[switch].rules[pair] = change
        self._send(switch)

    def _send(self, switch: str) -> None:
        """Start sending changes to a switch if it responds; otherwise it is fully provisioned when it does."""
        outbox = self._outboxes[switch]
        if switch in self._there and not outbox.busy:
            outbox.busy = True
            self._group.create_task(self._empty(switch, outbox))

    async def _empty(self, switch: str, outbox: Outbox) -> None:
        while switch in self._there and (outbox.groups or outbox.rules or outbox.whole):
            groups, rules, reactions, whole = outbox.groups, outbox.rules, outbox.reactions, outbox.whole
            outbox.groups, outbox.rules, outbox.reactions, outbox.whole = {}, {}, [], False
            try:
                if whole:
                    await self._fleet.put_flows(switch)
                else:
                    await self._fleet.post_flows(switch, [*groups.values(), *rules.values()])
            except DaemonError as error:
                _log.warning("%s; sending all its rules again", error)
                outbox.whole = True
                if isinstance(error, RefusedError) and not whole:
                    outbox.reactions = reactions + outbox.reactions
                    continue
                self._done(switch, reactions)
                await asyncio.sleep(_AGAIN_S[1])
                continue
            self._done(switch, reactions)
            for source, destination in rules:
                _log.debug("%s has a rule for %s -> %s", switch, source, destination)
        outbox.busy = False

    def _done(self, switch: str, reactions: list[Reaction]) -> None:
        """A switch has confirmed the changes of these reactions, or is skipped for now."""
        for reaction in reactions:
            reaction.waiting.discard(switch)
            if not reaction.waiting:
                self._say(reaction)

    def _say(self, reaction: Reaction) -> None:
        took = time.monotonic() - reaction.began
        self.reactions.append((reaction, took))
        _log.log(
            logging.WARNING if reaction.down else logging.INFO,
            "%s: %s of %s changed in %s",
            reaction.what,
            plural(reaction.groups, "group"),
            _switches(reaction.switches),
            quantity.seconds(took),
        )


def _switches(number: int) -> str:
    return plural(number, "switch", "switches")


async def watch(fleet: Fleet, provisioned: list[str]) -> None:
    """Follow a fleet until SIGINT or SIGTERM; `provisioned` are the switches already provisioned."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    watched = Watch(fleet, provisioned)
    following = loop.create_task(watched.run())
    stopping = loop.create_task(stop.wait())
    await asyncio.wait((following, stopping), return_when=asyncio.FIRST_COMPLETED)
    for task in (following, stopping):
        task.cancel()
    ended = (await asyncio.gather(following, stopping, return_exceptions=True))[0]
    if isinstance(ended, Exception):
        raise ended
    asked = f" after {plural(watched.asked, 'rule')} on demand" if fleet.pairs is not None else ""
    _log.info("stopped%s; switches keep gates and rules", asked)
