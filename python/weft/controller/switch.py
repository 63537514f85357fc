"""One switch: its handshake, liveness and role.

    hello  ->  features  ->  role, ports, description, rules  ->  ready

When a switch is ready, its owner gets its ports and rules, and from then on all its messages. Its replies to the
periodic role requests (`roles`) show both that it is alive and whether another controller has become its master.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable
from typing import Any

from .._weft import OpenFlow
from . import codec
from .codec import Features, MalformedError, Part, Port, PortChange, Refused, Removed, Role
from .connection import Connection
from .echoes import Echoes
from .foreign import MARK, Foreign
from .owner import Owner
from .roles import UNKNOWN

_log = logging.getLogger(__name__)

_HANDSHAKE_S = 30.0
"""Timeout of the handshake in seconds; a large table takes a while."""
_RESERVED = 0xFFFFFF00
"""Port numbers from here on are reserved (OFPP_MAX)."""
_MALFORMED = 10
"""Malformed messages after which a connection is closed."""
_COOKIES = 4_000_000
"""Maximum number of rules when a switch connects."""
_RULE_BYTES = 256 << 20
"""Maximum memory for the messages that list them; a million Weft rules take about 150 MB."""
_MESSAGE_BYTES = 64
"""Memory overhead per message."""


class Stage(enum.Enum):
    """Stage of a switch's connection."""

    HELLO = "hello"
    FEATURES = "features"
    CLAIMING = "claiming"
    """Its datapath id may be in use by another connection."""
    DESCRIBING = "describing"
    READY = "ready"
    STANDBY = "standby"
    """Another controller is its master."""
    GONE = "gone"


class Switch:
    """A switch and its state: `dpid` is 0 until it is known, `software` the hardware and software that it reports."""

    def __init__(self, owner: Owner[Switch], connection: Connection, now: float, probe_s: float) -> None:
        """Start by sending a Hello."""
        self._owner = owner
        self._connection = connection
        self._probe_s = probe_s
        self._heard = now
        self._asked: set[int] = set()
        self._cookies: list[int] = []
        self._answers: list[bytes] = []
        self._answer_bytes = 0
        self._malformed = 0
        self._echoes = Echoes(connection)
        self._watches = False
        self._foreign: Foreign | None = None
        self.dpid = 0
        self.stage = Stage.HELLO
        self.ports: dict[int, Port] = {}
        self.software = ""
        self.since = self._began = now
        connection.send(OpenFlow.hello(connection.xids(1)))

    @property
    def peer(self) -> str:
        """Its address and port."""
        return self._connection.peer

    @property
    def host(self) -> str:
        """Its address."""
        return self._connection.host

    @property
    def arrived(self) -> float:
        """Arrival time of the message being processed."""
        return self._connection.arrived

    @property
    def is_ready(self) -> bool:
        """Whether it can be controlled."""
        return self.stage is Stage.READY

    @property
    def is_waiting(self) -> bool:
        """Whether it is left to another controller."""
        return self.stage is Stage.STANDBY

    def ports_up(self) -> list[int]:
        """The numbers of its ports that are up."""
        return sorted(number for number, port in self.ports.items() if port.up)

    def send(self, data: bytes) -> None:
        """Send complete messages."""
        self._connection.send(data)

    def xids(self, count: int) -> int:
        """The first of `count` consecutive transaction ids."""
        return self._connection.xids(count)

    def ask(self, now: float) -> None:
        """Request proof that it has received everything sent until `now`; the owner is notified."""
        if self.is_ready:
            self._echoes.ask(now)

    def close(self, why: str) -> None:
        """Close the connection; the owner is notified."""
        self._connection.close(why)

    def tick(self, now: float) -> None:
        """Check timeouts; call about once a second."""
        silent = now - self._heard
        if self.stage in (Stage.HELLO, Stage.FEATURES, Stage.CLAIMING, Stage.DESCRIBING):
            if now - self._began > _HANDSHAKE_S:
                self.close(f"handshake not complete within {_HANDSHAKE_S:g} s")
        elif silent > 2 * self._probe_s:
            self.close(f"no message for {silent:.0f} s")
        elif self.is_ready and self._foreign is not None and (question := self._foreign.ask(now)):
            self.send(question)

    def beat(self, generation: int) -> None:
        """Renew the master role, or poll for another master."""
        if self.is_ready:
            self.send(OpenFlow.become_master(self.xids(1), generation))
        elif self.is_waiting:
            self.send(OpenFlow.role_request(self.xids(1)))

    def probe(self, on_reply: Callable[[], None]) -> None:
        """Send an echo request; `on_reply` is called on the reply to this request only."""
        self._echoes.probe(on_reply)

    def encrypted(self) -> None:
        """The switch speaks TLS, but this controller has no key."""
        self._owner.encrypted(self)

    def lead(self, now: float, generation: int) -> None:
        """Become its master, and request its description, ports and rules; the handshake's timeout starts `now`."""
        self.stage = Stage.DESCRIBING
        self._began = now
        self._cookies, self._answers, self._answer_bytes = [], [], 0
        first = self.xids(5)
        self._asked = {first, first + 2, first + 3, first + 4}
        self.send(
            OpenFlow.become_master(first, generation)
            + OpenFlow.send_whole_frames(first + 1)
            + OpenFlow.description_request(first + 2)
            + OpenFlow.ports_request(first + 3)
            + OpenFlow.rules_request(first + 4)
        )

    def stand_by(self) -> None:
        """Leave it to another controller, and monitor its role."""
        self.stage = Stage.STANDBY
        self._watches = False
        _log.info("standing by for switch %016x: %s", self.dpid, self.peer)
        self.send(OpenFlow.role_request(self.xids(1)))

    def take(self, data: bytes, place: int) -> int:
        """Messages have arrived; the owner processes those of path setup in batches."""
        self._heard = self._connection.arrived
        return self._owner.received(self, data, place) if self.is_ready else place

    def message(self, version: int, kind: int, xid: int, message: bytes) -> None:
        """A message has arrived."""
        if kind == codec.HELLO and self.stage is Stage.HELLO:
            self._hello(message)
            return
        if version != codec.VERSION:
            if kind == codec.ERROR and self.stage is Stage.HELLO:
                self._other_version({version})
            else:
                self.nonsense(f"it sent a message of {codec.version_name(version)} after negotiating 1.3")
            return
        if kind == codec.ECHO_REQUEST:
            self.send(OpenFlow.echo_reply(xid, message[codec.HEADER.size :]))
            return
        if kind == codec.ECHO_REPLY:
            if (asked_at := self._echoes.replied(xid)) is not None and self.is_ready:
                self._owner.replied(self, asked_at)
            return
        try:
            said = codec.read(message)
        except MalformedError as error:
            self.nonsense(str(error))
            return
        if said is not None:
            self._take(kind, xid, said)

    def closed(self, why: str) -> None:
        """The connection is closed."""
        if self.stage is not Stage.GONE:
            self.stage = Stage.GONE
            self._owner.gone(self, why)

    def _take(self, kind: int, xid: int, said: Any) -> None:
        if isinstance(said, Removed):
            self._owner.foreign_rule(self, said.cookie)
        elif isinstance(said, PortChange):
            self._port_changed(said)
        elif isinstance(said, Refused):
            self._refused(xid, said)
        elif isinstance(said, Features):
            self._features(said)
        elif isinstance(said, Part):
            self._part(xid, said)
        elif isinstance(said, Role):
            self._role(xid, said)

    def _hello(self, message: bytes) -> None:
        try:
            offered = codec.versions(message)
        except MalformedError as error:
            self._connection.close(str(error))
            return
        if codec.VERSION not in offered:
            self._other_version(offered)
            return
        self.stage = Stage.FEATURES
        self.send(OpenFlow.features_request(self.xids(1)))

    def _other_version(self, offered: set[int]) -> None:
        names = ", ".join(codec.version_name(version) for version in sorted(offered))
        self._owner.unsuited(self, names)
        self.send(OpenFlow.hello_failed(self.xids(1), "Weft speaks only OpenFlow 1.3"))
        self._connection.close(f"it speaks only {names}", at_once=False)

    def _features(self, features: Features) -> None:
        if self.stage is not Stage.FEATURES:
            return
        if features.auxiliary:
            self.close("auxiliary connections are not used")
            return
        self.dpid = features.dpid
        self.stage = Stage.CLAIMING
        self._owner.identified(self)

    def _part(self, xid: int, part: Part) -> None:
        if self.is_ready and self._foreign is not None:
            self._look(self._foreign, xid, part)
            return
        if self.stage is not Stage.DESCRIBING or xid not in self._asked:
            return
        if part.ports is not None:
            self.ports.update((port.number, port) for port in part.ports if port.number < _RESERVED)
        elif part.cookies is not None:
            self._cookies += part.cookies
            if part.rules is not None:
                self._answers.append(part.rules)
                self._answer_bytes += len(part.rules) + _MESSAGE_BYTES
            if len(self._cookies) > _COOKIES or self._answer_bytes > _RULE_BYTES:
                self.close(f"it has more than {_COOKIES} rules, or more than {_RULE_BYTES >> 20} MiB of rules")
                return
        elif part.software is not None:
            self.software = part.software
        if not part.more:
            self._answered(xid)

    def _look(self, foreign: Foreign, xid: int, part: Part) -> None:
        if part.number is not None:
            if question := foreign.counted(xid, part.number):
                self.send(question)
        elif part.cookies is not None and (new := foreign.listed(xid, part.cookies, more=part.more)):
            self._owner.foreign_rules(self, new)

    def _role(self, xid: int, role: Role) -> None:
        if self.stage is Stage.STANDBY:
            self._owner.generation(self, role.generation)
            if not role.is_slave and not self._watches and role.generation != UNKNOWN:
                # As a slave, this controller receives no packet-ins.
                self._watches = True
                self.send(OpenFlow.become_slave(self.xids(1), role.generation))
        elif role.is_slave:
            self._demoted("it reports the slave role")
        elif self.stage is Stage.DESCRIBING and xid in self._asked:
            self._answered(xid)

    def _answered(self, xid: int) -> None:
        self._asked.discard(xid)
        if self._asked:
            return
        self.stage = Stage.READY
        cookies, self._cookies = self._cookies, []
        answers, self._answers = self._answers, []
        others = [cookie for cookie in cookies if cookie >> 48 != MARK]
        self._foreign = Foreign(others, self.xids, self._connection.arrived)
        self._owner.ready(self, cookies, answers)

    def _port_changed(self, change: PortChange) -> None:
        port = change.port
        if port.number >= _RESERVED:
            return
        before = self.ports.pop(port.number, None)
        if not change.gone:
            self.ports[port.number] = port
        up = port.up and not change.gone
        if self.is_ready and up != (before is not None and before.up):
            self._owner.port(self, port, up=up)

    def _refused(self, xid: int, error: Refused) -> None:
        if error.is_version:
            self._other_version({1})
            return
        if error.is_role:
            self._demoted(f"it replied `{error.reason}`")
        if self.stage is Stage.DESCRIBING and xid in self._asked:
            # It lacks roles or a description, but can be controlled all the same.
            _log.debug("switch %016x rejected a request: %s", self.dpid, error.reason)
            self._answered(xid)
            return
        if self._foreign is not None:
            self._foreign.refused(xid)
        self._owner.refused(self, xid, error.reason)

    def _demoted(self, how: str) -> None:
        if self.stage is Stage.STANDBY or self.stage is Stage.GONE:
            return
        self.stand_by()
        self._owner.demoted(self, how)

    def nonsense(self, what: str) -> None:
        """Count a malformed message; after too many, close the connection."""
        self._malformed += 1
        if self._malformed >= _MALFORMED:
            self.close(f"{what}; that was the {self._malformed}th such message")
        else:
            _log.debug("switch %016x at %s: %s", self.dpid, self.peer, what)
