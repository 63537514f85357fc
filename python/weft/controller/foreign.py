"""Rules that somebody else puts into a switch while it is connected, looked for every few seconds.

A switch is asked how many rules it has, and how many of them have Weft's cookies: two short answers, however large the
table. It is asked which the others are only where their number is not the known one, and every eighth time as long as
it has any: one may have taken the place of another. A cookie mask matches equality only, so the cookies that are not
Weft's are asked for in sixteen parts: those that differ from Weft's in the first bit, those that have it in common and
differ in the second, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .._weft import OpenFlow

PERIOD_S = 8.0
"""Between two looks at a switch."""
MARK = 0x5745
"""The upper 16 bits of the cookies of all rules that are Weft's."""
_FULL_EVERY = 8
"""Of so many looks at a switch with rules of others, one asks which they are, although their number is the same."""
_PATIENCE_S = 60.0
"""A look that was due so long ago and is not answered is given up, and the next one begins."""
_MOST = 10_000
"""Rules of others that a switch may tell at one look; if there are more, the rest is not told apart."""

_OWN = (MARK << 48, 0xFFFF << 48)
_OTHERS = [((MARK >> bit ^ 1) << bit + 48, 0xFFFF >> bit << bit + 48) for bit in range(16)]
"""Together all cookies that are not Weft's, each once: values and masks."""


class Foreign:
    """The looks at one switch, and what was found."""

    def __init__(self, cookies: list[int], xids: Callable[[int], int], now: float) -> None:
        """`cookies` are those of others' rules that the switch had when it connected; `xids` gives transaction ids."""
        self._known = Counter(cookies)
        self._known_rules = len(cookies)
        self._short_looks = 0
        self._xids = xids
        self._due = now + PERIOD_S
        self._counted: dict[int, int | None] = {}
        self._asked: set[int] = set()
        self._told: Counter[int] = Counter()
        self._told_rules = 0

    def ask(self, now: float) -> bytes:
        """What the switch is to be sent now; nothing until the next look is due, or while one is being answered."""
        if now < self._due or (self._asked and now < self._due + _PATIENCE_S):
            return b""
        self._due = now + PERIOD_S
        first = self._xids(2)
        self._asked = {first, first + 1}
        self._counted = {first: None, first + 1: None}
        return OpenFlow.count_request(first, 0, 0) + OpenFlow.count_request(first + 1, *_OWN)

    def counted(self, xid: int, rules: int) -> bytes:
        """The switch says how many rules it has; returns what it is to be sent then."""
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
        self._told, self._told_rules = Counter(), 0
        first = self._xids(len(_OTHERS))
        self._asked = set(range(first, first + len(_OTHERS)))
        return b"".join(OpenFlow.rules_request(first + number, *part) for number, part in enumerate(_OTHERS))

    def told(self, xid: int, cookies: list[int], *, more: bool) -> list[int]:
        """The switch tells rules of others; returns the cookies of those that are new, once it has told all."""
        if xid not in self._asked:
            return []
        self._told.update(cookies[: max(0, _MOST - self._told_rules)])
        self._told_rules += len(cookies)
        if not more:
            self._asked.discard(xid)
        if self._asked:
            return []
        new = self._told - self._known
        self._known, self._told = self._told, Counter()
        self._known_rules = self._told_rules
        return list(new.elements())

    def refused(self, xid: int) -> None:
        """The switch does not answer a question."""
        if xid in self._asked:
            self._asked, self._told = set(), Counter()
