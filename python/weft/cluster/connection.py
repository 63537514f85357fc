"""The connection to a cluster: `Cluster` runs scenarios there, from a thread with an event loop of its own.

That thread keeps the connection alive between the parts of a study, and leaves Ctrl-C to the main thread.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import wait
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .. import _weft
from ..errors import OutputError, ScenarioError
from ..scenario import Outcome, Scenario, refuse_file
from .address import Address, parse
from .errors import ClusterError, SchedulerLostError

try:
    from distributed import Client, LocalCluster
    from distributed.client import AllExit
    from distributed.security import Security
except ImportError as error:
    raise ClusterError(f"sweeps on a cluster need another package: {error}", "pip install 'weft[cluster]'") from None

from .sweep import Sweep
from .workers import Workers

_T = TypeVar("_T")

_CONNECT_SECONDS = 10
"""Maximum time to reach the scheduler."""
_REFUSALS, _REFUSAL_SECONDS = 3, 0.3
"""Number of refused connections after which nobody listens at an address, and the time between them."""
_START_SECONDS = 120
"""Maximum time to start the workers of this machine."""
_END_SECONDS = 30
"""Maximum time to take leave of the workers and to end those of this machine."""
_TICK_SECONDS = 0.2
"""Longest time for which Ctrl-C is not seen."""
_NO_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Makes workers of this machine ignore Ctrl-C: this process stops them."""


class _RaisedError(Exception):
    """The caller's `progress` raised an exception."""


class Cluster:
    """The workers of a Dask cluster; a context manager.

        with Cluster("tcp://10.0.0.1:8786") as cluster:
            scenario.run("results/mine", cluster=cluster)

    A script that starts workers with ``local:N`` needs ``if __name__ == "__main__":``, as with `multiprocessing`.

    Attributes:
        address: The scheduler, or the number of workers to start here.
    """

    def __init__(self, address: str, *, threads: int | None = None, warn: Callable[[str], None] | None = None) -> None:
        """Check the address.

        Args:
            address: ``tcp://HOST:PORT``, the path of a scheduler file, or ``local:N`` to start N workers here.
            threads: Threads within each run, 1 by default; a run takes as many of its worker.
            warn: Called with warnings about workers.

        Raises:
            ClusterError: The address is not valid.
        """
        self.address: Address = parse(address)
        self._threads = threads or 1
        self._warn = warn if warn is not None else logging.getLogger(__name__).warning
        self._session = f"weft-{uuid.uuid4().hex}"
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_report)
        self._thread = threading.Thread(target=self._loop.run_forever, name="weft-cluster", daemon=True)
        self._open = AsyncExitStack()

    def __enter__(self) -> Cluster:
        """`open`."""
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """`close`."""
        self.close()

    def open(self) -> None:
        """Connect, and wait for a suitable worker.

        Raises `ClusterError` if the scheduler cannot be reached, or there are workers, but no suitable one.
        """
        _silence()
        self._thread.start()
        try:
            self._do(self._connect())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove all files from the workers, end those of this machine, and disconnect."""
        try:
            self._do(asyncio.wait_for(self._open.aclose(), _END_SECONDS))
        except (OSError, TimeoutError):
            # The scheduler is gone; workers end with it and remove their files.
            pass
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_END_SECONDS)

    def execute(
        self,
        scenario: Scenario,
        out: str | Path,
        *,
        jobs: int | None = None,
        seeds: Sequence[int] | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> Outcome:
        """Like `Scenario.execute`, on the workers; `jobs` limits the number of runs at a time over all of them.

        Raises:
            SchedulerLostError: The connection to the scheduler broke; finished runs are kept.
            ClusterError: No suitable worker is left.
        """
        refuse_file(Path(out))
        if seeds is not None:
            scenario = scenario.with_sets([f"run.seeds={list(seeds)}"])
        raised: list[BaseException] = []

        def on_event(event: dict[str, Any]) -> None:
            try:
                if progress is not None:
                    progress(event)
            except BaseException as error:
                # A KeyboardInterrupt would end the event loop.
                raised.append(error)
                raise _RaisedError from None

        try:
            directory = _weft.SweepDirectory(*scenario.source, str(out))
            sweep = Sweep(self._client, self._workers, self._session, scenario, directory, on_event)
            try:
                return self._do(sweep.run(self._threads, jobs))
            except SchedulerLostError as error:
                raise SchedulerLostError(f"{error} at {self.address.text}") from None
            except _RaisedError:
                raise raised[0] from None
            finally:
                directory.close(sweep.timings)
        except (OSError, ScenarioError) as error:
            scenario.check()
            if isinstance(error, ScenarioError):
                raise
            raise OutputError(str(error)) from error

    def _do(self, work: Coroutine[Any, Any, _T]) -> _T:
        """The outcome of a coroutine, which is cancelled by Ctrl-C and then ended properly."""
        over = threading.Event()

        async def supervised() -> _T:
            try:
                return await work
            finally:
                over.set()

        future = asyncio.run_coroutine_threadsafe(supervised(), self._loop)
        try:
            # In slices: with the handler that Polars installs, Ctrl-C does not interrupt a wait without a timeout.
            while not wait({future}, _TICK_SECONDS).done:
                pass
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            end = time.monotonic() + _END_SECONDS
            while not over.wait(_TICK_SECONDS) and time.monotonic() < end:
                pass
            raise

    async def _connect(self) -> None:
        address, security, where = self.address.scheduler, None, self.address.text
        if self.address.local:
            # A scheduler carries out whatever reaches its port: only this process has the key of the connection.
            security = Security.temporary()
            directory = self._open.enter_context(
                tempfile.TemporaryDirectory(prefix="weft-", ignore_cleanup_errors=True)
            )
            local = LocalCluster(
                n_workers=self.address.local,
                threads_per_worker=self._threads,
                security=security,
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                local_directory=directory,
                preload=[_NO_INTERRUPTS],
                silence_logs=logging.CRITICAL,
                asynchronous=True,
            )
            try:
                await asyncio.wait_for(self._open.enter_async_context(local), _START_SECONDS)
            except TimeoutError:
                raise ClusterError(
                    f"the {self.address.local} workers on this machine were not ready within {_START_SECONDS} s",
                    "a smaller number, or run without --dask",
                ) from None
            address = local.scheduler_address
        else:
            await self._knock(str(address))
        client = Client(address, security=security, timeout=_CONNECT_SECONDS, asynchronous=True, set_as_default=False)
        try:
            self._client = await asyncio.wait_for(self._open.enter_async_context(client), _CONNECT_SECONDS + 5)
        except (OSError, TimeoutError) as error:
            raise self._no_answer(error) from None
        self._workers = Workers(self._client, self._session, where, self._threads, self._warn)
        self._open.push_async_callback(self._workers.leave)
        await self._workers.gather()

    async def _knock(self, address: str) -> None:
        """Find out early that nobody listens at an address: Dask would keep trying until its timeout."""
        parts = urlsplit(address)
        for attempt in range(_REFUSALS):
            await asyncio.sleep(attempt and _REFUSAL_SECONDS)
            try:
                opening = asyncio.open_connection(parts.hostname, parts.port)
                _, writer = await asyncio.wait_for(opening, _CONNECT_SECONDS)
            except (OSError, TimeoutError) as error:
                refused = error
                if not isinstance(error, ConnectionRefusedError):
                    break
            else:
                writer.close()
                return
        raise self._no_answer(refused) from None

    def _no_answer(self, error: Exception) -> ClusterError:
        why = getattr(error, "strerror", None) or str(error) or "timeout"
        return ClusterError(
            f"no Dask scheduler answers at {self.address.text}: {why}",
            "start one with `dask scheduler`, check the address and the firewall, or use this machine: --dask local:2",
        )


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report errors that no coroutine has seen, except those with which Dask ends its own tasks.

    When a request of it is cancelled as the worker leaves, the tasks that waited for the request's keys end with
    `AllExit`, and nobody waits for them any more.
    """
    if not isinstance(context.get("exception"), AllExit):
        loop.default_exception_handler(context)


def _silence() -> None:
    """Keep Dask's log from the terminal: the errors of this package say all that concerns the user."""
    for name in logging.root.manager.loggerDict:
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
