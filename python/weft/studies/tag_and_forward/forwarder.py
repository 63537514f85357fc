"""What a peer is, in its jail: switches that forward, tables that can be filled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .flows import Flow, example, of_load, of_servers
from .testbed import Testbed


class Forwarder(ABC):
    """What forwards on all switches of a testbed.

    Attributes:
        testbed: Hosts and cables.
        state: How many rules each switch had for the flows between servers alone.
    """

    testbed: Testbed
    state: dict[str, int]

    @abstractmethod
    def start(self, told: Callable[[float], None]) -> None:
        """Start the switches, with empty tables; `told` hears how far it is, from 0 to 1.

        Raises:
            EmulationError: They do not start.
        """

    @abstractmethod
    def carry(self, flows: Sequence[Flow], told: Callable[[float], None], *, fill: int = 0) -> None:
        """Put the rules of flows into the tables, and rules of nobody until those that have any have `fill`.

        Raises:
            EmulationError: A switch refuses one.
        """

    @abstractmethod
    def stop(self) -> None:
        """End them."""

    @abstractmethod
    def rules(self) -> dict[str, int]:
        """How many each switch has."""

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """What else is to be known, for the record."""


@contextmanager
def started(forwarder: Forwarder, rules: int, told: Callable[[str, float], None]) -> Iterator[None]:
    """The switches forward all flows of the study, from full tables, for as long as the block runs.

    Args:
        forwarder: Which.
        rules: In a table.
        told: Hears what is done and how far it is.

    Raises:
        EmulationError: They do not start, or refuse a rule.
    """
    try:
        forwarder.start(lambda share: told("starting switches", share))
        forwarder.carry(of_servers(forwarder.testbed.addresses), lambda _: None)
        forwarder.state = forwarder.rules()
        forwarder.carry([example(), *of_load()], lambda share: told("filling tables", share), fill=rules)
        yield
    finally:
        forwarder.stop()
        forwarder.testbed.net.stop()
