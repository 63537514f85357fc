"""The TCP connection of a switch: bytes in, whole messages out of them; messages in, bytes out.

What one side sends is bounded on the other: a message says its length first, and a switch that does not read what it is
sent is given up, so that it cannot fill this process's memory.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

from . import codec
from .address import address_of

UNREAD = 32 << 20
"""Bytes that may wait for a switch to read them; a thousand rules are about 100 kB."""
TLS_HELLO = b"\x16\x03"
"""How a TLS handshake begins: a record of type 22, version 3.x (RFC 8446, section 5.1)."""
_XIDS = 2**31
"""Transaction ids that are drawn here; those above are the core's."""


class Listener(Protocol):
    """Whom a connection tells what happens."""

    def take(self, data: bytes, place: int) -> int:
        """Read messages from byte `place` on in one go, if there are any for it; returns how far it came."""

    def message(self, version: int, kind: int, xid: int, message: bytes) -> None:
        """A whole message has come in, header included."""

    def encrypted(self) -> None:
        """It begins with TLS, which is not expected here."""

    def closed(self, why: str) -> None:
        """The connection is gone."""


class Connection(asyncio.Protocol):
    """One connection.

    Attributes:
        peer: The switch's address and port, for people.
        host: Its address alone.
        arrived: When the last bytes came in.
    """

    def __init__(self, clock: Callable[[], float], attach: Callable[[Connection], Listener]) -> None:
        """`attach` is called once there is a connection, and says whom to tell."""
        self._clock = clock
        self._attach = attach
        self._listener: Listener | None = None
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._next = 1
        self._why = ""
        self._begun = False
        self.peer = self.host = "an unknown address"
        self.arrived = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.host, self.peer = address_of(transport)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._listener = self._attach(self)
        if self._rest:
            # With TLS, messages may come in before those who agreed upon it have told.
            self.data_received(b"")

    def data_received(self, data: bytes) -> None:
        """Take messages apart; the rest waits for more."""
        self.arrived = self._clock()
        buffer = self._rest + data if self._rest else data
        place, end = 0, len(buffer)
        if self._listener is not None and not self._begun and end >= len(TLS_HELLO):
            self._begun = True
            if buffer.startswith(TLS_HELLO):
                self._listener.encrypted()
                self.close("it speaks TLS, and nobody has given this controller a key")
        while self._listener is not None and not self._why:
            place = self._listener.take(buffer, place)
            if end - place < codec.HEADER.size:
                break
            version, kind, length, xid = codec.HEADER.unpack_from(buffer, place)
            if length < codec.HEADER.size:
                self.close(f"it sent a message of {length} bytes, shorter than a header: it does not speak OpenFlow")
                break
            if end - place < length:
                break
            if self._listener is None or self._why:
                break
            self._listener.message(version, kind, xid, buffer[place : place + length])
            place += length
        self._rest = buffer[place:]

    def connection_lost(self, error: Exception | None) -> None:
        """Tell why."""
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.closed(self._why or (str(error) if error else "it closed the connection"))

    def xids(self, count: int) -> int:
        """The first of `count` consecutive transaction ids."""
        if self._next + count > _XIDS:
            self._next = 1
        first = self._next
        self._next += count
        return first

    def send(self, data: bytes) -> None:
        """Send whole messages; they are lost if the connection is gone."""
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > UNREAD:
            self.close(f"it has not read {UNREAD >> 20} MiB that it was sent")

    def close(self, why: str, *, at_once: bool = True) -> None:
        """End the connection, with what was sent or without."""
        if self._transport is None or self._why:
            return
        self._why = why
        if at_once:
            self._transport.abort()
        else:
            self._transport.close()
