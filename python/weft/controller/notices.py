"""Log messages about switches for operators: problems that need attention, and the command to type."""

import logging
from collections.abc import Callable

from ..labels import plural
from .address import Address
from .discovery import ForeignController
from .rate_limited_log import RateLimitedLog
from .switch import Switch

_log = logging.getLogger(__name__)

_FOREIGN_SHOWN = 3
"""Maximum number of foreign cookies named in a message."""


class Notices:
    """Writes the messages; those that switches can trigger repeatedly, at most once a minute."""

    def __init__(self, name: Callable[[int], str], clock: Callable[[], float], listen: Address) -> None:
        """`name` returns the name of a switch; `listen` is this controller's address."""
        self._name = name
        self._listen = listen
        self._limited = RateLimitedLog(_log, clock)

    def ready(self, switch: Switch, ports: int, own_rules: int) -> None:
        """A switch is ready."""
        found = f", {plural(own_rules, 'rule')} found" if own_rules else ""
        software = f" ({switch.software})" if switch.software.strip() else ""
        name, up = self._name(switch.dpid), plural(ports, "port")
        _log.info("switch %s is ready: %s%s, %s up%s", name, switch.peer, software, up, found)

    def gone(self, switch: Switch, why: str) -> None:
        """A known switch has disconnected."""
        _log.warning("switch %s disconnected: %s; it keeps its rules", self._name(switch.dpid), why)

    def again(self, switch: Switch, before: Switch) -> None:
        """A switch has reconnected, and its old connection does not respond."""
        self._limited.warning(
            ("again", switch.dpid),
            f"switch {self._name(switch.dpid)} reconnected from {switch.peer}; its connection from {before.peer} "
            "no longer responds and is closed",
        )

    def disputed(self, switch: Switch, before: Switch) -> None:
        """A connection claims the datapath id of a connected switch."""
        self._limited.error(
            ("disputed", switch.dpid),
            f"{switch.peer} claims to be switch {self._name(switch.dpid)}, which is connected from {before.peer} and "
            "responds: refused. If both are switches, give them different datapath ids (ovs-vsctl set bridge BRIDGE "
            "other-config:datapath-id=0000000000000001)",
        )

    def full(self, host: str, peer: str, why: str) -> None:
        """A connection exceeds a limit."""
        self._limited.error(("full", host), f"{why}: {peer} is refused")

    def encrypted(self, host: str, peer: str) -> None:
        """A switch speaks TLS, but this controller has no key."""
        self._limited.error(
            ("encrypted", host),
            f"the switch at {peer} speaks TLS, but this controller was started without a key: start it with --tls-key, "
            "--tls-cert and --tls-ca, or configure the switch for plain TCP (ovs-vsctl set-controller BRIDGE "
            f"{self._listen.as_target()})",
        )

    def unsecured(self, host: str, peer: str, why: str) -> None:
        """A TLS handshake failed."""
        self._limited.error(("unsecured", host, why), f"the connection from {peer} is refused: {why}")

    def unsuited(self, switch: Switch, speaks: str) -> None:
        """A switch does not speak OpenFlow 1.3."""
        who = f"switch {self._name(switch.dpid)}" if switch.dpid else "the switch"
        self._limited.error(
            ("unsuited", switch.host, switch.dpid),
            f"{who} at {switch.peer} speaks {speaks}, not OpenFlow 1.3; enable it there. With Open vSwitch: ovs-vsctl "
            "--columns=name,datapath_id,protocols list bridge on that machine shows the bridges, and ovs-vsctl set "
            "bridge BRIDGE protocols=OpenFlow13 enables it",
        )

    def taken_over(self, switch: Switch, how: str) -> None:
        """Another controller has become a switch's master."""
        _log.error(
            "another controller has taken over switch %s (%s); this one stands by until the other is gone. If this is "
            "not intended, remove the other controller from the switch (ovs-vsctl set-controller BRIDGE %s)",
            self._name(switch.dpid),
            how,
            self._listen.as_target(),
        )

    def replaced(self, switches: int) -> None:
        """Another controller has become the master of all switches."""
        self._limited.error(
            ("replaced",),
            f"another controller has replaced this one as master: it leads {plural(switches, 'switch', 'switches')}, "
            "this one none. This one changes nothing at them unless the other stops, but requests switches that "
            "connect later: stop it, or start it again with `--role standby`",
        )

    def port(self, switch: Switch, number: int, port: str, *, up: bool) -> None:
        """A port came up or went down."""
        _log.info("switch %s port %d (%s) is %s", self._name(switch.dpid), number, port, "up" if up else "down")

    def refused(self, switch: Switch, reason: str) -> None:
        """A switch has replied with an error."""
        name = self._name(switch.dpid)
        self._limited.warning(("refused", switch.dpid, reason), f"switch {name} refused a message: {reason}")

    def late(self, dpid: int, limit_s: float) -> None:
        """A switch did not confirm rules in time."""
        warning = f"switch {self._name(dpid)} did not confirm rules within {limit_s:g} s"
        self._limited.warning(("late", dpid), warning)

    def repaired(self, dpid: int, rules: int) -> None:
        """A switch had lost rules, which were reinstalled."""
        name = self._name(dpid)
        self._limited.warning(
            ("repaired", dpid),
            f"switch {name} had lost {plural(rules, 'Weft rule')}, now reinstalled; is another program removing them?",
        )

    def foreign_controller(self, found: ForeignController) -> None:
        """LLDP frames of another controller arrive."""
        dpid, port = found.at
        _log.error(
            "another controller also runs link discovery here (%s): its LLDP frames arrive at switch %s port %d. Two "
            "controllers on one network undo each other's rules: stop one of them",
            found.who,
            self._name(dpid),
            port,
        )

    def foreign_gone(self, switch: Switch, cookie: int) -> None:
        """A foreign rule was removed; there may be many, each with a different cookie."""
        self._limited.warning(
            ("foreign gone", switch.dpid),
            f"a foreign rule (cookie {cookie:#x}) was removed from switch {self._name(switch.dpid)} or timed out: it "
            "was installed by another controller or by hand",
        )

    def foreign(self, switch: Switch, cookies: list[int]) -> None:
        """A switch has foreign rules with these cookies; a different set is logged at once."""
        names = ", ".join(f"{cookie:#x}" for cookie in sorted(set(cookies))[:_FOREIGN_SHOWN])
        self._limited.warning(
            ("foreign", switch.dpid, names),
            f"switch {self._name(switch.dpid)} has foreign rules ({len(cookies)}, cookies {names}), installed by "
            "another controller or by hand. They are left in place and may divert frames: ovs-ofctl -O OpenFlow13 "
            "dump-flows BRIDGE shows them",
        )
