"""One switch: what is said before it can be steered, that it is still there, and who steers it.

    hello  ->  features  ->  role, ports, description, rules  ->  ready

A switch that is ready is told to its owner with its ports and its rules. From then on what it sends goes
to the owner; what it answers when this controller says that it is its master (`roles`) shows both that it lives and
whether another controller has become that.
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
from .foreign import MARK, Foreign
from .owner import Owner
from .roles import UNKNOWN

_log = logging.getLogger(__name__)

_HANDSHAKE_S = 30.0
"""Seconds from the connection until a switch must be ready, however much it says; a large table takes a while."""
_RESERVED = 0xFFFFFF00
"""Ports above are not ports of the switch (OFPP_MAX)."""
_MALFORMED = 10
"""Messages that make no sense before a connection is given up."""
_COOKIES = 4_000_000
"""Rules that a switch may have when it connects."""
_RULE_BYTES = 256 << 20
"""Memory that the messages with which it tells them may take; a million of Weft's rules take about 150 MB."""
_MESSAGE_BYTES = 64
"""Of it, what every message takes beside its contents."""


class Stage(enum.Enum):
    """How far a switch has come."""

    HELLO = "hello"
    FEATURES = "features"
    CLAIMING = "claiming"
    """Another connection has its datapath id."""
    DESCRIBING = "describing"
    READY = "ready"
    STANDBY = "standby"
    """Another controller steers it."""
    GONE = "gone"


class Switch:
    """A switch and what is known of it.

    Attributes:
        dpid: Its datapath id, 0 until it is known.
        stage: How far it has come.
        ports: Its ports by number.
        software: What it says that it is.
        since: When it connected.
    """

    def __init__(self, owner: Owner, connection: Connection, now: float, probe_s: float) -> None:
        """Begin with the hello."""
        self._owner = owner
        self._connection = connection
        self._probe_s = probe_s
        self._heard = now
        self._asked: set[int] = set()
        self._cookies: list[int] = []
        self._answers: list[bytes] = []
        self._answer_bytes = 0
        self._malformed = 0
        self._echo = 0
        self._on_echo: Callable[[], None] | None = None
        self._is_asked = False
        self._watches = False
        self._foreign: Foreign | None = None
        self.dpid = 0
        self.stage = Stage.HELLO
        self.ports: dict[int, Port] = {}
        self.software = ""
        self.since = now
        connection.send(OpenFlow.hello(connection.xids(1)))

    @property
    def peer(self) -> str:
        """Its address and port."""
        return self._connection.peer

    @property
    def host(self) -> str:
        """Its address alone."""
        return self._connection.host

    @property
    def arrived(self) -> float:
        """When the message that is being taken came in."""
        return self._connection.arrived

    @property
    def is_ready(self) -> bool:
        """Whether it can be steered."""
        return self.stage is Stage.READY

    def ports_up(self) -> list[int]:
        """The numbers of its ports that are up."""
        return sorted(number for number, port in self.ports.items() if port.up)

    def send(self, data: bytes) -> None:
        """Send whole messages."""
        self._connection.send(data)

    def xids(self, count: int) -> int:
        """The first of `count` consecutive transaction ids."""
        return self._connection.xids(count)

    def ask(self) -> None:
        """Ask it whether it is there, unless that was asked and is not answered yet."""
        if self.is_ready and not self._is_asked:
            self._is_asked = True
            self.send(OpenFlow.echo_request(self.xids(1)))

    def close(self, why: str) -> None:
        """End the connection; the owner is told."""
        self._connection.close(why)

    def tick(self, now: float) -> None:
        """Time has passed; to be called about once a second."""
        silent = now - self._heard
        if self.stage in (Stage.HELLO, Stage.FEATURES, Stage.CLAIMING, Stage.DESCRIBING):
            if now - self.since > _HANDSHAKE_S:
                self.close(f"it was not ready within {_HANDSHAKE_S:g} s of connecting")
        elif silent > 2 * self._probe_s:
            self.close(f"it was silent for {silent:.0f} s")
        elif self.is_ready and self._foreign is not None and (question := self._foreign.ask(now)):
            self.send(question)

    def beat(self, generation: int) -> None:
        """Say that this controller is its master still, or ask whether there is another."""
        if self.is_ready:
            self.send(OpenFlow.become_master(self.xids(1), generation))
        elif self.stage is Stage.STANDBY:
            self.send(OpenFlow.role_request(self.xids(1)))

    def probe(self, told: Callable[[], None]) -> None:
        """Ask whether it is there; `told` is called when it answers this question, and no other."""
        self._echo, self._on_echo = self.xids(1), told
        self.send(OpenFlow.echo_request(self._echo))

    def encrypted(self) -> None:
        """It speaks TLS, which is not expected."""
        self._owner.encrypted(self)

    def lead(self, generation: int) -> None:
        """Become its master, and look at what it has."""
        self.stage = Stage.DESCRIBING
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
        """Leave it to another controller, and watch."""
        self.stage = Stage.STANDBY
        self._watches = False
        _log.info("stands by at switch %016x: %s", self.dpid, self.peer)
        self.send(OpenFlow.role_request(self.xids(1)))

    def take(self, data: bytes, place: int) -> int:
        """Messages have come in; those that every path costs are not looked at one by one."""
        self._heard = self._connection.arrived
        return self._owner.received(self, data, place) if self.is_ready else place

    def message(self, version: int, kind: int, xid: int, message: bytes) -> None:
        """A message has come in."""
        if kind == codec.HELLO and self.stage is Stage.HELLO:
            self._hello(message)
            return
        if version != codec.VERSION:
            if kind == codec.ERROR and self.stage is Stage.HELLO:
                self._other_version({version})
            else:
                self.nonsense(f"it sent a message of {codec.version_name(version)} after 1.3 was agreed upon")
            return
        if kind == codec.ECHO_REQUEST:
            self.send(OpenFlow.echo_reply(xid, message[codec.HEADER.size :]))
            return
        if kind == codec.ECHO_REPLY:
            self._is_asked = False
            if self._on_echo is not None and xid == self._echo:
                told, self._on_echo = self._on_echo, None
                told()
            return
        try:
            said = codec.read(message)
        except MalformedError as error:
            self.nonsense(str(error))
            return
        if said is not None:
            self._take(kind, xid, said)

    def closed(self, why: str) -> None:
        """The connection is gone."""
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
        self.send(OpenFlow.hello_failed(self.xids(1), "Weft speaks OpenFlow 1.3 only"))
        self._connection.close(f"it speaks only {names}", at_once=False)

    def _features(self, features: Features) -> None:
        if self.stage is not Stage.FEATURES:
            return
        if features.auxiliary:
            self.close("it is an auxiliary connection, which is not needed")
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
                self.close(f"it has more than {_COOKIES} rules, or tells more than {_RULE_BYTES >> 20} MiB of them")
                return
        elif part.software is not None:
            self.software = part.software
        if not part.more:
            self._answered(xid)

    def _look(self, foreign: Foreign, xid: int, part: Part) -> None:
        """It answers which rules it has beside Weft's."""
        if part.number is not None:
            if question := foreign.counted(xid, part.number):
                self.send(question)
        elif part.cookies is not None and (new := foreign.told(xid, part.cookies, more=part.more)):
            self._owner.foreign_rules(self, new)

    def _role(self, xid: int, role: Role) -> None:
        if self.stage is Stage.STANDBY:
            self._owner.generation(self, role.generation)
            if not role.is_slave and not self._watches and role.generation != UNKNOWN:
                # So it sends nothing up here.
                self._watches = True
                self.send(OpenFlow.become_slave(self.xids(1), role.generation))
        elif role.is_slave:
            self._demoted("it says so when asked")
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
            self._demoted(f"it answered `{error.reason}`")
        if self.stage is Stage.DESCRIBING and xid in self._asked:
            # It has no roles, or does not describe itself: it can be steered all the same.
            _log.debug("switch %016x does not answer a question: %s", self.dpid, error.reason)
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
        """It sent what makes no sense; too often, and the connection ends."""
        self._malformed += 1
        if self._malformed >= _MALFORMED:
            self.close(f"{what}; that was the {self._malformed}th such message")
        else:
            _log.debug("switch %016x at %s: %s", self.dpid, self.peer, what)
