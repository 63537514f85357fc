"""One measured process: CPU time and peak memory of a command, which ends with the caller."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from . import meter

_LOOK_SECONDS = 0.5
"""Between two looks at signals."""


@dataclass(frozen=True)
class Usage:
    """What a command took, with the processes that it waited for."""

    cpu_seconds: float
    """User and system time."""
    wall_seconds: float
    peak_memory_bytes: int
    """The largest resident set of one of its processes."""


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    """Exit code; 128 + N after signal N."""
    usage: Usage


def measured(
    command: list[str], report: Path, output: IO[bytes], cwd: Path | None = None, limit: float | None = None
) -> Done:
    """Run `command`, in `cwd` if it is given; both its outputs go to `output`. If interrupted, this kills the command.

    `report` is the absolute path of a file for the measurement. Raises `TimeoutError` after `limit` seconds, if given,
    when it has killed the command and its process group.
    """
    start = [sys.executable, "-ISE", str(meter.__file__), str(report), *command]
    # In a session of its own, so that Ctrl-C reaches only the caller, which then ends all that it started.
    process = subprocess.Popen(
        start, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )
    try:
        code = _end(process, limit)
    except BaseException:
        _kill(process)
        raise
    return Done(code, Usage(**json.loads(report.read_text(encoding="utf-8"))))


def printed(command: list[str | Path], limit: float) -> str:
    """The standard output of `command`. After `limit` seconds, kills its group, raises `subprocess.TimeoutExpired`."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            return process.communicate(timeout=limit)[0]
        except BaseException:
            _kill(process)
            raise


def _end(process: subprocess.Popen[bytes], limit: float | None) -> int:
    """Wait for the end; return the exit code. A signal at another thread does not interrupt a wait without a limit."""
    end = math.inf if limit is None else time.monotonic() + limit
    while (left := end - time.monotonic()) > 0:
        try:
            return process.wait(min(_LOOK_SECONDS, left))
        except subprocess.TimeoutExpired:
            continue
    raise TimeoutError


def _kill(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Kill the group of a process that was started in a session of its own, and wait for the process."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
