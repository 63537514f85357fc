"""From settings to a controller that runs until it is told to stop."""

from __future__ import annotations

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

    Raises:
        ControllerError: An address, a socket or a package that it needs is not to be had.
    """
    asyncio.run(_run(settings))


def _unexpected(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An error that nobody has foreseen ends what it happened in, not the controller."""
    _log.error("internal error: %s; please report this", context.get("message"), exc_info=context.get("exception"))


async def _run(settings: Settings) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_unexpected)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def make_core() -> Controller:
        return Controller(
            settings.for_core(),
            install_deadline_s=settings.install_deadline_s,
            packets_per_port_s=round(settings.packets_per_port_s),
        )

    service = Service(settings, make_core, loop)
    # What is there now stays: the collector need not look at it again while paths wait.
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
        waits = "" if service.is_leading else "; standing by until no other controller steers"
        _log.info("%s forwarding, listening on %s%s%s", settings.forwarding, address, expected, waits)
        await stop.wait()
        _log.info("stopping; switches keep their rules and go on with the paths they have")
    finally:
        service.close()
        for server in servers:
            server.close()
        if servers:
            with contextlib.suppress(OSError):
                settings.control.unlink()
