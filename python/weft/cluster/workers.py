"""The workers of a cluster: which of them can carry out runs, and why the others cannot."""

import asyncio
import pydoc
import time
from collections.abc import Callable
from typing import Any

from distributed import Client

from .. import _weft
from ..labels import plural, visible
from . import host
from .errors import ClusterError

_LOOK_SECONDS = 1.0
"""Interval between queries of the scheduler for its workers."""
_ANSWER_SECONDS = 20.0
"""Maximum time for the answer of one worker."""
_LEAVE_SECONDS = 5.0
"""Maximum time for workers to remove their files at the end; later ones do so when notified of the end."""
_GRACE_SECONDS = 5.0
"""How long a sweep continues without a suitable worker while there are others: a killed worker is restarted."""
_EVENTS_PER_SECOND = 100
"""Progress events that all workers together send, about."""
_SHOWN = 5
"""Number of unsuitable workers that a message lists."""


class Workers:
    """The workers of a cluster, kept up to date by `watch`; `usable` has the threads of each that carries out runs.

    `renewed` is set and replaced when workers have joined; `assigned` are the tasks that they had then, by key.
    """

    def __init__(self, client: Client, session: str, where: str, threads: int, warn: Callable[[str], None]) -> None:
        """`session` names the command, `where` the cluster in messages; a run needs `threads` threads."""
        self.usable: dict[str, int] = {}
        self.renewed = asyncio.Event()
        self.assigned: set[Any] = set()
        self._client = client
        self._session = session
        self._where = where
        self._threads = threads
        self._warn = warn
        self._joining: set[str] = set()
        self._refused: dict[str, str] = {}
        self._looking = asyncio.Lock()
        self._since = time.monotonic()
        self._warned = False

    @property
    def slots(self) -> int:
        """Number of runs that the workers can carry out at a time."""
        return sum(threads // self._threads for threads in self.usable.values())

    async def gather(self) -> None:
        """Wait until a worker is usable. Raises `ClusterError` if there are workers, but none that is suitable."""
        while not self.usable:
            await self.look()
            self.check()
            if not self.usable:
                await asyncio.sleep(_LOOK_SECONDS / 4)

    async def watch(self) -> None:
        """Keep the lists up to date, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self.look()
            except OSError:
                if self._client.status != "running":
                    raise

    async def look(self) -> None:
        """Ask the scheduler for its workers, and let new ones take part if they are suitable."""
        async with self._looking:
            await self._look()

    def hears(self, address: str) -> bool:
        """Whether a worker takes part: it may have runs, and send events, before `join` has answered."""
        return address in self.usable or address in self._joining

    async def _look(self) -> None:
        threads: dict[str, int] = await self._client.nthreads()
        for address in sorted(self.usable.keys() - threads.keys()):
            del self.usable[address]
            self._warn(f"worker {address} has left: others repeat its unfinished runs")
        for address in self._refused.keys() - threads.keys():
            del self._refused[address]
        new = threads.keys() - self.usable.keys() - self._refused.keys()
        interval = max(0.5, len(threads) / _EVENTS_PER_SECOND)
        reasons = await asyncio.gather(*(self._meet(address, threads[address], interval) for address in new))
        for address, reason in zip(new, reasons, strict=True):
            self._joining.discard(address)
            if reason is None:
                self.usable[address] = threads[address]
            else:
                await self._refuse(address, reason)
        if None in reasons:
            processing = await self._client.processing()
            self.assigned = {key for keys in processing.values() for key in keys}
            self.renewed.set()
            self.renewed = asyncio.Event()
        if self.usable:
            self._since = time.monotonic()
            self._warned = False

    async def exclude(self, address: str, reason: str) -> None:
        """Use a worker no more."""
        if self.usable.pop(address, None) is not None:
            await self._refuse(address, reason)

    def check(self) -> None:
        """Raise an error if workers are there but none is suitable; warn if there is none.

        Raises `ClusterError` if no worker has been suitable for some seconds.
        """
        if self.usable or time.monotonic() - self._since < _GRACE_SECONDS:
            return
        if self._refused:
            shown = "; ".join(list(self._refused.values())[:_SHOWN])
            more = f"; and {len(self._refused) - _SHOWN} more" if len(self._refused) > _SHOWN else ""
            raise ClusterError(f"no worker of {self._where} can carry out runs: {shown}{more}")
        if not self._warned:
            self._warned = True
            self._warn(f"{self._where} has no workers; waiting for one to join (Ctrl-C stops)")

    async def leave(self) -> None:
        """End the part of all workers in the session; those of a lost scheduler end with it."""
        if self._client.status != "running" or not self.usable:
            return
        calls = [asyncio.create_task(self._call(address, host.leave, self._session)) for address in self.usable]
        await asyncio.wait(calls, timeout=_LEAVE_SECONDS)
        for call in calls:
            call.cancel()

    async def _meet(self, address: str, threads: int, interval: float) -> str | None:
        """Let a worker take part; the reason why not, if it is not suitable."""
        # Only names of Python's library: a worker of another version may have no `weft.cluster`.
        found = await self._call(address, pydoc.locate, "weft.__version__")
        if found is None:
            return f"has no Weft; this is {_weft.version()}"
        if isinstance(found, BaseException):
            return f"does not answer: {visible(str(found))[:200]}"
        if found != _weft.version():
            return f"has Weft {visible(str(found))[:40]}, this is {_weft.version()}"
        if threads < self._threads:
            return f"has {plural(threads, 'thread')}, a run needs {self._threads} (--threads)"
        self._joining.add(address)
        joined = await self._call(address, host.join, self._session, interval)
        return None if joined is None else f"cannot take part: {visible(str(joined))[:200]}"

    async def _call(self, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a function called on a worker, or the exception."""
        try:
            run = self._client.run(function, *arguments, workers=[address], on_error="return")
            return (await asyncio.wait_for(run, _ANSWER_SECONDS))[address]
        except Exception as error:
            return error

    async def _refuse(self, address: str, reason: str) -> None:
        name = await self._name(address)
        called = address if name in ("", address) else f"{name} ({address})"
        self._refused[address] = f"worker {called} {reason}"
        self._warn(f"{self._refused[address]}: it gets no runs")

    async def _name(self, address: str) -> str:
        assert self._client.scheduler is not None
        info = await self._client.scheduler.identity(n_workers=-1)
        return visible(str(info["workers"].get(address, {}).get("name", "")))[:100]
