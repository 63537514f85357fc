"""The cost of a scenario before it runs, and quick runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tiny import TINY
from weft import estimate as estimating
from weft import quick
from weft.errors import ScenarioError
from weft.estimate import Estimate, estimate
from weft.scenario import Scenario

COLLECTIVE = """
[fabric]
kind = "fat-tree"
k = 4

[traffic]
collective = "ring-all-reduce"
bytes = "4 MB"
ranks = 8

[scheme]
name = "ecmp"
"""
UDP = TINY.replace("[scheme]", '[transport]\nprotocol = "udp"\n\n[scheme]').replace("5 ms", "50 ms")
INCAST = TINY.replace("load = 0.3", "load = 0.3\npairs = { incast = { fan_in = 3 } }").replace("5 ms", "50 ms")
MANY = TINY.replace('"30 kB"', '"2 kB"').replace("5 ms", "50 ms")
SAMPLES = TINY.replace("[sweep]", '[measure]\ninterval = "500 ns"\n\n[sweep]')
STEPS = """[fabric]
kind = "spine-leaf"
spines = 2
leaves = 4
hosts_per_leaf = 16

[traffic]
collective = "ring-all-reduce"
bytes = "8 MB"
repeats = 3
connections = "persistent"

[transport]
protocol = "uec"

[scheme]
name = "ecmp"

[measure]
ring_steps = true
interval = "10 ms"

[run]
duration = "100 ms"
"""
ROCE = UDP.replace("udp", "roce").replace('["ecmp", "spray"]', '["ecmp", "wcmp"]')


@pytest.mark.parametrize(
    "text",
    [TINY, COLLECTIVE, UDP, INCAST, MANY, ROCE, SAMPLES, STEPS],
    ids=["tiny", "ring", "udp", "incast", "many", "roce", "samples", "steps"],
)
def test_estimates_of_work_and_disk_are_within_a_factor_of_two(text, tmp_path):
    scenario = Scenario.from_text(text)
    expected = estimate(scenario)
    hops = sum(size["size"]["packet_hops"] for size in _raw(scenario)["sizes"])
    scenario.run(tmp_path / "out", jobs=1)
    runs = json.loads((tmp_path / "out" / "performance.json").read_text())
    assert expected.runs == len(runs)
    real = sum(run["packet_hops"] for run in runs) * len(_raw(scenario)["sizes"]) / len(runs)
    assert 0.5 < hops / real < 2
    disk = sum(file.stat().st_size for file in (tmp_path / "out" / "runs").rglob("*"))
    assert 0.5 < expected.disk_bytes / disk < 2


def _raw(scenario: Scenario) -> dict:
    text, name, directory, sets = scenario.source
    return json.loads(estimating._weft.estimate(text, name, directory, sets, float("inf"), 0.0))


def test_a_trial_measures_the_rate_of_this_machine():
    found = estimate(Scenario.from_text(TINY), jobs=1, always_measured=True)
    assert found.is_measured and 0 < found.seconds < 60
    assert not estimate(Scenario.from_text(TINY)).is_measured


def test_samples_take_time_and_are_a_reason_for_a_trial():
    dense = Scenario.from_text(TINY).with_sets(['measure.interval="20 ns"'])
    # In 5 ms, of 12 links from switches, three classes and the number of active flows.
    samples = 250_000 * 16
    assert _raw(dense)["sizes"][0]["size"]["samples"] == pytest.approx(samples, rel=0.1)
    found = estimate(dense, jobs=1)
    assert not found.is_measured and found.seconds > 0.9 * 4 * samples / 2e6
    most = estimate(Scenario.from_text(TINY).with_sets(['measure.interval="1 ns"']), jobs=1)
    assert most.is_measured and most.seconds > 10


def test_runs_that_are_done_cost_nothing():
    whole, rest = (estimate(Scenario.from_text(TINY), jobs=1, done=done) for done in (0, 3))
    assert (whole.runs, rest.runs) == (4, 1)
    assert rest.disk_bytes == pytest.approx(whole.disk_bytes / 4)
    assert estimate(Scenario.from_text(TINY), done=4).seconds == 0


def test_an_estimate_has_as_many_digits_as_it_is_worth():
    found = Estimate(18, 2, 274.0, is_measured=True, memory_bytes=6.5e7, disk_bytes=5.7e9)
    assert str(found) == "about 5 min, 65 MB of memory and 5.7 GB on disk (18 runs, 2 at a time)"
    assert found.is_notable
    assert str(Estimate(1, 1, 9000.0, is_measured=False, memory_bytes=1e6, disk_bytes=0.0)).startswith(
        "about 2.5 h on a"
    )


def costing(monkeypatch, **changes) -> None:
    found = {"runs": 4, "parallel": 2, "seconds": 1.0, "is_measured": True, "memory_bytes": 1e6, "disk_bytes": 1e6}
    cost = Estimate(**(found | changes))
    for command in ("run", "check"):
        monkeypatch.setattr(f"weft.cli.{command}.estimate", lambda *_, **__: cost)


def test_a_long_run_says_so_first_and_a_short_one_does_not(weft, tiny, tmp_path, monkeypatch):
    costing(monkeypatch, seconds=300.0)
    long = weft("run", tiny, "-o", tmp_path / "long").stderr
    assert "This takes about 5 min, 1.0 MB of memory and 1.0 MB on disk (4 runs, 2 at a time); --quick" in long
    costing(monkeypatch)
    assert "This takes" not in weft("run", tiny, "-o", tmp_path / "short").stderr
    assert "Running it takes about 1 s" in weft("check", tiny).stderr


def test_results_that_do_not_fit_on_the_disk_are_refused(weft, tiny, tmp_path, monkeypatch):
    costing(monkeypatch, disk_bytes=1e18)
    result = weft("run", tiny, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert f"the results need about 1,000,000,000 GB, and the disk of {tmp_path / 'out'} has " in result.stderr
    assert "--quick" in result.stderr and not (tmp_path / "out").exists()


def test_results_that_may_not_fit_are_warned_of(weft, tiny, tmp_path, monkeypatch):
    costing(monkeypatch, disk_bytes=1.5e9)
    monkeypatch.setattr("weft.cli.cost.free_disk", lambda _: int(1e9))
    result = weft("run", tiny, "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert "warning: the results need about 1.5 GB" in result.stderr


def test_a_lack_of_memory_is_warned_of(weft, tiny, tmp_path, monkeypatch):
    costing(monkeypatch, memory_bytes=5e9)
    monkeypatch.setattr("weft.cli.cost.available_memory", lambda: int(2e9))
    result = weft("run", tiny, "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert "warning: about 5.0 GB of memory are needed, and 2.0 GB are available: run fewer at a time" in result.stderr


def test_a_quick_run_is_a_tenth_in_its_own_directory(weft, tiny, monkeypatch):
    monkeypatch.chdir(tiny.parent)
    result = weft("run", tiny, "--quick", "--set", 'event=[{at="1 ms", fail="l0-s0"}]')
    assert result.exit_code == 0, result.output
    assert 'A quick run, for a first look: run.duration = "0.5 ms", 2 seeds.' in " ".join(result.stderr.split())
    assert [path.name for path in Path("results").iterdir()] == ["tiny-quick"]
    index = json.loads(Path("results/tiny-quick/sweep.json").read_text())
    assert index["name"] == "tiny (quick)" and len(index["runs"]) == 4
    summary = json.loads(next(Path("results/tiny-quick/runs").glob("*/summary.json")).read_text())
    assert (summary["duration_ps"], summary["events"][0]["at_ps"]) == (500_000_000, 100_000_000)
    assert "do not publish its numbers" in weft("summary", "results/tiny-quick").stderr


def test_quick_and_whole_runs_never_share_a_directory(weft, tiny, tmp_path):
    for first, then in ((["--quick"], []), ([], ["--quick"])):
        out = tmp_path / f"out{len(first)}"
        assert weft("run", tiny, "-o", out, "-q", *first).exit_code == 0
        refused = weft("run", tiny, "-o", out, "-q", *then)
        assert refused.exit_code == 2 and "different scenario" in refused.stderr
        shutil.rmtree(out)


def test_everything_that_takes_time_shrinks():
    text = TINY.replace("load = 0.3", "load = 0.3\nflows = 50").replace(
        "[sweep]", '[measure]\nwindow = ["1 ms", "4 ms"]\n\n[sweep]\nrun.duration = ["5 ms", "1.5 s"]'
    )
    whole = Scenario.from_text(text, "a.toml").with_sets(['run.limit="20 s"', "run.seeds=[4, 5, 6]"])
    content = quick.quick(whole).scenario.content()
    assert content["sweep"] == {"run": {"duration": ["0.5 ms", "0.15 s"]}, "scheme.name": ["ecmp", "spray"]}
    assert content["run"] == {"duration": "5 ms", "seeds": [4, 5], "limit": "2 s"}
    assert content["measure"]["window"] == ["0.1 ms", "0.4 ms"]
    assert (content["traffic"]["flows"], content["name"]) == (5, "tiny (quick)")
    assert quick.quick(whole, [9]).scenario.content()["run"]["seeds"] == [9]
    with pytest.raises(ScenarioError, match="laod"):
        quick.quick(Scenario.from_text(TINY.replace("load", "laod")))


@pytest.mark.parametrize(
    ("repeats", "expected"), [(1, (1, "0.4 MB")), (3, (1, "1.2 MB")), (40, (4, "4 MB"))], ids=["1", "3", "40"]
)
def test_a_quick_collective_has_a_tenth_of_the_data(repeats, expected):
    short = quick.quick(Scenario.from_text(COLLECTIVE).with_sets([f"traffic.repeats={repeats}"]))
    traffic = short.scenario.content()["traffic"]
    assert (traffic["repeats"], traffic["bytes"]) == expected
    assert short.scenario.content()["run"]["duration"] == "0.1 s"
    told = "repeats = 4" if repeats == 40 else f'bytes = "{expected[1]}"'
    assert f"traffic.{told}" in short.changes


def test_a_quick_run_says_what_stays_whole():
    flows = 'flow_list = [{ src = "h0", dst = "h2", bytes = "1 kB" }]'
    text = TINY.replace('sizes = { fixed = "30 kB" }\nload = 0.3', flows)
    assert quick.quick(Scenario.from_text(text)).changes.endswith("2 seeds; a list of flows stays whole")


def test_the_directory_of_a_quick_run_has_the_scenario_that_was_run(weft, tiny, tmp_path):
    out = tmp_path / "out"
    changed = ("--set", "traffic.load=0.2", "--set", 'scheme.name="spray"')
    assert weft("run", tiny, "-o", out, "-q", "--quick", "--seeds", "1", *changed).exit_code == 0
    stored = Scenario.from_file(out / "scenario.toml")
    assert stored.content()["traffic"]["load"] == 0.2
    assert [point.label for point in stored.points()] == ["spray"]
    again = weft("run", out / "scenario.toml", "-o", out)
    assert again.exit_code == 0, again.output
    assert len(json.loads((out / "sweep.json").read_text())["runs"]) == 1
    runs = list((out / "runs").iterdir())
    shutil.rmtree(runs[0])
    assert weft("run", out / "scenario.toml", "-o", out, "-q").exit_code == 0
    assert list((out / "runs").iterdir()) == runs
