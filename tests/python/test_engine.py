"""The command line with the real engine: from scenario to results, interrupted and resumed, rejected with a reason."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import weft as api
from tiny import TINY
from waiting import PATIENCE_S, until
from weft.scenario import Scenario


def test_a_run_prints_the_table_and_what_to_type_next(weft, tiny, tmp_path):
    out = tmp_path / "results"
    result = weft("run", tiny, "-o", out, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "ecmp" in result.stdout
    assert "spray" in result.stdout
    assert f"weft report {out}" in result.stderr
    assert (out / "scenario.toml").read_text() == tiny.read_text()
    assert len(api.Results(out).finished) == 4


def written(out):
    """Every file of a sweep except for its speed, by name."""
    files = (path for path in out.rglob("*") if path.is_file() and path.name != "performance.json")
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


def test_results_depend_neither_on_jobs_nor_on_threads(tmp_path):
    text = (Path(__file__).resolve().parents[2] / "scenarios" / "quickstart.toml").read_text()
    scenario = Scenario.from_text(text.replace('"600 ms"', '"10 ms"').replace("seeds = 3", "seeds = 1"))
    first, *others = ((1, 1), (2, 1), (1, 2), (2, 3), (1, 4), (1, 8))
    scenario.run(tmp_path / "first", jobs=first[0], threads=first[1])
    expected = written(tmp_path / "first")
    assert len(expected) > 6 * 3
    for jobs, threads in others:
        out = tmp_path / f"{jobs}-{threads}"
        scenario.run(out, jobs=jobs, threads=threads)
        assert written(out) == expected, (jobs, threads)


def test_a_scenario_that_cannot_run_in_parallel_says_so_once(weft, tiny, tmp_path):
    smoc = tmp_path / "smoc.toml"
    scheme = 'name = "smoc"\ncontrol_delay = "0 s"'
    smoc.write_text(TINY.partition("[sweep]")[0].replace('name = "ecmp"', scheme))
    result = weft("run", smoc, "-o", tmp_path / "one", "--threads", 2)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("one thread") == 1
    assert "`control_delay` is 0 s" in result.stderr
    quiet = weft("run", smoc, "-o", tmp_path / "quiet", "--threads", 2, "--quiet")
    assert quiet.stderr.count("one thread") == 1
    assert "1 run" not in quiet.stderr
    assert "one thread" not in weft("run", tiny, "-o", tmp_path / "two", "--threads", 2).stderr


def test_every_scheme_of_a_seed_has_the_same_flows(engine_results):
    flows = engine_results.flows(measured=False)
    keys = ["seed", "flow", "src", "dst", "sport", "dport", "bytes", "start_ps"]
    ecmp, spray = (flows.filter(pl.col("scheme") == s).select(keys).sort("seed", "flow") for s in ("ecmp", "spray"))
    assert ecmp.height > 10
    assert ecmp.equals(spray)


def test_the_same_command_again_runs_nothing_and_shows_the_table(weft, tiny, tmp_path):
    out = tmp_path / "results"
    weft("run", tiny, "-o", out)
    again = weft("run", tiny, "-o", out)
    assert again.exit_code == 0
    assert "(4 already done)" in again.stderr


def test_a_missing_run_is_the_only_one_done_again(tiny, tmp_path):
    scenario = Scenario.from_file(tiny)
    results = scenario.run(tmp_path / "r")
    victim = results.finished[2].path
    before = (victim / "flows.parquet").read_bytes()
    for file in victim.iterdir():
        file.unlink()
    victim.rmdir()
    outcome = scenario.execute(tmp_path / "r")
    assert (outcome.done, outcome.skipped, outcome.failed) == (1, 3, [])
    assert (victim / "flows.parquet").read_bytes() == before


def test_a_directory_of_another_scenario_is_refused_and_left_alone(weft, tiny, tmp_path):
    out = tmp_path / "results"
    weft("run", tiny, "-o", out)
    before = sorted((path, path.stat().st_mtime_ns) for path in out.rglob("*"))
    other = weft("run", tiny, "-o", out, "--set", "traffic.load=0.5")
    assert other.exit_code == 2
    assert "already holds results of a different scenario" in other.stderr
    assert "Changed: traffic.load (" in other.stderr
    assert "-> 0.5)" in other.stderr
    assert sorted((path, path.stat().st_mtime_ns) for path in out.rglob("*")) == before


def test_a_directory_of_something_else_is_refused(weft, tiny, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    for out in (tmp_path / "full", tiny):
        result = weft("run", tiny, "-o", out)
        assert result.exit_code == 2
        assert str(out) in result.stderr
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('kind = "spine-leaf"', 'kind = "spine-leef"'), "spine-leaf"),
        (("spines = 2", "spines = 0"), "spines"),
        (('rate = "1 Gbps"', 'rate = "1 Gbqs"'), "Gbps"),
        (("load = 0.3", "laod = 0.3"), "load"),
        (('"ecmp", "spray"', '"ecpm", "spray"'), "ecmp"),
        (('duration = "5 ms"', 'duration = "5 mbps"'), "duration"),
        (("[scheme]", "[scheme"), "tiny.toml"),
    ],
)
def test_a_wrong_scenario_is_refused_with_its_line_and_nothing_is_written(weft, tiny, tmp_path, change, message):
    assert change[0] in tiny.read_text()
    tiny.write_text(tiny.read_text().replace(*change))
    for command in (["run", tiny, "-o", tmp_path / "out"], ["check", tiny], ["fabric", tiny]):
        result = weft(*command)
        assert result.exit_code == 2, command
        assert message in result.stderr
        assert "Traceback" not in result.output
        assert "error" in result.stderr
        assert list(tmp_path.iterdir()) == [tiny]


def test_a_wrong_set_is_refused_too(weft, tiny, tmp_path):
    result = weft("run", tiny, "-o", tmp_path / "out", "--set", "fabric.spins=3")
    assert result.exit_code == 2
    assert "spines" in result.stderr
    assert list(tmp_path.iterdir()) == [tiny]


@pytest.mark.parametrize(("baseline", "known"), [("conga", "spray"), ("ecmp hash_seed=3", "scheme.name")])
def test_a_baseline_that_is_no_scheme_of_the_scenario_is_refused_before_anything_runs(
    weft, tiny, tmp_path, baseline, known
):
    for quiet in ([], ["-q"]):
        result = weft("run", tiny, "-o", tmp_path / "out", "--baseline", baseline, *quiet)
        assert result.exit_code == 2
        assert baseline in result.stderr
        assert known in result.stderr
        assert list(tmp_path.iterdir()) == [tiny]


def test_the_baseline_of_a_run_is_that_of_its_summary_and_report(weft, tiny, tmp_path):
    out = tmp_path / "out"
    assert weft("run", tiny, "-o", out, "--baseline", "spray", "-q").exit_code == 0
    assert api.Results(out).baseline == "spray"
    assert "difference from spray" in " ".join(weft("summary", out).stdout.split())
    other = weft("run", tiny, "-o", out, "--baseline", "ecmp")
    assert other.exit_code == 0, other.stderr
    assert "difference from ecmp" in " ".join(other.stdout.split())
    assert api.Results(out).baseline == "ecmp"


def test_the_baseline_that_a_scenario_has_already_changes_nothing(weft, tiny, tmp_path):
    own = ["run", tiny, "-o", tmp_path / "out", "--set", 'measure.baseline="spray"']
    assert weft(*own).exit_code == 0
    assert "(4 already done)" in weft(*own, "--baseline", "spray").stderr


def test_a_scheme_with_a_swept_parameter_can_be_the_baseline_of_the_table(weft, tiny, tmp_path):
    tiny.write_text(tiny.read_text().replace('["ecmp", "spray"]', '["spanning_tree"]'))
    command = ["run", tiny, "-o", tmp_path / "out", "--set", 'sweep.scheme.ageing=["1 s", "2 s"]', "--baseline"]
    assert "one of spanning_tree ageing=1 s, spanning_tree ageing=2 s" in weft(*command, "spanning_three").stderr
    for name, label in (("spanning_tree", "ageing=1 s"), ("spanning_tree ageing=2 s", "ageing=2 s")):
        result = weft(*command, name)
        assert result.exit_code == 0, result.output
        assert f"difference from spanning_tree {label}" in re.sub(r"\s+", " ", result.stdout)


def test_seeds_and_sets_change_the_runs(weft, tiny, tmp_path):
    out = tmp_path / "out"
    result = weft("run", tiny, "-o", out, "--seeds", 3, "--set", 'sweep.scheme.name=["spray"]', "-q")
    assert (result.exit_code, result.output) == (0, "")
    results = api.Results(out)
    assert (results.schemes, results.seeds) == (["spray"], [1, 2, 3])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_sweep_keeps_what_is_finished_and_says_how_to_go_on(tiny, tmp_path, number, code):
    long = tiny.read_text().replace('duration = "5 ms"', 'duration = "400 ms"').replace("seeds = 2", "seeds = 40")
    tiny.write_text(long)
    command = [sys.executable, "-m", "weft", "run", str(tiny), "-o", str(tmp_path / "out"), "--jobs", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    runs = tmp_path / "out" / "runs"
    until("a run is finished", lambda: list(runs.glob("[!.]*")))
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code, stderr
    kept = len(api.Results(tmp_path / "out").finished)
    assert 1 <= kept < 80
    assert f"Stopped: {kept} of 80 runs finished and kept" in stderr
    assert "weft run" in stderr
    assert "Traceback" not in stderr
    assert api.Results(tmp_path / "out").flows().height > 0


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ([], 130, "All runs were done: 4 runs in {out}. To see the results:\n  weft summary {out}"),
        (["-q"], 0, "All runs were done: 4 runs in {out}."),
        (["-q", "--capture", "l0->s0"], 130, "Stopped: 4 of 4 runs finished and kept in {out}. To resume:"),
    ],
)
def test_ctrl_c_after_the_last_run_says_that_all_are_done(weft, tiny, tmp_path, monkeypatch, options, code, said):
    execute = Scenario.execute

    def interrupted(*args, **kwargs):
        execute(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(Scenario, "execute", interrupted)
    out = tmp_path / "out"
    done = weft("run", tiny, "-o", out, *options)
    assert (done.exit_code, said.format(out=out) in done.stderr) == (code, True), done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small disk")
def test_a_full_disk_leaves_what_is_finished_readable(tiny, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)], check=False)
    if mounted.returncode != 0:
        pytest.skip("cannot mount a file system here")
    try:
        tiny.write_text(tiny.read_text().replace("seeds = 2", "seeds = 40"))
        options = ["run", str(tiny), "-o", str(small / "out"), "--jobs", "1"]
        refused = subprocess.run([sys.executable, "-m", "weft", *options], capture_output=True, text=True, check=False)
        assert (refused.returncode, (small / "out").exists()) == (2, False)
        assert "the results need about 4.1 MB" in refused.stderr
        # As if other programs filled the disk after the check.
        script = "from weft.cli import cost, main; cost.free_disk = lambda _: 10**12; main()"
        done = subprocess.run([sys.executable, "-c", script, *options], capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr
        assert "the disk is full" in done.stderr
        assert "Traceback" not in done.stderr
        results = api.Results(small / "out")
        assert 0 < len(results.finished) < 80
        assert results.flows().height > 0
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_fabric_is_shown_drawn_and_printed_as_json(weft, tiny, tmp_path):
    svg = tmp_path / "fabric.svg"
    result = weft("fabric", tiny, "--svg", svg)
    assert result.exit_code == 0
    for text in ("hosts", "4", "2 leaves", "bisection", "diversity"):
        assert text in result.stdout
    assert svg.read_text().startswith("<svg")
    data = json.loads(weft("fabric", tiny, "--json").stdout)
    assert (len(data["nodes"]), len(data["links"])) == (8, 16)


@pytest.mark.parametrize("ending", ["toml", "graphml", "json"])
def test_a_fabric_that_is_written_to_a_file_is_the_same_when_it_is_read(weft, tiny, tmp_path, ending):
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"
    result = weft("fabric", tiny, "--write", first)
    assert result.exit_code == 0, result.stderr
    assert str(first) in result.stdout + result.stderr
    there, back = api.fabric(tiny), api.fabric(first)
    assert (there.nodes, there.links) == (back.nodes, back.links)
    api.write_fabric(first, second)
    assert first.read_text() == second.read_text()
    networkx = pytest.importorskip("networkx")
    if ending == "graphml":
        assert networkx.read_graphml(first).number_of_edges() == len(there.links) // 2
    if ending == "json":
        graph = networkx.node_link_graph(json.loads(first.read_text()), edges="edges")
        assert graph.number_of_edges() == len(there.links) // 2


def test_a_fabric_is_not_written_to_a_file_of_another_kind_or_over_its_scenario(weft, tiny):
    before = tiny.read_text()
    for name, said in (
        ("x.dot", "its name must end in .toml, .graphml, .xml or .json"),
        (tiny.name, "give another output file"),
    ):
        result = weft("fabric", tiny, "--write", tiny.with_name(name))
        assert (result.exit_code, said in result.stderr) == (2, True), name
    assert tiny.read_text() == before


def test_a_fabric_file_of_networkx_is_read(weft, tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from(["h0", "h1"], role="host")
    graph.add_nodes_from(["s0", "s1"], role="switch")
    graph.add_edges_from([("h0", "s0"), ("h1", "s1"), ("s0", "s1")], rate="1 Gbps", delay="5 us")
    path = tmp_path / "mine.graphml"
    networkx.write_graphml(graph, path)
    fabric = api.fabric(path)
    assert [node.name for node in fabric.hosts] == ["h0", "h1"]
    assert set(fabric.to_networkx().edges) == {(a, b) for e in graph.edges for a, b in (e, e[::-1])}
    assert weft("fabric", path).exit_code == 0
    bad = weft("fabric", path, "--set", "fabric.k=2")
    assert bad.exit_code == 2
    assert "this is a fabric file" in bad.stderr
    assert weft("fabric", tmp_path / "none.graphml").exit_code == 2


def test_a_table_of_polars_is_a_trace_as_it_is_written_by_default(tmp_path):
    flows = pl.DataFrame({"src": ["h0", "h1"], "dst": ["h2", "h3"], "bytes": [30_000, 1], "start_s": [0.0, 1e-3]})
    scenario = re.sub(r"\[traffic\].*?\n\n", '[traffic]\ntrace = "flows.parquet"\n\n', TINY, flags=re.DOTALL)
    (tmp_path / "tiny.toml").write_text(scenario)
    for compression in ("zstd", "snappy", "uncompressed"):
        flows.write_parquet(tmp_path / "flows.parquet", compression=compression)
        results = Scenario.from_file(tmp_path / "tiny.toml").run(tmp_path / compression)
        assert results.flows()["bytes"].unique().sort().to_list() == [1, 30_000]
    flows.write_parquet(tmp_path / "flows.parquet", compression="gzip")
    with pytest.raises(api.ScenarioError, match="expected zstd, snappy or no compression"):
        Scenario.from_file(tmp_path / "tiny.toml").points()


@pytest.mark.parametrize("starter", ["fat-tree", "spine-leaf", "own-fabric"])
def test_every_starter_is_a_valid_scenario(weft, tmp_path, starter):
    path = tmp_path / "mine.toml"
    weft("new", path, "--from", starter)
    result = weft("check", path)
    assert result.exit_code == 0, result.output
    assert "runs" in result.stdout


@pytest.mark.parametrize("what", ["schemes", "list profiles", "list distributions", "list studies", "list bench"])
def test_everything_can_be_listed(weft, what):
    result = weft(*what.split())
    assert result.exit_code == 0, result.output
    entries = json.loads(weft(*what.split(), "--json").stdout)
    assert entries
    for entry in entries:
        assert entry["name"] in result.stdout


def test_the_schema_is_a_json_schema(weft):
    schema = json.loads(weft("schema").stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "fabric" in schema["properties"]


def test_the_study_runs_end_to_end_when_it_is_made_small(weft, tmp_path, monkeypatch):
    from weft.studies.outcome import Size
    from weft.studies.packet_spraying import scenarios

    monkeypatch.setitem(
        scenarios.EXTENTS, Size.quick, scenarios.Extent(seeds=2, static_long=(0, 2, 3), random_long=(2,))
    )
    out = tmp_path / "study"
    result = weft("reproduce", "packet-spraying", "-o", out, "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert list(data) == ["study", "size", "rows", "remarks"]
    assert [row["id"] for row in data["rows"]] == [f"P{n}" for n in range(1, 8)]
    assert all(row["verdict"] in ("held", "did not hold") for row in data["rows"])
    assert json.loads((out / "study.json").read_text()) == data
    assert weft("plot", out, "-o", tmp_path / "figures", "--format", "png").exit_code == 0
    assert len(list((tmp_path / "figures").iterdir())) == 8
    other = weft("reproduce", "packet-spraying", "-o", out, "--size", "paper")
    assert (other.exit_code, "at size quick" in other.stderr) == (2, True)


def test_the_study_and_the_scenarios_to_run_by_hand_are_the_same_physics():
    import tomllib
    from pathlib import Path

    from weft.studies.outcome import Size
    from weft.studies.packet_spraying import PacketSpraying

    folder = Path(__file__).parents[2] / "scenarios"
    for part in PacketSpraying().parts(Size.paper):
        study = tomllib.loads(part.scenario.text)
        by_hand = tomllib.loads((folder / f"packet-spraying-{part.name}.toml").read_text())
        for section in ("name", "fabric", "transport", "run", "measure"):
            assert study[section] == by_hand[section], section
        key = lambda group: group["class"]  # noqa: E731
        assert sorted(study["traffic"], key=key) == sorted(by_hand["traffic"], key=key)
