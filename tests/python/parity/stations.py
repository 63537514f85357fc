"""Stations that send raw frames, and streams between them that count lost and duplicated datagrams."""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from waiting import NeverError, paced, until

from .cell import Cell
from .fabric import Fabric
from .frames import IPV4, REPLY, REQUEST, UDP, arp, ether, ipv4, mac, udp
from .tap import CapturedFrame, Tap

Address = tuple[str, str]
"""MAC and IPv4 address."""
_GONE_S = 15.0
"""Seconds after which streams count as cut."""
_LAST = b"last"
_LAST_TRIES = 200
"""Last datagrams of a stream, until one arrives."""
_LATE_TRIES = 20
"""Looks for datagrams that the last one has overtaken."""
GAP = 0.01
"""Seconds between two datagrams of a stream."""
PORT = 4000
"""The UDP port that streams leave from."""


def address(number: int) -> Address:
    """The address of a station that no kernel has."""
    return f"02:aa:00:00:{number >> 8:02x}:{number & 255:02x}", f"10.0.{100 + (number >> 8)}.{number & 255}"


def introduce(a: tuple[Tap, Address], b: tuple[Tap, Address], patience: float = 2.0) -> bool:
    """Have two stations resolve each other by ARP; returns whether they succeed."""
    (tap_a, at_a), (tap_b, at_b) = a, b
    tap_a.send(arp(REQUEST, at_a, ("00:00:00:00:00:00", at_b[1])))
    if not _wait(tap_b, mac(at_a[0]), patience):
        return False
    tap_b.send(arp(REPLY, at_b, at_a, to=at_a[0]))
    return _wait(tap_a, mac(at_b[0]), patience)


def _wait(tap: Tap, source: bytes, patience: float) -> bool:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if any(heard.frame[6:12] == source for heard in tap.listen(0.02)):
            return True
    return False


def datagram(
    source: Address, to: Address, number: int, mark: bytes = b"weft", filling: int = 18, port: int = PORT
) -> bytes:
    """A numbered datagram from a UDP port in a frame, with this many bytes behind the number."""
    data = mark + struct.pack("!I", number) + bytes(filling)
    return ether(to[0], source[0], IPV4, ipv4(source[1], to[1], UDP, udp(data, source=port)))


def number_of(heard: CapturedFrame, mark: bytes = b"weft") -> int | None:
    """The number of such a datagram; None for other frames."""
    if heard.frame[12:14] == b"\x08\x00" and heard.frame[42:46] == mark:
        return int(struct.unpack_from("!I", heard.frame, 46)[0])
    return None


class Stream:
    """Datagrams from one station to another, one every `gap` seconds, until it ends.

    They have `filling` more bytes than their mark and their number, and leave from the UDP port `port`.

    Attributes:
        sent: When each was sent, in seconds since 1970.
        heard: When the copies of each arrived.
    """

    def __init__(
        self,
        fabric: Fabric,
        source: tuple[str, Address],
        to: tuple[str, Address],
        gap: float = GAP,
        filling: int = 18,
        port: int = PORT,
    ) -> None:
        """Start sending between two stations at these hosts."""
        self._gap, self._addresses, self._filling, self._port = gap, (source[1], to[1]), filling, port
        self._out, self._in = Tap(fabric.spaces[source[0]]), Tap(fabric.spaces[to[0]])
        self.sent: list[float] = []
        self.heard: list[tuple[int, float]] = []
        self._is_over = False
        self.known = introduce((self._out, source[1]), (self._in, to[1]))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(PermissionError):
            # Threads do not inherit it. A sender that waits for the CPU makes its leaf silent, and a silent leaf is
            # cut off while its daemon restarts, by design.
            os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        due = time.monotonic()
        while not self._stop.is_set():
            self.sent.append(time.time())
            self._out.send(datagram(*self._addresses, len(self.sent) - 1, filling=self._filling, port=self._port))
            self._take()
            due += self._gap
            self._stop.wait(max(0.0, due - time.monotonic()))

    def _take(self) -> None:
        self._out.read()
        for heard in self._in.read():
            if heard.frame[6:12] != mac(self._addresses[0][0]) or heard.frame[34:36] != self._port.to_bytes(2):
                continue
            if number_of(heard, _LAST) is not None:
                self._is_over = True
            number = number_of(heard)
            if number is not None and heard.frame[:6] == mac(self._addresses[1][0]):
                self.heard.append((number, heard.at))

    def end(self) -> None:
        """Stop sending, and receive what is still in transit, until a last datagram has arrived and none is missing.

        On another path, the last one may arrive before others.
        """
        self._stop.set()
        self._thread.join()
        for _ in zip(paced(GAP), range(_LAST_TRIES), strict=False):
            self._out.send(datagram(*self._addresses, 0, _LAST, port=self._port))
            self._take()
            if self._is_over:
                break
        for _ in zip(paced(GAP), range(_LATE_TRIES), strict=False):
            if not self.lost:
                break
            self._take()
        self._out.close()
        self._in.close()

    @property
    def lost(self) -> int:
        """Datagrams that never arrived."""
        return len(self.sent) - len({number for number, _ in self.heard})

    @property
    def doubled(self) -> int:
        """Datagrams that arrived more than once."""
        return sum(count > 1 for count in Counter(number for number, _ in self.heard).values())

    @property
    def outage_ms(self) -> float:
        """The longest time for which every datagram was lost, in milliseconds."""
        return longest_outage(self.sent, {number for number, _ in self.heard}) * 1000


def longest_outage(sent: Sequence[float], heard: Collection[int]) -> float:
    """The longest time, in seconds, for which every datagram was lost; `sent` is when each was sent.

    Each counts for the time until the next one, but at most two gaps: a sender that waits for the CPU on a busy
    machine indicates nothing about the network.
    """
    longest = lasts = 0.0
    for number, at in enumerate(sent):
        until = sent[number + 1] if number + 1 < len(sent) else at + GAP
        lasts = 0.0 if number in heard else lasts + min(until - at, 2 * GAP)
        longest = max(longest, lasts)
    return longest


@contextlib.contextmanager
def others(fabric: Fabric, base: int) -> Iterator[list[Stream]]:
    """Streams between uninvolved stations: across leaves in both directions, and within one."""
    ways = (("h1", "h3"), ("h3", "h1"), ("h1", "h2"), ("h4", "h2"))
    streams = [
        Stream(fabric, (source, address(base + 2 * at)), (to, address(base + 2 * at + 1)))
        for at, (source, to) in enumerate(ways)
    ]
    flow(streams)
    try:
        yield streams
    finally:
        for stream in streams:
            stream.end()


def flow(streams: Sequence[Stream], count: int = 30) -> None:
    """Wait until streams have been sent this many datagrams more, and those that arrive at all have arrived."""

    def later() -> bool:
        return all(len(stream.sent) >= wanted for stream, wanted in zip(streams, goals, strict=True)) and all(
            not stream.known or any(number >= first for number, _ in stream.heard[-count:])
            for stream, first in zip(streams, begun, strict=True)
        )

    begun = [len(stream.sent) for stream in streams]
    goals = [first + count for first in begun]
    with contextlib.suppress(NeverError):  # Then they are lost, which is recorded.
        until("datagrams of all streams", later, patience_s=_GONE_S)


def undisturbed(cell: Cell, streams: Sequence[Stream], *, lossless: bool = True) -> None:
    """Record whether uninvolved stations found each other, and got each datagram once, or with losses at most once."""
    assert len(streams) == 4
    cell.fact("others found each other", [stream.known for stream in streams], [True] * len(streams))
    cell.fact("others duplicated", [stream.doubled for stream in streams], [0] * len(streams))
    if lossless:
        cell.fact("others lost", [stream.lost for stream in streams], [0] * len(streams))
