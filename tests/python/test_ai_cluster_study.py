"""The study of clusters of GPUs: its scenarios, and its rules on data that fits them, breaks them, or is missing."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import polars as pl
import pytest

from weft.cli import reproduce
from weft.studies.ai_cluster import AiCluster, claims, figures, setups, times
from weft.studies.ai_cluster.setups import CLUSTERS, STATES, Case, cases
from weft.studies.ai_cluster.table import SCHEMA
from weft.studies.base import RunOptions
from weft.studies.outcome import Size, Verdict

WARMING = 9000.0
"""The time of the rounds of the warm-up, which count for nothing."""
TIMES = {
    ("rails", "uec", "whole"): 100.0,
    ("rails", "uec", "failed"): 101.0,
    ("rails", "roce", "whole"): 150.0,
    ("rails", "roce", "failed"): 180.0,
    ("tree", "uec", "whole"): 100.0,
    ("tree", "uec", "failed"): 101.0,
    ("tree", "roce", "whole"): 200.0,
    ("tree", "roce", "failed"): 240.0,
}
"""Times in us with which every claim holds, by fabric, hosts and state."""


def world(seeds=3, **changes):
    """Data in which every claim holds; `changes` are times of cases such as ``rails_uec_whole``."""
    rows = []
    for case in cases(tuple(CLUSTERS)):
        base = changes.get(f"{case.fabric}_{case.hosts}_{case.state}", TIMES[case.fabric, case.hosts, case.state])
        for seed in range(1, seeds + 1):
            for number in range(1, setups.ROUNDS + 1):
                time = WARMING if number <= setups.WARM_UP else base * (1 + 0.01 * seed)
                late = int((case.gpus, case.hosts, seed) == (64, "uec", 1))
                row = {"seed": seed, "round": number, "us": time, "ratio": time / 80, "timeouts": late}
                rows.append(asdict(case) | row)
    return pl.DataFrame(rows, schema=SCHEMA)


def test_all_questions_have_rows_for_each_number_of_gpus_fabric_and_collective():
    rows = claims.judge(world())
    places = [
        *(f"all-reduce-{fabric}-{gpus}" for gpus in (64, 256, 1024) for fabric in ("rails", "tree")),
        *(f"all-to-all-{fabric}-{gpus}" for gpus in (64, 256) for fabric in ("rails", "tree")),
    ]
    assert sorted(row.id for row in rows) == sorted(
        ["Q1-64", "Q1-256", "Q1-1024", "Q2-64", "Q2-256", *(f"{ask}-{at}" for ask in ("Q3", "Q4") for at in places)]
    )
    assert {row.verdict for row in rows} == {Verdict.held}
    found = {row.id: row for row in rows}
    assert found["Q1-64"].measured == pytest.approx(0)
    assert found["Q3-all-reduce-tree-1024"].measured == pytest.approx(-50)
    assert found["Q4-all-to-all-tree-256"].measured == pytest.approx(1 - 20)
    assert found["Q4-all-to-all-tree-256"].note == "UEC +1.0 % time; RoCE +20.0 % time"
    assert "64 GPUs, all-reduce, rails, UEC, whole fabric: 102 us" in found["Q1-64"].note


@pytest.mark.parametrize(("slower", "broken"), [(1.04, set()), (1.07, {"Q1"}), (1.12, {"Q1", "Q2"})])
def test_rails_may_be_slower_by_five_per_cent_in_an_all_reduce_and_by_ten_in_an_all_to_all(slower, broken):
    rows = claims.judge(world(rails_uec_whole=100 * slower, rails_uec_failed=100 * slower))
    assert {row.id[:2] for row in rows if row.verdict is Verdict.did_not_hold} == broken


def test_hosts_that_take_as_long_and_lose_as_much_break_the_rows_of_their_fabric_only():
    same = {f"rails_{hosts}_{state}": 100.0 for hosts in setups.HOSTS for state in STATES}
    rows = claims.judge(world(**same))
    assert {row.id[:3] for row in rows if row.verdict is Verdict.did_not_hold} == {"Q3-", "Q4-"}
    assert all(("rails" in row.id) == (row.verdict is Verdict.did_not_hold) for row in rows if row.id[:2] > "Q2")


def test_an_interval_that_reaches_its_threshold_does_not_hold_and_one_seed_is_no_measurement():
    hosts, seed = pl.col("hosts") == "uec", pl.col("seed") == 1
    noisy = world().with_columns(pl.when(hosts & seed).then(190.0).otherwise("us").alias("us"))
    assert {row.verdict for row in claims.judge(noisy) if row.id.startswith("Q3")} == {Verdict.did_not_hold}
    assert {row.verdict for row in claims.judge(world(seeds=1))} == {Verdict.not_measured}


def test_cases_that_did_not_run_or_end_are_named_and_have_no_value():
    lost = (pl.col("gpus") == 64) & (pl.col("hosts") == "roce") & (pl.col("round") == setups.ROUNDS)
    table = world().filter(pl.col("gpus") != 1024).with_columns(pl.when(~lost).then("us").alias("us"))
    rows = {row.id: row for row in claims.judge(table)}
    unfinished = rows["Q3-all-to-all-tree-64"]
    assert unfinished.verdict is Verdict.not_measured and unfinished.measured is None
    assert unfinished.note == "not finished: 64 GPUs, all-to-all, fat-tree, RoCE, whole fabric"
    never = rows["Q1-1024"]
    assert never.verdict is Verdict.not_measured
    assert never.note.startswith("not run: 1024 GPUs, all-reduce, rails, UEC, whole fabric; not run:")
    assert rows["Q3-all-to-all-tree-256"].verdict is rows["Q2-64"].verdict is Verdict.held
    assert "64 GPUs, all-to-all, fat-tree, RoCE, whole fabric: not finished" in claims.remarks(table)
    assert {row.verdict for row in claims.judge(world().clear())} == {Verdict.not_measured}


def test_rows_that_need_a_larger_size_are_printed_in_one_line(capsys):
    rows = claims.judge(world().filter(pl.col("gpus") == 64))
    reproduce.show(rows, partial(AiCluster().needs, size=Size.quick))
    shown = " ".join(capsys.readouterr().out.split())
    later = [row.id for row in rows if not row.id.endswith("-64")]
    assert f"{len(later)} rows need --size standard: {', '.join(later)}" in shown and len(later) == 15
    assert "not measured" not in shown and "Q1-64 held" in shown
    # Runs that are missing at their own size are named.
    reproduce.show(rows, partial(AiCluster().needs, size=Size.standard))
    shown = capsys.readouterr().out
    assert "need --size" not in shown and shown.count("not measured") == 15


def test_the_help_of_reproduce_says_that_this_study_is_of_no_paper(weft):
    shown = " ".join(weft("reproduce", "ai-cluster", "--help").output.split())
    assert "Run a study and print" in shown and "Reproduce a paper" not in shown


def test_times_and_timeouts_of_all_cases_are_remarks():
    remarks = claims.remarks(world())
    said = "64 GPUs, all-reduce, rails, UEC, whole fabric: 102 us, 1.27 times the bound, timeouts in 1 of 3 runs"
    assert said in remarks
    assert not any("timeouts" in remark for remark in remarks if "256 GPUs" in remark)


def test_the_loss_of_a_case_is_that_of_its_failed_uplinks():
    case = Case(64, "tree", "roce", "whole", "all-to-all")
    lost = times.loss(world(), case)
    assert lost is not None and lost.mean == pytest.approx(20)
    assert Case.of(case.name) == case


@pytest.mark.parametrize("gpus", CLUSTERS)
def test_both_fabrics_have_the_same_gpus_switches_and_links_and_no_scenario_has_a_warning(gpus, monkeypatch):
    monkeypatch.setitem(setups.EXTENTS, Size.quick, setups.Extent((gpus,), 3))
    scenarios = dict(setups.scenarios(Size.quick))
    for name, scenario in scenarios.items():
        points, warnings = scenario.check()
        assert (name, len(points), warnings) == (name, 3, [])
    fabrics = [
        scenarios[Case(gpus, fabric, "uec", "whole", "hierarchical-all-reduce").name].fabric()
        for fabric in setups.FABRICS
    ]
    sizes = {(len(built.hosts), len(built.switches), len(built.links)) for built in fabrics}
    assert len(sizes) == 1 and sizes.pop()[0] == gpus


def test_cases_differ_in_one_property_of_their_scenarios_only():
    texts = {name: scenario.text.splitlines()[1:] for name, scenario in setups.scenarios(Size.quick)}
    whole = Case(64, "rails", "uec", "whole", "all-to-all")
    lines = texts[whole.name]
    failed = texts[Case(64, "rails", "uec", "failed", "all-to-all").name]
    assert [line for line in failed if line not in lines] == ["[[event]]", 'at = "0 s"', "fail = { share = 0.015625 }"]
    tree = texts[Case(64, "tree", "uec", "whole", "all-to-all").name]
    assert [line for line in lines if line not in tree] == [
        'kind = "rail-optimised"',
        "pods = 1",
        "servers_per_pod = 8",
        "gpus = 8",
        'relay = "pxn"',
    ]


def test_the_figure_has_a_panel_for_each_collective_number_of_gpus_and_state(tmp_path):
    files = figures.draw(world().filter(pl.col("gpus") < 1024), tmp_path, ("svg",))
    assert [file.name for file in files] == ["ai-cluster.svg"]
    drawn = files[0].read_text()
    for title in ("all-reduce, 64 GPUs, whole fabric", "all-to-all, 256 GPUs, uplinks failed"):
        assert title in drawn
    assert "1024" not in drawn
    assert figures.draw(world().clear(), tmp_path, ("svg",)) == []


def test_every_case_runs_and_the_table_has_all_of_them(tmp_path, monkeypatch):
    monkeypatch.setitem(setups.CLUSTERS, 16, setups.Cluster(1, 2))
    monkeypatch.setitem(setups.EXTENTS, Size.quick, setups.Extent((16,), 1))
    for name, collective in setups.COLLECTIVES.items():
        small = setups.Collective(collective.title, {16: 1}, collective.on_rails)
        monkeypatch.setitem(setups.COLLECTIVES, name, small)
    outcome = AiCluster().run(tmp_path / "study", Size.quick, RunOptions())
    found = pl.read_csv(tmp_path / "study" / "ai-cluster.csv")
    assert len(found) == 16 * setups.ROUNDS
    assert found["ratio"].min() >= 1
    assert {row.verdict for row in outcome.rows} == {Verdict.not_measured}
    assert all(row.measured is not None and row.note.startswith("one seed") for row in outcome.rows)
