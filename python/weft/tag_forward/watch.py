"""`Watch`: keeps a fat-tree provisioned while cables fail, daemons restart and hosts ask for pairs that have no rule.

Every daemon is followed over a connection of its own: it tells how its ports are, and of first packets without a rule.
What the other switches are to be told because of that is sent at once, to all of them together, the newest of a group
only. A daemon that was gone is told everything anew when it is back; what it has already stays.
"""

from __future__ import annotations

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
"""Seconds until a daemon that is gone is tried again: at first, and at most."""
_MADE_S = 2.0
"""Seconds after which a rule that was made is there, if nobody has taken it out."""
_QUIET_S = 10.0
"""Seconds without a notice after which a daemon is asked whether it is there."""


@dataclass
class Reaction:
    """What was set off by one cable.

    Attributes:
        what: The cable, and what became of it.
        down: Whether it works no more.
        began: When that was heard of, in seconds of the monotonic clock.
        waiting: Switches that have not confirmed yet.
        switches: Switches that were told.
        groups: Groups that were changed, all switches together.
    """

    what: str
    down: bool
    began: float
    waiting: set[str] = field(default_factory=set)
    switches: int = 0
    groups: int = 0


@dataclass
class Outbox:
    """What a switch is still to be told.

    Attributes:
        groups: Changes of groups, the newest of each.
        rules: Rules of pairs.
        reactions: What waits for that.
        whole: Whether it is to be told everything.
        busy: Whether it is being told.
    """

    groups: dict[int, str] = field(default_factory=dict)
    rules: dict[tuple[str, str], str] = field(default_factory=dict)
    reactions: list[Reaction] = field(default_factory=list)
    whole: bool = False
    busy: bool = False


class Watch:
    """Follows the daemons of a fleet that was provisioned.

    Attributes:
        reactions: What cables set off, and how many seconds it took until the last switch had confirmed.
        asked: Rules that were made for first packets.
        begun: Set once every daemon is followed, or is not there to be.
    """

    def __init__(self, fleet: Fleet, provisioned: list[str]) -> None:
        """`provisioned` are the switches that have everything; others are told when they answer."""
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
        """Follow all daemons until it is cancelled."""
        async with asyncio.TaskGroup() as self._group:
            for switch in self._fleet.tree.switches:
                self._group.create_task(self._keep(switch))

    async def _keep(self, switch: str) -> None:
        """Follow a daemon, again and again."""
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
                raise DaemonError(f"{switch} tells no more: its daemon has ended")
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
        """The notices of a daemon, which is asked whether it is there where none come.

        A connection that leads over a tunnel does not end with the daemon.

        Raises:
            DaemonError: It is not.
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
        """A daemon is followed, or is not there to be; say so when that holds for all."""
        if not self.begun.is_set():
            self._tried.add(switch)
            if len(self._tried) == len(self._fleet.tree.switches):
                self.begun.set()
                number = len(self._tried) - len(self._wrong)
                _log.info("following %s; Ctrl-C ends that, and switches keep gates and rules", _switches(number))

    async def _provision(self, switch: str) -> None:
        """See to it that a switch has everything."""
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
        """Take in what a daemon tells."""
        match notice:
            case {"what": "port", "port": int(port), "interface": str(), "role": str()}:
                end = End(switch, port)
                self._fleet.wiring.learn(end, Port.from_json(notice))
                self._follow(end)
            case {"what": "miss", "source": str(source), "destination": str(destination)}:
                self._ask(switch, source, destination)
            case {"what": "lost"}:
                # It may have been about ports: a look at them is as good.
                self._group.create_task(self._look(switch))
            case _:
                _log.debug("%s tells what is not understood: %s", switch, notice)

    async def _look(self, switch: str) -> None:
        try:
            await self._fleet.look(switch)
        except DaemonError as error:
            _log.debug("%s", error)
            return
        for end in self._fleet.tree.ports(switch):
            self._follow(end)

    def _follow(self, end: End) -> None:
        """Tell switches what follows from how a port is now."""
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
        reaction = Reaction(f"cable {fleet.tree.cable(end)} {became}", is_down, began)
        for switch, group, change in changes:
            self._outboxes[switch].groups[group] = change
            # The others are told everything when they are back.
            if switch in self._there and switch not in reaction.waiting:
                self._outboxes[switch].reactions.append(reaction)
                reaction.waiting.add(switch)
        reaction.switches, reaction.groups = len(reaction.waiting), len(changes)
        if not reaction.waiting:
            self._say(reaction)
        for switch in list(reaction.waiting):
            self._send(switch)

    def _ask(self, switch: str, source: str, destination: str) -> None:
        """Have a rule for the pair whose first packet has come."""
        if self._fleet.pairs is None:
            return
        pair, pairs = (source, destination), self._fleet.pairs.setdefault(switch, {})
        made = pairs.get(pair)
        if made is not None:
            # Somebody has taken the rule out, unless it is on its way.
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
        """See to it that a switch is told, if it answers; else it is told everything when it does."""
        outbox = self._outboxes[switch]
        if switch in self._there and not outbox.busy:
            outbox.busy = True
            self._group.create_task(self._empty(switch, outbox))

    async def _empty(self, switch: str, outbox: Outbox) -> None:
        """Tell a switch all that there is to tell it."""
        while switch in self._there and (outbox.groups or outbox.rules or outbox.whole):
            groups, rules, reactions, whole = outbox.groups, outbox.rules, outbox.reactions, outbox.whole
            outbox.groups, outbox.rules, outbox.reactions, outbox.whole = {}, {}, [], False
            try:
                if whole:
                    await self._fleet.put_flows(switch)
                else:
                    await self._fleet.post_flows(switch, [*groups.values(), *rules.values()])
            except DaemonError as error:
                _log.warning("%s; it is told everything anew", error)
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
        """A switch has confirmed what it was told because of cables, or is given up for now."""
        for reaction in reactions:
            reaction.waiting.discard(switch)
            if not reaction.waiting:
                self._say(reaction)

    def _say(self, reaction: Reaction) -> None:
        """Say what a cable has set off."""
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
    """Follow a fleet until SIGINT or SIGTERM; `provisioned` are the switches that have everything."""
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
