"""Full-duplex links, combined from the two directions that discovery reports; logs when they go up or down."""

import logging
from collections.abc import Callable

from .discovery import End, Link

_log = logging.getLogger(__name__)


class Cables:
    """The links that are up."""

    def __init__(self, name: Callable[[int], str]) -> None:
        """`name` returns the name of a switch."""
        self._name = name
        self._up: set[tuple[End, End]] = set()

    def changed(self, link: Link, *, both_ways: bool) -> None:
        """A direction was found or lost; `both_ways` if the other direction is up."""
        cable = (min(link.source, link.target), max(link.source, link.target))
        if link.up and both_ways and cable not in self._up:
            self._up.add(cable)
            _log.info("link %s is up", self._ends(link))
        elif not link.up and cable in self._up:
            self._up.remove(cable)
            _log.warning("link %s is down: %s", self._ends(link), link.why)

    def _ends(self, link: Link) -> str:
        return " - ".join(f"{self._name(dpid)} port {port}" for dpid, port in (link.source, link.target))
