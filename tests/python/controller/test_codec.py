"""The controller's encoder and parser, compared with os-ken."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("os_ken", reason="the Python package os-ken is not installed")

from os_ken.lib.packet import arp, ethernet, icmpv6, ipv6, packet, tcp
from os_ken.lib.packet.ipv4 import ipv4
from os_ken.ofproto import ofproto_protocol
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser
from os_ken.ofproto.ofproto_parser import msg as read

from fake import BARRIER, FLOW_MOD, MULTIPART, PACKET_IN, PACKET_OUT
from weft._weft import Controller, OpenFlow
from weft.catalogue import controller_settings
from weft.controller import codec

FORWARDINGS = controller_settings()["controller"]["kind"]["choice"]
DESCRIBED = ofproto_protocol.ProtocolDesc(version=4)
MACS = {1: "02:00:00:00:00:01", 2: "02:00:00:00:00:02"}
MP_CAPABLE = bytes.fromhex("1e0c0081") + bytes(range(8))


class Line:
    """Three switches in a line with a host at port 1 of the first and the last, and all messages sent to them."""

    def __init__(self, forwarding):
        self.core = Controller(json.dumps({"controller": forwarding, "settle_s": 0.1}))
        self.sent, self.now = [], 10.0
        for dpid in (1, 2, 3):
            self.does("switch_up", dpid, [1, 2, 3], [])
        for one, other in ((1, 2), (2, 3)):
            self.does("link_changed", (one, 3), (other, 2), True)
            self.does("link_changed", (other, 2), (one, 3), True)
        self.passes(1.0)

    def does(self, method, *arguments):
        """Call the core, keep its output, and answer every barrier request."""
        found = getattr(self.core, method)(self.now, *arguments)
        for dpid, data in found[1] if method == "received" else found:
            asked = []
            for message in messages(data):
                self.sent.append(message)
                asked += [message[4:8]] if message[1] == BARRIER else []
            for xid in asked:
                self.does("received", dpid, b"\x04\x15\x00\x08" + xid, 0)
        return found

    def passes(self, seconds):
        """Advance the time."""
        self.now += seconds
        self.does("on_deadline")

    def frame(self, host, *layers):
        """A host sends a frame, which its switch sends in a packet-in."""
        made = packet.Packet(protocols=layers)
        made.serialize()
        message = packet_in(1, 2**64 - 1, bytes(made.data))
        assert self.does("received", 1 if host == 1 else 3, message, 0)[::2] == (len(message), None)


def packet_in(in_port, cookie, frame):
    """A packet-in; os-ken encodes its match."""
    match = bytearray()
    parser.OFPMatch(in_port=in_port).serialize(match, 0)
    body = b"\xff" * 4 + len(frame).to_bytes(2, "big") + b"\x01\x00" + cookie.to_bytes(8, "big")
    body += bytes(match) + bytes(2) + frame
    return codec.HEADER.pack(4, PACKET_IN, codec.HEADER.size + len(body), 1) + body


def messages(data):
    """Split into messages."""
    while data:
        length = codec.HEADER.unpack_from(data)[2]
        yield data[:length]
        data = data[length:]


def talk(line):
    """Hosts that resolve each other and open connections over IPv4 and IPv6."""
    ends = {1: ("10.0.0.1", "fd00::1"), 2: ("10.0.0.2", "fd00::2")}
    for one, other in ((1, 2), (2, 1)):
        ether = ethernet.ethernet("ff:ff:ff:ff:ff:ff", MACS[one], 0x806)
        line.frame(one, ether, arp.arp(opcode=1, src_mac=MACS[one], src_ip=ends[one][0], dst_ip=ends[other][0]))
        asks = icmpv6.nd_neighbor(dst=ends[other][1], option=icmpv6.nd_option_sla(hw_src=MACS[one]))
        group = str(ipaddress.ip_address("ff02::1:ff00:0") + other)
        network = ipv6.ipv6(src=ends[one][1], dst=group, nxt=58, hop_limit=255)
        line.frame(
            one,
            ethernet.ethernet(f"33:33:ff:00:00:0{other}", MACS[one], 0x86DD),
            network,
            icmpv6.icmpv6(135, data=asks),
        )
    there = ethernet.ethernet(MACS[2], MACS[1], 0x800)
    for port, option in ((1000, MP_CAPABLE), (1001, b"")):
        syn = tcp.tcp(src_port=port, dst_port=80, bits=tcp.TCP_SYN, option=option)
        line.frame(1, there, ipv4(src=ends[1][0], dst=ends[2][0], proto=6), syn)
    syn = tcp.tcp(src_port=1002, dst_port=80, bits=tcp.TCP_SYN, option=MP_CAPABLE)
    line.frame(1, ethernet.ethernet(MACS[2], MACS[1], 0x86DD), ipv6.ipv6(src=ends[1][1], dst=ends[2][1], nxt=6), syn)
    line.passes(5.0)
    line.does("port_changed", 2, 3, False)
    line.sent += [message for _, data in line.core.frames([(3, 2, b"a frame of ours")]) for message in messages(data)]


def remade(data):
    """os-ken's encoding of a message: of a rule as parsed by os-ken, of a packet-out as parsed here."""
    _, kind, _, xid = codec.HEADER.unpack_from(data)
    if kind == FLOW_MOD:
        message = read(DESCRIBED, 4, kind, len(data), xid, data)
        message.buf = None
    elif kind == PACKET_OUT:
        in_port, length = struct.unpack_from("!IH", data, 12)
        ports = [struct.unpack_from("!I", data, place + 4)[0] for place in range(24, 24 + length, 16)]
        actions = [parser.OFPActionOutput(port, 0) for port in ports]
        message = parser.OFPPacketOut(DESCRIBED, 0xFFFFFFFF, in_port, actions, data[24 + length :])
        message.set_xid(xid)
    elif kind == MULTIPART:
        table, out_port, out_group, cookie, mask = struct.unpack_from("!B3xII4xQQ", data, 16)
        message = parser.OFPFlowStatsRequest(DESCRIBED, 0, table, out_port, out_group, cookie, mask)
        message.set_xid(xid)
    else:
        message = parser.OFPBarrierRequest(DESCRIBED)
        message.set_xid(xid)
    message.serialize()
    return message, bytes(message.buf)


@pytest.mark.parametrize("forwarding", FORWARDINGS)
def test_what_the_controller_makes_is_what_os_ken_makes_of_it(forwarding):
    line = Line(forwarding)
    talk(line)
    seen = {}
    for data in line.sent:
        message, again = remade(data)
        assert again.hex() == data.hex(), message
        assert message.xid >= 2**31
        seen.setdefault(data[1], []).append(message)
    assert set(seen) >= {FLOW_MOD, MULTIPART, PACKET_OUT}
    assert {rule.command for rule in seen[FLOW_MOD]} >= ({0, 2, 3} if forwarding == "smoc" else {0, 3})
    fields = {field for rule in seen[FLOW_MOD] for field, _ in rule.match.items()}
    if forwarding == "smoc":
        assert fields >= {"in_port", "eth_dst", "ipv4_src", "ipv6_dst", "tcp_src", "tcp_dst", "icmpv6_type"}
        assert BARRIER in seen and line.core.counters()["transactions_installed"] >= 3
        assert len(line.core.set_ups()) >= 3 and line.core.installing() == 0


def test_a_limit_that_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match=r"install_deadline_s: 0 is out of range, expected 0\.001 to 60"):
        Controller('{"install_deadline_s": 0}')
    for kind in FORWARDINGS:
        Controller(json.dumps({"controller": kind, "install_deadline_s": 60}))


@given(st.integers(1, 2**32 - 1), st.integers(0, 2**64 - 1), st.binary(max_size=300), st.integers(0, 400))
def test_frames_up_are_what_os_ken_reads_and_what_is_cut_is_waited_for(in_port, cookie, frame, cut):
    data = packet_in(in_port, cookie, b"\x01\x80\xc2\x00\x00\x0e" + bytes(6) + b"\x88\xcc" + frame)
    theirs = read(DESCRIBED, 4, PACKET_IN, len(data), 1, data)
    core = Controller("{}")
    assert core.received(1.0, 1, data, 0) == (len(data), [], (theirs.match["in_port"], bytes(theirs.data)))
    if cut < len(data):
        assert core.received(1.0, 1, data[:cut], 0) == (0, [], None)


@given(st.integers(0, 30), st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(kind, body):
    data = codec.HEADER.pack(4, kind, codec.HEADER.size + len(body), 1) + body
    for reads in (lambda: codec.read(data), lambda: codec.versions(data)):
        with contextlib.suppress(codec.MalformedError):
            reads()
    place, sends, _ = Controller("{}").received(1.0, 1, data, 0)
    assert place in (0, len(data)) and sends == []


def test_names_that_switches_give_their_ports_are_escaped():
    port = struct.pack("!I4x6s2x16sIIIIIIII", 7, bytes(6), b"\x1b[2Jeth\r\n0", 0, 0, *[0] * 6)
    body = struct.pack("!B7x", 2) + port
    message = codec.HEADER.pack(codec.VERSION, ofp.OFPT_PORT_STATUS, codec.HEADER.size + len(body), 1) + body
    change = codec.read(message)
    assert change.port.name == "\\x1b[2Jeth\\x0d\\x0a0"


ANY = (ofp.OFPP_ANY, ofp.OFPG_ANY, 0x5745 << 48, 0xFFFF << 48, parser.OFPMatch())
ASKED = [
    (OpenFlow.hello_failed(7, "no"), parser.OFPErrorMsg(DESCRIBED, 0, 0, data=b"no")),
    (OpenFlow.echo_request(7), parser.OFPEchoRequest(DESCRIBED, b"")),
    (OpenFlow.echo_reply(7, b"data"), parser.OFPEchoReply(DESCRIBED, b"data")),
    (OpenFlow.features_request(7), parser.OFPFeaturesRequest(DESCRIBED)),
    (OpenFlow.send_whole_frames(7), parser.OFPSetConfig(DESCRIBED, ofp.OFPC_FRAG_NORMAL, ofp.OFPCML_NO_BUFFER)),
    (OpenFlow.become_master(7, 9), parser.OFPRoleRequest(DESCRIBED, ofp.OFPCR_ROLE_MASTER, 9)),
    (OpenFlow.become_slave(7, 9), parser.OFPRoleRequest(DESCRIBED, ofp.OFPCR_ROLE_SLAVE, 9)),
    (OpenFlow.role_request(7), parser.OFPRoleRequest(DESCRIBED, ofp.OFPCR_ROLE_NOCHANGE, 0)),
    (OpenFlow.ports_request(7), parser.OFPPortDescStatsRequest(DESCRIBED, 0)),
    (OpenFlow.description_request(7), parser.OFPDescStatsRequest(DESCRIBED, 0)),
    (OpenFlow.rules_request(7, *ANY[2:4]), parser.OFPFlowStatsRequest(DESCRIBED, 0, 0, *ANY)),
    (OpenFlow.count_request(7, *ANY[2:4]), parser.OFPAggregateStatsRequest(DESCRIBED, 0, 0, *ANY)),
]


@pytest.mark.parametrize(("made", "theirs"), ASKED, ids=lambda one: type(one).__name__)
def test_what_a_switch_is_asked_is_what_os_ken_makes(made, theirs):
    theirs.set_xid(7)
    theirs.serialize()
    assert made.hex() == bytes(theirs.buf).hex()


def test_a_hello_offers_version_1_3_and_no_other():
    hello = OpenFlow.hello(7)
    assert read(DESCRIBED, 4, 0, len(hello), 7, hello).elements[0].versions == [4]
    assert codec.versions(hello) == {4}
    assert codec.versions(codec.HEADER.pack(4, 0, 8, 7)) == {1, 2, 3, 4}


def test_errors_have_the_names_that_os_ken_gives_them():
    for kind in range(1, 14):
        for code in range(17):
            name = ofp.ofp_error_code_to_str(kind, code).partition("(")[0].partition("_")[2] or str(code)
            words = f"{ofp.ofp_error_type_to_str(kind).partition('(')[0].partition('_')[2]} {name}"
            message = codec.HEADER.pack(4, codec.ERROR, 12, 7) + struct.pack("!HH", kind, code)
            error = codec.read(message)
            assert error.reason == words.replace("_", " ").lower()
            assert error.is_role is ((kind, code) == (1, ofp.OFPBRC_IS_SLAVE) or kind == 11)
            assert not error.is_version


def test_an_unknown_error_is_reported_by_its_numbers():
    message = codec.HEADER.pack(4, codec.ERROR, 12, 7) + struct.pack("!HH", 99, 3)
    assert codec.read(message).reason == "error of type 99, code 3"


def test_a_rule_with_match_fields_unknown_to_weft_is_reported_by_its_cookie():
    match = struct.pack("!HHHBBI", 1, 12, 0x8000, 6 << 1, 4, 5) + bytes(4)
    removed = struct.pack("!QHBBIIHHQQ", 0x77, 1, 0, 0, 1, 0, 10, 0, 5, 500) + match
    assert codec.read(codec.HEADER.pack(4, 11, 8 + len(removed), 7) + removed) == codec.Removed(0x77)
    rule = struct.pack("!HBxIIHHHH4xQQQ", 64, 0, 1, 0, 1, 0, 0, 0, 0x77, 0, 0) + match
    body = struct.pack("!HH4x", 1, 1) + 2 * rule
    message = codec.HEADER.pack(4, 19, 8 + len(body), 7) + body
    assert codec.read(message) == codec.Part(True, rules=message, cookies=[0x77, 0x77])
    with pytest.raises(codec.MalformedError, match="malformed"):
        codec.read(message[:-1])
