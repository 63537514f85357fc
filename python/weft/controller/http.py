"""As much of HTTP/1.1 as answering `GET` takes, in the controller's own event loop.

The control socket and the metrics are asked a few times a minute, one request a connection; what answers must run in
the thread that owns the core, and a server with threads of its own would need a lock there.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

_log = logging.getLogger(__name__)

_HEAD = 8192
"""Bytes that a request may have."""
_PATIENCE_S = 5.0
"""Seconds that a request may take to come, and an answer to be read."""


class Answer(NamedTuple):
    """What is sent back."""

    status: HTTPStatus
    kind: str
    body: bytes

    @classmethod
    def json(cls, value: Any, status: HTTPStatus = HTTPStatus.OK) -> Answer:
        """A value as JSON."""
        return cls(status, "application/json", json.dumps(value, ensure_ascii=False).encode() + b"\n")

    @classmethod
    def error(cls, status: HTTPStatus, message: str) -> Answer:
        """What is wrong."""
        return cls.json({"error": message}, status)


Handler = Callable[[Mapping[str, list[str]]], Answer]
"""From the query of a request to its answer."""


class Site:
    """Paths and who answers for them."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; for `asyncio.start_server`."""
        try:
            async with asyncio.timeout(_PATIENCE_S):
                try:
                    head = await reader.readuntil(b"\r\n\r\n")
                except asyncio.LimitOverrunError:
                    answer = Answer.error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request is too long")
                    with_body = True
                else:
                    answer, with_body = self._answer(head)
                fields = (
                    f"HTTP/1.1 {answer.status.value} {answer.status.phrase}",
                    f"Content-Type: {answer.kind}",
                    f"Content-Length: {len(answer.body)}",
                    "Connection: close",
                )
                writer.write("\r\n".join(fields).encode("ascii") + b"\r\n\r\n" + (answer.body if with_body else b""))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, head: bytes) -> tuple[Answer, bool]:
        """The answer to a request, and whether its body is sent too."""
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return Answer.error(HTTPStatus.BAD_REQUEST, "that is no HTTP request"), True
        method, target, _ = words
        if method not in ("GET", "HEAD"):
            return Answer.error(HTTPStatus.METHOD_NOT_ALLOWED, f"{method} is not understood, only GET"), True
        url = urlsplit(target)
        handler = self._handlers.get(url.path)
        if handler is None:
            known = ", ".join(self._handlers)
            return Answer.error(HTTPStatus.NOT_FOUND, f"there is no {url.path}, only {known}"), method == "GET"
        try:
            return handler(parse_qs(url.query)), method == "GET"
        except Exception as error:
            _log.exception("a request for %s failed", target)
            return Answer.error(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}"), True


LIMIT = _HEAD
"""For `asyncio.start_server(limit=...)`: the longest request."""
