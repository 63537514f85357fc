"""The controller's LLDP frames: their content, and that they cannot be forged."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.controller import lldp

SIGNER = lldp.Signer(controller=0x1122334455667788, key=bytes(range(32)))
ADDRESS = bytes.fromhex("020000000001")


def tlv(kind, value):
    return struct.pack("!H", kind << 9 | len(value)) + value


def foreign(chassis, port=b"\x07\x31", subtype=7):
    body = tlv(1, bytes([subtype]) + chassis) + tlv(2, port) + tlv(3, b"\x00\x78") + tlv(0, b"")
    return (lldp.NEAREST_BRIDGE + ADDRESS + b"\x88\xcc" + body).ljust(60, b"\0")


@given(st.integers(1, 2**64 - 1), st.integers(1, 2**32 - 1), st.integers(0, 2**63))
def test_a_frame_says_where_it_was_sent_from_and_is_proven(dpid, port, number):
    frame = SIGNER.frame(dpid, port, ADDRESS, number, 4)
    assert frame[12:14] == b"\x88\xcc" and len(frame) >= 60
    assert frame[:12] == lldp.NEAREST_BRIDGE + ADDRESS
    seen = lldp.read(frame)
    assert isinstance(seen, lldp.Seen)
    assert (seen.dpid, seen.port, seen.number, seen.controller) == (dpid, port, number, SIGNER.controller)
    assert SIGNER.knows(seen)


def test_no_number_of_a_frame_can_be_changed_without_the_key():
    frame = SIGNER.frame(1, 2, ADDRESS, 3, 4)
    body = len(frame.rstrip(b"\0"))
    proven = 0
    for place in range(14, body):
        changed = bytearray(frame)
        changed[place] ^= 1
        seen = lldp.read(bytes(changed))
        if isinstance(seen, lldp.Seen) and seen.controller == SIGNER.controller and SIGNER.knows(seen):
            proven += 1
            # The lifetime and similar fields are not authenticated; switch and port are.
            assert (seen.dpid, seen.port, seen.number) == (1, 2, 3)
    assert proven < 8


def test_another_key_proves_nothing():
    other = lldp.Signer(SIGNER.controller, bytes(32))
    seen = lldp.read(other.frame(1, 2, ADDRESS, 3, 4))
    assert isinstance(seen, lldp.Seen) and not SIGNER.knows(seen)


@pytest.mark.parametrize(
    ("chassis", "is_controller"),
    [(b"dpid:0000000000000001", True), (b"of:0000000000000001", True), (b"openflow:1", True), (b"printer-3", False)],
)
def test_frames_of_other_controllers_are_distinguished_from_those_of_hosts(chassis, is_controller):
    said = lldp.read(foreign(chassis))
    assert said == lldp.Foreign(chassis.decode(), is_controller)


@given(st.binary(max_size=200), st.integers(0, 200))
def test_anything_can_be_read(junk, cut):
    frame = SIGNER.frame(7, 9, ADDRESS, 1, 4)
    for data in (junk, frame[:14] + junk, frame[:cut], frame[:cut] + junk):
        lldp.read(data)
    assert lldp.read(frame[:14] + bytes(2000)) is None
