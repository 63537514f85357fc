"""Where the fabric differs from the one that is expected: said once it has lasted, and again when it is gone."""

from __future__ import annotations

import logging

_log = logging.getLogger(__name__)

_EVERY_S = 5.0
"""Between two looks."""


class Differences:
    """Those that were found at the last looks."""

    def __init__(self, now: float) -> None:
        self._looked = now
        self._found: set[str] = set()
        self._said: set[str] = set()

    def is_due(self, now: float) -> bool:
        """Whether it is time to look."""
        return now - self._looked >= _EVERY_S

    def look(self, now: float, found: set[str]) -> None:
        """These are there now; those that were at the last look too have lasted."""
        self._looked = now
        lasting = found & self._found
        for difference in sorted(lasting - self._said):
            _log.warning("not as in the fabric file: %s", difference)
        for difference in sorted(self._said - found):
            _log.info("a difference from the fabric file is gone: `%s`", difference)
        self._found, self._said = found, lasting | (self._said & found)

    def forget(self) -> None:
        """What was found cannot be seen any more, which does not mean that it is gone."""
        self._found, self._said = set(), set()
