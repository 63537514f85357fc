"""Queries a running controller over its control socket, without the controller's own dependencies."""

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
"""Timeout of a response, in seconds."""


def ask(path: Path, what: str, limit: int) -> dict[str, Any]:
    """Query a running controller.

    Raises `ControllerError` without a response in time or permission, or if the socket may belong to another user.
    """
    private.check(path.parent)
    try:
        status, said = asyncio.run(_ask(path, f"{what}?limit={limit}"))
    except TimeoutError:
        raise ControllerError(
            f"the controller on {path} did not respond within {_PATIENCE_S:.0f} s", "check its log", begun=True
        ) from None
    except (aiohttp.ClientError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM):
            raise ControllerError(f"{path}: permission denied", "run this command as the controller's user") from None
        raise ControllerError(
            f"no controller responds on {path} ({unix_http.reason(error)})",
            "start one (`weft controller`), or give its socket: --control PATH",
        ) from None
    if status != HTTPStatus.OK:
        raise ControllerError(str(said.get("error", status)))
    assert isinstance(said, dict)
    return said


async def _ask(path: Path, what: str) -> tuple[int, Any]:
    async with asyncio.timeout(_PATIENCE_S), unix_http.request(path, "GET", what) as answer:
        return answer.status, await answer.json()
