"""What people are told of switches, in words: what somebody should look after, and what to type then."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..labels import plural
from .address import Address
from .discovery import Stranger
from .seldom import Seldom

if TYPE_CHECKING:
    from .switch import Switch

_log = logging.getLogger(__name__)

_FOREIGN_SHOWN = 3
"""Cookies of others' rules that a message names."""


class Notices:
    """Says it; what switches can bring about any number of times, once a minute."""

    def __init__(self, name: Callable[[int], str], clock: Callable[[], float], listen: Address) -> None:
        """`name` says what a switch is called, `listen` is where this controller is."""
        self._name = name
        self._listen = listen
        self._seldom = Seldom(_log, clock)

    def ready(self, switch: Switch, ports: int, own_rules: int) -> None:
        """A switch can be steered."""
        found = f", {plural(own_rules, 'rule')} found" if own_rules else ""
        software = f" ({switch.software})" if switch.software.strip() else ""
        name, up = self._name(switch.dpid), plural(ports, "port")
        _log.info("switch %s is ready: %s%s, %s up%s", name, switch.peer, software, up, found)

    def gone(self, switch: Switch, why: str) -> None:
        """A switch that was known is not connected any more."""
        _log.warning("switch %s is gone: %s; it goes on with the rules it has", self._name(switch.dpid), why)

    def again(self, switch: Switch, before: Switch) -> None:
        """A switch has connected while it was connected."""
        self._seldom.warning(
            ("again", switch.dpid),
            f"switch {self._name(switch.dpid)} connected again from {switch.peer}; its connection from {before.peer} "
            "does not answer any more and is given up",
        )

    def disputed(self, switch: Switch, before: Switch) -> None:
        """A switch says the datapath id of one that is connected."""
        self._seldom.error(
            ("disputed", switch.dpid),
            f"{switch.peer} says that it is switch {self._name(switch.dpid)}, which is connected from {before.peer} "
            "and answers: it is refused. If both are switches, give them different datapath ids (ovs-vsctl set bridge "
            "BRIDGE other-config:datapath-id=0000000000000001)",
        )

    def full(self, host: str, peer: str, why: str) -> None:
        """There are too many connections for another one."""
        self._seldom.error(("full", host), f"{why}: {peer} is refused")

    def encrypted(self, host: str, peer: str) -> None:
        """A switch speaks TLS, and there is none here."""
        self._seldom.error(
            ("encrypted", host),
            f"the switch at {peer} speaks TLS, and this controller was started without a key: start it with --tls-key, "
            "--tls-cert and --tls-ca, or have the switch speak TCP (ovs-vsctl set-controller BRIDGE "
            f"{self._listen.as_target()})",
        )

    def unsecured(self, host: str, peer: str, why: str) -> None:
        """A connection did not agree upon TLS."""
        self._seldom.error(("unsecured", host, why), f"the connection from {peer} is refused: {why}")

    def unsuited(self, switch: Switch, speaks: str) -> None:
        """It cannot be steered, for it speaks other versions of OpenFlow."""
        who = f"switch {self._name(switch.dpid)}" if switch.dpid else "the switch"
        self._seldom.error(
            ("unsuited", switch.host, switch.dpid),
            f"{who} at {switch.peer} speaks {speaks} and not OpenFlow 1.3; allow it there. With Open vSwitch: "
            "ovs-vsctl --columns=name,datapath_id,protocols list bridge on that machine tells which bridge it is, and "
            "ovs-vsctl set bridge BRIDGE protocols=OpenFlow13 allows it",
        )

    def taken_over(self, switch: Switch, how: str) -> None:
        """Another controller has become its master."""
        _log.error(
            "another controller steers switch %s now (%s); this one leaves it alone until the other is gone. If it "
            "should not: take the other from the switch (ovs-vsctl set-controller BRIDGE %s)",
            self._name(switch.dpid),
            how,
            self._listen.as_target(),
        )

    def port(self, switch: Switch, number: int, port: str, *, up: bool) -> None:
        """A port came up or went down."""
        _log.info("switch %s port %d (%s) is %s", self._name(switch.dpid), number, port, "up" if up else "down")

    def refused(self, switch: Switch, reason: str) -> None:
        """A switch has answered with an error."""
        name = self._name(switch.dpid)
        self._seldom.warning(("refused", switch.dpid, reason), f"switch {name} refused a message: {reason}")

    def late(self, dpid: int, limit_s: float) -> None:
        """A switch has not confirmed rules in time."""
        warning = f"switch {self._name(dpid)} has not confirmed rules within {limit_s:g} s"
        self._seldom.warning(("late", dpid), warning)

    def repaired(self, dpid: int, rules: int) -> None:
        """A switch had lost rules, and was given them again."""
        name = self._name(dpid)
        self._seldom.warning(
            ("repaired", dpid),
            f"switch {name} had lost {plural(rules, 'rule')} of Weft's, and was given them again; who removes them?",
        )

    def stranger(self, found: Stranger) -> None:
        """LLDP frames of another controller come in."""
        dpid, port = found.at
        _log.error(
            "another controller discovers links here too (%s): its LLDP frames come in at switch %s port %d. Two "
            "controllers on one network undo each other's rules: stop one of them",
            found.who,
            self._name(dpid),
            port,
        )

    def foreign_gone(self, switch: Switch, cookie: int) -> None:
        """A rule that is not Weft's is no more; there may be many, each with another cookie."""
        self._seldom.warning(
            ("foreign gone", switch.dpid),
            f"a rule that is not Weft's (cookie {cookie:#x}) was removed from switch {self._name(switch.dpid)}, or "
            "timed out: another controller's, or made by hand",
        )

    def foreign(self, switch: Switch, cookies: list[int]) -> None:
        """A switch has rules that are not Weft's, with these cookies; others than before are said at once."""
        names = ", ".join(f"{cookie:#x}" for cookie in sorted(set(cookies))[:_FOREIGN_SHOWN])
        self._seldom.warning(
            ("foreign", switch.dpid, names),
            f"switch {self._name(switch.dpid)} has rules that are not Weft's ({len(cookies)}, cookies {names}): "
            "another controller's, or made by hand. They are left alone and may send frames elsewhere: ovs-ofctl -O "
            "OpenFlow13 dump-flows BRIDGE shows them",
        )
