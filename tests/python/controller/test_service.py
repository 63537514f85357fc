"""The controller between fake switches and a fake core: which messages each receives, and in which order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import struct

import pytest

from fake import (
    BARRIER_REPLY,
    ECHO,
    ECHO_REPLY,
    ERROR,
    FRAME,
    HEADER,
    MULTIPART,
    OWN,
    PACKET_OUT,
    ROLE,
    SET_CONFIG,
    opened,
    packet_out,
    running,
    until,
)
from weft.controller import foreign, service, status
from weft.controller.address import Address
from weft.controller.settings import Expected

CONTROLLER = 0xFFFFFFFD
FOREIGN = 0x1


async def test_a_switch_is_reported_to_the_core_with_its_ports_and_our_cookies(tmp_path, caplog):
    async with running(tmp_path) as network:
        caplog.set_level(logging.INFO)
        switch = await network.switch(1, (1, 2, 3), (OWN, FOREIGN))
        ((dpid, ports, answers),) = network.core.calls("switch_up")
        assert (dpid, ports) == (1, [1, 2, 3])
        assert [struct.unpack_from("!Q", answer, place)[0] for answer in answers for place in (40, 96)] == [
            OWN,
            FOREIGN,
        ]
        assert struct.unpack_from("!I", switch.bodies(ROLE)[0])[0] == 2
        assert switch.bodies(SET_CONFIG) == [b"\x00\x00\xff\xff"]
        assert "(Open vSwitch 3.1), 3 ports up, 1 rule found" in caplog.text
        assert "has foreign rules (1, cookies 0x1)" in caplog.text
        assert network.service.counts["foreign_rules"] == 1


async def test_a_rule_that_somebody_adds_at_run_time_is_reported_once_and_again_with_the_next(
    tmp_path, caplog, monkeypatch
):
    monkeypatch.setattr(foreign, "PERIOD_S", 0.0)
    monkeypatch.setattr(service, "_TICK_S", 0.02)

    async with running(tmp_path) as network:
        switch = await network.switch(1, (1, 2, 3), (OWN, OWN + 1, FOREIGN))
        switch.cookies = (OWN, OWN + 1, FOREIGN, 0x77, OWN ^ 1 << 48)
        await until(lambda: "has foreign rules (2, cookies 0x77, 0x5744000000000009)" in caplog.text)
        asked = len(switch.xids(MULTIPART))
        await until(lambda: len(switch.xids(MULTIPART)) > asked + 3 * 18)
        assert caplog.text.count("has foreign rules") == 2
        # One rule with a known cookie is still a new rule.
        switch.cookies += (0x77,)
        await until(lambda: "(1, cookies 0x77)" in caplog.text)
        assert network.service.counts["foreign_rules"] == 4
        # If there are none, two short answers suffice.
        switch.cookies = (OWN,)

        def kinds():
            return [struct.unpack_from("!H", body)[0] for body in switch.bodies(MULTIPART)]

        # The look under way, and a whole one.
        asked = kinds().count(2)
        await until(lambda: kinds().count(2) >= asked + 4)
        switch.got.clear()
        await until(lambda: len(kinds()) >= 6)
        assert set(kinds()) == {2}


async def test_what_the_core_has_for_switches_is_sent_to_those_that_can_be_steered(tmp_path):
    async with running(tmp_path) as network:
        one, two = await network.switch(1), await network.switch(2)
        waits = await network.switch(3, ready=False, slave=True)
        sends = [(2, packet_out(7) + packet_out(8)), (1, packet_out(6)), (3, packet_out(5)), (4, packet_out(5))]
        network.core.answers["packet_in"] = [sends]
        one.packet_in()
        await until(lambda: (CONTROLLER, 6, FRAME) in one.packet_outs())
        await until(lambda: (CONTROLLER, 8, FRAME) in two.packet_outs())
        assert network.core.calls("packet_in") == [(1, 3, FRAME)]
        assert [port for _, port, frame in two.packet_outs() if frame == FRAME] == [7, 8]
        assert [out for out in waits.packet_outs() if out[2] == FRAME] == []
        two.send(BARRIER_REPLY, b"", 2**31 + 5)
        await until(lambda: network.core.calls("confirmed"))
        assert network.core.calls("confirmed") == [(2, 2**31 + 5)]


async def test_messages_that_come_in_pieces_or_many_at_once_are_read_in_order(tmp_path):
    async with running(tmp_path) as network:
        one = await network.switch(1)
        whole = HEADER.pack(4, ECHO, 12, 77) + b"echo"
        for message in (whole, whole):
            for byte in message:
                # As if each byte came in a segment of its own.
                network.service.switches[1]._connection.data_received(bytes([byte]))
        for port in (1, 2):
            one.packet_in(port)
        one.writer.write(whole)
        one.packet_in(3)
        await until(lambda: len(network.core.calls("packet_in")) == 3)
        await until(lambda: one.bodies(ECHO_REPLY) == [b"echo"] * 3)
        assert network.core.calls("packet_in") == [(1, port, FRAME) for port in (1, 2, 3)]


async def test_an_error_is_passed_to_the_core_and_logged_once(tmp_path, caplog):
    async with running(tmp_path) as network:
        one = await network.switch(1)
        network.core.answers["refused"] = [[(1, packet_out(6))]]
        one.error(5, 1, 2**31 + 4)
        one.error(5, 1, 2**31 + 5)
        await until(lambda: (CONTROLLER, 6, FRAME) in one.packet_outs())
        await until(lambda: len(network.core.calls("refused")) == 2)
        reason = "flow mod failed table full"
        assert network.core.calls("refused") == [(1, 2**31 + 4, reason), (1, 2**31 + 5, reason)]
        assert network.service.counts["errors_received"] == 2
        assert caplog.text.count(f"switch 0000000000000001 refused a message: {reason}") == 1


async def test_a_switch_that_is_late_is_named_and_one_that_leaves_too_much_unanswered_given_up(tmp_path, caplog):
    async with running(tmp_path, install_deadline_s=0.2) as network:
        one, two = await network.switch(1), await network.switch(2)
        network.core.trouble = [("late", 1, 1), ("backlog", 2, 1), ("backlog", 99, 1), ("repaired", 1, 3)]
        network.core.took = [0.002, 0.004]
        await until(lambda: not two.open)
        assert "switch 0000000000000001 did not confirm rules within 0.2 s" in caplog.text
        assert "too many unanswered barrier requests" in caplog.text
        assert one.open and network.core.calls("switch_down") == [(2,)]
        assert network.service.set_up.total == 2


async def test_a_port_whose_host_is_stopped_is_named_with_its_switch(tmp_path, caplog):
    async with running(tmp_path, fabric=Expected("n", {"s\u202e2": 2}, [])) as network:
        caplog.set_level(logging.INFO)
        await network.switch(1)
        await network.switch(2)
        assert "switch s\\u202e2 is ready" in caplog.text, "characters that reverse text are escaped"
        network.core.offended = [("lldp", 1, 3, None, None, 7), ("lldp", 1, 99, None, None, 1)]
        network.service.collect()
        assert "switch 0000000000000001 port 3 (s1-eth3) exceeds the rate limit of LLDP frames; 7 frames" in caplog.text
        assert "switch 0000000000000001 port 99 exceeds the rate limit of LLDP frames" in caplog.text


async def test_a_switch_that_speaks_only_openflow_1_0_is_logged_once_with_the_fix(tmp_path, caplog):
    async with running(tmp_path) as network:
        for _ in range(5):
            old = await network.switch(1, version=1, ready=False)
            await until(lambda old=old: not old.open)
            assert old.kinds(ERROR) == [ERROR]
        said = [record.message for record in caplog.records if "OpenFlow 1.0" in record.message]
        assert len(said) == 1
        assert re.search(r"the switch at 127\.0\.0\.1:\d+ speaks OpenFlow 1\.0, not OpenFlow 1\.3", said[0])
        (row,) = status.show(network.service, "switches", 10)["refused"]
        last = old.writer.get_extra_info("sockname")
        assert (row["address"], row["dpid"], row["times"]) == (f"127.0.0.1:{last[1]}", None, 5)
        assert row["speaks"] == "OpenFlow 1.0"
        assert len(network.service.unsuitable.rows(network.service.now + 90, 10)) == 0
        assert "ovs-vsctl set bridge BRIDGE protocols=OpenFlow13" in said[0]
        assert network.service.counts["switches_of_another_version"] == 5
        assert network.core.calls("switch_up") == []


async def test_a_switch_that_offers_1_3_among_others_is_taken(tmp_path):
    async with running(tmp_path) as network:
        switch = await network.switch(1, version=6, ready=False)
        await until(lambda: not switch.open or switch.kinds(5))
        # A hello without a bitmap: all versions up to its own.
        switch.version = 4
        switch.send(6, bytes(7) + b"\x01" + bytes(16), 2)
        await until(lambda: network.core.calls("switch_up"))


@pytest.mark.parametrize("how", ["role", "error"])
async def test_a_switch_that_another_controller_takes_over_is_left_alone(tmp_path, caplog, how):
    async with running(tmp_path, probe_s=1.5) as network:
        switch = await network.switch(1)
        if how == "role":
            switch.slave = True
        else:
            switch.error(1, 10, 99)
        await until(lambda: network.core.calls("switch_down"))
        switch.error(1, 10, 100)
        switch.packet_in()
        # The reply shows that what was sent before the request has been read.
        switch.send(ECHO, b"read")
        await until(lambda: b"read" in switch.bodies(ECHO_REPLY))
        assert network.core.calls("packet_in") == []
        assert caplog.text.count("another controller has taken over switch 0000000000000001") == 1
        assert network.service.counts["switches_taken_over"] == 1
        assert network.core.left_alone == {1}
        await switch.close()
        await until(lambda: network.core.left_alone == set())


async def test_a_master_that_loses_its_last_switch_says_that_it_was_replaced_and_what_to_do(tmp_path, caplog):
    async with running(tmp_path) as network:
        switches = [await network.switch(dpid) for dpid in (1, 2)]
        switches[0].slave = True
        await until(lambda: network.core.left_alone == {1})
        assert "has replaced this one" not in caplog.text
        switches[1].slave = True
        await until(lambda: network.core.left_alone == {1, 2})
        (record,) = [one for one in caplog.records if "has replaced this one" in one.getMessage()]
        assert record.levelname == "ERROR"
        for part in ("leads 2 switches", "changes nothing at them", "stop it", "`--role standby`"):
            assert part in record.getMessage()
        # As documented, it goes on as their standby.
        assert all(switch.open for switch in switches)
        assert [one.is_waiting for one in network.service.switches.values()] == [True, True]


def has_another_master(switch):
    """Another controller is active: each of the switch's answers names a new generation id."""
    answer, renewed = switch._answer, iter(range(10**9, 2 * 10**9))

    def of_another(kind, xid, body):
        if kind == ROLE:
            switch.send(25, struct.pack("!I4xQ", 3, next(renewed)), xid)
        else:
            answer(kind, xid, body)

    switch._answer = of_another


async def test_the_total_of_switches_does_not_depend_on_the_limit(tmp_path):
    async with running(tmp_path, role="standby") as network:
        # The core's snapshot always has switch 1.
        for dpid in (1, 2, 3):
            has_another_master(await network.switch(dpid, ready=False))
        await until(lambda: network.core.left_alone == {1, 2, 3})
        shown = {limit: status.show(network.service, "switches", limit) for limit in (0, 1, 2, 3, 10)}
        assert {limit: answer["total"] for limit, answer in shown.items()} == dict.fromkeys(shown, 3)
        assert [len(answer["switches"]) for answer in shown.values()] == [0, 1, 2, 3, 3]


async def test_a_standby_knows_a_switch_of_another_controller_by_name_alone(tmp_path):
    async with running(tmp_path, role="standby") as network:
        has_another_master(await network.switch(1, ready=False))
        await until(lambda: network.core.left_alone == {1})
        rows = status.show(network.service, "switches", 10)["switches"]
        assert [(row["dpid"], row["connection"]) for row in rows] == [(1, "standby")]
        assert network.service.counts["takeovers"] == 0


async def test_a_switch_that_connects_again_replaces_its_connection_if_that_does_not_answer(tmp_path):
    async with running(tmp_path, answer_s=0.3) as network:
        first = await network.switch(1)
        first._answer = lambda *_: None
        second = await network.switch(1, (4, 5), ready=False)
        await until(lambda: len(network.core.calls("switch_up")) == 2)
        calls = [call[0] for call in network.core.recorded]
        assert [name for name in calls if name in ("switch_up", "switch_down")] == [
            "switch_up",
            "switch_down",
            "switch_up",
        ]
        await until(lambda: not first.open)
        assert second.open and network.service.switches[1].ports_up() == [4, 5]


async def test_who_claims_the_datapath_id_of_a_switch_that_answers_is_refused(tmp_path, caplog):
    async with running(tmp_path) as network:
        first = await network.switch(1)
        second = await network.switch(1, (4, 5), ready=False)
        await until(lambda: not second.open)
        # Whatever the outcome of the claim, the switch continues unchanged.
        assert not network.service._rivals._claims
        first.port_status(2, up=False)
        await until(lambda: network.core.calls("port_changed"))
        assert first.open and not network.core.calls("switch_down")
        assert len(network.core.calls("switch_up")) == 1
        assert second.kinds(ROLE) == [], "no role request is sent while a rival is master"
        assert "which is connected from" in caplog.text and "responds: refused" in caplog.text
        assert network.service.counts["datapath_ids_disputed"] == 1
        # When the connected one leaves, another may connect.
        await first.close()
        await network.switch(1, (7,), ready=False)
        await until(lambda: len(network.core.calls("switch_up")) == 2)


async def test_a_claim_need_not_wait_when_the_connection_before_it_ends(tmp_path):
    async with running(tmp_path, answer_s=1e6) as network:
        first = await network.switch(1)
        first._answer = lambda *_: None
        await network.switch(1, (4, 5), ready=False)
        await until(lambda: network.service._rivals._claims)
        await first.close()
        await until(lambda: len(network.core.calls("switch_up")) == 2)
        assert not network.service._rivals._claims


async def test_further_claims_to_a_datapath_id_do_not_make_the_first_one_wait_longer(tmp_path):
    async with running(tmp_path, answer_s=0.5) as network:
        first = await network.switch(1)
        first._answer = lambda *_: None
        await network.switch(1, (4, 5), ready=False)
        while len(network.core.calls("switch_up")) < 2:
            further = await network.switch(1, (6,), ready=False)
            await until(lambda further=further: not further.open or len(network.core.calls("switch_up")) == 2)
        assert [ports for _, ports, _ in network.core.calls("switch_up")] == [[1, 2, 3], [4, 5]]


async def test_a_switch_that_is_not_ready_in_time_is_given_up_however_much_it_says(tmp_path, monkeypatch):
    from weft.controller import switch as module

    monkeypatch.setattr(module, "_HANDSHAKE_S", 1.0)

    async with running(tmp_path, probe_s=5.0) as network:
        switch = await network.switch(1, ready=False)
        switch._answer = lambda *_: None

        def says_errors():
            """Errors that answer no request: the switch is never silent."""
            switch.error(1, 1, 7)
            return not switch.open

        await until(says_errors)
        assert not network.core.calls("switch_up")


async def test_a_takeover_may_take_the_time_of_a_handshake_however_long_the_switch_was_connected(tmp_path, monkeypatch):
    monkeypatch.setattr(service, "_TICK_S", 0.02)

    async with running(tmp_path, role="standby") as network:
        switch = await network.switch(1, ready=False)
        await until(lambda: 1 in network.service.switches)
        connected = network.service.switches[1]
        connected.since = connected._began = connected.since - 3600
        answer, waiting = switch._answer, []
        # It tells its rules and ports only after several checks of the timeout.
        switch._answer = lambda kind, *more: waiting.append(more) if kind == MULTIPART else answer(kind, *more)
        await until(lambda: waiting)
        await asyncio.sleep(0.2)
        for more in waiting:
            answer(MULTIPART, *more)
        await until(lambda: not switch.open or network.core.calls("switch_up"))
        assert switch.open


async def test_a_switch_that_tells_rules_without_end_is_given_up(tmp_path, monkeypatch):
    from weft.controller import switch as module

    monkeypatch.setattr(module, "_RULE_BYTES", 20_000)

    async with running(tmp_path) as network:
        switch = await network.switch(1, ready=False)
        answer = switch._answer

        def without_end(kind, xid, body):
            if kind == MULTIPART and body[:2] == b"\x00\x01":
                # Parts without a rule, each with more to come.
                for _ in range(1000):
                    switch.send(19, struct.pack("!HH4x", 1, 1), xid)
            else:
                answer(kind, xid, body)

        switch._answer = without_end
        await until(lambda: not switch.open)
        assert not network.core.calls("switch_up")


async def test_one_address_has_so_many_connections_and_others_still_come_in(tmp_path, caplog, monkeypatch):
    from weft.controller import connection_limits

    monkeypatch.setattr(connection_limits, "UNREADY_OF_ADDRESS", 3)
    monkeypatch.setattr(connection_limits, "OF_ADDRESS", 5)

    async with running(tmp_path) as network:

        async def silent(address):
            return await opened(network.address, local_addr=(address, 0))

        async def refused(count):
            await until(lambda: network.service.counts["connections_refused"] == count)

        ready = await network.switch(1)
        waiting = [await silent("127.0.0.1") for _ in range(5)]
        await refused(2)
        assert len(network.service._connections) == 1 + 3
        for reader, _ in waiting[3:]:
            with contextlib.suppress(ConnectionError):
                await reader.read()
        assert "more than 3 connections from 127.0.0.1 that are not ready" in caplog.text
        other = await silent("127.0.0.2")
        await until(lambda: len(network.service._connections) == 1 + 3 + 1)
        for _, writer in (*waiting, other):
            writer.close()
        await until(lambda: len(network.service._connections) == 1)
        # Closed connections do not count, and ready ones count only as connections.
        more = [await network.switch(2 + number) for number in range(4)]
        assert ready.open and all(one.open for one in more)
        _, sixth = await silent("127.0.0.1")
        await refused(3)
        sixth.close()


async def test_a_switch_that_speaks_tls_is_reported(tmp_path, caplog):
    async with running(tmp_path) as network:
        reader, writer = await opened(network.address)
        # A client's hello, its record header first.
        writer.write(bytes.fromhex("160301"))
        await until(lambda: "speaks TLS" in caplog.text)
        writer.write(bytes.fromhex("0005010000010003"))
        assert "--tls-key, --tls-cert and --tls-ca" in caplog.text
        assert "ovs-vsctl set-controller BRIDGE tcp:127.0.0.1:0" in caplog.text
        assert (await reader.read(100))[1:2] == b"\0", "a hello, then end of stream"
        writer.close()
        assert network.service.counts["switches_with_tls"] == 1


async def test_a_silent_switch_is_given_up(tmp_path):
    async with running(tmp_path, probe_s=1.0) as network:
        switch = await network.switch(1)
        switch._answer = lambda *_: None
        await until(lambda: network.core.calls("switch_down"))


async def test_what_a_switch_tells_of_ports_and_rules_reaches_the_core(tmp_path):
    async with running(tmp_path) as network:
        switch = await network.switch(1)
        switch.port_status(2, up=False)
        switch.port_status(2, up=False)
        switch.port_status(2, up=True)
        switch.port_status(3, up=True, gone=True)
        switch.rule_removed(OWN)
        switch.rule_removed(FOREIGN)
        await until(lambda: network.service.counts["foreign_rules"])
        assert network.core.calls("port_changed") == [(1, 2, False), (1, 2, True), (1, 3, False)]
        assert network.core.calls("rule_removed") == [(1, OWN)]


def carries(switch, out_port, other, in_port):
    """One direction of a link."""
    answer = switch._answer

    def carry(kind, xid, body):
        answer(kind, xid, body)
        if kind == PACKET_OUT and switch.packet_outs()[-1][1] == out_port:
            other.packet_in(in_port, switch.packet_outs()[-1][2])

    switch._answer = carry


async def test_links_of_a_switch_that_talks_but_receives_nothing_stay_until_it_receives_again(tmp_path):
    async with running(tmp_path, lldp_interval_s=0.1, probe_s=60.0) as network:
        one, two = await network.switch(1, (3,)), await network.switch(2, (1,))
        carries(one, 3, two, 1)
        carries(two, 1, one, 3)
        await until(lambda: len(network.core.calls("link_changed")) == 2)
        counts = network.service.discovery.counts
        answer, two._answer = two._answer, lambda *_: None
        sent = counts["sent"]
        await until(lambda: two.send(ECHO) or counts["sent"] > sent + 20)
        assert len(network.core.calls("link_changed")) == 2
        # The request that it did not answer is answered with the others.
        unanswered = two.xids(ECHO)[-1]
        two._answer = lambda kind, *more: None if kind == PACKET_OUT else answer(kind, *more)
        two.send(ECHO_REPLY, b"", unanswered)
        await until(lambda: len(network.core.calls("link_changed")) > 2)
        assert network.core.calls("link_changed")[2] == ((2, 1), (1, 3), False)


async def test_links_are_found_over_switches_and_lost_with_a_port(tmp_path):
    async with running(tmp_path) as network:
        one, two = await network.switch(1), await network.switch(2)
        carries(one, 3, two, 1)
        carries(two, 1, one, 3)
        await until(lambda: len(network.core.calls("link_changed")) == 2)
        assert set(network.core.calls("link_changed")) == {((1, 3), (2, 1), True), ((2, 1), (1, 3), True)}
        two.port_status(1, up=False)
        await until(lambda: [up for _, _, up in network.core.calls("link_changed")].count(False) == 2)
        # LLDP is handled by the shell: the core never sees it.
        assert network.core.calls("packet_in") == []


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x04\x00\x00\x03" + bytes(8),
        b"\x04\x06\x00\x20" + bytes(300),
        bytes(4000),
        b"\x04\x0a\x00\x0a" + bytes(2000),
    ],
)
async def test_what_is_no_openflow_does_no_harm(tmp_path, data):
    async with running(tmp_path) as network:
        good = await network.switch(1)
        _, writer = await opened(network.address)
        writer.write(data)
        good.packet_in()
        await until(lambda: network.core.calls("packet_in"))
        writer.close()
        bad = await network.switch(2)
        for _ in range(12):
            bad.send(12, b"\x00")
        await until(lambda: not bad.open)
        assert good.open


async def test_differences_from_the_expected_fabric_are_said_once(tmp_path, caplog, monkeypatch):
    from weft.controller import differences
    from weft.controller.settings import Expected

    monkeypatch.setattr(differences, "_EVERY_S", 0.0)
    monkeypatch.setattr(service, "_TICK_S", 0.02)
    caplog.set_level(logging.INFO)

    async with running(tmp_path, fabric=Expected("ring", {"s1": 1}, [])) as network:
        await network.switch(1)
        network.core.differences = ["s1 leads to s3, expected s2"]
        await until(lambda: "differs from the fabric file" in caplog.text)
        looks = len(network.core.calls("show"))
        await until(lambda: len(network.core.calls("show")) > looks + 10)
        network.core.differences = []
        gone = "difference from the fabric file resolved: `s1 leads to s3, expected s2`"
        await until(lambda: gone in caplog.text)
        assert caplog.text.count("differs from the fabric file: s1 leads to s3") == 1
        assert "switch s1 is ready" in caplog.text


def test_what_cannot_be_seen_any_more_is_not_said_to_be_gone(caplog):
    from weft.controller.differences import Differences

    caplog.set_level(logging.INFO)
    differences = Differences(0.0)
    for now in (5.0, 10.0):
        differences.look(now, {"s1 leads to s3, expected s2"})
    differences.forget()
    differences.look(15.0, set())
    said = [record.message for record in caplog.records]
    assert said == ["differs from the fabric file: s1 leads to s3, expected s2"]


async def test_the_address_that_is_listened_on_is_called_as_it_was_typed(tmp_path):
    async with running(tmp_path, listen=Address("", 0)) as network:
        host, _, port = network.address.rpartition(":")
        assert host == "" and int(port) > 0


def test_of_switches_that_are_refused_so_many_are_remembered():
    from weft.controller.unsuited import Unsuited

    unsuited = Unsuited()
    for number in range(200):
        unsuited.add(1.0, f"10.0.0.{number}", f"10.0.0.{number}:5", 0, "OpenFlow 1.0")
    unsuited.add(2.0, "10.0.0.1", "10.0.0.1:7", 0xAB, "OpenFlow 1.4")
    rows = unsuited.rows(3.0, 1000)
    assert len(rows) == 64
    assert rows[0] == {
        "address": "10.0.0.1:7",
        "dpid": "00000000000000ab",
        "speaks": "OpenFlow 1.4",
        "times": 1,
        "last_s": 1.0,
    }
    assert (rows[1]["address"], len(unsuited.rows(3.0, 2))) == ("10.0.0.199:5", 2)
