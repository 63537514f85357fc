"""`weft.run`: results without a directory of the user's."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import networkx
import polars as pl
import pytest

import weft
from tiny import TINY
from waiting import PATIENCE_S, until


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The directory of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def pair():
    """Two switches with two links between them and two hosts each."""
    graph = networkx.MultiGraph(name="pair")
    for number in range(4):
        graph.add_edge(f"h{number}", f"s{number // 2}", rate="1 Gbps")
    graph.add_edge("s0", "s1", rate="1 Gbps", delay="3 us")
    graph.add_edge("s0", "s1", rate="1 Gbps", delay="3 us")
    return graph


@pytest.mark.parametrize("kind", ["scenario", "text", "dictionary", "path", "name of a file"])
def test_a_scenario_is_given_in_any_form(kind, tiny):
    given = {
        "scenario": weft.Scenario.from_text(TINY),
        "text": TINY,
        "dictionary": tomllib.loads(TINY),
        "path": tiny,
        "name of a file": str(tiny),
    }[kind]
    results = weft.run(given, jobs=1, seeds=1)
    assert (results.name, results.schemes, results.seeds) == ("tiny", ["ecmp", "spray"], [1])


def test_the_results_are_those_of_a_directory(engine_results):
    results = weft.run(TINY, jobs=2, threads=1)
    assert results.flows().equals(engine_results.flows())
    assert results.summary(baseline="ecmp").equals(engine_results.summary(baseline="ecmp"))
    assert repr(results) == "InMemory(tiny, 4 of 4 runs)"


def test_a_number_of_seeds_counts_from_one():
    assert weft.run(TINY, jobs=1, seeds=3).seeds == [1, 2, 3]
    assert weft.run(TINY, jobs=1, seeds=[7]).seeds == [7]


def test_nothing_is_left_when_nothing_refers_to_the_results(temporary, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = weft.run(TINY, jobs=1, seeds=1)
    part, lazy = results.only([results.finished[0].id]), results.scan_flows()
    assert len(list(temporary.iterdir())) == 1
    del results
    gc.collect()
    assert part.flows().height > 0, "a part of the results needs their files"
    del part
    gc.collect()
    assert list(temporary.iterdir()) == []
    assert lazy.collect().height > 0, "a frame outlives the results"
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


def script(temporary, text):
    """A process that runs a script with this directory of temporary files."""
    environment = os.environ | {"TMPDIR": str(temporary)}
    return subprocess.Popen([sys.executable, "-c", text], env=environment, stderr=subprocess.PIPE, text=True)


def test_nothing_is_left_after_the_end_of_the_process(temporary):
    done = script(
        temporary, f"import weft\nresults = weft.run({TINY!r}, jobs=1, seeds=1)\nassert results.path.exists()"
    )
    assert (done.communicate()[1], done.returncode) == ("", 0)
    assert list(temporary.iterdir()) == []


def test_an_interrupt_ends_the_run_at_once_and_leaves_nothing(temporary):
    long = weft.Scenario.from_text(TINY).set("run.duration", "20 s")
    process = script(
        temporary, f"import weft\nscenario = weft.Scenario({TINY!r}, sets={long.sets!r})\nweft.run(scenario, jobs=1)"
    )
    until("the run to begin", lambda: list(temporary.glob("weft-*/results/sweep.json")))
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=PATIENCE_S)[1]
    assert said.splitlines()[-1] == "KeyboardInterrupt"
    assert list(temporary.iterdir()) == []


def test_a_scenario_that_is_wrong_leaves_nothing(temporary):
    with pytest.raises(weft.ScenarioError, match="did you mean `load`"):
        weft.run(TINY.replace("load =", "laod ="))
    with pytest.raises(weft.ScenarioError, match=r"nothing\.toml: No such file"):
        weft.run("nothing.toml")
    with pytest.raises(weft.ScenarioError, match=r"`fabric\.rate` is None"):
        weft.run({"fabric": {"rate": None}})
    fabric = weft.fabric(Path(__file__).parents[2] / "scenarios" / "quickstart.toml")
    with pytest.raises(weft.ScenarioError, match=r"`fabric` is a Fabric.*write weft\.run\(\.\.\., fabric=f\)"):
        weft.run({"fabric": fabric})
    with pytest.raises(weft.ScenarioError, match="not a int"):
        weft.run(3)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, "`jobs` is 0: give whole numbers from 1 on"),
        ({"threads": -1}, "`threads` is -1: give whole numbers from 1 on"),
        ({"seeds": 0}, "`seeds` is 0: give a list, or the number N"),
        ({"seeds": [1, -2]}, "`seeds` is -2: give whole numbers from 0 on"),
    ],
)
def test_a_number_that_cannot_be_is_refused(arguments, message, temporary):
    with pytest.raises(weft.ScenarioError, match=message):
        weft.run(TINY, **arguments)
    assert list(temporary.iterdir()) == []


def test_progress_may_be_a_function():
    events = []
    weft.run(TINY, jobs=1, seeds=1, progress=events.append)
    assert [event["event"] for event in events].count("run_done") == 2


def test_warnings_of_the_scenario_are_warnings():
    with pytest.warns(UserWarning, match="load"):
        weft.run(weft.Scenario.from_text(TINY).set("traffic.load", 3.0), jobs=1, seeds=1)


@pytest.mark.parametrize("kind", ["graph", "fabric", "file", "fabric of a file"])
@pytest.mark.filterwarnings("ignore:`fabric.rate`")
def test_another_fabric_takes_the_place_of_the_topology(kind, tmp_path):
    weft.write_fabric(pair(), tmp_path / "pair.graphml")
    given = {
        "graph": pair(),
        "fabric": weft.fabric(pair()),
        "file": tmp_path / "pair.graphml",
        "fabric of a file": weft.fabric(tmp_path / "pair.graphml"),
    }[kind]
    scenario = weft.Scenario.from_text(TINY).set("fabric.leaves", 8).set("fabric.overhead", "none")
    results = weft.run(scenario, fabric=given, jobs=1, seeds=1)
    fabric = results.finished[0].summary()["fabric"]
    assert fabric == {"name": "pair", "hosts": 4, "switches": 2, "links": 6}
    inside = results.links().filter(pl.col("from") == "s0", pl.col("to") == "s1")
    assert set(inside["delay_ps"]) == {3_000_000}
    assert results.finished[0].summary()["warnings"] == [] or kind != "graph"


def test_the_keys_of_the_scenario_apply_where_the_graph_has_none():
    graph = pair()
    del graph.edges["h0", "s0", 0]["rate"]
    results = weft.run(weft.Scenario.from_text(TINY).set("fabric.rate", "2 Gbps"), fabric=graph, jobs=1, seeds=1)
    rates = {(row["from"], row["to"]): row["rate_bps"] for row in results.links().to_dicts()}
    assert (rates["h0", "s0"], rates["h1", "s0"]) == (2e9, 1e9)


def test_another_fabric_that_cannot_be_used_is_refused(temporary):
    graph = pair()
    graph.edges["h0", "s0", 0]["rate"] = "1 Gb"
    with pytest.raises(weft.ScenarioError, match="graph `pair`: edge `h0` - `s0`: `rate` is invalid"):
        weft.run(TINY, fabric=graph)
    with pytest.raises(weft.ScenarioError, match=r"write it with `weft\.write_fabric"):
        weft.run(TINY, fabric=weft.Scenario.from_text(TINY).fabric())
    del graph.edges["h0", "s0", 0]["rate"]
    with pytest.raises(weft.ScenarioError, match=r"`fabric\.host_rate` belongs to the topology `spine-leaf`"):
        weft.run(TINY.replace("rate =", "host_rate ="), fabric=graph)
    assert list(temporary.iterdir()) == []


def test_files_about_the_results_need_a_place(tmp_path):
    results = weft.run(TINY, fabric=pair(), jobs=1, seeds=1)
    with pytest.raises(weft.OutputError, match=r"no directory for `report\.html`: give the path"):
        weft.report(results)
    with pytest.raises(weft.OutputError, match="no directory for `figures`"):
        weft.plot(results)
    page = weft.report(results, tmp_path / "page.html").read_text()
    assert str(results.path.parent) not in page
    assert weft.plot(results, tmp_path, ("svg",), only=("fct-mean",)) == [tmp_path / "fct-mean.svg"]


def test_saved_results_are_a_result_directory(tmp_path):
    results = weft.run(TINY, jobs=1, seeds=1)
    saved = results.save(tmp_path / "saved")
    assert saved.flows().equals(results.flows())
    assert weft.Results(tmp_path / "saved").schemes == ["ecmp", "spray"]
    assert not (tmp_path / "saved" / ".lock").exists()
    for taken in (tmp_path / "saved", Path(__file__)):
        with pytest.raises(weft.OutputError, match=r"is not empty|is a file"):
            results.save(taken)
