"""Where the time of rounds and traces went: frames, files and Perfetto."""

from __future__ import annotations

import json

import polars as pl
import pytest

from weft import Results, Scenario, _weft, paths
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
