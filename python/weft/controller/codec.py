"""OpenFlow 1.3 messages, made and read with os-ken: the only place that knows its classes.

What is made is bytes, what is read is what the controller needs of a message, as plain values. The messages that every
path costs are not among them: packets up and down, rules, barriers and rules that are gone are made and read where they
are decided about, in `weft._weft.Controller`. With os-ken they were three quarters of the controller's time
(docs/controller-figures.md). Sections are those of the OpenFlow Switch Specification 1.3.5.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import ControllerError

try:
    from os_ken.ofproto import ofproto_parser, ofproto_protocol
    from os_ken.ofproto import ofproto_v1_3 as ofp
    from os_ken.ofproto import ofproto_v1_3_parser as parser
except ImportError as missing:
    raise ControllerError(
        f"the controller needs the Python package os-ken, which is not here ({missing})",
        "`make controller` in Weft's directory, or `pip install 'weft[controller]'`",
    ) from None

# What os-ken cannot read it would print; `read` says so to its caller instead.
logging.getLogger("os_ken").setLevel(logging.CRITICAL + 1)

VERSION: int = ofp.OFP_VERSION
HEADER = struct.Struct("!BBHI")
"""Version, type, length, transaction id (section 7.1)."""
LONGEST = 0xFFFF
"""Bytes that a message can have."""

HELLO, ERROR, ECHO_REQUEST, ECHO_REPLY = 0, 1, 2, 3
FEATURES_REPLY, FLOW_REMOVED, PORT_STATUS, MULTIPART_REPLY, ROLE_REPLY = 6, 11, 12, 19, 25
"""Types of messages, section A.1."""
_DESCRIPTION, _FLOWS, _PORTS = 0, 1, 13
"""Types of multipart messages, section 7.3.5."""

_RULE = struct.Struct("!24xQ16x")
"""The cookie of a rule, and what it has at least around it (section 7.3.5.2)."""

_DESCRIBED = ofproto_protocol.ProtocolDesc(version=VERSION)
_VERSION_NAMES = {1: "1.0", 2: "1.1", 3: "1.2", 4: "1.3", 5: "1.4", 6: "1.5"}


class Port(NamedTuple):
    """A port of a switch; `up` when it is enabled and has a link, `address` 6 bytes."""

    number: int
    name: str
    address: bytes
    up: bool


class Features(NamedTuple):
    """Of a switch; `auxiliary` is not 0 for connections beside the main one."""

    dpid: int
    auxiliary: int


class PortChange(NamedTuple):
    """A port that is there now, or (`gone`) no more."""

    port: Port
    gone: bool


class Removed(NamedTuple):
    """A rule that is no more."""

    cookie: int


class Refused(NamedTuple):
    """An error message: what it is about has the transaction id of the message."""

    kind: int
    code: int
    reason: str

    @property
    def is_slave(self) -> bool:
        """Whether the switch has another master."""
        return bool(self.kind == ofp.OFPET_BAD_REQUEST and self.code == ofp.OFPBRC_IS_SLAVE)

    @property
    def role_refused(self) -> bool:
        """Whether a role was not given."""
        return bool(self.kind == ofp.OFPET_ROLE_REQUEST_FAILED)

    @property
    def version_refused(self) -> bool:
        """Whether the switch speaks no OpenFlow 1.3."""
        return bool(self.kind == ofp.OFPET_HELLO_FAILED)


class Part(NamedTuple):
    """One message of a multipart reply, of which `more` are to come; one of the others is not None.

    `rules` is the message itself, which the core reads; `cookies` are those of its rules. `number` is how many rules
    there are, where only that was asked.
    """

    more: bool
    ports: list[Port] | None = None
    rules: bytes | None = None
    cookies: list[int] | None = None
    software: str | None = None
    number: int | None = None


class Role(NamedTuple):
    """The role that a switch has given, and the last generation id that it has seen."""

    is_master: bool
    is_slave: bool
    generation: int


class MalformedError(Exception):
    """A message that is not what the specification says."""


# --- made ---------------------------------------------------------------------------------------------------------


def hello(xid: int) -> bytes:
    """That we speak version 1.3, and no other."""
    return _made(parser.OFPHello(_DESCRIBED, [parser.OFPHelloElemVersionBitmap([VERSION])]), xid)


def hello_failed(xid: int, reason: str) -> bytes:
    """That there is no common version; the switch shows the reason in its log."""
    kind, code = ofp.OFPET_HELLO_FAILED, ofp.OFPHFC_INCOMPATIBLE
    return _made(parser.OFPErrorMsg(_DESCRIBED, kind, code, data=reason.encode("ascii", "replace")), xid)


def features_request(xid: int) -> bytes:
    """Asks for `Features`."""
    return _made(parser.OFPFeaturesRequest(_DESCRIBED), xid)


def send_whole_frames(xid: int) -> bytes:
    """Has a switch send up frames whole, and drop fragments no more than it would."""
    return _made(parser.OFPSetConfig(_DESCRIBED, ofp.OFPC_FRAG_NORMAL, ofp.OFPCML_NO_BUFFER), xid)


def become_master(xid: int, generation: int) -> bytes:
    """Asks to be the one that steers (section 6.3.5)."""
    return _made(parser.OFPRoleRequest(_DESCRIBED, ofp.OFPCR_ROLE_MASTER, generation), xid)


def become_slave(xid: int, generation: int) -> bytes:
    """Asks to be one that only watches."""
    return _made(parser.OFPRoleRequest(_DESCRIBED, ofp.OFPCR_ROLE_SLAVE, generation), xid)


def role_request(xid: int) -> bytes:
    """Asks for the role, and changes nothing."""
    return _made(parser.OFPRoleRequest(_DESCRIBED, ofp.OFPCR_ROLE_NOCHANGE, 0), xid)


def ports_request(xid: int) -> bytes:
    """Asks for all ports."""
    return _made(parser.OFPPortDescStatsRequest(_DESCRIBED, 0), xid)


def description_request(xid: int) -> bytes:
    """Asks what switch it is."""
    return _made(parser.OFPDescStatsRequest(_DESCRIBED, 0), xid)


def rules_request(xid: int, cookie: int = 0, mask: int = 0) -> bytes:
    """Asks for the rules of table 0 whose cookies are `cookie` where `mask` has ones."""
    anything = parser.OFPMatch()
    request = parser.OFPFlowStatsRequest(_DESCRIBED, 0, 0, ofp.OFPP_ANY, ofp.OFPG_ANY, cookie, mask, anything)
    return _made(request, xid)


def count_request(xid: int, cookie: int, mask: int) -> bytes:
    """Asks how many such rules there are."""
    anything = parser.OFPMatch()
    request = parser.OFPAggregateStatsRequest(_DESCRIBED, 0, 0, ofp.OFPP_ANY, ofp.OFPG_ANY, cookie, mask, anything)
    return _made(request, xid)


def echo_request(xid: int) -> bytes:
    """Whether the switch is there, section 7.5.2."""
    return HEADER.pack(VERSION, ECHO_REQUEST, HEADER.size, xid)


def echo_reply(xid: int, data: bytes) -> bytes:
    """Answers that we are there."""
    return HEADER.pack(VERSION, ECHO_REPLY, HEADER.size + len(data), xid) + data


def _made(message: Any, xid: int) -> bytes:
    message.set_xid(xid)
    message.serialize()
    return bytes(message.buf)


# --- read ---------------------------------------------------------------------------------------------------------


def versions(message: bytes) -> set[int]:
    """The versions that a hello offers: its bitmap's, else all up to that of its header (section 6.3.1).

    Raises:
        MalformedError: Its elements are not what they should be.
    """
    offered: set[int] = set()
    place = HEADER.size
    while place + 4 <= len(message):
        kind, length = struct.unpack_from("!HH", message, place)
        if length < 4 or place + length > len(message):
            raise MalformedError(f"an element of its hello has length {length}")
        if kind == 1:
            for word in range((length - 4) // 4):
                (bits,) = struct.unpack_from("!I", message, place + 4 + 4 * word)
                offered.update(32 * word + bit for bit in range(32) if bits >> bit & 1)
        place += (length + 7) // 8 * 8
    return offered or set(range(1, message[0] + 1))


def version_name(version: int) -> str:
    """What people call a version."""
    return f"OpenFlow {_VERSION_NAMES.get(version, f'(version {version:#04x})')}"


def read(kind: int, xid: int, message: bytes) -> Any:
    """What a message of version 1.3 says: one of this module's types; None for those that nobody needs.

    Raises:
        MalformedError: It cannot be read.
    """
    if kind == MULTIPART_REPLY and message[HEADER.size : HEADER.size + 2] == _FLOWS.to_bytes(2, "big"):
        return _rules(message)
    reader = _READERS.get(kind)
    if reader is None:
        return None
    try:
        body = ofproto_parser.msg(_DESCRIBED, VERSION, kind, len(message), xid, message)
        if body is None:
            raise MalformedError(f"a message of type {kind} with {len(message)} bytes cannot be read")
        return reader(body)
    except MalformedError:
        raise
    except Exception as error:
        raise MalformedError(f"a message of type {kind} with {len(message)} bytes cannot be read: {error}") from error


def _features(message: Any) -> Features:
    return Features(message.datapath_id, message.auxiliary_id)


def _port(described: Any) -> Port:
    dead = described.config & ofp.OFPPC_PORT_DOWN or described.state & ofp.OFPPS_LINK_DOWN
    address = bytes.fromhex(str(described.hw_addr).replace(":", ""))
    return Port(described.port_no, _text(described.name), address, not dead)


def _port_status(message: Any) -> PortChange:
    return PortChange(_port(message.desc), message.reason == ofp.OFPPR_DELETE)


def _removed(message: Any) -> Removed:
    return Removed(message.cookie)


def _error(message: Any) -> Refused:
    data = bytes(message.data or b"")
    if message.type == ofp.OFPET_HELLO_FAILED:
        return Refused(message.type, message.code, data.decode("ascii", "replace"))
    kind = str(ofp.ofp_error_type_to_str(message.type)).removeprefix("OFPET_").partition("(")[0]
    code = str(ofp.ofp_error_code_to_str(message.type, message.code)).partition("(")[0]
    return Refused(
        message.type, message.code, f"{kind} {code.partition('_')[2] or message.code}".replace("_", " ").lower()
    )


def _multipart(message: Any) -> Part | None:
    more = bool(message.flags & ofp.OFPMPF_REPLY_MORE)
    if message.type == _PORTS:
        return Part(more, ports=[_port(one) for one in message.body])
    if message.type == ofp.OFPMP_AGGREGATE:
        return Part(more, number=message.body.flow_count)
    if message.type == _DESCRIPTION:
        return Part(more, software=f"{_text(message.body.hw_desc)} {_text(message.body.sw_desc)}")
    return None


def _rules(message: bytes) -> Part:
    """Rules, of which only the cookies are looked at here: there may be very many."""
    cookies = []
    place = HEADER.size + 8
    while place < len(message):
        length = int.from_bytes(message[place : place + 2], "big")
        if length < _RULE.size or place + length > len(message):
            raise MalformedError(f"a rule that it tells has length {length}")
        cookies.append(_RULE.unpack_from(message, place)[0])
        place += length
    if len(message) < HEADER.size + 8:
        raise MalformedError("an answer for its rules ends before the first")
    return Part(bool(message[HEADER.size + 3] & 1), rules=message, cookies=cookies)


def _role(message: Any) -> Role:
    is_master, is_slave = (message.role == role for role in (ofp.OFPCR_ROLE_MASTER, ofp.OFPCR_ROLE_SLAVE))
    return Role(is_master, is_slave, message.generation_id)


def _text(value: Any) -> str:
    """What a switch says of itself, for logs and tables: what cannot be printed stands there in hexadecimal."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text.rstrip("\0")[:64])


_READERS: dict[int, Callable[[Any], Any]] = {
    ERROR: _error,
    FEATURES_REPLY: _features,
    FLOW_REMOVED: _removed,
    PORT_STATUS: _port_status,
    MULTIPART_REPLY: _multipart,
    ROLE_REPLY: _role,
}
