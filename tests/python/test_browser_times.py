"""The figures over time in headless Chromium: one cursor, one zoom, events; and the list of contents."""

from __future__ import annotations

import pytest

from report_page import activate, count, fragment, go, resize, saved, settled

BACK = ".role-scope:not([class*=pathgroup]) > g > path.background"


def panel(page, chart, at=0):
    """The box of a panel of a chart."""
    element = page.locator(f"#{chart} {BACK}").nth(at)
    element.scroll_into_view_if_needed()
    return element.bounding_box()


def point_at(page, chart, share, at=0):
    """Move the pointer to a share of a panel's time axis."""
    box = panel(page, chart, at)
    page.mouse.move(box["x"] + share * box["width"], box["y"] + 20)


def drag(page, chart, begin, end):
    point_at(page, chart, begin)
    page.mouse.down()
    point_at(page, chart, end)
    page.mouse.up()
    settled(page)


CURSORS = """chart => [...document.querySelectorAll(`#${chart} .cursor:not([hidden])`)].map(one => [
  one.querySelector("text").textContent, Number(one.querySelector("line").getAttribute("x1"))
    / one.parentNode.querySelector("path.background").getBBox().width])"""
"""The label and the place (a share of the width) of each cursor that is shown."""


def test_the_pointer_in_one_figure_shows_the_time_in_all(page):
    go(page, "link=e0 → a0")
    point_at(page, "over-time", 0.25, at=2)
    for chart, panels in (("over-time", 4), ("queues", 1), ("link-series", 2)):
        found = page.evaluate(CURSORS, chart)
        assert [label for label, _ in found] == ["250 ms"] * panels, chart
        assert [place for _, place in found] == pytest.approx([0.25] * panels, abs=0.01), chart
    assert page.locator("#time-cursor").is_visible()
    page.mouse.move(2, 2)
    assert sum(len(page.evaluate(CURSORS, chart)) for chart in ("over-time", "queues", "link-series")) == 0


def test_the_slider_of_the_drawing_moves_the_cursor(page):
    page.locator("#time").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('#queues .cursor:not([hidden])')")
    assert page.evaluate(CURSORS, "queues")[0][0] == "10.0 ms"


EVENTS = """chart => [...document.querySelectorAll(`#${chart} .mark-rule line[stroke-dasharray="2,2"]`)].map(line => {
  const at = line.getBoundingClientRect().left;
  const boxes = [...document.querySelectorAll(`#${chart} .role-scope:not([class*=pathgroup]) > g > path.background`)]
    .map(back => back.getBoundingClientRect()).filter(box => box.left <= at && at <= box.right);
  return (at - boxes[0].left) / boxes[0].width;
})"""
"""The place of each event, as a share of the width of its panel."""
LABELS = """chart => [...document.querySelectorAll(`#${chart} .role-axis-label text`)].map(text => text.textContent)"""


def test_a_drag_zooms_all_figures_over_time_and_a_double_click_shows_all_again(page):
    go(page, "link=e0 → a0")
    before = {chart: page.evaluate(LABELS, chart) for chart in ("over-time", "queues", "link-series", "curves")}
    drag(page, "queues", 0.2, 0.4)
    begin, end = (float(part) for part in fragment(page)["zoom"][0].split(".."))
    assert (begin, end) == pytest.approx((0.2, 0.4), abs=0.005)
    for chart, labels in before.items():
        assert (page.evaluate(LABELS, chart) == labels) == (chart == "curves"), chart
    assert count(page, "#over-time .mark-line path") == 12
    for chart, panels in (("over-time", 4), ("queues", 1), ("link-series", 2)):
        # The failure at 300 ms is in the middle of each panel.
        places = page.evaluate(EVENTS, chart)
        assert places == pytest.approx([0.5] * panels, abs=0.02), chart
    point_at(page, "over-time", 0.5)
    assert page.evaluate(CURSORS, "queues")[0][0] == "300 ms"
    box = panel(page, "queues")
    page.mouse.dblclick(box["x"] + 30, box["y"] + 30)
    settled(page)
    assert fragment(page) == {"link": ["e0 → a0"]}
    assert page.evaluate(LABELS, "queues") == before["queues"]


def test_the_zoom_is_in_the_address_and_undone_by_a_button(page):
    go(page, "zoom=0.2..0.4")
    assert "300 ms" in page.evaluate(LABELS, "queues")
    activate(page, "#whole", "mouse")
    assert fragment(page) == {}
    assert page.locator("#whole").is_hidden()
    for wrong in ("zoom=0.4..0.2", "zoom=x", "zoom=7..8"):
        go(page, wrong)
        assert "600 ms" in page.evaluate(LABELS, "queues"), wrong


def test_the_cursor_and_the_zoom_work_by_keyboard(page):
    page.locator("#queues").focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate(CURSORS, "over-time")[0][0] == "520 ms"
    page.keyboard.press("+")
    settled(page)
    assert fragment(page) == {"zoom": ["0.26..0.76"]}
    page.keyboard.press("0")
    settled(page)
    assert fragment(page) == {}
    page.keyboard.press("Escape")
    assert page.evaluate(CURSORS, "over-time") == []


def test_a_failure_is_a_line_and_a_band_in_all_figures_over_time(page):
    go(page, "link=e0 → a0")
    for chart, panels in (("over-time", 4), ("queues", 1), ("link-series", 2)):
        assert count(page, f"#{chart} .mark-rect path") == panels, chart
        assert count(page, f'#{chart} .mark-rule line[stroke-dasharray="2,2"]') == panels, chart
    assert "Vertical lines: events; grey bands: from a failure to its recovery." in page.content()
    page.locator('#queues .mark-rule line[stroke-dasharray="2,2"]').dispatch_event("pointermove", {"bubbles": True})
    assert "fail e0-a1" in page.locator("#vg-tooltip-element").inner_text()
    svg = saved(page, '[data-svg="queues"]')
    assert 'stroke-dasharray="2,2"' in svg
    assert "cursor" not in svg


CURRENT = "document.querySelector('#contents [aria-current]').textContent"


def test_the_contents_follow_the_reader(page):
    titles = page.locator("main > section h2").all_text_contents()
    assert page.locator("#contents a").all_text_contents() == titles
    page.locator("#contents a", has_text="Queues").click()
    page.wait_for_function(f"{CURRENT} === 'Queues'")
    top = page.evaluate("document.getElementById('queues-section').getBoundingClientRect().top")
    assert page.evaluate("document.querySelector('.bar').offsetHeight") <= top < 120
    page.mouse.wheel(0, -20_000)
    page.wait_for_function(f"{CURRENT} === {titles[0]!r}")
    page.mouse.wheel(0, 90_000)
    page.wait_for_function(f"{CURRENT} === {titles[-1]!r}")
    assert page.evaluate("location.hash") in ("", "#")


def test_the_contents_open_by_keyboard_where_the_window_is_narrow(page):
    resize(page, 400)
    assert page.locator("#contents-list").is_hidden()
    page.locator("#contents-toggle").focus()
    page.keyboard.press("Enter")
    assert page.locator("#contents-list").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Escape")
    assert page.locator("#contents-list").is_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#contents-list").is_hidden()
    assert page.evaluate("document.activeElement.textContent") == chosen
    page.wait_for_function(f"document.getElementById('contents-now').textContent === {chosen!r}")


def test_a_section_has_a_link_with_all_choices(page, browser):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    go(page, "hide=ecmp")
    page.locator("#queues-section .anchor").click()
    page.wait_for_function("document.querySelector('#queues-section .anchor').textContent === 'Copied'")
    address = page.evaluate("navigator.clipboard.readText()")
    assert address == f"{page.path.as_uri()}#hide=ecmp&at=queues-section"
    assert fragment(page) == {"hide": ["ecmp"]}
    other = browser.new_page(viewport={"width": 1280, "height": 900})
    other.goto(address)
    other.wait_for_function("document.documentElement.dataset.ready === 'yes'")
    other.wait_for_function(f"{CURRENT} === 'Queues'")
    assert count(other, "#queues svg .mark-line path") == 4
    other.close()
