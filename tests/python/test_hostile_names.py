"""Names that look like markup, hold control characters or are very long: pages show them as text and obey none."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import hostile
from chromium import opened
from weft import Scenario, report
from weft.exploring import follow, write
from weft.labels import visible
from weft.topology import fabric

SCENARIO = """
name = {name}

[fabric]
file = {file}

[traffic]
class = {name}
sizes = {{ fixed = "200 kB" }}
flows = 6
flows_per_second = 20000
pairs = "random"

[scheme]
name = "tcp_path"

[run]
duration = "20 ms"
"""

OF_NODES = {kind: name for kind, name in hostile.NAMES.items() if kind != "control characters"}
"""Fabrics refuse control characters."""


def of_kind(names):
    return pytest.mark.parametrize("name", names.values(), ids=names.keys())


def texts(page, selector: str) -> list[str]:
    return page.locator(selector).all_text_contents()


def fits(page, width: int) -> bool:
    return page.evaluate("document.documentElement.scrollWidth") <= width


@of_kind(hostile.NAMES)
def test_a_report_shows_any_name_as_text(browser, tmp_path, name):
    path = report(hostile.write_results(tmp_path / "r", name))
    page, shown = opened(browser, path), visible(name)
    assert page.complaints == []
    assert page.evaluate("document.documentElement.dataset.ready") == "yes"
    assert page.title() == " ".join(f"{shown} – Weft".split())
    assert texts(page, "h1") == [shown]
    assert texts(page, ".bar .legend span") == [f"{shown}1", f"{shown}2"]
    assert page.locator("#point option").evaluate_all("all => all.map(one => one.value)") == [
        f"note {shown}",
        "note plain",
    ]
    assert {f"{shown}h0", f"{shown}e0", f"{shown}c0"} <= set(texts(page, "svg.fabric .nodes title"))
    assert any(
        title.startswith(f"{shown}h0 → {shown}e0: 1.00 Gbps") for title in texts(page, "svg.fabric .links title")
    )
    assert shown in texts(page, "#comparison td")
    assert texts(page, "#setup pre") == [f"# {visible(name.replace(chr(13), chr(10)))}\n"]
    assert texts(page, ".warn p") == [shown]
    marks = page.locator("#completion svg .mark-rect path").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert any(f"scheme: {shown}1" in label for label in marks)
    assert fits(page, 1280)
    page.close()


@of_kind(hostile.NAMES)
def test_the_controls_of_a_report_find_any_name(browser, tmp_path, name):
    page = opened(browser, report(hostile.write_results(tmp_path / "r", name)))
    lines = page.locator("svg.fabric .links")
    before = lines.inner_html()
    page.locator(".tabs[data-sets=scheme] button").nth(1).click()
    second = lines.inner_html()
    assert second != before
    page.locator("#point").select_option(index=1)
    assert lines.inner_html() not in (before, second)
    page.wait_for_timeout(50)
    assert page.complaints == []
    page.close()


@of_kind(OF_NODES)
def test_an_exploration_shows_any_name_as_text(browser, tmp_path, name):
    file = hostile.fabric_file(tmp_path, name)
    text = SCENARIO.format(name=json.dumps(name), file=json.dumps(str(file)))
    trace = follow(Scenario.from_text(text))
    page, shown = opened(browser, write(trace, tmp_path / "page.html"), 1400), visible(name)
    source, target = (visible(end) for end in trace.ends)
    assert page.title() == " ".join(f"{source} → {target} – Weft".split())
    assert texts(page, "h1") == [f"How {source} finds a path to {target}"]
    assert {f"{shown}l0", f"{shown}s1"} <= set(texts(page, "#stage title"))
    page.locator("#next").click()
    assert page.locator("#now").text_content().startswith(shown)
    page.locator("#last").click()
    assert {f"{shown}l0", f"{shown}l1"} <= set(texts(page, "#lines b"))
    assert page.complaints == []
    assert fits(page, 1400)
    page.close()


@of_kind(OF_NODES)
def test_a_drawing_is_valid_svg_whatever_the_names(browser, tmp_path, name):
    graph = fabric(hostile.fabric_file(tmp_path, name))
    path = tmp_path / "fabric.svg"
    path.write_text(graph.to_svg(), encoding="utf-8")
    svg, shown = ElementTree.parse(path).getroot(), visible(name)
    assert svg.get("aria-label") == shown
    assert f"{shown}s0" in [title.text for title in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}script"))) == 0
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    assert page.locator("parsererror").count() == 0
    assert f"{shown}s0" in texts(page, "title")
    assert said == []
    page.close()


def test_what_is_obeyed_instead_of_shown_is_spelled_and_all_else_is_kept():
    assert visible("esc\x1b[31m\x07 \x9b \x00 \r \u2028 \u202e \ud800") == (
        r"esc\x1b[31m\x07 \x9b \x00 \x0d \u2028 \u202e \ud800"
    )
    kept = "two\nlines\tand <b> é 家 👩‍💻 ‘quotes’ \\x1b"
    assert visible(kept) == kept
