"""The page of `weft explore` in headless Chromium: it plays, steps, and shows the data."""

from __future__ import annotations

import math
import re
import time
from itertools import pairwise

import pytest

from chromium import opened
from test_explore import SCENARIO
from weft import Scenario
from weft.cli.explore import chosen
from weft.exploring import Trace, follow, write
from weft.exploring.story import Story


def traced(scheme: str, **changes: object) -> Trace:
    scenario = Scenario.from_text(SCENARIO)
    for key, value in changes.items():
        scenario = scenario.set(key.replace("__", "."), value)
    plan, points = chosen(scenario, [f"scheme.name={scheme}"], None)
    return follow(plan, points=points)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return traced("tcp_path")


@pytest.fixture(scope="module")
def file(trace, tmp_path_factory):
    return write(trace, tmp_path_factory.mktemp("explore") / "explore.html")


@pytest.fixture
def page(browser, file):
    page = opened(browser, file, 1400)
    yield page
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    page.close()


def dots(page) -> list[str]:
    return page.locator("#stage .dot").evaluate_all("dots => dots.map(dot => dot.getAttribute('transform'))")


def clock(page) -> float:
    return float(page.locator("#clock").text_content().removesuffix(" µs").replace(",", ""))


def count(page, name: str) -> int:
    return int(page.locator(f"#tally [data-count='{name}']").text_content())


def stop_clock(page) -> None:
    """Let the page's time pass only in `page.clock.run_for`."""
    page.clock.install()
    page.clock.pause_at(time.time() + 1e6)


def kept(page) -> set[int]:
    return set(
        page.locator("#stage .kept.whole").evaluate_all("lines => lines.map(line => Number(line.dataset.cable))")
    )


def cables(path: list[int]) -> set[int]:
    return {link // 2 for link in path}


def test_play_moves_the_dots_and_pause_stops_them(page):
    stop_clock(page)
    assert (clock(page), page.locator("#now").text_content()) == (0, "Nothing has been sent yet.")
    page.locator("#play").click()
    assert page.locator("#play").get_attribute("aria-label") == "Pause"
    seen = set()
    for _ in range(5):
        page.clock.run_for(500)
        seen.add(tuple(dots(page)))
    assert len(seen - {()}) > 3
    page.locator("#play").click()
    before = (clock(page), dots(page))
    page.clock.run_for(300)
    assert (clock(page), dots(page)) == before
    assert before[0] > 0


def test_a_higher_speed_goes_further(page):
    stop_clock(page)

    def after(speed: str) -> float:
        page.locator("#first").click()
        page.locator("#speed").select_option(speed)
        page.locator("#play").click()
        page.clock.run_for(1500)
        page.locator("#play").click()
        return float(page.locator("#scrub").input_value())

    assert after("2") > 3 * after("0.25") > 0


def test_steps_go_event_by_event_and_back(page, trace):
    lines = Story(trace, trace.scenes[0]).lines()
    for line in lines[:5]:
        page.locator("#next").click()
        assert page.locator("#lines [aria-current]").count() == 1
        assert page.locator("#now").text_content() == f"{line['where']} {line['text']}"
        assert clock(page) == pytest.approx(line["at"] / 1e6, abs=0.051)
    page.locator("#back").click()
    assert page.locator("#now").text_content() == f"{lines[3]['where']} {lines[3]['text']}"
    page.locator("#first").click()
    assert (clock(page), page.locator("#lines [aria-current]").count()) == (0, 0)


def test_the_keyboard_plays_steps_and_changes_the_scene(page, trace):
    lines = Story(trace, trace.scenes[0]).lines()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#now").text_content() == f"{lines[1]['where']} {lines[1]['text']}"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#now").text_content() == f"{lines[0]['where']} {lines[0]['text']}"
    page.keyboard.press("Space")
    assert page.locator("#play").get_attribute("aria-label") == "Pause"
    page.keyboard.press("2")
    assert page.locator("#play").get_attribute("aria-label") == "Play"
    assert page.locator("[data-scene='1']").get_attribute("aria-pressed") == "true"
    page.keyboard.press("End")
    assert clock(page) == pytest.approx(trace.scenes[1].data["end"] / 1e6, abs=0.051)


def test_a_line_that_is_clicked_is_where_the_scene_goes(page, trace):
    lines = Story(trace, trace.scenes[0]).lines()
    assert page.locator("#lines li").count() == len(lines)
    at = len(lines) // 2
    page.locator("#lines button").nth(at).click()
    assert clock(page) == pytest.approx(lines[at]["at"] / 1e6, abs=0.051)
    assert page.locator("#lines button").nth(at).get_attribute("aria-current") == "step"
    assert page.locator("#stage .here title").text_content() == lines[at]["where"]


def test_in_the_race_copies_are_on_their_way_and_switches_are_locked(page, trace):
    lines = Story(trace, trace.scenes[0]).lines()
    last_lock = max(number for number, line in enumerate(lines) if line["kind"] == "lock")
    page.locator("#lines button").nth(last_lock).click()
    assert page.locator("#stage .dot.m-request").count() > 0
    assert page.locator("#stage [data-state=locked]").count() > 3
    assert kept(page) == set()


def test_the_first_scene_ends_with_every_late_copy_counted_and_the_path_kept(page, trace):
    scene = trace.scenes[0]
    assert count(page, "late") == 0
    page.locator("#last").click()
    late = [frame for frame in scene.data["frames"] if (frame["end"] or {}).get("reason") == "late_copy"]
    assert count(page, "late") == len(late) == page.locator("#stage .cross.m-late").count() > 0
    assert count(page, "copies") == scene.copies
    assert kept(page) == cables(scene.data["path"])
    assert dots(page) == []
    dim = page.locator("#stage .dim[data-state=locked]").count()
    assert dim == page.locator("#stage [data-state=locked]").count() == scene.unconfirmed


@pytest.mark.parametrize("scheme", ["arp_path", "tcp_path"])
def test_the_path_is_drawn_whole_once_the_reply_is_back_and_not_before(browser, tmp_path, scheme):
    trace = traced(scheme)
    page = opened(browser, write(trace, tmp_path / "page.html"))
    scene = trace.scenes[0]
    lines = Story(trace, scene).lines()
    back = max(line["at"] for line in lines if line["kind"] == "keep" and line["at"] <= scene.done)
    for number, line in enumerate(lines):
        if line["at"] <= back:
            page.locator("#lines button").nth(number).click()
            assert kept(page) == (cables(scene.data["path"]) if line["at"] == back else set())
    assert page.complaints == []
    page.close()


def test_the_second_scene_shows_the_break_the_recovery_and_what_was_lost(page, trace):
    scene = trace.scenes[1]
    cut = scene.data["failure"]["link"] // 2
    page.locator("[data-scene='1']").click()
    assert kept(page) == cables(trace.scenes[0].data["path"])
    assert page.locator("#stage .broken").count() == 0
    lines = Story(trace, scene).lines()
    broken = next(number for number, line in enumerate(lines) if line["kind"] == "break")
    page.locator("#lines button").nth(broken).click()
    assert page.locator("#stage .broken").count() == page.locator("#stage .burst").count() == 1
    assert kept(page) == set()
    page.locator("#last").click()
    assert kept(page) == cables(scene.data["path"])
    assert cut not in kept(page)
    assert count(page, "data lost") == scene.lost
    assert "data is delivered again" in page.locator("#lines").text_content()


def test_the_scrubber_goes_anywhere_and_says_the_time(page, trace):
    page.locator("#scrub").fill("500")
    middle = clock(page)
    assert 0 < middle < trace.scenes[0].data["end"] / 1e6
    assert page.locator("#scrub").get_attribute("aria-valuetext") == page.locator("#clock").text_content()


def test_a_frame_moves_evenly_from_its_host_to_the_switch(page, trace):
    lines = Story(trace, trace.scenes[0]).lines()
    arrives = lines[1]["at"] / 1e6
    node = "name => [...document.querySelectorAll('#stage g > title')].find(t => t.textContent === name).nextSibling"
    from_x, from_y = page.evaluate(
        f"name => (at => [+at.getAttribute('cx'), +at.getAttribute('cy')])(({node})(name))", trace.ends[0]
    )
    gone = []
    for place in range(1, 200):
        page.locator("#scrub").fill(str(place / 2))
        if clock(page) >= arrives - 0.1:
            break
        dot = page.locator("#stage .dot[data-what=syn]").get_attribute("transform")
        x, y = map(float, re.match(r"translate\((\S+) (\S+)\)", dot).groups())
        gone.append(math.hypot(x - from_x, y - from_y))
    steps = [b - a for a, b in pairwise(gone)]
    assert len(steps) > 5
    assert min(steps) > 0
    assert max(steps) < 2 * min(steps)


def test_every_control_has_a_name(page):
    names = "all => all.map(one => (one.getAttribute('aria-label') ?? one.textContent).trim())"
    assert all(page.locator("button").evaluate_all(names))
    assert page.locator("#scrub").get_attribute("aria-label") == "Time"


def test_where_motion_is_not_wanted_it_goes_from_event_to_event(browser, file, trace):
    page = opened(browser, file, reduced_motion="reduce")
    stop_clock(page)
    page.locator("#speed").select_option("4")
    page.locator("#play").click()
    times = []
    for _ in range(5):
        times.append(clock(page))
        page.clock.run_for(275)
    lines = Story(trace, trace.scenes[0]).lines()
    assert times == pytest.approx([0, *(line["at"] / 1e6 for line in lines[:4])], abs=0.051)
    page.close()


OVERLAPS = """() => {
  const texts = [...document.querySelectorAll('#stage text')];
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
  return boxes.flatMap(([name, box], i) =>
    boxes.slice(i + 1).filter(([, other]) => !apart(box, other)).map(([other]) => `${name} / ${other}`));
}"""
"""Pairs of texts of the drawing that overlap."""

OUTSIDE = """() => {
  const stage = document.getElementById('stage').getBoundingClientRect();
  return [...document.querySelectorAll('#stage text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < stage.left - 1 || box.right > stage.right + 1 || box.bottom > stage.bottom + 1;
  }).map(text => text.textContent);
}"""
"""Texts that the drawing cuts."""


@pytest.mark.parametrize("width", [400, 800, 900, 1400])
@pytest.mark.parametrize(
    ("scheme", "changes"),
    [
        ("tcp_path", {}),
        ("arp_path", {"fabric__hosts_per_leaf": 60, "run__duration": "4 ms"}),
        ("tcp_path", {"fabric__spines": 12, "fabric__leaves": 24, "run__duration": "2 ms"}),
    ],
    ids=["small", "many hosts", "many switches"],
)
def test_nothing_overlaps_at_any_width(browser, tmp_path, scheme, changes, width):
    page = opened(browser, write(traced(scheme, **changes), tmp_path / "page.html"), width)
    for scene in range(page.locator("[data-scene]").count()):
        page.locator(f"[data-scene='{scene}']").click()
        page.locator("#last").click()
        assert page.evaluate(OVERLAPS) == []
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
    page.close()


def test_the_check_for_overlap_finds_what_overlaps(page):
    page.evaluate("""() => document.getElementById('stage').insertAdjacentHTML('beforeend',
        '<text x="300" y="300">first, long</text><text x="320" y="304">second</text>')""")
    assert page.evaluate(OVERLAPS) == ["first, long / second"]
