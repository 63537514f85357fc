"""The interface that `switch.Switch` expects of `service.Service`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .codec import Port
    from .switch import Switch


class Owner(Protocol):
    """Receives the events of switches."""

    def identified(self, switch: Switch) -> None:
        """Its datapath id is known."""

    def ready(self, switch: Switch, cookies: list[int], answers: list[bytes]) -> None:
        """The handshake is complete; `cookies` are those of its rules, which `answers` list."""

    def gone(self, switch: Switch, why: str) -> None:
        """Its connection is closed."""

    def encrypted(self, switch: Switch) -> None:
        """It speaks TLS, but this controller has no key."""

    def unsuited(self, switch: Switch, speaks: str) -> None:
        """It does not speak OpenFlow 1.3."""

    def demoted(self, switch: Switch, how: str) -> None:
        """Another controller has become its master."""

    def generation(self, switch: Switch, generation: int) -> None:
        """Another controller may be its master; `generation` is the last generation id it has seen."""

    def port(self, switch: Switch, port: Port, *, up: bool) -> None:
        """A port came up or went down, or was added or removed."""

    def received(self, switch: Switch, data: bytes, place: int) -> int:
        """It is ready, and messages have arrived; returns the end of those processed."""

    def refused(self, switch: Switch, xid: int, reason: str) -> None:
        """It replied with an error."""

    def foreign_rules(self, switch: Switch, cookies: list[int]) -> None:
        """It has new foreign rules."""

    def foreign_rule(self, switch: Switch, cookie: int) -> None:
        """A foreign rule was removed."""
