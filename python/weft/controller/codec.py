"""What switches say in OpenFlow 1.3, as plain values. `weft._weft` makes and reads the messages.

The messages that every path costs are not among them: packets up and down, rules, barriers and rules that are gone are
made and read where they are decided about, in `weft._weft.Controller`. Sections are those of the OpenFlow Switch
Specification 1.3.5.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from .._weft import OpenFlow

VERSION = 4
HEADER = struct.Struct("!BBHI")
"""Version, type, length, transaction id (section 7.1)."""
LONGEST = 0xFFFF
"""Bytes that a message can have."""

HELLO, ERROR, ECHO_REQUEST, ECHO_REPLY = 0, 1, 2, 3
"""Types of messages, section A.1."""

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
    """An error message: what it is about has the transaction id of the message.

    `is_version`: the switch does not speak OpenFlow 1.3. `is_role`: the switch has another master, or refuses a role.
    """

    reason: str
    is_version: bool
    is_role: bool


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


def version_name(version: int) -> str:
    """What people call a version."""
    return f"OpenFlow {_VERSION_NAMES.get(version, f'(version {version:#04x})')}"


def versions(hello: bytes) -> set[int]:
    """The versions that a Hello offers: its bitmap's, else all up to that of its header (section 6.3.1).

    Raises:
        MalformedError: Its elements are not what they should be.
    """
    try:
        return set(OpenFlow.versions(hello))
    except ValueError as error:
        raise MalformedError(f"its Hello cannot be read: {error}") from error


def read(message: bytes) -> Any:
    """What a message of version 1.3 says: one of this module's types; None for those that nobody needs.

    Raises:
        MalformedError: It cannot be read.
    """
    try:
        found = OpenFlow.read(message)
    except ValueError as error:
        what = f"a message of type {message[1]} with {len(message)} bytes"
        raise MalformedError(f"{what} cannot be read: {error}") from error
    return None if found is None else _TYPES[found[0]](*found[1])


def _port(number: int, name: bytes, address: bytes, up: bool) -> Port:
    return Port(number, _text(name), address, up)


def _text(value: bytes) -> str:
    """What a switch says of itself, for logs and tables: what cannot be printed stands there in hexadecimal."""
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
