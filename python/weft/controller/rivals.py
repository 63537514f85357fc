"""Two connections with one datapath id: the switch that is connected keeps its place if it answers.

A datapath id is what somebody says of himself. A connection that says one that is taken waits until the one that has it
has been asked whether it is there; only if that does not answer is the new one believed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .switch import Switch


@dataclass
class _Claim:
    by: Switch
    before: Switch
    timer: asyncio.TimerHandle


class Rivals:
    """Claims to datapath ids that are taken, one at a time for each."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        answer_s: float,
        refuse: Callable[[Switch, Switch], None],
        replace: Callable[[Switch, Switch], None],
    ) -> None:
        """`refuse` and `replace` are told the new connection and the one that was there."""
        self._loop = loop
        self._answer_s = answer_s
        self._refuse = refuse
        self._replace = replace
        self._claims: dict[int, _Claim] = {}

    def claim(self, new: Switch, before: Switch) -> None:
        """A connection says a datapath id that is taken."""
        if new.dpid in self._claims:
            self._refuse(new, before)
            return

        def ends(then: Callable[[Switch, Switch], None]) -> None:
            claim = self._claims.pop(new.dpid, None)
            if claim is None or claim.by is not new:
                return
            claim.timer.cancel()
            then(new, before)

        timer = self._loop.call_later(self._answer_s, ends, self._replace)
        self._claims[new.dpid] = _Claim(new, before, timer)
        before.probe(lambda: ends(self._refuse))

    def gone(self, switch: Switch) -> Switch | None:
        """A connection is gone; returns who has claimed what it had and need not wait any more."""
        claim = self._claims.get(switch.dpid)
        if claim is None or switch not in (claim.by, claim.before):
            # A third one that was refused changes nothing: the claim neither ends nor waits anew.
            return None
        claim.timer.cancel()
        del self._claims[switch.dpid]
        return None if claim.by is switch else claim.by
