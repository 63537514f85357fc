"""Minimal HTTP/1.1 server for `GET`, with h11, in the controller's own event loop.

The control socket and the metrics get a few requests a minute, one per connection. Handlers must run in the thread that
owns the core; a server with its own threads would need a lock.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from .errors import ControllerError

try:
    import h11
except ImportError as missing:
    raise ControllerError(
        f"the controller needs the Python package h11, which is not installed ({missing})",
        "`make controller` in Weft's directory, or `pip install 'weft[controller]'`",
    ) from None

_log = logging.getLogger(__name__)

LIMIT = 8192
"""Maximum size of a request in bytes; also for `asyncio.start_server(limit=...)`."""
_PATIENCE_S = 5.0
"""Timeout for receiving a request and sending the response, in seconds."""


class Answer(NamedTuple):
    """A response."""

    status: HTTPStatus
    kind: str
    body: bytes

    @classmethod
    def json(cls, value: Any, status: HTTPStatus = HTTPStatus.OK) -> Answer:
        """A value as JSON."""
        return cls(status, "application/json", json.dumps(value, ensure_ascii=False).encode() + b"\n")

    @classmethod
    def error(cls, status: HTTPStatus, message: str) -> Answer:
        """An error message as JSON."""
        return cls.json({"error": message}, status)


Handler = Callable[[Mapping[str, list[str]]], Answer]
"""Maps the query of a request to its response."""


class Site:
    """Paths and their handlers."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; for `asyncio.start_server`."""
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=LIMIT)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                try:
                    while (request := connection.next_event()) is h11.NEED_DATA:
                        connection.receive_data(await reader.read(LIMIT))
                    if not isinstance(request, h11.Request):
                        return
                    answer, with_body = self._answer(request)
                except h11.RemoteProtocolError as wrong:
                    answer, with_body = Answer.error(HTTPStatus(wrong.error_status_hint), str(wrong)), True
                fields = [("Content-Type", answer.kind), ("Content-Length", str(len(answer.body)))]
                head = h11.Response(
                    status_code=answer.status,
                    reason=answer.status.phrase.encode(),
                    headers=[*fields, ("Connection", "close")],
                )
                writer.write((connection.send(head) or b"") + (answer.body if with_body else b""))
                await writer.drain()
        except (TimeoutError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, request: h11.Request) -> tuple[Answer, bool]:
        """The response to a request, and whether to send its body."""
        method, target = request.method.decode("latin-1"), request.target.decode("latin-1")
        if method not in ("GET", "HEAD"):
            return Answer.error(HTTPStatus.METHOD_NOT_ALLOWED, f"{method} is not supported, only GET"), True
        path, _, query = target.partition("?")
        handler = self._handlers.get(path)
        if handler is None:
            known = ", ".join(self._handlers)
            return Answer.error(HTTPStatus.NOT_FOUND, f"no such path: {path}; available: {known}"), method == "GET"
        try:
            return handler(parse_qs(query)), method == "GET"
        except Exception as error:
            _log.exception("a request for %s failed", target)
            return Answer.error(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}"), True
