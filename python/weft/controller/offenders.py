"""Ports whose hosts were stopped by a limit or a check, named in the log: each kind at most once in ten seconds.

The counters say how much was dropped; an operator also needs to know where. Everything here is bounded, because hosts
decide how often it happens.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeAlias

_log = logging.getLogger(__name__)

Offence: TypeAlias = "tuple[str, int, int, str | None, str | None, int]"
"""What was stopped, the switch, the port, the MAC and IP address that were claimed, and how many times."""

_INTERVAL_S = 10.0
_MOST = 4096
"""Ports and kinds that are told apart; when there are more, those not seen for longest are forgotten."""

_TEXTS = {
    "packets": "sends more packets to the controller than a port may; {times} dropped",
    "lldp": "sends more LLDP frames than a port may; {times} dropped",
    "flows": "opens more TCP connections than a port may; {times} sent without rules of their own",
    "rules": "needs more rules than its switches confirm; {times} sent without rules of their own",
    "floods": "sends more broadcasts and frames to unknown hosts than a port may; {times} dropped",
    "addresses": "claims more new addresses than a port may; {times} not learned",
    "moved": "claims the MAC address {mac}, whose host answers at another port; {claims} refuted",
    "taken": "claims the address {address} from {mac}, but the host that has it answers; {claims} refuted",
    "moved-unasked": "claims the MAC address {mac}, whose host cannot be asked now; {times} dropped",
    "taken-unasked": "claims from {mac} the address {address}, whose host cannot be asked now; {times} dropped",
    "forged": "claims the address {address} from {mac} in the name of another MAC address; {times} dropped",
}


class Offenders:
    """Writes them to the log, with how many were left out of it."""

    def __init__(self, clock: Callable[[], float], port_name: Callable[[int, int], str]) -> None:
        """`port_name` says what a port of a switch is called, ready for the log."""
        self._clock = clock
        self._port_name = port_name
        self._said: dict[tuple[int, int, str], tuple[float, Offence | None]] = {}

    def took(self, offences: Iterable[Offence]) -> None:
        """Say what has happened since this was last called, and what is due of before; to be called once a second."""
        now = self._clock()
        for offence in offences:
            kind, dpid, port = offence[:3]
            key = (dpid, port, kind)
            since, held = self._said.pop(key, (float("-inf"), None))
            before = held[5] if held is not None else 0
            self._said[key] = (since, (*offence[:5], offence[5] + before))
        while len(self._said) > _MOST:
            del self._said[next(iter(self._said))]
        for key, (since, held) in list(self._said.items()):
            if now - since < _INTERVAL_S:
                continue
            if held is None:
                del self._said[key]
                continue
            self._said[key] = (now, None)
            self._say(held)

    def _say(self, offence: Offence) -> None:
        kind, dpid, port, mac, address, count = offence
        times = "1 frame was" if count == 1 else f"{count:,} frames were"
        claims = "1 claim was" if count == 1 else f"{count:,} claims were"
        text = _TEXTS[kind].format(times=times, claims=claims, mac=mac, address=address)
        _log.warning("%s %s", self._port_name(dpid, port), text)
