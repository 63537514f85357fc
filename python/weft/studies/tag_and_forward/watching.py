"""The example of section IV on the wire: the switches that its packet reaches, and its tags."""

import socket
import struct
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass

from ...emulation.namespace import entered
from .flows import EXAMPLE, Flow
from .testbed import Testbed

TAG = 0xFF1F
"""The EtherType of the paper's tag (docs/wire-format.md)."""
_IPV4, _UDP, _EVERYTHING = 0x0800, 17, 0x0003
_PORT = 9
_PATIENCE_S = 1.0
"""Timeout for a packet, in seconds."""


@dataclass(frozen=True)
class Seen:
    """A packet at a node it has reached; without a tag the last three are None."""

    at: str
    queue: int | None
    up: int | None
    down: int | None


def watched(testbed: Testbed, flow: Flow) -> list[dict[str, object]]:
    """Send a packet of a flow; returns the nodes it reached, in the order of the flow's path.

    Switches have to be in the namespace of this process, like Weft's own.
    """
    frame = _frame(testbed, flow)
    with ExitStack() as stack:
        listening = []
        for at, interface in _arrivals(testbed, flow):
            place = testbed.place(at)
            with entered(place):
                listening.append((at, stack.enter_context(_packet_socket(interface))))
        with entered(testbed.place(flow.from_server)), _packet_socket(testbed.interface(flow.from_server)) as sending:
            sending.send(frame)
        seen = [_seen(at, there, frame) for at, there in listening]
    return [asdict(one) for one in seen if one is not None]


def read(frame: bytes, whole: bytes) -> tuple[int | None, int | None, int | None] | None:
    """Queue, UP and DOWN of a frame's tag, None each if it has none; None if it is not `whole` with at most a tag."""
    if frame == whole:
        return None, None, None
    if frame[12:14] != TAG.to_bytes(2, "big") or frame[:12] + frame[20:] != whole:
        return None
    bits = int.from_bytes(frame[14:20], "big")
    return bits >> 45, bits >> 13 & 0xFFFFFFFF, bits & 0x1FFF


def _arrivals(testbed: Testbed, flow: Flow) -> list[tuple[str, str]]:
    """The places where packets of a flow arrive: the nodes after its hops, and their interfaces."""
    behind = {}
    for cable in testbed.plan.cables:
        for end, other in cable.directions:
            behind[end.node, end.port] = (other.node, testbed.plan.interface(other))
    return [behind[hop.switch, hop.port] for hop in flow.way.hops]


def _seen(at: str, there: socket.socket, whole: bytes) -> Seen | None:
    until = time.monotonic() + _PATIENCE_S
    while (left := until - time.monotonic()) > 0:
        there.settimeout(left)
        try:
            frame, address = there.recvfrom(2048)
        except TimeoutError:
            return None
        found = read(frame, whole) if address[2] != socket.PACKET_OUTGOING else None
        if found is not None:
            return Seen(at, *found)
    return None


def _packet_socket(interface: str) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERYTHING))
    opened.bind((interface, 0))
    return opened


def _frame(testbed: Testbed, flow: Flow) -> bytes:
    """A packet of a flow, long enough to need no Ethernet padding."""
    source, destination = map(socket.inet_aton, EXAMPLE)
    data = bytes(range(64))
    udp = struct.pack("!HHHH", _PORT, _PORT, 8 + len(data), 0) + data
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, _UDP, 0, source, destination)
    head = head[:10] + struct.pack("!H", _checksum(head)) + head[12:]
    macs = (testbed.mac(flow.to_server), testbed.mac(flow.from_server))
    addresses = b"".join(bytes.fromhex(mac.replace(":", "")) for mac in macs)
    return addresses + _IPV4.to_bytes(2, "big") + head + udp


def _checksum(header: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF
