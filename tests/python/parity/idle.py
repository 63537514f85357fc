"""Idle hosts: whether, and how soon, the next frame arrives after a silence.

Every row has its own pair of stations, so that no other traffic refreshes their entries. The stations of one side are
interfaces of one namespace behind an access switch, each in its own subnet; the kernel does their ARP and Neighbour
Discovery.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import select
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .cell import Cell
from .fabric import Fabric
from .frames import checksum

INTERVALS = {5: 10, 11: 10, 30: 6, 61: 5, 301: 2}
"""Seconds of silence, and the number of frames sent after such a silence."""
BOUND_MS = 5.0
_TIMESTAMPNS = 35
_BINDTODEVICE = 25
_MESSAGE = 32
_PATIENCE = 3.0
"""Seconds for which a frame may be in transit."""


@dataclass
class Pair:
    """Two stations, one at each leaf, that exchange a frame once per interval.

    Attributes:
        what: `udp`, `ping` or `tcp`.
        family: 4 or 6.
        static: Whether both have static neighbour entries.
        interval: Seconds between two frames, before scaling.
    """

    what: str
    family: int
    static: bool
    interval: int
    number: int
    sent: dict[int, float] = field(default_factory=dict)
    took: dict[int, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The row's name."""
        what = {"udp": "one-way UDP", "ping": "ping", "tcp": "idle TCP session"}[self.what]
        known = (
            ""
            if self.what == "tcp"
            else ", static neighbours"
            if self.static
            else f", {'ARP' if self.family == 4 else 'ND'}"
        )
        return f"{what}, IPv{self.family}{known}, every {self.interval} s"

    def address(self, side: int) -> str:
        """The address of a station, 1 on the left and 2 on the right."""
        return f"10.1.{self.number}.{side}" if self.family == 4 else f"fd01:{self.number:x}::{side}"

    def mac(self, side: int) -> str:
        """The MAC address of a station."""
        return f"02:0{side}:00:00:00:{self.number:02x}"

    def cell(self) -> Cell:
        """The resulting cell."""
        cell = Cell()
        cell.fact("lost", len(self.sent) - len(self.took), 0)
        cell.fact("sent", len(self.sent), INTERVALS[self.interval] + 1)
        cell.time("slowest", max(self.took.values(), default=None), BOUND_MS)
        return cell


def pairs() -> list[Pair]:
    """All pairs."""
    rows = [(what, family, static) for what in ("udp", "ping") for family in (4, 6) for static in (False, True)]
    rows += [("tcp", 4, False), ("tcp", 6, False)]
    numbers = itertools.count(1)
    return [Pair(*row, interval, next(numbers)) for row in rows for interval in INTERVALS]


def measure(fabric: Fabric) -> dict[str, Cell]:
    """All rows, measured at the same time."""
    all_pairs = pairs()
    for side, name in ((1, "left"), (2, "right")):
        _stations(fabric, name, side, all_pairs)
    return _Clock(fabric).run(all_pairs)


def _stations(fabric: Fabric, name: str, side: int, all_pairs: list[Pair]) -> None:
    netns = fabric.spaces[name]
    netns.set([("ipv6/conf/default/disable_ipv6", 1)])
    netns.ip(
        "link add name access type bridge mcast_snooping 0",
        "link set dev eth0 master access",
        "link set dev access up",
    )
    netns.set([("ipv6/conf/default/disable_ipv6", 0)])
    commands = []
    for pair in all_pairs:
        number = pair.number
        commands += [
            f"link add name s{number} address {pair.mac(side)} type veth peer name b{number}",
            f"link set dev b{number} master access",
            f"link set dev b{number} type bridge_slave isolated on",
        ]
    netns.ip(*commands)
    netns.set([(f"ipv6/conf/b{pair.number}/disable_ipv6", 1) for pair in all_pairs])
    commands = []
    for pair in all_pairs:
        number, length = pair.number, "24 " if pair.family == 4 else "64 nodad "
        commands += [
            f"link set dev b{number} up",
            f"link set dev s{number} up",
            f"addr add {pair.address(side)}/{length} dev s{number}",
        ]
        if pair.static:
            there = 3 - side
            commands.append(f"neigh add {pair.address(there)} lladdr {pair.mac(there)} nud permanent dev s{number}")
    netns.ip(*commands)


class _Clock:
    """Sends due frames and receives."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._poll = select.epoll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._kept: list[socket.socket] = []

    def run(self, all_pairs: list[Pair]) -> dict[str, Cell]:
        begin = {"udp": self._udp, "ping": self._ping, "tcp": self._tcp}
        sending = [(pair, begin[pair.what](pair)) for pair in all_pairs]
        start = time.monotonic() + 0.1
        for pair, send in sending:
            for number in range(INTERVALS[pair.interval] + 1):
                at = start + 0.004 * pair.number + number * pair.interval / self._fabric.pace.idle
                heapq.heappush(self._due, (at, next(self._order), lambda send=send, number=number: send(number)))
        self._loop()
        return {pair.name: pair.cell() for pair in all_pairs}

    def _loop(self) -> None:
        last = max(at for at, _, _ in self._due) + _PATIENCE
        while (now := time.monotonic()) < last:
            while self._due and self._due[0][0] <= now:
                heapq.heappop(self._due)[2]()
            wait = min(self._due[0][0] if self._due else last, last) - time.monotonic()
            for fd, _ in self._poll.poll(max(0.0, wait)):
                self._readers[fd]()

    def _read(self, connection: socket.socket, reader: Callable[[], None]) -> None:
        connection.setblocking(False)
        self._kept.append(connection)
        self._readers[connection.fileno()] = reader
        self._poll.register(connection, select.EPOLLIN)

    def _socket(self, side: str, pair: Pair, kind: int, protocol: int = 0) -> socket.socket:
        family = socket.AF_INET if pair.family == 4 else socket.AF_INET6
        made = self._fabric.spaces[side].socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, _BINDTODEVICE, f"s{pair.number}\0".encode())
        made.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
        return made

    def _udp(self, pair: Pair) -> Callable[[int], None]:
        sender, receiver = (self._socket(side, pair, socket.SOCK_DGRAM) for side in ("left", "right"))
        receiver.bind((pair.address(2), 5000))
        self._kept.append(sender)

        def arrived() -> None:
            for data, at in _datagrams(receiver):
                _note(pair, struct.unpack("!I", data[:4])[0], at)

        def send(number: int) -> None:
            pair.sent[number] = time.time()
            sender.sendto(struct.pack("!I", number) + bytes(_MESSAGE - 4), (pair.address(2), 5000))

        self._read(receiver, arrived)
        return send

    def _ping(self, pair: Pair) -> Callable[[int], None]:
        protocol = socket.IPPROTO_ICMP if pair.family == 4 else socket.IPPROTO_ICMPV6
        sender = self._socket("left", pair, socket.SOCK_RAW, protocol)
        request, reply = (8, 0) if pair.family == 4 else (128, 129)

        def arrived() -> None:
            for data, at in _datagrams(sender):
                message = data[(data[0] & 15) * 4 :] if pair.family == 4 else data
                kind, _, _, identifier, number = struct.unpack("!BBHHH", message[:8])
                if (kind, identifier) == (reply, pair.number):
                    _note(pair, number, at)

        def send(number: int) -> None:
            message = struct.pack("!BBHHH", request, 0, 0, pair.number, number) + bytes(24)
            if pair.family == 4:
                message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
            pair.sent[number] = time.time()
            sender.sendto(message, (pair.address(2), 0))

        self._read(sender, arrived)
        return send

    def _tcp(self, pair: Pair) -> Callable[[int], None]:
        listener, client = (self._socket(side, pair, socket.SOCK_STREAM) for side in ("right", "left"))
        listener.bind((pair.address(2), 5000))
        listener.listen(1)
        listener.settimeout(_PATIENCE)
        client.settimeout(_PATIENCE)

        def no_session(number: int) -> None:
            pair.sent[number] = time.time()

        try:
            client.connect((pair.address(2), 5000))
            server, _ = listener.accept()
        except OSError:
            return no_session
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def asked() -> None:
            with contextlib.suppress(OSError):
                server.send(server.recv(2048))

        def answered() -> None:
            with contextlib.suppress(OSError):
                for data, at in _datagrams(client):
                    # A retransmission arrives together with later messages.
                    for number in range(0, len(data), _MESSAGE):
                        _note(pair, struct.unpack_from("!I", data, number)[0], at)

        def send(number: int) -> None:
            pair.sent[number] = time.time()
            with contextlib.suppress(OSError):
                client.send(struct.pack("!I", number) + bytes(_MESSAGE - 4))

        self._read(server, asked)
        self._read(client, answered)
        return send


def _note(pair: Pair, number: int, at: float) -> None:
    if number in pair.sent:
        pair.took.setdefault(number, (at - pair.sent[number]) * 1000)


def _datagrams(connection: socket.socket, most: int = 100) -> list[tuple[bytes, float]]:
    """The pending datagrams, each with its kernel receive time."""
    found = []
    for _ in range(most):
        try:
            data, notes, _, _ = connection.recvmsg(2048, 128)
        except OSError:
            break
        if not data:
            break
        at = time.time()
        for level, kind, note in notes:
            if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPNS):
                seconds, nanoseconds = struct.unpack("qq", note[:16])
                at = seconds + nanoseconds / 1e9
        found.append((data, at))
    return found
