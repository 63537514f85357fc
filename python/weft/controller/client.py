"""Asking a running controller over its control socket; needs nothing of what the controller itself needs."""

from __future__ import annotations

import asyncio
import errno
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp

from .. import unix_http
from . import private
from .errors import ControllerError

_PATIENCE_S = 10.0
"""Seconds that an answer may take."""


def ask(path: Path, what: str, limit: int) -> dict[str, Any]:
    """Ask a running controller.

    Raises:
        ControllerError: Nobody answers, or not this user, or not in time; or the socket may be somebody else's.
    """
    private.check(path.parent)
    try:
        status, said = asyncio.run(_ask(path, f"{what}?limit={limit}"))
    except TimeoutError:
        raise ControllerError(
            f"the controller on {path} has not answered for {_PATIENCE_S:.0f} s", "its log says what holds it up"
        ) from None
    except (aiohttp.ClientError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM):
            raise ControllerError(
                f"{path} may not be used by this user", "the same command as the controller's user"
            ) from None
        raise ControllerError(
            f"no controller answers on {path} ({unix_http.reason(error)})",
            "start one (`weft controller`), or say where it answers: --control PATH",
        ) from None
    if status != HTTPStatus.OK:
        raise ControllerError(str(said.get("error", status)))
    assert isinstance(said, dict)
    return said


async def _ask(path: Path, what: str) -> tuple[int, Any]:
    async with asyncio.timeout(_PATIENCE_S), unix_http.request(path, "GET", what) as answer:
        return answer.status, await answer.json()
