"""The frames of `vectors.json` that readers reject, each with the reason."""

from __future__ import annotations

import struct

from frame_vectors import SOLICITED, Vector, arps, neighbor, neighbors
from headers import (
    CLIENT,
    CLIENT4,
    CLIENT6,
    IPV4,
    IPV6,
    ISN,
    SERVER,
    SERVER4,
    SERVER6,
    SERVICE_VLAN,
    VLAN,
    ethernet,
    ipv4,
    ipv6,
)
from weft_vectors import PATH, TAGS, hello, path, path_fields, push, wrap


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
    reach = {"first": "00:00:00:00:00:00", "last": "ff:ff:ff:ff:ff:ff", "unreached": [["02:00:00:00:00:01"] * 2]}
    reaches, reaches_signed = (bytes.fromhex(hello("", said | reach, secret)["frame"]) for secret in (None, key))
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
    add("Hello to another group", "hello", change(plain, 0, "0180c2000000"), "destination")
    add("Hello under the EtherType of Path frames", "hello", change(plain, 12, "ffaf"), "ethertype", PATH)
    add("Hello without signature where a key is set", "verify", plain, "unsigned", key=key.hex())
    add("Hello signed with another key", "verify", signed, "signature", key=b"another".hex())
    add("signed Hello with another tier", "verify", change(signed, 16, "02"), "signature", key=key.hex())
    add("signed Hello with another sequence", "verify", change(signed, 41, "02"), "signature", key=key.hex())
    add("signed Hello with another reserved bit", "verify", change(signed, 33, "01"), "signature", key=key.hex())
    add("signed Hello with another signature", "verify", change(signed, 57, "ff"), "signature", key=key.hex())

    add("Hello with half an announcement", "hello", reaches[: 14 + 28 + 13], "short", 42, 41)
    add("Hello without the last address", "hello", reaches[: 14 + 28 + 14 + 11], "short", 54, 53)
    add("Hello with more addresses than bytes", "hello", change(reaches, 14 + 28 + 12, "ffff"), "short", 786462, 54)
    add("signed Hello without the last signature", "hello", reaches_signed[: 14 + 85], "short", 86, 85)
    for name, at in [("first station", 58), ("list", 75), ("last signature", 99)]:
        spoilt = change(reaches_signed, at, "5a")
        add(f"signed Hello with another {name}", "verify", spoilt, "signature", key=key.hex())

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
