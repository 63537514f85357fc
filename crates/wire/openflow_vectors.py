"""Makes `openflow_vectors.json`: messages of every kind in `weft_wire::openflow`, with their content.

os-ken is the second implementation. It writes the messages of controllers. Those of switches, which os-ken cannot
write, are packed here from the specification, and the vector has os-ken's reading of them. Run this script to
recreate the file.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from os_ken.ofproto import ofproto_parser, ofproto_protocol
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser

Vector = dict[str, Any]

OUTPUT = Path(__file__).with_name("openflow_vectors.json")

SWITCH = ofproto_protocol.ProtocolDesc(version=ofp.OFP_VERSION)
LABEL, HOST = "06:57:00:00:01:02", "02:00:00:00:00:09"
FLOW = {"eth_type": 0x0800, "ip_proto": 6, "ipv4_src": "10.0.0.1", "ipv4_dst": "10.0.0.2"}
TCP4 = {**FLOW, "tcp_src": 49152, "tcp_dst": 80}
TCP6 = {
    "in_port": 3,
    "eth_type": 0x86DD,
    "ip_proto": 6,
    "tcp_src": 49152,
    "tcp_dst": 80,
    "ipv6_src": "2001:db8::1",
    "ipv6_dst": "2001:db8::2",
}
MATCHES: dict[str, dict[str, Any]] = {
    "of all packets": {},
    "of a port": {"in_port": 0xFFFFFF00},
    "of a TCP flow over IPv4": TCP4,
    "of a TCP flow over IPv6": TCP6,
    "of UDP": {"eth_type": 0x0800, "ip_proto": 17, "udp_src": 67, "udp_dst": 68},
    "of one destination": {"eth_dst": LABEL, "ipv4_dst": "10.0.0.2", "eth_type": 0x0800},
    "of labels": {"in_port": 1, "eth_dst": ["06:57:00:00:00:00", "ff:ff:00:00:00:00"]},
    "of one sender's ARP requests": {"eth_src": HOST, "eth_type": 0x0806, "arp_op": 1},
    "of neighbour solicitations": {"eth_type": 0x86DD, "ip_proto": 58, "icmpv6_type": 135},
    "of what one sender says in ARP": {
        "eth_type": 0x0806,
        "arp_spa": "10.0.0.1",
        "arp_tpa": "10.0.0.2",
        "arp_sha": HOST,
    },
    "of what one sender asks": {
        "eth_type": 0x86DD,
        "ip_proto": 58,
        "ipv6_src": "2001:db8::1",
        "icmpv6_type": 135,
        "ipv6_nd_target": "2001:db8::2",
        "ipv6_nd_sll": HOST,
    },
    "of what one sender announces": {
        "eth_type": 0x86DD,
        "ip_proto": 58,
        "icmpv6_type": 136,
        "ipv6_nd_target": "2001:db8::1",
        "ipv6_nd_tll": HOST,
    },
}
ACTIONS: dict[str, list[list[Any]]] = {
    "that drops": [],
    "that outputs": [["output", 7, 0]],
    "that sends up": [["output", ofp.OFPP_CONTROLLER, 128]],
    "that labels, outputs and sends up": [
        ["set_eth_dst", LABEL],
        ["output", 2, 0],
        ["output", ofp.OFPP_CONTROLLER, 0xFFFF],
    ],
}
PACKET = bytes.fromhex("ffffffffffff 020000000009 0806 0001080006040001") + bytes(20)


def match(fields: dict[str, Any]) -> Any:
    """An os-ken match."""
    return parser.OFPMatch(**{name: tuple(of) if isinstance(of, list) else of for name, of in fields.items()})


def fields_of(matching: Any) -> dict[str, Any]:
    """The fields of an os-ken match."""
    return {name: list(of) if isinstance(of, tuple) else of for name, of in matching.items()}


def actions(of: list[list[Any]]) -> list[Any]:
    """os-ken actions."""
    return [
        parser.OFPActionOutput(*rest) if kind == "output" else parser.OFPActionSetField(eth_dst=rest[0])
        for kind, *rest in of
    ]


def actions_of(of: list[Any]) -> list[list[Any]]:
    """The content of os-ken actions."""
    return [
        ["output", action.port, action.max_len]
        if isinstance(action, parser.OFPActionOutput)
        else ["set_eth_dst", action.value]
        for action in of
    ]


def sent(name: str, kind: str, xid: int, message: Any, **says: Any) -> Vector:
    """A controller's message, written by os-ken."""
    message.set_xid(xid)
    message.serialize()
    return {"name": name, "kind": kind, "xid": xid, "message": bytes(message.buf).hex(), **says}


def read(name: str, kind: str, number: int, xid: int, body: bytes, says: dict[str, str], version: int = 4) -> Vector:
    """A switch's message; `says` maps names to the attributes of the message that os-ken reads."""
    message = struct.pack("!BBHI", version, number, 8 + len(body), xid) + body
    found = ofproto_parser.msg(SWITCH, ofp.OFP_VERSION, number, len(message), xid, bytearray(message))
    assert found is not None, f"os-ken cannot read {name}"
    known = {ours: getattr(found, theirs) for ours, theirs in says.items()}
    return {"name": name, "kind": kind, "xid": xid, "message": message.hex(), **{k: plain(v) for k, v in known.items()}}


def plain(value: Any) -> Any:
    """A value read by os-ken, for JSON."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    if isinstance(value, parser.OFPMatch):
        return fields_of(value)
    if isinstance(value, parser.OFPPort):
        return {**value._asdict(), "name": value.name.decode()}
    if isinstance(value, parser.OFPFlowStats):
        return flow(value)
    return [plain(one) for one in value] if isinstance(value, list) else value


def flow(stats: Any) -> Vector:
    """A rule read by os-ken."""
    names = ("table_id", "duration_sec", "duration_nsec", "priority", "idle_timeout", "hard_timeout", "flags", "cookie")
    counted = {name: getattr(stats, name) for name in (*names, "packet_count", "byte_count")}
    done = [action for instruction in stats.instructions for action in instruction.actions]
    return {**counted, "match": fields_of(stats.match), "actions": actions_of(done)}


def packed_match(fields: dict[str, Any]) -> bytes:
    """A match with its padding."""
    buffer = bytearray()
    match(fields).serialize(buffer, 0)
    return bytes(buffer)


def packed_actions(of: list[list[Any]]) -> bytes:
    """The instruction that applies actions; empty if there are none."""
    if not of:
        return b""
    buffer = bytearray()
    parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions(of)).serialize(buffer, 0)
    return bytes(buffer)


def hellos() -> list[Vector]:
    """Hello messages with and without versions, in known and unknown elements."""
    vectors = [{**sent("Hello of os-ken", "hello", 1, parser.OFPHello(SWITCH)), "version": 4, "bitmap": None}]
    for name, version, body, bitmap in (
        ("Hello of Open vSwitch", 6, struct.pack("!HHI", 1, 8, 0x72), 0x72),
        ("Hello of OpenFlow 1.0", 1, b"", None),
        (
            "Hello with an element that nobody knows",
            4,
            struct.pack("!HHI", 7, 8, 1) + struct.pack("!HHI", 1, 8, 16),
            16,
        ),
    ):
        vector = read(name, "hello", ofp.OFPT_HELLO, 2, body, {}, version)
        vectors.append({**vector, "version": version, "bitmap": bitmap, "as_sent": len(body) in (0, 8)})
    return vectors


def controllers() -> list[Vector]:
    """A controller's messages, except rules."""
    packets = [
        ("PacketOut of a packet to a table", None, 4, [["output", ofp.OFPP_TABLE, 0]], PACKET),
        ("PacketOut to several ports", None, ofp.OFPP_CONTROLLER, [["output", port, 0] for port in (1, 2, 3)], PACKET),
        ("PacketOut of a packet that the switch holds", 77, 4, ACTIONS["that labels, outputs and sends up"], b""),
        ("PacketOut that drops", 78, 4, [], b""),
    ]
    vectors = [
        sent(
            name,
            "packet_out",
            3,
            parser.OFPPacketOut(
                SWITCH, ofp.OFP_NO_BUFFER if buffer is None else buffer, port, actions(of), data or None
            ),
            buffer_id=buffer,
            in_port=port,
            actions=of,
            data=data.hex(),
        )
        for name, buffer, port, of, data in packets
    ]
    for data in (b"", b"are you there?"):
        says = {"data": data.hex()}
        vectors.append(
            sent(f"EchoRequest, {len(data)} bytes", "echo_request", 4, parser.OFPEchoRequest(SWITCH, data), **says)
        )
        vectors.append(
            sent(f"EchoReply, {len(data)} bytes", "echo_reply", 5, parser.OFPEchoReply(SWITCH, data), **says)
        )
    error = parser.OFPErrorMsg(SWITCH, 4, 6, data=bytes(range(64)))
    vectors.append(sent("Error", "error", 6, error, type=4, code=6, data=bytes(range(64)).hex()))
    vectors.append(sent("FeaturesRequest", "features_request", 0xFFFFFFFF, parser.OFPFeaturesRequest(SWITCH)))
    vectors.append(sent("GetConfigRequest", "get_config_request", 7, parser.OFPGetConfigRequest(SWITCH)))
    config = parser.OFPSetConfig(SWITCH, 0, 0xFFFF)
    vectors.append(sent("SetConfig", "set_config", 8, config, flags=0, miss_send_len=0xFFFF))
    vectors.append(sent("BarrierRequest", "barrier_request", 9, parser.OFPBarrierRequest(SWITCH)))
    for role in range(4):
        request = parser.OFPRoleRequest(SWITCH, role, 1 << 40)
        vectors.append(sent(f"RoleRequest {role}", "role_request", 10, request, role=role, generation_id=1 << 40))
    ports, description = parser.OFPPortDescStatsRequest(SWITCH, 0), parser.OFPDescStatsRequest(SWITCH, 0)
    vectors.append(sent("MultipartRequest of ports", "ports_request", 11, ports))
    vectors.append(sent("MultipartRequest of the description", "description_request", 12, description))
    for name, fields in MATCHES.items():
        which = (0, ofp.OFPTT_ALL, ofp.OFPP_ANY, ofp.OFPG_ANY, 0x5745 << 48, 0xFFFF << 48, match(fields))
        request, counts = parser.OFPFlowStatsRequest(SWITCH, *which), parser.OFPAggregateStatsRequest(SWITCH, *which)
        asked = {"table_id": 255, "out_port": ofp.OFPP_ANY, "out_group": ofp.OFPG_ANY, "match": fields}
        masks = {"cookie": 0x5745 << 48, "cookie_mask": 0xFFFF << 48}
        vectors.append(sent(f"MultipartRequest of rules {name}", "flows_request", 13, request, **asked, **masks))
        name = f"MultipartRequest of the number of rules {name}"
        vectors.append(sent(name, "counts_request", 13, counts, **asked, **masks))
    return vectors


def flow_mods() -> list[Vector]:
    """Rules for every match, with every list of actions and every command."""
    vectors = []
    for number, (of_match, fields) in enumerate(MATCHES.items()):
        for command, (of_actions, done) in enumerate(ACTIONS.items()):
            says = {
                "cookie": 0x5745 << 48 | number,
                "cookie_mask": 0xFFFFFFFFFFFFFFFF if command else 0,
                "table_id": number,
                "command": (command + number) % 5,
                "idle_timeout": 10 * number,
                "hard_timeout": command,
                "priority": 1000 + number,
                "buffer_id": None if command else 99,
                "out_port": ofp.OFPP_ANY,
                "out_group": ofp.OFPG_ANY,
                "flags": command & 1,
            }
            given = {**says, "buffer_id": ofp.OFP_NO_BUFFER if says["buffer_id"] is None else says["buffer_id"]}
            instructions = [parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions(done))] if done else []
            message = parser.OFPFlowMod(SWITCH, **given, match=match(fields), instructions=instructions)
            name = f"FlowMod {of_match}, {of_actions}"
            vectors.append(sent(name, "flow_mod", 14, message, **says, match=fields, actions=done))
    return vectors


def packet_ins() -> list[Vector]:
    """Packets that switches send to the controller."""
    says = {"buffer_id": "buffer_id", "total_len": "total_len", "reason": "reason", "table_id": "table_id"}
    says |= {"cookie": "cookie", "data": "data", "match": "match"}
    vectors = []
    for name, buffer, reason, fields, data in (
        ("PacketIn of a miss", ofp.OFP_NO_BUFFER, ofp.OFPR_NO_MATCH, {"in_port": 1}, PACKET),
        ("PacketIn by a rule", ofp.OFP_NO_BUFFER, ofp.OFPR_ACTION, {"in_port": 48}, PACKET),
        ("PacketIn without bytes", 5, ofp.OFPR_INVALID_TTL, {"in_port": 2}, b""),
        ("PacketIn with metadata", 5, ofp.OFPR_ACTION, {"in_port": 2, "metadata": 3, "tunnel_id": 9}, PACKET[:20]),
    ):
        body = struct.pack("!IHBBQ", buffer, 42, reason, 0, 0x5745 << 48) + packed_match(fields) + b"\0\0" + data
        vector = read(name, "packet_in", ofp.OFPT_PACKET_IN, 15, body, says)
        of = vector.pop("match")
        vector["buffer_id"] = None if vector["buffer_id"] == ofp.OFP_NO_BUFFER else vector["buffer_id"]
        vectors.append({**vector, "in_port": of["in_port"], "as_sent": len(of) == 1})
    return vectors


def port(number: int, name: str, state: int) -> bytes:
    """A port."""
    address = bytes([2, 0x77, 0, 0, 0, number & 0xFF])
    bits = struct.pack("!IIIIIIII", 0, state, 0x840, 0, 0x840, 1, 10_000_000, 10_000_000)
    return struct.pack("!I4x6s2x16s", number, address, name.encode()) + bits


def switches() -> list[Vector]:
    """A switch's messages, except packets."""
    features = struct.pack("!QIBBxxII", 0x0123456789ABCDEF, 256, 254, 0, 0x4F, 0)
    says = {"datapath_id": "datapath_id", "n_buffers": "n_buffers", "n_tables": "n_tables"}
    says |= {"auxiliary_id": "auxiliary_id", "capabilities": "capabilities"}
    config = {"flags": "flags", "miss_send_len": "miss_send_len"}
    vectors = [
        read("FeaturesReply", "features_reply", ofp.OFPT_FEATURES_REPLY, 16, features, says),
        read("GetConfigReply", "get_config_reply", ofp.OFPT_GET_CONFIG_REPLY, 17, struct.pack("!HH", 1, 128), config),
        read("BarrierReply", "barrier_reply", ofp.OFPT_BARRIER_REPLY, 18, b"", {}),
    ]
    role = struct.pack("!I4xQ", ofp.OFPCR_ROLE_MASTER, 7)
    says = {"role": "role", "generation_id": "generation_id"}
    vectors.append(read("RoleReply", "role_reply", ofp.OFPT_ROLE_REPLY, 19, role, says))
    for reason in range(3):
        body = struct.pack("!B7x", reason) + port(reason + 1, f"s1-eth{reason}", reason & 1)
        says = {"reason": "reason", "port": "desc"}
        vectors.append(read(f"PortStatus {reason}", "port_status", ofp.OFPT_PORT_STATUS, 20, body, says))
    says = {name: name for name in ("cookie", "priority", "reason", "table_id", "duration_sec", "duration_nsec")}
    says |= {name: name for name in ("idle_timeout", "hard_timeout", "packet_count", "byte_count", "match")}
    for number, (name, fields) in enumerate(MATCHES.items()):
        counts = struct.pack("!QHBBIIHHQQ", 0x5745 << 48 | number, 7, number % 4, 0, 12, 999_999_999, 10, 0, 3, 222)
        body = counts + packed_match(fields)
        vectors.append(read(f"FlowRemoved {name}", "flow_removed", ofp.OFPT_FLOW_REMOVED, 21, body, says))
    return vectors + answers()


def answers() -> list[Vector]:
    """A switch's replies in several messages."""
    number = ofp.OFPT_MULTIPART_REPLY
    ports = [port(at, f"s1-eth{at}", 0) for at in range(1, 5)] + [port(ofp.OFPP_LOCAL, "a name of 15 ch", 1)]
    vectors = []
    for name, flags, some in (("no", 0, []), ("some", 1, ports[:2]), ("the last", 0, ports[2:])):
        head = struct.pack("!HH4x", ofp.OFPMP_PORT_DESC, flags)
        says = {"more": "flags", "ports": "body"}
        vectors.append(read(f"MultipartReply, {name} ports", "ports_reply", number, 22, head + b"".join(some), says))
    flows = b""
    for at, (fields, done) in enumerate(zip(MATCHES.values(), [*ACTIONS.values()] * 3, strict=False)):
        rest = packed_match(fields) + packed_actions(done)
        counts = struct.pack("!IIHHHH4xQQQ", at, 5, 1000 + at, 10, 0, 1, 0x5745 << 48 | at, 3 * at, 222 * at)
        flows += struct.pack("!HBx", 4 + len(counts) + len(rest), 0) + counts + rest
    for name, flags, body in (("no", 0, b""), ("some", 1, flows)):
        head = struct.pack("!HH4x", ofp.OFPMP_FLOW, flags)
        says = {"more": "flags", "flows": "body"}
        vectors.append(read(f"MultipartReply, {name} rules", "flows_reply", number, 23, head + body, says))
    body = struct.pack("!HH4xQQI4x", ofp.OFPMP_AGGREGATE, 0, 7, 1 << 40, 3)
    vector = read("MultipartReply of the number of rules", "counts_reply", number, 25, body, {"read": "body"})
    of = vector.pop("read")
    vectors.append({**vector, **{name: getattr(of, name) for name in ("packet_count", "byte_count", "flow_count")}})
    texts = {"manufacturer": "Weft", "hardware": "an emulated switch", "software": "", "serial": "1", "datapath": "s1"}
    body = struct.pack("!HH4x256s256s256s32s256s", ofp.OFPMP_DESC, 0, *(text.encode() for text in texts.values()))
    vector = read("MultipartReply of the description", "description_reply", number, 24, body, {"read": "body"})
    of = vector.pop("read")
    assert [of.mfr_desc, of.hw_desc, of.sw_desc, of.serial_num, of.dp_desc] == [t.encode() for t in texts.values()]
    return [*vectors, {**vector, **texts}]


def vectors() -> list[Vector]:
    """All vectors. Rewriting one gives the same bytes, unless `as_sent` is false."""
    return [*hellos(), *controllers(), *flow_mods(), *packet_ins(), *switches()]


def text() -> str:
    """The file."""
    return "[\n" + ",\n".join(json.dumps(vector) for vector in vectors()) + "\n]\n"


if __name__ == "__main__":
    OUTPUT.write_text(text())
