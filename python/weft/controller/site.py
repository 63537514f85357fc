"""Answers to `GET` over HTTP, by aiohttp: a few requests a minute, one per connection.

Handlers run in the controller's event loop, in the thread that owns the core, so they need no lock. Clients are not
trusted: a connection ends after `_PATIENCE_S`, whether or not it has sent a request or read the response.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

_log = logging.getLogger(__name__)
_log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))

_MAX_LINE, _MAX_FIELD, _MAX_FIELDS = 4096, 1024, 32
"""Maximum sizes of the request line and of a header in bytes, and number of headers."""
_PATIENCE_S = 5.0
"""Maximum duration of a connection in seconds."""

Handler = Callable[[Mapping[str, str]], web.Response]
"""Maps the query of a request to its response."""


def as_json(value: Any, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
    """A value as JSON."""
    text = json.dumps(value, ensure_ascii=False) + "\n"
    return web.Response(text=text, status=status, content_type="application/json")


def refusal(status: HTTPStatus, message: str) -> web.Response:
    """An error message as JSON."""
    return as_json({"error": message}, status)


def connections(handlers: Mapping[str, Handler]) -> Callable[[], asyncio.Protocol]:
    """A factory for the protocol of each connection, for `loop.create_server`, from paths and their handlers."""
    loop = asyncio.get_running_loop()

    async def answered(request: web.BaseRequest) -> web.Response:
        answer = _answer(handlers, request)
        answer.force_close()
        return answer

    server = web.Server(
        answered,
        access_log=None,
        logger=_log,
        lingering_time=0,
        max_line_size=_MAX_LINE,
        max_field_size=_MAX_FIELD,
        max_headers=_MAX_FIELDS,
    )

    def connection() -> asyncio.Protocol:
        made = server()

        def end() -> None:
            if made.transport is not None:
                made.transport.abort()

        loop.call_later(_PATIENCE_S, end)
        return made

    return connection


def _answer(handlers: Mapping[str, Handler], request: web.BaseRequest) -> web.Response:
    if request.method not in ("GET", "HEAD"):
        return refusal(HTTPStatus.METHOD_NOT_ALLOWED, f"{request.method} is not supported, only GET")
    handler = handlers.get(request.path)
    if handler is None:
        known = ", ".join(handlers)
        return refusal(HTTPStatus.NOT_FOUND, f"no such path: {request.path}; available: {known}")
    try:
        return handler(request.query)
    except Exception as error:
        _log.exception("a request for %s failed", request.path_qs)
        return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}")
