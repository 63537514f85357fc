"""A worker's part in sweeps: it carries out runs in a directory of its own and hands out their results.

Every `weft run` that uses the worker has a `Host` here, a Dask plugin, which learns from Dask that a run is no longer
wanted: because its result was fetched, or the sweep was stopped, or the command died.
"""

import asyncio
import json
import shutil
import threading
import time
import uuid
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from dask.typing import Key
from distributed import Worker, WorkerPlugin, get_worker
from distributed.utils import sync

from .. import _weft
from ..errors import is_disk_full
from .inputs import Inputs

RESOURCE = f"weft-{_weft.version()}"
"""The Dask resource of workers with this version of Weft, in threads; every run demands its threads of it."""
INLINE = 1 << 20
"""Results up to this size in bytes are part of a task's answer; larger ones are read in pieces."""
_IDLE_SECONDS = 600
"""Time without a run after which input files are removed: the command that sent them may have died."""


class _StoppedError(Exception):
    """The run is no longer wanted."""


@dataclass
class _Run:
    """A run that is active, or whose result is still to be fetched."""

    directory: Path
    stop: threading.Event = field(default_factory=threading.Event)


class Host(WorkerPlugin):
    """The runs of one sweep or study on this worker."""

    def __init__(self, session: str, interval: float) -> None:
        """`session` names the command, and the topic of its events; runs report every `interval` seconds."""
        self.session = session
        self.interval = interval
        self._runs: dict[Key, _Run] = {}
        self._unfit: str | None = None
        self._used = time.monotonic()

    def setup(self, worker: Worker) -> None:
        """Called by Dask: the worker has taken in the plugin."""
        self._worker = worker
        self._root = Path(worker.local_directory) / self.session
        self._inputs = self._new_inputs()

    def teardown(self, worker: Worker) -> None:
        """Called by Dask: the command or the worker ends."""
        for run in list(self._runs.values()):
            run.stop.set()
        shutil.rmtree(self._root, ignore_errors=True)

    def transition(self, key: Key, start: str, finish: str, **_: Any) -> None:
        """Called by Dask: a task changes its state. A released one is not wanted any more."""
        if finish in ("released", "forgotten", "error") and (run := self._runs.pop(key, None)):
            run.stop.set()
            shutil.rmtree(run.directory, ignore_errors=True)
            self._worker.loop.call_later(_IDLE_SECONDS, self._forget_inputs)

    def carry_out(self, key: Key, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out a run and return its answer, see `carry_out`."""
        run = self._runs[key] = _Run(self._root / uuid.uuid4().hex)
        self._used = time.monotonic()
        answer: dict[str, Any] = {"worker": self._worker.address}
        try:
            if self._unfit is not None:
                return answer | {"unfit": self._unfit}
            answer |= self._result(run, key, order)
        except _StoppedError:
            answer["stopped"] = True
        except _weft.ScenarioError as error:
            answer["error"] = str(error)
        except OSError as error:
            answer |= self._filled() if is_disk_full(error) else {"error": f"{error} on worker {self._worker.name}"}
        finally:
            if "files" not in answer:
                shutil.rmtree(run.directory, ignore_errors=True)
        return answer

    def read(self, token: str, name: str, offset: int, length: int) -> bytes:
        """A piece of a file of the result `token`.

        Raises `OSError` if there is no such result, `ValueError` if results have no file of this name.
        """
        if name not in set(chain(*_weft.result_files())):
            raise ValueError(f"results have no file {name!r}")
        (directory,) = (run.directory for run in self._runs.values() if run.directory.name == token)
        with (directory / "result" / name).open("rb") as file:
            file.seek(offset)
            return file.read(length)

    def store(self, name: str, offset: int, piece: bytes, is_last: bool) -> None:
        """Write a piece of an input file, see `Inputs.store`."""
        self._inputs.store(name, offset, piece, is_last=is_last)

    def _result(self, run: _Run, key: Key, order: dict[str, Any]) -> dict[str, Any]:
        reported = 0.0

        def follow(state: str) -> None:
            nonlocal reported
            if run.stop.is_set():
                raise _StoppedError
            if time.monotonic() - reported >= self.interval:
                reported = time.monotonic()
                self._tell({"run": order["run"], "key": key, **json.loads(state)})

        # The directory comes first: the inputs that it waits for may be forgotten only without a run.
        run.directory.mkdir(parents=True)
        if not self._inputs.wait(order["files"].values(), run.stop.is_set):
            raise _StoppedError
        files = {name: str(self._inputs.directory / sha) for name, sha in order["files"].items()}
        target = run.directory / "result"
        runs = _runs(order["text"], order["name"], tuple(order["sets"]))
        said = runs.run(order["run"], files, str(target), order["threads"], follow)
        if said is None or run.stop.is_set():
            raise _StoppedError
        outcome: dict[str, Any] = json.loads(said)
        if "error" in outcome:
            return self._filled() if outcome["disk_full"] else {"error": outcome["error"]}
        always, more = _weft.result_files()
        there = [*always, *(name for name in more if (target / name).is_file())]
        sizes = {name: (target / name).stat().st_size for name in there}
        if sum(sizes.values()) <= INLINE:
            return outcome | {"contents": {name: (target / name).read_bytes() for name in sizes}}
        return outcome | {"token": run.directory.name, "files": sizes}

    def _filled(self) -> dict[str, Any]:
        """The answer of a full disk; the scheduler sends no more runs."""
        self._unfit = f"has no disk space left in {self._worker.local_directory}"
        sync(self._worker.loop, self._withdraw)
        return {"unfit": self._unfit}

    async def _withdraw(self) -> None:
        # Only at the scheduler: runs that it has given to this worker begin here, to be refused at once.
        await self._worker.scheduler.set_resources(resources={RESOURCE: 0}, worker=self._worker.address)

    def _tell(self, event: dict[str, Any]) -> None:
        self._worker.log_event(self.session, {"worker": self._worker.address, **event})

    def _new_inputs(self) -> Inputs:
        return Inputs(self._root / "inputs", lambda sha: self._tell({"need": sha}))

    def _forget_inputs(self) -> None:
        if not self._runs and time.monotonic() - self._used >= _IDLE_SECONDS:
            shutil.rmtree(self._root, ignore_errors=True)
            self._inputs = self._new_inputs()


@lru_cache(maxsize=4)
def _runs(text: str, name: str, sets: tuple[str, ...]) -> _weft.Runs:
    """The runs of a scenario; all tasks of a sweep have the same."""
    return _weft.Runs(text, name, list(sets))


def _host(worker: Worker, session: str) -> Host:
    host = worker.plugins[session]
    assert isinstance(host, Host)
    return host


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    """Task: carry out a run.

    Args:
        order: ``session``; ``run``, the id of a point; the scenario's ``text``, ``name`` and ``sets``; ``files``, the
            hashes of the files that it names; ``threads``.

    Returns:
        ``worker``, its address, and one of: ``contents``, the files of a small result; ``token`` and ``files``, the
        sizes of those of a large one, to be read with `read`; ``stopped``; ``error``; ``unfit``, why the worker cannot
        carry out any run. With a result, also ``timing`` and ``one_thread``.
    """
    worker = get_worker()
    return _host(worker, order["session"]).carry_out(worker.get_current_task(), order)


async def join(session: str, interval: float, dask_worker: Worker) -> None:
    """Have the worker take part in a session, with all its threads."""
    await dask_worker.plugin_add(Host(session, interval), session, catch_errors=False)
    await dask_worker.set_resources(**{RESOURCE: dask_worker.state.nthreads})


async def leave(session: str, dask_worker: Worker) -> None:
    """End the worker's part in a session: stop its runs and remove its files."""
    if session in dask_worker.plugins:
        await dask_worker.plugin_remove(session)


async def read(session: str, token: str, name: str, offset: int, length: int, dask_worker: Worker) -> bytes:
    """A piece of a result, see `Host.read`."""
    return await asyncio.to_thread(_host(dask_worker, session).read, token, name, offset, length)


async def store(session: str, name: str, offset: int, piece: bytes, is_last: bool, dask_worker: Worker) -> None:
    """Write a piece of an input file, see `Inputs.store`."""
    await asyncio.to_thread(_host(dask_worker, session).store, name, offset, piece, is_last)
