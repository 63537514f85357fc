"""The control socket of a daemon, asked from an event loop: HTTP/1.1 with JSON over a Unix socket (docs/switchd.md).

One connection is kept for questions and answers, one after another; what a daemon tells by itself comes over another.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

from .errors import RefusedError, UnreachableError

PATIENCE_S = 30.0
"""Seconds that an answer may take: a daemon needs some for hundreds of thousands of rules."""
PROMPT_S = 5.0
"""Seconds that an answer may take which asks nothing of a daemon but to be there."""
_CONNECT_S = 5.0
"""Seconds that a daemon may take to take a connection."""
_HEAD = 16384
"""Bytes of an answer's head, or of a line of notices, at most."""
_MOST = 1 << 30
"""Bytes of an answer at most."""

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Daemon:
    """The daemon of one switch.

    Attributes:
        switch: The switch's name.
        path: Of the socket.
    """

    def __init__(self, switch: str, path: Path) -> None:
        self.switch, self.path = switch, path
        self._kept: _Connection | None = None
        self._turn = asyncio.Lock()

    async def ask(self, method: str, what: str, body: str | None = None, patience: float = PATIENCE_S) -> Any:
        """What the daemon answers to a request within `patience` seconds; `what` is behind ``/v1/``.

        A request that is cut off with a kept connection is sent again over a new one: all that are sent here may be
        carried out twice.

        Raises:
            UnreachableError: Nobody answers, or not in time.
            RefusedError: The daemon refuses it.
        """
        async with self._turn:
            try:
                async with asyncio.timeout(patience):
                    kept = self._kept is not None
                    try:
                        status, answer = await self._exchange(method, what, body)
                    except (OSError, EOFError):
                        self._drop()
                        if not kept:
                            raise
                        status, answer = await self._exchange(method, what, body)
            except TimeoutError:
                self._drop()
                raise UnreachableError(f"{self.switch} has not answered for {patience:g} s ({self.path})") from None
            except (OSError, EOFError, ValueError) as wrong:
                self._drop()
                raise self._unreachable(wrong) from None
            except asyncio.CancelledError:
                # What is still to come is no answer to the next question.
                self._drop()
                raise
        if not 200 <= status < 300:
            said = answer.get("error") if isinstance(answer, dict) else None
            raise RefusedError(f"{self.switch} refused {method} /v1/{what} ({status}): {said or answer}", status)
        return answer

    async def follow(self, what: str) -> AsyncGenerator[Any, None]:
        """What the daemon tells of `what`, an object a line, until it ends.

        Raises:
            UnreachableError: Nobody answers.
            RefusedError: The daemon refuses it.
        """
        try:
            reader, writer = await self._connect()
        except (OSError, TimeoutError) as wrong:
            raise self._unreachable(wrong) from None
        try:
            writer.write(_request("GET", what, None))
            status, fields = await _head(reader)
            if status != 200:
                raise RefusedError(f"{self.switch} refused GET /v1/{what} ({status})", status)
            rest = b""
            async for part in _parts(reader, fields):
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    yield json.loads(line)
        except (OSError, EOFError, ValueError) as wrong:
            raise self._unreachable(wrong) from None
        finally:
            writer.close()

    def close(self) -> None:
        """Close the connection that is kept."""
        self._drop()

    async def _exchange(self, method: str, what: str, body: str | None) -> tuple[int, Any]:
        if self._kept is None:
            self._kept = await self._connect()
        reader, writer = self._kept
        writer.write(_request(method, what, body))
        await writer.drain()
        status, fields = await _head(reader)
        content = b"".join([part async for part in _parts(reader, fields)])
        if fields.get("connection", "").lower() == "close":
            self._drop()
        return status, json.loads(content) if content.strip() else None

    async def _connect(self) -> _Connection:
        async with asyncio.timeout(_CONNECT_S):
            return await asyncio.open_unix_connection(self.path, limit=_HEAD)

    def _drop(self) -> None:
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None

    def _unreachable(self, wrong: Exception) -> UnreachableError:
        reason = (wrong.strerror if isinstance(wrong, OSError) else None) or str(wrong) or type(wrong).__name__
        return UnreachableError(f"{self.switch} does not answer on {self.path}: {reason}")


def _request(method: str, what: str, body: str | None) -> bytes:
    content = (body or "").encode()
    fields = [f"{method} /v1/{what} HTTP/1.1", "Host: weft"]
    if body is not None:
        fields += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join(fields).encode() + b"\r\n\r\n" + content


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """The status of an answer, and its fields by their names in small letters."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise ValueError("what it says is no HTTP") from None
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdecimal():
        raise ValueError("what it says is no HTTP")
    named = (line.partition(":") for line in lines if line)
    return int(words[1]), {name.strip().lower(): value.strip() for name, _, value in named}


async def _parts(reader: asyncio.StreamReader, fields: dict[str, str]) -> AsyncIterator[bytes]:
    """The content of an answer as it comes (RFC 9112, section 6)."""
    if fields.get("transfer-encoding", "").lower() != "chunked":
        length = int(fields.get("content-length", "0"))
        if length > _MOST:
            raise ValueError(f"an answer of {length} bytes is too long")
        yield await reader.readexactly(length)
        return
    while True:
        size = await reader.readline()
        if not size:
            raise EOFError("it has ended")
        length = int(size.partition(b";")[0], 16)
        if length > _MOST:
            raise ValueError(f"a part of {length} bytes is too long")
        part = await reader.readexactly(length)
        await reader.readline()
        if length == 0:
            return
        yield part
