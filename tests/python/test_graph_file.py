"""Graphs of NetworkX as fabrics."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import weft
from tiny import TINY


def star(kind=nx.Graph, **attributes):
    """A switch `s` with two hosts."""
    graph = kind(name="star")
    for host in ("a", "b"):
        graph.add_node(host, role="host")
        graph.add_edge(host, "s", **attributes)
        if graph.is_directed():
            graph.add_edge("s", host, **attributes)
    return graph


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_any_class_of_graphs_is_a_fabric(kind):
    fabric = weft.fabric(star(kind, rate="1 Gbps", delay="5 us", queue="64 packets"))
    assert repr(fabric) == "Fabric('star': 2 hosts, 1 switch, 2 links)"
    assert {(link.rate_bps, link.delay_ps) for link in fabric.links} == {(1e9, 5_000_000)}
    assert fabric.measures["diameter"] == 2


def test_parallel_edges_of_a_multigraph_are_links():
    graph = star(nx.MultiGraph)
    graph.add_edge("a", "s", rate="1 Gbps")
    assert len(weft.fabric(graph).links) == 6


def test_a_directed_graph_has_rates_by_direction():
    graph = star(nx.DiGraph, rate="1 Gbps")
    graph.edges["s", "a"]["rate"] = "100 Mbps"
    rates = {(link.source, link.target): link.rate_bps for link in weft.fabric(graph).links}
    assert (rates["a", "s"], rates["s", "a"]) == (1e9, 1e8)


def test_nodes_may_be_numbers_and_tuples():
    graph = nx.Graph([(1, (0, 1)), ((0, 1), 2)])
    assert [node.name for node in weft.fabric(graph).nodes] == ["1", "0,1", "2"]
    with pytest.raises(weft.ScenarioError, match="nodes 1 and '1' have the same name, `1`"):
        weft.fabric(nx.Graph([(1, "s"), ("s", "1")]))


def test_a_fabric_comes_back_from_networkx():
    fabric = weft.Scenario.from_text(TINY).fabric()
    again = weft.fabric(fabric.to_networkx())
    assert again.nodes == fabric.nodes
    assert {(a.source, a.target, a.rate_bps, a.delay_ps) for a in again.links} == {
        (b.source, b.target, b.rate_bps, b.delay_ps) for b in fabric.links
    }


def test_values_may_be_those_of_numpy():
    graph = star(rate_bps=np.float64(1e9), weight=np.int64(3))
    graph.nodes["s"]["tier"] = np.int64(1)
    graph.nodes["s"]["pod"] = None
    assert {link.rate_bps for link in weft.fabric(graph).links} == {1e9}


def changed(change, kind=nx.Graph):
    graph = star(kind, rate="1 Gbps")
    change(graph)
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (changed(lambda g: g.edges["b", "s"].update(rate="1 Gb")), "graph `star`: edge `s` - `b`: `rate` is invalid"),
        (changed(lambda g: g.edges["b", "s"].update(bandwidth=3)), "edge `s` - `b`: unknown attribute `bandwidth`"),
        (changed(lambda g: g.edges["b", "s"].update(rate_back="1 Gbps")), "edge `s` - `b`: `rate_back` needs to know"),
        (changed(lambda g: g.nodes["b"].update(role="hosst")), "node `b`: `role` is invalid: `hosst` is neither"),
        (changed(lambda g: g.remove_edge("b", "s"), nx.DiGraph), "edge `s` -> `b`: the directed edge .* no reverse"),
        (changed(lambda g: g.add_edge("s", "s")), "edge `s` - `s`: a link connects `s` to itself"),
        (changed(lambda g: g.remove_edge("b", "s")), "there is no path between hosts `a` and `b`"),
        (nx.Graph(), "graph `graph`: the fabric has no hosts"),
    ],
)
def test_an_error_names_the_node_or_edge(graph, message):
    with pytest.raises(weft.ScenarioError, match=message) as refused:
        weft.fabric(graph)
    assert "line 1" not in str(refused.value)
    assert "/tmp" not in str(refused.value)


def test_a_graph_is_written_as_a_fabric_file(tmp_path):
    weft.write_fabric(star(rate="1 Gbps"), tmp_path / "star.toml")
    assert weft.fabric(tmp_path / "star.toml").links == weft.fabric(star(rate="1 Gbps")).links
    with pytest.raises(weft.ScenarioError, match="a graph has no keys to set"):
        weft.write_fabric(star(), tmp_path / "star.toml", ["fabric.k=4"])
