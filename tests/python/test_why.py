"""`weft why` and `Results.why`: the causes of a flow's completion time."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from weft import Results, ResultsError, Scenario, ScenarioError
from weft.explanation import Explanation
from weft.one_run import Run

LOADED = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 4
rate = "1 Gbps"
queue = "20 packets"

[traffic]
sizes = "web-search"
clamp = "300 kB"
load = 0.9

[scheme]
name = "ecmp"

[run]
duration = "20 ms"
seeds = 2

[sweep]
"scheme.name" = ["ecmp", "spray"]
"traffic.load" = [0.3, 0.9]
"""


LINE = """
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"
delay = "10 us"

[scheme]
name = "ecmp"

[traffic]
flow_list = [{ src = "h0", dst = "h2", bytes = "1 kB" }]

[run]
duration = "3 s"
"""


@pytest.fixture(scope="module")
def loaded(made_once) -> Results:
    return Results(made_once("why", lambda out: Scenario.from_text(LOADED).run(out)))


def test_the_causes_of_a_flow_add_up_to_its_time_under_every_scheme(loaded, weft):
    flows = loaded.flows(measured=False).filter(pl.col("seed") == 2, pl.col("traffic_load") == 0.9)
    of_each = {(row["scheme"], row["flow"]): row for row in flows.iter_rows(named=True)}
    slow = flows.filter(pl.col("scheme") == "ecmp").sort("slowdown", descending=True, nulls_last=True)["flow"][0]
    answer = weft("why", loaded.path, "--flow", slow, "--seed", 2, "--set", "traffic.load=0.9", "--json")
    found = json.loads(answer.output)
    assert [one["scheme"] for one in found] == ["ecmp", "spray"]
    for one in found:
        row = of_each[one["scheme"], slow]
        assert (one["src"], one["dst"], one["bytes"]) == (row["src"], row["dst"], row["bytes"])
        assert sum(cause["ps"] for cause in one["sums"]) == one["fct_ps"] == row["fct_ps"]
        assert one["run"] == row["run"]
    table = weft("why", loaded.path, "--flow", slow, "--seed", 2, "--set", "traffic.load=0.9").output
    assert re.search(r"queueing +[lhs]\d->", table), table
    assert re.search(r"^all +.*slowdown.*slowdown", table, re.M), table
    assert table.count(" % of the flow's time.") == 2


def test_without_a_number_the_slowest_flow_of_the_chosen_runs_is_explained(loaded, weft):
    found = json.loads(weft("why", loaded.path, "--scheme", "spray", "--json").output)
    flows = loaded.flows().sort("slowdown", descending=True, nulls_last=True)
    assert [(one["run"], one["flow"]) for one in found] == [
        flows.filter(pl.col("scheme") == "spray").select("run", "flow").row(0)
    ]
    slowest = flows.row(0, named=True)
    of_each = json.loads(weft("why", loaded.path, "--json").output)
    assert [one["scheme"] for one in of_each] == ["ecmp", "spray"]
    assert {one["flow"] for one in of_each} == {slowest["flow"]}
    runs = {run.id: run for run in loaded.finished}
    assert {runs[one["run"]].seed for one in of_each} == {slowest["seed"]}
    assert slowest["run"] in {one["run"] for one in of_each}
    assert {runs[one["run"]].overrides["traffic.load"] for one in of_each} == {slowest["traffic_load"]}


def test_the_example_of_the_page_is_its_output(weft, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "why.md").read_text()
    scenario = re.search(r"^```toml\n(.*?)^```$", page, re.S | re.M)[1]
    example = re.search(r"^```\n(Flow .*?)^```$", page, re.S | re.M)[1].split("...\n")
    output = weft("why", Scenario.from_text(scenario).run(tmp_path / "mine").path).output
    lines = [line.rstrip() for line in output.splitlines()]
    for part in example:
        shown = part.splitlines()
        assert any(lines[at : at + len(shown)] == shown for at in range(len(lines))), output


def test_a_loss_names_the_packet_and_the_way_back(weft, tmp_path):
    for cut, lost, link, back in (
        ("45 us", "SYN+ACK", "l1->s0", True),
        ("5 us", "SYN", "s0->l1", False),
        ("100 us", "data", "s0->l1", False),
    ):
        text = LINE + f'[[event]]\nat = "{cut}"\nfail = "s0-l1"\n[[event]]\nat = "1 ms"\nheal = "s0-l1"\n'
        results = Scenario.from_text(text).run(tmp_path / lost)
        place = f"{link} on the way back" if back else link
        output = weft("why", results.path, "--flow", 0).output
        assert re.search(rf"^timeout, {re.escape(lost)} lost +{re.escape(place)} ", output, re.M), output
        assert f"Timeouts after a loss of {lost} at {place} took " in output


def test_python_has_the_causes_as_a_frame(loaded):
    one = loaded.why(3, scheme="spray", seed=2, at={"traffic.load": 0.9})
    assert (one.run.scheme, one.run.seed, one.flow) == ("spray", 2, 3)
    frame = one.frame()
    assert frame.columns == ["cause", "lost", "link", "direction", "time_s", "share"]
    assert frame["time_s"].sum() == pytest.approx(one.seconds) and frame["share"].sum() == pytest.approx(1.0)
    stored = loaded.flows(measured=False).filter(run=one.run.id, flow=3)
    assert one.slowdown == pytest.approx(stored["slowdown"][0])
    assert one.sentence().endswith(".")


def test_what_cannot_be_explained_is_named(loaded, weft, tmp_path):
    def refused(*arguments: object) -> str:
        answer = weft("why", loaded.path, *arguments)
        assert answer.exit_code == 2
        return answer.output

    assert "there is no flow 99999: flows are numbered 0 to " in refused("--flow", 99999)
    assert "no scheme `conga`" in refused("--scheme", "conga")
    assert "it has the seeds 1, 2 of ecmp" in refused("--seed", 9)
    assert "does not sweep `fabric.rate`: it sweeps scheme.name, traffic.load" in refused("--set", "fabric.rate=1")
    assert "--set takes KEY=VALUE, not `load`" in refused("--set", "load")
    other = tmp_path / "other.toml"
    other.write_text(LOADED + "\n")
    assert "its text is another" in refused("--flow", 1, "--scenario", other)
    with pytest.raises(ScenarioError, match="there is no flow 99999"):
        loaded.why(99999)


def test_a_missing_scenario_is_named_and_emulated_runs_are_called_emulated(loaded, weft, tmp_path):
    copy = Path(shutil.copytree(loaded.path, tmp_path / "copy"))
    (copy / "scenario.toml").unlink()
    without = weft("why", copy)
    assert without.exit_code == 2 and "emulated" not in without.output
    assert f"{copy / 'scenario.toml'} is missing, so no run can be simulated again" in without.output
    assert "put the file back, or run the scenario again" in without.output
    for run in Results(copy).finished:
        file = run.path / "summary.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"emulated": {}}))
    assert "has emulated runs" in weft("why", copy).output


def test_results_with_other_files_need_the_scenario(weft, tmp_path):
    (tmp_path / "flows.csv").write_text("start_s,src,dst,bytes\n0,h0,h4,20000\n0.000005,h1,h4,20000\n")
    text = LOADED.replace('sizes = "web-search"\nclamp = "300 kB"\nload = 0.9', 'trace = "flows.csv"')
    text = text.replace('"traffic.load" = [0.3, 0.9]\n', "")
    scenario = tmp_path / "mine.toml"
    scenario.write_text(text)
    results = Scenario.from_file(scenario).run(tmp_path / "results")
    with pytest.raises(ResultsError, match=r"names other files: flows\.csv"):
        results.why(1)
    one = results.why(1, scenario=scenario)
    assert one.blame is not None and one.data["dst"] == "h4"


def test_results_that_another_version_would_not_give_are_refused(loaded, tmp_path):

    copy = Path(shutil.copytree(loaded.path, tmp_path / "copy"))
    run = Results(copy).finished[0]
    file = run.path / "flows.parquet"
    rows = pl.read_parquet(file)
    rows.with_columns(end_ps=pl.col("end_ps") + 1).write_parquet(file)
    with pytest.raises(ResultsError, match="takes another time when its run is simulated again"):
        Results(copy).why(3, scheme=run.scheme, seed=run.seed)


def test_the_table_has_no_leftovers_one_form_of_shares_and_each_part_in_its_own_order(weft, loaded, monkeypatch):
    def explained(run: Run, times: dict[str, int]) -> Explanation:
        sums = [{"cause": c, "link": None, "ps": ps, "lost": None, "direction": None} for c, ps in times.items()]
        total = sum(times.values())
        data = {"flow": 1, "src": "h0", "dst": "h1", "bytes": 1, "class": "mouse", "sums": sums, "blame": None}
        return Explanation(run, data | {"parts": [{"to": total}], "fct_ps": total, "ideal_fct_ps": total})

    first, second = {"first": 6 * 10**9, "second": 3 * 10**9}, {"first": 10**9, "second": 8 * 10**9}
    many = {f"cause {at:02}": 10**9 for at in range(13)}
    found = iter([explained(run, times) for run, times in zip(loaded.finished, [first, second], strict=False)])
    monkeypatch.setattr("weft.explanation.explain", lambda *_, **__: [next(found)])
    shown = ("why", loaded.path, "--flow", 1, "--seed", 1, "--set", "traffic.load=0.3")
    monkeypatch.setenv("COLUMNS", "40")
    parts = weft(*shown).output
    rows = re.findall(r"^(first|second|all)", parts, re.M)
    assert rows == ["first", "second", "all", "second", "first", "all"], parts
    assert re.search(r"^first +6\.00 ms +66\.7 %$", parts, re.M), parts
    monkeypatch.setenv("COLUMNS", "120")
    tiny = {"first": 10**9, "moment": 1, "little": 30_000, "small": 500_000}
    found = iter([explained(loaded.finished[0], tiny), explained(loaded.finished[1], many)])
    table = weft(*shown).output
    assert "moment" not in table and "little" not in table
    assert re.search(r"^3 others +500 ns +<0\.1 % +2\.00 ms +15\.4 %$", table, re.M), table
    found = iter([explained(loaded.finished[0], many), explained(loaded.finished[1], many)])
    assert re.search(r"^1 other +1\.00 ms", weft(*shown).output, re.M)


def test_a_rank_of_a_ring_waits_for_the_rank_before(tmp_path, weft):
    ring = LINE.replace(
        'flow_list = [{ src = "h0", dst = "h2", bytes = "1 kB" }]',
        'collective = "all-gather"\nbytes = "40 kB"\ncompute = "1 ms"\nconnections = "persistent"',
    )
    Scenario.from_text(ring).run(tmp_path / "ring")
    assert Results(tmp_path / "ring").flows()["slowdown"].is_null().all()
    (found,) = json.loads(weft("why", tmp_path / "ring", "--json").output)
    assert sum(cause["ps"] for cause in found["sums"]) == found["fct_ps"]
    before = sum(cause["ps"] for cause in found["sums"] if cause["cause"] == "rank before")
    # Two of three parts wait for a computation, and for little else: 10 kB take 80 us.
    assert 2 * 900_000_000 < before <= found["fct_ps"]


def test_only_schemes_with_the_same_flow_are_side_by_side(tmp_path, weft):
    ring = LINE.replace(
        'flow_list = [{ src = "h0", dst = "h2", bytes = "1 kB" }]',
        'collective = "all-gather"\nbytes = "40 kB"',
    )
    ring += '\n[sweep]\n"traffic.connections" = ["per-message", "persistent"]\n'
    Scenario.from_text(ring).run(tmp_path / "rings")
    rings = Results(tmp_path / "rings")
    counts = rings.flows().group_by("run").len()["len"].to_list()
    assert sorted(counts) == [4, 12]
    # The one with the largest slowdown is a message; the flows of open connections have none.
    for arguments in ([], ["--flow", 1], ["--flow", 11]):
        answer = weft("why", rings.path, *arguments)
        assert answer.exit_code == 0, answer.output
        assert "Left out, as flow " in answer.output
        assert "persistent" in answer.output.split("Left out")[1]
    assert "there is no flow 12: flows are numbered 0 to 11" in weft("why", rings.path, "--flow", 12).output
