"""The processes of a load: the controller and the load generator, each on its own core if there are two."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LOAD = ROOT / "target" / "release" / "weft-ofload"
READY_S = 30.0
LOAD_S = 1800.0
"""Time limit of a load."""


class LoadError(Exception):
    """The measurement failed."""


class Process:
    """A controller process, ended when the block exits; its name in the figures, and the port for switches."""

    def __init__(self, name: str, module: Sequence[str], port: int) -> None:
        """Start `python -m` with these arguments, and wait until switches can connect.

        Raises `LoadError` if it ends, or does not listen in time.
        """
        self.name, self.port = name, port
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 # closed with the process
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [*pinned(0), sys.executable, "-m", *module]
        environment = os.environ | {"PYTHONPATH": path}
        self._process = subprocess.Popen(command, env=environment, stdout=self._log, stderr=subprocess.STDOUT)
        try:
            self._wait()
        except BaseException:
            self.end()
            raise

    def _wait(self) -> None:
        until = time.monotonic() + READY_S
        while not _listens(self.port):
            if self._process.poll() is not None or time.monotonic() > until:
                raise LoadError(f"{self.name} is not listening on port {self.port}: {self.log()}")
            time.sleep(0.05)

    @property
    def pid(self) -> int:
        """Its process ID."""
        return self._process.pid

    def log(self) -> str:
        """The end of its log."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-2000:].strip()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._log.close()


def load(controller: Process, *arguments: str) -> dict[str, Any]:
    """Load a controller; returns the generator's report. Raises `LoadError` if the generator failed or timed out."""
    command = [*pinned(1), str(LOAD), "--controller", f"127.0.0.1:{controller.port}", "--process", str(controller.pid)]
    try:
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=LOAD_S, check=False)
    except subprocess.TimeoutExpired:
        raise LoadError(f"{controller.name} took more than {LOAD_S:g} s: {controller.log()}") from None
    if done.returncode:
        raise LoadError(f"{controller.name}: {done.stderr.strip()}\n{controller.log()}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def free_port() -> int:
    """A free TCP port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def pinned(core: int) -> list[str]:
    """The command prefix that pins a command to a core if there are several, at high priority if root."""
    cores = sorted(os.sched_getaffinity(0))
    place = ["taskset", "-c", str(cores[core])] if len(cores) > 1 else []
    return [*(["nice", "-n", "-20"] if os.geteuid() == 0 else []), *place]


def _listens(port: int) -> bool:
    listening = "0A"
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(row.split()[1].endswith(f":{port:04X}") and row.split()[3] == listening for row in rows)
