"""The interface that `switch.Switch` expects of `service.Service`."""

from typing import Protocol, TypeVar

from .codec import Port

_S = TypeVar("_S", contravariant=True)
"""The class of switches."""


class Owner(Protocol[_S]):
    """Receives the events of switches."""

    def identified(self, switch: _S) -> None:
        """Its datapath id is known."""

    def ready(self, switch: _S, cookies: list[int], answers: list[bytes]) -> None:
        """The handshake is complete; `cookies` are those of its rules, which `answers` list."""

    def gone(self, switch: _S, why: str) -> None:
        """Its connection is closed."""

    def encrypted(self, switch: _S) -> None:
        """The switch speaks TLS, but this controller has no key."""

    def unsuited(self, switch: _S, speaks: str) -> None:
        """The switch does not speak OpenFlow 1.3."""

    def demoted(self, switch: _S, how: str) -> None:
        """Another controller has become its master."""

    def generation(self, switch: _S, generation: int) -> None:
        """Another controller may be its master; `generation` is the last generation id it has seen."""

    def port(self, switch: _S, port: Port, *, up: bool) -> None:
        """A port came up or went down, or was added or removed."""

    def received(self, switch: _S, data: bytes, place: int) -> int:
        """The switch is ready, and messages have arrived; returns the end of those processed."""

    def replied(self, switch: _S, asked_at: float) -> None:
        """The switch has received everything that was sent before this time."""

    def refused(self, switch: _S, xid: int, reason: str) -> None:
        """The switch replied with an error."""

    def foreign_rules(self, switch: _S, cookies: list[int]) -> None:
        """The switch has new foreign rules."""

    def foreign_rule(self, switch: _S, cookie: int) -> None:
        """A foreign rule was removed."""
