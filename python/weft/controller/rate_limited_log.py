"""Rate-limited log messages for externally triggered events: each kind at most once a minute, with a count."""

import logging
from collections.abc import Callable, Hashable

_INTERVAL_S = 60.0
_KINDS = 4096
"""Maximum number of kinds tracked; beyond it, all are forgotten."""


class RateLimitedLog:
    """A rate-limited log."""

    def __init__(self, log: logging.Logger, clock: Callable[[], float], interval_s: float = _INTERVAL_S) -> None:
        self._log = log
        self._clock = clock
        self._interval_s = interval_s
        self._said: dict[Hashable, tuple[float, int]] = {}

    def info(self, kind: Hashable, text: str) -> None:
        """Log something that needs no attention."""
        self._say(logging.INFO, kind, text)

    def warning(self, kind: Hashable, text: str) -> None:
        """Log something that needs attention."""
        self._say(logging.WARNING, kind, text)

    def error(self, kind: Hashable, text: str) -> None:
        """Log something that does not work until it is fixed."""
        self._say(logging.ERROR, kind, text)

    def _say(self, level: int, kind: Hashable, text: str) -> None:
        now = self._clock()
        if kind not in self._said and len(self._said) >= _KINDS:
            self._said.clear()
        last, left_out = self._said.get(kind, (float("-inf"), 0))
        if now - last < self._interval_s:
            self._said[kind] = (last, left_out + 1)
            return
        self._said[kind] = (now, 0)
        more = f" ({left_out} more since the last message)" if left_out else ""
        self._log.log(level, "%s%s", text, more)
