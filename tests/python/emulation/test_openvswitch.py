"""An emulation's private Open vSwitch: bridges as requested, or an error with the cause."""

from __future__ import annotations

import pytest

import needs
from jails import in_jail
from weft.emulation import openvswitch
from weft.emulation.errors import EmulationError
from weft.emulation.openvswitch import OpenVSwitch

SETUP = """
import socket
from pathlib import Path
from waiting import PATIENCE_S, until
from weft.emulation.bridge import Bridge
from weft.emulation.openvswitch import OpenVSwitch
from weft.emulation.packet_sockets import packet_sockets

Path("/run/netns").mkdir()
sh("ip link set lo up")
for n in (1, 2):
    sh(f"ip netns add h{n}")
    sh(f"ip link add eth0 netns h{n} address 02:00:00:00:00:0{n} type veth peer name s1-eth{n}")
    sh(f"ip link set s1-eth{n} up; ip -n h{n} link set eth0 up; ip -n h{n} address add 10.0.0.{n}/8 dev eth0")
    sh(f"ip -n h{n} neighbour add 10.0.0.{3 - n} lladdr 02:00:00:00:00:0{3 - n} dev eth0")
"""


@pytest.fixture(scope="session")
def installed(root) -> None:
    needs.passed(openvswitch.check)


def test_a_bridge_forwards_by_its_rules_alone_and_nothing_is_left_of_it(installed):
    seen = in_jail(
        SETUP,
        """
        def pings():
            command = "ip netns exec h1 ping -q -c 1 -W 1 10.0.0.2"
            return subprocess.run(command, shell=True, capture_output=True).returncode == 0

        def pings_at_last():
            return until("a ping is answered", pings)

        def buffers(switch):
            options = (socket.SO_SNDBUF, socket.SO_RCVBUF)
            held = packet_sockets(switch._daemons[-1].pid)
            return [[one.getsockopt(socket.SOL_SOCKET, option) for option in options] for one in held]

        with OpenVSwitch(Path("/run/ovs")) as switch:
            switch.add([Bridge("s1", 0x5701, {1: "s1-eth1", 7: "s1-eth2"})])
            seen = {"before": pings(), "before_rules": switch.rules("s1")}
            switch.add_rules("s1", ["in_port=1,actions=output:7", "in_port=7,actions=output:1"])
            seen |= {"with_rules": pings_at_last(), "rules": len(switch.rules("s1"))}
            seen["shown"] = sh("ovs-ofctl -O OpenFlow13 show unix:/run/ovs/s1.mgmt")
            switch.set_port("s1", 7, up=False)
            seen["port_down"] = pings()
            switch.set_port("s1", 7, up=True)
            seen["port_up"] = pings_at_last()
            seen["buffers"] = buffers(switch)
            switch.remove("s1")
            seen["removed"] = pings()
            switch.add([Bridge("s2", 2, {1: "s1-eth1"})])
        seen["left"] = [name for name in os.listdir("/sys/class/net") if not name.startswith(("lo", "s1-eth"))]
        seen["processes"] = [pid for pid in os.listdir("/proc") if pid.isdigit() and pid != "1"]
        tell(seen)
        """,
    )
    assert (seen["before"], seen["with_rules"], seen["port_down"], seen["port_up"], seen["removed"]) == (
        False,
        True,
        False,
        True,
        False,
    )
    assert (seen["before_rules"], seen["rules"]) == ([], 2)
    assert "dpid:0000000000005701" in seen["shown"]
    if openvswitch.datapath() == openvswitch.USER_SPACE:
        # Linux doubles the requested size; besides the ports' sockets there is the sending one.
        wanted = [2 * openvswitch.SEND_BUFFER, 2 * openvswitch.RECEIVE_BUFFER]
        assert len(seen["buffers"]) >= 3
        assert all(found == wanted for found in seen["buffers"])
    assert (seen["left"], seen["processes"]) == ([], [])


def test_a_bridge_connects_to_each_of_its_controllers_with_the_version_it_was_given(installed):
    seen = in_jail(
        SETUP,
        """
        listening = [socket.create_server(("127.0.0.1", 6653 + n)) for n in (0, 1)]
        with OpenVSwitch(Path("/run/ovs")) as switch:
            targets = ["tcp:127.0.0.1:6653", "tcp:127.0.0.1:6654"]
            switch.add([Bridge("s1", 1, {1: "s1-eth1"}, targets), Bridge("s2", 2, {1: "s1-eth2"})])
            hello = []
            for one in listening:
                one.settimeout(PATIENCE_S)
                connection, _ = one.accept()
                connection.settimeout(PATIENCE_S)
                hello.append(list(connection.recv(2)))
            tell(hello=hello, failed=refusal(switch.wait_connected, ["s2"], 0.2))
        """,
    )
    # Version 4 is OpenFlow 1.3, type 0 is Hello.
    assert seen["hello"] == [[4, 0], [4, 0]]
    assert seen["failed"] == "switch s2 not connected to its controller after 0.2 s"


def test_what_is_wrong_with_a_bridge_is_said_and_the_bridge_is_not_there(installed):
    said = in_jail(
        SETUP,
        """
        said = []
        with OpenVSwitch(Path("/run/ovs")) as switch:
            for bridge in (
                Bridge("s1", 1, {1: "s1-eth1", 2: "missing"}),
                Bridge("a-name-that-is-too-long", 1, {}),
                Bridge("s1", 0, {}),
                Bridge("s1", 1, {0: "s1-eth1"}),
            ):
                said.append(refusal(switch.add, [bridge]))
            said += [refusal(switch.rules, "s1"), refusal(switch.remove, "s1")]
            switch.add([Bridge("s1", 1, {1: "s1-eth1"})])
            said.append(refusal(switch.add_rules, "s1", ["in_port=1"]))
        tell(said)
        """,
    )
    expected = (
        "bridge s1: port 2 (missing): could not open network device missing (No such device)",
        "`a-name-that-is-too-long` is not a valid bridge name",
        "bridge s1: 0 is not a valid datapath id: must be 1 to 2^64 - 1",
        "bridge s1: port 0 must be 1 to 65279",
        "no bridge s1 in /run/ovs",
        "no bridge named s1",
        "must specify an action",
    )
    assert len(said) == len(expected)
    for found, wanted in zip(said, expected, strict=True):
        assert wanted in found


def test_the_kernel_says_which_families_of_netlink_it_knows(root):
    assert openvswitch.has_family("nlctrl")
    assert not openvswitch.has_family("weft_is_none")


def test_on_a_machine_without_it_the_error_names_the_packages(monkeypatch, tmp_path):
    monkeypatch.setattr(openvswitch, "program", lambda name: None)
    with pytest.raises(EmulationError, match=r"missing ovsdb-tool, ovsdb-server, ovs-vswitchd.*") as refused:
        OpenVSwitch(tmp_path).start()
    assert "openvswitch-switch" in str(refused.value.hint)


def test_a_second_switch_in_a_namespace_is_refused_and_nothing_runs_on(installed):
    seen = in_jail(
        SETUP,
        """
        with OpenVSwitch(Path("/run/first")) as first:
            first.add([Bridge("s1", 1, {1: "s1-eth1"})])
            said = refusal(OpenVSwitch(Path("/run/second")).start)
        tell(said=said, processes=[p for p in os.listdir("/proc") if p.isdigit() and p != "1"])
        """,
    )
    assert "interface ovs-netdev exists: another ovs-vswitchd" in seen["said"]
    assert seen["processes"] == []
