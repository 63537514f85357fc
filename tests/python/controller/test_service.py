"""The controller between switches and a core that are the tests' own: what each is told, and in which order."""

from __future__ import annotations

import asyncio
import logging
import struct

import pytest

pytest.importorskip("os_ken", reason="the Python package os-ken is not installed")

from fake import BARRIER, ERROR, FLOW_MOD, FRAME, ROLE, SET_CONFIG, rule, running, until

TABLE = 0xFFFFFFF9
OWN, FOREIGN = 0x5745_0000_0000_0009, 0x1


@pytest.fixture
def network(tmp_path):
    """Runs a test that is a coroutine with a controller of its own."""

    def run(test, **settings):
        async def whole():
            async with asyncio.timeout(20), running(tmp_path, **settings) as network:
                await test(network)

        asyncio.run(whole())

    return run


def test_a_switch_is_told_to_the_core_with_its_ports_and_our_cookies(network, caplog):
    async def test(network):
        caplog.set_level(logging.INFO)
        switch = await network.switch(1, (1, 2, 3), (OWN, FOREIGN))
        assert network.core.calls("switch_up") == [(1, [1, 2, 3], [OWN])]
        assert struct.unpack_from("!I", switch.bodies(ROLE)[0])[0] == 2
        assert switch.bodies(SET_CONFIG) == [b"\x00\x00\xff\xff"]
        assert "(Open vSwitch 3.1), 3 ports up, 1 rule found" in caplog.text
        assert "has rules that are not Weft's (1, cookies 0x1)" in caplog.text
        assert network.service.counts["foreign_rules"] == 1

    network(test)


def test_rules_go_out_before_one_barrier_a_switch_and_the_frame_when_all_have_confirmed(network):
    async def test(network):
        one, two = await network.switch(1), await network.switch(2, barriers=False)
        rules = [rule(2, out=7), rule(1, eth_type=0x800), rule(2, out=8)]
        network.core.answers["packet_in"] = [[("install", 5, rules, [(1, 3, FRAME)])]]
        one.packet_in()
        await until(lambda: BARRIER in two.kinds(BARRIER))
        assert network.core.calls("packet_in") == [(1, 3, 0x5745_0000_0000_0002, FRAME)]
        assert two.kinds(FLOW_MOD, BARRIER) == [FLOW_MOD, FLOW_MOD, BARRIER]
        assert [mod.instructions[0].actions[0].port for mod in two.flow_mods()] == [7, 8]
        assert one.kinds(FLOW_MOD, BARRIER) == [FLOW_MOD, BARRIER]
        await asyncio.sleep(0.05)
        assert [out for out in one.packet_outs() if out[2] == FRAME] == []
        assert network.core.calls("installed") == []
        two.send(21, b"", two.xids(BARRIER)[0])
        await until(lambda: network.core.calls("installed"))
        await until(lambda: (3, TABLE, FRAME) in one.packet_outs())
        assert network.core.calls("installed") == [(5,)] and network.core.calls("failed") == []
        assert network.service.installer.set_up.total == 1

    network(test)


def test_what_the_core_says_on_being_told_is_done_after_what_it_said_before(network):
    async def test(network):
        one = await network.switch(1)
        install = ("install", 5, [rule(1, out=7)], [])
        network.core.answers["packet_in"] = [[install, ("install", 0, [rule(1, out=8)], [])]]
        network.core.answers["installed"] = [[("install", 0, [rule(1, out=9)], [])]]
        one.packet_in()
        await until(lambda: len(one.kinds(FLOW_MOD)) == 3)
        assert [mod.instructions[0].actions[0].port for mod in one.flow_mods()] == [7, 8, 9]
        assert one.kinds(BARRIER) == [BARRIER]

    network(test)


def test_rules_are_what_the_core_says(network):
    async def test(network):
        one = await network.switch(1)
        add = (
            1,
            "add",
            0x5745_0000_0000_0001,
            7,
            (("in_port", 3), ("eth_dst", ("06:57:00:00:00:00", "ff:ff:00:00:00:00"))),
            (),
            0,
            False,
        )
        flow = (
            ("eth_type", 0x86DD),
            ("ip_proto", 6),
            ("ipv6_src", "fd00::1"),
            ("ipv6_dst", "fd00::2"),
            ("tcp_src", 1),
            ("tcp_dst", 2),
        )
        actions = (("set_eth_dst", "06:57:00:00:08:01"), ("output", 4), ("controller", 256))
        modify = (1, "modify", OWN, 9, flow, actions, 10, True)
        remove = (1, "remove", OWN, 0, (), (), 0, False)
        network.core.answers["packet_in"] = [[("install", 0, [add, modify, remove], [])]]
        one.packet_in()
        await until(lambda: len(one.kinds(FLOW_MOD)) == 3)
        added, modified, removed = one.flow_mods()
        assert (added.command, added.priority, added.instructions, added.flags) == (0, 7, [], 0)
        assert added.match["eth_dst"] == ("06:57:00:00:00:00", "ff:ff:00:00:00:00") and added.match["in_port"] == 3
        assert (modified.command, modified.cookie, modified.cookie_mask) == (2, OWN, 2**64 - 1)
        assert (modified.idle_timeout, modified.flags, modified.match["ipv6_dst"]) == (10, 1, "fd00::2")
        first, second, third = modified.instructions[0].actions
        assert (first.key, first.value, second.port) == ("eth_dst", "06:57:00:00:08:01", 4)
        assert (third.port, third.max_len) == (0xFFFFFFFD, 256)
        assert (removed.command, removed.cookie, removed.cookie_mask) == (3, OWN, 2**64 - 1)
        assert (removed.out_port, removed.out_group) == (0xFFFFFFFF, 0xFFFFFFFF)

    network(test)


def test_an_error_fails_the_transaction_and_its_frame_stays(network):
    async def test(network):
        one = await network.switch(1, barriers=False)
        network.core.answers["packet_in"] = [[("install", 5, [rule(1), rule(1, out=9)], [(1, 3, FRAME)])]]
        one.packet_in()
        await until(lambda: one.kinds(BARRIER))
        one.error(5, 1, one.xids(FLOW_MOD)[1])
        one.send(21, b"", one.xids(BARRIER)[0])
        await until(lambda: network.core.calls("failed"))
        await asyncio.sleep(0.05)
        assert network.core.calls("failed") == [(5, 1, "flow mod failed table full")]
        assert network.core.calls("installed") == []
        assert [out for out in one.packet_outs() if out[2] == FRAME] == []

    network(test)


@pytest.mark.parametrize("how", ["silent", "gone before", "gone meanwhile"])
def test_a_switch_that_does_not_confirm_fails_the_transaction(network, how):
    async def test(network):
        one, two = await network.switch(1), await network.switch(2, barriers=False)
        if how == "gone before":
            await two.close()
            await until(lambda: network.core.calls("switch_down"))
        network.core.answers["packet_in"] = [[("install", 5, [rule(2), rule(1)], [(1, 3, FRAME)])]]
        one.packet_in()
        if how == "gone meanwhile":
            await until(lambda: two.kinds(BARRIER))
            await two.close()
        await until(lambda: network.core.calls("failed"))
        await asyncio.sleep(0.05)
        reason = "not confirmed within 0.2 s" if how == "silent" else "the switch is gone"
        assert network.core.calls("failed") == [(5, 2, reason)]
        assert network.core.calls("installed") == []

    network(test, install_deadline_s=0.2)


def test_a_switch_that_speaks_only_openflow_1_0_is_told_so_once_with_what_to_do(network, caplog):
    async def test(network):
        for _ in range(5):
            old = await network.switch(1, version=1, ready=False)
            await until(lambda old=old: not old.open)
            assert old.kinds(ERROR) == [ERROR]
        said = [record.message for record in caplog.records if "OpenFlow 1.0" in record.message]
        assert len(said) == 1
        assert "the switch at 127.0.0.1 speaks OpenFlow 1.0 and not OpenFlow 1.3" in said[0]
        assert "ovs-vsctl set bridge BRIDGE protocols=OpenFlow13" in said[0]
        assert network.service.counts["switches_of_another_version"] == 5
        assert network.core.calls("switch_up") == []

    network(test)


def test_a_switch_that_offers_1_3_among_others_is_taken(network):
    async def test(network):
        switch = await network.switch(1, version=6, ready=False)
        await until(lambda: not switch.open or switch.kinds(5))
        # Its hello has no bitmap: all versions up to its own.
        switch.version = 4
        switch.send(6, bytes(7) + b"\x01" + bytes(16), 2)
        await until(lambda: network.core.calls("switch_up"))

    network(test)


@pytest.mark.parametrize("how", ["role", "error"])
def test_a_switch_that_another_controller_takes_over_is_left_alone(network, caplog, how):
    async def test(network):
        switch = await network.switch(1)
        if how == "role":
            switch.slave = True
        else:
            switch.error(1, 10, 99)
        await until(lambda: network.core.calls("switch_down"))
        switch.error(1, 10, 100)
        switch.packet_in()
        await asyncio.sleep(0.05)
        assert network.core.calls("packet_in") == []
        assert sum("another controller steers switch 0000000000000001" in line.message for line in caplog.records) == 1
        assert network.service.counts["switches_taken_over"] == 1

    network(test, probe_s=1.5)


def test_a_switch_that_connects_again_replaces_its_connection(network):
    async def test(network):
        first = await network.switch(1)
        second = await network.switch(1, (4, 5), ready=False)
        await until(lambda: len(network.core.calls("switch_up")) == 2)
        told = [call[0] for call in network.core.told]
        assert [name for name in told if name in ("switch_up", "switch_down")] == [
            "switch_up",
            "switch_down",
            "switch_up",
        ]
        await until(lambda: not first.open)
        assert second.open and network.service.switches[1].ports_up() == [4, 5]

    network(test)


def test_a_silent_switch_is_given_up(network):
    async def test(network):
        switch = await network.switch(1)
        switch._answer = lambda *_: None
        await until(lambda: network.core.calls("switch_down"), 10)

    network(test, probe_s=1.0)


def test_what_a_switch_tells_of_ports_and_rules_reaches_the_core(network):
    async def test(network):
        switch = await network.switch(1)
        switch.port_status(2, up=False)
        switch.port_status(2, up=False)
        switch.port_status(2, up=True)
        switch.port_status(3, up=True, gone=True)
        switch.rule_removed(OWN)
        switch.rule_removed(OWN + 1, reason=2)
        switch.rule_removed(FOREIGN)
        await until(lambda: network.service.counts["foreign_rules"])
        assert network.core.calls("port_changed") == [(1, 2, False), (1, 2, True), (1, 3, False)]
        assert network.core.calls("rule_removed") == [(1, OWN, 5, 500)]

    network(test)


def test_links_are_found_over_switches_and_lost_with_a_port(network):
    async def test(network):
        one, two = await network.switch(1), await network.switch(2)

        async def carry():
            """A cable from port 3 of the one to port 1 of the other."""
            seen = {id(one): 0, id(two): 0}
            ends = {id(one): (3, two, 1), id(two): (1, one, 3)}
            while True:
                for switch in (one, two):
                    for _, port, frame in switch.packet_outs()[seen[id(switch)] :]:
                        seen[id(switch)] += 1
                        out_port, other, in_port = ends[id(switch)]
                        if port == out_port:
                            other.packet_in(in_port, frame)
                await asyncio.sleep(0.01)

        cable = asyncio.ensure_future(carry())
        await until(lambda: len(network.core.calls("link_up")) == 2)
        assert set(network.core.calls("link_up")) == {(1, 3, 2, 1), (2, 1, 1, 3)}
        two.port_status(1, up=False)
        await until(lambda: len(network.core.calls("link_down")) == 2)
        cable.cancel()
        # LLDP is the shell's own: the core never sees it.
        assert network.core.calls("packet_in") == []

    network(test)


def test_a_port_that_sends_up_too_much_is_held_to_its_share(network):
    async def test(network):
        switch = await network.switch(1)
        for _ in range(500):
            switch.packet_in(3)
        switch.packet_in(2)
        await until(lambda: network.service.counts["packet_ins_received"] == 501)
        taken = network.core.calls("packet_in")
        # Where a second ends meanwhile, a port has its share twice.
        assert sum(call[1] == 3 for call in taken) in (100, 200)
        assert sum(call[1] == 2 for call in taken) == 1

    network(test, packets_per_port_s=100)


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
def test_what_is_no_openflow_does_no_harm(network, data):
    async def test(network):
        good = await network.switch(1)
        host, _, port = network.address.rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(data)
        good.packet_in()
        await until(lambda: network.core.calls("packet_in"))
        writer.close()
        bad = await network.switch(2)
        for _ in range(12):
            bad.send(12, b"\x00")
        await until(lambda: not bad.open)
        assert good.open

    network(test)


def test_differences_from_the_expected_fabric_are_said_once(network, caplog, monkeypatch):
    from weft.controller import service
    from weft.controller.settings import Expected

    monkeypatch.setattr(service, "_DIFFERENCES_S", 0.1)
    caplog.set_level(logging.INFO)

    async def test(network):
        await network.switch(1)
        network.core.differences = ["s1 leads to s3, expected s2"]
        await until(lambda: "not as in the fabric file" in caplog.text)
        await asyncio.sleep(2.2)
        network.core.differences = []
        await until(lambda: "as in the fabric file again" in caplog.text)
        assert caplog.text.count("not as in the fabric file: s1 leads to s3") == 1
        assert "switch s1 is ready" in caplog.text

    network(test, fabric=Expected("ring", {"s1": 1}, []))
