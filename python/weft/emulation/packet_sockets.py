"""The packet sockets of another process."""

import ctypes
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from .errors import EmulationError

_PIDFD_GETFD = 438
"""From <asm-generic/unistd.h>; Python does not define it."""
_libc = ctypes.CDLL(None, use_errno=True)


def packet_sockets(process: int) -> Iterator[socket.socket]:
    """The packet sockets of a process, duplicated with pidfd_getfd(2).

    Raises `EmulationError` if the kernel refuses: it is older than 5.6, or the user is not root.
    """
    holder = os.pidfd_open(process)
    try:
        for entry in Path(f"/proc/{process}/fd").iterdir():
            try:
                if not str(entry.readlink()).startswith("socket:"):
                    continue
            except FileNotFoundError:
                continue
            found = _libc.syscall(_PIDFD_GETFD, holder, int(entry.name), 0)
            if found < 0 and ctypes.get_errno() == errno.EBADF:
                # Closed in the meantime.
                continue
            if found < 0:
                reason = os.strerror(ctypes.get_errno())
                raise EmulationError(f"cannot access a socket of ovs-vswitchd (pidfd_getfd): {reason}")
            own = socket.socket(fileno=found)
            if own.family == socket.AF_PACKET:
                yield own
            else:
                own.close()
    finally:
        os.close(holder)
