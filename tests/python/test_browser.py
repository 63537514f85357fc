"""The report in headless Chromium: it renders, without errors and without network requests."""

from __future__ import annotations

import re

import pytest

import sample
from chromium import opened
from weft import Results, report


@pytest.fixture(scope="module")
def page(browser, results: Results, tmp_path_factory: pytest.TempPathFactory):
    """The sample's report."""
    return opened(browser, report(results, tmp_path_factory.mktemp("page") / "report.html"))


OVERLAPS = """() => [...document.querySelectorAll('.chart svg')].flatMap(svg => {
  const corners = text => {
    const box = text.getBBox(), at = text.getScreenCTM(), inset = Math.min(2, box.height / 4);
    return [[0, 0], [1, 0], [1, 1], [0, 1]].map(([x, y]) => new DOMPoint(
      box.x + (x ? box.width - 1 : 1), box.y + (y ? box.height - inset : inset)).matrixTransform(at));
  };
  const seen = text => text.textContent.trim() && +getComputedStyle(text).opacity > 0;
  const texts = [...svg.querySelectorAll('text')].filter(seen).map(text => [text.textContent, corners(text)]);
  const apart = (a, b) => [a, b].some(quad => [0, 1].some(i => {
    const [dx, dy] = [quad[i + 1].x - quad[i].x, quad[i + 1].y - quad[i].y];
    const along = points => points.map(point => point.x * dx + point.y * dy);
    return Math.max(...along(a)) <= Math.min(...along(b)) || Math.max(...along(b)) <= Math.min(...along(a));
  }));
  return texts.flatMap(([name, box], i) =>
    texts.slice(i + 1).filter(([, other]) => !apart(box, other)).map(([other]) => `${name} / ${other}`));
})"""
"""Pairs of texts of a chart whose rotated boxes overlap, by the separating axis theorem."""


def count(page, selector):
    return page.locator(selector).count()


def test_every_figure_is_drawn(page):
    assert page.evaluate("document.documentElement.dataset.ready") == "yes"
    for ident, marks, least in (
        ("completion", ".mark-symbol path", 18),
        ("throughput", ".mark-symbol path", 18),
        ("curves", ".mark-line path", 9),
        ("over-time", ".mark-line path", 12),
        ("queues", ".mark-line path", 6),
    ):
        assert count(page, f"#{ident} svg {marks}") >= least, ident
    assert count(page, "svg.fabric .links line") == 96
    assert count(page, "#comparison tbody tr") == 18


def test_the_page_is_not_wider_than_the_window(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    overflowing = "[...document.querySelectorAll('.chart')].filter(c => c.scrollWidth > c.clientWidth).map(c => c.id)"
    assert page.evaluate(overflowing) == []


@pytest.mark.parametrize("width", [1400, 800, 400])
def test_no_window_is_too_narrow_for_the_page(browser, results, tmp_path, width):
    page = opened(browser, report(results, tmp_path / "report.html"), width)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    # The drawing scrolls in its box before its labels become too small to read.
    assert page.evaluate("document.querySelector('.fabric').getBoundingClientRect().width") >= 600
    page.close()


@pytest.mark.parametrize(
    ("mark", "values"),
    [
        (
            "#completion .mark-symbol path",
            [r"mean over seeds\s*[\d.]+ (µs|ms|s)", r"interval\s*[\d.]+ \S+ to [\d.]+ (µs|ms|s)"],
        ),
        ("#throughput .mark-symbol path", [r"mean over seeds\s*[\d.]+ [MG]bps"]),
        ("#curves .mark-symbol path", [r"flow completion time\s*[\d.]+ (µs|ms|s)", r"share of flows\s*[\d.]+ %"]),
        ("#over-time .mark-symbol path", [r"time in the run\s*[\d.]+ (µs|ms|s)", r"delivered\s*[\d.]+ [kMGT]bps"]),
        ("#queues .mark-symbol path", [r"time in the run\s*[\d.]+ (µs|ms|s)", r"queued bytes\s*[\d.]+ k?B"]),
    ],
)
def test_every_chart_has_tooltips_with_units(page, mark, values):
    # The second to last point of the first line: neither zero nor below the first of another line.
    page.locator(mark).nth(1).dispatch_event("pointermove", {"bubbles": True})
    page.locator(mark).nth(1).dispatch_event("mousemove", {"bubbles": True})
    text = page.locator("#vg-tooltip-element").inner_text()
    assert "scheme" in text
    for value in values:
        assert re.search(value, text), text


def test_what_scrolls_by_is_hidden_by_the_bar(page):
    assert page.evaluate("getComputedStyle(document.querySelector('.bar')).backgroundColor") == "rgb(255, 255, 255)"


def test_no_texts_of_a_chart_overlap(page):
    assert page.evaluate(OVERLAPS) == []


def test_the_controls_change_what_is_shown(page):
    before = page.locator("svg.fabric .links").inner_html()
    page.locator(".tabs[data-sets=scheme] button[value=spray]").click()
    assert page.locator("svg.fabric .links").inner_html() != before
    line = page.locator("#curves svg .mark-line path").first
    shape = line.get_attribute("d")
    page.locator("#point").select_option("load 0.4")
    page.wait_for_function(
        "d => document.querySelector('#curves svg .mark-line path').getAttribute('d') !== d", arg=shape
    )
    label = "#completion svg .role-axis-label text"
    axis = page.locator(label).all_text_contents()
    page.locator("#completion-section button[value=mean_slowdown]").click()
    page.wait_for_function(
        "([s, a]) => JSON.stringify([...document.querySelectorAll(s)].map(e => e.textContent)) !== JSON.stringify(a)",
        arg=[label, axis],
    )
    assert count(page, "#completion svg .mark-symbol path") >= 18


def test_the_copy_button_copies_the_raw_table(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#copy").click()
    page.wait_for_function("document.getElementById('copy').textContent === 'Copied'")


def test_nothing_is_complained_about_and_nothing_is_fetched(page):
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert len(page.requests) == 1


def test_the_check_for_overlap_finds_what_overlaps(page):
    page.evaluate("""() => document.querySelector('.chart svg').insertAdjacentHTML('beforeend', `<g id="probe">
        <text x="300" y="20">first, long</text><text x="320" y="24">second</text>
        <text transform="translate(500,90) rotate(-30)">slanted, long</text>
        <text transform="translate(530,90) rotate(-30)">beside</text></g>`)""")
    assert page.evaluate(OVERLAPS) == ["first, long / second"]
    page.evaluate("document.getElementById('probe').remove()")


@pytest.mark.parametrize(
    "sweep",
    [
        {"scheme.name": ["ecmp"]},
        {"scheme.name": ["ecmp", "spray"], "transport.profile": ["linux", "dctcp"]},
        {
            "scheme.name": ["ecmp", "spray"],
            "traffic.load": [0.2, 0.4, 0.6],
            "fabric.queue": ["50 packets", "1000 packets"],
            "transport.profile": ["linux", "dctcp"],
        },
    ],
    ids=["one scheme", "a sweep over names", "a sweep over several keys"],
)
def test_a_small_result_without_intervals_is_drawn_without_complaint(browser, tmp_path, sweep):
    directory = sample.write_results(tmp_path / "r", sweep, seeds=1, flows=40, samples=6)
    page = opened(browser, report(directory))
    assert page.complaints == []
    assert page.evaluate(OVERLAPS) == []
    assert count(page, "#completion svg :is(.mark-rect, .mark-symbol) path") >= 3
