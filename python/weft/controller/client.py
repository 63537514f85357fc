"""Asking a running controller over its control socket; needs nothing of what the controller itself needs."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from http import HTTPStatus
from pathlib import Path
from typing import Any

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
    connection = http.client.HTTPConnection("weft", timeout=_PATIENCE_S)
    try:
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(_PATIENCE_S)
            client.connect(str(path))
            connection.sock = client
            connection.request("GET", f"/v1/{what}?limit={limit}")
            answer = connection.getresponse()
            said = json.loads(answer.read())
    except PermissionError:
        raise ControllerError(
            f"{path} may not be used by this user", "the same command as the controller's user"
        ) from None
    except TimeoutError:
        raise ControllerError(
            f"the controller on {path} has not answered for {_PATIENCE_S:.0f} s", "its log says what holds it up"
        ) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ControllerError(
            f"no controller answers on {path} ({reason})",
            "start one (`weft controller`), or say where it answers: --control PATH",
        ) from None
    if answer.status != HTTPStatus.OK:
        raise ControllerError(str(said.get("error", answer.reason)))
    assert isinstance(said, dict)
    return said
