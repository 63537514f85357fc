"""The frames of `vectors.json` between Weft's switches: Hello, probes, Path frames, tagged frames, signatures."""

from __future__ import annotations

import binascii
import hashlib
import hmac
import struct
from typing import Any

from frame_vectors import Vector, tag_fields
from headers import (
    ACK,
    BROADCAST,
    CLIENT,
    IPV4,
    ISN,
    SERVER,
    SERVICE_VLAN,
    SWITCH,
    SYN,
    VLAN,
    ethernet,
    mac,
    pad,
)

HELLO, PATH = 0xFF70, 0xFFAF
TAGS = {"narrow": (0xFF1F, 13), "wide": (0xFF2F, 22)}
"""EtherType and number of DOWN bits, by tag width."""
TYPES = {"request": 1, "reply": 2, "fail": 3, "recovery_request": 4, "recovery_reply": 5}
FLOODED = {"request", "recovery_request"}
NEAREST_BRIDGE = "01:80:c2:00:00:0e"


def echo(switch: str, port: int) -> int:
    """The echo of a sender that hears this port of this switch."""
    return binascii.crc_hqx(bytes.fromhex(switch) + port.to_bytes(2, "big"), 0xFFFF) or 0xFFFF


def hello_payload(fields: Vector, flags: int, reserved: tuple[int, int] = (0, 0)) -> bytes:
    """A Hello up to its signature; without an echo or a number, its field is reserved."""
    identity = bytes.fromhex(fields["switch"])
    said = {"echo": 2, "unreached": 4, "number": 8, "misses": 16}
    flags |= sum(flag for field, flag in said.items() if field in fields)
    number = fields.get("number", reserved[0])
    start = struct.pack("!BBBBI", 1, flags, fields["tier"], number, fields["hold_ms"])
    return start + identity + struct.pack("!HHQ", fields["port"], fields.get("echo", reserved[1]), fields["sequence"])


def announcement(fields: Vector) -> bytes:
    """Which stations the sender does not reach; nothing if it does not say."""
    if "unreached" not in fields:
        return b""
    head = mac(fields["first"]) + mac(fields["last"]) + struct.pack("!H", len(fields["unreached"]))
    return head + b"".join(mac(end) for ends in fields["unreached"] for end in ends)


def sign(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-256 truncated to 16 bytes."""
    return hmac.new(key, message, hashlib.sha256).digest()[:16]


def hello(name: str, fields: Vector, key: bytes | None = None, ethertype: int = HELLO) -> Vector:
    """A Hello as sent."""
    payload, said = hello_payload(fields, 0 if key is None else 1), announcement(fields)
    signed = payload if key is None else payload + sign(key, payload)
    signed_too = said if key is None or not said else said + sign(key, payload + said)
    payload = signed + signed_too
    frame = pad(ethernet(NEAREST_BRIDGE, SWITCH, ethertype, payload, []))
    known = {"name": name, "frame": frame.hex(), "ethertype": f"{ethertype:04x}", "source": SWITCH, **fields}
    return {**known, "key": None if key is None else key.hex(), "as_sent": True}


def hellos() -> list[Vector]:
    """Hello messages."""
    plain = {"tier": 2, "hold_ms": 3000, "switch": "0123456789abcdef", "port": 7, "sequence": 1700000000000000000}
    greatest = {"tier": 255, "hold_ms": 2**32 - 1, "switch": "f" * 16, "port": 65535, "sequence": 2**64 - 1}
    everything = {"first": "00:00:00:00:00:00", "last": "ff:ff:ff:ff:ff:ff"}
    some = {**everything, "unreached": [["02:00:00:00:00:01", "02:00:00:00:00:09"], ["06:57:00:00:00:ff"] * 2]}
    many = [[f"02:00:00:00:{number:02x}:00", f"02:00:00:00:{number:02x}:7f"] for number in range(40)]
    least = {"tier": 0, "hold_ms": 0, "switch": "0" * 16, "port": 0, "sequence": 0}
    key, long_key = b"a secret of sixteen bytes or more", bytes(range(100))
    made = [
        hello("Hello", plain),
        hello("signed Hello", plain, key),
        hello("Hello that hears a neighbour", {**plain, "echo": echo("00000000000000aa", 1)}),
        hello("signed Hello that hears nobody", {**plain, "echo": 0}, key),
        hello("Hello with a number", {**plain, "number": 1}),
        hello("signed Hello that misses many", {**plain, "number": 255, "misses": True}, key),
        hello("Hello of a switch that reaches all stations", {**plain, **everything, "unreached": []}),
        hello("Hello of a switch that does not reach some", {**plain, "echo": 7, **some}),
        hello("signed Hello of a switch that does not reach some", {**plain, **some}, key),
        hello("signed Hello with the longest announcement", {**plain, **some, "unreached": many}, key),
        hello("Hello with the least of everything", least),
        hello("Hello with the greatest of everything", greatest),
        hello("signed Hello with the greatest of everything", greatest, key),
        hello("Hello signed with a key longer than a block of SHA-256", plain, long_key),
        hello("Hello of another EtherType", plain, ethertype=0x88B5),
    ]
    reserved = hello_payload(plain, 0xE0, (0xA5, 0xA5A5))
    signed = hello_payload(plain, 0xE1, (0xA5, 0xA5A5))
    for name, payload, tags, secret in [
        ("Hello with reserved bits set", reserved, [], None),
        ("signed Hello with reserved bits set", signed + sign(key, signed), [], key),
        ("Hello with a priority tag", hello_payload(plain, 0), [(VLAN, 7 << 13)], None),
        ("Hello with something behind it", hello_payload(plain, 0) + b"\xa5" * 40, [], None),
    ]:
        frame = pad(ethernet(NEAREST_BRIDGE, SWITCH, HELLO, payload, tags))
        made.append({**hello(name, plain, secret), "frame": frame.hex(), "as_sent": False})
    return made


def probe(name: str, fields: Vector, key: bytes | None = None) -> Vector:
    """A probe as sent."""
    flags = (0 if key is None else 1) | (2 if fields["blocked"] else 0) | (4 if fields["hosts_only"] else 0)
    payload = struct.pack("!BB6x8sH10x", 2, flags, bytes.fromhex(fields["switch"]), fields["port"])
    signed = payload if key is None else payload + sign(key, payload)
    frame = pad(ethernet(BROADCAST, SWITCH, HELLO, signed, []))
    return {"name": name, "frame": frame.hex(), "source": SWITCH, **fields, "key": None if key is None else key.hex()}


def probes() -> list[Vector]:
    """Probes of host ports."""
    port = {"switch": "0123456789abcdef", "port": 7}
    key = b"a secret of sixteen bytes or more"
    return [
        probe("probe", {**port, "blocked": False, "hosts_only": False}),
        probe("probe of a blocked port", {**port, "blocked": True, "hosts_only": False}),
        probe("probe of a port for hosts only", {**port, "blocked": False, "hosts_only": True}),
        probe("signed probe of a blocked port for hosts only", {**port, "blocked": True, "hosts_only": True}, key),
        probe("probe of the greatest end", {"switch": "f" * 16, "port": 65535, "blocked": False, "hosts_only": False}),
    ]


def path_header(fields: Vector, original: int, flags: int = 0) -> bytes:
    """The 20 bytes of the Path header."""
    start = struct.pack("!BBBBI", 1, TYPES[fields["type"]], fields["hops"], flags, fields["id"])
    ports = (fields["source_port"], fields["destination_port"])
    return start + mac(fields["destination"]) + struct.pack("!HHH", *ports, original)


def path_fields(kind: str, identity: int, tuple_: tuple[str, int, str, int], hops: int = 0) -> Vector:
    """The content of a Path frame; the tuple is {S, pS, D, pD}."""
    keys = ("source", "source_port", "destination", "destination_port")
    return {"type": kind, "hops": hops, "id": identity, **dict(zip(keys, tuple_, strict=True))}


def path(name: str, fields: Vector, tags: list[tuple[int, int]], ethertype: int = PATH, **spoilt: Any) -> Vector:
    """A Path frame without original; `spoilt` are flags, original and rest, which readers ignore."""
    to = BROADCAST if fields["type"] in FLOODED else fields["destination"]
    header = path_header(fields, spoilt.get("original", 0), spoilt.get("flags", 0)) + spoilt.get("rest", b"")
    frame = pad(ethernet(to, fields["source"], ethertype, header, tags))
    known = {"name": name, "frame": frame.hex(), "ethertype": f"{ethertype:04x}", "tags": tag_fields(tags), **fields}
    return {**known, "as_sent": not spoilt}


def paths() -> list[Vector]:
    """Path frames without original."""
    there, back = (CLIENT, 49152, SERVER, 80), (SERVER, 80, CLIENT, 49152)
    recovery = 0x80000001
    fail = path_fields("fail", ISN, back, 2)
    return [
        path("Path Fail towards the client", fail, []),
        path("Path Fail towards the server", path_fields("fail", ISN, there, 1), []),
        path("Path Recovery Request", path_fields("recovery_request", recovery, there), []),
        path("Path Recovery Reply", path_fields("recovery_reply", recovery, back), []),
        path("Path Recovery Request in VLAN 42", path_fields("recovery_request", recovery, there, 3), [(VLAN, 42)]),
        path("Path Fail with two tags", path_fields("fail", 0, back, 255), [(SERVICE_VLAN, 100), (VLAN, 42)]),
        path("Path Fail about two stations", path_fields("fail", 7, (SERVER, 0, CLIENT, 0)), []),
        path("Path Fail of another EtherType", fail, [], 0x88B6),
        path("Path Fail with what a reader ignores", fail, [], flags=0xFF, original=IPV4, rest=b"\xa5" * 30),
    ]


def wrap(name: str, kind: str, identity: int, original: bytes, ethertype: int = PATH) -> Vector:
    """A frame with a TCP segment and the Path frame that carries it, built from the bytes alone."""
    at = 12
    while original[at : at + 2].hex() in ("8100", "88a8"):
        at += 4
    (inner,) = struct.unpack_from("!H", original, at)
    ip = original[at + 2 :]
    ports = struct.unpack_from("!HH", ip, 4 * (ip[0] & 15) if inner == IPV4 else 40)
    destination, source = original[:6].hex(":"), original[6:12].hex(":")
    fields = path_fields(kind, identity, (source, ports[0], destination, ports[1]))
    to = mac(BROADCAST if kind in FLOODED else destination)
    header = struct.pack("!H", ethertype) + path_header(fields, inner)
    frame = to + original[6:at] + header + ip
    known = {"name": name, "original": original.hex(), "path": frame.hex(), "ethertype": f"{ethertype:04x}"}
    return {**known, "original_ethertype": f"{inner:04x}", **fields}


def wraps(frames: dict[str, tuple[bytes, Vector]]) -> list[Vector]:
    """Original frames and the Path frames that carry them."""
    made = []
    for name, (frame, fields) in frames.items():
        if fields["flags"] & SYN and "extension" not in name:
            made.append(wrap(name, "reply" if fields["flags"] & ACK else "request", ISN, frame))
    made.append(wrap("IPv4 SYN under another EtherType", "request", 0xFFFFFFFF, frames["IPv4 SYN"][0], 0x88B6))
    return made


def push(original: bytes, fields: Vector, ethertype: int | None = None) -> bytes:
    """The frame with a tag of `fields`."""
    default, bits = TAGS[fields["width"]]
    number: int = fields["queue"] << 45 | fields["up"] << bits | fields["down"]
    tag = struct.pack("!H", ethertype or default) + number.to_bytes(6, "big")
    return original[:12] + tag + original[12:]


def tagged(frames: dict[str, tuple[bytes, Vector]]) -> list[Vector]:
    """Original frames and the tagged ones."""
    syn, double = frames["IPv4 SYN without options, padded"][0], frames["IPv4 SYN with two tags, padded"][0]
    short = ethernet(SERVER, CLIENT, IPV4, b"", [])
    made = []
    for name, original, width, queue, up, down, ethertype in [
        ("the paper's example: es1 to es8 over cs2", syn, "narrow", 1, 48, 30, None),
        ("within a pod", frames["IPv6 SYN"][0], "narrow", 0, 0, 8, None),
        ("to an external link", syn, "narrow", 7, 46, 0, None),
        ("the greatest numbers", syn, "narrow", 7, (1 << 32) - 1, (1 << 13) - 1, None),
        ("under another EtherType", syn, "narrow", 0, 48, 30, 0x88B6),
        ("VLAN tags stay behind", double, "narrow", 2, 48, 30, None),
        ("a frame without payload", short, "narrow", 0, 0, 2, None),
        ("wide: the last server of k = 48 over its last core", syn, "wide", 3, 84096, 55296, None),
        ("wide: the greatest numbers", syn, "wide", 7, (1 << 23) - 1, (1 << 22) - 1, None),
        ("wide: VLAN tags stay behind", double, "wide", 0, 0, 2, None),
    ]:
        fields = {"width": width, "queue": queue, "up": up, "down": down}
        frame = push(original, fields, ethertype)
        known = {"name": name, "original": original.hex(), "tagged": frame.hex()}
        made.append({**known, "ethertype": f"{ethertype or TAGS[width][0]:04x}", **fields})
    return made


def signatures() -> list[Vector]:
    """HMAC-SHA-256 of RFC 4231, truncated to 16 bytes; case 5 is published in this form."""
    made = []
    for case, key, message in [
        (1, b"\x0b" * 20, b"Hi There"),
        (2, b"Jefe", b"what do ya want for nothing?"),
        (3, b"\xaa" * 20, b"\xdd" * 50),
        (5, b"\x0c" * 20, b"Test With Truncation"),
        (6, b"\xaa" * 131, b"Test Using Larger Than Block-Size Key - Hash Key First"),
    ]:
        signature = sign(key, message).hex()
        made.append(
            {"name": f"RFC 4231, case {case}", "key": key.hex(), "message": message.hex(), "signature": signature}
        )
    return made
