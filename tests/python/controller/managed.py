"""Switches under link discovery in virtual time, each with a TCP connection that can be cut in both directions.

As in TCP, a direction that lost a segment delivers nothing until a repetition gets through; these follow at intervals
that double, from 0.2 s on. So the two directions of a connection resume at different times after an outage.
"""

from __future__ import annotations

import heapq
import itertools
import struct
from collections.abc import Callable

from weft.controller.discovery import Discovery, End, Link
from weft.controller.echoes import Echoes

ADDRESS = bytes.fromhex("020000000001")
LATENCY_S = 0.001
"""Of a link, and of a connection in each direction."""
_RTO_S = 0.2
_BEAT_S = 0.25
"""Interval of other messages, to a switch and back."""
_LOOK_S = 0.02
"""Most between two looks at what is due: received frames may make others due."""
SILENCE_S = 10.0
"""Both ends close a connection after this time without a message."""
RETRY_S = 1.0
"""Interval at which a switch tries to connect again."""


class Clock:
    """Virtual time in seconds, and what is due."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def at(self, time: float, work: Callable[[], None]) -> None:
        """Do something at a time."""
        heapq.heappush(self._due, (time, next(self._numbers), work))

    def run(self, until: float) -> None:
        """Advance the time."""
        while self._due and self._due[0][0] <= until:
            self.now, _, work = heapq.heappop(self._due)
            work()
        self.now = until


class Direction:
    """One direction of a TCP connection: delivers messages in order, and none while it is cut or waits to repeat."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: list[Callable[[], None]] = []
        self.is_cut = False
        self.heard = clock.now
        self.is_open = True

    def send(self, arrival: Callable[[], None]) -> None:
        """Send a message; `arrival` is called when it is delivered."""
        self._waiting.append(arrival)
        if len(self._waiting) == 1:
            self._transmit(_RTO_S)

    def _transmit(self, again_s: float) -> None:
        if self.is_cut:
            self._clock.at(self._clock.now + again_s, lambda: self._transmit(2 * again_s))
            return
        waiting, self._waiting = self._waiting, []
        for arrival in waiting:
            self._clock.at(self._clock.now + LATENCY_S, lambda arrival=arrival: self._deliver(arrival))

    def _deliver(self, arrival: Callable[[], None]) -> None:
        if self.is_open:
            self.heard = self._clock.now
            arrival()


class Connection:
    """A connection as `Echoes` uses it; the switch answers echo requests."""

    def __init__(self, clock: Clock, replied: Callable[[float], None]) -> None:
        self._clock, self._replied = clock, replied
        self._xids = itertools.count(1)
        self.down, self.up = Direction(clock), Direction(clock)
        self.echoes = Echoes(self)

    @property
    def arrived(self) -> float:
        """The time of the message that is being processed."""
        return self._clock.now

    def xids(self, count: int) -> int:
        """The next transaction id."""
        return next(self._xids)

    def send(self, message: bytes) -> None:
        """Send an echo request."""
        (xid,) = struct.unpack_from("!I", message, 4)
        self.down.send(lambda: self.up.send(lambda: self._reply(xid)))

    def beat(self) -> None:
        """Exchange other messages."""
        self.down.send(lambda: self.up.send(lambda: None))

    def cut(self, *, is_cut: bool) -> None:
        """Lose all segments from now on, or none."""
        self.down.is_cut = self.up.is_cut = is_cut

    def close(self) -> None:
        """Lose everything that is under way."""
        self.down.is_open = self.up.is_open = False

    def _reply(self, xid: int) -> None:
        asked_at = self.echoes.replied(xid)
        if asked_at is not None:
            self._replied(asked_at)


class Managed:
    """Links between ports of switches, under a discovery that reaches the switches over their connections."""

    def __init__(self, *links: tuple[End, End]) -> None:
        self.clock = Clock()
        self.discovery = Discovery(1.0, 3)
        self.said: list[tuple[float, Link]] = []
        self.to = {a: b for one, other in links for a, b in ((one, other), (other, one))}
        self.broken: set[End] = set()
        self._cut: set[int] = set()
        self._stopped_until = 0.0
        self._connections: dict[int, Connection] = {}
        for dpid in sorted({dpid for dpid, _ in self.to}):
            self.connect(dpid)
        self._poll()
        self._beat()

    def connect(self, dpid: int) -> None:
        """A switch connects; a connection before it is replaced."""
        if dpid in self._connections:
            self._connections.pop(dpid).close()
            self.discovery.switch_down(dpid)
        now, ports = self.clock.now, [port for other, port in self.to if other == dpid]
        connection = Connection(self.clock, lambda asked_at: self.discovery.replied(dpid, asked_at))
        self._connections[dpid] = connection
        self._say(self.discovery.switch_up(now, dpid, set(ports)))
        for port in ports:
            self.discovery.port_up(now, (dpid, port), ADDRESS)

    def cut(self, *dpids: int) -> None:
        """Cut the management of switches."""
        self._cut.update(dpids)
        for dpid in dpids:
            self._connections[dpid].cut(is_cut=True)

    def heal(self, *dpids: int) -> None:
        """End the cut."""
        self._cut.difference_update(dpids)
        for dpid in dpids:
            if dpid in self._connections:
                self._connections[dpid].cut(is_cut=False)

    def deafen(self, dpid: int) -> None:
        """Cut only the direction to a switch."""
        self._connections[dpid].down.is_cut = True

    def fail(self, end: End) -> None:
        """A link loses all frames in both directions, and its ports stay up."""
        self.broken |= {end, self.to[end]}

    def stop(self, seconds: float) -> None:
        """The controller stands still; then its timers run before it reads what has arrived."""
        self._stopped_until = self.clock.now + seconds

    def run(self, seconds: float) -> list[tuple[float, Link]]:
        """Advance the time; returns discovery's reports with their times."""
        before = len(self.said)
        self.clock.run(self.clock.now + seconds)
        return self.said[before:]

    def _say(self, links: list[Link]) -> None:
        self.said += [(self.clock.now, link) for link in links if isinstance(link, Link)]

    def _poll(self) -> None:
        """Send what is due, as the service does: frames, then echo requests."""
        now = self.clock.now
        if now >= self._stopped_until:
            frames, lost = self.discovery.due(now)
            for end, frame in frames:
                if end[0] in self._connections:
                    self._connections[end[0]].down.send(lambda end=end, frame=frame: self._carry(end, frame))
            for dpid in self.discovery.asked():
                if dpid in self._connections:
                    self._connections[dpid].echoes.ask(now)
            self._say(lost)
        next_one = min(max(self.discovery.next_due(), now + LATENCY_S), now + _LOOK_S)
        self.clock.at(max(next_one, self._stopped_until), self._poll)

    def _carry(self, end: End, frame: bytes) -> None:
        """A switch sends a frame from a port."""
        other = self.to[end]
        if end not in self.broken:
            self.clock.at(self.clock.now + LATENCY_S, lambda: self._report(other, frame))

    def _report(self, end: End, frame: bytes) -> None:
        """A switch has received a frame at a port, and reports it."""
        if end[0] in self._connections:
            self._connections[end[0]].up.send(lambda: self._read(end, frame))

    def _read(self, end: End, frame: bytes) -> None:
        if self.clock.now < self._stopped_until:
            self.clock.at(self._stopped_until + LATENCY_S, lambda: self._read(end, frame))
        else:
            self._say(self.discovery.received(self.clock.now, end, frame))

    def _beat(self) -> None:
        for dpid, connection in list(self._connections.items()):
            if self.clock.now - min(connection.up.heard, connection.down.heard) > SILENCE_S:
                self._connections.pop(dpid).close()
                self.discovery.switch_down(dpid)
                self._retry(dpid)
            else:
                connection.beat()
        self.clock.at(self.clock.now + _BEAT_S, self._beat)

    def _retry(self, dpid: int) -> None:
        if dpid in self._cut:
            self.clock.at(self.clock.now + RETRY_S, lambda: self._retry(dpid))
        else:
            self.connect(dpid)
