"""The control socket: HTTP over a Unix socket, as in `weft-switchd`, e.g. `GET /v1/paths?limit=100`.

Only the owner can access the socket (mode 0600).
"""

import asyncio
import contextlib
import os
import shlex
import socket
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path

from aiohttp import web

from . import private, site, status
from .errors import ControllerError
from .service import Service
from .settings import default_control

_LIMIT = 1000
"""Default number of rows."""


async def serve(service: Service, path: Path) -> asyncio.AbstractServer:
    """Serve requests on the socket `path`.

    Raises `ControllerError` if another controller uses the socket, it cannot be created, or its directory does not
    exist (only the default one is created).
    """
    handlers = {f"/v1/{what}": partial(_show, service, what) for what in status.WHAT}
    try:
        if path.parent == default_control().parent:
            path.parent.mkdir(exist_ok=True, mode=0o755 if os.geteuid() == 0 else 0o700)
            private.check(path.parent)
        elif not path.parent.is_dir():
            raise ControllerError(
                f"--control: no such directory: {path.parent}",
                f"`mkdir -p {shlex.quote(str(path.parent))}` first, or --control with a path in an existing directory",
            )
        if path.is_socket():
            if _answers(path):
                raise ControllerError(
                    f"--control: another controller uses {path}",
                    "stop it, or use another socket: --control PATH, here and for `weft controller show`",
                )
            path.unlink()
        return await asyncio.get_running_loop().create_unix_server(site.connections(handlers), sock=_listening(path))
    except OSError as error:
        raise ControllerError(
            f"--control: cannot create the socket {path}: {error.strerror or error}",
            "--control with a path in a directory you own",
        ) from None


def _listening(path: Path) -> socket.socket:
    """A socket that accepts connections from the moment `path` exists.

    Raises `OSError`, also if `path` exists.
    """
    temporary = path.with_name(f".{os.getpid():x}")
    server = socket.socket(socket.AF_UNIX)
    try:
        before = os.umask(0o177)
        try:
            server.bind(str(temporary))
        finally:
            os.umask(before)
        try:
            server.listen()
            path.hardlink_to(temporary)
        finally:
            temporary.unlink()
    except BaseException:
        server.close()
        raise
    return server


def _show(service: Service, what: str, query: Mapping[str, str]) -> web.Response:
    text = query.get("limit", str(_LIMIT))
    if not text.isascii() or not text.isdigit():
        return site.refusal(HTTPStatus.BAD_REQUEST, f"limit must be a whole number, not `{text}`")
    return site.as_json(status.show(service, what, min(int(text), 10_000_000)))


def _answers(path: Path) -> bool:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
        client.settimeout(1)
        try:
            client.connect(str(path))
        except OSError:
            return False
        return True
