"""Completion by flow size: bins, values by hand, the figure in files and on the page."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sample
from chromium import opened
from report_page import OVERLAPS, go, resize, saved, settled, titles
from weft import figure, report
from weft.extracts_sizes import bins, by_size
from weft.results import Results


@pytest.mark.parametrize(
    ("sizes", "runs", "limits"),
    [
        ([], 1, []),
        ([1000] * 100, 1, []),
        ([1000] * 40 + [100_000] * 40, 1, [10 ** (10 / 3)]),
        # Too few of the larger ones, or of the smaller ones: joined.
        ([1000] * 40 + [100_000] * 10, 1, []),
        ([1000] * 10 + [100_000] * 40, 1, []),
        ([1000] * 40 + [100_000] * 40, 2, []),
        ([1000] * 40 + [20_000] * 10 + [100_000] * 40 + [10**6], 1, [10 ** (10 / 3)]),
    ],
)
def test_bins_have_enough_flows(sizes, runs, limits):
    assert bins(np.array(sizes), runs) == pytest.approx([*limits, np.inf])


@pytest.fixture(scope="module")
def sized(tmp_path_factory):
    sweep = {"scheme.name": ["ecmp", "spray"]}
    return Results(sample.write_results(tmp_path_factory.mktemp("sized") / "r", sweep, flows=600, samples=5))


def test_values_are_those_of_the_flows_in_each_bin_averaged_over_seeds(sized):
    table = by_size(sized)
    assert len(table) >= 6
    flows = sized.flows().drop_nulls("fct_s")
    for row in table.iter_rows(named=True):
        own = flows.filter(
            (pl.col("scheme") == row["scheme"]) & pl.col("bytes").is_between(row["least_bytes"], row["most_bytes"])
        )
        runs = [part for _, part in own.group_by("seed")]
        assert row["flows"] == min(len(part) for part in runs)
        for key, value in (("slowdown", "slowdown"), ("fct_s", "fct_s")):
            means = [part[value].mean() for part in runs]
            tails = [np.quantile(part[value].to_numpy(), 0.99) for part in runs]
            assert row[f"mean_{key}"] == pytest.approx(np.mean(means))
            assert row[f"p99_{key}"] == pytest.approx(np.mean(tails))
            assert row[f"mean_{key}_low"] < row[f"mean_{key}"] < row[f"mean_{key}_high"]
    for _, part in table.group_by("scheme"):
        assert part["most_bytes"].to_list()[:-1] < part["least_bytes"].to_list()[1:]
        assert part["flows"].sum() <= len(flows) / 6


def test_the_figure_has_means_and_tails_with_labels(sized):
    drawn = figure(sized, "fct-by-size", labels={"spray": "Spray"}, log_y=True).svg
    for text in ("slowdown: mean", "slowdown: p99", "flow size", "Spray", "100 kB"):
        assert f">{text}<" in drawn, text


def test_the_page_has_it_at_every_width(browser, sized, tmp_path):
    page = opened(browser, report(sized, tmp_path / "report.html"), accept_downloads=True)
    settled(page)
    assert titles(page, "by-size") == [
        f"{value}: {statistic}" for value in ("slowdown", "completion time") for statistic in ("mean", "p99")
    ]
    for width in (1400, 800, 400):
        resize(page, width)
        assert page.evaluate(OVERLAPS) == [], width
    go(page, "flip=by-size-y")
    assert page.locator("#by-size svg .mark-symbol path").count() > 20
    lines = saved(page, '[data-csv="by-size"]').splitlines()
    assert lines[0].startswith("point,scheme,bytes,least_bytes,most_bytes,flows,mean_slowdown,mean_slowdown_low")
    assert len(lines) == len(by_size(sized)) + 1
    assert page.complaints == []
    page.close()


def test_without_intervals_it_is_drawn(browser, tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=1, flows=100, samples=5)
    page = opened(browser, report(directory))
    settled(page)
    assert page.locator("#by-size svg .mark-symbol path").count() >= 4
    assert page.complaints == []
    page.close()
