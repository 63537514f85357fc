"""One measured process: CPU time and peak memory of a command, which ends with the caller."""

import json
import os
import signal
import subprocess
import sys
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


def measured(command: list[str], report: Path, output: IO[bytes], cwd: Path | None = None) -> Done:
    """Run `command`, in `cwd` if it is given; both its outputs go to `output`. If interrupted, this kills the command.

    `report` is the absolute path of a file for the measurement.
    """
    start = [sys.executable, "-ISE", str(meter.__file__), str(report), *command]
    # In a session of its own, so that Ctrl-C reaches only the caller, which then ends all that it started.
    process = subprocess.Popen(
        start, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )
    try:
        code = _end(process)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return Done(code, Usage(**json.loads(report.read_text(encoding="utf-8"))))


def _end(process: subprocess.Popen[bytes]) -> int:
    """Wait for the end; return the exit code. A signal at another thread does not interrupt a wait without a limit."""
    while True:
        try:
            return process.wait(_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            continue
