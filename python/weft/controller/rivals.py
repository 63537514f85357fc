"""Two connections with the same datapath id: the connected switch keeps it if it responds.

Datapath ids are not authenticated. A new connection with an id in use waits while the existing connection is probed,
and replaces it only if it does not respond.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from .switch import Switch


@dataclass
class _Claim:
    by: Switch
    before: Switch
    timer: asyncio.TimerHandle


class Rivals:
    """Claims to datapath ids in use, one at a time for each id."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        answer_s: float,
        refuse: Callable[[Switch, Switch], None],
        replace: Callable[[Switch, Switch], None],
    ) -> None:
        """`refuse` and `replace` are called with the new and the existing connection."""
        self._loop = loop
        self._answer_s = answer_s
        self._refuse = refuse
        self._replace = replace
        self._claims: dict[int, _Claim] = {}

    def claim(self, new: Switch, before: Switch) -> None:
        """A connection claims a datapath id in use."""
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
        """A connection is closed; returns the connection that was waiting for its datapath id, if any."""
        claim = self._claims.get(switch.dpid)
        if claim is None or switch not in (claim.by, claim.before):
            # A third, refused connection: the claim neither ends nor restarts.
            return None
        claim.timer.cancel()
        del self._claims[switch.dpid]
        return None if claim.by is switch else claim.by
