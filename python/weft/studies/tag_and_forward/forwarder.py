"""Interface of a peer in its jail: switches that forward, tables that can be filled."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .flows import Flow, example, of_load, of_servers
from .testbed import Testbed


class Forwarder(ABC):
    """The forwarders on all switches of a testbed; `state` has each one's rules for the flows between servers alone."""

    testbed: Testbed
    state: dict[str, int]

    @abstractmethod
    def start(self, on_progress: Callable[[float], None]) -> None:
        """Start the switches, with empty tables; `on_progress` is called with the progress, from 0 to 1.

        Raises `EmulationError` if they do not start.
        """

    @abstractmethod
    def carry(self, flows: Sequence[Flow], on_progress: Callable[[float], None], *, fill: int = 0) -> None:
        """Install the rules of flows, and fill nonempty tables with unused rules up to `fill`.

        Raises `EmulationError` if a switch refuses one.
        """

    @abstractmethod
    def stop(self) -> None:
        """Stop them."""

    @abstractmethod
    def rules(self) -> dict[str, int]:
        """Number of rules by switch."""

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """Further information for the results."""


@contextmanager
def started(forwarder: Forwarder, rules: int, on_progress: Callable[[str, float], None]) -> Iterator[None]:
    """The switches forward all flows of the study, with `rules` per table, during the block.

    `on_progress` gets the stage and its progress. Raises `EmulationError` if they do not start, or refuse a rule.
    """
    try:
        forwarder.start(lambda share: on_progress("starting switches", share))
        forwarder.carry(of_servers(forwarder.testbed.addresses), lambda _: None)
        forwarder.state = forwarder.rules()
        forwarder.carry([example(), *of_load()], lambda share: on_progress("filling tables", share), fill=rules)
        yield
    finally:
        forwarder.stop()
        forwarder.testbed.net.stop()
