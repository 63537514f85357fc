"""The one who owns core, switches and discovery: tells the core what happens, and has done what it says.

Everything runs in one event loop, so nothing is locked, and nothing waits: what takes long (rules that are installed)
is remembered and gone on with when the answer comes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from typing import TYPE_CHECKING

from ..labels import plural
from .codec import Port
from .connection import Connection
from .differences import Differences
from .discovery import Discovery, End, Link, Stranger
from .latency import Latency
from .seldom import Seldom
from .settings import Settings
from .switch import Stage, Switch

if TYPE_CHECKING:
    from .._weft import Controller

_log = logging.getLogger(__name__)

MARK = 0x5745
"""The upper 16 bits of the cookies of all rules that are Weft's."""
_TICK_S = 1.0
"""Between two looks at switches that may be silent."""
_CONNECTIONS = 4096
"""Connections that are taken at a time, ready or not."""
_FOREIGN_SHOWN = 3
"""Cookies of others' rules that a message names."""
_DIFFERENCES_S = 5.0
"""Between two comparisons of the fabric with the one that is expected."""


class Service:
    """A running controller.

    Attributes:
        core: What decides, and what makes and reads the messages that every path costs.
        discovery: Which port leads where.
        counts: What came of connections, and what was wrong.
        set_up: How long paths took, from the packet that wanted one to the last switch's confirmation.
        switches: Those whose datapath id is known.
    """

    def __init__(self, settings: Settings, core: Controller, loop: asyncio.AbstractEventLoop) -> None:
        self.settings = settings
        self.core = core
        self.discovery = Discovery(settings.lldp_interval_s, settings.lldp_misses)
        self.counts: Counter[str] = Counter()
        self.switches: dict[int, Switch] = {}
        self.set_up = Latency()
        self.since = loop.time()
        self._loop = loop
        self._connections: set[Switch] = set()
        # Later controllers win over earlier ones, whichever machine they run on (specification, section 6.3.5).
        self._generation = int(time.time() * 1000)
        self._timer: asyncio.TimerHandle | None = None
        self._seldom = Seldom(_log, loop.time)
        self._cables: set[tuple[End, End]] = set()
        self._names = {} if settings.fabric is None else {dpid: name for name, dpid in settings.fabric.switches.items()}
        self._differences = Differences()
        self._compared = self.since
        self._server: asyncio.Server | None = None
        self._ticking: asyncio.TimerHandle | None = None

    # --- from outside ---------------------------------------------------------------------------------------------

    async def listen(self) -> str:
        """Take connections of switches from now on; returns the address.

        Raises:
            ControllerError: The address cannot be listened on.
        """
        address = self.settings.listen
        try:
            self._server = await self._loop.create_server(
                lambda: Connection(self._loop.time, self._attach), address.host or None, address.port, backlog=1024
            )
        except OSError as error:
            raise address.refused(error, "--listen") from None
        self._tick()
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def close(self) -> None:
        """End all connections; switches keep their rules."""
        for timer in (self._timer, self._ticking):
            if timer is not None:
                timer.cancel()
        if self._server is not None:
            self._server.close()
        for switch in list(self._connections):
            switch.stage = Stage.GONE
            switch.close("the controller ends")

    def name(self, dpid: int) -> str:
        """What a switch is called: as the expected fabric has it, else its datapath id."""
        return self._names.get(dpid, f"{dpid:016x}")

    @property
    def now(self) -> float:
        """The time, in the core's terms."""
        return self._loop.time()

    # --- what switches do (`switch.Owner`) ------------------------------------------------------------------------

    def identified(self, switch: Switch) -> None:
        """A switch has said who it is; a connection that it had before is no more."""
        before = self.switches.get(switch.dpid)
        if before is not None:
            self._seldom.warning(
                ("again", switch.dpid),
                f"switch {self.name(switch.dpid)} connected again from {switch.peer} while it was connected from "
                f"{before.peer}; if that goes on, two switches have the same datapath id",
            )
            before.stage = Stage.GONE
            before.close("it connected again")
            self._down(before)
        self.switches[switch.dpid] = switch

    def ready(self, switch: Switch, cookies: list[int]) -> None:
        """A switch can be steered."""
        own = [cookie for cookie in cookies if cookie >> 48 == MARK]
        ports = switch.ports_up()
        found = f", {plural(len(own), 'rule')} found" if own else ""
        software = f" ({switch.software})" if switch.software.strip() else ""
        _log.info(
            "switch %s is ready: %s%s, %s up%s",
            self.name(switch.dpid),
            switch.peer,
            software,
            plural(len(ports), "port"),
            found,
        )
        self._foreign(switch, [cookie for cookie in cookies if cookie >> 48 != MARK])
        now = self.now
        self._send(self.core.switch_up(now, switch.dpid, ports, own))
        for number in ports:
            self.discovery.port_up(now, (switch.dpid, number), switch.ports[number].address)
        self._arm()

    def gone(self, switch: Switch, why: str) -> None:
        """A connection is no more."""
        self._connections.discard(switch)
        if self.switches.get(switch.dpid) is switch:
            _log.warning("switch %s is gone: %s; it goes on with the rules it has", self.name(switch.dpid), why)
            del self.switches[switch.dpid]
            self._down(switch)
        else:
            _log.debug("the connection from %s ended: %s", switch.peer, why)

    def unsuited(self, switch: Switch, why: str, hint: str) -> None:
        """It cannot be steered."""
        self.counts["switches_of_another_version"] += 1
        self._seldom.error(("unsuited", switch.peer.rpartition(":")[0]), f"{why}; {hint}")

    def demoted(self, switch: Switch, how: str) -> None:
        """Another controller has become its master."""
        self.counts["switches_taken_over"] += 1
        _log.error(
            "another controller steers switch %s now (%s); this one leaves it alone. If it should not: take the other "
            "from the switch (ovs-vsctl set-controller BRIDGE tcp:%s) or stop it, and start this one again",
            self.name(switch.dpid),
            how,
            self.settings.listen,
        )
        self._down(switch)

    def port(self, switch: Switch, port: Port, *, up: bool) -> None:
        """A port came up or went down."""
        end = (switch.dpid, port.number)
        state = "up" if up else "down"
        _log.info("switch %s port %d (%s) is %s", self.name(switch.dpid), port.number, port.name, state)
        now = self.now
        if up:
            self.discovery.port_up(now, end, port.address)
        self._send(self.core.port_changed(now, switch.dpid, port.number, up))
        if not up:
            for link in self.discovery.port_down(end):
                self._link(link)
        self._arm()

    def received(self, switch: Switch, data: bytes, place: int) -> int:
        """Messages have come in: those that every path costs are the core's, LLDP frames are for discovery."""
        while switch.is_ready:
            place, sends, found = self.core.received(switch.arrived, switch.dpid, data, place)
            self._send(sends)
            if found is None:
                break
            if isinstance(found, str):
                switch.nonsense(f"a message cannot be read: {found}")
            else:
                port, frame = found
                self._lldp((switch.dpid, port), frame)
        self._arm()
        return place

    def refused(self, switch: Switch, xid: int, reason: str) -> None:
        """A switch has answered with an error."""
        if switch.is_ready:
            self.counts["errors_received"] += 1
            name = self.name(switch.dpid)
            self._seldom.warning(("refused", switch.dpid, reason), f"switch {name} refused a message: {reason}")
            self._send(self.core.refused(self.now, switch.dpid, xid, reason))
            self._arm()

    def foreign_rule(self, switch: Switch, cookie: int) -> None:
        """A rule that is not Weft's is no more."""
        self._foreign(switch, [cookie])

    # --- switches and links ---------------------------------------------------------------------------------------

    def _attach(self, connection: Connection) -> Switch:
        """A connection has come in."""
        switch = Switch(self, connection, self.now, self._generation, self.settings.probe_s)
        self._connections.add(switch)
        if len(self._connections) > _CONNECTIONS:
            self.counts["connections_refused"] += 1
            self._seldom.error(("full",), f"more than {_CONNECTIONS} connections: {connection.peer} is refused")
            switch.close("there are too many connections")
        return switch

    def _down(self, switch: Switch) -> None:
        """A switch can be steered no more."""
        self._cables = {cable for cable in self._cables if switch.dpid not in (cable[0][0], cable[1][0])}
        self.discovery.switch_down(switch.dpid)
        self._send(self.core.switch_down(self.now, switch.dpid))
        self._arm()

    def _send(self, sends: list[tuple[int, bytes]]) -> None:
        """Send switches what the core has for them."""
        for dpid, data in sends:
            switch = self.switches.get(dpid)
            if switch is not None and switch.is_ready:
                switch.send(data)

    def _lldp(self, end: End, frame: bytes) -> None:
        """An LLDP frame has come up."""
        for found in self.discovery.received(self.now, end, frame):
            if isinstance(found, Link):
                self._link(found)
            else:
                self._stranger(found)

    def _link(self, link: Link) -> None:
        """A direction of a link is new or lost."""
        (source, source_port), (target, target_port) = link.source, link.target
        ends = f"{self.name(source)} port {source_port} - {self.name(target)} port {target_port}"
        cable = (min(link.source, link.target), max(link.source, link.target))
        if link.up:
            if self.discovery.leads(link.target) == link.source and cable not in self._cables:
                self._cables.add(cable)
                _log.info("cable %s is up", ends)
            self._send(self.core.link_up(self.now, source, source_port, target, target_port))
        else:
            if cable in self._cables:
                self._cables.remove(cable)
                _log.warning("cable %s is down: %s", ends, link.why)
            self._send(self.core.link_down(self.now, source, source_port, target, target_port))

    def _stranger(self, found: Stranger) -> None:
        self.counts["other_controllers"] += 1
        dpid, port = found.at
        _log.error(
            "another controller discovers links here too (%s): its LLDP frames come in at switch %s port %d. Two "
            "controllers on one network undo each other's rules: stop one of them",
            found.who,
            self.name(dpid),
            port,
        )

    def _foreign(self, switch: Switch, cookies: list[int]) -> None:
        """Rules that are not Weft's."""
        if not cookies:
            return
        self.counts["foreign_rules"] += len(cookies)
        names = ", ".join(f"{cookie:#x}" for cookie in sorted(set(cookies))[:_FOREIGN_SHOWN])
        self._seldom.warning(
            ("foreign", switch.dpid),
            f"switch {self.name(switch.dpid)} has rules that are not Weft's ({len(cookies)}, cookies {names}): another "
            "controller's, or made by hand. They are left alone and may send frames elsewhere: ovs-ofctl -O OpenFlow13 "
            "dump-flows BRIDGE shows them",
        )

    # --- time -----------------------------------------------------------------------------------------------------

    def _arm(self) -> None:
        """Wake up when the first of all deadlines comes."""
        at = min(self.core.next_deadline(), self.discovery.next_due())
        if self._timer is not None and not self._timer.cancelled():
            if self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(at, self._on_time) if at < float("inf") else None

    def _on_time(self) -> None:
        self._timer = None
        now = self.now
        frames, lost = self.discovery.due(now)
        if frames:
            self._send(self.core.frames([(*end, frame) for end, frame in frames]))
        for link in lost:
            self._link(link)
        if self.core.next_deadline() <= now:
            self._send(self.core.on_deadline(now))
        self._arm()

    def _tick(self) -> None:
        now = self.now
        for switch in list(self._connections):
            switch.tick(now)
        self.collect()
        if self.settings.fabric is not None and now - self._compared >= _DIFFERENCES_S:
            self._compared = now
            self._differences.look(set(json.loads(self.core.show("switches", 0)).get("differences", ())))
        self._ticking = self._loop.call_later(_TICK_S, self._tick)

    def collect(self) -> None:
        """Take from the core what it keeps until it is asked: how long paths took, what went wrong."""
        for seconds in self.core.set_ups():
            self.set_up.add(seconds)
        for what, dpid in self.core.troubles():
            if what == "late":
                limit = self.settings.install_deadline_s
                warning = f"switch {self.name(dpid)} has not confirmed rules within {limit:g} s"
                self._seldom.warning(("late", dpid), warning)
            elif dpid in self.switches:
                self.switches[dpid].close("it leaves too many barrier requests unanswered")
