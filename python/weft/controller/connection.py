"""The TCP connection of a switch: splits incoming bytes into messages, and sends messages.

Buffers are bounded in both directions: messages carry their length, and the connection to a switch that does not read
is closed before it fills this process's memory.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

from . import codec
from .address import address_of

UNREAD = 32 << 20
"""Maximum bytes queued for a switch; a thousand rules take about 100 kB."""
TLS_HELLO = b"\x16\x03"
"""First bytes of a TLS handshake: a record of type 22, version 3.x (RFC 8446, section 5.1)."""
_XIDS = 2**31
"""Transaction ids below this are used here; those above belong to the core."""


class Listener(Protocol):
    """Receives the events of a connection."""

    def take(self, data: bytes, place: int) -> int:
        """Process a batch of messages from byte `place` on; returns the end of the last one processed."""

    def message(self, version: int, kind: int, xid: int, message: bytes) -> None:
        """A complete message has arrived, including its header."""

    def encrypted(self) -> None:
        """The peer starts a TLS handshake, but TLS is not configured."""

    def closed(self, why: str) -> None:
        """The connection is closed."""


class Connection(asyncio.Protocol):
    """One connection, from the address `host` (`peer` with the port); the last bytes `arrived` at that time."""

    def __init__(self, clock: Callable[[], float], attach: Callable[[Connection], Listener]) -> None:
        """`attach` is called when the connection is established and returns the listener."""
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
        """Start the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.host, self.peer = address_of(transport)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._listener = self._attach(self)
        if self._rest:
            # With TLS, messages may arrive before the handshake's completion is reported.
            self.data_received(b"")

    def data_received(self, data: bytes) -> None:
        """Split the data into messages; keep an incomplete one until the rest arrives."""
        self.arrived = self._clock()
        buffer = self._rest + data if self._rest else data
        place, end = 0, len(buffer)
        if self._listener is not None and not self._begun and end >= len(TLS_HELLO):
            self._begun = True
            if buffer.startswith(TLS_HELLO):
                self._listener.encrypted()
                self.close("it speaks TLS, but this controller has no key")
        while self._listener is not None and not self._why:
            place = self._listener.take(buffer, place)
            if end - place < codec.HEADER.size:
                break
            version, kind, length, xid = codec.HEADER.unpack_from(buffer, place)
            if length < codec.HEADER.size:
                self.close(f"it sent a message of {length} bytes, shorter than a header: not OpenFlow")
                break
            if end - place < length:
                break
            if self._listener is None or self._why:
                break
            self._listener.message(version, kind, xid, buffer[place : place + length])
            place += length
        self._rest = buffer[place:]

    def connection_lost(self, error: Exception | None) -> None:
        """Report the reason to the listener."""
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
        """Send complete messages; they are dropped if the connection is closed."""
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > UNREAD:
            self.close(f"more than {UNREAD >> 20} MiB queued: it does not read")

    def close(self, why: str, *, at_once: bool = True) -> None:
        """Close the connection: at once, or after sending queued data."""
        if self._transport is None or self._why:
            return
        self._why = why
        if at_once:
            self._transport.abort()
        else:
            self._transport.close()
