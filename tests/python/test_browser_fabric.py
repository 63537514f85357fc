"""The drawing of the fabric and the values of its links, in headless Chromium."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
from collections import defaultdict

import polars as pl
import pytest

import sample
from chromium import opened
from report_page import HOW, fragment, go, lines_of, resize, saved, settled, titles
from weft import Results, extracts, report
from weft.statistics import Estimate, estimate, paired_difference


def test_the_drawing_shows_a_scheme_a_difference_and_queues(page, results):
    lines = page.locator("svg.fabric .links")
    shown = [lines.inner_html()]
    page.locator(".tabs[data-sets=scheme] button[value=spray]").click()
    shown.append(lines.inner_html())
    page.locator("#other").select_option("ecmp")
    page.wait_for_selector(".fabric .links .d10")
    shown.append(lines.inner_html())
    use = extracts.link_use(results).filter(pl.col("point") == "load 0.2")
    values = {(s, a, b): u for _, s, a, b, u, *_ in use.iter_rows()}
    change = values["spray", "e0", "a0"] - values["ecmp", "e0", "a0"]
    expected = round((round(change, 3) + 1) / 2 * 20)
    at = page.evaluate("[...document.querySelectorAll('#link option')].findIndex(o => o.textContent === 'e0 → a0')") - 1
    line = page.locator(".fabric .links line").nth(at)
    assert int(re.search(r"\bd(\d+)", line.get_attribute("class"))[1]) == pytest.approx(expected, abs=1)
    assert re.search(r"spray [\d.]+ % \(.*\)\necmp [\d.]+ % \(.*\)\ndifference ", line.text_content())
    assert "spray minus ecmp" in page.locator("svg.fabric").get_attribute("aria-label")
    page.locator(".tabs[data-sets=view] button[value=queue]").click()
    page.wait_for_function("document.getElementById('scale-low').textContent.includes('kB')")
    shown.append(lines.inner_html())
    assert len(set(shown)) == 4


def number(text):
    """The value of a quantity in a tooltip, in the unit of the results."""
    value, _, unit = text.partition(" ")
    factor = {"": 1, "%": 0.01, "points": 0.01, "B": 1, "kB": 1000}[unit]
    return float(value.replace("−", "-").replace(",", "")) * factor


def tooltip_of(page, link):
    """The lines of the tooltip of a link in the drawing."""
    at = page.evaluate("l => [...document.querySelectorAll('#link option')].findIndex(o => o.textContent === l)", link)
    return page.locator(".fabric .links line").nth(at - 1).text_content().split("\n")


def agrees(line, words, known, at_most=float("inf"), at_least=0.0):
    """Whether a line of a tooltip has these words around an estimate and its interval."""
    before, after = words
    found = re.fullmatch(rf"{before}(\S+(?: %| points| k?B)?){after} \((.+) to (.+)\)", line)
    assert found, line
    mean, low, high = (number(text) for text in found.groups())
    step = 0.0006 if known.mean < 1 else 80  # Of the page's whole numbers; queues over time are coarser.
    assert mean == pytest.approx(known.mean, abs=step, rel=0.006), line
    wide = 0.03 * known.half + step
    assert low == pytest.approx(max(known.low, at_least), abs=wide, rel=0.006), line
    assert high == pytest.approx(min(known.high, at_most), abs=wide, rel=0.006), line


def by_seed(results, point, scheme, column):
    """Values of the link e0 → a0 by seed."""
    rows = results.links().filter(
        (pl.col("point") == point) & (pl.col("scheme") == scheme) & (pl.col("from") == "e0") & (pl.col("to") == "a0")
    )
    return dict(rows.select("seed", column).iter_rows())


def sampled_by_seed(results, point, metric):
    """Samples of the link e0 → a0 at the end of a step of 20 ms, by scheme and step; those of idle links are zero."""
    rows = results.series(metric).filter((pl.col("point") == point) & (pl.col("entity") == "e0->a0"))
    found = defaultdict(lambda: dict.fromkeys(results.seeds, 0.0))
    for scheme, time, seed, value in rows.select("scheme", "time_ps", "seed", "value").iter_rows():
        step, rest = divmod(time, 20 * 10**9)
        assert rest == 0
        found[scheme, step - 1][seed] = value
    return found


def test_a_link_tells_its_means_with_intervals(page_in_use, results):
    go(page_in_use, "point=load 0.4&scheme=spray")
    title, *lines, last = tooltip_of(page_in_use, "e0 → a0")
    assert title == "e0 → a0: 1.00 Gbps, 25.0 µs"
    assert last == "In brackets: 95 % interval of the mean over seeds"
    expected = [("utilisation", ("", " used"), 1), ("drops", ("", " drops per run"), float("inf"))]
    expected += [("max_queue_bytes", ("largest queue ", ""), float("inf"))]
    for (column, words, most), line in zip(expected, lines, strict=True):
        agrees(line, words, estimate(by_seed(results, "load 0.4", "spray", column).values()), most)
    go(page_in_use, "point=load 0.4&scheme=spray&link=e0 → a0")
    facts = page_in_use.locator("#link-facts").inner_text().split("\n")
    assert f"spray, measurement window: {', '.join(lines)}" in facts
    assert facts[-1] == last


def test_a_link_tells_its_means_in_a_step_with_intervals(page_in_use, results):
    go(page_in_use, "point=load 0.4&scheme=spray&time=9")
    _, *lines, last = tooltip_of(page_in_use, "e0 → a0")
    assert last == "In brackets: 95 % interval of the mean over seeds"
    used, queue = (
        estimate(sampled_by_seed(results, "load 0.4", metric)["spray", 9].values())
        for metric in ("link_utilisation", "queue_bytes")
    )
    assert used.low != used.high
    agrees(lines[0], ("", " used"), used, 1)
    agrees(lines[1], ("largest queue ", ""), queue)
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("view", "column", "metric", "most"),
    [("utilisation", "utilisation", "link_utilisation", 1), ("queue", "max_queue_bytes", "queue_bytes", float("inf"))],
)
def test_a_difference_is_shown_with_both_schemes_and_intervals(page_in_use, results, view, column, metric, most):
    names = ("spray", "ecmp")
    go(page_in_use, f"point=load 0.4&scheme=spray&second=ecmp&minus=yes&view={view}")
    _, first, second, change, _ = tooltip_of(page_in_use, "e0 → a0")
    one, two = (by_seed(results, "load 0.4", name, column) for name in names)
    for line, name, values in zip((first, second), names, (one, two), strict=True):
        agrees(line, (f"{name} ", ""), estimate(values.values()), most)
    paired = paired_difference(one, two)
    agrees(change.replace("+", ""), ("difference ", ""), paired, at_least=-float("inf"))
    assert "The interval of a difference is paired by seed." in page_in_use.locator("#time-note").inner_text()
    go(page_in_use, f"point=load 0.4&scheme=spray&second=ecmp&minus=yes&view={view}&time=9")
    sampled = sampled_by_seed(results, "load 0.4", metric)
    one, two = (estimate(sampled[name, 9].values()) for name in names)
    mean, half = one.mean - two.mean, math.hypot(one.half, two.half)
    _, _, _, change, _ = tooltip_of(page_in_use, "e0 → a0")
    apart = Estimate(mean, mean - half, mean + half, 3)
    agrees(change.replace("+", ""), ("difference ", ""), apart, at_least=-float("inf"))
    assert "takes the seeds of both schemes as independent" in page_in_use.locator("#time-note").inner_text()


def test_the_series_of_a_link_has_intervals_in_tooltips_and_csv(page_in_use, results):
    go(page_in_use, "point=load 0.4&link=e0 → a0")
    for at, unit in ((0, "%"), (1, "k?B")):
        panel = page_in_use.locator("#link-series .mark-symbol").nth(at).locator("path").nth(9)
        panel.dispatch_event("pointermove", {"bubbles": True})
        panel.dispatch_event("mousemove", {"bubbles": True})
        text = page_in_use.locator("#vg-tooltip-element").inner_text()
        assert re.search(rf"mean over seeds\s*[\d.]+ {unit}\s*95 % interval\s*[\d.]+( {unit})? to [\d.]+ {unit}", text)
    rows = list(csv.DictReader(io.StringIO(saved(page_in_use, '[data-csv="link-series"]'))))
    assert len(rows) == 150
    sampled = {metric: sampled_by_seed(results, "load 0.4", metric) for metric in ("link_utilisation", "queue_bytes")}
    for row in rows:
        for metric, name, most in (
            ("link_utilisation", "utilisation", 1),
            ("queue_bytes", "queue_bytes", float("inf")),
        ):
            step = round(float(row["time_s"]) / 0.02 - 0.5)
            known = estimate(sampled[metric][row["scheme"], step].values())
            near = {"abs": 0.03 * known.half + (0.0011 if metric == "link_utilisation" else 40)}
            assert float(row[name]) == pytest.approx(known.mean, **near)
            assert float(row[f"{name}_low"]) == pytest.approx(max(known.low, 0), **near)
            assert float(row[f"{name}_high"]) == pytest.approx(min(known.high, most), **near)


def test_the_links_are_saved_as_csv_with_intervals(page_in_use, results):
    go(page_in_use, "point=load 0.4")
    rows = list(csv.DictReader(io.StringIO(saved(page_in_use, '[data-csv="fabric-drawing"]'))))
    assert len(rows) == 3 * 96
    (row,) = (row for row in rows if (row["scheme"], row["from"], row["to"]) == ("spray", "e0", "a0"))
    for name, column in (("utilisation",) * 2, ("queue_bytes", "max_queue_bytes"), ("drops_per_run", "drops")):
        known = estimate(by_seed(results, "load 0.4", "spray", column).values())
        found = [float(row[end]) for end in (name, f"{name}_low", f"{name}_high")]
        most = 1 if name == "utilisation" else float("inf")
        near = 0.03 * known.half + (0.0011 if name == "utilisation" else 0.11)
        assert found == pytest.approx([known.mean, max(known.low, 0), min(known.high, most)], abs=near)


def test_tooltips_are_within_a_narrow_window(page):
    resize(page, 400)
    go(page, "point=load 0.4&link=e0 → a0")
    page.locator("#link-series").scroll_into_view_if_needed()
    settled(page)
    marks = page.locator("#link-series .mark-symbol path")
    marks.nth(marks.count() - 1).hover(force=True)
    page.wait_for_function("document.querySelector('#vg-tooltip-element.visible')")
    box = page.locator("#vg-tooltip-element").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 400


@pytest.mark.parametrize(("width", "scrolls"), [(400, True), (1200, False)])
def test_a_drawing_that_scrolls_says_so(page, width, scrolls):
    resize(page, width)
    assert page.evaluate("(d => d.scrollWidth > d.clientWidth)(document.querySelector('.drawing'))") == scrolls
    assert page.locator(".sideways").is_visible() == scrolls
    if scrolls:
        page.locator(".drawing").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("document.querySelector('.drawing').scrollLeft > 0")


def test_the_slider_moves_through_time_and_has_the_events(page):
    before = page.locator("svg.fabric .links").inner_html()
    page.locator("#time").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert fragment(page) == {"time": ["1"]}
    assert page.locator("#clock").inner_text() == "20.0 ms to 40.0 ms"
    assert page.locator("#time").get_attribute("aria-valuetext") == "20.0 ms to 40.0 ms"
    assert page.locator("svg.fabric .links").inner_html() != before
    event = page.locator("#time-events button")
    assert event.get_attribute("aria-label") == "Event at 300 ms: fail e0-a1"
    event.click()
    assert page.locator("#clock").inner_text() == "300 ms to 320 ms"
    page.keyboard.press("Home")
    page.locator("#play").click()
    page.wait_for_function("Number(document.getElementById('time').value) >= 17")
    page.locator("#play").click()
    assert page.locator("#play").get_attribute("aria-pressed") == "false"


@HOW
def test_a_link_has_its_series(page, how):
    if how == "mouse":
        box = page.locator(".fabric .links line").first.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    else:
        page.locator("#link").focus()
        page.keyboard.press("ArrowDown")
    page.wait_for_selector("#link-panel:visible")
    first = fragment(page)["link"][0]
    assert first in ("h0 → e0", "e0 → h0")
    go(page, "link=e0 → a0")
    assert titles(page, "link-series") == ["utilisation", "queue"]
    assert lines_of(page, "link-series") == 6
    assert "e0 → a0: 1.00 Gbps" in page.locator("#link-facts").inner_text()
    page.locator("#reverse").click()
    assert fragment(page) == {"link": ["a0 → e0"]}


def class_of(page, link):
    """The classes of a link's line."""
    at = page.evaluate("l => [...document.querySelectorAll('#link option')].findIndex(o => o.textContent === l)", link)
    return page.locator(".fabric .links line").nth(at - 1).get_attribute("class").split()


def test_a_link_that_fails_is_drawn_as_down_from_then_on_only(page_in_use):
    for time, is_down in (("", False), ("&time=14", False), ("&time=15", True), ("&time=20", True)):
        go(page_in_use, f"point=load 0.4&scheme=spray&link=e0 → a1{time}")
        title, used, *_ = tooltip_of(page_in_use, "e0 → a1")
        assert ("down" in class_of(page_in_use, "e0 → a1")) == is_down
        assert title.endswith(", down in this step") == is_down
        assert title.endswith(", down at the end of the run") == (time == "")
        assert re.fullmatch(r"[\d.]+ % used \(.*\)", used)
        assert any(re.fullmatch(r"u\d+", kind) for kind in class_of(page_in_use, "e0 → a1"))
        assert page_in_use.locator("#link-facts").inner_text().startswith(title)


def test_a_link_is_down_at_the_end_only_at_the_points_whose_events_take_it_down(browser, tmp_path):
    directory = sample.write_results(tmp_path / "r", {"traffic.load": [0.2, 0.4]}, seeds=1, flows=40, samples=6)
    sample.add_event(directory, sample.failure(300 * 10**9, "e1", "a1"), runs="0001")
    page = opened(browser, report(directory))
    for point, is_down in (("load 0.4", True), ("load 0.2", False)):
        go(page, f"point={point}&link=e1 → a1")
        assert tooltip_of(page, "e1 → a1")[0].endswith(", down at the end of the run") == is_down
        assert page.locator("#link-facts").inner_text().startswith(tooltip_of(page, "e1 → a1")[0])
    page.close()


@pytest.mark.parametrize("view", ["utilisation", "queue"])
@pytest.mark.parametrize("time", ["", "&time=9"])
def test_differences_have_rounded_and_possible_limits(page_in_use, view, time):
    go(page_in_use, f"point=load 0.4&scheme=spray&second=ecmp&minus=yes&view={view}{time}")
    texts = [text for text in page_in_use.locator(".fabric .links line").all_text_contents() if "difference" in text]
    assert len(texts) > 90
    for text in texts:
        for value, unit in re.findall(r"([\d.,]+) (points|k?B)", text):
            assert len(value.replace(",", "").replace(".", "").lstrip("0")) <= 4, text
            assert unit != "points" or float(value) <= 100, text


def test_the_difference_of_a_link_is_below_the_drawing_and_in_the_csv(page_in_use):
    for time, when in (("", "measurement window"), ("&time=9", "180 ms to 200 ms")):
        go(page_in_use, f"point=load 0.4&scheme=spray&second=ecmp&minus=yes&link=e0 → a0{time}")
        change = tooltip_of(page_in_use, "e0 → a0")[3].removeprefix("difference ")
        (fact,) = (text for text in page_in_use.locator("#link-facts").inner_text().split("\n") if "minus" in text)
        assert fact.startswith(f"spray minus ecmp, {when}: utilisation {change}, ")
        rows = list(csv.DictReader(io.StringIO(saved(page_in_use, '[data-csv="fabric-drawing"]'))))
        of_link = {row["scheme"]: row for row in rows if (row["from"], row["to"]) == ("e0", "a0")}
        assert of_link["spray"]["minus"] == "ecmp"
        shown = [number(text) for text in re.fullmatch(r"(.+) \((.+) to (.+)\)", change.replace("+", "")).groups()]
        ends = [float(of_link["spray"][f"utilisation_difference{end}"]) for end in ("", "_low", "_high")]
        assert ends == pytest.approx(shown, rel=0.006, abs=1e-4)
        assert of_link["ecmp"]["minus"] == of_link["ecmp"]["queue_bytes_difference"] == ""


def test_a_scheme_with_one_seed_is_named_where_an_interval_is_missing(browser, tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp", "spray"]}, seeds=2, flows=40, samples=6)
    (gone,) = (run for run in Results(directory).finished if (run.scheme, run.seed) == ("spray", 2))
    shutil.rmtree(gone.path)
    page = opened(browser, report(directory), fragment="#scheme=ecmp&second=spray&minus=yes")
    _, first, second, change, last = tooltip_of(page, "e0 → a0")
    assert re.fullmatch(r"ecmp [\d.]+ % \(.+ to .+\)", first)
    assert re.fullmatch(r"spray [\d.]+ % \(one seed\)", second)
    assert change.endswith(": no interval (spray has one seed)")
    assert last.startswith("In brackets")
    assert page.complaints == []
    page.close()
