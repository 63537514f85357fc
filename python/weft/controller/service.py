"""The service owns core, switches and discovery: it passes events to the core and sends the core's messages.

Everything runs in one event loop, without locks and without blocking: long operations (installing rules) are tracked
as state and continued when the reply arrives.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from .._weft import Controller
from ..labels import plural, visible
from .cables import Cables
from .codec import Port
from .connection import Connection
from .connections import Connections
from .differences import Differences
from .discovery import Discovery, End, Link
from .foreign import MARK
from .latency import Latency
from .notices import Notices
from .offenders import Offenders
from .rivals import Rivals
from .roles import BEAT_S, SILENCE_S, Generations
from .settings import MASTER, Settings
from .switch import Stage, Switch
from .tls import Securing
from .unsuited import Unsuited

_log = logging.getLogger(__name__)

_TICK_S = 1.0
"""Interval between liveness checks of switches."""


class Service:
    """A running controller; `core` makes the decisions, and encodes and decodes the messages of path setup.

    `set_up` has path setup times, from the packet that needed a path to the last switch's confirmation; `switches` are
    those whose datapath id is known, `unsuitable` those with an unsupported OpenFlow version.
    """

    def __init__(
        self, settings: Settings, make_core: Callable[[], Controller], loop: asyncio.AbstractEventLoop
    ) -> None:
        """`make_core` creates an empty core."""
        self.settings = settings
        self._make_core = make_core
        self.core = make_core()
        self.discovery = Discovery(settings.lldp_interval_s, settings.lldp_misses)
        self.counts: Counter[str] = Counter()
        self.switches: dict[int, Switch] = {}
        self.unsuitable = Unsuited()
        self.set_up = Latency()
        self.since = loop.time()
        self._loop = loop
        self._rivals = Rivals(loop, settings.answer_s, self._refuse_claim, self._replace)
        # Later controllers win over earlier ones, whichever machine they run on (specification, section 6.3.5).
        self._generations = Generations()
        self.is_leading = settings.role == MASTER
        self._timer: asyncio.TimerHandle | None = None
        self._notices = Notices(self.name, loop.time, settings.listen)
        self._connections = Connections(self.counts, self._notices)
        self._offenders = Offenders(loop.time, self._port_name)
        named = {} if settings.fabric is None else settings.fabric.switches
        self._names = {dpid: visible(name) for name, dpid in named.items()}
        self._cables = Cables(self.name)
        self._differences = Differences(self.since)
        self._server: asyncio.Server | None = None
        self._ticking: asyncio.TimerHandle | None = None
        self._beating: asyncio.TimerHandle | None = None

    # --- public ---------------------------------------------------------------------------------------------------

    async def listen(self) -> str:
        """Start accepting switches, and return the address. Raises `ControllerError` if it cannot listen there."""
        address = self.settings.listen
        tls = None if self.settings.tls is None else self.settings.tls.context()

        def comes() -> asyncio.Protocol:
            connection = Connection(self._loop.time, self._attach)
            if tls is None:
                return connection
            return Securing(tls, connection, self._connections.admit, self._connections.secured)

        try:
            self._server = await self._loop.create_server(comes, address.host or None, address.port, backlog=1024)
        except OSError as error:
            raise address.refused(error, "--listen") from None
        self._tick()
        self._beat()
        # The port may have been 0. There may be one socket per IP version, so report the address as typed.
        return str(replace(address, port=self._server.sockets[0].getsockname()[1]))

    def close(self) -> None:
        """Close all connections; switches keep their rules."""
        for timer in (self._timer, self._ticking, self._beating):
            if timer is not None:
                timer.cancel()
        if self._server is not None:
            self._server.close()
        self._connections.close("the controller is stopping")

    def name(self, dpid: int) -> str:
        """The name of a switch in the log: that in the expected fabric, else its datapath id."""
        return self._names.get(dpid, f"{dpid:016x}")

    def _port_name(self, dpid: int, number: int) -> str:
        switch = self.switches.get(dpid)
        port = switch.ports.get(number) if switch is not None else None
        name = f"switch {self.name(dpid)} port {number}"
        return name if port is None else f"{name} ({visible(port.name)})"

    @property
    def now(self) -> float:
        """The current time, on the clock that the core uses."""
        return self._loop.time()

    # --- events of switches (`owner.Owner`) -----------------------------------------------------------------------

    def identified(self, switch: Switch) -> None:
        """The datapath id of a switch is known; an existing connection with the same id keeps it if it responds."""
        before = self.switches.get(switch.dpid)
        if before is not None:
            self._rivals.claim(switch, before)
            return
        self.switches[switch.dpid] = switch
        self._take_in(switch)

    def _take_in(self, switch: Switch) -> None:
        """A switch's datapath id is undisputed: become its master, or stand by."""
        if self.is_leading:
            switch.lead(self.now, self._generations.of(switch.dpid))
        else:
            self._connections.ready(switch)
            switch.stand_by()
            # Nothing of it is known, so it differs in nothing from the expected network.
            self._send(self.core.switch_down(self.now, switch.dpid, True))

    def generation(self, switch: Switch, generation: int) -> None:
        """The last generation id seen by a switch whose master may be another controller."""
        self._generations.saw(self.now, switch.dpid, generation)

    def ready(self, switch: Switch, cookies: list[int], answers: list[bytes]) -> None:
        """A switch is ready."""
        self._connections.ready(switch)
        own = sum(cookie >> 48 == MARK for cookie in cookies)
        ports = switch.ports_up()
        self._notices.ready(switch, len(ports), own)
        self.foreign_rules(switch, [cookie for cookie in cookies if cookie >> 48 != MARK])
        now = self.now
        lost = self.discovery.switch_up(now, switch.dpid, set(ports))
        self._send(self.core.switch_up(now, switch.dpid, ports, answers))
        for link in lost:
            self._link(link)
        for number in ports:
            self.discovery.port_up(now, (switch.dpid, number), switch.ports[number].address)
        self._arm()

    def gone(self, switch: Switch, why: str) -> None:
        """A connection is closed."""
        self._connections.leave(switch)
        next_one = self._rivals.gone(switch)
        if self.switches.get(switch.dpid) is switch:
            self._notices.gone(switch, why)
            del self.switches[switch.dpid]
            self._down(switch)
        else:
            _log.debug("the connection from %s ended: %s", switch.peer, why)
        if next_one is not None:
            self.identified(next_one)

    def encrypted(self, switch: Switch) -> None:
        """A switch speaks TLS, but this controller has no key."""
        self.counts["switches_with_tls"] += 1
        self._notices.encrypted(switch.host, switch.peer)

    def unsuited(self, switch: Switch, speaks: str) -> None:
        """A switch does not speak OpenFlow 1.3."""
        self.counts["switches_of_another_version"] += 1
        self.unsuitable.add(self.now, switch.host, switch.peer, switch.dpid, speaks)
        self._notices.unsuited(switch, speaks)

    def demoted(self, switch: Switch, how: str) -> None:
        """Another controller has become a switch's master."""
        self.counts["switches_taken_over"] += 1
        if self.is_leading:
            self._notices.taken_over(switch, how)
            if all(one.is_waiting for one in self.switches.values()):
                self._notices.replaced(len(self.switches))
        self._differences.forget()
        self._down(switch, left_alone=True)

    def port(self, switch: Switch, port: Port, *, up: bool) -> None:
        """A port came up or went down."""
        end = (switch.dpid, port.number)
        self._notices.port(switch, port.number, port.name, up=up)
        now = self.now
        if up:
            self.discovery.port_up(now, end, port.address)
        self._send(self.core.port_changed(now, switch.dpid, port.number, up))
        if not up:
            for link in self.discovery.port_down(end):
                self._link(link)
        self._arm()

    def received(self, switch: Switch, data: bytes, place: int) -> int:
        """Messages have arrived: the core processes those of path setup; LLDP frames go to discovery."""
        while switch.is_ready:
            place, sends, found = self.core.received(switch.arrived, switch.dpid, data, place)
            self._send(sends)
            if found is None:
                break
            if isinstance(found, str):
                switch.nonsense(f"malformed message: {found}")
            else:
                port, frame = found
                self._lldp((switch.dpid, port), frame)
        self._arm()
        return place

    def replied(self, switch: Switch, asked_at: float) -> None:
        """A switch has received everything that was sent before this time."""
        self.discovery.replied(switch.dpid, asked_at)

    def refused(self, switch: Switch, xid: int, reason: str) -> None:
        """A switch has replied with an error."""
        if switch.is_ready:
            self.counts["errors_received"] += 1
            self._notices.refused(switch, reason)
            self._send(self.core.refused(self.now, switch.dpid, xid, reason))
            self._arm()

    def foreign_rules(self, switch: Switch, cookies: list[int]) -> None:
        """Count and report new foreign rules of a switch; the list may be empty."""
        if cookies:
            self.counts["foreign_rules"] += len(cookies)
            self._notices.foreign(switch, cookies)

    def foreign_rule(self, switch: Switch, cookie: int) -> None:
        """A foreign rule was removed."""
        self.counts["foreign_rules"] += 1
        self._notices.foreign_gone(switch, cookie)

    # --- switches and links ---------------------------------------------------------------------------------------

    def _attach(self, connection: Connection) -> Switch:
        switch = Switch(self, connection, self.now, self.settings.probe_s)
        self._connections.enter(switch)
        return switch

    def _refuse_claim(self, switch: Switch, before: Switch) -> None:
        """A connection claims the datapath id of a switch that is connected and responds."""
        self.counts["datapath_ids_disputed"] += 1
        self._notices.disputed(switch, before)
        switch.close("a switch with this datapath id is connected")

    def _replace(self, switch: Switch, before: Switch) -> None:
        """A connected switch does not respond, and another connection has its datapath id."""
        self._notices.again(switch, before)
        self._connections.leave(before)
        before.stage = Stage.GONE
        before.close("it connected again")
        self._down(before)
        self.switches[switch.dpid] = switch
        self._take_in(switch)

    def _down(self, switch: Switch, *, left_alone: bool = False) -> None:
        """A switch is no longer ready, or (`left_alone`) now controlled by another controller."""
        self.discovery.switch_down(switch.dpid)
        self._generations.forget(switch.dpid)
        self._send(self.core.switch_down(self.now, switch.dpid, left_alone))
        self._arm()

    def _send(self, sends: list[tuple[int, bytes]]) -> None:
        for dpid, data in sends:
            switch = self.switches.get(dpid)
            if switch is not None and switch.is_ready:
                switch.send(data)

    def _lldp(self, end: End, frame: bytes) -> None:
        for found in self.discovery.received(self.now, end, frame):
            if isinstance(found, Link):
                self._link(found)
            else:
                self.counts["other_controllers"] += 1
                self._notices.foreign_controller(found)

    def _link(self, link: Link) -> None:
        """One direction of a link was found or lost."""
        self._cables.changed(link, both_ways=self.discovery.leads(link.target) == link.source)
        self._send(self.core.link_changed(self.now, link.source, link.target, link.up))

    # --- time -----------------------------------------------------------------------------------------------------

    def _arm(self) -> None:
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
            # After the frames: the reply proves that the switch has sent them.
            for dpid in self.discovery.asked():
                if dpid in self.switches:
                    self.switches[dpid].ask(now)
        for link in lost:
            self._link(link)
        if self.core.next_deadline() <= now:
            self._send(self.core.on_deadline(now))
        self._arm()

    def _tick(self) -> None:
        now = self.now
        for switch in self._connections:
            switch.tick(now)
        self.collect()
        if self.settings.fabric is not None and self._differences.is_due(now):
            self._differences.look(now, set(json.loads(self.core.show("switches", 0)).get("differences", ())))
        self._ticking = self._loop.call_later(_TICK_S, self._tick)

    def _beat(self) -> None:
        """Renew the master role, or poll for another master."""
        if self._generations.silent_s(self.now) > SILENCE_S:
            self._lead()
        self._generations.step()
        for switch in self.switches.values():
            switch.beat(self._generations.of(switch.dpid))
        self._beating = self._loop.call_later(BEAT_S, self._beat)

    def _lead(self) -> None:
        """Take over from a controller that stopped renewing its role."""
        waiting = [switch for switch in self.switches.values() if switch.is_waiting]
        _log.warning("no other controller is active: taking over %s", plural(len(waiting), "switch", "switches"))
        self.counts["takeovers"] += 1
        if len(waiting) == len(self.switches):
            # The state dates from before the other controller's time.
            self.core = self._make_core()
            before, self.discovery = self.discovery, Discovery(self.settings.lldp_interval_s, self.settings.lldp_misses)
            self.discovery.counts = before.counts
            self._cables = Cables(self.name)
        else:
            for switch in waiting:
                # No longer left alone.
                self._send(self.core.switch_down(self.now, switch.dpid, False))
        self.is_leading = True
        self._generations.rise()
        for switch in waiting:
            self._generations.forget(switch.dpid)
            switch.lead(self.now, self._generations.of(switch.dpid))

    def collect(self) -> None:
        """Collect path setup times, errors and offences from the core."""
        for seconds in self.core.set_ups():
            self.set_up.add(seconds)
        for what, dpid, count in self.core.troubles():
            if what == "late":
                self._notices.late(dpid, self.settings.install_deadline_s)
            elif what == "repaired":
                self._notices.repaired(dpid, count)
            elif dpid in self.switches:
                self.switches[dpid].close("too many unanswered barrier requests")
        self._offenders.took(self.core.offences())
