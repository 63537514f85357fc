"""Where the time of rounds and traces went: frames, files and Perfetto."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from weft import Results, Scenario, _weft, critical_path, paths, quantity, report
from weft.cli import critical_path as shown_critical_path
from weft.communication import Communication
from weft.critical_path import waits
from weft.explanation import explain
from weft.labels import plural
from weft.perfetto import trace

TABLES = json.loads(_weft.result_tables())
TRACE = """
num_ranks 4
rank 0 { a: calc 50000 s: send 12288b to 2 s requires a r: recv 12288b from 2 }
rank 1 { }
rank 2 { r: recv 12288b from 0 b: calc 20000 b requires r s: send 12288b to 0 s requires b c: calc 30000 c requires b }
rank 3 { calc 10000 }
"""
SCENARIO = """
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"

[[traffic]]
trace = "step.goal"

[transport]
protocol = "uec"

[scheme]
name = "ecmp"

[run]
duration = "10 ms"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("steps")
    (folder / "step.goal").write_text(TRACE)
    (folder / "step.toml").write_text(SCENARIO)
    return Scenario.from_file(folder / "step.toml").run(folder / "results", jobs=1)


@pytest.mark.parametrize(
    ("name", "method"), [("work", "work"), ("ranks", "rank_times"), ("critical_path", "critical_path")]
)
def test_the_files_have_the_declared_columns(results, name, method):
    stored = pl.read_parquet(results.finished[0].path / f"{name}.parquet")
    kinds = {"text": pl.Categorical, "int32": pl.Int32, "int64": pl.Int64}
    assert dict(stored.schema) == {column["name"]: kinds[column["kind"]] for column in TABLES[name]}
    optional = {column["name"] for column in TABLES[name] if column["or_null"]}
    assert {column.name for column in stored if column.null_count()} <= optional
    frame = getattr(results, method)()
    assert frame.columns == ["run", "scheme", "seed", "point", *stored.columns] and len(frame) == len(stored)


RING = """
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"

[traffic]
collective = "ring-all-reduce"
bytes = "40 kB"
compute = "20 us"
connections = "{}"
repeats = 2

[transport]
protocol = "uec"

[measure]
ring_steps = {}

[scheme]
name = "ecmp"

[run]
duration = "100 ms"
"""


def test_a_ring_in_parts_has_the_times_of_its_steps(tmp_path):
    results = Scenario.from_text(RING.format("persistent", "true")).run(tmp_path / "parts", jobs=1)
    stored = pl.read_parquet(results.finished[0].path / "ring_steps.parquet")
    assert stored.columns == [column["name"] for column in TABLES["ring_steps"]]
    steps, jobs = results.ring_steps(), results.steps()
    # Four ranks, six steps, two rounds.
    assert len(steps) == 2 * 4 * 6 and set(steps["bytes"]) == {10_000}
    flows = results.flows(measured=False)
    assert dict(steps.group_by("flow").agg(pl.max("end_ps")).iter_rows()) == dict(flows["flow", "end_ps"].iter_rows())
    ends = {(row["job"], row["host"], row["step"]): row["end_ps"] for row in steps.iter_rows(named=True)}
    starts = dict(flows["flow", "start_ps"].iter_rows())
    for row in steps.iter_rows(named=True):
        before = f"h{(int(row['host'][1:]) - 1) % 4}"
        first = starts[row["flow"]]
        expected = first if row["step"] == 1 else ends[row["job"], before, row["step"] - 1] + 20_000_000
        assert row["start_ps"] == expected < row["end_ps"]
    last = steps.group_by("job", maintain_order=True).agg(pl.max("end_ps"))["end_ps"]
    assert (last == jobs["start_ps"] + jobs["completion_ps"]).all()
    # The same ring with a flow for each step takes its steps at the same times: alone on the fabric, all are alike.
    single = Scenario.from_text(RING.format("per-message", "true")).run(tmp_path / "flows", jobs=1)
    assert single.ring_steps().is_empty() and not (single.finished[0].path / "ring_steps.parquet").exists()
    each = single.flows(measured=False).sort("end_ps")["end_ps"]
    assert steps.sort("end_ps")["end_ps"].to_numpy() == pytest.approx(each.to_numpy(), rel=0.02)


def test_steps_of_rings_are_not_recorded_unless_asked_for(tmp_path):
    results = Scenario.from_text(RING.format("persistent", "false")).run(tmp_path / "parts", jobs=1)
    assert not (results.finished[0].path / "ring_steps.parquet").exists() and results.ring_steps().is_empty()


def test_the_parts_of_a_trace_add_up_to_its_time(results):
    (step,) = results.steps().iter_rows(named=True)
    assert step["kind"] == "trace" and step["time_s"] == pytest.approx(step["completion_ps"] / 1e12)
    flows = results.flows()
    network = flows["fct_ps"].sum()
    assert (flows["fct_ps"] == flows["ideal_fct_ps"]).all()
    assert (step["path_compute_ps"], step["path_network_ps"], step["completion_ps"]) == (70e6, network, 70e6 + network)
    path = results.critical_path()
    assert path["part"].to_list() == ["compute", "network", "compute", "network"]
    assert path["flow"].to_list() == [None, 0, None, 1] and path["host"].to_list() == ["h0", "h0", "h2", "h2"]
    ranks = results.rank_times()
    assert set(ranks["compute_ps"] + ranks["exposed_ps"] + ranks["idle_ps"]) == {step["completion_ps"]}
    assert dict(ranks.select("host", "compute_ps").iter_rows()) == {"h0": 50e6, "h2": 50e6, "h3": 10e6}
    assert step["ranks_compute_ps"] == pytest.approx(ranks["compute_ps"].mean())
    assert step["longest_exposed_ps"] == ranks["exposed_ps"].max()


def test_the_time_of_a_round_is_divided_without_processors(tmp_path):
    text = SCENARIO.replace('trace = "step.goal"', 'collective = "all-to-all"\nbytes = "40 kB"\nrepeats = 2')
    results = Scenario.from_text(text).run(tmp_path / "results", jobs=1)
    steps = results.steps()
    assert steps["round"].to_list() == [1, 2] and steps["bus_bps"].min() > 0
    parts = [name for name in steps.columns if name.startswith("path_")]
    assert (steps.select(pl.sum_horizontal(parts)).to_series() == steps["completion_ps"]).all()
    assert steps["ranks_compute_ps"].to_list() == [0.0, 0.0]
    assert not (results.finished[0].path / "work.parquet").exists()
    assert results.work().is_empty() and results.work().columns == [
        "run", "scheme", "seed", "point", *(column["name"] for column in TABLES["work"])
    ]  # fmt: skip


def test_results_of_other_traffic_have_no_such_files(engine_results):
    names = {path.name for path in engine_results.finished[0].path.iterdir()}
    assert names == {"flows.parquet", "series.parquet", "summary.json", "scenario.toml"}
    assert engine_results.steps().is_empty() and engine_results.rank_times().is_empty()


def test_perfetto_shows_the_steps_of_processors(results):
    (run,) = results.finished
    events = json.loads(trace(results, run))["traceEvents"]
    hosts = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    work = [event for event in events if event["ph"] == "X" and "step" in event["args"]]
    assert [(hosts[one["pid"]], one["ts"], one["dur"]) for one in work if hosts[one["pid"]] in ("h0", "h3")] == [
        ("h0", 0.0, 50.0), ("h3", 0.0, 10.0)
    ]  # fmt: skip
    lanes = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {lanes[one["pid"], one["tid"]].split()[0] for one in work} == {"compute"}


def test_the_summary_has_the_exposed_communication_where_processors_compute(results, tmp_path):
    (row,) = paths.collectives(results)
    (step,) = results.steps().iter_rows(named=True)
    assert row.estimates["exposed_s"].mean == pytest.approx(step["ranks_exposed_ps"] / 1e12)
    assert row.estimates["path_compute_s"].mean == pytest.approx(70e-6)
    assert row.estimates["bus_bps"] is None
    text = SCENARIO.replace('trace = "step.goal"', 'collective = "all-to-all"\nbytes = "40 kB"\nrepeats = 2')
    other = Scenario.from_text(text).run(tmp_path / "results", jobs=1)
    (row,) = paths.collectives(other)
    assert row.estimates["exposed_s"] is None, "all of it is exposed"
    assert row.estimates["bus_bps"].mean == pytest.approx(other.steps()["bus_bps"].mean())


def test_why_divides_the_time_of_a_round_and_names_the_links_to_blame(weft, tmp_path):
    text = SCENARIO.replace('trace = "step.goal"', 'collective = "all-to-all"\nbytes = "400 kB"\nrepeats = 2')
    results = Scenario.from_text(text).run(tmp_path / "results", jobs=1)
    (found,) = json.loads(weft("why", results.path, "--critical-path", "--job", 1, "--json").output)
    step = results.steps().row(1, named=True)
    assert found["completion_ps"] == step["completion_ps"] == sum(found["parts"].values())
    queued = results.critical_path().filter(pl.col("job") == 1, pl.col("part") == "queueing")
    assert found["flows_explained"] == found["flows_queued"] == queued["flow"].n_unique() > 0
    (run,) = results.finished
    # Each message has its queueing, at links and elsewhere.
    messages = {one["flow"]: one for one in found["communications"]}
    times = queued.group_by("flow").agg((pl.col("end_ps") - pl.col("start_ps")).sum())
    assert {flow: one["queueing_s"] * 1e12 for flow, one in messages.items()} == pytest.approx(dict(times.iter_rows()))
    blamed: dict[str, float] = {}
    for flow, message in messages.items():
        assert sum(one["time_s"] for one in message["links"]) <= message["queueing_s"] * (1 + 1e-9)
        waited = {cause.place for cause in results.why(flow).causes if cause.link}
        assert {one["link"] for one in message["links"]} <= waited
        for one in message["links"]:
            blamed[one["link"]] = blamed.get(one["link"], 0.0) + one["time_s"]
    assert {one["link"]: one["time_s"] for one in found["links"]} == pytest.approx(blamed)
    total = sum(blamed.values()) + found["at_no_link_s"]
    assert total * 1e12 == pytest.approx(found["parts"]["queueing_ps"]) and found["not_explained_s"] == 0
    shown = weft("why", results.path, "--critical-path", "--job", 1).output
    assert f"Critical path of all-to-all, round 2, 4 ranks: seed {run.seed}" in shown
    assert f"longest at {found['links'][0]['link']}" in shown
    longest = json.loads(weft("why", results.path, "--critical-path", "--json").output)[0]["completion_ps"]
    assert longest == results.steps()["completion_ps"].max()


SLOW = """
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 2
hosts_per_leaf = 4
rate = "10 Gbps"
queue = "2 MB"

[traffic]
{traffic}

[[event]]
at = "0 s"
change = "l0-s0"
rate = "1 Gbps"

[scheme]
name = "ecmp"

[transport]
protocol = "{protocol}"

[run]
duration = "1 s"
"""


@pytest.mark.parametrize("protocol", ["tcp", "roce"])
def test_a_slow_link_is_named_with_the_time_that_it_costs(weft, tmp_path, protocol):
    traffic = 'collective = "pipeline"\nchunks = 1\nbytes = "4 MB"\nranks = ["h0", "h4"]'
    text = SLOW.format(traffic=traffic, protocol=protocol)
    if protocol == "tcp":
        text = text.replace('[transport]\nprotocol = "tcp"\n', "")
    results = Scenario.from_text(text).run(tmp_path / "slow", jobs=1)
    (found,) = json.loads(weft("why", results.path, "--critical-path", "--json").output)
    # Packets arrive at 1 Gbps; alone, at ten times that.
    flow = results.flows().row(0, named=True)
    costs = (flow["fct_ps"] - flow["ideal_fct_ps"]) / 1e12
    assert costs == pytest.approx(0.9 * 4e6 * 8 / 1e9, rel=0.15)
    first = found["links"][0]
    assert first["link"] == "l0->s0" and first["time_s"] == pytest.approx(costs, rel=0.02)
    (message,) = found["communications"]
    assert (message["src"], message["dst"], message["followed"]) == ("h0", "h4", True)
    assert message["links"][0] == first and message["queueing_s"] == pytest.approx(costs)
    shown = " ".join(weft("why", results.path, "--critical-path").output.split())
    assert "Message Queueing Longest at flow 0, h0 to h4" in shown


def test_messages_that_are_not_followed_are_named_with_the_most_used_link(weft, tmp_path, monkeypatch):
    ring = 'collective = "all-gather"\nbytes = "1 MB"\nconnections = "per-message"\nranks = ["h0", "h4", "h5", "h1"]'
    results = Scenario.from_text(SLOW.format(traffic=ring, protocol="roce")).run(tmp_path / "results", jobs=1)
    (run,) = results.finished
    queued = waits(run, 0)
    assert len(queued) > 1 and queued["queueing_ps"].is_sorted(descending=True)
    # There is room for the longest one only.
    monkeypatch.setattr(critical_path, "MOST_FLOWS", 1)
    (found,) = json.loads(weft("why", results.path, "--critical-path", "--job", 0, "--json").output)
    assert [one["followed"] for one in found["communications"]] == [True] + [False] * (len(queued) - 1)
    rest = [one for one in found["communications"] if not one["followed"]]
    assert found["not_explained_s"] == pytest.approx(sum(one["queueing_s"] for one in rest))
    assert all(one["most_used"].split("->")[0] and not one["links"] for one in rest)
    shown = " ".join(weft("why", results.path, "--critical-path", "--job", 0).output.split())
    assert f"not followed; most used: {rest[0]['most_used']}" in shown and "not explained" in shown
    assert f"Not followed: {plural(len(rest), 'message')}, with " in shown
    assert f"more than {critical_path.MOST_PACKETS:,} packets is not followed" in shown


def test_messages_of_too_many_packets_or_too_little_queueing_are_not_followed(monkeypatch):
    queued = pl.DataFrame(
        {
            "flow": [0, 1, 2, 3],
            "queueing_ps": [5000, 4000, 3000, 0],
            "packets": [900_001, 900_001, 900_000, 1],
            "is_in_parts": [False, True, False, False],
        }
    )
    assert critical_path._followed(queued, 10_000) == [1, 2]
    assert critical_path._followed(queued, 100_000_000) == []
    monkeypatch.setattr(critical_path, "MOST_FLOWS", 1)
    assert critical_path._followed(queued, 10_000) == [1]


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({}, "no link"),
        ({"a->b": 0.0004}, "no link"),
        ({"a->b": 0.06, "b->c": 0.03, "c->d": 0.01}, "a->b 60.0 ms, 60.0 %; b->c 30.0 ms, 30.0 %"),
        ({f"a{n}->b": 0.0009 for n in range(100)}, "100 links, each below 1 %: 90.0 ms, 90.0 %"),
    ],
)
def test_a_message_that_queues_at_many_links_says_how_many_share_its_queueing(links, expected):
    message = Communication(0, "a", "d", 0.1, links, None, is_followed=True)
    assert shown_critical_path._places(message) == expected


def test_a_ring_in_parts_blames_the_links_of_the_ranks_before(weft, tmp_path):
    traffic = 'collective = "all-gather"\nbytes = "4 MB"\nconnections = "persistent"\nranks = ["h0", "h4", "h5", "h1"]'
    results = Scenario.from_text(SLOW.format(traffic=traffic, protocol="roce")).run(tmp_path / "ring", jobs=1)
    (run,) = results.finished
    flows = results.flows()
    # The flow within the other leaf: its rank waits for the one behind the slow link.
    flow = flows.filter(pl.col("src") == "h4")["flow"].item()
    (alone,), (around,) = (explain(results, run, [flow], on_path=on_path) for on_path in (None, {}))
    waiting = {cause.name: cause.seconds for cause in alone.causes}["rank before"]
    assert waiting > 0.8 * alone.seconds and around.seconds == alone.seconds
    times = {(cause.name, cause.link): cause.seconds for cause in around.causes}
    assert times.get(("rank before", None), 0.0) < 0.01 * waiting
    at_slow = sum(seconds for (_, link), seconds in times.items() if link in ("l0->s0", "s0->l0"))
    assert 0.9 * waiting < at_slow < waiting, "in the rest, the rank before sent at its rate"
    assert sum(times.values()) == pytest.approx(alone.seconds)
    (found,) = json.loads(weft("why", results.path, "--critical-path", "--json").output)
    slow = [one for one in found["links"] if one["link"].removesuffix(" on the way back") in ("l0->s0", "s0->l0")]
    assert sum(one["time_s"] for one in slow) == pytest.approx(found["parts"]["queueing_ps"] / 1e12, rel=0.05)


SERVERS = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "100 Gbps"
scale_up = 2
scale_up_rate = "1000 Gbps"

[traffic]
collective = "ring-all-reduce"
bytes = "8 MB"
{traffic}
[scheme]
name = "ecmp"

[transport]
protocol = "uec"

[run]
duration = "1 s"
"""
"""A ring through servers on an idle fabric."""


def test_on_an_idle_fabric_a_ring_through_servers_does_not_queue(weft, tmp_path):
    results = Scenario.from_text(SERVERS.format(traffic="")).run(tmp_path / "ring", jobs=1)
    (round_,) = results.steps().iter_rows(named=True)
    # Two of the four ranks send to another server, at a tenth of the rate. Their links carry six parts of 2 MB each.
    carried = 6 * 2e6 * 8 / 100e9
    assert carried < round_["path_network_ps"] / 1e12 < 1.1 * carried
    assert round_["path_queueing_ps"] < 0.01 * round_["completion_ps"]
    (found,) = json.loads(weft("why", results.path, "--critical-path", "--json").output)
    assert sum(found["parts"].values()) == found["completion_ps"]
    assert found["not_explained_s"] < 0.0005 * round_["completion_ps"] / 1e12


def test_the_path_of_a_ring_begins_at_the_rank_that_starts_last(weft, tmp_path):
    results = Scenario.from_text(SERVERS.format(traffic='jitter = "50 ms"\n')).run(tmp_path / "ring", jobs=1)
    (round_,) = results.steps().iter_rows(named=True)
    starts = results.flows()["start_ps"]
    assert round_["path_delayed_start_ps"] == starts.max() - starts.min() > 10 * round_["path_network_ps"]
    assert round_["path_queueing_ps"] < 0.01 * round_["path_network_ps"]
    (found,) = json.loads(weft("why", results.path, "--critical-path", "--json").output)
    assert sum(found["parts"].values()) == found["completion_ps"]


def test_a_path_that_is_not_there_is_refused(weft, results, engine_results):
    def refused(*arguments: object) -> str:
        answer = weft("why", *arguments)
        assert answer.exit_code == 2
        return " ".join(answer.output.split())

    assert "has no job 7: its jobs are numbered 0 to 0" in refused(results.path, "--critical-path", "--job", 7)
    assert "not a flow try: leave out --flow" in refused(results.path, "--critical-path", "--flow", 0)
    assert "try: add --critical-path" in refused(results.path, "--job", 0)
    assert "only these have a critical path" in refused(engine_results.path, "--critical-path")


def links_to_blame(page: str) -> tuple[list[list[str]], str]:
    """The rows of the report's table of links, and the note below it."""
    section = page.split('id="step-time"')[1].split("</section>")[0]
    table = section.partition('id="step-links"')[2].partition("</table>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in table.split("<tr>")[2:]]
    (note,) = re.findall(r'id="step-links-note">([^<]*)<', section) or [""]
    return [[unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in rows], unescape(note)


def test_the_report_shows_the_critical_path_and_the_links_that_why_finds(weft, tmp_path):
    text = SCENARIO.replace('trace = "step.goal"', 'collective = "all-to-all"\nbytes = "400 kB"')
    text += '[sweep]\n"scheme.name" = ["ecmp", "spray"]\n'
    results = Scenario.from_text(text.replace('[scheme]\nname = "ecmp"\n', "")).run(tmp_path / "results", jobs=1)
    page = report(results, tmp_path / "report.html").read_text()
    section = page.split('id="step-time"')[1].split("</section>")[0]
    rows, note = links_to_blame(page)
    assert note == ""
    found = json.loads(weft("why", results.path, "--critical-path", "--json").output)
    assert len(found) == 2
    for path in found:
        own = [row[1:] for row in rows if row[0] == path["scheme"]]
        took, links = path["completion_ps"] / 1e12, path["links"]
        shown = [(one["link"], one["time_s"]) for one in links[:5]]
        assert own[: len(shown)] == [
            [link, quantity.seconds(time), quantity.of_whole(time / took)] for link, time in shown
        ]
        assert [row[0] for row in own[len(shown) :] if row[0] != "at no link"] == [
            plural(len(links) - 5, "other") for _ in range(len(links) > 5)
        ]
    assert all(re.fullmatch(r"(\d+\.\d|<0\.1) %", row[-1]) for row in rows), rows
    growths = [float(part) for part in re.findall(r"flex-grow:([\d.]+)", section)]
    assert len(growths) >= 2 and sum(growths) == pytest.approx(2.0, abs=1e-4)


def test_a_report_that_repeats_no_run_blames_no_link_and_says_why(weft, tmp_path):
    text = SCENARIO.replace('trace = "step.goal"', 'collective = "all-to-all"\nbytes = "400 kB"')
    folder = Scenario.from_text(text).run(tmp_path / "results", jobs=1).path
    command = f"weft why {folder} --critical-path"

    def shown(*options: str) -> tuple[list[list[str]], str]:
        assert weft("report", folder, *options).exit_code == 0
        return links_to_blame((folder / "report.html").read_text())

    assert shown("--no-why") == ([], f"The runs were not simulated again (--no-why): {command} finds the links.")
    times = folder / "performance.json"
    times.write_text(json.dumps([one | {"cpu_seconds": 14} for one in json.loads(times.read_text())]))
    rows, note = shown()
    assert rows == [] and note == (
        "The links of 0 of 1 run are known: the others may take over 20 s of CPU time. "
        f"weft report {folder} --why or {command} finds them."
    )
    rows, note = shown("--why")
    assert rows and note == ""
    (folder / "scenario.toml").unlink()
    rows, note = shown("--why")
    assert rows == [] and "scenario.toml is missing, so no run can be simulated again" in note


def test_a_report_on_a_trace_names_the_command_that_needs_its_scenario(results, tmp_path):
    rows, note = links_to_blame(report(results, tmp_path / "report.html").read_text())
    command = f"weft why {results.path} --critical-path --scenario SCENARIO"
    assert rows == [] and note == f"The scenario names other files: {command} finds the links."


def test_a_report_without_rounds_has_no_such_section(engine_results, tmp_path):
    assert 'id="step-time"' not in report(engine_results, tmp_path / "report.html").read_text()


def test_the_example_of_the_page_is_its_output(weft, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "why.md").read_text().split("## Critical path of a round")[1]
    scenario = re.search(r"^```toml\n(.*?)^```$", page, re.S | re.M)[1]
    example = re.search(r"^```\n(Critical .*?)^```$", page, re.S | re.M)[1].split("...\n")
    output = weft("why", Scenario.from_text(scenario).run(tmp_path / "ring").path, "--critical-path").output
    lines = [line.rstrip() for line in output.splitlines()]
    for part in example:
        shown = part.splitlines()
        assert any(lines[at : at + len(shown)] == shown for at in range(len(lines))), output


def test_the_path_of_a_ring_in_parts_is_that_of_its_steps(tmp_path):
    ring = SCENARIO.replace(
        'trace = "step.goal"', 'collective = "reduce-scatter"\nbytes = "40 kB"\ncompute = "20 us"\nconnections = "{}"'
    )
    found = {}
    for connections in ("persistent", "per-message"):
        results = Scenario.from_text(ring.format(connections)).run(tmp_path / connections, jobs=1)
        (found[connections],) = results.steps().iter_rows(named=True)
    # Three steps of 10 kB, with a computation between them.
    parts = [name for name in found["persistent"] if name.startswith("path_")]
    in_parts, steps = ([one[name] for name in parts] for one in found.values())
    assert in_parts == steps and found["persistent"]["path_delay_ps"] == 2 * 20_000_000
    assert found["persistent"]["path_network_ps"] > 3 * 80_000_000
