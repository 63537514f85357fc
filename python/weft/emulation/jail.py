"""A process in network, mount and process namespaces of its own, which end with it.

Interfaces, namespaces, mounts, pinned eBPF programs and processes that an emulation makes live in namespaces that the
kernel takes away with their last process; so nothing has to be cleaned up, however the emulation ends. Two emulations
at a time do not see each other.

`enter` is called outside. It starts `unshare`, which is killed with the process that called (`setpriv --pdeathsig`) and
kills the first process of the jail with it (`--kill-child`); as that is process 1 there, the kernel kills all others.
`furnish` is called by process 1.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from .errors import EmulationError
from .requirements import program

_GRACE = 10.0
"""Seconds that a jail has to end by itself."""
_MOUNTS = (
    ("sysfs", "/sys"),
    ("bpf", "/sys/fs/bpf"),
    ("tmpfs", "/run"),
)


class Jail:
    """A running jail.

    Attributes:
        process: `unshare`, which ends when the jail has.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], stderr: IO[bytes] | None, *, listens: bool = False
    ) -> None:
        """Start `python -m module arguments` in a jail.

        Its standard output is a pipe, its standard error `stderr`, its standard input a pipe if it `listens`; without
        `stderr` it has the terminal of this process. To be called from the main thread: the kernel kills the jail when
        the thread that started it ends.
        """
        command = [
            *(_path("setpriv"), "--pdeathsig", "KILL", "--"),
            *(_path("unshare"), "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"),
            *(sys.executable, "-m", module, *arguments),
        ]
        alone = stderr is not None
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if listens else subprocess.DEVNULL if alone else None,
            stdout=subprocess.PIPE if alone else None,
            stderr=stderr,
            # Ctrl-C at a terminal is for the process outside, which then ends the jail; at a prompt it is for both.
            start_new_session=alone,
        )

    def first_process(self) -> int | None:
        """The process that is 1 inside, by its number outside; None when it has ended."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            numbers = children.read_text(encoding="ascii").split()
        except OSError:
            return None
        return int(numbers[0]) if numbers else None

    def end(self) -> None:
        """Ask the jail to end, and make it after a while."""
        first = self.first_process()
        if first is not None:
            os.kill(first, signal.SIGTERM)
        try:
            self.process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def furnish() -> None:
    """Mount what the jail's processes look at: /sys of its own network, a BPF file system, an empty /run.

    Raises:
        EmulationError: The kernel refuses one of them.
    """
    for kind, where in _MOUNTS:
        done = subprocess.run([_path("mount"), "-t", kind, kind, where], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise EmulationError(f"{kind} cannot be mounted on {where} in the jail: {done.stderr.strip()}")


def _path(name: str) -> str:
    path = program(name)
    if path is None:
        raise EmulationError(f"missing: {name}")
    return path
