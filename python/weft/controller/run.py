"""Starts a controller from its settings and runs it until it is stopped."""

import asyncio
import contextlib
import gc
import logging
import signal
from typing import Any

from .._weft import Controller
from . import control
from .service import Service
from .settings import Settings

_log = logging.getLogger(__name__)


def run(settings: Settings) -> None:
    """Run until SIGINT or SIGTERM.

    Raises `ControllerError` if a required address, socket or package is not available.
    """
    asyncio.run(_run(settings))


def _unexpected(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an unexpected error; it ends only the callback it occurred in, not the controller."""
    _log.error("internal error: %s; please report this", context.get("message"), exc_info=context.get("exception"))


async def _run(settings: Settings) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_unexpected)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def make_core() -> Controller:
        return Controller(settings.for_core())

    service = Service(settings, make_core, loop)
    # Existing objects are permanent: keep the garbage collector from scanning them during path setup.
    gc.freeze()
    servers: list[asyncio.AbstractServer] = []
    try:
        servers.append(await control.serve(service, settings.control))
        if settings.metrics is not None:
            from . import metrics

            servers.append(await metrics.serve(service, settings.metrics))
            _log.info("metrics are at http://%s/metrics", settings.metrics)
        address = await service.listen()
        expected = "" if settings.fabric is None else f"; expecting {settings.fabric.name}"
        waits = "" if service.is_leading else "; standing by until no other controller is active"
        _log.info("%s forwarding, listening on %s%s%s", settings.forwarding, address, expected, waits)
        await stop.wait()
        _log.info("stopping; switches keep their rules")
    finally:
        service.close()
        for server in servers:
            server.close()
        if servers:
            with contextlib.suppress(OSError):
                settings.control.unlink()
