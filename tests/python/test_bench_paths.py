"""The benchmark of path sets: that NetworkX's results are comparable, that it runs, and its output."""

import networkx
import pytest

from benches.path_sets import peers
from benches.path_sets.__main__ import EXAMPLE, BenchError, check
from benches.path_sets.cases import drawn, fat_tree
from quick_bench import quick_run


def test_a_case_is_the_graph_that_its_name_says():
    tree = fat_tree(4)
    assert (tree.nodes, len(tree.edges), len(tree.pairs)) == (20, 32, 8 * 7)
    one, again = drawn(40, 80), drawn(40, 80)
    assert one == again
    assert (one.nodes, len(one.edges), networkx.is_connected(one.networkx())) == (40, 80, True)


def test_yens_algorithm_and_all_paths_sorted_are_as_good_as_path_sets():
    case = fat_tree(4)
    graph = case.networkx()
    every = peers.all_sorted(graph, 0, 7)
    assert len(every) == 1360
    assert peers.keys(every)[:8] == peers.keys(peers.yen(graph, 0, 7, 8))
    check(case, 0, 7, every)
    with pytest.raises(BenchError, match="fat-tree k=4, 0 to 7"):
        check(case, 0, 7, every[:1] + every[:0:-1])


def test_listing_is_given_up_and_what_is_left_is_estimated():
    graph = networkx.complete_graph(7)
    assert peers.enumerated(graph, 0, 6, 60)[::2] == (326, True)
    assert peers.estimate(graph, 0, 6, 4000) == pytest.approx(326, rel=0.2)
    found, took, whole = peers.enumerated(networkx.complete_graph(30), 0, 29, 0.05)
    assert (found > 0, took > 0.05, whole) == (True, True, False)


@pytest.mark.long
@pytest.mark.skipif(not EXAMPLE.exists(), reason="the example is not built (make bench-paths)")
def test_it_runs_and_writes_what_it_shows(tmp_path):
    figures, shown = quick_run(tmp_path, "path_sets")
    assert list(figures["cases"]) == ["fat-tree k=8", "random, 200 nodes, 600 edges"]
    for name, case in figures["cases"].items():
        assert name in shown
        for row in case["sets"].values():
            assert 0 < row["p50_us"]["median"] <= row["p99_us"]["median"]
        assert "yen" in case["beside"]
    assert [row["all"] for row in figures["all_simple_paths"].values()] == [False, False]
    assert figures["small"]["paths"] == 1360
