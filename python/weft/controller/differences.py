"""Differences between the fabric and the expected one: logged once they persist, and when they are resolved."""

import logging

_log = logging.getLogger(__name__)

_EVERY_S = 5.0
"""Interval between comparisons."""


class Differences:
    """The differences found by the last comparisons."""

    def __init__(self, now: float) -> None:
        self._looked = now
        self._found: set[str] = set()
        self._said: set[str] = set()

    def is_due(self, now: float) -> bool:
        """Whether the next comparison is due."""
        return now - self._looked >= _EVERY_S

    def look(self, now: float, found: set[str]) -> None:
        """Record the current differences; those also present at the last comparison persist."""
        self._looked = now
        lasting = found & self._found
        for difference in sorted(lasting - self._said):
            _log.warning("differs from the fabric file: %s", difference)
        for difference in sorted(self._said - found):
            _log.info("difference from the fabric file resolved: `%s`", difference)
        self._found, self._said = found, lasting | (self._said & found)

    def forget(self) -> None:
        """Forget all differences: they cannot be observed any more, but may persist."""
        self._found, self._said = set(), set()
