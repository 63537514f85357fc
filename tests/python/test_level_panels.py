"""Axes and panels of figures: one format of numbers, the same ticks in all panels, level titles, true sizes."""

from __future__ import annotations

import re

import polars as pl
import pytest

import sample
from weft import Results, extracts, figure
from weft.content import Content
from weft.figures import collectives, paper
from weft.figures.layers import axis, beside, faceted, label, lines, panel
from weft.palette import styles
from weft.paths import Row
from weft.reporting.findings import findings, no_finding
from weft.statistics import estimate
from weft.summary import summarise


def drawn(kind: str, spans: dict[str, tuple[float, float]], *, log: str = "") -> str:
    """Panels with a line from the first to the last value."""
    x, y = axis("x", "x", "number"), axis("y", "y", kind, log=log and "child_y", ticks=4)
    rows = [
        {"scheme": "a", "panel": name, "x": at, "y": y} for name, ends in spans.items() for at, y in enumerate(ends)
    ]
    spec = faceted("rows", "panel", list(spans), [lines(["a"], x, y)])
    return paper.drawn(spec, {"rows": rows}, styles(["a"]))


def test_large_numbers_have_the_same_format_on_axes_and_in_tooltips():
    assert ">10,000<" in drawn("ratio", {"one": (0, 12_400)})
    assert ">10 kB<" in drawn("bytes", {"one": (0, 12_400)})
    assert "',.3~r'" in label("ratio")


def test_titles_are_level_whether_or_not_a_tick_is_at_the_end_of_the_axis():
    ends = {"one": 1.0, "two": 0.65}
    axes = axis("x", "x", "number"), axis("y", "y", "s")
    spec = beside(*(panel(name, [lines(["a"], *axes)], name) for name in ends))
    rows = {name: [{"scheme": "a", "x": at, "y": at * end} for at in (0, 1)] for name, end in ends.items()}
    svg = paper.drawn(spec, rows, styles(["a"]))
    heights = re.findall(r'role-title"><g transform="translate\(105,(-?[\d.]+)\)', svg)
    assert len(heights) == 2 and len(set(heights)) == 1


@pytest.mark.parametrize("decades", [2.2, 3, 5.5])
def test_a_logarithmic_axis_of_two_decades_or_more_has_ticks_at_powers_of_ten(decades):
    svg = drawn("s", {"one": (1e-4, 1e-4 * 10**decades)}, log="y")
    shown = re.findall(r">(\d+ (?:ms|µs|s))<", svg)
    assert len(shown) >= 2 and all(re.fullmatch(r"10* \D+", text) for text in shown), shown
    assert len(shown) - 1 <= len(re.findall(r'<line [^>]*x2="210" y2="0"[^>]*stroke="#e3e8ec"', svg)) <= decades + 1


def test_marks_by_size_are_at_their_sizes(tmp_path):
    path = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp", "spray"]}, seeds=2, flows=60, samples=4)
    for file in path.glob("runs/*/flows.parquet"):
        pl.read_parquet(file).with_columns(bytes=pl.lit(25_000, pl.Int64)).write_parquet(file)
    svg = figure(path, "fct-by-size").svg
    symbols = re.findall(r"role-mark.*?mark-symbol|mark-symbol role-mark.*?</g>", svg, re.S)
    places = {
        round(float(x), 2) for part in symbols for x in re.findall(r'<path[^>]*transform="translate\(([\d.]+),', part)
    }
    assert places == {105.0}


def test_a_class_without_flows_has_no_panel_of_throughput(tmp_path):
    path = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=2, flows=60, samples=4)
    for file in path.glob("runs/*/series.parquet"):
        series = pl.read_parquet(file)
        own = (pl.col("metric") == "throughput_bps") & (pl.col("entity").cast(pl.String) == "elephant")
        series.with_columns(value=pl.when(own).then(0.0).otherwise("value")).write_parquet(file)
    assert "elephant" in extracts.throughput_over_time(Results(path))["class"].to_list()
    for file in path.glob("runs/*/flows.parquet"):
        flows = pl.read_parquet(file)
        flows.filter(pl.col("class").cast(pl.String) != "elephant").write_parquet(file)
    assert set(extracts.throughput_over_time(Results(path))["class"]) == {"mouse", "rabbit", "all"}


def test_bars_of_collectives_have_names_below_them():
    rows = [Row("", name, "", {"completion_s": estimate([1.0, 2.0])}, collective="ring") for name in ("ecmp", "spray")]
    svg = paper.drawn(
        collectives.spec(rows, "completion_s", ["ecmp", "spray"]),
        {"collectives": collectives.data(rows, "completion_s")},
        styles(["ecmp", "spray"]),
    )
    assert svg.count(">ecmp<") == svg.count(">spray<") == 2, "in the legend and below the bar"


def test_findings_are_about_another_measure_where_the_mean_does_not_differ(results):
    summary = summarise(results, baseline="ecmp")
    for row in summary.rows:
        row.differences.pop("mean_fct_s", None)
    texts = [one.text for one in findings(summary)]
    assert texts and all("mean completion time" not in text for text in texts)
    for row in summary.rows:
        row.differences.update(dict.fromkeys(row.differences))
    assert findings(summary) == [] and "with 3 seeds: more seeds" in no_finding(summary)
    assert no_finding(summarise(results)) == "" and Content(results, "ecmp").classes
