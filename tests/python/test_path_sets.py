"""Path sets against NetworkX: all simple paths, sorted; and their output by the API and the command line."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import networkx
import pytest

import weft as api
from weft import _weft

SCENARIOS = Path(__file__).parents[2] / "scenarios"
GRAPHS_A_KIND = 1_000


def gnp(rng: random.Random, share: float, most: int) -> networkx.MultiGraph:
    nodes = rng.randint(2, most)
    return networkx.MultiGraph(networkx.gnp_random_graph(nodes, share, seed=rng.randrange(2**32)))


def connected(rng):
    graph = gnp(rng, 0.4, 8)
    parts = [min(part) for part in networkx.connected_components(graph)]
    graph.add_edges_from(pairwise(parts))
    return graph


def disconnected(rng):
    graph = gnp(rng, 0.5, 6)
    return networkx.disjoint_union(graph, gnp(rng, 0.5, 3))


def tree(rng):
    graph = networkx.MultiGraph()
    graph.add_node(0)
    graph.add_edges_from((node, rng.randrange(node)) for node in range(1, rng.randint(1, 12)))
    return graph


def dense(rng):
    return gnp(rng, 0.95, 6)


def parallel(rng):
    graph = gnp(rng, 0.5, 6)
    pairs = list(graph.edges()) or [(0, 1)]
    graph.add_edges_from(rng.choices(pairs, k=rng.randint(1, 4)))
    graph.add_edge(0, 0)
    return graph


def leaf_spine(rng):
    graph = networkx.MultiGraph(networkx.complete_bipartite_graph(rng.randint(1, 3), rng.randint(2, 4)))
    graph.remove_edges_from(rng.sample(list(graph.edges(keys=True)), k=rng.randint(0, 2)))
    return graph


def ring(rng):
    graph = networkx.MultiGraph(networkx.circulant_graph(rng.randint(3, 8), [1]))
    graph.add_edge(*rng.sample(list(graph), 2))
    return graph


def grid(rng):
    graph = networkx.MultiGraph(networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(3, rng.randint(2, 4))))
    graph.remove_nodes_from(rng.sample(list(graph), k=rng.randint(0, 2)))
    return networkx.convert_node_labels_to_integers(graph)


KINDS = (connected, disconnected, tree, dense, parallel, leaf_spine, ring, grid)


def drawn(rng, kind):
    """A random graph of a kind, with shuffled nodes and edges: number of nodes, edges, and two nodes."""
    graph = kind(rng)
    names = list(range(len(graph)))
    rng.shuffle(names)
    edges = [(names[a], names[b])[:: rng.choice((1, -1))] for a, b in graph.edges()]
    rng.shuffle(edges)
    return len(names), edges, rng.choice(names), rng.choice(names)


def simple_paths(nodes, edges, start, end):
    """All simple paths, as pairs of nodes and edges."""
    if start == end:
        return [((start,), ())]
    graph = networkx.MultiGraph()
    graph.add_nodes_from(range(nodes))
    for number, (a, b) in enumerate(edges):
        graph.add_edge(a, b, key=number)
    found = networkx.all_simple_edge_paths(graph, start, end)
    return [((start, *(b for _, b, _ in path)), tuple(key for _, _, key in path)) for path in found]


def by_definition(paths, order, count):
    """The order defined in docs/path-sets.md."""
    left, given, used = list(paths), [], Counter()

    def key(path):
        nodes, edges = path
        return sum(used[edge] for edge in edges), len(edges), nodes, edges

    while left and len(given) < count:
        if order == "paper" and len(given) == 1:
            return given + sorted(left, key=key)
        best = min(left, key=key)
        left.remove(best)
        given.append(best)
        used.update(best[1])
    return given


def path_set(*arguments):
    return [(tuple(nodes), tuple(edges)) for nodes, edges in json.loads(_weft.path_set(*arguments))]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_order_is_that_of_all_simple_paths_sorted(kind):
    most = 0
    for seed in range(GRAPHS_A_KIND):
        case = drawn(random.Random(f"{kind.__name__} {seed}"), kind)
        paths = simple_paths(*case)
        most = max(most, len(paths))
        assert path_set(*case, "paper", 10_000) == by_definition(paths, "paper", 10_000), (seed, case)
        # The definition of the other order takes quadratic time in the number of paths.
        assert path_set(*case, "disjoint", 40) == by_definition(paths, "disjoint", 40), (seed, case)
    assert most >= (1 if kind is tree else 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [(0, 1), (1, 3)], 0, 1, "paper", 8), "edge 1 is at node 3, but the nodes are 0 to 2"),
        ((3, [(0, 1)], 3, 1, "paper", 8), "the start is at node 3"),
        ((3, [(0, 1)], 0, 7, "paper", 8), "the end is at node 7"),
        ((0, [], 0, 0, "paper", 8), "the start is at node 0, but there are no nodes"),
        ((10**7, [], 0, 0, "paper", 8), "10000000 nodes are too many: expected at most 1048576"),
        ((3, [(0, 1)], 0, 1, "papr", 8), "`papr` is not an order of paths: expected `paper` or `disjoint`"),
    ],
)
def test_what_is_no_graph_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        _weft.path_set(*arguments)


def test_no_graph_is_too_large_to_begin_with():
    """More simple paths than atoms in the universe; the first eight are found at once."""
    graph = networkx.gnp_random_graph(200, 0.05, seed=1)
    paths = path_set(200, list(graph.edges()), 0, 199, "paper", 8)
    assert len(paths[0][1]) == networkx.shortest_path_length(graph, 0, 199)
    assert len(set(paths)) == 8


FABRIC = """
name = "campus"
node = [
  { name = "left", role = "host" },
  { name = "right", role = "host" },
  { name = "both", role = "host" },
  { name = "north", role = "switch" },
  { name = "south", role = "switch" },
  { name = "alone", role = "switch" },
]
link = [
  { between = ["left", "north"] },
  { between = ["right", "south"] },
  { between = ["both", "north"] },
  { between = ["both", "south"] },
  { between = ["north", "south"] },
  { between = ["north", "south"], up = false },
  { between = ["south", "north"] },
]
"""


@pytest.fixture
def campus(tmp_path):
    path = tmp_path / "campus.toml"
    path.write_text(FABRIC)
    return path


def test_paths_of_a_fabric_lead_through_switches_over_cables_that_are_up(campus):
    fabric = api.fabric(campus, measured=False)
    assert fabric.measures == {}
    first, second = fabric.path_set("left", "right")
    assert first == api.FabricPath(("left", "north", "south", "right"), (0, 4, 1), 3, 0)
    assert second == api.FabricPath(("left", "north", "south", "right"), (0, 6, 1), 2, 2)
    assert fabric.spelled(second) == "left north (3 of 3) south right"
    assert [one.cables for one in fabric.path_set("both", "north")] == [(2,), (3, 4), (3, 6)]
    assert fabric.path_set("north", "alone") == []
    assert fabric.path_set("left", "left") == [api.FabricPath(("left",), (), 0, 0)]


def test_a_fabric_refuses_ends_and_orders_that_there_are_not(campus):
    fabric = api.fabric(campus)
    for arguments, message in (
        (("left", "rihgt"), "there is no node `rihgt`; did you mean `right`?"),
        (("left", "right", "shortest"), "`shortest` is not an order of paths: expected `paper` or `disjoint`"),
        (("left", "right", "paper", 0), "count must be at least 1, not 0"),
    ):
        with pytest.raises(api.ScenarioError) as error:
            fabric.path_set(*arguments)
        assert str(error.value) == message


def test_disjoint_keeps_clear_of_all_paths_before_and_paper_of_the_first_only():
    fabric = api.fabric(SCENARIOS / "quickstart.toml", ["fabric.k=6"], measured=False)
    paper, disjoint = (fabric.path_set("e0", "e17", order, 7) for order in ("paper", "disjoint"))
    assert paper[:2] == disjoint[:2]
    assert [one.shared for one in paper[1:]] == [0] * 6
    assert [one.shared_before for one in disjoint[:3]] == [0] * 3
    assert paper[2].shared_before > 0


def test_the_command_shows_a_path_set(weft, campus):
    shown = weft("fabric", campus, "--paths", "left", "right", "--count", 3)
    assert shown.exit_code == 0
    *lines, note = [line.split() for line in shown.stdout.splitlines()]
    assert lines == [
        ["hops", "shared", "path"],
        ["1", "3", "–", "left", "north", "(1", "of", "3)", "south", "right"],
        ["2", "3", "2", "left", "north", "(3", "of", "3)", "south", "right"],
    ]
    assert " ".join(note) == "shared: links in common with path 1; no further paths exist"
    shown = weft("fabric", campus, "--paths", "north", "both", "--order", "disjoint")
    assert "before" in shown.stdout.splitlines()[0].split()
    assert "no path between left and alone" in weft("fabric", campus, "--paths", "left", "alone").stdout


def test_the_command_prints_a_path_set_as_json(weft, campus):
    found = json.loads(weft("fabric", campus, "--paths", "left", "right", "--json", "--count", 1).stdout)
    assert found == {
        "name": "campus",
        "from": "left",
        "to": "right",
        "order": "paper",
        "paths": [{
            "hops": 3, "nodes": ["left", "north", "south", "right"], "cables": [0, 4, 1], "shared": 3,
            "shared_before": 0,
        }],
    }  # fmt: skip


def test_the_command_refuses_what_names_no_paths(weft, campus):
    for arguments, message in (
        (["--paths", "left", "rigth"], "error: there is no node `rigth`; did you mean `right`?"),
        (["--count", 3], "error: --count requires --paths\n  try: --paths A B --count 3"),
        (["--order", "disjoint"], "error: --order requires --paths\n  try: --paths A B --order disjoint"),
        (["--paths", "left", "right", "--order", "fair"], "error: --order is `fair`: choose from paper, disjoint"),
        (["--paths", "left", "right", "--count", 0], "error: --count is `0`: give a whole number from 1 to"),
    ):
        result = weft("fabric", campus, *arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output


def test_the_page_shows_what_the_command_prints(weft, monkeypatch):
    monkeypatch.chdir(SCENARIOS.parent)
    page = (SCENARIOS.parent / "docs" / "path-sets.md").read_text()
    commands = re.findall(r"^weft (fabric .* --paths .*)$", page, re.M)
    assert len(commands) == 2
    for command in commands:
        shown = [line.rstrip() for line in weft(*command.split()).stdout.splitlines()]
        assert "\n".join(shown[:-1]) in page, command
