"""Sends the frames of a file repeatedly at a fixed rate; a separate program, so that it blocks nobody."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import threading
import time
from pathlib import Path

from waiting import paced


def main() -> None:
    """Send the frames of a file repeatedly at a fixed rate until a line arrives on stdin."""
    path, device, rate = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    data, place, made = path.read_bytes(), 0, []
    while place < len(data):
        (length,) = struct.unpack_from("!H", data, place)
        made.append(data[place + 2 : place + 2 + length])
        place += 2 + length
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind((device, 0))
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    sent, began = 0, time.monotonic()
    for _ in paced(0.0005):
        if stop.is_set():
            break
        due = int((time.monotonic() - began) * rate)
        # No catching up after a delay: the rate never exceeds the requested one.
        if due - sent > rate // 20:
            began += (due - sent - rate // 20) / rate
            due = sent + rate // 20
        for _ in range(due - sent):
            with contextlib.suppress(OSError):
                raw.send(made[sent % len(made)])
            sent += 1


if __name__ == "__main__":
    main()
