"""The reader's labels in the report, and charts of one class, in headless Chromium."""

from __future__ import annotations

import pytest

import sample
from chromium import opened
from report_page import OVERLAPS, activate, fragment, go, resize, saved, settled
from weft import report

FIELD = "#labels-panel label:has(span:text-is('{}')) input"


def write(page, name, text):
    """Write a label into its field."""
    field = page.locator(FIELD.format(name))
    field.fill(text)
    field.press("Enter")
    settled(page)


def test_schemes_and_axes_have_the_labels_of_the_reader_in_charts_and_files(page):
    activate(page, "#labels", "keyboard")
    assert page.evaluate("document.activeElement.closest('#labels-panel') !== null")
    for name, text in (("spray", "Per packet = best"), ("elephant", "large"), ("flow completion time", "FCT")):
        write(page, name, text)
    labels = {"label.spray": ["Per packet = best"], "label.elephant": ["large"], "label.flow completion time": ["FCT"]}
    assert fragment(page) == labels
    svg = saved(page, '[data-svg="curves"]')
    for text in ("large", "FCT"):
        assert f">{text}<" in svg, text
    assert "flow completion time" not in svg
    csv = saved(page, '[data-csv="curves"]')
    assert "Per packet = best" in csv
    assert ",large," in csv
    assert ",spray," not in csv
    assert page.locator('.legend button[value="spray"]').inner_text() == "Per packet = best"
    # The address restores them, and what is hidden stays hidden by its own name.
    go(page, "label.ecmp=Hash&hide=ecmp")
    assert page.locator('.legend button[value="ecmp"]').inner_text() == "Hash"
    assert page.locator(FIELD.format("spray")).input_value() == ""
    assert page.locator("#curves svg .mark-line path").count() == 6
    activate(page, "#reset", "mouse")
    assert fragment(page) == {}
    assert page.locator('.legend button[value="ecmp"]').inner_text() == "ecmp"
    page.keyboard.press("Escape")
    activate(page, "#labels", "mouse")
    assert page.locator("#labels-panel").is_hidden()
    assert page.complaints == []


def test_tables_diagrams_and_lists_have_the_labels_of_the_reader(page):
    long = "A name that is longer than its place in a diagram"
    go(page, f"label.ecmp=Hash&label.mouse=small&label.spray={long}")
    for table in ("#comparison", "#ranks", "#pairs-counts"):
        text = page.locator(table).inner_text()
        assert "Hash" in text and "small" in text and "ecmp" not in text and "mouse" not in text, table
    diagrams = page.locator("#ranks-section .diagrams").first
    assert diagrams.locator("figcaption").first.inner_text() == "small"
    texts = diagrams.locator("svg text").all_text_contents()
    assert any("Hash " in one for one in texts) and any(f"{long[:25]}…" in one for one in texts)
    assert not any("ecmp" in one or "spray" in one for one in texts)
    assert page.locator("#first option[value=ecmp]").inner_text() == "Hash"
    assert page.locator(".tabs[data-sets=scheme] button[value=ecmp]").inner_text() == "Hash"
    page.locator("#comparison thead button").first.click()
    page.locator("#comparison [data-slow=mouse]").first.click()
    assert "slow=" not in page.evaluate("location.hash") and page.complaints == []
    activate(page, "#reset", "mouse")
    assert "Hash" not in page.locator("main").inner_text() and "ecmp" in page.locator("#ranks").inner_text()


def test_two_schemes_cannot_have_one_label(page):
    go(page, "label.ecmp=spray&label.spray=x&label.single_path=x")
    assert fragment(page)["label.spray"] == ["x"]
    shown = [page.locator(f'.legend button[value="{name}"]').inner_text() for name in ("single_path", "ecmp", "spray")]
    assert shown == ["single_path", "spray", "x"]
    assert page.locator("#curves svg .mark-line path").count() == 9


def test_a_label_cannot_break_out_of_the_page(page):
    go(page, "label.ecmp=<img src=x onerror=alert(1)>")
    assert page.locator('.legend button[value="ecmp"]').inner_text() == "<img src=x onerror=alert(1)>"
    assert "&lt;img" in saved(page, '[data-svg="completion"]') or "<img" not in saved(page, '[data-svg="completion"]')
    assert page.complaints == []


@pytest.fixture(scope="module")
def one_class(browser, tmp_path_factory):
    """A page of results with flows of one class."""
    folder = tmp_path_factory.mktemp("one")
    directory = sample.write_results(folder / "r", {"scheme.name": ["ecmp", "spray"]}, seeds=2, flows=60, samples=10)
    sample.keep_class(directory, "mouse")
    page = opened(browser, report(directory, folder / "report.html"), width=1400)
    settled(page)
    yield page
    page.close()


@pytest.mark.parametrize("chart", ["completion", "throughput", "curves", "over-time", "pairs"])
def test_the_chart_of_one_class_fills_its_section(one_class, chart):
    resize(one_class, 1400)
    share = "e => e.querySelector('svg').getBoundingClientRect().width / e.clientWidth"
    assert one_class.locator(f"#{chart}").evaluate(share) > 0.9
    resize(one_class, 400)
    assert one_class.evaluate(OVERLAPS) == []
    assert one_class.complaints == []
