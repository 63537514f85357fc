"""A fabric of Open vSwitches with MPTCP hosts: it matches the plan, and subflows follow the installed rules."""

from __future__ import annotations

import pytest

import needs
from jails import in_jail
from weft.emulation import iperf, mptcp, openvswitch
from weft.emulation.errors import EmulationError
from weft.emulation.openflow import datapath_ids

SETUP = """
from pathlib import Path
from waiting import PATIENCE_S, NeverError, until
from weft.emulation import iperf, mptcp
from weft.emulation.namespace import entered
from weft.emulation.openflow import OpenFlowNetwork, plan_of
from weft.studies.smoc.topologies import Topology, fabric

file = Path("/run/topology1.fabric.toml")
file.write_text(fabric(Topology.isolated, 25_000_000))
plan = plan_of(file)
MIDDLE = ("s3", "s4", "s5", "s6")

def rules(network, sources):
    # Subflow n, known by its source, goes over the n-th switch in the middle, there and back.
    ends = {"s1": ("a", "nw_src"), "s2": ("b", "nw_dst")}
    for switch, (host, field) in ends.items():
        inward = network.port(switch, host)
        own = [f"arp,in_port={inward},actions=output:{network.port(switch, MIDDLE[0])}"]
        for source, middle in zip(sources, MIDDLE * 2):
            own.append(f"ip,in_port={inward},{field}={source},actions=output:{network.port(switch, middle)}")
        own += [f"in_port={network.port(switch, middle)},actions=output:{inward}" for middle in MIDDLE]
        network.switch.add_rules(switch, own)
    for middle in MIDDLE:
        there, back = (network.port(middle, switch) for switch in ends)
        network.switch.add_rules(middle, [f"in_port={there},actions=output:{back}"])
        network.switch.add_rules(middle, [f"in_port={back},actions=output:{there}"])
"""


def test_a_name_without_a_number_implies_no_datapath_id():
    with pytest.raises(EmulationError, match="implies no datapath id") as refused:
        datapath_ids(["core"])
    assert "end it with a number" in refused.value.hint


@pytest.fixture(scope="session")
def installed(root) -> None:
    needs.passed(openvswitch.check, mptcp.check, iperf.check)


def test_four_subflows_of_the_kernel_use_four_links_and_all_is_taken_down(installed):
    seen = in_jail(
        SETUP,
        """
        with OpenFlowNetwork(plan, subflows=4, openers=["a"]) as network:
            rules(network, [network.address("a"), *mptcp.aliases(network.address("a"), 4)])
            flows = []
            def joined():
                with entered(network.namespaces["b"]):
                    return mptcp.counters()["MPJoinAckRx"]
            def looked(seconds):
                def carried():
                    with entered(network.namespaces["a"]):
                        flows[:] = mptcp.subflows(iperf.PORT)
                    return sum(flow.acknowledged_bytes > 100_000 for flow in flows) == 4
                until("four subflows carry data", carried, state=lambda: flows, patience_s=seconds)
            def transferred(seconds):
                return iperf.transfer(
                    network.namespaces["a"], network.namespaces["b"], network.address("b"), seconds,
                    congestion=network.stack.congestion, wrap=mptcp.wrapped, meanwhile=lambda: looked(seconds),
                )
            joins = -joined()
            try:
                found = transferred(3.0)
            except NeverError:
                # The machine is busy: the transfer ends before four subflows carry data.
                joins = -joined()
                found = transferred(PATIENCE_S)
            joins += joined()
            most = max(flows, key=lambda flow: flow.acknowledged_bytes).connection
            seen = {
                "bps": found.mean_bps(), "joins": joins,
                "settings": network.settings, "dpids": network.dpids,
                "subflows": [[flow.source, flow.congestion] for flow in flows if flow.connection == most],
            }
        # The shells of Mininet end in their own time.
        left = lambda: [pid for pid in os.listdir("/proc") if pid.isdigit()]
        until("all processes end", lambda: left() == ["1"], state=left)
        seen["left"] = [name for name in os.listdir("/sys/class/net") if name != "lo"]
        tell(seen)
        """,
    )
    # One link carries at most 23.9 Mbit/s of TCP's data; a busy machine may not carry all of it.
    assert 0 < seen["bps"] < 4 * 24e6, seen
    assert seen["joins"] == 6  # three of the data connection, three of iperf3's control connection
    assert sorted(source.partition(":")[0] for source, _ in seen["subflows"]) == [f"10.{n}.0.1" for n in range(4)]
    assert all(congestion == "cubic" for _, congestion in seen["subflows"])
    assert seen["settings"]["net.mptcp.enabled"] == "1"
    assert seen["dpids"] == {f"s{n}": n for n in range(1, 7)}
    assert seen["left"] == []


def test_a_network_that_cannot_be_built_says_why(installed):
    said = in_jail(
        SETUP,
        """
        text = fabric(Topology.isolated, 25_000_000)
        changes = {
            "no number": ("s6", "core"),
            "the same number": ("s6", "rack-5"),
            "one host": ('name = "b"\\nrole = "host"', 'name = "b"\\nrole = "switch"'),
        }
        said = {}
        for what, (old, new) in changes.items():
            file.write_text(text.replace(old, new))
            said[what] = refusal(lambda: OpenFlowNetwork(plan_of(file)))
        said["nine"] = refusal(OpenFlowNetwork, plan, subflows=9, openers=["a"])
        tell(said)
        """,
    )
    assert said["no number"] == "the switch name `core` implies no datapath id"
    assert said["the same number"] == "switches `s5` and `rack-5` have the same datapath id, 0000000000000005"
    assert said["one host"].endswith("has 1 hosts: at least two are needed")
    assert said["nine"] == "9 subflows: Linux supports 1 to 8 per connection"
