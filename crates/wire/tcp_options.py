"""Converts TCP options, including both versions of Multipath TCP, to JSON and back.

Written from the RFCs with the Python standard library only, so that it and this crate check each other: `vectors.py`
writes options with it, `captures` reads those of the kernel. Keys, tokens, random numbers and HMACs are hexadecimal
digits, other numbers are numbers.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

Option = dict[str, Any]

MPTCP = 30
HASHES = {0: "sha1", 1: "sha256"}
"""The hash of each version of Multipath TCP (RFC 6824 and RFC 8684, section 3.2)."""


def token(key: str, version: int) -> str:
    """The first 32 bits of a key's hash."""
    return hashlib.new(HASHES[version], bytes.fromhex(key)).hexdigest()[:8]


def initial_data_sequence(key: str, version: int) -> int:
    """The last 64 bits of a key's hash."""
    return int.from_bytes(hashlib.new(HASHES[version], bytes.fromhex(key)).digest()[-8:], "big")


def join_hmac(version: int, keys: tuple[str, str], nonces: tuple[str, str]) -> str:
    """The HMAC of a join; the SYN+ACK carries 8 bytes of it, the third ACK 20. The sender's values come first."""
    return hmac.new(bytes.fromhex("".join(keys)), bytes.fromhex("".join(nonces)), HASHES[version]).hexdigest()


def add_addr_hmac(keys: tuple[str, str], address_id: int, address: str, port: int | None) -> str:
    """The last 8 bytes of the HMAC of an announcement in version 1; the sender's key comes first."""
    message = struct.pack("!B", address_id) + ip_address(address).packed + struct.pack("!H", port or 0)
    return hmac.new(bytes.fromhex("".join(keys)), message, "sha256").hexdigest()[-16:]


def write(options: list[Option]) -> bytes:
    """The encoded options, padded with zeros to whole words."""
    whole = b"".join(map(write_one, options))
    return whole + b"\0" * (-len(whole) % 4)


def write_one(option: Option) -> bytes:
    """An option with its kind and length."""
    kind, data = content(option)
    return bytes([kind, 2 + len(data)]) + data


def content(option: Option) -> tuple[int, bytes]:
    """An option's kind, and the bytes after its length."""
    match option["option"]:
        case "maximum_segment_size":
            return 2, struct.pack("!H", option["bytes"])
        case "window_scale":
            return 3, bytes([option["shift"]])
        case "sack_permitted":
            return 4, b""
        case "sack":
            return 5, b"".join(struct.pack("!II", *block) for block in option["blocks"])
        case "timestamps":
            return 8, struct.pack("!II", option["value"], option["echo"])
        case "unknown":
            return option["kind"], bytes.fromhex(option["data"])
    return MPTCP, mptcp_content(option)


def mptcp_content(option: Option) -> bytes:
    """The bytes after the length of a Multipath TCP option."""
    match option["option"]:
        case "mp_capable":
            numbers = [option["data_length"], option["checksum"]]
            behind = b"".join(struct.pack("!H", number) for number in numbers if number is not None)
            keys = (option["sender_key"] or "") + (option["receiver_key"] or "")
            return bytes([option["version"], option["flags"]]) + bytes.fromhex(keys) + behind
        case "mp_join":
            backup, address_id = option.get("backup", False), option.get("address_id", 0)
            fields = {"syn": ("token", "nonce"), "syn_ack": ("hmac", "nonce"), "ack": ("hmac",)}[option["segment"]]
            return bytes([0x10 | backup, address_id]) + bytes.fromhex("".join(option[field] for field in fields))
        case "dss":
            return dss_content(option)
        case "add_addr":
            address = ip_address(option["address"])
            low = address.version if option["version"] == 0 else option["echo"]
            port = b"" if option["port"] is None else struct.pack("!H", option["port"])
            hmac_ = bytes.fromhex(option["hmac"] or "")
            return bytes([0x30 | low, option["address_id"]]) + address.packed + port + hmac_
        case "remove_addr":
            return bytes([0x40, *option["address_ids"]])
        case "mp_prio":
            ids = [] if option["address_id"] is None else [option["address_id"]]
            return bytes([0x50 | option["backup"], *ids])
        case "mp_fail":
            return struct.pack("!BBQ", 0x60, 0, option["data_sequence"])
        case "mp_fastclose":
            return b"\x70\0" + bytes.fromhex(option["receiver_key"])
        case "mp_tcprst":
            return bytes([0x80 | option["transient"], option["reason"]])
        case "unknown_mptcp":
            return bytes.fromhex(option["data"])
    raise ValueError(f"unknown option {option['option']}")


def dss_content(option: Option) -> bytes:
    """The bytes after the length of a DSS option."""
    flags, data = 0x10 * option["data_fin"], b""
    if option["ack"] is not None:
        flags |= 0x01 | 0x02 * option["ack_is_long"]
        data += option["ack"].to_bytes(8 if option["ack_is_long"] else 4, "big")
    mapping = option["mapping"]
    if mapping is not None:
        flags |= 0x04 | 0x08 * mapping["is_long"]
        data += mapping["data_sequence"].to_bytes(8 if mapping["is_long"] else 4, "big")
        data += struct.pack("!IH", mapping["subflow_sequence"], mapping["length"])
        data += b"" if mapping["checksum"] is None else struct.pack("!H", mapping["checksum"])
    return bytes([0x20, flags]) + data


def read(options: bytes) -> list[Option]:
    """The options of a header, without padding; ValueError if one is malformed."""
    found = []
    while options and options[0] != 0:
        if options[0] == 1:
            options = options[1:]
            continue
        kind, length = options[0], options[1] if len(options) > 1 else 0
        if not 2 <= length <= len(options):
            raise ValueError(f"option {kind} has length {length}, but only {len(options)} bytes are available")
        found.append(read_one(kind, options[2:length]))
        options = options[length:]
    return found


def read_one(kind: int, data: bytes) -> Option:
    """The option of this kind with these bytes after its length."""
    match kind, len(data):
        case 2, 2:
            return {"option": "maximum_segment_size", "bytes": int.from_bytes(data, "big")}
        case 3, 1:
            return {"option": "window_scale", "shift": data[0]}
        case 4, 0:
            return {"option": "sack_permitted"}
        case 5, 8 | 16 | 24 | 32:
            return {"option": "sack", "blocks": [list(block) for block in struct.iter_unpack("!II", data)]}
        case 8, 8:
            return dict(zip(("option", "value", "echo"), ("timestamps", *struct.unpack("!II", data)), strict=True))
        case ((2 | 3 | 4 | 5 | 8), length):
            raise ValueError(f"option {kind} with {length} bytes after its length")
        case 30, _:
            return read_mptcp(data)
    return {"option": "unknown", "kind": kind, "data": data.hex()}


def read_mptcp(data: bytes) -> Option:
    """The Multipath TCP option with these bytes after its length."""
    if not data:
        raise ValueError("a Multipath TCP option without subtype")
    subtype, low, rest = data[0] >> 4, data[0] & 15, data[1:]
    match subtype, len(data):
        case 0, 2 | 10 | 18 | 20 | 22 if low in HASHES and (low == 1 or len(data) in (10, 18)):
            keys = [key.hex() or None for key in (rest[1:9], rest[9:17])]
            numbers = [int.from_bytes(n, "big") if n else None for n in (rest[17:19], rest[19:21])]
            names = ("version", "flags", "sender_key", "receiver_key", "data_length", "checksum")
            return {"option": "mp_capable", **dict(zip(names, (low, rest[0], *keys, *numbers), strict=True))}
        case 1, 10:
            start = {"option": "mp_join", "segment": "syn", "backup": bool(low & 1), "address_id": rest[0]}
            return {**start, "token": rest[1:5].hex(), "nonce": rest[5:].hex()}
        case 1, 14:
            start = {"option": "mp_join", "segment": "syn_ack", "backup": bool(low & 1), "address_id": rest[0]}
            return {**start, "hmac": rest[1:9].hex(), "nonce": rest[9:].hex()}
        case 1, 22:
            return {"option": "mp_join", "segment": "ack", "hmac": rest[1:].hex()}
        case 2, _ if rest:
            return read_dss(rest[0], rest[1:])
        case 3, _ if rest:
            return read_add_addr(low, rest[0], rest[1:])
        case 4, _ if rest:
            return {"option": "remove_addr", "address_ids": list(rest)}
        case 5, 1 | 2:
            return {"option": "mp_prio", "backup": bool(low & 1), "address_id": rest[0] if rest else None}
        case 6, 10:
            return {"option": "mp_fail", "data_sequence": int.from_bytes(rest[1:], "big")}
        case 7, 10:
            return {"option": "mp_fastclose", "receiver_key": rest[1:].hex()}
        case 8, 2:
            return {"option": "mp_tcprst", "transient": bool(low & 1), "reason": rest[0]}
        case ((9 | 10 | 11 | 12 | 13 | 14 | 15), _):
            return {"option": "unknown_mptcp", "subtype": subtype, "data": data.hex()}
    raise ValueError(f"Multipath TCP subtype {subtype} with {len(data)} bytes")


def read_dss(flags: int, rest: bytes) -> Option:
    """A DSS option from its flags and the bytes after them."""

    def take(count: int) -> int:
        nonlocal rest
        if len(rest) < count:
            raise ValueError("a DSS option is shorter than its flags require")
        number, rest = int.from_bytes(rest[:count], "big"), rest[count:]
        return number

    option: Option = {"option": "dss", "data_fin": bool(flags & 16), "ack": None, "ack_is_long": False, "mapping": None}
    if flags & 1:
        option["ack_is_long"] = bool(flags & 2)
        option["ack"] = take(8 if flags & 2 else 4)
    if flags & 4:
        mapping: Option = {"is_long": bool(flags & 8), "data_sequence": take(8 if flags & 8 else 4)}
        mapping["subflow_sequence"], mapping["length"] = take(4), take(2)
        mapping["checksum"] = take(2) if rest else None
        option["mapping"] = mapping
    if rest:
        raise ValueError("a DSS option is longer than its flags require")
    return option


def read_add_addr(low: int, address_id: int, rest: bytes) -> Option:
    """An ADD_ADDR option from the lower half of its first byte, its address id and the bytes after it."""
    forms = {  # version 0 has the IP version where version 1 has flags; (bytes of address, has port, has HMAC)
        4: (4, False, False), 6: (4, True, False), 12: (4, False, True), 14: (4, True, True),
        16: (16, False, False), 18: (16, True, False), 24: (16, False, True), 26: (16, True, True),
    }  # fmt: skip
    if len(rest) not in forms:
        raise ValueError(f"ADD_ADDR with {len(rest) + 4} bytes")
    size, has_port, has_hmac = forms[len(rest)]
    address = IPv4Address(rest[:4]) if size == 4 else IPv6Address(rest[:16])
    version = 0 if not has_hmac and low == address.version else 1
    echo = version == 1 and bool(low & 1)
    if version == 1 and echo == has_hmac:
        raise ValueError(f"ADD_ADDR of version 1 with {len(rest) + 4} bytes and flags {low}")
    known = {"option": "add_addr", "version": version, "echo": echo, "address_id": address_id, "address": str(address)}
    port = int.from_bytes(rest[size : size + 2], "big") if has_port else None
    return {**known, "port": port, "hmac": rest[-8:].hex() if has_hmac else None}
