"""Results measured on a real network, from handwritten records: table, report and figures as for a simulation."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import weft as api
from tiny import TINY
from weft import _weft, paths
from weft.results import Results
from weft.summary import summarise

EVENT = '\n[[event]]\nat = "2 ms"\nfail = "l0-s0"\n'
"""An event for every run."""
TEXT = TINY.replace("[sweep]", f"{EVENT}[sweep]").replace('["ecmp", "spray"]', '["ecmp", "tcp_path"]')


def given(point_id: str) -> tuple[str, str, str, list[str], str]:
    return TEXT, "tiny.toml", ".", [], point_id


def records(point_id: str, factor: float = 1.0) -> list[dict]:
    """Records of flows that all took 1 ms times `factor`, the first with a loss, the last unfinished."""
    lines = []
    for flow in json.loads(_weft.plan(*given(point_id)))["flows"]:
        start = flow["start_ps"] + 2_000_000
        end = start + round(1e9 * factor)
        times = {"flow": flow["flow"], "start_ps": start, "established_ps": start + 1, "end_ps": end}
        counts = {"packets_sent": 21, "retransmissions": 0, "timeouts": 0, "out_of_order": 1, "segments_received": 21}
        lines.append(times | counts | {"ecn_marks": 0, "error": None})
    lines[0] |= {"packets_sent": 22, "retransmissions": 1}
    lines[-1] |= {"end_ps": None, "error": "the run's time limit was reached"}
    return lines


def write(directory: Path, out: Path, point_id: str, lines: list[dict], observed: dict) -> None:
    (directory / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (directory / "observed.json").write_text(json.dumps(observed))
    files = (str(directory / "records.jsonl"), str(directory / "observed.json"))
    _weft.write_emulated(*given(point_id), str(out), *files)


def observed(point_id: str) -> dict:
    plan = json.loads(_weft.plan(*given(point_id)))
    ends = [(cable["a"]["node"], cable["b"]["node"]) for cable in plan["links"]]
    links = [
        {"from": a, "to": b, "bytes": 10_000, "packets": 10, "drops": 1} for x, y in ends for a, b in ((x, y), (y, x))
    ]
    series = [{"time_ps": 10**9, "metric": "link_utilisation", "entity": f"{a}->{b}", "value": 0.5} for a, b in ends]
    return {"links": links, "series": series, "switches": {}, "events": [], "versions": {"kernel": "6.18"}}


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All runs of `TEXT`, the second scheme's flows twice as long."""
    directory = tmp_path_factory.mktemp("emulated")
    out = directory / "results"
    for point in api.Scenario.from_text(TEXT).points():
        factor = 2.0 if "tcp_path" in point.label else 1.0
        write(directory, out, point.id, records(point.id, factor), observed(point.id))
    return Results(out)


def test_the_table_has_what_is_known_and_nothing_for_what_is_not(emulated):
    rows = {str(row.group["scheme"]): row for row in summarise(emulated).rows}
    assert rows["ecmp"].estimates["mean_fct_s"].mean == pytest.approx(0.001)
    assert rows["tcp_path"].estimates["mean_fct_s"].mean == pytest.approx(0.002)
    assert rows["ecmp"].estimates["retransmissions"].mean == 1
    assert rows["ecmp"].estimates["out_of_order_share"] is None
    assert rows["ecmp"].estimates["drops"] is None, "the unfinished flow may have lost any number"
    assert rows["ecmp"].finished == rows["ecmp"].flows - 2, "one per seed"


def test_flows_are_those_of_a_simulation(emulated, tmp_path):
    keys = ["seed", "scheme", "flow"]
    same = ["src", "dst", "sport", "dport", "class", "dscp", "bytes", "start_ps", "ideal_fct_ps", "measured", "hops"]
    simulated = api.Scenario.from_text(TEXT).run(tmp_path / "simulated", jobs=1)
    ours, theirs = (results.flows(measured=False).sort(keys) for results in (emulated, simulated))
    assert ours.select(*keys, *same).equals(theirs.select(*keys, *same))
    assert ours.columns == theirs.columns
    assert ours.height > 40


@pytest.mark.parametrize("command", [("summary",), ("summary", "--json"), ("report",), ("plot",)])
def test_the_commands_take_emulated_results(weft, emulated, command):
    result = weft(command[0], emulated.path, *command[1:])
    assert result.exit_code == 0, result.output
    if command == ("summary", "--json"):
        metrics = json.loads(result.stdout)["rows"][0]["metrics"]
        assert metrics["out_of_order_share"]["mean"] is None
        assert metrics["mean_fct_s"]["mean"] == pytest.approx(0.001)
    if command == ("report",):
        page = (emulated.path / "report.html").read_text()
        assert "NaN" not in page.split("<script")[0]
        assert "None" not in page.split("<script")[0]


def test_nothing_is_said_of_floods_and_costs_that_nobody_counted(emulated):
    assert paths.choices(emulated) == []
    events = paths.events(emulated)
    assert {row.event for row in events} == {"0.002 s: fail l0-s0"}
    assert all(value is None for row in events for value in row.estimates.values())


def test_explorations_that_switches_saw_are_shown_without_floods(tmp_path):
    point = next(p for p in api.Scenario.from_text(TEXT).points() if "tcp_path" in p.label)
    flows = json.loads(_weft.plan(*given(point.id)))["flows"]
    seen = observed(point.id)
    seen["flows"] = [
        {"flow": f["flow"], "exploration_ps": 5 * 10**8, "moves": 0, "path": ["l0", "s1", "l1"]} for f in flows
    ]
    seen["series"] += [{"time_ps": t * 10**9, "metric": "flow_entries", "entity": "l0", "value": 8.0} for t in (1, 3)]
    write(tmp_path, tmp_path / "out", point.id, records(point.id), seen)
    (row,) = paths.choices(Results(tmp_path / "out"))
    assert row.estimates["exploration_s"].mean == pytest.approx(5e-4)
    assert row.estimates["explored"].mean == len(flows)
    assert row.estimates["exploration_share"] is None
    assert row.estimates["flow_entries"].mean == pytest.approx(8 / 4), "at the two of four times that have samples"


def test_a_sweep_that_was_stopped_goes_on_with_what_is_missing(tmp_path):
    points = api.Scenario.from_text(TEXT).points()
    out = tmp_path / "out"
    opened = (TEXT, "tiny.toml", ".", [], str(out))
    assert json.loads(_weft.open_emulated(*opened)) == []
    write(tmp_path, out, points[0].id, records(points[0].id), observed(points[0].id))
    assert json.loads(_weft.open_emulated(*opened)) == [points[0].id]
    results = Results(out)
    assert ([run.id for run in results.finished], len(results.runs)) == ([points[0].id], 4)
    with pytest.raises(OSError, match="already exists"):
        write(tmp_path, out, points[0].id, records(points[0].id), {})


def test_what_is_wrong_is_said_with_file_and_place(tmp_path):
    point = api.Scenario.from_text(TEXT).points()[0]
    with pytest.raises(ValueError, match=r"records\.jsonl, line 1: .*flow 777"):
        write(tmp_path, tmp_path / "out", point.id, [{"flow": 777}], {})
    with pytest.raises(ValueError, match=r"observed\.json: links\[0\]: .*`l0->h9`"):
        write(tmp_path, tmp_path / "out", point.id, [], {"links": [{"from": "l0", "to": "h9"}]})
    api.Scenario.from_text(TEXT).run(tmp_path / "simulated", jobs=1)
    with pytest.raises(api.ScenarioError, match="holds simulated results, but this run is emulated"):
        write(tmp_path, tmp_path / "simulated", point.id, [], {})


def test_a_simulation_says_nothing_of_emulation(engine_results):
    assert all("emulated" not in summary for summary in engine_results.summaries())
    assert "emulated" not in json.loads((engine_results.path / "sweep.json").read_text())
    assert engine_results.flows()["drops"].null_count() == 0
    assert isinstance(engine_results.flows(), pl.DataFrame)
