"""`weft explore`: the flow it follows, rejected arguments, and the page it writes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE_S, cpu_s, until
from weft import Scenario, ScenarioError, schemes
from weft.cli.explore import chosen
from weft.exploring import Trace, follow
from weft.exploring.page import render
from weft.exploring.stage import stage
from weft.exploring.story import Story

EXPLORING = [entry["name"] for entry in schemes() if entry["explores"]]
SCENARIO = """
name = "race"

[fabric]
kind = "spine-leaf"
spines = 3
leaves = 3
hosts_per_leaf = 3
rate = "1 Gbps"
delay = "1 us"
queue = "50 packets"

[traffic]
sizes = "web-search"
clamp = "4 MB"
load = 0.4

[run]
duration = "60 ms"
seeds = 2

[sweep]
"scheme.name" = ["ecmp", "arp_path", "tcp_path"]
"""


@pytest.fixture
def race(tmp_path: Path) -> Path:
    path = tmp_path / "race.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def traces() -> dict[str, Trace]:
    """An exploration by each exploring scheme."""
    plan = Scenario.from_text(SCENARIO)
    tfe = Scenario.from_text(
        SCENARIO.replace('"tcp_path"]', '"tfe"]') + '\n[scheme]\nname = "tfe"\nclassifier = "auto"\n'
    )
    tfe = tfe.set("scheme.elephant_bytes", "200 kB")
    of = {point.overrides["scheme.name"]: point for point in plan.points()}
    found = {name: follow(plan, points=[of[name]]) for name in ("arp_path", "tcp_path")}
    return {**found, "tfe": follow(tfe, points=[p for p in tfe.points() if p.overrides["scheme.name"] == "tfe"])}


def embedded(page: str) -> dict:
    """The data that a page plays."""
    return json.loads(re.search(r'<script type="application/json" id="trace">(.*?)</script>', page, re.S)[1])


def test_a_page_is_made_that_needs_no_network(weft, race, tmp_path):
    out = tmp_path / "pages" / "one.html"
    result = weft("explore", race, "--set", "scheme.name=tcp_path", "-o", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [str(out), str(out.with_stem("one-time-line"))]
    assert re.search(r"tcp_path, seed 1: flow \d+ of \d+ flows, h\d to h\d, ", result.stderr)
    page = out.read_text()
    assert not re.search(r"""(src|href)=["'](?!data:|one-time-line)|@import|url\(""", page)
    data = embedded(page)
    assert [scene["kind"] for scene in data["scenes"]] == ["exploration", "recovery"]
    assert all(scene["lines"] for scene in data["scenes"])


def test_the_flow_can_be_chosen_by_number_or_by_its_ends_and_ports(weft, race, tmp_path):
    out = tmp_path / "any.html"
    asked = ["explore", race, "--set", "scheme.name=tcp_path", "--no-time-line"]
    assert weft(*asked, "-o", out).exit_code == 0
    plan, points = chosen(Scenario.from_text(SCENARIO), ["scheme.name=tcp_path"], None)
    trace = follow(plan, points=points)
    flow, (source, target) = trace.flow, trace.ends
    same = (
        ["--flow", flow["flow"]],
        ["--from", source, "--to", target, "--sport", flow["sport"], "--dport", flow["dport"]],
    )
    for arguments in same:
        page = tmp_path / "page.html"
        assert weft(*asked, "-o", page, *arguments).exit_code == 0
        assert page.read_text() == out.read_text()
    other = tmp_path / "other.html"
    assert weft(*asked, "--seed", 2, "-o", other).exit_code == 0
    assert "seed 2" in other.read_text()


def test_a_change_that_names_a_value_of_the_sweep_chooses_it_and_another_changes_the_scenario():
    plan = Scenario.from_text(SCENARIO)
    scenario, points = chosen(plan, ["scheme.name=tcp_path", "traffic.load=0.3"], 2)
    assert [(point.overrides, point.seed) for point in points] == [({"scheme.name": "tcp_path"}, 2)]
    assert scenario.sets == ("run.seeds=[2]", "traffic.load=0.3")
    assert chosen(plan, ['scheme.name="arp_path"'], None)[1][0].overrides == {"scheme.name": "arp_path"}
    assert {point.overrides["scheme.name"] for point in chosen(plan, [], None)[1]} == {"ecmp", "arp_path", "tcp_path"}


def test_copies_of_floods_that_began_before_the_scene_are_not_counted():
    plan = Scenario.from_file(Path(__file__).parents[2] / "scenarios" / "tcp-path.toml")
    points = [point for point in plan.points() if point.overrides["scheme.name"] == "tcp_path"]
    scene = follow(plan, points=points).scenes[0]
    # Copies of the preceding ARP Request are still in transit when the SYN is sent.
    assert {hop["what"] for _, hop in scene.hops()} == {"syn", "path_request", "syn_ack", "path_reply", "ack", "data"}
    assert scene.copies == [hop["what"] for _, hop in scene.hops()].count("path_request")


def test_without_a_choice_the_first_scheme_of_the_sweep_that_explores_is_run(weft, race, tmp_path):
    result = weft("explore", race, "-o", tmp_path / "page.html")
    assert result.exit_code == 0
    assert "arp_path, seed 1: flow" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--flow", "100000"], "there is no flow 100000: flows are numbered 0 to "),
        (["--flow", "100000", "--set", "scheme.name=ecmp"], "there is no flow 100000: flows are numbered 0 to "),
        (["--from", "h0", "--to", "h9", "--set", "scheme.name=ecmp"], "there is no host `h9`: did you mean `h0`?"),
        (["--from", "h0", "--to", "h0", "--set", "scheme.name=ecmp"], "no flow goes from h0 to h0"),
        (["--from", "h99", "--to", "h1"], "there is no host `h99`; the hosts are h0, h1, "),
        (["--from", "H0", "--to", "h8"], "there is no host `H0`: did you mean `h0`?"),
        (["--from", "h0", "--to", "h0"], "no flow goes from h0 to h0; flows from h0 go to h"),
        (["--from", "h0"], "a flow has two endpoints: --to is missing\n  try: add --to HOST"),
        (["--to", "h0"], "a flow has two endpoints: --from is missing"),
        (["--sport", "80"], "--sport and --dport require --from and --to"),
        (["--flow", "1", "--from", "h0", "--to", "h8"], "--flow and --from both select a flow"),
        (["--set", "traffic.laod=1"], "did you mean `load`"),
        (["-o", "."], ". is a directory: give a file"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_what_there_is(weft, race, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = weft("explore", race, *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == [race]


def given(flows: str, scheme: str) -> Scenario:
    """The fabric with these flows."""
    traffic = f"[traffic]\nflow_list = [{flows}]\n"
    rest = f'[scheme]\nname = "{scheme}"\n[run]\nduration = "20 ms"\n'
    return Scenario.from_text(SCENARIO.split("[traffic]")[0] + traffic + rest)


def test_a_flow_that_is_not_explored_for_is_refused_with_one_that_is():
    flows = """
  { src = "h0", dst = "h1", bytes = "1 MB" },
  { src = "h0", dst = "h8", bytes = "10 kB" },
  { src = "h0", dst = "h8", bytes = "9 MB", start = "1 ms" },
"""
    plan = given(flows, "arp_path")
    for flow, message in (
        (0, "the hosts of flow 0, h0 and h1, are on the same switch; try --flow 1"),
        (2, "h0 already knows the address of h8 from flow 1 when flow 2 starts; try --flow 1"),
    ):
        with pytest.raises(ScenarioError) as refused:
            follow(plan, flow=flow)
        assert str(refused.value) == message
    tfe = plan.set("scheme.name", "tfe").set("scheme.classifier", "auto")
    with pytest.raises(ScenarioError, match="flow 1 has 10000 bytes, fewer than 1000000; try --flow 2"):
        follow(tfe, flow=1)
    assert follow(tfe).flow["flow"] == 2


def test_a_flow_too_short_to_be_cut_has_one_scene_and_the_page_says_so():
    trace = follow(given('{ src = "h0", dst = "h8", bytes = "1 kB" }', "tcp_path"))
    assert len(trace.scenes) == 1
    assert "flow 0 (1000 bytes) ends before its path can be cut" in (trace.no_recovery or "")
    assert "No recovery is shown: flow 0 (1000 bytes) ends before" in render(trace)


@pytest.mark.parametrize("scheme", EXPLORING)
def test_the_story_tells_every_late_copy_the_path_and_the_cut(traces, scheme):
    trace = traces[scheme]
    exploration, recovery = trace.scenes
    lines = Story(trace, exploration).lines()
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    assert sum(line["kind"] == "late" for line in lines) == exploration.late > 0
    done = next(line for line in lines if line["kind"] == "done")
    route = trace.route(exploration.data["path"])
    through = "data is delivered on the new path" if scheme == "tfe" else "the first data is delivered"
    assert done["text"] == f"{through}, via {' → '.join(route)}"
    assert (route[0], route[-1]) == trace.ends
    again = Story(trace, recovery).lines()
    failed = trace.route([recovery.data["failure"]["link"]])
    assert {line["where"] for line in again if line["kind"] == "break"} <= {"–".join(failed), "–".join(failed[::-1])}
    assert any(line["kind"] == "done" and "data is delivered again" in line["text"] for line in again)


def test_a_flow_that_is_moved_has_sent_data_before(traces):
    scene = traces["tfe"].scenes[0]
    lines = Story(traces["tfe"], scene).lines()
    assert scene.is_under_way
    assert not traces["tcp_path"].scenes[0].is_under_way
    assert lines[0]["kind"] == "request"
    assert "of a Recovery Request" in lines[0]["text"]
    assert not any("first data" in line["text"] for line in lines)


def test_where_late_copies_are_many_those_of_a_switch_are_one_line():
    changes = ["scheme.name=tcp_path", "fabric.spines=9", "fabric.leaves=18", "run.duration=4 ms"]
    plan, points = chosen(Scenario.from_text(SCENARIO), changes, None)
    trace = follow(plan, points=points)
    scene = trace.scenes[0]
    late = [line for line in Story(trace, scene).lines() if line["kind"] == "late"]
    dropped = sum(int(re.match(r"drops (\d+) late cop", line["text"])[1]) for line in late)
    assert dropped == scene.late > 150 > len(late)


def test_frames_consumed_by_a_switch_are_not_shown_as_lost(traces):
    lines = Story(traces["tcp_path"], traces["tcp_path"].scenes[1]).lines()
    assert not [line for line in lines if line["kind"] == "loss" and "Reply" in line["text"]]


def test_a_large_fabric_is_drawn_without_the_hosts_that_take_no_part():
    fabric = Scenario.from_text(SCENARIO).set("fabric.hosts_per_leaf", 60).fabric()
    drawn = [node for node in stage(fabric, ("h0", "h100"))["nodes"] if node]
    assert {node["role"] for node in drawn} == {"source", "destination", "switch"}
    assert all(0 <= node["x"] <= 1000 and node["y"] >= 0 for node in drawn)


def test_it_can_be_stopped_and_leaves_no_page(tmp_path):
    scenario = tmp_path / "long.toml"
    scenario.write_text(SCENARIO.replace("60 ms", "200 s"))
    command = [sys.executable, "-m", "weft", "explore", str(scenario), "--flow", "90000"]
    command += ["-o", str(tmp_path / "page.html"), "--set", "scheme.name=tcp_path"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "TERM": "dumb"})
    until("the simulation is under way", lambda: cpu_s(running.pid) > 3)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, said
    assert "stopped" in said
    assert "Traceback" not in said
    assert not (tmp_path / "page.html").exists()
