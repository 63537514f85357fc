"""Where figures are taken: network, mount and process namespaces of their own, which nothing outlives.

The process that was started stays outside and only waits; it starts itself again inside, as the first process of
the new process namespace. When that one ends, or either is killed, the kernel ends all that was started inside, and
with the namespaces go their interfaces, programs and pins.
"""

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

INSIDE = "WEFT_BENCH_JAIL"
PR_SET_PDEATHSIG = 1
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


class JailError(Exception):
    """The namespaces cannot be made; says what is missing."""


def is_inside() -> bool:
    """Whether this process is the one inside."""
    return os.environ.get(INSIDE) == "1"


def _die_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(module: str, arguments: list[str], limit: float) -> int:
    """Runs this program, `module`, inside with the same arguments, for at most `limit` seconds.

    Returns:
        Its exit status; 124 where it took too long, as timeout(1).

    Raises:
        JailError: where this is not root.
    """
    if os.geteuid() != 0:
        raise JailError("network namespaces and BPF need root: the same command after `sudo`")
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"]
    command += [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, env={**os.environ, INSIDE: "1"}, preexec_fn=_die_with_parent)
    # SIGTERM as Ctrl-C: both reach the process inside as the end of this one.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        print(f"stopped: not done within {limit:g} s", file=sys.stderr)
        return 124
    except KeyboardInterrupt:
        return 130
    finally:
        process.kill()
        process.wait()


def furnish() -> None:
    """Inside: file systems for pins, for names of namespaces and for sockets, which nobody else sees.

    Raises:
        JailError: where one cannot be mounted.
    """
    for kind, place in (("tmpfs", "/run"), ("sysfs", "/sys"), ("bpf", "/sys/fs/bpf")):
        done = subprocess.run(["mount", "-t", kind, kind, place], capture_output=True, text=True)
        if done.returncode:
            raise JailError(f"mounting {kind} at {place}: {done.stderr.strip()}")
    for place in ("/run/netns", "/run/weft", "/run/lock"):
        Path(place).mkdir(parents=True)
