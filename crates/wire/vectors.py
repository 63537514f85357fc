"""Makes `vectors.json`: frames of every kind that `weft-wire` parses, with their content or the reason of rejection.

Written from docs/wire-format.md and the RFCs with the Python standard library only, so that two implementations check
each other. Run without arguments to recreate the file, with `--seeds DIR` to write the frames as files for a fuzzer.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
import sys
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import option_vectors

Vector = dict[str, Any]

OUTPUT = Path(__file__).with_name("vectors.json")

HELLO, PATH = 0xFF70, 0xFFAF
TAGS = {"narrow": (0xFF1F, 13), "wide": (0xFF2F, 22)}
"""EtherType and number of DOWN bits, by tag width."""
IPV4, ARP, VLAN, IPV6, SERVICE_VLAN = 0x0800, 0x0806, 0x8100, 0x86DD, 0x88A8
TYPES = {"request": 1, "reply": 2, "fail": 3, "recovery_request": 4, "recovery_reply": 5}
FLOODED = {"request", "recovery_request"}
FIN, SYN, RST, PSH, ACK, ECE, CWR = 0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80

BROADCAST = "ff:ff:ff:ff:ff:ff"
NEAREST_BRIDGE = "01:80:c2:00:00:0e"
CLIENT, SERVER, SWITCH = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:77:00:00:00:07"
CLIENT4, SERVER4 = IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2")
CLIENT6, SERVER6 = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2")
ISN = 0x1A2B3C4D
SYN_OPTIONS = bytes.fromhex("020405b4 0402080a 00000001 00000000 01030307")
"""Maximum segment size 1460, SACK permitted, timestamps, window scale 7, as sent by Linux."""

MIN_FRAME = 60


def mac(address: str) -> bytes:
    """The six bytes of a MAC address."""
    return bytes.fromhex(address.replace(":", ""))


def pad(frame: bytes) -> bytes:
    """The frame padded to the Ethernet minimum, without frame check sequence."""
    return frame.ljust(MIN_FRAME, b"\0")


def ethernet(destination: str, source: str, ethertype: int, payload: bytes, tags: list[tuple[int, int]]) -> bytes:
    """A frame; `tags` are (TPID, TCI), the outer one first."""
    between = b"".join(struct.pack("!HH", *tag) for tag in tags)
    return mac(destination) + mac(source) + between + struct.pack("!H", ethertype) + payload


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def upper_checksum(source: bytes, destination: bytes, protocol: int, data: bytes) -> int:
    """The checksum of TCP or ICMPv6, over the pseudo-header too (RFC 9293, section 3.1; RFC 8200, section 8.1)."""
    layout = "!BBH" if len(source) == 4 else "!I3xB"
    rest = (0, protocol, len(data)) if len(source) == 4 else (len(data), protocol)
    return checksum(source + destination + struct.pack(layout, *rest) + data)


def ipv4(source: IPv4Address, destination: IPv4Address, protocol: int, payload: bytes, **fields: Any) -> bytes:
    """An IPv4 packet; `fields` are tos, fragment (flags and offset) and options."""
    options: bytes = fields.get("options", b"")
    words = 5 + len(options) // 4
    length = 4 * words + len(payload)
    fragment = fields.get("fragment", 0x4000)
    start = struct.pack("!BBHHHBB", 4 << 4 | words, fields.get("tos", 0), length, 0, fragment, 64, protocol)
    ends = source.packed + destination.packed + options
    return start + struct.pack("!H", checksum(start + b"\0\0" + ends)) + ends + payload


def ipv6(source: IPv6Address, destination: IPv6Address, protocol: int, payload: bytes, **fields: Any) -> bytes:
    """An IPv6 packet; `fields` are traffic_class, flow_label and hop_limit."""
    first = 6 << 28 | fields.get("traffic_class", 0) << 20 | fields.get("flow_label", 0)
    start = struct.pack("!IHBB", first, len(payload), protocol, fields.get("hop_limit", 64))
    return start + source.packed + destination.packed + payload


def tcp(
    ends: tuple[Any, Any], ports: tuple[int, int], sequence: int, acknowledgement: int, flags: int, **more: bytes
) -> bytes:
    """A TCP segment between two IP addresses; `more` are options and data."""
    options, data = more.get("options", b""), more.get("data", b"")
    offset = 5 + len(options) // 4
    numbers = struct.pack("!HHIIBBH", *ports, sequence, acknowledgement, offset << 4, flags, 64240)
    check = upper_checksum(ends[0].packed, ends[1].packed, 6, numbers + b"\0" * 4 + options + data)
    return numbers + struct.pack("!HH", check, 0) + options + data


def hello_payload(fields: Vector, flags: int, reserved: tuple[int, int] = (0, 0)) -> bytes:
    """A Hello up to its signature."""
    identity = bytes.fromhex(fields["switch"])
    start = struct.pack("!BBBBI", 1, flags, fields["tier"], reserved[0], fields["hold_ms"])
    return start + identity + struct.pack("!HHQ", fields["port"], reserved[1], fields["sequence"])


def sign(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-256 truncated to 16 bytes."""
    return hmac.new(key, message, hashlib.sha256).digest()[:16]


def hello(name: str, fields: Vector, key: bytes | None = None, ethertype: int = HELLO) -> Vector:
    """A Hello as sent."""
    payload = hello_payload(fields, 0 if key is None else 1)
    payload += b"" if key is None else sign(key, payload)
    frame = pad(ethernet(NEAREST_BRIDGE, SWITCH, ethertype, payload, []))
    known = {"name": name, "frame": frame.hex(), "ethertype": f"{ethertype:04x}", "source": SWITCH, **fields}
    return {**known, "key": None if key is None else key.hex(), "as_sent": True}


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


def tag_fields(tags: list[tuple[int, int]]) -> list[Vector]:
    """VLAN tags in the file's format."""
    return [{"tpid": f"{tpid:04x}", "tci": tci} for tpid, tci in tags]


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


def segments() -> dict[str, tuple[bytes, Vector]]:
    """Frames with TCP segments and their content, by name."""
    made: dict[str, tuple[bytes, Vector]] = {}

    def add(name: str, version: int, back: bool, numbers: tuple[int, int, int], **more: Any) -> None:
        hosts, ports = ([CLIENT, SERVER], (49152, 80)) if not back else ([SERVER, CLIENT], (80, 49152))
        both: tuple[Any, Any] = (CLIENT4, SERVER4) if version == 4 else (CLIENT6, SERVER6)
        ends = both[::-1] if back else both
        tags, data, tos = more.get("tags", []), more.get("data", b""), more.get("tos", 0)
        segment = tcp(ends, ports, *numbers, options=more.get("options", SYN_OPTIONS), data=data)
        if version == 4:
            packet = ipv4(*ends, 6, segment, tos=tos, options=more.get("ip_options", b""))
        else:
            protocol, before = more.get("extensions", (6, b""))
            packet = ipv6(*ends, protocol, before + segment, traffic_class=tos, flow_label=more.get("label", 0))
        frame = ethernet(hosts[1], hosts[0], IPV4 if version == 4 else IPV6, packet, tags)
        frame = pad(frame) if more.get("padded", True) else frame
        sequence, acknowledgement, flags = numbers
        addresses = {"source": hosts[0], "source_port": ports[0], "destination": hosts[1], "destination_port": ports[1]}
        ip = {"ip_source": str(ends[0]), "ip_destination": str(ends[1]), "dscp": tos >> 2, "ecn": tos & 3}
        numbered = {"sequence": sequence, "acknowledgement": acknowledgement, "flags": flags}
        made[name] = frame, {"tags": tag_fields(tags), **addresses, **ip, **numbered, "data": data.hex()}

    syn, syn_ack = (ISN, 0, SYN), (0x0BADCAFE, ISN + 1, SYN | ACK)
    add("IPv4 SYN", 4, False, syn)
    add("IPv4 SYN without options, padded", 4, False, syn, options=b"")
    add("IPv4 SYN without options or padding", 4, False, syn, options=b"", padded=False)
    add("IPv4 SYN that asks for ECN", 4, False, (ISN, 0, SYN | ECE | CWR), tos=46 << 2)
    add("IPv4 SYN with IP options", 4, False, syn, ip_options=bytes.fromhex("94040000"))
    add("IPv4 SYN with data (Fast Open)", 4, False, syn, data=b"GET / HTTP/1.0\r\n\r\n")
    add("IPv4 SYN in VLAN 42", 4, False, syn, tags=[(VLAN, 3 << 13 | 42)])
    add("IPv4 SYN with two tags, padded", 4, False, syn, options=b"", tags=[(SERVICE_VLAN, 100), (VLAN, 42)])
    add("IPv4 SYN+ACK", 4, True, syn_ack)
    add("IPv4 data", 4, False, (ISN + 1, 0x0BADCAFF, PSH | ACK), options=b"", data=b"hello", tos=2)
    add("IPv4 FIN", 4, True, (0x0BADCAFF, ISN + 6, FIN | ACK), options=b"")
    add("IPv4 RST", 4, True, (0xFFFFFFFF, 0, RST), options=b"")
    add("IPv6 SYN", 6, False, syn, label=0x98765)
    add("IPv6 SYN in VLAN 42", 6, False, syn, tags=[(VLAN, 42)])
    add("IPv6 SYN+ACK", 6, True, syn_ack, tos=1)
    extensions = bytes([60, 0, 1, 4, 0, 0, 0, 0]) + bytes([44, 0, 1, 4, 0, 0, 0, 0]) + bytes([6, 0, 0, 0, 0, 0, 0, 9])
    add("IPv6 SYN behind extension headers", 6, False, syn, extensions=(0, extensions))
    return made


def hellos() -> list[Vector]:
    """Hello messages."""
    plain = {"tier": 2, "hold_ms": 3000, "switch": "0123456789abcdef", "port": 7, "sequence": 1700000000000000000}
    greatest = {"tier": 255, "hold_ms": 2**32 - 1, "switch": "f" * 16, "port": 65535, "sequence": 2**64 - 1}
    least = {"tier": 0, "hold_ms": 0, "switch": "0" * 16, "port": 0, "sequence": 0}
    key, long_key = b"a secret of sixteen bytes or more", bytes(range(100))
    made = [
        hello("Hello", plain),
        hello("signed Hello", plain, key),
        hello("Hello with the least of everything", least),
        hello("Hello with the greatest of everything", greatest),
        hello("signed Hello with the greatest of everything", greatest, key),
        hello("Hello signed with a key longer than a block of SHA-256", plain, long_key),
        hello("Hello of another EtherType", plain, ethertype=0x88B5),
    ]
    reserved = hello_payload(plain, 0xFE, (0xA5, 0xA5A5))
    signed = hello_payload(plain, 0xFF, (0xA5, 0xA5A5))
    for name, payload, tags, secret in [
        ("Hello with reserved bits set", reserved, [], None),
        ("signed Hello with reserved bits set", signed + sign(key, signed), [], key),
        ("Hello with a priority tag", hello_payload(plain, 0), [(VLAN, 7 << 13)], None),
        ("Hello with something behind it", hello_payload(plain, 0) + b"\xa5" * 40, [], None),
    ]:
        frame = pad(ethernet(NEAREST_BRIDGE, SWITCH, HELLO, payload, tags))
        made.append({**hello(name, plain, secret), "frame": frame.hex(), "as_sent": False})
    return made


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


def arps() -> list[Vector]:
    """ARP packets."""
    made = []
    for name, operation, sender, target, to, tags in [
        ("ARP Request", "request", (CLIENT, CLIENT4), ("00:00:00:00:00:00", SERVER4), BROADCAST, []),
        ("ARP Reply", "reply", (SERVER, SERVER4), (CLIENT, CLIENT4), CLIENT, []),
        ("ARP Request in VLAN 42", "request", (CLIENT, CLIENT4), (SERVER, SERVER4), BROADCAST, [(VLAN, 42)]),
    ]:
        start = struct.pack("!HHBBH", 1, IPV4, 6, 4, 1 if operation == "request" else 2)
        packet = start + mac(sender[0]) + sender[1].packed + mac(target[0]) + target[1].packed
        frame = pad(ethernet(to, sender[0], ARP, packet, tags))
        who = {"sender": sender[0], "sender_ip": str(sender[1]), "target": target[0], "target_ip": str(target[1])}
        made.append({"name": name, "frame": frame.hex(), "operation": operation, **who})
    return made


def datagram(ports: tuple[int, int], data: bytes, length: int | None = None) -> bytes:
    """A UDP datagram without checksum."""
    return struct.pack("!HHHH", *ports, 8 + len(data) if length is None else length, 0) + data


def datagrams() -> list[Vector]:
    """Frames with UDP datagrams."""
    made = []
    for name, whole, data in [
        ("UDP", datagram((49152, 53), b"question"), b"question"),
        ("UDP without data", datagram((0, 9), b""), b""),
        ("UDP that ends before the packet", datagram((1, 2), b"data and more", 12), b"data"),
        ("UDP cut off", datagram((1, 2), b"da", 12), b"da"),
    ]:
        frame = pad(ethernet(SERVER, CLIENT, IPV4, ipv4(CLIENT4, SERVER4, 17, whole), []))
        ports = dict(zip(("source_port", "destination_port"), struct.unpack("!HH", whole[:4]), strict=True))
        made.append({"name": name, "frame": frame.hex(), **ports, "data": data.hex()})
    return made


def neighbor(destination: tuple[str, IPv6Address], kind: int, option: bytes, hop_limit: int = 255) -> bytes:
    """A frame with a message of neighbour discovery about the server, from the client (135) or the server (136)."""
    source = (CLIENT, CLIENT6) if kind == 135 else (SERVER, SERVER6)
    flags = 0 if kind == 135 else 0x60000000
    body = struct.pack("!I", flags) + SERVER6.packed + option
    check = upper_checksum(source[1].packed, destination[1].packed, 58, struct.pack("!BBH", kind, 0, 0) + body)
    message = struct.pack("!BBH", kind, 0, check) + body
    packet = ipv6(source[1], destination[1], 58, message, hop_limit=hop_limit)
    return ethernet(destination[0], source[0], IPV6, packet, [])


SOLICITED = ("33:33:ff:00:00:02", IPv6Address("ff02::1:ff00:2"))


def neighbors() -> list[Vector]:
    """Messages of neighbour discovery."""
    made = []
    for name, operation, frame in [
        ("Neighbor Solicitation", "solicitation", neighbor(SOLICITED, 135, b"\1\1" + mac(CLIENT))),
        ("Neighbor Advertisement", "advertisement", neighbor((CLIENT, CLIENT6), 136, b"\2\1" + mac(SERVER))),
        ("Neighbor Solicitation without option", "solicitation", neighbor((SERVER, SERVER6), 135, b"")),
    ]:
        made.append({"name": name, "frame": frame.hex(), "operation": operation, "target": str(SERVER6)})
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


def invalid(frames: dict[str, tuple[bytes, Vector]]) -> list[Vector]:
    """Frames rejected by a reader: the counter, and the values of the error."""
    made: list[Vector] = []

    def add(name: str, reader: str, frame: bytes, counter: str, *values: int, **more: str) -> None:
        error = {"counter": counter, "values": list(values)}
        made.append({"name": name, "reader": reader, "frame": frame.hex(), **more, "error": error})

    def change(frame: bytes, at: int, value: str) -> bytes:
        new = bytes.fromhex(value)
        return frame[:at] + new + frame[at + len(new) :]

    key = b"a secret of sixteen bytes or more"
    said = {"tier": 1, "hold_ms": 1000, "switch": "00000000000000aa", "port": 1, "sequence": 1}
    plain, signed = (bytes.fromhex(hello("", said, secret)["frame"]) for secret in (None, key))
    syn, syn6 = frames["IPv4 SYN"][0], frames["IPv6 SYN"][0]
    request = bytes.fromhex(wrap("", "request", ISN, syn)["path"])
    fail = bytes.fromhex(path("", path_fields("fail", ISN, (CLIENT, 1, SERVER, 2)), [])["frame"])
    tagged = frames["IPv4 SYN in VLAN 42"][0]

    add("nothing", "tcp", b"", "short", 14, 0)
    add("half an Ethernet header", "tcp", syn[:13], "short", 14, 13)
    add("half a VLAN tag", "tcp", tagged[:17], "short", 18, 17)

    add("Hello without its last byte", "hello", plain[: 14 + 27], "short", 28, 27)
    add("Hello without payload", "hello", plain[:14], "short", 28, 0)
    add("signed Hello without its last byte", "hello", signed[: 14 + 43], "short", 44, 43)
    add("Hello of version 0", "hello", change(plain, 14, "00"), "version", 0)
    add("Hello of version 2", "hello", change(plain, 14, "02"), "version", 2)
    add("Hello to all", "hello", change(plain, 0, "ffffffffffff"), "destination")
    add("Hello under the EtherType of Path frames", "hello", change(plain, 12, "ffaf"), "ethertype", PATH)
    add("Hello without signature where a key is set", "verify", plain, "unsigned", key=key.hex())
    add("Hello signed with another key", "verify", signed, "signature", key=b"another".hex())
    add("signed Hello with another tier", "verify", change(signed, 16, "02"), "signature", key=key.hex())
    add("signed Hello with another sequence", "verify", change(signed, 41, "02"), "signature", key=key.hex())
    add("signed Hello with another reserved bit", "verify", change(signed, 33, "01"), "signature", key=key.hex())
    add("signed Hello with another signature", "verify", change(signed, 57, "ff"), "signature", key=key.hex())

    add("Path frame without its last byte", "path", fail[: 14 + 19], "short", 20, 19)
    add("Path frame without payload", "path", fail[:14], "short", 20, 0)
    add("Path frame of version 0", "path", change(fail, 14, "00"), "version", 0)
    add("Path frame of version 2", "path", change(fail, 14, "02"), "version", 2)
    add("Path frame of type 0", "path", change(fail, 15, "00"), "type", 0)
    add("Path frame of type 6", "path", change(fail, 15, "06"), "type", 6)
    add("Path Request without ports", "path", change(request, 28, "00000000"), "type", 1)
    add("TCP segment without ports", "tcp", change(syn, 34, "00000000"), "unsupported", 0)
    add("Path frame of version 2 and type 6", "path", change(fail, 14, "0206"), "version", 2)
    add("an ordinary frame as a Path frame", "path", syn, "ethertype", IPV4)
    add("Path Fail unwrapped", "unwrap", fail, "no_original", 3)
    add("Path Request of version 2 unwrapped", "unwrap", change(request, 14, "02"), "version", 2)
    add("Path Request wrapped again", "wrap", request, "ethertype", PATH)

    up_and_down = {"width": "narrow", "queue": 1, "up": 48, "down": 30}
    forward = push(syn, up_and_down)
    add("tag without its last byte", "tag", forward[:19], "short", 22, 19)
    add("tag without the EtherType of what is inside", "tag", forward[:21], "short", 22, 21)
    add("tag cut off in its EtherType", "tag", forward[:13], "short", 14, 13)
    add("tag that names no gate", "tag", change(forward, 14, "200000000000"), "missing")
    add("tag behind a tag", "tag", push(forward, up_and_down), "repeated")
    add(
        "wide tag read as a narrow one",
        "tag",
        push(syn, {**up_and_down, "width": "wide"}),
        "ethertype",
        TAGS["wide"][0],
    )
    add("narrow tag read as a wide one", "wide_tag", forward, "ethertype", TAGS["narrow"][0])
    add("wide tag that names no gate", "wide_tag", change(forward, 12, "ff2fe00000000000"), "missing")
    behind = ethernet(SERVER, CLIENT, TAGS["narrow"][0], forward[14:], [(VLAN, 42)])
    add("tag behind a VLAN tag", "tag", behind, "ethertype", VLAN)
    add("a tagged frame tagged again", "push", forward, "repeated")
    add("half an Ethernet header tagged", "push", syn[:13], "short", 14, 13)

    udp = ethernet(SERVER, CLIENT, IPV4, ipv4(CLIENT4, SERVER4, 17, bytes(20)), [])
    add("UDP wrapped", "wrap", udp, "protocol", 17)
    first, last = (
        ethernet(SERVER, CLIENT, IPV4, ipv4(CLIENT4, SERVER4, 6, syn[34:], fragment=f), []) for f in (0x2000, 1)
    )
    add("the first fragment of a segment", "wrap", first, "fragment")
    add("the last fragment of a segment", "tcp", last, "fragment")
    add("IPv4 of version 5", "tcp", change(syn, 14, "55"), "version", 5)
    add("IPv4 with a header of 16 bytes", "tcp", change(syn, 14, "44"), "header_length", 20, 16)
    add("IPv4 shorter than its header", "tcp", change(syn, 16, "0013"), "header_length", 20, 19)
    add("IPv4 with half a header", "tcp", syn[: 14 + 19], "short", 20, 19)
    add("TCP with half a header", "tcp", syn[: 34 + 19], "short", 20, 19)
    add("TCP cut off by the total length", "tcp", change(syn, 16, "0027"), "short", 20, 19)
    add("TCP with a header of 16 bytes", "tcp", change(syn, 46, "40"), "header_length", 20, 16)
    add("TCP with half its options", "tcp", syn[: 34 + 39], "short", 40, 39)
    add("IPv6 of version 4", "tcp", change(syn6, 14, "40"), "version", 4)
    add("IPv6 with half a header", "tcp", syn6[: 14 + 39], "short", 40, 39)
    many = ipv6(CLIENT6, SERVER6, 60, bytes([60, 0, 1, 4, 0, 0, 0, 0]) * 7 + syn6[54:])
    add("IPv6 with seven extension headers", "tcp", ethernet(SERVER, CLIENT, IPV6, many, []), "extensions")
    long = ipv6(CLIENT6, SERVER6, 60, bytes([6, 1, 1, 4, 0, 0, 0, 0]))
    add("IPv6 with half an extension header", "tcp", ethernet(SERVER, CLIENT, IPV6, long, []), "short", 16, 8)
    part = ipv6(CLIENT6, SERVER6, 44, struct.pack("!BBHI", 6, 0, 8 << 3, 9) + syn6[54:])
    add("a later fragment over IPv6", "tcp", ethernet(SERVER, CLIENT, IPV6, part, []), "fragment")
    three = ethernet(SERVER, CLIENT, IPV4, syn[14:], [(SERVICE_VLAN, 1), (VLAN, 2), (VLAN, 3)])
    add("three VLAN tags", "tcp", three, "ethertype", VLAN)
    add("an IEEE 802.3 frame with a length", "tcp", change(syn, 12, "0026"), "ethertype", 0x26)

    add("half a UDP header", "udp", udp[: 34 + 7], "short", 8, 7)
    add("UDP of length 7", "udp", change(udp, 38, "0007"), "header_length", 8, 7)

    request_arp = bytes.fromhex(arps()[0]["frame"])
    add("ARP without its last byte", "arp", request_arp[: 14 + 27], "short", 28, 27)
    add("ARP of another hardware", "arp", change(request_arp, 14, "0006"), "unsupported", 6)
    add("ARP for another protocol", "arp", change(request_arp, 16, "86dd"), "unsupported", IPV6)
    add("ARP with longer addresses", "arp", change(request_arp, 18, "08"), "unsupported", 8)
    add("reverse ARP", "arp", change(request_arp, 20, "0003"), "unsupported", 3)
    solicitation = bytes.fromhex(neighbors()[0]["frame"])
    add("Router Solicitation", "neighbor", change(solicitation, 54, "85"), "type", 133)
    add(
        "Neighbor Solicitation from beyond a router", "neighbor", neighbor(SOLICITED, 135, b"", 254), "unsupported", 254
    )
    add("Neighbor Solicitation with a code", "neighbor", change(solicitation, 55, "01"), "unsupported", 1)
    add("half a Neighbor Solicitation", "neighbor", solicitation[: 54 + 23], "short", 24, 23)
    return made


def vectors() -> dict[str, list[Vector]]:
    """The content of the file."""
    frames = segments()
    return {
        "hello": hellos(),
        "path": paths(),
        "wrap": wraps(frames),
        "tag": tagged(frames),
        "tcp": [{"name": name, "frame": frame.hex(), **fields} for name, (frame, fields) in frames.items()],
        "arp": arps(),
        "neighbor": neighbors(),
        "signature": signatures(),
        "udp": datagrams(),
        "option": option_vectors.options(),
        "malformed_option": option_vectors.malformed_options(),
        "key": option_vectors.keys(),
        "join": option_vectors.joins(),
        "announcement": option_vectors.announcements(),
        "invalid": invalid(frames),
    }


def text() -> str:
    """The file."""
    return json.dumps(vectors(), indent=1) + "\n"


def seeds() -> list[bytes]:
    """Every frame, including those of `captures.json`, and every list of options after a byte of flags."""
    made = []
    for group in vectors().values():
        for vector in group:
            made += [bytes.fromhex(vector[key]) for key in ("frame", "original", "path", "tagged") if key in vector]
            if "bytes" in vector:
                made += [bytes([flags]) + bytes.fromhex(vector["bytes"]) + b"\1\1\1" for flags in (SYN, SYN | ACK, ACK)]
    captures = json.loads(OUTPUT.with_name("captures.json").read_text())["captures"]
    return made + [bytes.fromhex(frame["frame"]) for capture in captures for frame in capture["frames"]]


def write_seeds(directory: Path) -> None:
    """Write every seed to a file named by its hash."""
    directory.mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (directory / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--seeds"] and len(sys.argv) == 3:
        write_seeds(Path(sys.argv[2]))
    elif len(sys.argv) == 1:
        OUTPUT.write_text(text())
    else:
        sys.exit("usage: vectors.py [--seeds DIR]")
