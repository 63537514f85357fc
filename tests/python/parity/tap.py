"""A raw socket on a host's interface: receives frames byte for byte, and sends for stations without a kernel."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from dataclasses import dataclass

from .netns import Netns

_ETH_P_ALL = 3
_SOL_PACKET, _AUXDATA, _IGNORE_OUTGOING = 263, 8, 23
_TIMESTAMPNS = 35
_VLAN_VALID, _VLAN_TPID_VALID = 0x10, 0x40


@dataclass(frozen=True)
class CapturedFrame:
    """A received frame.

    Attributes:
        frame: Its bytes, VLAN tags included.
        at: Kernel receive time, in seconds since 1970.
    """

    frame: bytes
    at: float


class Tap:
    """Receives all frames of an interface from now on, and sends arbitrary ones."""

    def __init__(self, netns: Netns, interface: str = "eth0") -> None:
        """Open the socket."""
        self._socket = netns.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        self._socket.setsockopt(_SOL_PACKET, _IGNORE_OUTGOING, 1)
        self._socket.setsockopt(_SOL_PACKET, _AUXDATA, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
        with contextlib.suppress(PermissionError):
            self._socket.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        self._socket.bind((interface, _ETH_P_ALL))
        self._socket.setblocking(False)

    def fileno(self) -> int:
        """The file descriptor, for `select`."""
        return self._socket.fileno()

    def send(self, frame: bytes) -> None:
        """Send a frame unchanged."""
        self._socket.send(frame)

    def read(self) -> list[CapturedFrame]:
        """The pending frames, without waiting."""
        heard = []
        while True:
            try:
                frame, notes, _, _ = self._socket.recvmsg(65536, 256)
            except BlockingIOError:
                return heard
            except OSError:  # the interface is down; the next call continues reading
                continue
            heard.append(_heard(frame, notes))

    def listen(self, seconds: float) -> list[CapturedFrame]:
        """The frames received during this time."""
        heard, end = [], time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            select.select([self], [], [], left)
            heard += self.read()
        return heard

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def __enter__(self) -> Tap:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _heard(frame: bytes, notes: list[tuple[int, int, bytes]]) -> CapturedFrame:
    at = time.time()
    for level, kind, data in notes:
        if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            at = seconds + nanoseconds / 1e9
        elif (level, kind) == (_SOL_PACKET, _AUXDATA):
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
            if status & _VLAN_VALID:
                tpid = tpid if status & _VLAN_TPID_VALID else 0x8100
                frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
    return CapturedFrame(frame, at)
