"""The control socket of a daemon, asked from an event loop: HTTP with JSON over a Unix socket (docs/switchd.md).

Questions are asked one after another; what a daemon tells by itself comes over a connection that stays.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import aiohttp

from .. import unix_http
from .errors import RefusedError, UnreachableError

PATIENCE_S = 30.0
"""Seconds that an answer may take: a daemon needs some for hundreds of thousands of rules."""
PROMPT_S = 5.0
"""Seconds that an answer may take which asks nothing of a daemon but to be there."""
_MOST = 1 << 30
"""Bytes of an answer at most."""


class Daemon:
    """The daemon of one switch.

    Attributes:
        switch: The switch's name.
        path: Of the socket.
    """

    def __init__(self, switch: str, path: Path) -> None:
        self.switch, self.path = switch, path
        self._turn = asyncio.Lock()

    async def ask(self, method: str, what: str, body: str | None = None, patience: float = PATIENCE_S) -> Any:
        """What the daemon answers to a request within `patience` seconds; `what` is behind ``/v1/``.

        Raises:
            UnreachableError: Nobody answers, or not in time.
            RefusedError: The daemon refuses it.
        """
        async with self._turn:
            try:
                async with asyncio.timeout(patience), unix_http.request(self.path, method, what, body) as reply:
                    status, content = reply.status, bytearray()
                    async for part in reply.content.iter_any():
                        content += part
                        if len(content) > _MOST:
                            raise ValueError(f"an answer of more than {_MOST} bytes is too long")
                answer = json.loads(content) if content.strip() else None
            except TimeoutError:
                raise UnreachableError(f"{self.switch} has not answered for {patience:g} s ({self.path})") from None
            except (aiohttp.ClientError, ValueError) as wrong:
                raise self._unreachable(wrong) from None
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
            async with unix_http.request(self.path, "GET", what) as reply:
                if reply.status != 200:
                    raise RefusedError(f"{self.switch} refused GET /v1/{what} ({reply.status})", reply.status)
                async for line in reply.content:
                    yield json.loads(line)
        except (aiohttp.ClientError, TimeoutError, ValueError) as wrong:
            raise self._unreachable(wrong) from None

    def _unreachable(self, wrong: Exception) -> UnreachableError:
        return UnreachableError(f"{self.switch} does not answer on {self.path}: {unix_http.reason(wrong)}")
