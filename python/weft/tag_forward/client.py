"""Asynchronous client of a daemon's control socket: HTTP with JSON over a Unix socket (docs/switchd.md).

Requests to a daemon are sent one at a time; its notices arrive over a persistent connection.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import aiohttp

from .. import unix_http
from .errors import RefusedError, UnreachableError

PATIENCE_S = 30.0
"""Timeout of a response in seconds: hundreds of thousands of rules take a daemon some time."""
PROMPT_S = 5.0
"""Timeout of a response that needs no work, in seconds."""
_MOST = 1 << 30
"""Maximum size of a response in bytes."""


class Daemon:
    """The daemon of one switch, at the path of its control socket."""

    def __init__(self, switch: str, path: Path) -> None:
        self.switch, self.path = switch, path
        self._turn = asyncio.Lock()

    async def ask(self, method: str, what: str, body: str | None = None, patience: float = PATIENCE_S) -> Any:
        """The daemon's response to a request, within `patience` seconds; `what` is the path after ``/v1/``.

        Raises `UnreachableError` without a response in time, `RefusedError` if the daemon refused the request.
        """
        async with self._turn:
            try:
                async with asyncio.timeout(patience), unix_http.request(self.path, method, what, body) as reply:
                    status, content = reply.status, bytearray()
                    async for part in reply.content.iter_any():
                        content += part
                        if len(content) > _MOST:
                            raise ValueError(f"response larger than {_MOST} bytes")
                answer = json.loads(content) if content.strip() else None
            except TimeoutError:
                raise UnreachableError(f"{self.switch} did not respond within {patience:g} s ({self.path})") from None
            except (aiohttp.ClientError, ValueError) as wrong:
                raise self._unreachable(wrong) from None
        if not 200 <= status < 300:
            said = answer.get("error") if isinstance(answer, dict) else None
            raise RefusedError(f"{self.switch} refused {method} /v1/{what} ({status}): {said or answer}", status)
        return answer

    async def follow(self, what: str) -> AsyncGenerator[Any, None]:
        """The daemon's stream `what`, one object per line, until it ends.

        Raises `UnreachableError` without a response, `RefusedError` if the daemon refused the request.
        """
        try:
            async with unix_http.request(self.path, "GET", what) as reply:
                if reply.status != 200:
                    raise RefusedError(f"{self.switch} refused GET /v1/{what} ({reply.status})", reply.status)
                async for line in reply.content:
                    yield json.loads(line)
        except (aiohttp.ClientError, TimeoutError, ValueError) as wrong:
            raise self._unreachable(wrong) from None

    def _unreachable(self, wrong: Exception) -> UnreachableError:
        return UnreachableError(f"{self.switch} does not respond on {self.path}: {unix_http.reason(wrong)}")
