"""A jail: a process in its own network, mount and PID namespaces, which end with it.

Interfaces, namespaces, mounts, pinned eBPF programs and processes of an emulation live in namespaces that the kernel
removes with their last process; so nothing needs cleaning up, however the emulation ends. Concurrent emulations do not
see each other.

`Jail` is created outside. It starts `unshare`, which is killed with the calling process (`setpriv --pdeathsig`) and
kills the first process of the jail (`--kill-child`); as that is PID 1 there, the kernel kills all others. PID 1 calls
`furnish`.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from .. import interpreter
from .errors import EmulationError
from .requirements import required

_GRACE = 10.0
"""Timeout in seconds for a jail to stop before it is killed."""
_MOUNTS = (
    ("sysfs", "/sys"),
    ("bpf", "/sys/fs/bpf"),
    ("tmpfs", "/run"),
)


class Jail:
    """A running jail; it ends with `process`, the `unshare` process."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        stderr: IO[bytes] | None,
        *,
        listens: bool = False,
        beside: Path | None = None,
    ) -> None:
        """Start `python -m module arguments` in a jail.

        Its standard output is a pipe, its standard error `stderr`, its standard input a pipe if it `listens`; without
        `stderr` it uses this process's terminal. Modules in the directory `beside` are found, too. Call from the main
        thread: the kernel kills the jail when the thread that started it ends.
        """
        places = [*([] if beside is None else [str(beside)]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        command = [
            *(required("setpriv"), "--pdeathsig", "KILL", "--"),
            *(required("unshare"), "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"),
            *interpreter.module(module, *arguments),
        ]
        alone = stderr is not None
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if listens else subprocess.DEVNULL if alone else None,
            stdout=subprocess.PIPE if alone else None,
            stderr=stderr,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))},
            # Ctrl-C goes to the process outside, which then stops the jail; at a prompt it goes to both.
            start_new_session=alone,
        )

    def first_process(self) -> int | None:
        """The outside PID of the jail's PID 1; None when it has ended."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            numbers = children.read_text(encoding="ascii").split()
        except OSError:
            return None
        return int(numbers[0]) if numbers else None

    def end(self) -> None:
        """Ask the jail to stop; kill it after a timeout."""
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
    """Mount the jail's file systems: /sys of its own network, a BPF file system, an empty /run.

    Raises `EmulationError` if a mount fails.
    """
    for kind, where in _MOUNTS:
        done = subprocess.run([required("mount"), "-t", kind, kind, where], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise EmulationError(f"cannot mount {kind} on {where} in the jail: {done.stderr.strip()}")
