"""`weft export --format perfetto`: time lines of hosts."""

from __future__ import annotations

import json
from itertools import pairwise

from typer.testing import CliRunner

from weft import Scenario
from weft.cli import app
from weft.perfetto import lanes, trace

SCENARIO = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"

[[traffic]]
collective = "all-to-all"
bytes = "40 kB"

[scheme]
name = "ecmp"

[[event]]
at = "50 us"
fail = "l0-s0"

[run]
duration = "10 ms"
"""


def test_spans_that_overlap_are_in_different_lanes_and_a_free_lane_is_used_again():
    assert lanes([(0, 10), (2, 5), (5, 8), (6, 7), (10, 12), (10, 11)]) == [0, 1, 1, 2, 0, 1]


def test_every_finished_flow_is_a_slice_of_its_source_that_overlaps_no_other_of_its_lane(tmp_path):
    results = Scenario.from_text(SCENARIO).run(tmp_path / "results", jobs=1)
    (run,) = results.finished
    events = json.loads(trace(results, run))["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    slices = [event for event in events if event["ph"] == "X" and names[event["pid"]].startswith("h")]
    flows = results.flows(measured=False)
    assert len(slices) == len(flows) == 12
    for flow in flows.iter_rows(named=True):
        (own,) = (event for event in slices if event["args"]["flow"] == flow["flow"])
        assert names[own["pid"]] == flow["src"] and own["name"].startswith(f"to {flow['dst']}, 10.0 kB")
        assert (round(own["ts"] * 1e6), round(own["dur"] * 1e6)) == (flow["start_ps"], flow["fct_ps"])
    for one in slices:
        for other in slices:
            if one is not other and (one["pid"], one["tid"]) == (other["pid"], other["tid"]):
                assert one["ts"] + one["dur"] <= other["ts"] or other["ts"] + other["dur"] <= one["ts"]


def test_rounds_that_overlap_have_lanes_with_names_in_a_process_of_their_own(tmp_path):
    rounds = SCENARIO.replace(
        'collective = "all-to-all"\nbytes = "40 kB"', 'collective = "ring-all-reduce"\nbytes = "400 kB"\nrepeats = 3'
    )
    text = rounds + '[transport]\nprotocol = "uec"\n' + '[[traffic]]\ncollective = "broadcast"\nbytes = "40 kB"\n'
    results = Scenario.from_text(text).run(tmp_path / "results", jobs=1)
    (run,) = results.finished
    spans = sorted((one["start_ps"], one["start_ps"] + one["completion_ps"]) for one in run.summary()["collectives"])
    assert any(first[1] > second[0] for first, second in pairwise(spans))
    events = json.loads(trace(results, run))["traceEvents"]
    named = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X" and (event["pid"], event["tid"]) in named]
    assert len(slices) == len(spans) == 4
    times = {}
    for one in slices:
        times.setdefault((one["pid"], one["tid"]), []).append((one["ts"], one["ts"] + one["dur"]))
    for of_lane in times.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(of_lane))


def test_collectives_and_failures_have_processes_of_their_own(tmp_path):
    results = Scenario.from_text(SCENARIO).run(tmp_path / "results", jobs=1)
    (run,) = results.finished
    out = tmp_path / "trace.json"
    ended = CliRunner().invoke(app, ["export", str(results.path), "--format", "perfetto", "-o", str(out)])
    assert ended.exit_code == 0, ended.output
    events = json.loads(out.read_text())["traceEvents"]
    (entry,) = run.summary()["collectives"]
    (round_,) = (event for event in events if event["ph"] == "X" and event["name"] == "all-to-all, round 1")
    assert round(round_["dur"] * 1e6) == entry["completion_ps"] and round_["args"]["bound_by"] == entry["bound_by"]
    (failure,) = (event for event in events if event["ph"] == "i")
    assert (failure["ts"], failure["name"]) == (50.0, "fail l0-s0")
