"""The messages that Weft makes and reads itself are those that os-ken makes and reads."""

from __future__ import annotations

import contextlib
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("os_ken", reason="the Python package os-ken is not installed")

from os_ken.ofproto import ofproto_protocol, ofproto_v1_3_parser
from os_ken.ofproto.ofproto_parser import msg as read

from weft import _weft
from weft.controller import codec

DESCRIBED = ofproto_protocol.ProtocolDesc(version=4)
NUMBERS = {"in_port": 32, "eth_type": 16, "ip_proto": 8, "tcp_src": 16, "tcp_dst": 16}
MACS = st.binary(min_size=6, max_size=6).map(lambda octets: octets.hex(":"))
PORTS = st.integers(0, 2**32 - 1)


@st.composite
def matches(draw):
    """A match of a flow, of a label, or of less."""
    fields = {}
    if draw(st.booleans()):
        fields["in_port"] = draw(PORTS)
    if draw(st.booleans()):
        fields["eth_dst"] = draw(MACS)
    kind = draw(st.sampled_from(["none", "arp", "v4", "v6", "nd"]))
    if kind == "arp":
        fields["eth_type"] = 0x806
    if kind in ("v4", "v6"):
        fields |= {"eth_type": 0x800 if kind == "v4" else 0x86DD, "ip_proto": 6}
        bits, make = (32, ipaddress.IPv4Address) if kind == "v4" else (128, ipaddress.IPv6Address)
        for end in ("src", "dst"):
            fields[f"ip{kind}_{end}"] = str(make(draw(st.integers(0, 2**bits - 1))))
            fields[f"tcp_{end}"] = draw(st.integers(0, 65535))
    if kind == "nd":
        fields |= {"eth_type": 0x86DD, "ip_proto": 58, "icmpv6_type": draw(st.integers(133, 137))}
    return tuple(fields.items())


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("set_eth_dst"), MACS),
        st.tuples(st.just("output"), PORTS),
        st.tuples(st.just("controller"), st.integers(0, 65535)),
    ),
    max_size=4,
).map(tuple)
RULES = st.tuples(
    st.integers(1, 2**64 - 1),
    st.sampled_from(["add", "modify", "remove"]),
    st.integers(0, 2**64 - 1),
    st.integers(0, 65535),
    matches(),
    ACTIONS,
    st.integers(0, 65535),
    st.booleans(),
)


def by_os_ken(xid, rule):
    """The flow-mod that os-ken makes of a rule."""
    parser = ofproto_v1_3_parser
    _, op, cookie, priority, fields, actions, idle_timeout, notify = rule
    made = [
        parser.OFPActionSetField(eth_dst=value)
        if what == "set_eth_dst"
        else parser.OFPActionOutput(*((value, 0) if what == "output" else (0xFFFFFFFD, value)))
        for what, value in actions
    ]
    message = parser.OFPFlowMod(
        DESCRIBED,
        cookie=cookie,
        cookie_mask=0 if op == "add" else 2**64 - 1,
        command={"add": 0, "modify": 2, "remove": 3}[op],
        idle_timeout=idle_timeout,
        priority=priority,
        out_port=0xFFFFFFFF,
        out_group=0xFFFFFFFF,
        flags=int(notify),
        match=parser.OFPMatch(**dict(fields)),
        instructions=[parser.OFPInstructionActions(4, made)] if made else [],
    )
    message.set_xid(xid)
    message.serialize()
    return bytes(message.buf)


@given(st.integers(1, 2**31), st.lists(RULES, max_size=5), st.booleans())
def test_rules_are_the_bytes_that_os_ken_makes(first, rules, barrier):
    wanted = b"".join(by_os_ken(first + place, rule) for place, rule in enumerate(rules))
    if barrier:
        wanted += codec.HEADER.pack(4, 20, 8, first + len(rules))
    assert codec.flow_mods(first, rules, barrier=barrier) == wanted


def test_a_mask_of_an_address_is_the_bytes_that_os_ken_makes():
    guard = (("in_port", 3), ("eth_dst", ("06:57:00:00:00:00", "ff:ff:00:00:00:00")))
    rule = (1, "add", 5, 7, guard, (), 0, False)
    assert codec.flow_mods(9, [rule], barrier=False) == by_os_ken(9, rule)


@given(PORTS, st.lists(PORTS, min_size=1, max_size=5), st.binary(max_size=1500))
def test_frames_down_are_the_bytes_that_os_ken_makes(in_port, ports, frame):
    parser = ofproto_v1_3_parser
    actions = [parser.OFPActionOutput(port, 0) for port in ports]
    message = parser.OFPPacketOut(DESCRIBED, 0xFFFFFFFF, in_port, actions, frame)
    message.set_xid(7)
    message.serialize()
    assert codec.packet_out(7, in_port, ports, frame) == bytes(message.buf)


@given(PORTS, st.integers(0, 2**64 - 1), st.binary(max_size=300), st.integers(0, 400))
def test_frames_up_are_what_os_ken_reads_and_what_is_cut_is_refused(in_port, cookie, frame, cut):
    parser = ofproto_v1_3_parser
    match = parser.OFPMatch(in_port=in_port)
    message = parser.OFPPacketIn(DESCRIBED, 0xFFFFFFFF, len(frame), 0, 0, cookie, match, frame)
    assert message.match["in_port"] == in_port
    body = bytearray()
    match.serialize(body, 0)
    data = (
        codec.HEADER.pack(4, codec.PACKET_IN, 24 + len(body) + 2 + len(frame), 1)
        + b"\xff\xff\xff\xff"
        + len(frame).to_bytes(2, "big")
        + b"\x01\x00"
        + cookie.to_bytes(8, "big")
        + bytes(body)
        + bytes(2)
        + frame
    )
    theirs = read(DESCRIBED, 4, codec.PACKET_IN, len(data), 1, data)
    assert codec.read(codec.PACKET_IN, 1, data) == (theirs.match["in_port"], theirs.cookie, bytes(theirs.data))
    if cut < len(data):
        with pytest.raises(codec.MalformedError):
            codec.read(codec.PACKET_IN, 1, data[:cut])


@pytest.mark.parametrize(
    "rule",
    [
        (1, "change", 5, 7, (), (), 0, False),
        (1, "add", 5, 7, (("vlan_vid", 3),), (), 0, False),
        (1, "add", 5, 7, (("eth_dst", "nonsense"),), (), 0, False),
        (1, "add", 5, 7, (), (("group", 3),), 0, False),
    ],
)
def test_what_is_no_rule_is_refused(rule):
    with pytest.raises(ValueError, match="`"):
        _weft.flow_mods(1, [rule], False)


@given(st.integers(0, 30), st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(kind, body):
    data = codec.HEADER.pack(4, kind, codec.HEADER.size + len(body), 1) + body
    for reads in (lambda: codec.read(kind, 1, data), lambda: codec.versions(data)):
        with contextlib.suppress(codec.MalformedError):
            reads()
