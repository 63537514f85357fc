"""The 99.9th percentile: a metric where there are enough flows, marked in groups with few."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import sample
from chromium import opened
from weft import plot, report
from weft.content import Content
from weft.figures import by_class
from weft.results import Results
from weft.summary import summarise

KEY = "p999_fct_s"
SWEEP = {"scheme.name": ["ecmp", "spray"]}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Results with enough flows of one class only: of mice and rabbits, but not of elephants."""
    return Results(sample.write_results(tmp_path_factory.mktemp("many") / "r", SWEEP, flows=3000, samples=5))


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return Results(sample.write_results(tmp_path_factory.mktemp("few") / "r", SWEEP, flows=100, samples=5))


def test_it_is_the_quantile_of_each_run_and_few_flows_are_marked(many):
    summary = summarise(many, baseline="ecmp")
    rows = {(row.group["class"], row.group["scheme"]): row for row in summary.rows}
    mice = many.flows().filter((pl.col("class") == "mouse") & (pl.col("scheme") == "spray")).drop_nulls("fct_s")
    of_run = [np.quantile(flows["fct_s"].to_numpy(), 0.999) for _, flows in mice.group_by("seed")]
    assert len(of_run) == 3
    assert rows["mouse", "spray"].estimates[KEY].mean == pytest.approx(np.mean(of_run))
    assert [metric.key for metric in summary.metrics].count(KEY) == 1
    rare = next(metric for metric in summary.metrics if metric.key == KEY)
    assert {kind: rows[kind, "spray"].few(rare) for kind in ("mouse", "rabbit", "elephant")} == {
        "mouse": False,
        "rabbit": False,
        "elephant": True,
    }
    # Values of few flows are no part of the family for which p-values are adjusted.
    assert [kind for kind in ("mouse", "rabbit", "elephant") if rows[kind, "spray"].differences.get(KEY)] == [
        "mouse",
        "rabbit",
    ]


def test_with_few_flows_everywhere_nobody_sees_it(weft, few, many, tmp_path):
    for results, shown in ((few, False), (many, True)):
        assert ("p99.9" in weft("summary", results.path).stdout) == shown
        page = report(results, tmp_path / "report.html").read_text()
        assert ("p99.9 FCT" in page.split('id="page-data"')[0]) == shown
        files = {path.stem for path in plot(results, tmp_path / str(shown), ("svg",), only=[])}
        assert ("fct-p999" in files) == shown
        assert (KEY in {one.key for one in by_class.COMPLETION.known(Content(results, None))}) == shown
        rows = json.loads(weft("summary", results.path, "--json").stdout)["rows"]
        assert all(row["metrics"][KEY]["few_flows"] == (not shown or row["class"] == "elephant") for row in rows)


def test_all_numbers_fit_into_a_window_of_1400_pixels(browser, tmp_path):
    """Three schemes, an axis, unfinished flows and all metrics."""
    page = opened(browser, report(sample.write_results(tmp_path / "r", flows=3000, samples=5)), width=1400)
    heads = page.locator("#comparison thead th").all_text_contents()
    assert heads[-9:-4] == ["Mean FCT", "Median FCT", "p99 FCT", "p99.9 FCT", "Slowdown"]
    assert page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.getElementById('comparison').parentNode)") <= 0
    page.close()
