"""Detects rules that others install in a connected switch, by polling every few seconds.

Each poll requests the number of all rules and the number of rules with Weft's cookies: two short replies, whatever the
table size. The foreign rules themselves are listed only if their number has changed, and on every eighth poll while
there are any, since one may have replaced another. Cookie masks match only equality, so the foreign cookies are
requested in sixteen parts: those that differ from Weft's in the first bit, those that share it and differ in the
second, and so on.
"""

from collections import Counter
from collections.abc import Callable

from .._weft import OpenFlow

PERIOD_S = 8.0
"""Interval between polls of a switch."""
MARK = 0x5745
"""The upper 16 bits of the cookies of all Weft rules."""
_FULL_EVERY = 8
"""While a switch has foreign rules, every so many polls list them even if their number is unchanged."""
_PATIENCE_S = 60.0
"""Timeout of a poll; the next one then starts."""
_MOST = 10_000
"""Maximum number of foreign rules tracked per poll; the rest are only counted."""

_OWN = (MARK << 48, 0xFFFF << 48)
_OTHERS = [((MARK >> bit ^ 1) << bit + 48, 0xFFFF >> bit << bit + 48) for bit in range(16)]
"""Values and masks that together match every foreign cookie exactly once."""


class Foreign:
    """The polls of one switch, and their results."""

    def __init__(self, cookies: list[int], xids: Callable[[int], int], now: float) -> None:
        """`cookies` are those of the foreign rules at connection time; `xids` allocates transaction ids."""
        self._known = Counter(cookies)
        self._known_rules = len(cookies)
        self._short_looks = 0
        self._xids = xids
        self._due = now + PERIOD_S
        self._counted: dict[int, int | None] = {}
        self._asked: set[int] = set()
        self._listed: Counter[int] = Counter()
        self._listed_rules = 0

    def ask(self, now: float) -> bytes:
        """The requests to send now; empty until the next poll is due, and while one is in progress."""
        if now < self._due or (self._asked and now < self._due + _PATIENCE_S):
            return b""
        self._due = now + PERIOD_S
        first = self._xids(2)
        self._asked = {first, first + 1}
        self._counted = {first: None, first + 1: None}
        return OpenFlow.count_request(first, 0, 0) + OpenFlow.count_request(first + 1, *_OWN)

    def counted(self, xid: int, rules: int) -> bytes:
        """The switch reports a number of rules; returns the requests to send next."""
        if xid not in self._asked or xid not in self._counted:
            return b""
        self._asked.discard(xid)
        self._counted[xid] = rules
        if self._asked:
            return b""
        every, own = (count or 0 for count in self._counted.values())
        if every == own:
            self._known.clear()
            self._known_rules = 0
        self._short_looks += 1
        if every == own or (every - own == self._known_rules and self._short_looks < _FULL_EVERY):
            return b""
        self._short_looks = 0
        self._listed, self._listed_rules = Counter(), 0
        first = self._xids(len(_OTHERS))
        self._asked = set(range(first, first + len(_OTHERS)))
        return b"".join(OpenFlow.rules_request(first + number, *part) for number, part in enumerate(_OTHERS))

    def listed(self, xid: int, cookies: list[int], *, more: bool) -> list[int]:
        """The switch lists foreign rules; returns the cookies of new ones once the list is complete."""
        if xid not in self._asked:
            return []
        self._listed.update(cookies[: max(0, _MOST - self._listed_rules)])
        self._listed_rules += len(cookies)
        if not more:
            self._asked.discard(xid)
        if self._asked:
            return []
        new = self._listed - self._known
        self._known, self._listed = self._listed, Counter()
        self._known_rules = self._listed_rules
        return list(new.elements())

    def refused(self, xid: int) -> None:
        """The switch rejected a request."""
        if xid in self._asked:
            self._asked, self._listed = set(), Counter()
