"""Logs ports whose hosts hit a rate limit or failed a check: each kind at most once in ten seconds.

The counters show how much was dropped; an operator also needs to know where. All state is bounded, because hosts
control how often this happens.
"""

import logging
from collections.abc import Callable, Iterable

_log = logging.getLogger(__name__)

Offence = tuple[str, int, int, str | None, str | None, int]
"""Kind of offence, switch, port, the MAC and IP address claimed, and number of times."""

_INTERVAL_S = 10.0
_MOST = 4096
"""Maximum number of ports and kinds tracked; beyond it, the least recently seen are evicted."""

_TEXTS = {
    "packets": "exceeds the rate limit of packets to the controller; {times} dropped",
    "lldp": "exceeds the rate limit of LLDP frames; {times} dropped",
    "flows": "exceeds the rate limit of new TCP connections; {times} forwarded without dedicated rules",
    "rules": "needs more rules than its switches confirm; {times} forwarded without dedicated rules",
    "floods": "exceeds the rate limit of broadcasts and frames to unknown hosts; {times} dropped",
    "addresses": "exceeds the limit of new addresses; {times} not learned",
    "moved": "claims the MAC address {mac}, whose host responds at another port; {claims} refuted",
    "taken": "claims the address {address} from {mac}, but its current host responds; {claims} refuted",
    "moved-unasked": "claims the MAC address {mac}, whose host cannot be probed now; {times} dropped",
    "taken-unasked": "claims from {mac} the address {address}, whose host cannot be probed now; {times} dropped",
    "forged": "claims the address {address} from {mac} on behalf of another MAC address; {times} dropped",
}


class Offenders:
    """Logs offences, with the number of those suppressed."""

    def __init__(self, clock: Callable[[], float], port_name: Callable[[int, int], str]) -> None:
        """`port_name` returns the name of a switch's port for the log."""
        self._clock = clock
        self._port_name = port_name
        self._said: dict[tuple[int, int, str], tuple[float, Offence | None]] = {}

    def took(self, offences: Iterable[Offence]) -> None:
        """Log new offences and earlier ones that are due; call once a second."""
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
