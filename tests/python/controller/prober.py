"""Sends probes and observes them in transit and on arrival; a separate program, so that it blocks nobody."""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import struct
import sys
import time

from segments import checksum, octets
from weft.emulation.namespace import entered

MARK = b"weft probe "
"""The first bytes of a probe's payload; its subflow and number follow."""
_ETH_P_IP = 0x0800
_LAST_S = 10.0
"""Time after the last probe until probes in transit count as lost."""


def opened(device: str) -> socket.socket:
    """A socket for all IPv4 frames of an interface in this namespace."""
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_IP))
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    found.bind((device, _ETH_P_IP))
    found.setblocking(False)
    return found


def head(macs: list[str], source: str, destination: str) -> bytes:
    """A pure ACK with a wrong TCP checksum, up to its payload."""
    (here, from_port), (there, to_port) = (end.rsplit(":", 1) for end in (source, destination))
    length = 20 + 20 + len(MARK) + 8
    addresses = socket.inet_aton(here) + socket.inet_aton(there)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, length, 0, 0x4000, 64, 6, 0) + addresses
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    tcp = struct.pack("!HHIIBBHHH", int(from_port), int(to_port), 1, 1, 5 << 4, 0x10, 8192, 0xDEAD, 0)
    return b"".join(map(octets, macs)) + _ETH_P_IP.to_bytes(2, "big") + ip + tcp + MARK


class Prober:
    """Sockets and observations; times are seconds since the start."""

    def __init__(self, config: dict) -> None:
        """Open all sockets."""
        self.heads: list[tuple[socket.socket, bytes]] = []
        self.selector = selectors.DefaultSelector()
        for host in config["hosts"].values():
            with entered(host["namespace"]):
                own = opened(host["device"])
            self.selector.register(own, selectors.EVENT_READ, None)
            self.heads += [(own, head(host["macs"], *ends)) for ends in host["subflows"]]
        for name, devices in config["middles"].items():
            for device in devices:
                self.selector.register(opened(device), selectors.EVENT_READ, name)
        count = len(self.heads)
        self.sent: list[list[float]] = [[] for _ in range(count)]
        self.arrived: list[list[int]] = [[] for _ in range(count)]
        self.through: list[set[str]] = [set() for _ in range(count)]
        self.began = time.monotonic()

    def send(self) -> None:
        """Send one probe in each direction of every subflow."""
        for number, (own, head_) in enumerate(self.heads):
            times = self.sent[number]
            payload = struct.pack("!II", number, len(times))
            with contextlib.suppress(BlockingIOError):
                own.send(head_ + payload)
                times.append(time.monotonic() - self.began)

    def finish(self) -> None:
        """Receive what is in transit."""
        end = time.monotonic() + _LAST_S
        while any(len(sent) > len(set(came)) for sent, came in zip(self.sent, self.arrived, strict=True)):
            if (left := end - time.monotonic()) <= 0:
                return
            for key, _ in self.selector.select(left):
                self.take(key.fileobj, key.data)

    def take(self, source: socket.socket, middle: str | None) -> None:
        """Read frames from a socket: of a middle switch in transit, or of a host on arrival."""
        for _ in range(256):
            try:
                frame, (_, _, kind, *_) = source.recvfrom(200)
            except OSError:
                # Nothing pending, or the interface is down, which is reported once.
                return
            place = frame.find(MARK)
            if kind == socket.PACKET_OUTGOING or place < 0:
                continue
            number, probe = struct.unpack_from("!II", frame, place + len(MARK))
            if middle is None:
                self.arrived[number].append(probe)
            else:
                self.through[number].add(middle)


def main() -> None:
    """Probe until `stop` arrives on stdin; print the observations. A number asks for `sent` after so many rounds."""
    config = json.loads(sys.argv[1])
    prober = Prober(config)
    prober.selector.register(sys.stdin, selectors.EVENT_READ)
    print("probing", flush=True)
    due, stopped, rounds, goal = time.monotonic(), False, 0, -1
    while not stopped:
        prober.send()
        rounds += 1
        if rounds == goal:
            print("sent", flush=True)
        due = max(due + config["every_s"], time.monotonic() - config["every_s"])
        while not stopped and (left := due - time.monotonic()) > 0:
            for key, _ in prober.selector.select(left):
                if key.fileobj is not sys.stdin:
                    prober.take(key.fileobj, key.data)
                elif (line := sys.stdin.readline().strip()) == "stop":
                    stopped = True
                else:
                    goal = rounds + int(line)
    prober.selector.unregister(sys.stdin)
    prober.finish()
    through = [sorted(names) for names in prober.through]
    print(json.dumps({"sent": prober.sent, "arrived": prober.arrived, "through": through}))


if __name__ == "__main__":
    main()
