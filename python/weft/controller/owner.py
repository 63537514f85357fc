"""Who is told what switches do: what `switch.Switch` expects of `service.Service`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .codec import Port
    from .switch import Switch


class Owner(Protocol):
    """Who is told what switches do."""

    def identified(self, switch: Switch) -> None:
        """Its datapath id is known."""

    def ready(self, switch: Switch, cookies: list[int], answers: list[bytes]) -> None:
        """It can be steered; its rules have these cookies, and are told by these messages."""

    def gone(self, switch: Switch, why: str) -> None:
        """Its connection is gone."""

    def encrypted(self, switch: Switch) -> None:
        """It speaks TLS, which this controller was not given the files for."""

    def unsuited(self, switch: Switch, speaks: str) -> None:
        """It cannot be steered, for it speaks other versions of OpenFlow."""

    def demoted(self, switch: Switch, how: str) -> None:
        """Another controller has become its master."""

    def generation(self, switch: Switch, generation: int) -> None:
        """Another controller may steer it, and this is the last generation id that it has seen."""

    def port(self, switch: Switch, port: Port, *, up: bool) -> None:
        """A port came up or went down, or is new or gone."""

    def received(self, switch: Switch, data: bytes, place: int) -> int:
        """It can be steered, and messages have come in; returns behind those that were read."""

    def refused(self, switch: Switch, xid: int, reason: str) -> None:
        """It answered with an error."""

    def foreign_rules(self, switch: Switch, cookies: list[int]) -> None:
        """It has rules that are not Weft's, and had not before."""

    def foreign_rule(self, switch: Switch, cookie: int) -> None:
        """A rule that is not Weft's is no more."""
