"""OpenFlow 1.3 messages of switches, as plain values. `weft._weft` encodes and decodes them.

The messages of the fast path are not here: `weft._weft.Controller` encodes and decodes packet-ins, packet-outs, flow
mods, barriers and flow-removed messages itself. Section numbers refer to the OpenFlow Switch Specification 1.3.5.
"""

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from .._weft import OpenFlow

VERSION = 4
HEADER = struct.Struct("!BBHI")
"""Version, type, length, transaction id (section 7.1)."""

HELLO, ERROR, ECHO_REQUEST, ECHO_REPLY = 0, 1, 2, 3
"""Types of messages, section A.1."""

_VERSION_NAMES = {1: "1.0", 2: "1.1", 3: "1.2", 4: "1.3", 5: "1.4", 6: "1.5"}


class Port(NamedTuple):
    """A port of a switch; `up` if it is enabled and has link, `address` is 6 bytes."""

    number: int
    name: str
    address: bytes
    up: bool


class Features(NamedTuple):
    """Features of a switch; `auxiliary` is nonzero for auxiliary connections."""

    dpid: int
    auxiliary: int


class PortChange(NamedTuple):
    """A port was added or changed, or (`gone`) removed."""

    port: Port
    gone: bool


class Removed(NamedTuple):
    """A rule was removed."""

    cookie: int


class Refused(NamedTuple):
    """An error message; its transaction id is that of the failed request.

    `is_version`: the switch does not speak OpenFlow 1.3. `is_role`: the switch has another master or refuses a role.
    """

    reason: str
    is_version: bool
    is_role: bool


class Part(NamedTuple):
    """One message of a multipart reply; `more` if others follow. One of the remaining fields is set.

    `rules` is the message itself, which the core decodes; `cookies` are the cookies of its rules. `number` is the
    number of rules in an aggregate reply.
    """

    more: bool
    ports: list[Port] | None = None
    rules: bytes | None = None
    cookies: list[int] | None = None
    software: str | None = None
    number: int | None = None


class Role(NamedTuple):
    """The role that the switch assigned, and the last generation id it has seen."""

    is_master: bool
    is_slave: bool
    generation: int


class MalformedError(Exception):
    """A message violates the specification."""


def version_name(version: int) -> str:
    """The name of a version."""
    return f"OpenFlow {_VERSION_NAMES.get(version, f'(version {version:#04x})')}"


def versions(hello: bytes) -> set[int]:
    """The versions that a Hello offers: those in its bitmap, else all up to the version in its header (section 6.3.1).

    Raises `MalformedError` if its elements are malformed.
    """
    try:
        return set(OpenFlow.versions(hello))
    except ValueError as error:
        raise MalformedError(f"malformed Hello: {error}") from error


def read(message: bytes) -> Any:
    """Decode a message of version 1.3 to one of this module's types; None for messages that are not used.

    Raises `MalformedError` if it cannot be decoded.
    """
    try:
        found = OpenFlow.read(message)
    except ValueError as error:
        what = f"message of type {message[1]} with {len(message)} bytes"
        raise MalformedError(f"malformed {what}: {error}") from error
    return None if found is None else _TYPES[found[0]](*found[1])


def _port(number: int, name: bytes, address: bytes, up: bool) -> Port:
    return Port(number, _text(name), address, up)


def _text(value: bytes) -> str:
    """A string from a switch, for logs and tables; unprintable characters are escaped in hexadecimal."""
    text = value.decode("utf-8", "replace")
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text.rstrip("\0")[:64])


_TYPES: dict[str, Callable[..., Any]] = {
    "features": Features,
    "port": lambda port, gone: PortChange(_port(*port), gone),
    "removed": Removed,
    "refused": Refused,
    "role": Role,
    "ports": lambda more, ports: Part(more, ports=[_port(*port) for port in ports]),
    "rules": lambda more, rules, cookies: Part(more, rules=rules, cookies=cookies),
    "count": lambda number: Part(False, number=number),
    "description": lambda hardware, software: Part(False, software=f"{_text(hardware)} {_text(software)}"),
}
