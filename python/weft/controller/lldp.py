"""The controller's LLDP frames (IEEE 802.1AB): the sending port, and proof that this controller created the frame.

A frame carries the datapath id and port number it was sent from, as chassis and port id of subtype 7 (locally
assigned), and one organisationally specific TLV:

    3 bytes   06:57:46, locally administered
    1         subtype, 1
    8         random id of the controller, drawn at startup
    8         sequence number, incremented with every frame of the port
    16        the first 16 bytes of HMAC-SHA-256, under a key that only this controller knows, over datapath id (8
              bytes), port (4), id of the controller and number

A host sees the frames sent to its port and can replay one elsewhere only while its sequence number is current; it
cannot forge a frame of a port that it is not attached to.
"""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass

ETHERTYPE = 0x88CC
NEAREST_BRIDGE = bytes.fromhex("0180c200000e")
"""Not forwarded by bridges (IEEE 802.1Q, 8.6.3)."""
LONGEST = 1518
"""Maximum frame size in bytes; longer frames are ignored."""

_ORGANISATION = bytes.fromhex("065746")
_SUBTYPE = 1
_END, _CHASSIS, _PORT, _TTL, _SPECIFIC = 0, 1, 2, 3, 127
_LOCALLY_ASSIGNED = 7
_PROOF = struct.Struct("!QIQQ")
_PROOF_BYTES = 16
_OWN = struct.Struct(f"!3sBQQ{_PROOF_BYTES}s")


@dataclass(frozen=True)
class Signer:
    """Creates frames with the controller's id, and recognises its own by a key of at least 16 secret bytes."""

    controller: int
    key: bytes

    def proof(self, dpid: int, port: int, number: int) -> bytes:
        """The message authentication code of these numbers."""
        return hmac.digest(self.key, _PROOF.pack(dpid, port, self.controller, number), "sha256")[:_PROOF_BYTES]

    def frame(self, dpid: int, port: int, address: bytes, number: int, ttl_s: int) -> bytes:
        """A frame to send from a port of a switch, which has the MAC `address`.

        `number` is higher than in all earlier frames of the port, `ttl_s` the lifetime in seconds.
        """
        own = _OWN.pack(_ORGANISATION, _SUBTYPE, self.controller, number, self.proof(dpid, port, number))
        parts = (
            _tlv(_CHASSIS, bytes([_LOCALLY_ASSIGNED]) + f"weft:{dpid:016x}".encode("ascii")),
            _tlv(_PORT, bytes([_LOCALLY_ASSIGNED]) + str(port).encode("ascii")),
            _tlv(_TTL, struct.pack("!H", ttl_s)),
            _tlv(_SPECIFIC, own),
            _tlv(_END, b""),
        )
        frame = NEAREST_BRIDGE + address + struct.pack("!H", ETHERTYPE) + b"".join(parts)
        return frame.ljust(60, b"\0")

    def knows(self, seen: Seen) -> bool:
        """Whether a frame with this controller's id was created with its key."""
        return hmac.compare_digest(seen.proof, self.proof(seen.dpid, seen.port, seen.number))


@dataclass(frozen=True)
class Seen:
    """The contents of a Weft controller's frame, not yet verified."""

    dpid: int
    port: int
    controller: int
    number: int
    proof: bytes


@dataclass(frozen=True)
class Foreign:
    """A frame of another device: its chassis id in printable form, and whether it looks like a controller's."""

    chassis: str
    is_controller: bool


def read(frame: bytes) -> Seen | Foreign | None:
    """Parse an LLDP frame; None if it is malformed."""
    if len(frame) > LONGEST:
        return None
    parts = _parts(frame)
    if parts is None or [kind for kind, _ in parts[:3]] != [_CHASSIS, _PORT, _TTL]:
        return None
    chassis, port = parts[0][1], parts[1][1]
    for kind, value in parts[3:]:
        if kind != _SPECIFIC or len(value) != _OWN.size:
            continue
        organisation, subtype, controller, number, proof = _OWN.unpack(value)
        if organisation != _ORGANISATION or subtype != _SUBTYPE:
            continue
        try:
            label, _, dpid = chassis[1:].decode("ascii").partition(":")
            if label != "weft" or len(dpid) != 16:
                return None
            where = int(dpid, 16), int(port[1:].decode("ascii"))
        except ValueError:
            return None
        if not 0 <= where[1] < 2**32:
            return None
        return Seen(*where, controller, number, proof)
    # Ryu, os-ken and Faucet send `dpid:` and 16 digits, ONOS `of:`, OpenDaylight `openflow:`.
    text = "".join(one if one.isprintable() else "." for one in chassis[1:40].decode("latin-1"))
    return Foreign(text, text.startswith(("dpid:", "of:", "openflow:")))


def _tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!H", kind << 9 | len(value)) + value


def _parts(frame: bytes) -> list[tuple[int, bytes]] | None:
    """Type and value of each TLV before the end; None if one exceeds the frame or is too short."""
    parts: list[tuple[int, bytes]] = []
    place = 14
    while place + 2 <= len(frame):
        (head,) = struct.unpack_from("!H", frame, place)
        kind, length = head >> 9, head & 0x1FF
        if kind == _END:
            return parts
        value = frame[place + 2 : place + 2 + length]
        if len(value) < length or (kind in (_CHASSIS, _PORT) and length < 2):
            return None
        parts.append((kind, value))
        place += 2 + length
    return parts
