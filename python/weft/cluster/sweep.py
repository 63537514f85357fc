"""The runs of a scenario on the workers of a cluster: sent, followed, and put into the result directory."""

import asyncio
import json
import math
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError
from itertools import count
from pathlib import Path
from typing import Any

from distributed import Client, Future, KilledWorker

from .. import _weft
from ..labels import plural, visible
from ..scenario import Outcome, Point, Scenario
from . import host, transfer
from .errors import ClusterError, SchedulerLostError
from .workers import Workers

_TICK_SECONDS = 0.2
"""How often progress is passed on."""
_AHEAD = 2
"""Runs that are given to Dask, per run that the workers carry out at a time, so that no worker waits for the next."""
_TRIES = 4
"""How often a run may get lost before it fails, as in Dask's default."""
_FETCHED = 4
"""Number of large results fetched at a time."""
_NUMBERS = ("fraction", "flows_done", "flows_total", "packet_hops", "sim_time_s")
_TIMING = ("packet_hops", "wall_seconds", "cpu_seconds", "packet_hops_per_second", "state_bytes")


class _FullError(Exception):
    """The disk of this machine is full."""


class _LostError(Exception):
    """The result of a run got lost."""


class Sweep:
    """The missing runs of a result directory."""

    def __init__(
        self,
        client: Client,
        workers: Workers,
        session: str,
        scenario: Scenario,
        directory: _weft.SweepDirectory,
        on_event: Callable[[dict[str, Any]], None],
    ) -> None:
        """`on_event` gets events in the format of `weft.progress`; it may raise to stop the sweep."""
        self.timings: list[str] = []
        self._client = client
        self._workers = workers
        self._session = session
        self._scenario = scenario
        self._directory = directory
        self._on_event = on_event
        self._hashes = {sha for _, sha, _ in directory.inputs()}
        self._name = uuid.uuid4().hex[:8]
        self._outcome = Outcome(0, 0, [])
        self._number = -1
        self._events: deque[dict[str, Any]] = deque(maxlen=10_000)
        self._over: set[str] = set()
        self._tasks: dict[str, Point] = {}
        self._sent: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._fetching = asyncio.Semaphore(_FETCHED)

    async def run(self, threads: int, jobs: int | None) -> Outcome:
        """Carry out all missing runs, each on `threads` threads, at most `jobs` at a time.

        Raises `ClusterError` if no suitable worker is left, `SchedulerLostError` if the scheduler is lost.
        """
        points = self._scenario.points()
        missing = set(self._directory.missing())
        waiting = deque(point for point in points if point.id in missing)
        self._outcome = Outcome(0, len(points) - len(waiting), [])
        self._on_event({"event": "sweep", "total": len(points)})
        for _ in range(self._outcome.skipped):
            self._on_event({"event": "run_skipped"})
        order = self._order(threads)
        self._client.subscribe_topic(self._session, self._hear)
        active: set[asyncio.Task[None]] = {asyncio.create_task(self._workers.watch())}
        try:
            while waiting or len(active) > 1:
                limit = jobs if jobs is not None else _AHEAD * self._workers.slots
                while waiting and len(active) - 1 < limit:
                    active.add(asyncio.create_task(self._carry_out(waiting.popleft(), order)))
                over, _ = await asyncio.wait(active, timeout=_TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                for task in over:
                    active.remove(task)
                    task.result()
                self._workers.check()
                self._tell()
        except _FullError:
            return self._outcome
        except (OSError, CancelledError) as error:
            if self._client.status == "running" and isinstance(error, OSError):
                raise ClusterError(f"Dask failed: {error}") from error
            raise SchedulerLostError("lost the connection to the scheduler") from None
        finally:
            await self._end(active)
        return self._outcome

    def _tell(self) -> None:
        if (number := len(self._workers.usable)) != self._number:
            self._number = number
            self._on_event({"event": "workers", "number": number})
        while self._events:
            event = self._events.popleft()
            # A run that is over must not become active again.
            if event["run_id"] not in self._over:
                self._on_event(event)

    def _order(self, threads: int) -> dict[str, Any]:
        text, name, _, sets = self._scenario.source
        files = {file: sha for file, sha, _ in self._directory.inputs()}
        order = {"session": self._session, "text": text, "name": name, "sets": sets, "files": files}
        return order | {"threads": threads}

    async def _end(self, active: set[asyncio.Task[None]]) -> None:
        """End the tasks that still run here; cancelled tasks end on the workers, too."""
        tasks = [*active, *self._sent.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_out(self, point: Point, order: dict[str, Any]) -> None:
        """Have a run carried out, as often as it takes."""
        lost = 0
        for number in count(1):
            key = f"{self._session}-{self._name}-{point.id}-{number}"
            task = self._submit(key, order | {"run": point.id})
            self._tasks[key] = point
            try:
                if await self._attempt(point, key, task):
                    return
            except _LostError as error:
                lost += 1
                if lost == _TRIES:
                    self._failed(point, f"it was lost {_TRIES} times, the last time because {error}")
                    return
            except (KilledWorker, transfer.UnsoundError) as error:
                self._failed(point, _reason(error))
                return
            finally:
                del self._tasks[key]
                # Also tells the worker that it can remove the files.
                task.release()

    def _submit(self, key: str, order: dict[str, Any]) -> Future[dict[str, Any]]:
        resources = {host.RESOURCE: order["threads"]}
        return self._client.submit(host.carry_out, order, key=key, resources=resources, pure=False)

    async def _answer(self, key: str, task: Future[dict[str, Any]]) -> dict[str, Any]:
        """The answer of a task.

        Raises `_LostError` if no worker has it: Dask leaves a task alone that it could give to nobody, even if a
        suitable worker joins later.
        """
        answer = asyncio.create_task(_result(task))
        renewed = asyncio.create_task(self._workers.renewed.wait())
        try:
            while not answer.done():
                await asyncio.wait({answer, renewed}, return_when=asyncio.FIRST_COMPLETED)
                if renewed.done() and not answer.done():
                    if task.status == "pending" and key not in self._workers.assigned:
                        raise _LostError("its worker died")
                    renewed = asyncio.create_task(self._workers.renewed.wait())
            return answer.result()
        except (KilledWorker, CancelledError, OSError, _LostError, transfer.UnsoundError):
            raise
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
        finally:
            answer.cancel()
            renewed.cancel()

    async def _attempt(self, point: Point, key: str, task: Future[dict[str, Any]]) -> bool:
        """Await a task and store its result; false if the worker cannot carry out any run.

        Raises `_LostError` if the result got lost, `KilledWorker` or `UnsoundError` if the run has failed.
        """
        answer = await self._answer(key, task)
        worker = str(answer.get("worker"))
        if "unfit" in answer:
            await self._workers.exclude(worker, visible(str(answer["unfit"]))[:500])
            return False
        if "stopped" in answer:
            raise _LostError(f"worker {worker} stopped it")
        if "error" in answer:
            self._failed(point, visible(str(answer["error"])))
            return True
        try:
            if "contents" in answer:
                await asyncio.to_thread(self._store, point, transfer.check_contents(answer["contents"]))
            else:
                await self._fetch(point, worker, answer)
        except transfer.LocalError as error:
            self._failed(point, str(error), disk_full=error.is_disk_full)
            if error.is_disk_full:
                raise _FullError from None
        else:
            self._done(point, answer)
        return True

    def _store(self, point: Point, contents: dict[str, bytes]) -> None:
        """Store a small result. Raises `LocalError` if it cannot be stored."""
        with transfer.placed(self._directory, point.id) as into:
            for name, content in contents.items():
                transfer.write(into / name, content, 0)

    async def _fetch(self, point: Point, worker: str, answer: dict[str, Any]) -> None:
        """Fetch a large result and store it.

        Raises `_LostError` if the worker has gone or cannot send it, `LocalError` if it cannot be stored.
        """
        files, token = transfer.check_sizes(answer.get("files")), str(answer.get("token"))
        async with self._fetching:
            with transfer.placed(self._directory, point.id) as into:
                await self._receive(worker, token, files, into)

    async def _receive(self, worker: str, token: str, files: dict[str, int], into: Path) -> None:
        """Copy a result, as long as the worker is there."""
        fetch = asyncio.create_task(transfer.receive(self._client, self._session, worker, token, files, into))
        try:
            while not fetch.done():
                await asyncio.wait({fetch}, timeout=_TICK_SECONDS)
                if not fetch.done() and not self._workers.hears(worker):
                    raise _LostError(f"worker {worker} has gone")
            await fetch
        except (_LostError, transfer.UnsoundError, transfer.LocalError):
            raise
        except Exception as error:
            if self._client.status != "running":
                raise
            raise _LostError(f"worker {worker} could not send it: {error}") from error
        finally:
            fetch.cancel()

    def _done(self, point: Point, answer: dict[str, Any]) -> None:
        self._end_of(point)
        timing = answer.get("timing")
        costs = _numbers(timing if isinstance(timing, dict) else {}, _TIMING)
        self.timings.append(json.dumps({"run": point.id, **costs}))
        if why := answer.get("one_thread"):
            self._on_event({"event": "one_thread", "why": visible(str(why))[:200]})
        event = {"event": "run_done", "run_id": point.id, "label": point.label, "fraction": 1.0}
        self._on_event(event | {"packet_hops": costs.get("packet_hops", 0)})
        self._outcome = Outcome(self._outcome.done + 1, self._outcome.skipped, self._outcome.failed)

    def _failed(self, point: Point, error: str, *, disk_full: bool = False) -> None:
        self._end_of(point)
        failure = {"run_id": point.id, "label": point.label, "error": error, "disk_full": disk_full}
        self._outcome.failed.append(failure)
        self._on_event({"event": "run_failed", **failure})

    def _end_of(self, point: Point) -> None:
        """Pass on the last progress of a run: from now on there is none."""
        self._tell()
        self._over.add(point.id)

    async def _hear(self, event: tuple[float, Any]) -> None:
        """Take in an event of a worker: how far a run is, or which input file it needs."""
        said = event[1]
        if not isinstance(said, dict) or not self._workers.hears(worker := str(said.get("worker"))):
            return
        if point := self._tasks.get(str(said.get("key"))):
            numbers = _numbers(said, _NUMBERS)
            self._events.append({"event": "progress", "run_id": point.id, "label": point.label, **numbers})
        elif (sha := str(said.get("need"))) in self._hashes and (worker, sha) not in self._sent:
            self._sent[worker, sha] = asyncio.create_task(self._send(worker, sha))

    async def _send(self, worker: str, sha: str) -> None:
        """Send an input file to a worker that requested it; a worker that cannot store it gets no more runs."""
        try:
            await transfer.send(self._client, self._session, worker, sha, self._directory)
        except Exception as error:
            if self._client.status == "running":
                await self._workers.look()
                await self._workers.exclude(worker, f"cannot take an input file: {visible(str(error))[:200]}")
        finally:
            del self._sent[worker, sha]


def _reason(error: Exception) -> str:
    if not isinstance(error, KilledWorker):
        return f"a worker sent an invalid result: {error}"
    times = plural(error.allowed_failures + 1, "worker")
    return f"{times} died while they had it, the last one {error.last_worker.address}: is their memory too small?"


async def _result(task: Future[dict[str, Any]]) -> dict[str, Any]:
    """The result of a task. Raises `UnsoundError` if it is not an answer."""
    answer = await task
    if not isinstance(answer, dict):
        raise transfer.UnsoundError("a task returned something else")
    return answer


def _numbers(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    """The finite numbers among these values."""
    found = {name: values.get(name) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, (int, float)) and math.isfinite(value)}
