"""The report says why the slowest flows were slow: causes from repeated runs, and the way to the time line."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest

import sample
from chromium import opened
from report_page import fragment
from test_why import LOADED
from weft import Results, Scenario, report
from weft.aggregates import FOLDER
from weft.reporting import causes, page


@pytest.fixture(scope="module")
def loaded(made_once) -> Results:
    return Results(made_once("why", lambda out: Scenario.from_text(LOADED).run(out)))


@pytest.fixture
def own(loaded, tmp_path) -> Path:
    """A copy of the results that a test may change, without causes that another test has kept."""
    return Path(shutil.copytree(loaded.path, tmp_path / "own results", ignore=shutil.ignore_patterns(FOLDER)))


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """On a busy machine, runs take more CPU time than the budget."""
    monkeypatch.setattr(causes, "BUDGET_S", 1e6)


def why_of(html: str) -> dict:
    return json.loads(re.search(r'id="page-data">(.*?)</script>', html)[1])["why"]


def slowest_flow(results: Results) -> tuple[str, int]:
    flows = results.flows().filter(traffic_load=0.3, scheme="ecmp").drop_nulls("slowdown")
    return flows.sort("slowdown", descending=True).select("run", "flow").row(0)


def test_the_slowest_flows_of_each_scheme_have_the_causes_that_why_finds(loaded):
    found = why_of(page.render(loaded))
    assert found["note"] == ""
    run, flow = slowest_flow(loaded)
    shown = found["flows"][f"{run}/{flow}"]
    own = next(one for one in loaded.finished if one.id == run)
    one = loaded.why(flow, scheme="ecmp", seed=own.seed, at={"traffic.load": 0.3})
    first = one.causes[0]
    assert shown[0] == [first.name, first.link, round(first.share, 4), first.note]
    assert {name.split("/")[0] for name in found["flows"]} == {run.id for run in loaded.finished}
    for of_flow in found["flows"].values():
        assert sum(one[2] for one in of_flow) == pytest.approx(1, abs=0.01)
        assert all(one[2] >= 0.001 for one in of_flow) and len(of_flow) <= 7


def test_runs_are_repeated_within_the_budget_or_if_asked_for(own, monkeypatch):
    monkeypatch.setattr(causes, "BUDGET_S", 0.0)
    monkeypatch.setattr(causes, "_WORTH_S", math.inf)
    none = why_of(page.render(Results(own)))
    assert none["flows"] == {} and "Causes are shown for flows of 0 runs" in none["note"]
    assert f"weft report {shlex.quote(str(own))} --why" in none["note"]
    assert why_of(page.render(Results(own), explained=True))["flows"]
    monkeypatch.setattr(causes, "MOST_RUNS", 2)
    few = why_of(page.render(Results(own), explained=True))
    assert len({name.split("/")[0] for name in few["flows"]}) == 2
    assert "Causes are shown for flows of 2 runs" in few["note"]


def test_the_option_of_the_command_leaves_them_out(weft, own):
    assert weft("report", own, "--no-why").exit_code == 0
    found = why_of((own / "report.html").read_text())
    assert found["flows"] == {} and found["note"].startswith("The causes of the flows' time were not asked for.")
    assert weft("report", own, "--why").exit_code == 0
    assert why_of((own / "report.html").read_text())["flows"]


def test_causes_are_kept_until_the_flows_change(own, monkeypatch):
    monkeypatch.setattr(causes, "_WORTH_S", 0.0)
    repeated = []
    explain = causes.explain

    def watched(results, run, flows, **options):
        repeated.append(run.id)
        return explain(results, run, flows, **options)

    monkeypatch.setattr(causes, "explain", watched)
    first = why_of(page.render(Results(own)))["flows"]
    assert len(repeated) == 8
    repeated.clear()
    assert why_of(page.render(Results(own)))["flows"] == first
    assert repeated == []
    run = Results(own).finished[3]
    os.utime(run.path / "flows.parquet", (1, 1))
    assert why_of(page.render(Results(own)))["flows"] == first
    assert repeated == [run.id]


def test_results_that_cannot_be_simulated_again_say_why(own, tmp_path):
    for run in Results(own).finished:
        flows = pl.read_parquet(run.path / "flows.parquet")
        flows.with_columns(end_ps=pl.col("end_ps") + 1).write_parquet(run.path / "flows.parquet")
    found = why_of(page.render(Results(own)))
    assert found["flows"] == {} and "takes another time when its run is simulated again" in found["note"]
    emulated = sample.write_results(tmp_path / "emulated", {"scheme.name": ["ecmp"]}, seeds=1, flows=30, samples=4)
    (emulated / "scenario.toml").unlink()
    found = why_of(page.render(Results(emulated)))
    assert found["command"] == "" and "scenario.toml is missing, so no run can be simulated again" in found["note"]


def test_a_scenario_with_other_files_is_named_in_the_command(browser, tmp_path):
    (tmp_path / "flows.csv").write_text("start_s,src,dst,bytes\n0,h0,h4,20000\n0.000005,h1,h4,20000\n")
    text = LOADED.replace('sizes = "web-search"\nclamp = "300 kB"\nload = 0.9', 'trace = "flows.csv"')
    (tmp_path / "mine.toml").write_text(text.replace('"traffic.load" = [0.3, 0.9]\n', ""))
    results = Scenario.from_file(tmp_path / "mine.toml").run(tmp_path / "results")
    shown = opened(browser, report(results.path))
    shown.locator("#slowest tbody tr").first.get_by_text("show why").click()
    assert "--scenario SCENARIO" in shown.locator("[data-command=why]").inner_text()
    assert "only weft why can simulate the runs again" in shown.locator("#why-note").inner_text()
    assert shown.complaints == []
    shown.close()


def test_a_row_leads_to_the_link_to_blame_and_to_the_time_line(browser, own, weft):
    run, flow = slowest_flow(Results(own))
    kind = Results(own).flows().filter(run=run, flow=flow)["class"][0]
    shown = opened(browser, report(own), 1400, fragment=f"#slow={kind}")
    shown.wait_for_selector("#slowest .why-bar")
    row = shown.locator("#slowest tbody tr").first
    assert row.locator("td").nth(1).inner_text() == str(flow)
    cause, link, *_ = why_of((own / "report.html").read_text())["flows"][f"{run}/{flow}"][0]
    assert row.locator(".why-text").inner_text().startswith(f"{cause} {link} ")
    assert row.locator(".why-bar").get_attribute("aria-label").startswith(f"{cause} {link} ")
    row.locator(".why-text button").first.click()
    assert fragment(shown)["link"] == [link.replace("->", " → ")]
    assert shown.evaluate("document.activeElement.id") == "fabric-title"
    row.get_by_text("time line").click()
    assert shown.locator("#flow-panel .why-list th").first.inner_text() == cause
    command = shown.locator("[data-command=why]").inner_text()
    assert shown.complaints == []
    shown.close()
    name = f"why-{run}-{flow}.html"
    made = weft(*shlex.split(command)[1:])
    assert made.exit_code == 0, made.output
    assert (own / name).is_file()
    shown = opened(browser, report(own), 1400, fragment=f"#slow={kind}&flow={run}/{flow}")
    assert shown.locator("#flow-panel a").get_attribute("href") == name
    assert shown.locator("[data-command=why]").count() == 0
    shown.close()


@pytest.mark.parametrize("width", [400, 800, 1400])
def test_the_section_fits_every_window(browser, loaded, tmp_path, width):
    shown = opened(browser, report(loaded, tmp_path / "page.html"), width, color_scheme="dark")
    shown.wait_for_selector("#slowest .why-bar")
    shown.locator("#slowest").get_by_text("time line").first.click()
    assert shown.evaluate("document.scrollingElement.scrollWidth") <= width
    assert shown.complaints == []
    shown.close()
