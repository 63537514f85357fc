"""Collectives: their completion times in results, in `weft summary` and on the report's page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chromium import opened
from report_page import count, go, saved, settled, titles
from weft import paths, report
from weft.difference import Difference
from weft.reporting.findings import findings
from weft.results import Results
from weft.scenario import Scenario
from weft.statistics import Estimate
from weft.summary_table import Summary

ALL_REDUCE = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 4
rate = "1 Gbps"

[[traffic]]
collective = "ring-all-reduce"
bytes = "400 kB"
repeats = 2
class = "reduce"

[[traffic]]
collective = "pipeline"
bytes = "100 kB"
ranks = 3
placement = "striped"
chunks = 2

[scheme]
name = "ecmp"

[run]
duration = "1 s"
seeds = 2

[sweep]
"scheme.name" = ["ecmp", "spray"]
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("collectives") / "results"
    Scenario.from_text(ALL_REDUCE).run(out, jobs=1)
    return out


@pytest.fixture(scope="module")
def protocols(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario in which the seeds change nothing and a connection per message hides the protocols."""
    one_path = ALL_REDUCE.replace("spines = 2", "spines = 1").replace("repeats = 2", "repeats = 1")
    swept = one_path.replace('"scheme.name" = ["ecmp", "spray"]', '"transport.protocol" = ["tcp", "roce"]')
    file = tmp_path_factory.mktemp("protocols") / "protocols.toml"
    file.write_text(swept)
    return file


def test_a_comparison_of_protocols_on_new_connections_is_warned_of_everywhere(weft, protocols):
    out, text = protocols.parent / "out", "`tcp` and `roce` are compared with a new connection for each message"
    for done in (weft("check", protocols), weft("run", protocols, "-o", out), weft("summary", out)):
        assert done.exit_code == 0
        assert " ".join(done.stderr.split()).count(text) == 1
    page = report(Results(out), protocols.parent / "report.html").read_text()
    assert text in page and "connections = &quot;persistent&quot;" in page
    kept = weft("check", protocols, "--set", "traffic.0.connections=persistent")
    assert text in " ".join(kept.stderr.split()), "the other collective still opens connections"
    both = ("--set", "traffic.0.connections=persistent", "--set", "traffic.1.connections=per-message")
    assert text not in " ".join(weft("check", protocols, *both).stderr.split())


def test_seeds_that_change_nothing_have_no_intervals(weft, protocols):
    out = protocols.parent / "fixed"
    Scenario.from_file(protocols).run(out, jobs=1)
    shown = " ".join(weft("summary", out, "--baseline", "tcp").output.split())
    assert "The seeds change nothing: all gave the same values" in shown and "one seed is enough" in shown
    assert "±" not in shown and "*" not in shown and "n.s." not in shown
    found = json.loads(weft("summary", out, "--baseline", "tcp", "--json").stdout)
    changed = [row["metrics"]["mean_fct_s"] for row in found["rows"] if "roce" in row["scheme"]]
    assert changed and all(one["low"] is None and one["ratio"]["low"] is None and one["p"] is None for one in changed)
    page = report(Results(out), protocols.parent / "fixed.html", baseline="tcp").read_text()
    assert "The seeds change nothing, so there is no confidence interval." in page
    assert "95 % interval: " not in page


def test_messages_and_rings_in_parts_are_not_compared_as_flows(weft, tmp_path):
    ring = '[[traffic]]\ncollective = "ring-all-reduce"\nbytes = "400 kB"\n'
    text = ALL_REDUCE[: ALL_REDUCE.index("[[traffic]]")] + ring + ALL_REDUCE[ALL_REDUCE.index("[scheme]") :]
    text = text.replace('"scheme.name" = ["ecmp", "spray"]', '"transport.protocol" = ["tcp", "roce"]')
    text = text.replace("seeds = 2", "seeds = 1")
    Scenario.from_text(text).run(tmp_path / "own", jobs=1)
    done = weft("summary", tmp_path / "own", "--baseline", "protocol=tcp")
    said = "Not compared with ecmp protocol=tcp: completion times, slowdowns and throughputs of flows under ecmp"
    assert said in " ".join(done.stdout.split())
    rows = Results(tmp_path / "own").summary(baseline="protocol=tcp").filter(scheme="ecmp protocol=roce")
    assert rows["mean_fct_s"][0] > 0 and rows["compared"].to_list() == [0.0]
    assert rows["mean_fct_s_diff"].to_list() == rows["mean_throughput_bps_diff"].to_list() == [None]
    assert rows["drops_diff"].to_list() == [0.0], "counts of runs are compared"
    # Messages on connections of their own are the same flows under both.
    same = text.replace('bytes = "400 kB"', 'bytes = "400 kB"\nconnections = "per-message"')
    Scenario.from_text(same).run(tmp_path / "same", jobs=1)
    assert said not in " ".join(weft("summary", tmp_path / "same", "--baseline", "protocol=tcp").stdout.split())
    both = Results(tmp_path / "same").summary(baseline="protocol=tcp").filter(scheme="ecmp protocol=roce")
    assert both["compared"][0] > 0 and both["mean_fct_s_diff"][0] is not None


def test_every_round_has_its_completion_time_and_its_ratio_to_the_bound(directory):
    run = Results(directory).finished[0]
    summary = json.loads((run.path / "summary.json").read_text())
    found = [(job["group"], job["class"], job["kind"], job["round"], job["ranks"]) for job in summary["collectives"]]
    assert found == [
        (0, "reduce", "ring-all-reduce", 1, 8),
        (0, "reduce", "ring-all-reduce", 2, 8),
        (1, None, "pipeline", 1, 3),
    ]
    assert [job["flows"] for job in summary["collectives"]] == [112, 112, 4]
    for job in summary["collectives"]:
        assert job["flows_finished"] == job["flows"]
        assert job["ratio"] == pytest.approx(job["completion_ps"] / job["bound_ps"])
        assert job["ratio"] > 1


def test_the_summary_has_one_row_per_collective_and_scheme(directory, weft):
    rows = paths.collectives(Results(directory))
    assert {(row.collective, row.scheme) for row in rows} == {
        (name, scheme) for name in ("0. reduce", "1. pipeline") for scheme in ("ecmp", "spray")
    }
    assert all(row.estimates["bound_ratio"].n == 2 for row in rows)
    shown = weft("summary", directory).output
    assert "Collectives" in shown and "Times the bound" in shown
    printed = json.loads(weft("summary", directory, "--json").output)["collectives"]
    assert [row["collective"] for row in printed] == [row.collective for row in rows]


def test_the_mean_time_of_rounds_stands_beside_the_mean_of_their_bounds():
    """Rounds of a class may differ in size, as requests to a language model do."""
    sizes = ((10, 8), (30, 28), (56, 28))
    rounds = [
        {"completion_ps": took * 10**9, "bound_ps": bound * 10**9, "ratio": took / bound} for took, bound in sizes
    ]
    found = {column.key: column.value for column in paths.COLLECTIVE_COLUMNS}
    values = {key: found[key]({"rounds": rounds}) for key in ("completion_s", "bound_s", "bound_ratio")}
    assert values["completion_s"] == pytest.approx(32e-3) and values["bound_s"] == pytest.approx(64e-3 / 3)
    assert values["bound_ratio"] == pytest.approx((10 / 8 + 30 / 28 + 2) / 3)
    unfinished = [*rounds, {"completion_ps": None, "bound_ps": 10**9, "ratio": None}]
    assert found["completion_s"]({"rounds": unfinished}) is None


def test_the_report_has_a_table_of_collectives(directory, weft):
    assert weft("report", directory).exit_code == 0
    page = (directory / "report.html").read_text()
    assert 'id="collectives-section"' in page and "1. pipeline" in page


def test_the_page_begins_with_a_chart_of_collectives(browser, directory, tmp_path):
    page = opened(browser, report(directory, tmp_path / "report.html"), accept_downloads=True)
    settled(page)
    assert page.locator("main > section h2").first.inner_text() == "Collectives"
    assert titles(page, "collective-time") == ["0. reduce", "1. pipeline"]
    assert count(page, "#collective-time .mark-rect path") == 4
    go(page, "hide=spray")
    assert count(page, "#collective-time .mark-rect path") == 2
    lines = saved(page, '[data-csv="collective-time"]').splitlines()
    assert lines[0] == "collective,point,scheme,completion_s,low,high"
    assert len(lines) == 5
    assert page.complaints == []
    page.close()


def test_findings_about_collectives_come_first():
    faster = Difference(Estimate(-1e-3, -1.2e-3, -0.8e-3, 3), Estimate(0.8, 0.7, 0.9, 3), 0.01, adjusted=0.02)
    vague = Difference(Estimate(-1e-3, -1.2e-3, 0.8e-3, 3), Estimate(0.9, 0.7, 1.1, 3), 0.5, adjusted=0.9)
    rows = [
        paths.Row(point, "spray", "", {}, collective="reduce", differences={"completion_s": one})
        for point, one in (("load 1", vague), ("load 2", faster))
    ]
    summary = Summary(["class", "scheme"], "ecmp", [], several_runs=False, same_flows=True, family=0, without_flows=[])
    [found] = findings(summary, rows)
    assert found.scheme == "spray"
    assert found.text == (
        "completion of reduce is 20.0 % lower than with ecmp at load 2 (95 % interval: 10.0 % to 30.0 %)"
    )


def test_jobs_have_hosts_of_their_own_and_a_straggler_delays_its_ring(tmp_path):
    job = 'class = "{}"\ncollective = "all-gather"\nbytes = "4 kB"\nranks = 4\ncompute = "1 ms"\n{}'
    jobs = [("even", ""), ("slow", 'skip = 4\nstart = "100 us"\nstragglers = 1\nstraggler_factor = 3')]
    text = """
    [fabric]
    kind = "spine-leaf"
    spines = 1
    leaves = 2
    hosts_per_leaf = 4
    {}
    [scheme]
    name = "ecmp"
    [transport]
    protocol = "uec"
    [run]
    duration = "1 s"
    seeds = 3
    """.format("".join(f"[[traffic]]\n{job.format(*one)}\n" for one in jobs))
    Scenario.from_text(text).run(tmp_path / "jobs")
    results = Results(tmp_path / "jobs")
    flows = results.flows()
    assert set(flows.filter(flows["class"] == "even")["src"]) == {"h0", "h1", "h2", "h3"}
    assert set(flows.filter(flows["class"] == "slow")["src"]) == {"h4", "h5", "h6", "h7"}
    for run in results.finished:
        even, slow = json.loads((run.path / "summary.json").read_text())["collectives"]
        assert slow["start_ps"] - even["start_ps"] == 100_000_000
        # Every part passes the slow rank once, two parts of three after a computation.
        assert slow["completion_ps"] - even["completion_ps"] == pytest.approx(2e9, rel=0.01)
        assert slow["bound_ps"] == even["bound_ps"]
