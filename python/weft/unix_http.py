"""HTTP over the Unix sockets of `weft-switchd` and `weft controller`, by aiohttp; all paths begin with ``/v1/``."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

_CONNECT_S = 5.0
"""Timeout of connecting, in seconds."""


@asynccontextmanager
async def request(path: Path, method: str, what: str, body: str | None = None) -> AsyncIterator[aiohttp.ClientResponse]:
    """The response of the socket `path` to one request, over a new connection; `what` is the path after ``/v1/``.

    A `body` is JSON. Only connecting has a timeout.

    Raises `TimeoutError` if connecting takes too long; `aiohttp.ClientError` if it fails, the connection is closed, or
    the response is not HTTP.
    """
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S)
    fields = {} if body is None else {"Content-Type": "application/json"}
    connector = aiohttp.UnixConnector(str(path), force_close=True)
    async with (
        aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
        session.request(method, f"http://weft/v1/{what}", data=body, headers=fields) as answer,
    ):
        yield answer


def reason(error: Exception) -> str:
    """Why a request failed, in a few words."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
