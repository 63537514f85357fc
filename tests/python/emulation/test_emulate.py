"""`weft emulate` from a scenario to a result, with real hosts and switches; and rejected scenarios."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import weft as package
from waiting import PATIENCE_S, until
from weft.emulation import requirements, shaping
from weft.results import Results

SCHEMES = [
    entry["name"]
    for entry in package.schemes()
    if entry["linux_mode"] == entry["name"].replace("_", "-") and "controller" not in entry["needs"]
]
"""The schemes with a mode of the Linux switch of their own, except that of a central controller."""

SPINE_LEAF = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 1
rate = "10 Mbps"
delay = "1 us"
queue = "100 packets"
"""

FAT_TREE = """
[fabric]
kind = "fat-tree"
k = 4
rate = "10 Mbps"
delay = "1 us"
queue = "100 packets"
"""

FLOWS = f"""
[traffic]
sizes = {{ uniform = ["10 kB", "80 kB"] }}
load = 0.1
load_of = "host-links"

[scheme]
name = "tfe"
classifier = "auto"
elephant_bytes = "40 kB"

[run]
duration = "1 s"
limit = "8 s"

[measure]
interval = "200 ms"

[sweep]
"scheme.name" = {json.dumps(SCHEMES)}
"""


def emulate(*words: object, **popen: object) -> subprocess.Popen[str]:
    """Start the command."""
    command = [sys.executable, "-m", "weft", "emulate", *(str(word) for word in words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **(pipes | popen))


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    """Wait until it ends; returns its standard error."""
    try:
        _, said = process.communicate(timeout=5 * PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == code, said
    return said


@pytest.fixture(scope="module", params=["spine-leaf", pytest.param("fat-tree", marks=pytest.mark.long)])
def emulated(switches, request, tmp_path_factory) -> Results:
    """All schemes on a fabric."""
    folder = tmp_path_factory.mktemp(request.param)
    scenario = folder / "scenario.toml"
    scenario.write_text({"spine-leaf": SPINE_LEAF, "fat-tree": FAT_TREE}[request.param] + FLOWS)
    finish(emulate(scenario, "-o", folder / "results"))
    return Results(folder / "results")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_flows_come_through_under_every_scheme(emulated, scheme):
    flows = emulated.flows().filter(pl.col("scheme") == scheme)
    assert flows.height > 3
    assert flows["end_ps"].null_count() == 0
    # No flow is faster than the fabric, except that each emulated link may deliver a frame early by its transmission
    # time: the last full one, and before it SYN and SYN+ACK, 98 bytes with their framing. The source's idle link passes
    # its burst at once, too.
    early_bytes = flows["hops"].cast(pl.Int64) * (1538 + 2 * 98) + shaping.FRAME_BY_FRAME
    early_ps = early_bytes * (8 * 10**12 // 10_000_000)
    assert (flows["fct_ps"] >= flows["ideal_fct_ps"] - early_ps).all()


def run_of(results: Results, scheme: str) -> dict[str, object]:
    run = next(run for run in results.finished if run.overrides["scheme.name"] == scheme)
    return json.loads((run.path / "summary.json").read_text())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_result_says_what_it_was_measured_with(emulated, scheme):
    summary = run_of(emulated, scheme)
    measured = summary["emulated"]
    assert measured["stack"]["congestion"] == "cubic"
    assert measured["stack"]["settings"]["net.ipv4.tcp_no_metrics_save"] == "1"
    assert measured["load"]["congestion"] == ["cubic"]
    assert measured["versions"]["kernel"] == os.uname().release
    sent = sum(link["bytes"] for link in summary["links"])
    assert sent > sum(flow["bytes"] for flow in emulated.flows().to_dicts() if flow["scheme"] == scheme)


def test_flows_of_tcp_path_have_paths_over_the_fabric_and_exploration_times(emulated):
    flows = emulated.flows().filter(pl.col("scheme") == "tcp_path")
    explored = flows.filter(pl.col("exploration_ps").is_not_null())
    # A flow to a host on the same switch triggers no exploration.
    assert explored.height > flows.height / 3
    assert (explored["exploration_ps"] > 0).all()
    assert (explored["exploration_ps"] < explored["fct_ps"]).all()
    cables = {(link["from"], link["to"]) for link in run_of(emulated, "tcp_path")["links"]}
    for path, src, dst, hops in explored.select("path", "src", "dst", "hops").iter_rows():
        # A detour may win the race, but never a path with fewer links than the shortest.
        way = [src, *path.split(), dst]
        assert len(way) > hops
        assert set(pairwise(way)) <= cables, way


def test_results_are_read_by_summary_and_report(emulated, weft):
    assert weft("summary", emulated.path).exit_code == 0
    assert weft("report", emulated.path).exit_code == 0
    assert (emulated.path / "report.html").stat().st_size > 100_000


CUT = """
[traffic]
flow_list = [{ src = "h0", dst = "h1", bytes = "3 MB", start = "0.1 s" }]

[scheme]
name = "tcp_path"

[run]
duration = "3 s"
limit = "30 s"

[measure]
interval = "200 ms"

[[event]]
at = "0.8 s"
fail = "l0-s0"

[[event]]
at = "1.4 s"
heal = "l0-s0"

[[event]]
at = "1.6 s"
fail = "l0-s1"

[sweep]
"scheme.name" = ["tcp_path", "ecmp"]
"""


@pytest.mark.long
def test_flows_go_on_over_another_path_when_theirs_is_cut(switches, tmp_path):
    scenario = tmp_path / "cut.toml"
    scenario.write_text(SPINE_LEAF + CUT)
    finish(emulate(scenario, "-o", tmp_path / "results"))
    results = Results(tmp_path / "results")
    for row in results.flows().to_dicts():
        assert row["end_ps"] is not None, row
        # 3 MB take 2.55 s at 9.41 Mbps, plus retransmission timeouts.
        assert row["fct_ps"] > 2.5e12, row
    for scheme in ("tcp_path", "ecmp"):
        summary = run_of(results, scheme)
        events = summary["emulated"]["events"]
        assert [event["change"] for event in events] == ["fail", "heal", "fail"]
        happened = [event["happened_ps"] for event in events]
        assert happened == sorted(happened)
        assert all(event["happened_ps"] >= event["at_ps"] for event in events)
        up = {(link["from"], link["to"]): link["bytes"] for link in summary["links"]}
        # Via the first spine until the first event or after the last, via the second between or before.
        assert up["l0", "s0"] > 300_000
        assert up["l0", "s1"] > 300_000


LONG = """
[traffic]
flow_list = [{ src = "h0", dst = "h1", bytes = "30 MB", start = "0 s" }]

[scheme]
name = "tcp_path"

[run]
duration = "30 s"
limit = "40 s"
"""


def of_process(process: int | str, file: str) -> str:
    """A file of a process below /proc; empty if it has ended."""
    try:
        return Path(f"/proc/{process}/{file}").read_text()
    except OSError:
        return ""


def descendants(process: int) -> list[int]:
    """The descendants of a process."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := of_process(entry.name, "stat")):
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found, left = [], [process]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found


def lives(process: int) -> bool:
    stat = of_process(process, "stat")
    return bool(stat) and stat.rpartition(")")[2].split()[0] != "Z"


def named(process: int) -> str:
    return of_process(process, "comm").strip()


@pytest.fixture
def under_way(switches, tmp_path):
    """A long emulation whose load generator is running."""
    scenario = tmp_path / "long.toml"
    scenario.write_text(SPINE_LEAF + LONG)
    process = emulate(scenario, "-o", tmp_path / "results")

    def sends() -> bool:
        assert process.poll() is None, process.communicate()[1]
        return any(named(child) == "weft-loadgen" for child in descendants(process.pid))

    until("flows are sent", sends)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def what_there_is() -> tuple[set[str], set[str]]:
    """Interfaces and pins of this machine, except those of daemon tests of crates/switchd that run in parallel."""
    pins = [str(pin) for pin in Path("/sys/fs/bpf").rglob("*weft*")]
    interfaces = {entry.name for entry in Path("/sys/class/net").iterdir()}
    return interfaces, {pin for pin in pins if not pin.startswith("/sys/fs/bpf/weft-test-")}


@pytest.fixture
def before() -> set[str]:
    """Pins that existed before this test: of running switches, or left over."""
    return what_there_is()[1]


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_emulation_that_is_stopped_leaves_nothing(before, under_way, ending):
    children = descendants(under_way.pid)
    assert len([child for child in children if named(child) == "weft-switchd"]) == 4
    under_way.send_signal(ending)
    _, said = under_way.communicate(timeout=PATIENCE_S)
    if ending == signal.SIGINT:
        assert under_way.returncode == 130
        assert "To resume:" in said
    alive = lambda: [named(child) for child in children if lives(child)]  # noqa: E731
    until("nothing is left", lambda: not alive(), state=alive)
    interfaces, pins = what_there_is()
    assert not any(name.startswith(("l0-", "l1-", "s0-", "s1-", "h0-")) for name in interfaces)
    assert pins - before == set()


@pytest.mark.long
def test_a_second_emulation_at_the_same_time_meets_nothing_of_the_first(under_way, tmp_path):
    scenario = tmp_path / "short.toml"
    scenario.write_text(SPINE_LEAF + LONG.replace("30 MB", "100 kB"))
    finish(emulate(scenario, "-o", tmp_path / "second"))
    assert under_way.poll() is None
    assert Results(tmp_path / "second").flows()["end_ps"].null_count() == 0


def test_a_directory_that_is_being_emulated_into_is_refused(under_way, tmp_path):
    process = emulate(tmp_path / "long.toml", "-o", tmp_path / "results")
    assert "another weft emulate is writing to" in finish(process, 2)
    assert under_way.poll() is None


def test_what_is_there_is_not_emulated_again(switches, tmp_path):
    scenario = tmp_path / "short.toml"
    scenario.write_text(SPINE_LEAF + LONG.replace("30 MB", "100 kB"))
    finish(emulate(scenario, "-o", tmp_path / "results", "--keep"))
    kept = {path.name for path in (tmp_path / "results" / "emulation").glob("*/*")}
    assert {"plan.json", "workload.json", "records.jsonl", "observed.json", "l0.log"} <= kept
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "results" / "runs").glob("*/*")}
    process = emulate(scenario, "-o", tmp_path / "results", "--json")
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert not (tmp_path / "results" / ".emulation").exists()
    assert json.loads(out)["rows"]


def test_the_prompt_opens_in_the_network_and_sends_no_flows(switches, tmp_path):
    scenario = tmp_path / "short.toml"
    scenario.write_text(SPINE_LEAF + LONG)
    process = emulate(scenario, "-o", tmp_path / "results", "--cli", stdin=subprocess.PIPE)
    out, said = process.communicate("h0 ping -c 3 -i 0.2 h1\nexit\n", timeout=PATIENCE_S)
    assert process.returncode == 0, said
    assert " 0% packet loss" in out + said
    assert not (tmp_path / "results").exists()


def test_an_emulation_that_fails_midway_exits_with_1(weft, monkeypatch, switches, tmp_path):
    """The kernel in the jail refuses a mount, because there is none of that kind."""
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SPINE_LEAF + LONG)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text(
        'import os\nif os.getpid() == 1:\n    from weft.emulation import jail\n    jail._MOUNTS = (("nofs", "/run"),)\n'
    )
    for words in (["-o", tmp_path / "results"], ["--cli"]):
        done = weft("emulate", scenario, *words)
        assert done.exit_code == 1, done.output
        assert "cannot mount nofs on /run in the jail" in done.output


@pytest.fixture
def refused(weft, tmp_path, monkeypatch):
    """The error message of `weft emulate` for a rejected scenario, on a machine with all programs."""
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 0)
    monkeypatch.setattr(requirements, "program", lambda name: f"/bin/{name}")
    monkeypatch.setattr(requirements, "find_mininet", lambda: None)

    def emulate_it(text: str, *words: str) -> str:
        scenario = tmp_path / "scenario.toml"
        scenario.write_text(text)
        result = weft("emulate", scenario, "-o", tmp_path / "results", *words)
        assert result.exit_code == 2
        assert not (tmp_path / "results").exists()
        return result.stderr

    return emulate_it


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--set", 'scheme.name="spanning_tree"'),
            "scheme `spanning_tree` cannot be emulated: the Linux switch supports arp_path",
        ),
        (
            ("--set", 'scheme.name="tfe"', "--set", 'scheme.over="ecmp"'),
            "`scheme.over` is ecmp, but the Linux switch forwards frames without a path by ARP-Path",
        ),
        (
            ("--set", 'fabric.delay="1 ms"'),
            "a path of this scenario has a delay of 4000 us, 325 % of a full frame's transmission time",
        ),
        (("--set", 'fabric.ecn_threshold="20 packets"'), "marks packets (`ecn_threshold`)"),
        (("--set", 'fabric.rate="100 Gbps"'), "the kernel needs sch_netem"),
    ],
)
def test_what_cannot_be_emulated_is_refused_with_the_reason(refused, monkeypatch, words, said):
    monkeypatch.setattr(shaping, "has_netem", lambda: False)
    assert said in refused(SPINE_LEAF + LONG, *words)


def test_without_root_it_says_so_and_what_to_do(refused, monkeypatch):
    monkeypatch.setattr(requirements.os, "geteuid", lambda: 1000)
    said = refused(SPINE_LEAF + LONG)
    assert "emulation needs root" in said
    assert "sudo" in said
    assert "weft run" in said


def test_without_the_programs_it_says_which_are_missing_and_how_to_get_them(refused, monkeypatch):
    monkeypatch.setattr(requirements, "program", lambda name: None if name == "weft-switchd" else "/bin/true")
    said = refused(SPINE_LEAF + LONG)
    assert "missing: weft-switchd" in said
    assert "make emulation" in said


def test_the_example_scenario_can_be_planned_for_an_emulation():
    scenario = package.Scenario.from_file(Path(__file__).parents[3] / "scenarios" / "emulation.toml")
    assert [point.label for point in scenario.points()] == ["ecmp", "arp_path", "tcp_path"]
