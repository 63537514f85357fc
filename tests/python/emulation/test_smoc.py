"""One run of the smoc study with each kind of forwarding, as in `weft reproduce smoc --emulated`."""

from __future__ import annotations

import pytest

import needs
from jails import in_jail
from weft.studies.base import RunOptions
from weft.studies.smoc.setup import SCHEMES, SMOC, SPANNING_TREE, Setup
from weft.studies.smoc.table import gather
from weft.studies.smoc.topologies import SHAPES, Topology
from weft.studies.smoc.transfers import Transfers

RATE = 25_000_000
SECONDS = 3.0


@pytest.fixture(scope="module")
def runs(root, tmp_path_factory):
    """Runs by scheme, on topology 1 with four subflows, and the result directory."""
    part = Transfers("topology-1", [Setup(Topology.isolated, scheme, 4, 1, RATE, SECONDS) for scheme in SCHEMES])
    needs.passed(part.check)
    results = part.carry_out(tmp_path_factory.mktemp("smoc") / "topology-1", RunOptions())
    return {run.setup.scheme: run for run in gather([results])}, results


def test_smoc_gives_each_subflow_a_path_and_spanning_tree_all_of_them_one(runs):
    found = runs[0]
    assert sorted(found[SMOC].subflow_paths) == [" ".join(path) for path in SHAPES[Topology.isolated].paths]
    used = {scheme: sum(use > 0.01 for use in run.path_use) for scheme, run in found.items()}
    assert used == {SMOC: 4, SPANNING_TREE: 1}
    # A link carries at most 23.9 Mbit/s of data; a busy machine may not carry all of it. This holds from the start on:
    # in a part of the run, a receiver also reads data that arrived earlier and waited for a retransmission.
    assert 0 < found[SPANNING_TREE].mean_bps(0.0) < 24e6
    assert 0 < found[SMOC].mean_bps(0.0) < 4 * 24e6


def test_every_flow_says_how_long_its_path_took(runs):
    took = runs[0][SMOC].set_up_s
    # Two connections (iperf3's control is one) of four subflows.
    assert len(took) == 8
    assert all(seconds > 0 for seconds in took)


def test_the_result_says_how_it_came_about(runs):
    _, results = runs
    for summary in results.summaries():
        emulated = summary["emulated"]
        assert emulated["versions"]["datapath"] in ("netdev", "system")
        assert emulated["mptcp"]["b"]["MPJoinAckRx"] == 6
        assert emulated["stack"]["settings"]["net.mptcp.enabled"] == "1"
        assert 0 < emulated["processors"]["own_share"] <= emulated["processors"]["max_busy"] + 0.05
    between = results.links()
    assert set(between["rate_bps"].to_list()) == {1e9, RATE}
    assert results.series("throughput_bps").group_by("run").len()["len"].to_list() == pytest.approx([30, 30], abs=1)
    # The controller saw the whole handshake; data is not copied to it.
    smoc = next(summary for summary in results.summaries() if summary["scheme"]["name"] == SMOC)
    assert smoc["emulated"]["controller"]["counters"]["packet_ins_copied"] < 1_000


def test_a_controller_that_does_not_start_or_does_not_find_the_network_is_quoted(runs):
    said = in_jail(
        """
        from pathlib import Path
        from weft.emulation import controlled
        from weft.emulation.controlled import LISTEN, Controller
        from weft.emulation.openflow import OpenFlowNetwork, plan_of
        from weft.studies.smoc.topologies import Topology, fabric
        from waiting import until

        file, log = Path("/run/topology1.fabric.toml"), Path("/run/log")
        file.write_text(fabric(Topology.isolated, 25_000_000))
        said = [refusal(Controller, "random", file, log)]
        # The port of s1 that leads to s3 is taken out of service: neither end is a switch's any more.
        with Controller("smoc", file, log) as controller:
            with OpenFlowNetwork(plan_of(file), controllers=[f"tcp:{LISTEN}"]) as network:
                network.switch.set_port("s1", network.port("s1", "s3"), up=False)
                controlled.READY_S = 0
                refused = lambda: [one for one in [refusal(controller.wait_for, network)] if "2: 'down'" in one]
                said += [*until("the port is down", refused), refusal(network.port, "s1", "s2")]
        tell(said)
        """
    )
    assert "weft controller exited with code 2" in said[0]
    assert "random" in said[0]
    assert "weft controller does not know all ports after 0 s" in said[1]
    assert "s1 has {1: 'host', 2: 'down'" in said[1]
    assert said[2] == "no link between s1 and s2"
