"""The report in headless Chromium: it renders without errors and network requests, and follows its controls."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise
from xml.etree import ElementTree

import polars as pl
import pytest

import sample
from chromium import opened
from colours import contrast
from report_page import HOW, OVERLAPS, activate, count, fragment, go, lines_of, resize, saved, settled, titles
from waiting import until
from weft import extracts, extracts_sizes, report
from weft.figures.registry import FIGURES

IDENTS = [figure.ident for figure in FIGURES]
MEASURED = [figure.ident for figure in FIGURES if figure.measures]
TOGGLES = [toggle.name for figure in FIGURES for toggle in figure.toggles]


def test_every_figure_is_drawn(page):
    assert page.evaluate("document.documentElement.dataset.ready") == "yes"
    expected = (
        ("completion", ".mark-symbol path", 18),
        ("throughput", ".mark-symbol path", 18),
        ("by-size", ".mark-symbol path", 12),
        ("curves", ".mark-line path", 9),
        ("over-time", ".mark-line path", 12),
        ("queues", ".mark-line path", 6),
    )
    assert [ident for ident, _, _ in expected] == IDENTS
    for ident, marks, least in expected:
        assert count(page, f"#{ident} svg {marks}") >= least, ident
    assert count(page, "svg.fabric .links line") == 96
    assert count(page, "#comparison tbody tr") == 18


def test_the_page_is_not_wider_than_the_window(page):
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    overflowing = "[...document.querySelectorAll('.chart')].filter(c => c.scrollWidth > c.clientWidth).map(c => c.id)"
    assert page.evaluate(overflowing) == []


@pytest.mark.parametrize("width", [1400, 800, 400])
def test_no_window_is_too_narrow_for_the_page(page, width):
    resize(page, width)
    go(page, "link=e0 → a0")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    # The drawing scrolls in its box before its labels become too small to read.
    assert page.evaluate("document.querySelector('.fabric').getBoundingClientRect().width") >= 600
    wider = "[...document.querySelectorAll('.chart')].filter(c => c.scrollWidth > c.clientWidth).map(c => c.id)"
    assert page.evaluate(wider) == []
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize(
    ("mark", "values"),
    [
        (
            "#completion .mark-symbol path",
            [r"mean over seeds\s*[\d.]+ (µs|ms|s)", r"interval\s*[\d.]+ \S+ to [\d.]+ (µs|ms|s)"],
        ),
        ("#throughput .mark-symbol path", [r"mean over seeds\s*[\d.]+ [MG]bps"]),
        ("#curves .mark-symbol path", [r"flow completion time\s*[\d.]+ (µs|ms|s)", r"share of flows\s*[\d.]+ %"]),
        (
            "#over-time .mark-symbol path",
            [
                r"time in the run\s*[\d.]+ (µs|ms|s)",
                r"delivered, mean over seeds\s*[\d.]+ [kMGT]bps",
                r"95 % interval\s*[\d.]+ [kMGT]bps to [\d.]+ [kMGT]bps",
            ],
        ),
        (
            "#queues .mark-symbol path",
            [
                r"time in the run\s*[\d.]+ (µs|ms|s)",
                r"queued bytes, mean over seeds\s*[\d.]+ k?B",
                r"95 % interval\s*[\d.]+( k?B)? to [\d.]+ k?B",
            ],
        ),
    ],
)
def test_every_chart_has_tooltips_with_units_and_means_have_intervals(page, mark, values):
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


@HOW
def test_the_legend_hides_a_scheme_in_every_figure(page, how):
    before = {chart: lines_of(page, chart) for chart in IDENTS}
    activate(page, '.legend button[value="ecmp"]', how)
    assert fragment(page) == {"hide": ["ecmp"]}
    assert {chart: lines_of(page, chart) for chart in before} == {chart: n * 2 // 3 for chart, n in before.items()}
    assert page.locator('.legend button[value="ecmp"]').get_attribute("aria-pressed") == "false"
    assert page.locator("#said").inner_text() == "2 of 3 schemes shown: single_path, spray"
    assert page.locator("#comparison tbody tr:visible").count() == 12
    activate(page, '.legend button[value="ecmp"]', how)
    assert fragment(page) == {}
    assert lines_of(page, "curves") == before["curves"]


@pytest.mark.parametrize("how", ["double click", "shift and click", "shift and enter"])
def test_one_scheme_alone_is_shown_and_then_all_again(page, how):
    button = page.locator('.legend button[value="spray"]')
    for expected in ({"hide": ["single_path", "ecmp"]}, {}):
        if how == "double click":
            button.dblclick()
        elif how == "shift and click":
            button.click(modifiers=["Shift"])
        else:
            button.focus()
            page.keyboard.press("Shift+Enter")
        settled(page)
        assert fragment(page) == expected


def test_the_last_scheme_that_is_hidden_brings_all_back(page):
    for name in ("single_path", "ecmp", "spray"):
        page.locator(f'.legend button[value="{name}"]').click()
    assert fragment(page) == {}


@HOW
def test_a_class_is_left_out_of_every_figure(page, how):
    before = {chart: titles(page, chart) for chart in (*IDENTS, "pairs")}
    activate(page, '.chips button[value="rabbit"]', how)
    for chart, found in before.items():
        assert titles(page, chart) == [title for title in found if title not in ("rabbit", "all")], chart
    assert [chart for chart, found in before.items() if "rabbit" not in found] == ["by-size", "queues"]
    assert fragment(page) == {"without": ["rabbit"]}
    assert page.locator("#comparison tbody tr:visible").count() == 12


def test_the_values_of_the_sweep_drive_every_figure(page):
    shape = "c => document.querySelector(`#${c} svg .mark-line path`).getAttribute('d')"
    rule = "c => document.querySelector(`#${c} svg .mark-rule.role-mark line`).getAttribute('transform')"
    # The whole sweep is along the axis of a figure of means, where a rule marks the chosen value.
    seen = {chart: rule if chart in MEASURED else shape for chart in IDENTS}
    before = {chart: page.evaluate(script, chart) for chart, script in seen.items()}
    links = page.locator("svg.fabric .links").inner_html()
    slow = page.locator("#slowest").inner_text()
    page.locator("#key-0").select_option("0.4")
    settled(page)
    assert fragment(page) == {"point": ["load 0.4"]}
    for chart, script in seen.items():
        assert page.evaluate(script, chart) != before[chart], chart
    assert page.locator("svg.fabric .links").inner_html() != links
    assert page.locator("#slowest").inner_text() != slow


@HOW
def test_axes_become_logarithmic_and_curves_complementary(page, how):
    last = """Math.max(...[...document.querySelectorAll('#curves svg .mark-line path')].map(
        p => p.getPointAtLength(p.getTotalLength()).y))"""
    low = page.evaluate(last)
    activate(page, '[data-toggle="ccdf"]', how)
    assert page.evaluate(last) > low
    label = "#completion svg .role-axis-label text"
    for toggle in sorted({*TOGGLES} - {"ccdf"}):
        pressed = page.locator(f'[data-toggle="{toggle}"]').get_attribute("aria-pressed")
        activate(page, f'[data-toggle="{toggle}"]', how)
        assert page.locator(f'[data-toggle="{toggle}"]').get_attribute("aria-pressed") != pressed
    assert sorted(fragment(page)["flip"]) == sorted(TOGGLES)
    assert "0" not in page.locator(label).all_text_contents()
    assert page.complaints == []


@pytest.mark.parametrize("chart", MEASURED)
def test_a_logarithmic_axis_below_a_decade_has_several_labels(page, chart):
    page.locator(f'[data-toggle="{chart}-y"]').click()
    settled(page)
    labels = """chart => [...document.querySelectorAll(`#${chart} svg .role-axis[aria-label^="Y-axis"]`)].map(
        axis => [...axis.querySelectorAll('.role-axis-label text')].filter(
            label => label.textContent && getComputedStyle(label).opacity > 0).length)"""
    found = page.evaluate(labels, chart)
    assert len(found) == 3 and min(found) >= 2, found


@HOW
def test_a_measure_is_chosen(page, how):
    labels = page.locator("#completion svg .role-axis-label text").all_text_contents()
    activate(page, "#completion-section button[value=mean_slowdown]", how)
    assert page.locator("#completion svg .role-axis-label text").all_text_contents() != labels
    assert fragment(page) == {"completion": ["mean_slowdown"]}
    assert count(page, "#completion svg .mark-symbol path") >= 18


def test_the_state_is_restored_on_load_and_on_back_and_forward(page, browser):
    page.locator("#key-0").select_option("0.4")
    page.locator('.legend button[value="ecmp"]').click()
    page.locator('.chips button[value="mouse"]').click()
    page.locator("#second").select_option("spray")
    page.locator("#other").select_option("spray")
    page.locator("#link").select_option(label="e0 → a0")
    page.locator('[data-toggle="ccdf"]').click()
    page.locator("#time").evaluate("t => { t.value = 7; t.dispatchEvent(new Event('input')); }")
    settled(page)
    chosen = {
        "point": ["load 0.4"], "hide": ["ecmp"], "without": ["mouse"], "second": ["spray"], "minus": ["yes"],
        "link": ["e0 → a0"], "flip": ["ccdf"], "time": ["7"],
    }  # fmt: skip
    assert fragment(page) == chosen
    again = opened(browser, page.path, fragment=page.evaluate("location.hash"))
    for one in (page, again):
        assert one.locator("#key-0").input_value() == "0.4"
        assert one.locator('.legend button[value="ecmp"]').get_attribute("aria-pressed") == "false"
        assert one.locator("#other").input_value() == "spray"
        assert one.locator("#link option:checked").inner_text() == "e0 → a0"
        assert one.locator("#time").input_value() == "7"
        assert one.locator("#link-panel").is_visible()
        assert titles(one, "curves") == ["rabbit", "elephant"]
        assert count(one, ".fabric .links .d10") > 0
        assert one.complaints == []
    again.close()
    page.go_back()
    page.go_back()
    page.wait_for_function("!location.hash.includes('link')")
    settled(page)
    assert page.locator("#link-panel").is_hidden()
    assert page.locator('[data-toggle="ccdf"]').get_attribute("aria-pressed") == "false"
    page.go_forward()
    page.wait_for_function("location.hash.includes('link')")
    assert page.locator("#link-panel").is_visible()
    page.locator("#reset").click()
    assert fragment(page) == {}


def test_a_wrong_address_is_ignored_where_it_is_wrong(page):
    go(page, "point=load 9&hide=nobody&time=x&link=a→b&view=upside&flow=1/2/3&scheme=spray")
    assert page.complaints == []
    assert page.locator('.tabs[data-sets=scheme] [aria-pressed="true"]').inner_text() == "spray"
    assert lines_of(page, "curves") == 9


def test_two_schemes_are_compared_flow_by_flow(page, results):
    page.locator("#first").select_option("ecmp")
    page.locator("#second").select_option("spray")
    page.wait_for_function("document.querySelector('#pairs-counts th:nth-child(3)')?.textContent.startsWith('ecmp')")
    settled(page)
    flows = results.flows().filter(pl.col("point") == "load 0.2")
    wide = flows.pivot("scheme", index=["seed", "flow", "class"], values="fct_s").drop_nulls()
    cells = page.locator("#pairs-counts tbody tr").last.locator("td").all_inner_texts()
    assert cells[0] == "all"
    assert int(cells[1].replace(",", "")) == len(wide)
    assert float(cells[2].split()[0]) == pytest.approx((wide["ecmp"] < wide["spray"]).mean() * 100, rel=0.01)
    assert float(cells[7]) < 1
    low, high = map(float, cells[8].split(" to "))
    assert low < float(cells[7]) < high
    marks = count(page, "#pairs svg .mark-symbol path")
    rows = list(csv.DictReader(io.StringIO(saved(page, '[data-csv="pairs"]'))))
    assert marks == sum(bool(row["fct_s ecmp"] and row["fct_s spray"]) for row in rows)
    known = {(s, f): (e, p) for s, f, e, p in wide.select("seed", "flow", "ecmp", "spray").iter_rows()}
    for row in rows:
        if row["fct_s ecmp"] and row["fct_s spray"]:
            pair = float(row["fct_s ecmp"]), float(row["fct_s spray"])
            assert pair == pytest.approx(known[int(row["seed"]), int(row["flow"])], rel=2e-4)


@HOW
def test_a_class_has_its_slowest_flows(page, how):
    activate(page, '#comparison tbody tr[data-point="1"][data-scheme="1"] [data-slow="rabbit"]', how)
    assert fragment(page) == {"point": ["load 0.4"], "scheme": ["ecmp"], "second": ["single_path"], "slow": ["rabbit"]}
    page.wait_for_function("document.querySelectorAll('#slowest tbody tr').length >= 10")
    assert page.evaluate("document.activeElement.id") == "slowest-section-title"
    assert count(page, "#slowest tbody td:last-child button") == 0
    assert "ecmp does not explore paths" in page.locator("#slowest-note").inner_text()


@HOW
def test_the_command_is_offered_for_flows_that_explored_only(browser, tmp_path, how):
    sweep = {"scheme.name": ["ecmp", "tcp_path"]}
    directory = sample.write_results(tmp_path / "r", sweep, seeds=1, flows=90, samples=4)
    for path in directory.glob("runs/*/flows.parquet"):
        flows = pl.read_parquet(path)
        flows.with_columns(pl.when(pl.col("flow") % 2 == 0).then(10**6).alias("exploration_ps")).write_parquet(path)
    page = opened(browser, report(directory), fragment="#scheme=tcp_path&slow=rabbit")
    page.wait_for_selector("#slowest tbody tr")
    offered = {
        int(row.locator("td").nth(1).inner_text()): row.locator("td").last
        for row in page.locator("#slowest tbody tr").all()
    }
    assert {flow % 2 for flow in offered} == {0, 1}
    for flow, cell in offered.items():
        assert cell.inner_text().startswith("–" if flow % 2 else "show how")
        assert cell.locator("button").count() == (flow + 1) % 2
        if flow % 2:
            assert "Not explored" in cell.locator("[title]").get_attribute("title")
            assert " ".join(cell.inner_text().split()) == f"– {cell.locator('[title]').get_attribute('title')}"
    assert page.locator("#slowest-note").inner_text() == ""
    flow = next(flow for flow in offered if flow % 2 == 0)
    activate(page, f"#slowest tbody tr:nth-child({list(offered).index(flow) + 1}) td:last-child button", how)
    page.wait_for_selector("#flow-panel:visible")
    assert f"--flow {flow} --seed 1" in page.locator("#flow-panel [data-command=explore]").inner_text()
    page.close()


def with_ends(table, field):
    """The table with the ends of the intervals around a field, from the five digits of each number in the page."""
    table = table.with_columns(pl.col(field, "half").round_sig_figs(5))
    return table.with_columns(low=(pl.col(field) - pl.col("half")).clip(0), high=pl.col(field) + pl.col("half"))


ENDS = ("", "_low", "_high")
SIZES = ["point", "scheme", "bytes", "least_bytes", "most_bytes", "flows"]
SIZES += [f"{measure}_{value}{end}" for value in ("slowdown", "fct_s") for measure in ("mean", "p99") for end in ENDS]
FRAMES = {
    "by-size": (extracts_sizes.by_size, SIZES),
    "curves": (extracts.completion_curves, ["point", "scheme", "class", "fct_s", "share"]),
    "over-time": (
        lambda results: with_ends(extracts.throughput_over_time(results), "bps"),
        ["point", "scheme", "class", "time_s", "bps", "low", "high"],
    ),
    "queues": (
        lambda results: pl.concat(
            [with_ends(extracts.largest_queue(results), "bytes"), extracts.queue_exceedance(results)], how="diagonal"
        ),
        ["point", "scheme", "time_s", "bytes", "low", "high", "share"],
    ),
}
MEANS = {"completion": "p99_fct_s", "throughput": "mean_throughput_bps"}


def test_the_data_of_every_figure_are_compared():
    assert [*MEANS, *FRAMES] == IDENTS


@pytest.mark.parametrize("chart", FRAMES)
def test_a_figure_is_saved_as_csv_with_all_its_data(page, results, chart):
    extract, columns = FRAMES[chart]
    found = pl.read_csv(io.StringIO(saved(page, f'[data-csv="{chart}"]')), infer_schema_length=None)
    expected = extract(results).select(columns)
    assert found.columns == columns
    names = [name for name in columns if name in ("point", "scheme", "class")]
    found, expected = (table.sort(names, maintain_order=True) for table in (found, expected))
    assert found.select(names).equals(expected.select(names))
    for name in columns[len(names) :]:
        assert found[name].is_null().equals(expected[name].is_null()), name
        assert found[name].drop_nulls().to_list() == pytest.approx(expected[name].drop_nulls().to_list(), rel=1e-4)


@pytest.mark.parametrize("chart", MEANS)
def test_means_are_saved_as_csv_with_their_intervals(page, results, chart):
    metric = MEANS[chart]
    found = pl.read_csv(io.StringIO(saved(page, f'[data-csv="{chart}"]')))
    table = results.summary()
    row = found.row(
        by_predicate=(pl.col("point") == "load 0.4")
        & (pl.col("scheme") == "spray")
        & (pl.col("class") == "mouse")
        & (pl.col("metric") == metric),
        named=True,
    )
    known = table.row(
        by_predicate=(pl.col("traffic_load") == 0.4) & (pl.col("scheme") == "spray") & (pl.col("class") == "mouse"),
        named=True,
    )
    assert [row[key] for key in ("mean", "low", "high")] == pytest.approx(
        [known[f"{metric}{end}"] for end in ("", "_low", "_high")], rel=1e-4
    )


@pytest.mark.parametrize("chart", [*IDENTS, "pairs", "fabric-drawing"])
def test_a_figure_is_saved_as_svg(page, chart):
    root = ElementTree.fromstring(saved(page, f'[data-svg="{chart}"]'))
    assert root.tag.endswith("svg")
    marks = [e for e in root.iter() if e.tag.endswith(("path", "line")) and (e.get("d") or e.get("x1"))]
    assert len(marks) > 20
    if chart == "fabric-drawing":
        assert len({re.search(r"stroke:(rgb\([^)]*\))", line.get("style"))[1] for line in marks}) > 3


@HOW
def test_a_table_stands_for_a_chart_and_is_sorted(page, how):
    activate(page, '[data-rows="curves"]', how)
    assert page.locator('[data-rows="curves"]').get_attribute("aria-expanded") == "true"
    page.wait_for_selector("#curves-rows tbody tr")
    assert page.locator("#curves-rows thead th").all_inner_texts() == ["point", "scheme", "class", "fct_s", "share"]
    for order, way in (("ascending", 1), ("descending", -1)):
        activate(page, "#curves-rows th:nth-child(4) button", how)
        assert page.locator("#curves-rows th:nth-child(4)").get_attribute("aria-sort") == order
        cells = page.locator("#curves-rows tbody td:nth-child(4)").evaluate_all(
            "all => all.map(c => Number(c.dataset.v))"
        )
        assert cells == sorted(cells, reverse=way < 0)
    activate(page, '[data-rows="curves"]', how)
    assert page.locator("#curves-rows").is_hidden()


def test_the_comparison_is_sorted_by_any_column(page):
    for order, way in (("ascending", 1), ("descending", -1)):
        page.locator("#comparison thead button", has_text="p99 FCT").click()
        assert page.locator("#comparison th[aria-sort]").get_attribute("aria-sort") == order
        cells = page.locator("#comparison tbody tr td:nth-child(8)").evaluate_all(
            "all => all.map(c => Number(c.dataset.v))"
        )
        assert cells == sorted(cells, reverse=way < 0)
        assert len(set(cells)) > 10
    page.locator("#comparison thead button", has_text="load").click()


CONTRASTS = """() => {
  const solid = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!/rgba\\(.*, 0\\)|transparent/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
  const seen = (e) => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden';
  const texts = [], marks = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());) {
    const e = n.parentElement;
    if (!n.textContent.trim() || !seen(e)) continue;
    if (e.closest('script, style, noscript, title, .unseen, option, button:disabled')) continue;
    const style = getComputedStyle(e), svg = e instanceof SVGElement;
    if (svg && Number(style.opacity) === 0) continue;
    texts.push([svg ? style.fill : style.color, solid(e), e.tagName + ' ' + n.textContent.trim().slice(0, 30)]);
  }
  const drawn = ':is(.mark-line, .mark-symbol, .mark-rect) path, .fabric .l, .fabric .host, .mark path';
  for (const e of document.querySelectorAll(drawn)) {
    const style = getComputedStyle(e);
    const paint = style.stroke !== 'none' && !e.closest('.mark-rect, .mark-symbol') ? style.stroke : style.fill;
    if (paint === 'none' || Number(style.opacity) < 0.5 || paint === 'rgba(0, 0, 0, 0)') continue;
    marks.push([paint, solid(e.closest('div, button, td')), e.getAttribute('class') ?? 'mark']);
  }
  return { texts, marks };
}"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_texts_and_marks_have_enough_contrast(page, mode):
    pressed = page.locator("#theme").get_attribute("aria-pressed") == "true"
    if pressed != (mode == "dark"):
        page.locator("#theme").click()
        settled(page)
    assert page.locator("#theme").get_attribute("aria-pressed") == str(mode == "dark").lower()
    go(page, "link=e0 → a0")
    found = page.evaluate(CONTRASTS)
    assert len(found["texts"]) > 300
    assert len(found["marks"]) > 200
    poor = {(text, fore, back) for fore, back, text in found["texts"] if contrast(fore, back) < 4.5}
    assert poor == set()
    assert {(what, fore, back) for fore, back, what in found["marks"] if contrast(fore, back) < 3} == set()
    if mode == "dark":
        page.locator("#theme").click()


def test_the_system_decides_on_dark_colours_until_the_reader_does(browser, page):
    dark = opened(browser, page.path, color_scheme="dark")
    paper = "getComputedStyle(document.querySelector('section')).backgroundColor"
    assert dark.evaluate(paper) == "rgb(23, 29, 36)"
    dark.locator("#theme").focus()
    dark.keyboard.press("Enter")
    assert dark.evaluate(paper) == "rgb(255, 255, 255)"
    dark.close()


def test_every_control_has_a_name_and_can_be_reached_and_seen(page):
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    unnamed = """[...document.querySelectorAll('button, select, input')].filter(e =>
        !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)"""
    assert page.evaluate(unnamed) == []
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_the_copy_button_copies_the_raw_table(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#copy").click()
    page.wait_for_function("document.getElementById('copy').textContent === 'Copied'")


def test_nothing_is_complained_about_and_nothing_is_fetched(page):
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert len(page.requests) == 1


def test_the_check_for_overlap_finds_what_overlaps(page):
    page.evaluate("""() => document.querySelector('#completion svg').insertAdjacentHTML('beforeend', `<g id="probe">
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
    page.close()


def test_of_many_points_only_the_scheme_under_the_pointer_has_its_intervals(browser, tmp_path):
    schemes = ["single_path", "ecmp", "spray", "drill", "conga", "hula", "wcmp", "letflow", "presto"]
    sweep = {"scheme.name": schemes, "traffic.load": [round(0.1 + 0.05 * i, 2) for i in range(10)]}
    directory = sample.write_results(tmp_path / "results", sweep, seeds=2, flows=30, samples=5)
    page = opened(browser, report(directory, tmp_path / "report.html"))
    settled(page)
    seen = "all => all.filter(one => getComputedStyle(one).opacity > 0.5 && one.getAttribute('opacity') !== '0').length"
    intervals = page.locator("#completion .mark-rule.role-mark line[opacity], #completion .mark-rule.role-mark line")
    before = intervals.evaluate_all(seen)
    page.locator("#completion .mark-symbol").first.locator("path").first.hover(force=True)
    until("the intervals of the scheme are shown", lambda: intervals.evaluate_all(seen) - before >= 10)
    assert intervals.evaluate_all(seen) - before == 10
    assert page.complaints == []
    page.close()


def test_the_points_of_many_schemes_stay_at_their_value_of_the_axis(browser, tmp_path):
    sweep = {
        "scheme.name": ["ecmp", "spray", "drill", "conga", "hula", "wcmp"],
        "traffic.load": [0.1, 0.12, 0.14, 0.16],
    }
    sweep["traffic.load"] += [round(0.2 + 0.02 * i, 2) for i in range(12)]
    directory = sample.write_results(tmp_path / "results", sweep, seeds=1, flows=30, samples=5)
    page = opened(browser, report(directory, tmp_path / "report.html"))
    settled(page)
    panel = page.locator("#completion .mark-symbol").first.locator("path")
    at = panel.evaluate_all("all => all.map(one => one.getBoundingClientRect()).map(box => box.x + box.width / 2)")
    page.close()
    at = sorted(at)
    groups = [at[i : i + 6] for i in range(0, len(at), 6)]
    assert len(groups) == 16
    widest = max(group[-1] - group[0] for group in groups)
    assert widest < 0.8 * min(b[0] + b[-1] - a[0] - a[-1] for a, b in pairwise(groups)) / 2
