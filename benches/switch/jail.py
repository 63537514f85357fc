"""Private network, mount and PID namespaces for the measurements; nothing outlives them.

The original process stays outside and only waits; it starts itself again inside, as PID 1 of the new PID namespace.
When that process ends, or either is killed, the kernel kills everything started inside, and the interfaces, programs
and pins disappear with the namespaces.
"""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

from weft.emulation import jail
from weft.emulation.errors import EmulationError
from weft.sockets import RUN_DIR

INSIDE = "WEFT_BENCH_JAIL"
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def is_inside() -> bool:
    """Whether this process is the one inside."""
    return os.environ.get(INSIDE) == "1"


def _die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(module: str, arguments: list[str], limit: float) -> int:
    """Runs `module` inside for at most `limit` seconds; returns its exit status, 124 after a timeout, like timeout(1).

    Raises `EmulationError` if this process is not root.
    """
    if os.geteuid() != 0:
        raise EmulationError("network namespaces and BPF need root: run the same command with `sudo`")
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"]
    command += [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, env={**os.environ, INSIDE: "1"}, preexec_fn=_die_with_parent)
    # Treat SIGTERM like Ctrl-C: both end the process inside through the end of this one.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        print(f"stopped: not finished within {limit:g} s", file=sys.stderr)
        return 124
    except KeyboardInterrupt:
        return 130
    finally:
        process.kill()
        process.wait()


def furnish() -> None:
    """Inside: mounts private file systems for pins, namespace names and sockets.

    Raises `EmulationError` if a file system cannot be mounted.
    """
    jail.furnish()
    for place in ("/run/netns", RUN_DIR, "/run/lock"):
        Path(place).mkdir(parents=True)
