"""A Dask scheduler and its workers as processes on the loopback interface, ended with the test."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from waiting import PATIENCE_S, until
from weft.aggregates import FOLDER

WEFT = (sys.executable, "-m", "weft")
"""How to call the command."""
LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
"""Options for all ports; Dask opens one for HTTP even without its dashboard."""


class Process:
    """A process that leads a group of its own."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        with log.open("ab") as file:
            self.popen = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )

    def signal(self, number: int) -> None:
        """Send a signal to the whole group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, number)

    def wait(self, seconds: float = PATIENCE_S) -> int:
        """The exit code."""
        return self.popen.wait(seconds)

    def kill(self) -> None:
        """End it at once."""
        self.signal(signal.SIGKILL)
        self.popen.wait()

    @property
    def alive(self) -> list[int]:
        """The processes of its group that have not ended."""
        states = {int(path.parent.name): _state(path) for path in Path("/proc").glob("[0-9]*/stat")}
        return [pid for pid, (state, group) in states.items() if group == self.popen.pid and state != "Z"]

    @property
    def text(self) -> str:
        """What it has printed."""
        return self.log.read_text()


def _state(path: Path) -> tuple[str, int]:
    """State and process group in a `stat` file of /proc."""
    try:
        state, _, group = path.read_text().rpartition(") ")[2].split()[:3]
    except OSError:
        return "Z", 0
    return state, int(group)


class Worker(Process):
    """A worker with a scratch directory of its own."""

    def __init__(self, name: str, command: list[str], directory: Path) -> None:
        self.name = name
        self.scratch = directory / "scratch"
        super().__init__(command, directory / "log")

    def files(self, pattern: str) -> list[str]:
        """Files of sweeps in the scratch directory, some of which may be removed at this moment."""
        # `Path.glob` fails if a directory is removed meanwhile.
        return glob.glob(f"**/weft-*/{pattern}", root_dir=self.scratch, recursive=True, include_hidden=True)  # noqa: PTH207

    @property
    def is_running(self) -> bool:
        """Whether a run writes its result."""
        return bool(self.files("*/.result.*.partial"))

    @property
    def is_clean(self) -> bool:
        """Whether no file of a sweep is left."""
        return not self.files("**/*")


class Dask:
    """A scheduler with workers."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / "scheduler.json"
        self.workers: list[Worker] = []
        options = [*LOOPBACK, "--port", "0", "--scheduler-file", str(self.file)]
        self.scheduler = Process([*_python("dask_scheduler"), *options], directory / "scheduler.log")
        until("the scheduler", lambda: self.file.exists() and self.file.read_text().endswith("}"))
        self.address = json.loads(self.file.read_text())["address"]

    def worker(self, name: str, *options: str, wrapped: tuple[str, ...] = (), nanny: bool = False) -> Worker:
        """Start a worker; it has joined when `joined` returns."""
        directory = self.directory / name
        (directory / "scratch").mkdir(parents=True)
        command = [*_python("dask_worker"), self.address, *LOOPBACK, "--name", name, "--nthreads", "1"]
        command += ["--local-directory", str(directory / "scratch"), *options]
        command += ["--nanny" if nanny else "--no-nanny"]
        worker = Worker(name, [*wrapped, *command], directory)
        self.workers.append(worker)
        return worker

    def joined(self, *workers: Worker) -> None:
        """Wait until workers have joined."""
        for worker in workers:
            until(f"{worker.name} joins", lambda worker=worker: "Registered to:" in worker.text)

    def leave(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.kill()
        self.workers.clear()

    def end(self) -> None:
        """End everything."""
        self.leave()
        self.scheduler.kill()


def _python(program: str) -> list[str]:
    return [sys.executable, "-m", f"distributed.cli.{program}"]


class Run(Process):
    """`weft run` on a cluster."""

    def __init__(self, scenario: Path, out: Path, dask: str, *options: object, weft: Sequence[str] = WEFT) -> None:
        command = [*weft, "run", str(scenario), "-o", str(out), "--dask", dask]
        super().__init__([*command, *map(str, options)], out.with_suffix(".log"))

    def wait(self, seconds: float = PATIENCE_S) -> int:
        """The exit code; there must be no traceback, and no warning of Dask's."""
        code = super().wait(seconds)
        assert not re.search("Traceback|[a-z]Warning", self.text), self.text
        return code

    def until(self, what: str, state: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
        """Wait for a state during the run."""
        until(what, lambda: state() or self.popen.poll() is not None, state=lambda: self.text, patience_s=patience_s)
        assert state(), f"ended before {what}: {self.text}"


def results(directory: Path) -> dict[str, bytes]:
    """All files of a result directory by name, but for wall-clock times and aggregates, which depend on them."""
    others = (".lock", "performance.json", FOLDER)
    files = {path.relative_to(directory): path for path in directory.rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in files.items() if name.parts[0] not in others}
