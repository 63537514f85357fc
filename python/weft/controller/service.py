"""The one who owns core, switches and discovery: tells the core what happens, and has done what it says.

Everything runs in one event loop, so nothing is locked, and nothing waits: what takes long (rules that are installed)
is remembered and gone on with when the answer comes.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..labels import plural
from .cables import Cables
from .codec import Port
from .connection import Connection
from .crowd import Crowd
from .differences import Differences
from .discovery import Discovery, End, Link
from .latency import Latency
from .notices import Notices
from .rivals import Rivals
from .roles import BEAT_S, SILENCE_S, Generations
from .settings import MASTER, Settings
from .switch import Stage, Switch
from .tls import Securing
from .unsuited import Unsuited

if TYPE_CHECKING:
    from .._weft import Controller

_log = logging.getLogger(__name__)

MARK = 0x5745
"""The upper 16 bits of the cookies of all rules that are Weft's."""
_TICK_S = 1.0
"""Between two looks at switches that may be silent."""


class Service:
    """A running controller.

    Attributes:
        core: What decides, and what makes and reads the messages that every path costs.
        discovery: Which port leads where.
        counts: What came of connections, and what was wrong.
        set_up: How long paths took, from the packet that wanted one to the last switch's confirmation.
        switches: Those whose datapath id is known.
        unsuitable: Those that cannot be steered.
    """

    def __init__(
        self, settings: Settings, make_core: Callable[[], Controller], loop: asyncio.AbstractEventLoop
    ) -> None:
        """`make_core` makes a core of which nothing is known yet."""
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
        self._connections: set[Switch] = set()
        self._ready: set[Switch] = set()
        self._securing: set[Securing] = set()
        self._crowd = Crowd()
        self._rivals = Rivals(loop, settings.answer_s, self._refuse_claim, self._replace)
        # Later controllers win over earlier ones, whichever machine they run on (specification, section 6.3.5).
        self._generations = Generations()
        self.is_leading = settings.role == MASTER
        self._timer: asyncio.TimerHandle | None = None
        self._notices = Notices(self.name, loop.time, settings.listen)
        self._names = {} if settings.fabric is None else {dpid: name for name, dpid in settings.fabric.switches.items()}
        self._cables = Cables(self.name)
        self._differences = Differences(self.since)
        self._server: asyncio.Server | None = None
        self._ticking: asyncio.TimerHandle | None = None
        self._beating: asyncio.TimerHandle | None = None

    # --- from outside ---------------------------------------------------------------------------------------------

    async def listen(self) -> str:
        """Take connections of switches from now on; returns the address.

        Raises:
            ControllerError: The address cannot be listened on.
        """
        address = self.settings.listen
        tls = None if self.settings.tls is None else self.settings.tls.context()

        def comes() -> asyncio.Protocol:
            connection = Connection(self._loop.time, self._attach)
            return connection if tls is None else Securing(tls, connection, self._admit, self._secured)

        try:
            self._server = await self._loop.create_server(comes, address.host or None, address.port, backlog=1024)
        except OSError as error:
            raise address.refused(error, "--listen") from None
        self._tick()
        self._beat()
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def close(self) -> None:
        """End all connections; switches keep their rules."""
        for timer in (self._timer, self._ticking, self._beating):
            if timer is not None:
                timer.cancel()
        if self._server is not None:
            self._server.close()
        for securing in self._securing:
            securing.give_up()
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

    # --- what switches do (`owner.Owner`) -------------------------------------------------------------------------

    def identified(self, switch: Switch) -> None:
        """A switch has said who it is; who is connected under this datapath id keeps it if he answers."""
        before = self.switches.get(switch.dpid)
        if before is not None:
            self._rivals.claim(switch, before)
            return
        self.switches[switch.dpid] = switch
        self._take_in(switch)

    def _take_in(self, switch: Switch) -> None:
        """A switch has its datapath id to itself: this controller steers it, or stands by."""
        if self.is_leading:
            switch.lead(self._generations.of(switch.dpid))
        else:
            self._admitted(switch)
            switch.stand_by()

    def _admitted(self, switch: Switch) -> None:
        """A connection is not among those any more that have still to say who they are."""
        if switch not in self._ready:
            self._crowd.ready(switch.host)
            self._ready.add(switch)

    def generation(self, switch: Switch, generation: int) -> None:
        """The last generation id that a switch has seen of which another controller may be the master."""
        self._generations.saw(self.now, switch.dpid, generation)

    def ready(self, switch: Switch, cookies: list[int], answers: list[bytes]) -> None:
        """A switch can be steered."""
        self._admitted(switch)
        own = sum(cookie >> 48 == MARK for cookie in cookies)
        ports = switch.ports_up()
        self._notices.ready(switch, len(ports), own)
        self._foreign(switch, [cookie for cookie in cookies if cookie >> 48 != MARK])
        now = self.now
        lost = self.discovery.switch_up(switch.dpid, set(ports))
        self._send(self.core.switch_up(now, switch.dpid, ports, answers))
        for link in lost:
            self._link(link)
        self.discovery.answered(now, switch.dpid)
        for number in ports:
            self.discovery.port_up(now, (switch.dpid, number), switch.ports[number].address)
        self._arm()

    def gone(self, switch: Switch, why: str) -> None:
        """A connection is no more."""
        self._left(switch)
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
        """A switch speaks TLS, which this controller was not given the files for."""
        self.counts["switches_with_tls"] += 1
        self._notices.encrypted(switch.host, switch.peer)

    def unsuited(self, switch: Switch, speaks: str) -> None:
        """It cannot be steered, for it speaks other versions of OpenFlow."""
        self.counts["switches_of_another_version"] += 1
        self.unsuitable.add(self.now, switch.host, switch.peer, switch.dpid, speaks)
        self._notices.unsuited(switch, speaks)

    def demoted(self, switch: Switch, how: str) -> None:
        """Another controller has become its master."""
        self.counts["switches_taken_over"] += 1
        if self.is_leading:
            self._notices.taken_over(switch, how)
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
        """Messages have come in: those that every path costs are the core's, LLDP frames are for discovery."""
        self.discovery.answered(switch.arrived, switch.dpid)
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
            self._notices.refused(switch, reason)
            self._send(self.core.refused(self.now, switch.dpid, xid, reason))
            self._arm()

    def foreign_rule(self, switch: Switch, cookie: int) -> None:
        """A rule that is not Weft's is no more."""
        self._foreign(switch, [cookie])

    # --- switches and links ---------------------------------------------------------------------------------------

    def _attach(self, connection: Connection) -> Switch:
        """A connection has come in."""
        switch = Switch(self, connection, self.now, self.settings.probe_s)
        self._connections.add(switch)
        if why := self._crowd.enter(switch.host):
            self.counts["connections_refused"] += 1
            self._notices.full(switch.host, switch.peer, why)
            switch.close("there are too many connections")
        return switch

    def _left(self, switch: Switch) -> None:
        """A connection does not count any more."""
        if switch in self._connections:
            self._connections.discard(switch)
            self._crowd.leave(switch.host, was_ready=switch in self._ready)
            self._ready.discard(switch)

    def _admit(self, securing: Securing) -> bool:
        """A connection has come in that is to agree upon TLS; whether it may."""
        if why := self._crowd.enter(securing.host):
            self._crowd.leave(securing.host, was_ready=False)
            self.counts["connections_refused"] += 1
            self._notices.full(securing.host, securing.peer, why)
            return False
        self._securing.add(securing)
        return True

    def _secured(self, securing: Securing, why: str) -> None:
        """A connection has agreed upon TLS, or (`why`) has not."""
        self._securing.discard(securing)
        self._crowd.leave(securing.host, was_ready=False)
        if why:
            self.counts["handshakes_refused"] += 1
            self._notices.unsecured(securing.host, securing.peer, why)

    def _refuse_claim(self, switch: Switch, before: Switch) -> None:
        """A connection says the datapath id of a switch that is connected and answers."""
        self.counts["datapath_ids_disputed"] += 1
        self._notices.disputed(switch, before)
        switch.close("a switch with this datapath id is connected")

    def _replace(self, switch: Switch, before: Switch) -> None:
        """A switch that was connected does not answer, and another connection has its datapath id."""
        self._notices.again(switch, before)
        self._left(before)
        before.stage = Stage.GONE
        before.close("it connected again")
        self._down(before)
        self.switches[switch.dpid] = switch
        self._take_in(switch)

    def _down(self, switch: Switch, *, left_alone: bool = False) -> None:
        """A switch can be steered no more; or not by this controller."""
        self.discovery.switch_down(switch.dpid)
        self._generations.forget(switch.dpid)
        self._send(self.core.switch_down(self.now, switch.dpid, left_alone))
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
                self.counts["other_controllers"] += 1
                self._notices.stranger(found)

    def _link(self, link: Link) -> None:
        """A direction of a link is new or lost."""
        self._cables.changed(link, both_ways=self.discovery.leads(link.target) == link.source)
        tell = self.core.link_up if link.up else self.core.link_down
        self._send(tell(self.now, *link.source, *link.target))

    def _foreign(self, switch: Switch, cookies: list[int]) -> None:
        """Rules that are not Weft's."""
        if not cookies:
            return
        self.counts["foreign_rules"] += len(cookies)
        self._notices.foreign(switch, cookies)

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
            # Behind the frames: who answers has sent them.
            for dpid in self.discovery.asked():
                if dpid in self.switches:
                    self.switches[dpid].ask()
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
        if self.settings.fabric is not None and self._differences.is_due(now):
            self._differences.look(now, set(json.loads(self.core.show("switches", 0)).get("differences", ())))
        self._ticking = self._loop.call_later(_TICK_S, self._tick)

    def _beat(self) -> None:
        """Say that this controller steers, or see whether another one does."""
        if self._generations.silent_s(self.now) > SILENCE_S:
            self._lead()
        self._generations.step()
        for switch in self.switches.values():
            switch.beat(self._generations.of(switch.dpid))
        self._beating = self._loop.call_later(BEAT_S, self._beat)

    def _lead(self) -> None:
        """Take the place of a controller that says nothing any more."""
        waiting = [switch for switch in self.switches.values() if switch.stage is Stage.STANDBY]
        _log.warning("no other controller steers %s any more: this one does now", plural(len(waiting), "switch"))
        self.counts["takeovers"] += 1
        if len(waiting) == len(self.switches):
            # What was known is of the time before the other one steered.
            self.core = self._make_core()
            before, self.discovery = self.discovery, Discovery(self.settings.lldp_interval_s, self.settings.lldp_misses)
            self.discovery.counts = before.counts
            self._cables = Cables(self.name)
        self.is_leading = True
        self._generations.rise()
        for switch in waiting:
            self._generations.forget(switch.dpid)
            switch.lead(self._generations.of(switch.dpid))

    def collect(self) -> None:
        """Take from the core what it keeps until it is asked: how long paths took, what went wrong."""
        for seconds in self.core.set_ups():
            self.set_up.add(seconds)
        for what, dpid, count in self.core.troubles():
            if what == "late":
                self._notices.late(dpid, self.settings.install_deadline_s)
            elif what == "repaired":
                self._notices.repaired(dpid, count)
            elif dpid in self.switches:
                self.switches[dpid].close("it leaves too many barrier requests unanswered")
