"""Working in another network namespace without a separate process: entering it, and its settings.

Python 3.11 has no `os.setns`, so this calls the C library. A single thread enters a namespace; /proc/sys/net, sockets
and child processes of that thread then belong to it.
"""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS = 0x8913
_IFF_RUNNING = 0x40
_libc = ctypes.CDLL(None, use_errno=True)


def path_of(process: int) -> str:
    """The network namespace of a process, as a path."""
    return f"/proc/{process}/ns/net"


@contextmanager
def entered(path: str) -> Iterator[None]:
    """Move this thread to the network namespace at `path` for the block."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        there = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _set(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _set(home)
    finally:
        os.close(home)


def _set(namespace: int) -> None:
    if _libc.setns(namespace, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def setting(name: str) -> Path:
    """The file of a setting such as `net.ipv4.tcp_sack`, in the thread's current namespace."""
    return Path("/proc/sys") / name.replace(".", "/")


def runs(interface: str) -> bool:
    """Whether an interface in the thread's current namespace passes frames.

    The carrier alone is not enough: the kernel starts a device's queues later, asynchronously (netdevice(7),
    `IFF_RUNNING`), and until then frames are lost.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        request = struct.pack("16sh14x", interface.encode(), 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(asking, _SIOCGIFFLAGS, request))[1]
    return bool(flags & _IFF_RUNNING)
