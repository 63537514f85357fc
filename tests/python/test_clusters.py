"""Clusters of GPUs: rails, planes and scale-up domains; collectives against closed forms on an idle fabric."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import clusters
from weft.drawing import draw
from weft.errors import ScenarioError
from weft.reporting import tables
from weft.results import Results
from weft.scenario import Scenario
from weft.topology import fabric, write_fabric

BYTES = 16_000_000
RATE = 400e9
SCALE_UP_RATE = 1_600e9
DELAY, SCALE_UP_DELAY = 1e-6, 250e-9
RANKS, GPUS = 16, 4

RAILS = """
kind = "rail-optimised"
pods = 1
servers_per_pod = 4
gpus = 4
spines = 16
"""
CLUSTER = """
[fabric]
{fabric}
rate = "400 Gbps"
delay = "1 us"
scale_up_rate = "1600 Gbps"
scale_up_delay = "250 ns"
queue = "400 kB"
queues = {{ scheduler = "strict-priority", weights = [1, 1] }}
trim = true

[traffic]
collective = "{collective}"
bytes = "16 MB"
connections = "persistent"
{traffic}

[scheme]
name = "{scheme}"

[transport]
protocol = "uec"
congestion = "fixed"
window = 200
rto = "1 ms"

[run]
duration = "10 ms"
limit = "1 s"
"""


def text(collective: str = "send-recv", fabric: str = RAILS, traffic: str = "", scheme: str = "spray") -> str:
    return CLUSTER.format(collective=collective, fabric=fabric, traffic=traffic, scheme=scheme)


def summary(scenario: str, out: Path) -> dict[str, Any]:
    """The summary of the only run of a scenario."""
    Scenario.from_text(scenario).run(out, jobs=1)
    (found,) = (out / "runs").glob("*/summary.json")
    return json.loads(found.read_text())


def sent(found: dict[str, Any], source: str, target: str) -> int:
    """The bytes on a link."""
    (link,) = (link for link in found["links"] if (link["from"], link["to"]) == (source, target))
    return link["bytes"]


PART = 8 * BYTES / RANKS
OWN = 8 * BYTES / GPUS
ACROSS, ALONG, WITHIN = 4 * DELAY, 2 * DELAY, 2 * SCALE_UP_DELAY
"""The delay to another rail, along a rail, and in a domain."""
IDLE = {
    "send-recv": (8 * BYTES / RATE, ACROSS),
    # In a ring, the delays are hidden: the links between servers are always busy.
    "reduce-scatter": (15 * PART / RATE, 0.0),
    "all-gather": (15 * PART / RATE, 0.0),
    "ring-all-reduce": (30 * PART / RATE, 0.0),
    # Of the 15 messages of each rank, three stay in its domain.
    "all-to-all": (12 * PART / RATE, ACROSS),
    "hierarchical-all-reduce": (6 * OWN / SCALE_UP_RATE + 6 * OWN / 4 / RATE, 6 * WITHIN + 6 * ALONG),
    # Halves and quarters go to other servers, eighths and sixteenths stay.
    "halving-doubling-all-reduce": (
        2 * (3 / 4) * 8 * BYTES / RATE + 2 * (3 / 16) * 8 * BYTES / SCALE_UP_RATE,
        4 * ALONG + 4 * WITHIN,
    ),
}
"""Of each collective with nothing else in the network: seconds for its bytes, and of delay."""
WIRE = (4096 + 100 + 102 / 4) / 4096
"""Bytes on the wire for each of payload: headers, and an acknowledgement for each 16 384 bytes the other way."""


@pytest.mark.parametrize("collective", IDLE)
def test_collectives_take_the_time_of_their_closed_forms_on_an_idle_fabric(collective, tmp_path):
    (entry,) = summary(text(collective), tmp_path / "results")["collectives"]
    busy, delays = IDLE[collective]
    took = entry["completion_ps"] / 1e12
    assert took == pytest.approx(busy * WIRE + delays, rel=0.01)
    assert took >= entry["bound_ps"] / 1e12


LOADED = 8 * BYTES * (GPUS + 1) / GPUS / SCALE_UP_RATE
"""Of NVLS: seconds for the bytes on a GPU's link, all and its own part of them."""
NVLS = {
    "within a domain": ("nvls-all-reduce", "ranks = 4", LOADED, 2 * WITHIN),
    "one chunk": ("nvls-tree-all-reduce", "ranks = 8", LOADED + OWN / RATE, 2 * WITHIN + 2 * ALONG),
    # The trees between two domains take less time than the loads and stores.
    "chunks": ("nvls-tree-all-reduce", "ranks = 8\nchunks = 40", LOADED, 2 * WITHIN),
}


@pytest.mark.parametrize("case", NVLS)
def test_all_reduces_in_switches_take_the_time_of_their_closed_forms_on_an_idle_fabric(case, tmp_path):
    collective, traffic, busy, delays = NVLS[case]
    found = summary(text(collective, traffic=traffic), tmp_path / "results")
    (entry,) = found["collectives"]
    took = entry["completion_ps"] / 1e12
    assert took == pytest.approx(busy * WIRE + delays, rel=0.01)
    assert took >= entry["bound_ps"] / 1e12
    for link in [("h0", "n0"), ("n0", "h0"), ("h3", "n0"), ("n0", "h3")]:
        assert sent(found, *link) == pytest.approx(BYTES * (GPUS + 1) / GPUS * WIRE, rel=0.01)


@pytest.mark.parametrize("collective", ["nvls-reduce-scatter", "nvls-all-gather"])
def test_half_an_all_reduce_in_switches_takes_the_time_of_all_bytes_one_way(collective, tmp_path):
    found = summary(text(collective, traffic="ranks = 4"), tmp_path / "results")
    (entry,) = found["collectives"]
    took = entry["completion_ps"] / 1e12
    assert took == pytest.approx(8 * BYTES / SCALE_UP_RATE * WIRE + WITHIN, rel=0.01)
    assert entry["bound_ps"] / 1e12 == pytest.approx(8 * BYTES / SCALE_UP_RATE + WITHIN, rel=1e-6)
    assert entry["bus_bps"] == pytest.approx(8 * BYTES / took * (GPUS - 1) / GPUS)
    for link in [("h0", "n0"), ("n0", "h0"), ("h3", "n0"), ("n0", "h3")]:
        assert sent(found, *link) == pytest.approx(BYTES * WIRE, rel=0.01)


def test_between_domains_the_network_bounds_an_all_reduce_in_switches(tmp_path):
    found = summary(text("nvls-tree-all-reduce", traffic="chunks = 64"), tmp_path / "results")
    (entry,) = found["collectives"]
    # Inner ranks of a tree have three neighbours there and one in the other tree, each with half of the own part.
    part = 2 * BYTES / GPUS
    # Before that, the first chunk's loads; after that, the way to another rank, and the last chunk's stores.
    ends = 2 * (LOADED / 2 / 64 + WITHIN) + ALONG
    assert entry["bound_ps"] / 1e12 == pytest.approx(8 * part / RATE + ends)
    assert entry["bound_by"] == "h4 sends into the network"
    assert entry["completion_ps"] < 1.25 * entry["bound_ps"]
    # Each part stays on its rail.
    assert all(sent(found, f"h{host}", f"l{host % GPUS}") > part for host in range(4, 8))
    assert all(sent(found, f"l{leaf}", "s0") == 0 for leaf in range(4))


RACKS = """
kind = "rack-scale"
racks = 2
gpus = 4
rails = 2
spines = 8
"""


@pytest.mark.parametrize("tors", [1, 2])
def test_a_rack_with_dual_tors_sends_on_both_interfaces_of_a_gpu(tors, tmp_path):
    scenario = text(fabric=f"{RACKS}tors = {tors}", traffic="channels = 2")
    rule = 'protocol = "uec"\ninterfaces = "rail"' if tors == 2 else 'protocol = "uec"'
    found = summary(scenario.replace('protocol = "uec"', rule), tmp_path / "results")
    (entry,) = found["collectives"]
    # From the last GPU of a rack to the first one of the other, on another rail.
    expected = 8 * BYTES / (tors * RATE) * WIRE + ACROSS
    assert entry["completion_ps"] / 1e12 == pytest.approx(expected, rel=0.01)
    for leaf in range(2 * tors):
        assert sent(found, f"h{3 if leaf >= tors else 4}", f"l{leaf}") > 0
        assert sent(found, f"l{leaf}", f"h{4 if leaf < tors else 3}") > 0


def test_a_dual_plane_is_a_fabric_of_one_rail_in_two_planes():
    planes = 'kind = "dual-plane"\nleaves = 2\nservers_per_leaf = 2\ngpus = 2\nspines = 2'
    rails = 'kind = "rail-optimised"\npods = 2\nservers_per_pod = 2\ngpus = 2\nspines = 2\nrails = 1\nplanes = 2'

    def links(keys: str) -> list[tuple[str, str]]:
        graph = Scenario.from_text(text(fabric=keys)).fabric().to_networkx()
        return [(start, end) for start, end, *_ in graph.edges]

    assert links(planes) == links(rails)
    # With two leaves of each rail, a GPU has four links into the network, and one into its domain.
    assert len([link for link in links(f"{rails}\ntors = 2") if link[0] == "h0"]) == 4 + 1


def test_the_two_trees_of_a_double_tree_do_not_wait_for_each_other(tmp_path):
    (entry,) = summary(text("double-tree-all-reduce", traffic="ranks = 4\nchunks = 16"), tmp_path / "r")["collectives"]
    # The bound, and four steps of a chunk on the way up and down.
    expected = 2 * 8 * BYTES * WIRE / SCALE_UP_RATE * (1 + 4 / 32) + 4 * WITHIN
    assert entry["completion_ps"] / 1e12 == pytest.approx(expected, rel=0.05)


def test_packets_in_a_domain_have_a_size_of_their_own(tmp_path):
    large = text("hierarchical-all-reduce").replace('rto = "1 ms"', 'rto = "1 ms"\nscale_up_mtu = 32768')
    found = summary(large, tmp_path / "results")
    busy, delays = IDLE["hierarchical-all-reduce"]
    wire = [(mtu + 100 + 102 * mtu / max(mtu, 16_384)) / mtu for mtu in (4096, 32_768)]
    across = 6 * OWN / 4 / RATE
    expected = across * wire[0] + (busy - across) * wire[1] + delays
    assert found["collectives"][0]["completion_ps"] / 1e12 == pytest.approx(expected, rel=0.01)
    flows = Results(tmp_path / "results").flows().sort("flow")
    parts = [BYTES // 4, BYTES // 16, BYTES // 4]
    packets = [3 * -(-parts[0] // 32_768), 6 * -(-parts[1] // 4096), 3 * -(-parts[2] // 32_768)]
    assert flows["packets_sent"].to_list() == [count for count in packets for _ in range(RANKS)]


def test_the_bound_names_the_links_that_it_follows_from_and_the_bus_bandwidth_is_that_of_nccl_tests(tmp_path):
    found = summary(text("all-to-all"), tmp_path / "results")
    (entry,) = found["collectives"]
    assert entry["bound_by"] == "h0 sends into the network"
    seconds = entry["completion_ps"] / 1e12
    assert entry["bus_bps"] == pytest.approx(8 * BYTES / seconds * 15 / 16)


def test_a_message_to_another_rail_takes_the_scale_up_domain_first_with_pxn(tmp_path):
    direct = summary(text("all-to-all"), tmp_path / "direct")
    relayed = summary(text("all-to-all", traffic='relay = "pxn"'), tmp_path / "relayed")
    crossing = [
        sum(sent(found, f"l{leaf}", f"s{spine}") for leaf in range(4) for spine in range(16))
        for found in (direct, relayed)
    ]
    assert crossing[0] > 100_000_000 and crossing[1] == 0
    # 3 messages stay in the domain; of 12, 9 go to other rails.
    assert sent(relayed, "h0", "n0") == pytest.approx(sent(direct, "h0", "n0") * (3 + 9) / 3, rel=0.02)
    assert relayed["collectives"][0]["completion_ps"] is not None


def test_rails_without_spines_need_a_relay(tmp_path):
    rail_only = 'kind = "rail-only"\nservers = 4\ngpus = 4\n'
    scenario = Scenario.from_text(text("all-to-all", fabric=rail_only))
    with pytest.raises(ScenarioError) as refused:
        scenario.check()
    assert "there is no path from `h0` to `h5`: they are on separate rails" in str(refused.value)
    assert 'relay = "pxn"' in str(refused.value)
    found = summary(text("all-to-all", fabric=rail_only, traffic='relay = "pxn"'), tmp_path / "results")
    assert found["collectives"][0]["flows_finished"] == found["collectives"][0]["flows"] == 16 * (3 + 3 + 2 * 9)


def test_gpus_of_a_dual_plane_use_both_planes(tmp_path):
    planes = 'kind = "dual-plane"\nleaves = 2\nservers_per_leaf = 2\ngpus = 4\nspines = 2\n'
    found = summary(text("all-to-all", fabric=planes, scheme="ecmp"), tmp_path / "results")
    # Leaves l0 (plane 0) and l1 (plane 1) belong to the first four servers.
    both = [sum(sent(found, f"h{host}", leaf) for host in range(8)) for leaf in ("l0", "l1")]
    assert min(both) > 0.3 * sum(both)
    assert sent(found, "l0", "s0") + sent(found, "l0", "s1") > 0


def test_a_failed_scale_up_link_moves_its_flows_into_the_network(tmp_path):
    traffic = 'ranks = ["h0", "h1"]'
    found = summary(text("send-recv", traffic=traffic), tmp_path / "whole")
    assert sent(found, "h0", "n0") > BYTES and sent(found, "h0", "l0") == 0
    down = RAILS + 'failed = ["h0-n0"]\n'
    found = summary(text("send-recv", fabric=down, traffic=traffic), tmp_path / "failed")
    assert sent(found, "h0", "n0") == 0 and sent(found, "h0", "l0") > BYTES


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            "scale_up = 7",
            "64 hosts cannot form scale-up domains of 7: expected at least 2 hosts per domain, and a number that",
        ),
        ("scale_up = 128", "64 hosts cannot form scale-up domains of 128"),
    ],
)
def test_domains_that_do_not_fit_the_cluster_are_named(keys, message):
    spine_leaf = f'kind = "spine-leaf"\nspines = 2\nleaves = 4\nhosts_per_leaf = 16\n{keys}\n'
    with pytest.raises(ScenarioError, match=message):
        Scenario.from_text(text(fabric=spine_leaf)).check()


@pytest.mark.parametrize("scheme", ["tcp_path", "spanning_tree", "smoc", "hedera"])
def test_schemes_without_routes_are_refused_in_a_scale_up_domain(scheme):
    refused = text(scheme=scheme).replace('protocol = "uec"\ncongestion = "fixed"\nwindow = 200\nrto = "1 ms"', "")
    with pytest.raises(ScenarioError, match="hosts of a scale-up domain reach each other by routes"):
        Scenario.from_text(refused).check()


@pytest.mark.parametrize("name", ["cluster.toml", "cluster.graphml", "cluster.json"])
def test_a_cluster_is_written_to_a_file_and_read_back(name, tmp_path):
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(text())
    write_fabric(scenario, tmp_path / name)
    graph, again = fabric(scenario), fabric(tmp_path / name)
    assert [(node.name, node.row) for node in again.nodes] == [(node.name, node.row) for node in graph.nodes]
    assert again.links == graph.links


def test_the_channels_of_a_collective_divide_its_data_among_the_planes(tmp_path):
    planes = 'kind = "dual-plane"\nleaves = 2\nservers_per_leaf = 2\ngpus = 1\nspines = 4'
    channels = 'ranks = ["h0", "h2"]\nchannels = 2'
    scenario = text("all-to-all", planes, channels).replace("[run]", 'interfaces = "rail"\n[run]')
    found = summary(scenario, tmp_path / "results")
    # Each of two ranks sends half of its data to the other one, a quarter over each plane.
    took = found["collectives"][0]["completion_ps"] / 1e12
    assert took == pytest.approx(8 * BYTES / 4 / RATE * WIRE + ACROSS, rel=0.01)
    first, second = (sent(found, "h0", leaf) for leaf in ("l0", "l1"))
    assert first == second > BYTES / 4
    assert found["transport"]["interfaces"] == "rail"
    assert "<td>rail</td>" in tables.transports([found])


def test_scale_up_switches_are_drawn_in_a_row_below_the_hosts():
    graph = Scenario.from_text(text()).fabric()
    places = graph.places()
    rows = {name: places[name][1] for name in ("s0", "l0", "h0", "n0")}
    assert rows["s0"] > rows["l0"] > rows["h0"] > rows["n0"]
    assert "scale-up" in draw(graph)


@pytest.mark.parametrize("kind", clusters.KEYS)
def test_the_page_of_fabrics_has_the_drawing_of_today(kind):
    assert (clusters.PICTURES / f"{kind}.svg").read_text() == clusters.drawing(kind)
    assert f"(images/clusters/{kind}.svg)" in (clusters.PICTURES.parents[1] / "fabrics.md").read_text()
