"""The TCP option lists of `vectors.json`: every form, malformed ones, and values derived from keys.

The forms of Multipath TCP version 0 follow the layouts of RFC 6824, since no kernel here supports it. Those of
version 1 follow RFC 8684; `captures.json` has them as sent by Linux.
"""

from __future__ import annotations

from typing import Any

import tcp_options
from tcp_options import Option

Vector = dict[str, Any]

CLIENT_KEY, SERVER_KEY = "0123456789abcdef", "fedcba9876543210"
ADDRESSES = {4: "192.0.2.1", 6: "2001:db8::1"}


def options() -> list[Vector]:
    """Single options, as they are read and written."""
    made: list[Vector] = []

    def add(name: str, option: str, **fields: Any) -> None:
        whole = {"option": option, **fields}
        made.append({"name": name, "bytes": tcp_options.write_one(whole).hex(), "option": whole})

    add("maximum segment size", "maximum_segment_size", bytes=1460)
    add("window scale", "window_scale", shift=14)
    add("SACK permitted", "sack_permitted")
    add("SACK of one block", "sack", blocks=[[1, 2]])
    add("SACK of four blocks", "sack", blocks=[[2**32 - 1, 5], [10, 20], [30, 40], [50, 60]])
    add("timestamps", "timestamps", value=0x01020304, echo=0xFFFFFFFF)
    add("user timeout, which is not read", "unknown", kind=28, data="8005")
    add("an experiment", "unknown", kind=254, data="")

    def capable(name: str, version: int, flags: int, *values: str | int | None) -> None:
        names = ("sender_key", "receiver_key", "data_length", "checksum")
        padded = (*values, *[None] * (4 - len(values)))
        add(f"MP_CAPABLE {name}", "mp_capable", version=version, flags=flags, **dict(zip(names, padded, strict=True)))

    capable("of version 0 in a SYN or SYN+ACK", 0, 0x81, CLIENT_KEY)
    capable("of version 0 in a third ACK", 0, 0x01, CLIENT_KEY, SERVER_KEY)
    capable("of version 1 in a SYN", 1, 0x01)
    capable("of version 1 in a SYN, with all flags", 1, 0xFF)
    capable("of version 1 in a SYN+ACK", 1, 0x81, SERVER_KEY)
    capable("of version 1 in a third ACK", 1, 0x21, CLIENT_KEY, SERVER_KEY)
    capable("of version 1 with data", 1, 0x01, CLIENT_KEY, SERVER_KEY, 1428)
    capable("of version 1 with data and checksum", 1, 0x81, CLIENT_KEY, SERVER_KEY, 65535, 0xBEEF)

    for backup in (False, True):
        name = "backup " if backup else ""
        syn = {"segment": "syn", "backup": backup, "address_id": 7, "token": "deadbeef", "nonce": "00000001"}
        add(f"MP_JOIN {name}in a SYN", "mp_join", **syn)
        syn_ack = {"segment": "syn_ack", "backup": backup, "address_id": 255, "hmac": "0102030405060708"}
        add(f"MP_JOIN {name}in a SYN+ACK", "mp_join", **syn_ack, nonce="ffffffff")
    add("MP_JOIN in a third ACK", "mp_join", segment="ack", hmac=bytes(range(20)).hex())

    for long_ack in (None, False, True):
        for long_sequence in (None, False, True):
            for checksum in [None] if long_sequence is None else [None, 0x1234]:
                sizes = {None: "no", False: "4 bytes of", True: "8 bytes of"}
                name = f"DSS with {sizes[long_ack]} Data ACK, {sizes[long_sequence]} data sequence number"
                ack = None if long_ack is None else 2 ** (64 if long_ack else 32) - 2
                number = None if long_sequence is None else 2 ** (64 if long_sequence else 32) - 3
                mapping = {"is_long": long_sequence, "data_sequence": number, "subflow_sequence": 0x01020304}
                known = {"ack": ack, "ack_is_long": bool(long_ack)}
                whole = None if number is None else {**mapping, "length": 1000, "checksum": checksum}
                add(name + (", checksum" if checksum else ""), "dss", data_fin=False, **known, mapping=whole)
    ended = {"is_long": True, "data_sequence": 99, "subflow_sequence": 0, "length": 1, "checksum": None}
    add("DSS that ends the data", "dss", data_fin=True, ack=7, ack_is_long=True, mapping=ended)

    for version, address in ADDRESSES.items():
        for port in (None, 8080):
            name = f"ADD_ADDR of IPv{version}" + (" with port" if port else "")
            fields = {"address_id": 3, "address": address, "port": port}
            add(f"{name}, version 0", "add_addr", version=0, echo=False, **fields, hmac=None)
            hmac = tcp_options.add_addr_hmac((CLIENT_KEY, SERVER_KEY), 3, address, port)
            add(f"{name}, version 1", "add_addr", version=1, echo=False, **fields, hmac=hmac)
            add(f"{name}, version 1, echo", "add_addr", version=1, echo=True, **fields, hmac=None)
    add("REMOVE_ADDR of one", "remove_addr", address_ids=[1])
    add("REMOVE_ADDR of many", "remove_addr", address_ids=list(range(37)))
    add("MP_PRIO", "mp_prio", backup=False, address_id=None)
    add("MP_PRIO, backup", "mp_prio", backup=True, address_id=None)
    add("MP_PRIO of an address, version 0", "mp_prio", backup=True, address_id=9)
    add("MP_FAIL", "mp_fail", data_sequence=2**64 - 1)
    add("MP_FASTCLOSE", "mp_fastclose", receiver_key=SERVER_KEY)
    add("MP_TCPRST", "mp_tcprst", transient=False, reason=1)
    add("MP_TCPRST, transient", "mp_tcprst", transient=True, reason=6)
    add("a subtype that is not known", "unknown_mptcp", subtype=9, data="9f")
    add("an experimental subtype", "unknown_mptcp", subtype=15, data="f00102030405")
    return made


SCALE: Option = {"option": "window_scale", "shift": 7}


def malformed_options() -> list[Vector]:
    """Lists of options with the expected results; a window scale follows the malformed option."""
    made: list[Vector] = []

    def add(name: str, before: str, bad: str, counter: str, *values: int, ends: bool = False) -> None:
        start, option = bytes.fromhex(before), bytes.fromhex(bad)
        rest = b"" if ends else tcp_options.write_one(SCALE)
        error = {"counter": counter, "values": list(values)}
        found = [
            *tcp_options.read(start),
            {"kind": option[0], "at": len(start), "error": error},
            *([SCALE] * (not ends)),
        ]
        made.append({"name": name, "bytes": (start + option + rest).hex(), "found": found})

    add("an option without length", "01", "1e", "short", 2, 1, ends=True)
    add("an option of length 0", "0402", "1e00", "header_length", 2, 0, ends=True)
    add("an option of length 1", "0402", "1e010101", "header_length", 2, 1, ends=True)
    add("an option that reaches beyond the header", "0402", "1e0c1001", "short", 12, 4, ends=True)
    for name, bad in [
        ("maximum segment size", "0203aa"),
        ("window scale", "0304aaaa"),
        ("SACK permitted", "0403aa"),
        ("SACK without block", "0502"),
        ("SACK of half a block", "0506aaaaaaaa"),
        ("timestamps", "0806aaaaaaaa"),
        ("Multipath TCP without subtype", "1e02"),
        ("MP_CAPABLE without flags", "1e0301"),
        ("MP_CAPABLE of version 0 without key", "1e040001"),
        ("MP_CAPABLE of version 0 with data", "1e160001" + "aa" * 18),
        ("MP_CAPABLE of version 1 with half a key", "1e080101aaaaaaaa"),
        ("MP_CAPABLE of version 1 with one key and length", "1e0e0101" + "aa" * 10),
        ("MP_CAPABLE of version 1 with too much", "1e1a0101" + "aa" * 22),
        ("MP_JOIN in 11 bytes", "1e0b1001" + "aa" * 7),
        ("MP_JOIN in 20 bytes", "1e141001" + "aa" * 16),
        ("DSS without flags", "1e0320"),
        ("DSS without the Data ACK that it has", "1e042001"),
        ("DSS with half a Data ACK", "1e082003aaaaaaaa"),
        ("DSS without the length of its mapping", "1e0c2004" + "aa" * 8),
        ("DSS with half a checksum", "1e0f2004" + "aa" * 11),
        ("DSS with something behind it", "1e062000aaaa"),
        ("ADD_ADDR in 7 bytes", "1e073001aaaaaa"),
        ("ADD_ADDR of version 0 with the wrong version of IP", "1e083601aaaaaaaa"),
        ("ADD_ADDR of version 1 without HMAC", "1e083001aaaaaaaa"),
        ("ADD_ADDR of version 1, echo with HMAC", "1e103101" + "aa" * 12),
        ("REMOVE_ADDR of none", "1e0340"),
        ("MP_PRIO in 5 bytes", "1e05500102"),
        ("MP_FAIL in 8 bytes", "1e086000aaaaaaaa"),
        ("MP_FASTCLOSE in 4 bytes", "1e047000"),
        ("MP_TCPRST in 3 bytes", "1e0380"),
    ]:
        add(name, "0101", bad, "option_length", len(bad) // 2)
    add("MP_CAPABLE of version 2", "0101", "1e040201", "version", 2)
    return made


def keys() -> list[Vector]:
    """Keys with their tokens and initial data sequence numbers."""
    made = []
    for version in (0, 1):
        for key in (CLIENT_KEY, SERVER_KEY, "0" * 16, "f" * 16):
            number = tcp_options.initial_data_sequence(key, version)
            known = {"name": f"{key} in version {version}", "key": key, "version": version}
            made.append({**known, "token": tcp_options.token(key, version), "initial_data_sequence": number})
    return made


def joins() -> list[Vector]:
    """HMACs of joins in both directions."""
    made = []
    for version in (0, 1):
        for name, both, nonces in [
            ("the client", (CLIENT_KEY, SERVER_KEY), ("01020304", "f1f2f3f4")),
            ("the server", (SERVER_KEY, CLIENT_KEY), ("f1f2f3f4", "01020304")),
        ]:
            hmac = tcp_options.join_hmac(version, both, nonces)[:40]
            known = {"name": f"{name}'s in version {version}", "version": version}
            made.append({**known, "keys": list(both), "nonces": list(nonces), "hmac": hmac})
    return made


def announcements() -> list[Vector]:
    """HMACs of announcements in version 1."""
    made = []
    for version, address in ADDRESSES.items():
        for port in (None, 8080):
            hmac = tcp_options.add_addr_hmac((CLIENT_KEY, SERVER_KEY), 3, address, port)
            known = {"name": f"IPv{version}, port {port}", "keys": [CLIENT_KEY, SERVER_KEY], "address_id": 3}
            made.append({**known, "address": address, "port": port, "hmac": hmac})
    return made
