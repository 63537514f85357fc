"""Links have the requested properties, or the run stops."""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from plans import plan_of
from waiting import PATIENCE_S, until
from weft.emulation import shaping, stack
from weft.emulation.errors import EmulationError
from weft.emulation.namespace import entered, path_of
from weft.emulation.plan import Plan

_ETH_P_ALL, _PACKET_OUTGOING = 3, 4
_SO_RCVBUFFORCE, _SO_TIMESTAMPNS = 33, 35
_RUN = 200
"""Frames after each other of which a rate is taken."""
SHAPE = shaping.Shape(10_000_000, 24, "pfifo limit 100")
QDISCS = """[{"kind":"htb","handle":"1:","dev":"x","root":true,"options":{"default":"0x1"}},
{"kind":"pfifo","handle":"10:","dev":"x","parent":"1:1","options":{"limit":100}}]"""
CLASS = (
    "class htb 1:1 root leaf 10: prio 0 quantum 1514 rate 10Mbit overhead 24 ceil 10Mbit linklayer ethernet"
    " burst 1400b/1 mpu 0b cburst 1400b/1 mpu 0b level 0"
)


def test_what_is_as_wanted_has_no_differences():
    assert shaping.differences({"x": SHAPE}, QDISCS, [CLASS]) == []


@pytest.mark.parametrize(
    ("qdiscs", "text", "said"),
    [
        ("[]", CLASS, "x has nothing, not htb"),
        (QDISCS.replace('"limit":100', '"limit":1000'), CLASS, "pfifo limit 1000, not pfifo limit 100"),
        (QDISCS.replace('"pfifo"', '"bfifo"'), CLASS, "bfifo limit 100, not pfifo limit 100"),
        (QDISCS, CLASS.replace("rate 10Mbit", "rate 100Mbit"), "rate 100000000.0, not 10000000"),
        (QDISCS, CLASS.replace("ceil 10Mbit", "ceil 9Mbit"), "ceil 9000000.0, not 10000000"),
        (QDISCS, CLASS.replace("cburst 1400b", "cburst 1600b"), "cburst 1600, not 1400"),
        (QDISCS, CLASS.replace("overhead 24 ", ""), "overhead 0, not 24"),
        (QDISCS, "", "x has no class"),
    ],
)
def test_every_difference_is_named(qdiscs, text, said):
    assert said in "; ".join(shaping.differences({"x": SHAPE}, qdiscs, [text]))


def test_a_link_is_htb_with_the_burst_of_one_frame_over_a_queue_that_counts_packets():
    assert SHAPE.commands("l0-eth1") == [
        "qdisc add dev l0-eth1 root handle 1: htb default 1",
        "class add dev l0-eth1 parent 1: classid 1:1 htb rate 10000000bit ceil 10000000bit burst 1400b cburst 1400b"
        " quantum 1514 overhead 24",
        "qdisc add dev l0-eth1 parent 1:1 handle 10: pfifo limit 100",
    ]


def test_both_directions_of_a_cable_have_their_own_shape():
    plan = plan_of(end={"queue_packets": None, "queue_bytes": 30_000, "overhead": "none"})
    shapes = shaping.shapes(plan, delays=False)
    assert set(shapes) == {"h0", "h1", "l0"}
    assert shapes["l0"]["l0-eth1"] == shaping.Shape(10_000_000, 0, "bfifo limit 30000")


def test_a_link_that_delays_holds_what_is_under_way_beside_its_queue():
    plan = plan_of(end={"delay_ps": 10 * 10**9})
    # 10 ms at 10 Mbps are 8.26 frames of 1514 bytes.
    assert shaping.shapes(plan, delays=True)["h0"]["h0-eth0"].limit == "netem limit 109 delay 10000us"


def test_delays_far_below_a_frames_time_are_left_out_with_a_warning():
    # A full frame takes 1538 * 8 / 10 Mbps = 1230.4 us; two links delay by 2 us, 0.2 % of that.
    matters, warnings = shaping.delay_matters(plan_of(end={"delay_ps": 10**6}))
    assert not matters
    assert "2 us on a whole path, 0.2 %" in warnings[0]
    assert shaping.delay_matters(plan_of()) == (False, [])


def test_delays_that_matter_are_refused_where_the_kernel_has_no_netem(monkeypatch):
    monkeypatch.setattr(shaping, "has_netem", lambda: False)
    with pytest.raises(EmulationError, match=r"has a delay of 200 us, 16 % of a full frame.*sch_netem") as refused:
        shaping.delay_matters(plan_of(end={"delay_ps": 10**8}))
    assert "fabric.delay" in str(refused.value.hint)
    monkeypatch.setattr(shaping, "has_netem", lambda: True)
    assert shaping.delay_matters(plan_of(end={"delay_ps": 10**8})) == (True, [])


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ({"limit": "100 packets", "ecn_threshold": "20 packets"}, "h0->l0 marks packets (`ecn_threshold`)"),
        ({"limit": "100 packets", "weights": [1, 1], "trim": True}, "the port of h0->l0 cuts packets (`trim`)"),
        ({"limit": "100 packets", "pfc": {}}, "the port of h0->l0 pauses its sender (`pfc`)"),
        ({"limit": "100 packets", "queues": [1, 1]}, "h0->l0 has several queues"),
    ],
)
def test_queues_that_do_more_than_hold_packets_are_refused(queue, said):
    with pytest.raises(EmulationError) as refused:
        shaping.refuse_special(plan_of(end={"queue": queue}))
    assert said in str(refused.value)


def test_framing_that_ethernet_cannot_have_is_warned_of():
    assert "0.8 % longer" in shaping.refuse_special(plan_of(end={"overhead": "ppp"}))[0]


@pytest.fixture
def veth(root):
    """Two namespaces with a veth pair; yields the processes that hold them."""
    holders = [subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE) for _ in (0, 1)]
    try:
        for holder in holders:
            until("it has a namespace of its own", lambda holder=holder: not path_of_is_home(holder.pid))
        with entered(path_of(holders[0].pid)):
            ip("link", "add", "h0-eth0", "type", "veth", "peer", "name", "h1-eth0", "netns", str(holders[1].pid))
        for number, holder in enumerate(holders):
            with entered(path_of(holder.pid)):
                ip("address", "add", f"10.0.0.{number + 1}/8", "dev", f"h{number}-eth0")
                ip("link", "set", f"h{number}-eth0", "up")
        yield holders
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()


def path_of_is_home(process: int) -> bool:
    """Whether the process has not entered its namespace yet."""
    return Path(path_of(process)).readlink() == Path("/proc/self/ns/net").readlink()


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def test_the_kernels_own_report_is_read_and_compared(veth):
    wanted = {"h0-eth0": SHAPE}
    with entered(path_of(veth[0].pid)):
        shaping.apply(wanted)
        place = ("dev", "h0-eth0", "parent", "1:1", "handle", "10:")
        subprocess.run(["tc", "qdisc", "replace", *place, "pfifo", "limit", "7"], check=True)
        reports = shaping.reports(wanted)
    assert shaping.differences(wanted, *reports) == ["h0-eth0 queues by pfifo limit 7, not pfifo limit 100"]


@pytest.mark.parametrize("megabits", [10, 100])
def test_a_link_carries_what_its_rate_leaves_after_headers(veth, megabits):
    """1448 of a frame's 1538 bytes on the wire are payload: 94.15 %, within 1.5 %."""
    for number, holder in enumerate(veth):
        with entered(path_of(holder.pid)):
            stack.offloads(f"h{number}-eth0")
            shaping.apply({f"h{number}-eth0": shaping.Shape(megabits * 1_000_000, 24, "pfifo limit 100")})
    wanted = megabits * 1e6 * 1448 / 1538
    rates = []
    with flowing(veth), entered(path_of(veth[0].pid)), departures("h0-eth0") as departed:
        end = time.monotonic() + PATIENCE_S
        # A busy machine wakes the queue late, which costs time but never gains any: some run of frames is on time.
        while len(rates) < 10 or max(rates) < wanted * 0.985:
            assert time.monotonic() < end, rates
            first, *_, last = [next(departed) for _ in range(_RUN + 1)]
            rates.append(_RUN * 1448 * 8 / (last - first))
    assert max(rates) == pytest.approx(wanted, rel=0.015), rates


@contextmanager
def departures(interface: str) -> Iterator[Iterator[float]]:
    """The times at which full frames leave the queue of an interface, in seconds, in order."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as tap:
        tap.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 24)
        tap.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        tap.bind((interface, _ETH_P_ALL))
        tap.settimeout(PATIENCE_S)

        def times() -> Iterator[float]:
            while True:
                frame, notes, _, sender = tap.recvmsg(2048, 64)
                if sender[2] == _PACKET_OUTGOING and len(frame) == 1514:
                    ((_, _, stamp),) = notes
                    seconds, nanoseconds = struct.unpack("qq", stamp)
                    yield seconds + nanoseconds / 1e9

        yield times()


@contextmanager
def flowing(veth) -> Iterator[None]:
    """The first host sends to the second at full speed while the block runs."""
    with entered(path_of(veth[1].pid)):
        server = socket.create_server(("10.0.0.2", 5001))
    with entered(path_of(veth[0].pid)):
        here = socket.socket()
    here.connect(("10.0.0.2", 5001))
    there, _ = server.accept()

    def send() -> None:
        with suppress(OSError):
            while True:
                here.sendall(bytes(1 << 16))

    def receive() -> None:
        with suppress(OSError):
            while there.recv(1 << 20):
                pass

    threads = [threading.Thread(target=one, daemon=True) for one in (send, receive)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for one in (here, there):
            one.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for one in (server, here, there):
            one.close()


def test_a_plan_without_flows_has_no_path():
    assert shaping.path_cables(plan_of(flows=[])) == 0
    plan: Plan = plan_of()
    assert shaping.path_cables(plan) == 2
