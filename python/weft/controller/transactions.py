"""What is being installed: which switches have still to confirm, what waits for it, and which messages belong to it.

A transaction's rules go to each of its switches in one block, flow-mods and then a barrier request, with consecutive
transaction ids of OpenFlow (xids). The barrier's answer confirms the block; an error message names one of its xids.
Knows no switch and no socket.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .core import Release


@dataclass(eq=False)
class Transaction:
    """One that not all of its switches have confirmed.

    Attributes:
        number: The core's.
        release: Frames that wait for it.
        since: When what caused it came in.
        deadline: When it has failed.
        waiting: Switches that have to confirm.
    """

    number: int
    release: Sequence[Release]
    since: float
    deadline: float
    waiting: set[int] = field(default_factory=set)


class _Block(NamedTuple):
    """Consecutive messages to one switch, the last of them its barrier request."""

    first: int
    last: int
    transaction: Transaction


class Failure(NamedTuple):
    """A transaction that failed, and at which switch."""

    number: int
    dpid: int


@dataclass
class Transactions:
    """All transactions that are open.

    Attributes:
        deadline_s: How long each may take.
        counts: Those that were `installed`, and those that failed, by how.
    """

    deadline_s: float
    counts: Counter[str] = field(default_factory=Counter)
    _open: dict[int, Transaction] = field(default_factory=dict)
    _blocks: dict[int, deque[_Block]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, number: int, release: Sequence[Release], since: float, now: float) -> Transaction:
        """Open a transaction; `since` is when what caused it came in."""
        # All have the same patience, so the oldest is the first in `_open` and the first to be overdue.
        transaction = self._open[number] = Transaction(number, release, since, now + self.deadline_s)
        return transaction

    def sent(self, transaction: Transaction, dpid: int, first: int, last: int) -> int:
        """Its rules go to a switch as messages `first` to `last`, the last the barrier request.

        Returns how many barrier requests the switch has not answered.
        """
        transaction.waiting.add(dpid)
        blocks = self._blocks.setdefault(dpid, deque())
        blocks.append(_Block(first, last, transaction))
        return len(blocks)

    def without_rules(self, transaction: Transaction) -> Transaction:
        """It has no rules, so there is nothing to wait for."""
        del self._open[transaction.number]
        self.counts["installed"] += 1
        return transaction

    def confirmed(self, dpid: int, xid: int) -> Transaction | None:
        """A switch answered a barrier; returns the transaction if that was the last thing it waited for."""
        blocks = self._blocks.get(dpid)
        if not blocks:
            return None
        # A switch answers in order: what stands before this one was never answered.
        place = next((place for place, block in enumerate(blocks) if block.last == xid), None)
        if place is None:
            return None
        for _ in range(place):
            blocks.popleft()
        transaction = blocks.popleft().transaction
        transaction.waiting.discard(dpid)
        if transaction.waiting or self._open.get(transaction.number) is not transaction:
            return None
        del self._open[transaction.number]
        self.counts["installed"] += 1
        return transaction

    def refused(self, dpid: int, xid: int) -> Failure | None:
        """A switch sent an error; returns the transaction that has failed by it, the first time."""
        for block in self._blocks.get(dpid, ()):
            if block.first <= xid <= block.last:
                return self._fail(block.transaction, dpid, "refused")
        return None

    def missing(self, transaction: Transaction, dpid: int) -> Failure | None:
        """A switch of a transaction is not there, or its rules cannot be sent."""
        return self._fail(transaction, dpid, "unsent")

    def switch_down(self, dpid: int) -> list[Failure]:
        """A switch is gone; returns what has failed by it."""
        failures = [self._fail(block.transaction, dpid, "switch_gone") for block in self._blocks.pop(dpid, ())]
        return [failure for failure in failures if failure is not None]

    def next_deadline(self) -> float:
        """When the oldest one will have failed."""
        return next(iter(self._open.values())).deadline if self._open else math.inf

    def overdue(self, now: float) -> list[Failure]:
        """Those that have taken too long, with a switch that has not confirmed."""
        late = []
        for transaction in self._open.values():
            if transaction.deadline > now:
                break
            late.append(transaction)
        failures = [self._fail(one, min(one.waiting, default=0), "late") for one in late]
        return [failure for failure in failures if failure is not None]

    def _fail(self, transaction: Transaction, dpid: int, how: str) -> Failure | None:
        if self._open.get(transaction.number) is not transaction:
            return None
        del self._open[transaction.number]
        self.counts[how] += 1
        return Failure(transaction.number, dpid)
