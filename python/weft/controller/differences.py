"""Where the fabric differs from the one that is expected: said once it has lasted, and again when it is gone."""

from __future__ import annotations

import logging

_log = logging.getLogger(__name__)


class Differences:
    """Those that were found at the last looks."""

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._said: set[str] = set()

    def look(self, found: set[str]) -> None:
        """These are there now; those that were at the last look too have lasted."""
        lasting = found & self._found
        for difference in sorted(lasting - self._said):
            _log.warning("not as in the fabric file: %s", difference)
        for difference in sorted(self._said - found):
            _log.info("as in the fabric file again, no more: %s", difference)
        self._found, self._said = found, lasting | (self._said & found)
