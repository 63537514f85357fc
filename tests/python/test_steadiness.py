"""Runs that were not in a steady state: no mean, no difference and no verdict from them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import sample
from chromium import opened
from report_page import go
from weft import figures, paths, report, steadiness
from weft.cli.comparison import show_paths, show_summary
from weft.content import Content
from weft.difference import Difference
from weft.extracts import intervals
from weft.figures import by_size
from weft.figures.registry import FIGURES
from weft.metrics import METRICS
from weft.reporting import sections, tables
from weft.results import Results
from weft.studies.base import Study
from weft.studies.marked_groups import marked_groups, remark
from weft.studies.outcome import Outcome, Size, StudyRow, Verdict
from weft.summary import summarise
from weft.summary_table import Summary

REASON = "the backlog grows: from 10 % to 50 %"


EVERY = {
    (scheme, load, seed): "growing"
    for scheme in ("single_path", "ecmp", "spray")
    for load in (0.2, 0.4)
    for seed in (1, 2, 3)
}


def results(tmp_path: Path, marks: dict[tuple[str, float, int], str], **made: Any) -> Results:
    """Sample results in which some runs have a state; the others are of a version without it."""
    path = sample.write_results(tmp_path / "out", **made)
    for run in Results(path).runs:
        state = marks.get((run.scheme, run.overrides["traffic.load"], run.seed))
        file = run.path / "summary.json"
        if state is not None and file.is_file():
            summary = json.loads(file.read_text())
            summary["steady"] = {"state": state, "reasons": [] if state == "steady" else [REASON]}
            file.write_text(json.dumps(summary))
    return Results(path)


def printed(summary: Summary, width: int = 200) -> str:
    out = StringIO()
    show_summary(Console(file=out, width=width), summary)
    return out.getvalue()


def rows(summary: Summary, scheme: str, load: float) -> list[Any]:
    return [row for row in summary.rows if (row.group["scheme"], row.group["traffic.load"]) == (scheme, load)]


def test_results_of_an_earlier_version_and_steady_ones_are_not_marked(tmp_path: Path) -> None:
    states = {1: "steady", 2: "static", 3: "not-judged"}
    found = results(tmp_path, {("ecmp", 0.2, seed): state for seed, state in states.items()})
    summary = summarise(found, baseline="ecmp")
    assert all(row.mark is None for row in summary.rows)
    assert summary.unsteady() == []
    assert any(isinstance(one, Difference) for row in rows(summary, "spray", 0.2) for one in row.differences.values())


@pytest.mark.parametrize(
    ("state", "label"),
    [("overloaded", "unstable"), ("growing", "unstable"), ("too-short", "too short"), ("out-of-range", "out of range")],
)
def test_a_marked_point_has_no_mean_and_no_difference(tmp_path: Path, state: str, label: str) -> None:
    found = results(tmp_path, {("spray", 0.4, seed): state for seed in (1, 2, 3)})
    summary = summarise(found, baseline="ecmp")
    for row in rows(summary, "spray", 0.4):
        assert row.mark is not None
        assert row.mark.label == label
        assert not any(row.differences.values())
    assert all(row.mark is None for load in (0.2, 0.4) for row in rows(summary, "ecmp", load))
    assert any(any(row.differences.values()) for row in rows(summary, "spray", 0.2))
    text = printed(summary)
    assert label in text
    assert f"spray, load 0.4: {label} in 3 of 3 runs: {REASON}" in text.replace("\n", " ")
    shown = intervals(summary).filter(scheme="spray")
    assert set(shown["traffic.load"].to_list()) == {0.2}
    plain = summary.as_dict()["rows"]
    assert {row["mark"]["label"] for row in plain if row["mark"]} == {label}
    assert set(summary.frame()["mark"].to_list()) == {None, label}


def test_a_marked_baseline_leaves_no_difference(tmp_path: Path) -> None:
    found = results(tmp_path, {("ecmp", 0.4, 1): "overloaded"})
    summary = summarise(found, baseline="ecmp")
    assert not any(any(row.differences.values()) for row in rows(summary, "spray", 0.4))
    assert all(row.mark is None for row in rows(summary, "spray", 0.4))
    assert any(any(row.differences.values()) for row in rows(summary, "spray", 0.2))


def test_one_seed_of_several_is_said(tmp_path: Path) -> None:
    found = results(tmp_path, {("spray", 0.2, 2): "growing", ("spray", 0.2, 1): "steady"})
    [line] = summarise(found).unsteady()
    assert line == f"spray, load 0.2: unstable in 1 of 3 runs: {REASON}"


def growing(tmp_path: Path, runs: dict[tuple[str, float, int], tuple[str, float]], seeds: int = 3) -> Results:
    """Sample results with a state and the growth of the backlog, as a share of the offered bytes; its error is 2 %."""
    found = results(tmp_path, {run: state for run, (state, _) in runs.items()}, seeds=seeds)
    for run in found.finished:
        key = (run.scheme, run.overrides["traffic.load"], run.seed)
        if key in runs:
            file = run.path / "summary.json"
            summary = json.loads(file.read_text())
            later = 1e6 * (0.05 + runs[key][1])
            summary["steady"] |= {"backlog_bytes": [5e4] * 3 + [later] * 2, "growth_error_bytes": 2e4}
            summary["steady"] |= {"offered_bytes": 1e6, "arrived_share": 1 - later / 1e6}
            file.write_text(json.dumps(summary))
    return Results(found.path)


@pytest.mark.parametrize(
    ("states", "marked"),
    [
        # Growth that each run alone takes for chance: together, 21 % with an error of 3.5 %.
        ([("steady", 0.07)] * 3, (3, "the backlog grows: from 5 % in the second fifth of the arrivals to 12 %")),
        # Chance in one run, whatever it says of itself: together, 8 %.
        ([("steady", 0.08), ("steady", 0.0), ("steady", 0.0)], None),
        ([("growing", 0.09), ("steady", 0.0), ("steady", 0.0)], None),
        # Alone, a run is judged by its own numbers.
        ([("growing", 0.09)], (1, "the backlog grows: from 5 % in the second fifth of the arrivals to 14 %")),
        # Growth is judged together only where all runs were judged.
        ([("overloaded", 0.0), ("steady", 0.2), ("steady", 0.2)], (1, REASON)),
        ([("not-judged", 0.0), ("steady", 0.2), ("steady", 0.2)], None),
        # One seed has drawn a large flow late: 79 % of its bytes have arrived, of all three 93 %. It adds no growth.
        ([("too-short", 0.16), ("steady", -0.05), ("steady", -0.05)], None),
        ([("too-short", 0.4), ("steady", -0.05), ("steady", 0.0)], None),
        # Not in the other seeds either: 79 % of all.
        ([("too-short", 0.25), ("steady", 0.14), ("steady", 0.09)], (1, REASON)),
        ([("too-short", 0.25), ("overloaded", 0.0), ("steady", 0.0)], (2, REASON)),
    ],
)
def test_growth_is_judged_over_all_runs_of_a_point(
    tmp_path: Path, states: list[tuple[str, float]], marked: tuple[int, str] | None
) -> None:
    found = growing(tmp_path, {("spray", 0.4, seed): state for seed, state in enumerate(states, 1)}, seeds=len(states))
    [*others, mark] = [row.mark for row in summarise(found, by=["scheme", "traffic.load"]).rows]
    assert not any(others)
    if marked is None:
        assert mark is None
        assert marked_groups({"part": found}) == []
    else:
        assert mark is not None
        label = steadiness.LABELS[states[0][0]] if marked[1] == REASON else "unstable"
        assert (mark.label, mark.runs, mark.of) == (label, marked[0], len(states))
        assert mark.reason.startswith(marked[1])
        [group] = marked_groups({"part": found})
        assert (group.name, len(group.runs), group.mark) == ("spray, load 0.4", len(states), mark)


def test_a_point_that_grows_is_not_hidden_by_others_of_its_group(tmp_path: Path) -> None:
    steady = {("spray", 0.2, seed): ("steady", -0.3) for seed in (1, 2, 3)}
    found = growing(tmp_path, steady | {("spray", 0.4, seed): ("steady", 0.2) for seed in (1, 2, 3)})
    marks = {row.group["scheme"]: row.mark for row in summarise(found, by=["scheme"]).rows}
    assert marks["spray"] is not None
    assert (marks["spray"].runs, marks["spray"].of) == (3, 6)


def test_runs_of_two_directories_are_not_judged_together(tmp_path: Path) -> None:
    states = {("spray", 0.4, seed): ("steady", 0.05) for seed in (1, 2, 3)}
    one, other = growing(tmp_path / "a", states), growing(tmp_path / "b", dict.fromkeys(states, ("steady", -0.05)))
    for parts in ({"one": one, "other": other}, {"other": other, "one": one}):
        assert "3 of 36 runs were not in a steady state" in remark(marked_groups(parts), parts)


def test_grouping_without_a_key_marks_what_contains_a_marked_run(tmp_path: Path) -> None:
    found = results(tmp_path, {("spray", 0.2, 2): "growing"})
    summary = summarise(found, by=["scheme"])
    marks = {row.group["scheme"]: row.mark for row in summary.rows}
    assert marks["spray"] is not None
    assert (marks["spray"].runs, marks["spray"].of) == (1, 6)
    assert marks["ecmp"] is None


@pytest.mark.parametrize("loads", [[0.5, 1], [1, 0.5]])
def test_marks_hold_where_a_key_has_whole_and_fractional_numbers(tmp_path: Path, loads: list[float]) -> None:
    sweep: dict[str, list[Any]] = {"scheme.name": ["ecmp", "spray"], "traffic.load": loads}
    found = results(tmp_path, {("spray", 1, seed): "overloaded" for seed in (1, 2, 3)}, sweep=sweep)
    summary = summarise(found, baseline="ecmp")
    assert list(dict.fromkeys(row.group["traffic.load"] for row in summary.rows)) == loads
    marks = {(row.group["scheme"], row.group["traffic.load"]): row.mark is not None for row in summary.rows}
    assert {place for place, marked in marks.items() if marked} == {("spray", 1)}
    assert "unstable in 3 of 3 runs" in printed(summary)


def test_differences_are_corrected_for_the_number_that_is_left(tmp_path: Path) -> None:
    kept = {(scheme, load, seed) for scheme, load, seed in EVERY if scheme == "single_path" and load == 0.4}
    kept |= {("ecmp", 0.4, seed) for seed in (1, 2, 3)}
    summary = summarise(results(tmp_path, {run: "growing" for run in EVERY if run not in kept}), baseline="ecmp")
    left = [one for row in summary.rows for one in row.differences.values() if one]
    assert {row.group["scheme"] for row in summary.rows if row.differences} == {"single_path"}
    assert summary.family == len([one for one in left if one.p is not None])
    text = printed(summary)
    assert "Signed: difference from ecmp" in text
    assert f"(up to {summary.family})" in text


def test_nothing_is_said_about_differences_and_quantiles_if_all_are_marked(tmp_path: Path) -> None:
    found = results(tmp_path, EVERY, flows=60)
    summary = summarise(found, baseline="ecmp")
    assert summary.family == 0
    assert not any(row.differences or row.shared for row in summary.rows)
    assert summary.signs() == []
    text = printed(summary)
    assert "Signed" not in text
    assert "‡" not in text
    page = sections.table(Content(found, "ecmp"))
    assert "Below: difference" not in page


def test_the_reports_table_has_the_label_and_the_reason(tmp_path: Path) -> None:
    found = results(tmp_path, {("spray", 0.4, seed): "too-short" for seed in (1, 2, 3)})
    page = tables.comparison(Content(found, "ecmp"))
    assert f'title="too short in 3 of 3 runs: {REASON}"' in page
    assert page.count('<small class="bad">too short</small>') > 0


def test_figures_say_which_points_they_leave_out(tmp_path: Path) -> None:
    found = results(tmp_path, {("spray", 0.4, seed): "too-short" for seed in (1, 2, 3)})
    [file] = figures.write(found, tmp_path, ["svg"], only=["slowdown"])
    texts = file.read_text()
    assert "Not shown:" in texts
    assert "spray, load 0.4: too short in 3 of 3 runs" in texts


def with_parts(found: Results) -> Results:
    """The results with an event and a collective in each run."""
    event = sample.failure(10**11, "e0", "a1", frames_lost=3, flows_hit=2)
    for run in found.finished:
        file = run.path / "summary.json"
        summary = json.loads(file.read_text())
        ratio = 1 + 0.1 * found.schemes.index(run.scheme) + 0.01 * run.seed
        job = {"group": 1, "class": "ring", "kind": "ring", "completion_ps": 10**9 * ratio, "bound_ps": 10**9}
        summary |= {"events": [event], "collectives": [job | {"ratio": ratio}]}
        file.write_text(json.dumps(summary))
    return Results(found.path)


SPRAY = {("spray", 0.4, seed): "too-short" for seed in (1, 2, 3)}


@pytest.mark.parametrize("baseline", ["ecmp", "spray"])
def test_events_and_collectives_have_the_label_too(tmp_path: Path, baseline: str) -> None:
    found = with_parts(results(tmp_path, SPRAY))
    for listed, columns in (
        (paths.events(found), paths.EVENT_COLUMNS),
        (paths.collectives(found, baseline), paths.COLLECTIVE_COLUMNS),
    ):
        marked = [row for row in listed if row.mark is not None]
        assert [(row.point, row.scheme) for row in marked] == [("load 0.4", "spray")]
        assert not any(row.differences for row in listed if baseline == "spray" and row.point == "load 0.4")
        assert not marked[0].differences
        out = StringIO()
        show_paths(Console(file=out, width=200), "", marked, columns)
        assert "too short" in out.getvalue()
        assert "±" not in out.getvalue()
        assert not any(character.isdigit() for character in out.getvalue().splitlines()[-2].split("spray")[1])
        page = tables.paths(marked, columns, "x")
        assert page.count('<small class="bad">too short</small>') == len(paths.telling(marked, columns))
        assert "data-v" not in page
        assert [row["mark"]["label"] for row in paths.as_dict(listed) if row["mark"]] == ["too short"]
    kept = [row for row in paths.collectives(found, baseline) if row.point == "load 0.2" and row.scheme != baseline]
    assert all(row.differences["completion_s"] for row in kept)


def test_static_runs_keep_the_numbers_of_their_collectives(tmp_path: Path) -> None:
    found = with_parts(results(tmp_path, dict.fromkeys(EVERY, "static")))
    rows_of = paths.collectives(found, "ecmp")
    assert all(row.mark is None and row.estimates["completion_s"] for row in rows_of)
    assert sum(bool(row.differences) for row in rows_of) == 4


def test_the_copied_table_has_no_numbers_of_marked_groups(tmp_path: Path) -> None:
    text = tables.tsv(summarise(results(tmp_path, SPRAY), baseline="ecmp"))
    copied = pl.read_csv(StringIO(text), separator="\t")
    numbers = [name for name in copied.columns if name.startswith(tuple(metric.key for metric in METRICS))]
    marked = copied.filter(pl.col("mark") == "too short")
    assert len(marked) == 3
    assert marked.select(numbers).null_count().row(0) == (3,) * len(numbers)
    assert copied.filter(pl.col("mark").is_null())["mean_fct_s"].null_count() == 0


def test_figures_of_data_have_the_label_beside_the_scheme(tmp_path: Path) -> None:
    found = with_parts(results(tmp_path, SPRAY))
    names = ["fct-cdf", "throughput-time", "queues", "fabric"]
    files = figures.write(found, tmp_path / "f", ["svg"], only=names)
    assert {file.stem: "spray (too short)" in file.read_text() for file in files} == {
        f"{name}-load-{load}": load == 0.4 for name in names for load in (0.2, 0.4)
    }
    for file in figures.write(found, tmp_path / "f", ["svg"], only=["collective-time", "collective-ratio"]):
        assert "spray, load 0.4: too short in 3 of 3 runs" in file.read_text()


def test_the_figure_by_size_leaves_out_schemes_without_a_steady_state(tmp_path: Path) -> None:
    found = results(tmp_path, SPRAY)
    [table] = by_size.FIGURE.data(Content(found, None)).values()
    drawn = set(table.select("scheme", "point").unique().iter_rows())
    assert ("spray", "load 0.4") not in drawn
    assert drawn >= {("ecmp", "load 0.4"), ("spray", "load 0.2")}
    for file in figures.write(found, tmp_path / "f", ["svg"], only=["fct-by-size"]):
        assert ("Not shown:" in file.read_text()) == ("0.4" in file.stem)
    assert "are left out" in by_size.FIGURE.caption(Content(found, None))


def test_the_page_has_the_label_beside_the_scheme_at_its_point(tmp_path: Path, browser: Any) -> None:
    found = results(tmp_path, SPRAY)
    page = opened(browser, report(found.path, tmp_path / "report.html"))
    labels = page.locator(".legend .bad, .tabs .bad")
    assert labels.count() == 0
    go(page, "point=load+0.4&scheme=spray&second=ecmp")
    assert labels.all_inner_texts() == ["too short"] * 2
    assert labels.first.get_attribute("title") == f"too short in 3 of 3 runs: {REASON}"
    page.wait_for_selector("#pairs-counts .bad")
    assert page.locator("#pairs-counts .bad").count() == 4
    go(page, "point=load+0.2")
    assert labels.count() == 0
    assert page.complaints == []
    page.close()


def test_it_is_said_that_no_point_was_in_a_steady_state(tmp_path: Path, weft: Any) -> None:
    found = results(tmp_path, EVERY)
    said, reason = "No point was in a steady state", f": unstable in 3 of 3 runs: {REASON}"
    for by_class in (figure for figure in FIGURES if figure.measures):
        page = sections.figure(Content(found, "ecmp"), by_class, [])
        assert "No flow finished" not in page
        assert f"{said}, so there are no means to show. The top of the page has the reasons." in page
    top = report(found.path, tmp_path / "report.html").read_text().split("</header>")[0]
    assert top.count(reason) == 1, "one reason for all points"
    assert "<p>single_path, load 0.2; ecmp, load 0.2; spray, load 0.2; " in top
    assert said in sections.figure(Content(found, "ecmp"), by_size.FIGURE, [])
    failed = weft("plot", found.path, "--only", "fct-mean")
    assert failed.exit_code != 0
    assert said in weft("plot", found.path, "--only", "fct-by-size").output
    plotted = weft("plot", found.path, "--format", "svg", "-o", tmp_path / "all")
    assert plotted.exit_code == 0
    for text in (failed.output, plotted.output):
        assert said in text
        assert reason in " ".join(text.split())


class Sample(Study):
    """A study with a claim from each load, one from the traffic, one from another part, and one that has a note."""

    name = "sample"
    summary = chosen = ""
    of_traffic = ("traffic",)

    def parts(self, size: Size) -> list[Any]:
        """No runs."""
        return []

    def judge(self, results: dict[str, Results]) -> Outcome:
        """The number of runs of each kind."""

        def row(ident: str, value: int, note: str = "") -> StudyRow:
            return StudyRow(ident, "", Verdict.held, float(value), None, None, "", note)

        one = results["one"].finished if "one" in results else []
        of_load = {load: sum(run.overrides["traffic.load"] == load for run in one) for load in (0.2, 0.4)}
        rows = [row(f"S{load}", runs) for load, runs in of_load.items()]
        rows += [row("traffic", len(one)), row("note", of_load[0.2], f"beside: {of_load[0.4]} runs")]
        return Outcome([*rows, row("other", len(results["other"].finished))], [])

    def draw(self, results: dict[str, Results], out: Path, formats: Any) -> list[Path]:
        """Nothing."""
        return []


def judged(tmp_path: Path, marks: dict[tuple[str, float, int], str]) -> dict[str, StudyRow]:
    parts = {name: results(tmp_path / name, found) for name, found in (("one", marks), ("other", {}))}
    return {row.id: row for row in Sample().judged(parts).rows}


def test_a_study_gives_no_verdict_from_marked_runs(tmp_path: Path) -> None:
    rows = judged(tmp_path, {("spray", 0.4, seed): "overloaded" for seed in (1, 2, 3)})
    assert {ident for ident, row in rows.items() if row.verdict == Verdict.not_measured} == {"S0.4"}
    said = "no verdict: 3 of 3 runs were not in a steady state, in one (spray, load 0.4) unstable: "
    assert rows["S0.4"].note == said + REASON
    assert rows["S0.4"].measured is not None
    # What is only in a note is that of the other runs.
    assert rows["note"].note == "beside: 6 runs"


def test_a_row_names_a_marked_group_that_matters_to_it(tmp_path: Path) -> None:
    rows = judged(tmp_path, {("ecmp", 0.2, 1): "growing", ("spray", 0.4, 2): "too-short"})
    assert "1 of 3 runs were not in a steady state, in one (ecmp, load 0.2) unstable" in rows["S0.2"].note
    assert "1 of 3 runs were not in a steady state, in one (spray, load 0.4) too short" in rows["S0.4"].note


def test_a_part_without_a_steady_run_decides_only_its_own_claims(tmp_path: Path) -> None:
    every = {(s, load, seed): "too-short" for s in sample.SPEED for load in (0.2, 0.4) for seed in (1, 2, 3)}
    rows = judged(tmp_path, every)
    kept = {ident for ident, row in rows.items() if row.verdict == Verdict.held}
    assert kept == {"traffic", "other"}


def test_a_part_without_a_finished_run_is_no_marked_part(tmp_path: Path) -> None:
    marks = {("spray", 0.4, 1): "overloaded"}
    parts = {"one": results(tmp_path / "one", marks), "other": results(tmp_path / "other", {}).only([])}
    rows = {row.id: row for row in Sample().judged(parts).rows}
    assert rows["other"] == StudyRow("other", "", Verdict.held, 0.0, None, None, "", "")
    assert rows["S0.4"].verdict == Verdict.not_measured


def test_a_study_of_steady_runs_keeps_its_verdicts(tmp_path: Path) -> None:
    assert {row.verdict for row in judged(tmp_path, {}).values()} == {Verdict.held}
