"""`weft export`: flows in the formats of other simulators."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from weft import Results, Scenario
from weft.cli import app
from weft.exports import are_positions, export, node_numbers


@pytest.fixture
def run(results: Results):
    return results.finished[0]


def test_a_line_of_the_fct_file_has_the_eight_columns_of_a_finished_flow(results, run):
    lines = [[int(word) for word in line.split()] for line in export(results, run, "fct").splitlines()]
    flows = results.only([run.id]).flows(measured=False)
    finished = flows.filter(flows["fct_ps"].is_not_null()).sort("end_ps", "flow")
    assert len(lines) == len(finished) > 0
    for line, flow in zip(lines, finished.iter_rows(named=True), strict=True):
        assert len(line) == 8
        assert line[2:5] == [flow["sport"], flow["dport"], flow["bytes"]]
        assert line[0] == int(flow["src"].removeprefix("h"))
        assert abs(line[6] * 1000 - flow["fct_ps"]) <= 500
        assert line[6] >= line[7]


STAR = """5 1 4
0
0 1 100Gbps 1us 0
0 2 100Gbps 1us 0
0 3 100Gbps 1us 0
0 4 100Gbps 1us 0

node 0 is the switch
"""
STAR_JSON = """{"nodes": [{"id": "core"}, {"id": "h1"}, {"id": "b"}, {"id": "c"}], "links": [
{"source": "core", "target": "h1"}, {"source": "core", "target": "b"}, {"source": "core", "target": "c"}]}"""


def _star(folder, topology: str, trace: str) -> Results:
    (folder / topology).write_text(STAR if topology.endswith(".txt") else STAR_JSON)
    name = "flows.txt" if topology.endswith(".txt") else "flows.csv"
    (folder / name).write_text(trace)
    text = f"""
    [fabric]
    file = "{topology}"
    [traffic]
    trace = "{name}"
    [scheme]
    name = "ecmp"
    """
    return Scenario.from_text(text, "star.toml", folder).run(folder / "out")


def test_hosts_of_the_fct_file_have_their_numbers_in_the_topology(tmp_path):
    results = _star(tmp_path, "star.txt", "2\n2 1 3 100 200000 0.0001\n4 3 3 100 100000 0.0001\n")
    lines = export(results, results.finished[0], "fct").splitlines()
    assert sorted(line.split()[:2] for line in lines) == [["2", "1"], ["4", "3"]]
    warnings = results.finished[0].summary()["warnings"]
    assert any("star.txt: not read from line 8 on: the first line says 4 links" in text for text in warnings)


def test_the_command_says_that_numbers_of_hosts_are_positions(tmp_path):
    results = _star(tmp_path, "star.json", "src,dst,bytes,start_s\nb,h1,1000,0\n")
    done = CliRunner().invoke(app, ["export", str(results.path), "--format", "fct"])
    assert done.stdout.split()[:2] == ["2", "1"]
    assert "hosts are numbered by their position among all nodes" in done.stderr


@pytest.mark.parametrize(
    ("connections", "said"),
    [
        ("persistent", "4 finished flows have no ideal time, which a line needs, and no line: all that a rank sends"),
        ("per-message", ""),
    ],
)
def test_the_command_says_that_rings_in_parts_have_no_line(tmp_path, connections, said):
    text = f"""
    [fabric]
    kind = "spine-leaf"
    leaves = 2
    spines = 2
    hosts_per_leaf = 2
    [traffic]
    collective = "ring-all-reduce"
    bytes = "40 kB"
    connections = "{connections}"
    [scheme]
    name = "ecmp"
    """
    Scenario.from_text(text, "ring.toml", tmp_path).run(tmp_path / "out")
    done = CliRunner().invoke(app, ["export", str(tmp_path / "out"), "--format", "fct"])
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == (0 if said else 4 * 6)
    assert said in done.stderr and ("no ideal time" in done.stderr) == bool(said)


@pytest.mark.parametrize(
    ("hosts", "switches", "numbers"),
    [
        (["h0", "h1"], ["s0"], [0, 1]),
        (["h7", "h12"], ["core"], [7, 12]),
        (["5", "3"], ["4"], [5, 3]),
        (["h1", "3"], ["s"], None),
        (["h01", "h2"], ["s"], None),
        (["alice", "bob"], ["s"], None),
    ],
)
def test_numbers_of_hosts_follow_from_their_names_or_their_positions(hosts, switches, numbers):
    nodes = [{"name": name, "role": "switch"} for name in switches] + [{"name": n, "role": "host"} for n in hosts]
    assert are_positions(nodes) == (numbers is None)
    positions = range(len(switches), len(nodes))
    assert node_numbers(nodes) == dict(zip(hosts, numbers or positions, strict=True))


def test_flowmonitor_counts_packets_as_the_result_does(results, run):
    root = ElementTree.fromstring(export(results, run, "flowmonitor"))
    flows = results.only([run.id]).flows(measured=False)
    stats, ends = root.findall("FlowStats/Flow"), root.findall("Ipv4FlowClassifier/Flow")
    assert [flow.get("flowId") for flow in stats] == [flow.get("flowId") for flow in ends]
    assert sum(int(flow.get("txPackets")) for flow in stats) == flows["packets_sent"].sum()
    assert sum(int(flow.get("lostPackets")) for flow in stats) == flows["drops"].sum()
    for flow in stats:
        packets = {key: int(flow.get(key)) for key in ("txPackets", "rxPackets", "lostPackets")}
        assert packets["txPackets"] == packets["rxPackets"] + packets["lostPackets"]
        assert flow.get("delaySum").startswith("+")
        assert flow.get("delaySum").endswith("ns")


def test_a_flow_of_datagrams_with_a_loss_ends_when_its_source_does(tmp_path):
    text = """
    [fabric]
    kind = "dumbbell"
    left = 2
    right = 2
    rate = "100 Mbps"
    queue = "10 packets"
    [[traffic]]
    flow_list = [{ src = "h0", dst = "h2", bytes = "300 kB" }, { src = "h1", dst = "h2", bytes = "300 kB" }]
    [[traffic]]
    flow_list = [{ src = "h1", dst = "h3", bytes = "3 kB", start = "900 ms" }]
    [scheme]
    name = "ecmp"
    [transport]
    protocol = "udp"
    rate = "90 Mbps"
    [run]
    duration = "1 s"
    """
    results = Scenario.from_text(text).run(tmp_path / "out")
    [run] = results.finished
    root = ElementTree.fromstring(export(results, run, "flowmonitor"))
    *lossy, whole = root.findall("FlowStats/Flow")
    ends = [float(flow.get("timeLastRxPacket").removeprefix("+").removesuffix("ns")) / 1e6 for flow in (*lossy, whole)]
    assert max(int(flow.get("lostPackets")) for flow in lossy) > 0
    # 300 kB at 90 Mbps take 27 ms.
    assert all(26 < end < 30 for end in ends[:2]), ends
    assert ends[2] > 900


def test_the_command_asks_for_a_run_and_writes_a_file(results, run, tmp_path):
    runner, out = CliRunner(), tmp_path / "fct.txt"
    asked = runner.invoke(app, ["export", str(results.path), "--format", "fct"])
    assert asked.exit_code == 2
    assert f"--run {run.id}" in asked.stderr
    unknown = runner.invoke(app, ["export", str(results.path), "--format", "fct", "--run", "none"])
    assert unknown.exit_code == 2
    done = runner.invoke(app, ["export", str(results.path), "--format", "fct", "--run", run.id, "-o", str(out)])
    assert (done.exit_code, out.read_text()) == (0, export(results, run, "fct"))


def test_a_run_without_a_finished_flow_gives_a_warning(tmp_path):
    text = """
    [fabric]
    kind = "fat-tree"
    k = 4
    [traffic]
    pairs = "permutation"
    arrivals = "at-once"
    flows = 4
    sizes = { fixed = "1 GB" }
    [scheme]
    name = "ecmp"
    [run]
    duration = "1 ms"
    limit = "2 ms"
    """
    Scenario.from_text(text, "unfinished.toml").run(tmp_path / "out")
    done = CliRunner().invoke(app, ["export", str(tmp_path / "out"), "--format", "fct"])
    assert (done.exit_code, done.stdout) == (0, "")
    assert "no flow of run" in done.stderr


def test_the_runs_of_the_help_page_and_of_the_docs_have_ids_as_runs_have(engine_results):
    made = re.compile(r"\w+-seed\d+-[0-9a-f]{8}")
    assert all(made.fullmatch(run.id) for run in engine_results.finished), [run.id for run in engine_results.finished]
    shown = " ".join(CliRunner().invoke(app, ["export", "--help"], env={"COLUMNS": "200"}).output.split())
    named = [*re.findall(r"--run (\S+) --format", shown), *re.findall(r"such as (\S+): its name", shown)]
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    named += re.findall(r"one run, such as (\S+);", page) + re.findall(r"of a run such as `(.*?)`", page)
    assert len(named) == 6 and all(made.fullmatch(name) for name in named), named
