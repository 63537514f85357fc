"""Captures that no kernel here produces: reordered frames, version 0, colliding tokens, malformed options."""

from __future__ import annotations

import struct
from collections.abc import Callable
from ipaddress import IPv4Address
from itertools import count

import headers
import tcp_options
from captures.conclusions import ACK, FIN, SYN, Segment
from captures.library import Capture, Frame, capture
from tcp_options import Option

Speaker = tuple[str, str, int]
"""MAC address, IP address, port."""

PSH = 0x08


def spoken(
    source: Speaker, destination: Speaker, numbers: tuple[int, int, int], options: list[Option], data: bytes = b""
) -> bytes:
    """An IPv4 frame; `numbers` are sequence, acknowledgement and flags."""
    return raw(source, destination, numbers, b"".join(map(tcp_options.write_one, options)), data)


def raw(
    source: Speaker, destination: Speaker, numbers: tuple[int, int, int], options: bytes, data: bytes = b""
) -> bytes:
    """The same with encoded options, padded with NOPs."""
    options += b"\1" * (-len(options) % 4)
    ips = IPv4Address(source[1]), IPv4Address(destination[1])
    segment = headers.tcp(ips, (source[2], destination[2]), *numbers, options=options, data=data)
    packet = headers.ipv4(*ips, 6, segment)
    return headers.pad(headers.ethernet(destination[0], source[0], headers.IPV4, packet, []))


def moved(original: Capture, name: str, description: str, late: Callable[[Segment], bool]) -> Capture:
    """A capture in which the `late` segments come after those of the join."""
    frames = original["frames"]
    segments = [Segment.read(bytes.fromhex(frame["frame"])) for frame in frames]
    last = max(number for number, segment in enumerate(segments) if segment.option("mp_join"))
    held = [number for number, segment in enumerate(segments[:last]) if late(segment)]
    order = [number for number in range(last + 1) if number not in held] + held + list(range(last + 1, len(frames)))
    times = [frame["at_us"] for frame in frames]
    return capture(
        name,
        description,
        [frames[number] | {"at_us": at} for number, at in zip(order, times, strict=True)],
        f"reordered: {original['name']}",
    )


def confirms(segment: Segment) -> bool:
    """Whether a segment has both keys."""
    option = segment.option("mp_capable")
    return option is not None and option["receiver_key"] is not None


def early_join(three_joins: Capture) -> Capture:
    """A join by the client, seen before the third ACK."""
    return moved(
        three_joins,
        "joins before the third ACK",
        "As three joins by the client, but the segments with both keys come after the joins, as they may if other "
        "switches report them. The server's token, from the SYN+ACK, is enough to identify the connection.",
        confirms,
    )


def early_join_by_the_server(joins_by_the_server: Capture) -> Capture:
    """A join by the server, seen before the third ACK."""
    return moved(
        joins_by_the_server,
        "joins by the server before the third ACK",
        "As joins by the server, but the segments with both keys come after the joins: until then their token is "
        "unknown.",
        confirms,
    )


class Dialogue:
    """Frames 0.1 ms apart, with consistent TCP sequence numbers."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self._next: dict[tuple[Speaker, Speaker], int] = {}

    def say(
        self, host: str, ends: tuple[Speaker, Speaker], flags: int, options: list[Option], data: bytes = b""
    ) -> None:
        """A segment sent by the host, from the first end to the second."""
        source, destination = ends
        sequence = self._next.setdefault(ends, 1000 * (1 + len(self._next)))
        acknowledgement = self._next.get((destination, source), 0) if flags & ACK else 0
        frame = spoken(source, destination, (sequence, acknowledgement, flags), options, data)
        self._next[ends] = sequence + len(data) + bool(flags & SYN) + bool(flags & FIN)
        path = int(source[0].split(":")[4])
        self.frames.append({"at_us": 100 * len(self.frames), "from": host, "path": path, "frame": frame.hex()})

    def open(self, hosts: tuple[str, str], ends: tuple[Speaker, Speaker], handshake: list[Option]) -> None:
        """SYN, SYN+ACK and third ACK with one option each."""
        (one, other), back = hosts, ends[::-1]
        segment_size = {"option": "maximum_segment_size", "bytes": 1460}
        self.say(one, ends, SYN, [segment_size, handshake[0]])
        self.say(other, back, SYN | ACK, [segment_size, handshake[1]])
        self.say(one, ends, ACK, [handshake[2]])

    def connect(
        self, hosts: tuple[str, str], ends: tuple[Speaker, Speaker], version: int, keys: tuple[str, str], flags: int
    ) -> None:
        """A connection; the opener's end and key come first."""
        option = {"option": "mp_capable", "version": version, "flags": flags, "data_length": None, "checksum": None}
        keys_sent = [(keys[0] if version == 0 else None, None), (keys[1], None), keys]
        self.open(hosts, ends, [option | {"sender_key": one, "receiver_key": other} for one, other in keys_sent])

    def join(
        self,
        hosts: tuple[str, str],
        ends: tuple[Speaker, Speaker],
        version: int,
        keys: tuple[str, str],
        ids: tuple[int, int],
        nonces: tuple[str, str],
    ) -> None:
        """A subflow that joins the connection with these keys; the joiner's values come first."""
        grant = tcp_options.join_hmac(version, keys[::-1], nonces[::-1])[:16]
        confirmation = tcp_options.join_hmac(version, keys, nonces)[:40]
        start = {"option": "mp_join", "backup": False}
        syn = {"segment": "syn", "address_id": ids[0], "token": tcp_options.token(keys[1], version), "nonce": nonces[0]}
        syn_ack = {"segment": "syn_ack", "address_id": ids[1], "hmac": grant, "nonce": nonces[1]}
        ack = {"option": "mp_join", "segment": "ack", "hmac": confirmation}
        self.open(hosts, ends, [start | syn, start | syn_ack, ack])


def mapped(place: int, subflow_sequence: int, data: bytes) -> Option:
    """The mapping of data with its checksum (RFC 6824, section 3.3.1) and a 32-bit data sequence number."""
    pseudo = struct.pack("!QIHH", place, subflow_sequence, len(data), 0)
    check = headers.checksum(pseudo + data)
    numbers = {"data_sequence": place & 0xFFFFFFFF, "subflow_sequence": subflow_sequence, "length": len(data)}
    return {"is_long": False, **numbers, "checksum": check}


CLIENT = ("02:00:00:00:00:01", "10.0.0.1", 49152)
SERVER = ("02:00:00:00:00:02", "10.0.0.2", 8080)
OTHER = ("02:00:00:00:00:03", "10.0.0.3", 8080)


def version_0() -> Capture:
    """A connection of version 0, as by the multipath-tcp.org kernel."""
    talk, keys = Dialogue(), ("c11e47c11e47c11e", "5e47e45e47e45e47")
    both, ends = ("client", "server"), (CLIENT, SERVER)
    talk.connect(both, ends, 0, keys, 0x81)
    place = [(tcp_options.initial_data_sequence(key, 0) + 1) % 2**64 for key in keys]
    dss: Option = {"option": "dss", "data_fin": False, "ack": None, "ack_is_long": False, "mapping": None}
    heard = {"ack": place[1] & 0xFFFFFFFF}
    talk.say("client", ends, PSH | ACK, [dss | heard | {"mapping": mapped(place[0], 1, b"a request")}], b"a request")
    talk.say("server", ends[::-1], ACK, [dss | {"ack": place[0] + 9, "ack_is_long": True}])
    announced = {"option": "add_addr", "version": 0, "echo": False, "port": None, "hmac": None}
    talk.say("server", ends[::-1], ACK, [announced | {"address_id": 1, "address": "10.0.1.2"}])
    second = (("02:00:00:00:01:01", "10.0.1.1", 49153), ("02:00:00:00:01:02", "10.0.1.2", 8080))
    talk.join(both, second, 0, keys, (3, 1), ("01020304", "a1a2a3a4"))
    talk.say("client", ends, ACK, [announced | {"address_id": 2, "address": "10.0.0.11", "port": 9001}])
    third = (("02:00:00:00:00:02", "10.0.0.2", 49154), ("02:00:00:00:00:01", "10.0.0.11", 9001))
    talk.join(both[::-1], third, 0, keys[::-1], (0, 2), ("05060708", "a5a6a7a8"))
    for number, port in ((4, None), (5, 9002)):
        talk.say("client", ends, ACK, [announced | {"address_id": number, "address": "2001:db8::1", "port": port}])
    talk.say("client", ends, ACK, [{"option": "mp_prio", "backup": True, "address_id": 3}])
    talk.say("client", second, ACK, [{"option": "mp_prio", "backup": False, "address_id": None}])
    talk.say("client", ends, ACK, [{"option": "remove_addr", "address_ids": [2, 4, 5]}])
    ended = {"is_long": True, "data_sequence": place[1], "subflow_sequence": 0, "length": 1}
    check = headers.checksum(struct.pack("!QIHH", place[1], 0, 1, 0))
    talk.say("server", ends[::-1], ACK, [dss | {"data_fin": True, "mapping": ended | {"checksum": check}}])
    talk.say("client", ends, ACK, [{"option": "mp_fastclose", "receiver_key": keys[1]}])
    return capture(
        "version 0",
        "A connection of version 0: the client's key is already in the SYN. Each side announces an address, "
        "which the other joins; checksums; a subflow made a backup by its address id.",
        talk.frames,
        "by hand",
    )


def colliding_keys(version: int) -> tuple[str, str]:
    """Two keys with the same token."""
    known: dict[str, str] = {}
    for number in count():
        key = f"{number:016x}"
        before = known.setdefault(tcp_options.token(key, version), key)
        if before != key:
            return before, key
    raise AssertionError("unreachable: there are more keys than tokens")


def colliding_tokens() -> Capture:
    """Connections to two servers with the same token."""
    talk, servers = Dialogue(), colliding_keys(1)
    clients = ("c11e47c11e47c11e", "c11e47c11e47c12e")
    named = [("server", SERVER, 0), ("other", OTHER, 1)]
    for name, to, number in named:
        talk.connect(("client", name), ((*CLIENT[:2], 49152 + number), to), 1, (clients[number], servers[number]), 1)
    for name, to, number in named:
        ends = ((CLIENT[0], "10.0.0.11", 49160 + number), to)
        nonces = (f"0102030{number}", f"a1a2a3a{number}")
        talk.join(("client", name), ends, 1, (clients[number], servers[number]), (1, 0), nonces)
    return capture(
        "tokens that collide",
        "Connections of one client to two servers whose keys are different and whose tokens are the same; each has a "
        "join. A join's destination address identifies its connection, its HMAC proves it.",
        talk.frames,
        "by hand",
    )


def malformed() -> Capture:
    """SYNs whose options hosts ignore or may interpret differently."""
    capable, join = bytes.fromhex("1e040101"), bytes.fromhex("1e0c1001 00c0ffee 01020304")
    frames: list[Frame] = []
    for number, (flags, options) in enumerate(
        [
            (SYN, b"\x1e\x0c\x01\x01"),
            (SYN, b"\x1e\x05\x01\x01\x01"),
            (SYN, b"\x1e\x02"),
            (SYN, b"\x1e\x00\x01\x01"),
            (SYN, b"\x1e\x04\x02\x01"),
            (SYN, b"\x02\x04\x05\xb4" + b"\x1e\x0b" + join[2:11]),
            (SYN, join[:8]),
            (SYN, capable + capable),
            (SYN, capable + join),
            (SYN, join + join),
            (SYN | ACK, join),
            (ACK, capable),
        ]
    ):
        client = (*CLIENT[:2], 49152 + number)
        frame = raw(client, SERVER, (1000, 2000 if flags & ACK else 0, flags), options)
        frames.append({"at_us": 100 * number, "from": "client", "path": 0, "frame": frame.hex()})
    return capture(
        "malformed options",
        "Segments, each of another flow, whose options of Multipath TCP are malformed, repeated or in the wrong kind "
        "of segment: the controller counts them and treats the flows as plain TCP.",
        frames,
        "by hand",
    )
