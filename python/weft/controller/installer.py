"""Does what the core says: rules with a barrier behind them, frames that wait for them, and the core told of the end.

The core is told at once when rules are confirmed or refused, and what it says thereupon is done after what it has said
before: to one switch, everything goes in the core's order.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from . import codec
from .core import TABLE, Command, Release, Rule
from .latency import Latency
from .seldom import Seldom
from .switch import Switch
from .transactions import Failure, Transaction, Transactions

if TYPE_CHECKING:
    from .._weft import Controller

_log = logging.getLogger(__name__)

_BACKLOG = 200_000
"""Barrier requests that one switch may leave unanswered."""


class Installer:
    """What is on its way to switches.

    Attributes:
        transactions: What is being installed.
        counts: Messages sent, and errors that came back.
        set_up: How long paths took, from the packet that wanted one to the last switch's confirmation.
    """

    def __init__(
        self,
        core: Controller,
        switches: Mapping[int, Switch],
        deadline_s: float,
        clock: Callable[[], float],
        name: Callable[[int], str],
    ) -> None:
        """`switches` are those that are known, by datapath id; it is another's to change. `name` is for people."""
        self.transactions = Transactions(deadline_s)
        self.counts: Counter[str] = Counter()
        self.set_up = Latency()
        self._core = core
        self._switches = switches
        self._clock = clock
        self._name = name
        self._seldom = Seldom(_log, clock)
        self._work: deque[tuple[Command, float | None]] = deque()
        self._working = False

    def do(self, commands: Iterable[Command], since: float | None = None) -> None:
        """Do what the core says, and what it says thereupon; `since` is when what caused it came in."""
        self._work.extend((command, since) for command in commands)
        if self._working:
            return
        self._working = True
        try:
            while self._work:
                command, started = self._work.popleft()
                if command[0] == "install":
                    self._install(command[1], command[2], command[3], started)
                else:
                    self.packet_out(command[1], command[2], command[3], command[4])
        finally:
            self._working = False

    def packet_out(self, dpid: int, in_port: int | None, ports: list[int], frame: bytes) -> None:
        """Send a frame out of ports of a switch."""
        switch = self._ready(dpid)
        if switch is None:
            self.counts["packet_outs_without_switch"] += 1
            return
        self.counts["packet_outs"] += 1
        switch.send(codec.packet_out(switch.xids(1), in_port, ports, frame))

    def confirmed(self, dpid: int, xid: int) -> None:
        """A switch has done what stood before a barrier request."""
        transaction = self.transactions.confirmed(dpid, xid)
        if transaction is not None:
            self._installed(transaction)

    def refused(self, dpid: int, xid: int, reason: str) -> None:
        """A switch has answered with an error."""
        self.counts["errors_received"] += 1
        failure = self.transactions.refused(dpid, xid)
        self._seldom.warning(("refused", dpid, reason), f"switch {self._name(dpid)} refused a message: {reason}")
        if failure is not None:
            self._failed(failure, reason)

    def switch_down(self, dpid: int) -> None:
        """A switch can be steered no more."""
        for failure in self.transactions.switch_down(dpid):
            self._failed(failure, "the switch is gone")

    def next_deadline(self) -> float:
        """When `on_deadline` wants to be called."""
        return self.transactions.next_deadline()

    def on_deadline(self, now: float) -> None:
        """Give up what has taken too long."""
        for failure in self.transactions.overdue(now):
            name, limit = self._name(failure.dpid), self.transactions.deadline_s
            self._seldom.warning(("late", failure.dpid), f"switch {name} has not confirmed rules within {limit:g} s")
            self._failed(failure, f"not confirmed within {limit:g} s")

    def _install(self, number: int, rules: list[Rule], release: list[Release], since: float | None) -> None:
        blocks: dict[int, list[Rule]] = {}
        for rule in rules:
            blocks.setdefault(rule[0], []).append(rule)
        now = self._clock()
        transaction = None
        if number:
            transaction = self.transactions.begin(number, release, now if since is None else since, now)
            if not blocks:
                self._installed(self.transactions.without_rules(transaction))
                return
        for dpid, block in blocks.items():
            switch = self._ready(dpid)
            if switch is None:
                self._unsent(transaction, dpid, "the switch is gone")
                continue
            try:
                self._send(switch, block, transaction)
            except ValueError as error:
                self._seldom.error(("unsent", str(error)), f"a rule cannot be sent: {error}; please report this")
                self._unsent(transaction, dpid, str(error))

    def _send(self, switch: Switch, rules: list[Rule], transaction: Transaction | None) -> None:
        """Send rules, with a barrier request after them if somebody waits for them.

        Raises:
            ValueError: A rule is not one.
        """
        first = switch.xids(len(rules) + 1)
        messages = codec.flow_mods(first, rules, barrier=transaction is not None)
        self.counts["flow_mods"] += len(rules)
        if transaction is not None:
            unanswered = self.transactions.sent(transaction, switch.dpid, first, first + len(rules))
            if unanswered > _BACKLOG:
                switch.close(f"it has left {_BACKLOG} barrier requests unanswered")
                return
        switch.send(messages)

    def _unsent(self, transaction: Transaction | None, dpid: int, reason: str) -> None:
        failure = None if transaction is None else self.transactions.missing(transaction, dpid)
        if failure is not None:
            self._failed(failure, reason)

    def _installed(self, transaction: Transaction) -> None:
        """All switches have confirmed: frames that waited go on their way."""
        now = self._clock()
        if transaction.release:
            self.set_up.add(now - transaction.since)
        for dpid, in_port, frame in transaction.release:
            self.packet_out(dpid, in_port, [TABLE], frame)
        self.do(self._core.installed(now, transaction.number))

    def _failed(self, failure: Failure, reason: str) -> None:
        self.do(self._core.failed(self._clock(), failure.number, failure.dpid, reason))

    def _ready(self, dpid: int) -> Switch | None:
        switch = self._switches.get(dpid)
        return switch if switch is not None and switch.is_ready else None
