"""The page with the time line of a flow: `weft why -o`, and `weft explore` of a flow that does not explore."""

from __future__ import annotations

import base64
import json
import re
import zlib
from itertools import combinations

import pytest

from chromium import opened
from colours import contrast, difference
from test_explore import SCENARIO
from test_palette import PAPER, SHEET
from test_why import LOADED
from weft import Results, Scenario
from weft.cause_style import CAUSES, MARKED
from weft.explanation import explain
from weft.timeline import Course, write
from weft.timeline.course import MOST_PACKETS

OPEN = """
[traffic]
collective = "ring-all-reduce"
bytes = "2 MB"
repeats = 2
connections = "persistent"

[scheme]
name = "ecmp"

[run]
duration = "200 ms"
"""
"""Messages on connections that stay open."""
PROTOCOLS = {
    "udp": 'protocol = "udp"\nrate = "200 Mbps"',
    "roce": 'protocol = "roce"',
    "uec": 'protocol = "uec"',
}


@pytest.fixture(scope="module")
def loaded(made_once) -> Results:
    return Results(made_once("why", lambda out: Scenario.from_text(LOADED).run(out)))


def slowest(results: Results) -> int:
    flows = results.flows(measured=False).filter(seed=1, traffic_load=0.9, scheme="ecmp").drop_nulls("slowdown")
    return flows.filter(flows["bytes"] > 100_000).sort("slowdown", descending=True)["flow"][0]


def courses_of(html: str) -> list[dict]:
    text = re.search(r'id="courses">([^<]*)<', html)[1]
    return json.loads(zlib.decompress(base64.b64decode(text)))


@pytest.fixture(scope="module")
def file(loaded, tmp_path_factory):
    """The page of a flow under both schemes, as `weft why -o` writes it."""
    from typer.testing import CliRunner

    from weft.cli import app

    out = tmp_path_factory.mktemp("time") / "flow.html"
    flow = ["--flow", str(slowest(loaded)), "--set", "traffic.load=0.9"]
    assert CliRunner().invoke(app, ["why", str(loaded.path), *flow, "-o", str(out)]).exit_code == 0
    return out


@pytest.fixture
def page(browser, file):
    page = opened(browser, file, 1400)
    yield page
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    page.close()


def visible(page) -> tuple[float, float]:
    return tuple(float(page.locator("#lanes").get_attribute(f"data-{end}")) for end in ("from", "to"))


def test_the_page_has_packets_window_and_causes_of_every_scheme(loaded, file):
    courses = courses_of(file.read_text())
    assert [one["label"] for one in courses] == ["ecmp", "spray"]
    flow = loaded.flows(measured=False).filter(seed=1, traffic_load=0.9, flow=slowest(loaded))
    for one, end in zip(courses, flow["fct_ps"], strict=True):
        assert one["end"] == end == sum(ps for *_, ps in one["sums"]) == one["parts"][-1][1]
        assert one["all"] == len(one["packets"]["sent"]) > 100
        assert one["bytes"] and max(one["packets"]["next"]) > flow["bytes"][0]
        assert max(one["window"][1]) > 10_000 and min(one["window"][1]) > 0
        times, values = one["flight"]
        assert times == sorted(times) and 10_000 < max(values) <= flow["bytes"][0]
        assert values[-1] < 3000
    assert file.stat().st_size < 2_000_000


def test_a_drag_zooms_and_the_buttons_and_keys_change_the_view(page, file):
    end = courses_of(file.read_text())[0]["end"]
    assert visible(page) == (0, end)
    box = page.locator("#lanes canvas").nth(1).bounding_box()
    page.mouse.move(box["x"] + 400, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 600, box["y"] + 90, steps=3)
    assert page.locator("#selection").is_visible()
    page.mouse.up()
    low, high = visible(page)
    assert 0 < low < high < end and high - low == pytest.approx(end * 200 / (box["width"] - 74), rel=0.02)
    page.locator("#lanes").focus()
    page.keyboard.press("ArrowRight")
    assert visible(page)[0] > low
    page.keyboard.press("0")
    assert visible(page) == (0, end) and page.locator("#whole").is_disabled()
    page.locator("#closer").click()
    assert visible(page) == (end / 4, 3 * end / 4)
    page.locator("#lanes").dblclick(position={"x": 500, "y": 300})
    assert visible(page) == (0, end)


def test_tooltips_name_the_cause_the_packet_and_the_window(page, file):
    course = courses_of(file.read_text())[0]
    box = [page.locator("#lanes canvas").nth(at).bounding_box() for at in range(3)]
    start, end, cause, lost, place = max(course["parts"], key=lambda part: part[1] - part[0])
    x = 62 + (start + end) / 2 / course["end"] * (box[0]["width"] - 74)
    page.locator("#lanes canvas").nth(0).hover(position={"x": x, "y": 15})
    name = f"{cause}, {lost} lost" if lost else cause
    assert page.locator("#tip").inner_text().startswith(f"{name}{' at ' + place if place else ''}: ")
    page.locator("#lanes canvas").nth(2).hover(position={"x": box[2]["width"] - 14, "y": 40})
    assert re.search(r"window: .*B\nin flight: .*B", page.locator("#tip").inner_text())
    spot = page.locator("#lanes canvas").nth(1)
    rows = [dict(zip(course["packets"], row, strict=True)) for row in zip(*course["packets"].values(), strict=True)]
    last = max((row for row in rows if row["kind"] == "data"), key=lambda row: row["sent"])
    high = max(row["next"] for row in rows)
    low = max(min(row["first"] for row in rows) - high * 0.03, 0)
    room = high * 1.03 - low
    y = 296 - (last["first"] - low) / room * 284
    spot.hover(position={"x": 62 + last["sent"] / course["end"] * (box[1]["width"] - 74), "y": y})
    assert re.search(r"(byte .*\nsent .*\narrived|byte .*\nsent)", page.locator("#tip").inner_text())


def test_another_scheme_is_shown_with_its_own_causes(page, file):
    first, second = courses_of(file.read_text())
    page.locator("[data-course='1']").click()
    assert visible(page) == (0, second["end"])
    assert page.locator("#sums tbody tr").count() == len(second["sums"])
    cause, lost, *_ = second["sums"][0]
    assert page.locator("#sums tbody td").first.inner_text() == (f"{cause}, {lost} lost" if lost else cause)
    assert first["end"] != second["end"]


def test_causes_have_a_legend_beside_the_bar(page, file):
    first, second = courses_of(file.read_text())
    for at, course in enumerate((first, second)):
        if at:
            page.locator(f"[data-course='{at}']").click()
        shown = page.locator("#cause-marks span").all_inner_texts()
        assert sorted(shown) == sorted({part[2] for part in course["parts"]})
        for text, mark in zip(shown, page.locator("#cause-marks i").all(), strict=True):
            drawn = mark.evaluate("mark => getComputedStyle(mark).backgroundColor")
            assert difference(drawn, CAUSES[text][0]) < 1
    lanes, legend = page.locator("#lanes canvas"), page.locator("#cause-marks").bounding_box()
    assert lanes.nth(0).bounding_box()["y"] < legend["y"] < lanes.nth(1).bounding_box()["y"]


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_every_colour_has_one_meaning(mode):
    ink = re.search(r"--ink: light-dark\((#\w+), (#\w+)\)", SHEET).groups()
    colours = [colour[mode] for colour in (*CAUSES.values(), MARKED, ink)]
    assert min(difference(one, other) for one, other in combinations(colours, 2)) >= 10
    assert min(contrast(colour, PAPER[mode]) for colour in colours) >= 3
    on = re.search(r"--on-accent: light-dark\((#\w+), (#\w+)\)", SHEET).groups()[mode]
    assert min(contrast(colour[mode], on) for colour in CAUSES.values()) >= 4.5


def mixed(one: str, other: str, share: float) -> str:
    """The colour of thin stripes of two others, seen from afar."""
    parts = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (one, other)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*parts, strict=True))


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_stripes_of_other_causes_do_not_look_like_a_loss(mode):
    loss = CAUSES["loss recovery"][mode]
    others = [colour[mode] for name, colour in CAUSES.items() if name not in ("loss recovery", "timeout")]
    blends = [mixed(*pair, share) for pair in combinations(others, 2) for share in (0.25, 0.5, 0.75)]
    assert min(difference(blend, loss) for blend in blends) >= 9


def test_the_legend_has_only_the_marks_that_are_drawn(browser, tmp_path):
    course = made_up(200)
    course.data["windows"].clear()
    page = opened(browser, write([course], tmp_path / "page.html", name="made up"))
    assert page.locator("#legend span:visible").evaluate_all("all => all.map(one => one.dataset.kind)") == [
        "data",
        "lost",
        "flight",
    ]
    page.close()


def test_a_table_wider_than_the_window_says_that_it_scrolls(browser, file):
    page = opened(browser, file, 400)
    hint, box = page.locator("[data-hint=sideways]"), page.locator(".scroll")
    wider = "box => box.scrollWidth > box.clientWidth + 1"
    assert hint.is_visible() and box.evaluate(wider)
    page.set_viewport_size({"width": 1400, "height": 900})
    hint.wait_for(state="hidden")
    assert not box.evaluate(wider)
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize("width", [400, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_window_and_theme(browser, file, width, scheme):
    page = opened(browser, file, width, color_scheme=scheme)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert page.locator("#theme").get_attribute("aria-pressed") == str(scheme == "dark").lower()
    ink = "(canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean))"
    assert page.evaluate(f"[...document.querySelectorAll('#lanes canvas')].every({ink})")
    page.locator("#theme").click()
    assert page.locator("#theme").get_attribute("aria-pressed") == str(scheme == "light").lower()
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize("scheme", ["ecmp", "spray"])
def test_explore_shows_the_time_line_under_schemes_that_do_not_explore(weft, tmp_path, scheme):
    (tmp_path / "race.toml").write_text(SCENARIO)
    out = tmp_path / "page.html"
    answer = weft("explore", tmp_path / "race.toml", "--set", f"scheme.name={scheme}", "-o", out)
    assert answer.exit_code == 0, answer.output
    assert f"(no animation: `{scheme}` does not explore paths" in answer.stderr
    assert f"No animation: `{scheme}` does not explore paths" in out.read_text()
    assert '<div class="meta">race · seed 1 · ' in out.read_text()
    [course] = courses_of(out.read_text())
    assert course["packets"]["sent"] and course["label"] == scheme
    answer = weft("explore", tmp_path / "race.toml", "--set", f"scheme.name={scheme}", "--flow", 5, "-o", out)
    assert ": flow 5, " in answer.stderr


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_explore_shows_the_time_line_of_every_protocol(weft, tmp_path, protocol):
    text = SCENARIO.replace("[run]", f"[transport]\n{PROTOCOLS[protocol]}\n[run]")
    text = text.replace('["ecmp", "arp_path", "tcp_path"]', '["ecmp"]')
    (tmp_path / "race.toml").write_text(text)
    out = tmp_path / "page.html"
    answer = weft("explore", tmp_path / "race.toml", "--flow", 3, "-o", out)
    assert answer.exit_code == 0, answer.output
    [course] = courses_of(out.read_text())
    assert not course["bytes"] and max(course["flight"][1]) >= 1 and course["flight"][1][-1] == 0
    assert {"data", "repeated", "marked"} & set(course["packets"]["kind"])


def test_subflows_can_be_chosen(browser, weft, tmp_path):
    text = SCENARIO.replace("[run]", '[transport]\nmptcp = "ndiffports"\nsubflows = 2\n[run]')
    (tmp_path / "race.toml").write_text(text)
    out = tmp_path / "page.html"
    assert weft("explore", tmp_path / "race.toml", "--set", "scheme.name=ecmp", "--flow", 3, "-o", out).exit_code == 0
    [course] = courses_of(out.read_text())
    assert len(course["subflows"]) == 2 and course["bytes"]
    shown = opened(browser, out)
    drawn = "document.querySelectorAll('#lanes canvas')[1].toDataURL()"
    all_of_them = shown.evaluate(drawn)
    shown.locator("#subflow").select_option(str(course["subflows"][1]))
    assert shown.evaluate(drawn) != all_of_them
    assert shown.complaints == []
    shown.close()


def test_the_animation_and_the_time_line_of_a_flow_link_to_each_other(weft, tmp_path, browser):
    (tmp_path / "race.toml").write_text(SCENARIO)
    out, beside = tmp_path / "a flow.html", tmp_path / "a flow-time-line.html"
    asked = ["explore", tmp_path / "race.toml", "--set", "scheme.name=tcp_path", "-o", out]
    assert weft(*asked, "--no-time-line").exit_code == 0
    assert 'id="stage"' in out.read_text() and not beside.exists() and "Time line of this flow" not in out.read_text()
    answer = weft(*asked)
    assert answer.exit_code == 0 and answer.stdout.split("\n")[:2] == [str(out), str(beside)]
    assert "No animation" not in beside.read_text()
    shown = opened(browser, out)
    flow = re.search(r"flow (\d+) of", shown.locator(".meta").inner_text())[1]
    shown.get_by_role("link", name="Time line of this flow").click()
    assert shown.locator("h1").inner_text().startswith(f"Flow {flow}: ")
    assert shown.locator("#lanes").count() == 1
    shown.get_by_role("link", name="Animation").click()
    assert shown.locator("#stage").count() == 1
    shown.close()
    beside.unlink()
    assert weft(*asked, "--time-line").exit_code == 0
    assert 'id="lanes"' in out.read_text() and "Animation:" not in out.read_text() and not beside.exists()


def test_a_message_on_an_open_connection_starts_with_the_window_of_that_time(tmp_path):
    text = SCENARIO.split("[traffic]")[0] + OPEN
    results = Scenario.from_text(text).run(tmp_path / "results")
    flows = results.flows(measured=False).sort("start_ps")
    last = flows.filter(flows["src"] == flows["src"][0], flows["dst"] == flows["dst"][0])["flow"][-1]
    [one] = explain(results, results.finished[0], [last], packets=True)
    times = [at for at, _ in one.data["windows"]]
    assert times[0] == 0 and times == sorted(times)
    assert one.data["windows"][0][1] > 14_600


def made_up(count: int) -> Course:
    """A flow of packets of 1000 bytes, one every microsecond, of which every hundredth is lost and repeated later."""
    packets = []
    for at in range(count):
        lost = at % 100 == 50
        sent = at * 10**6
        packets.append(
            [
                sent,
                sent + 5 * 10**6,
                at * 1000,
                (at + 1) * 1000,
                0,
                "lost" if lost else "data",
                "a->b" if lost else None,
            ]
        )
    plain = {"lost": None, "link": None, "direction": None}
    part = {"from": 0, "to": count * 10**6, "cause": "transmission"} | plain
    parts = [
        {"from": at * 10**6, "to": (at + 1) * 10**6, "cause": "queueing" if at % 2 else "transmission"} | plain
        for at in range(count)
    ]
    data = {
        "flow": 1, "src": "a", "dst": "b", "sport": 1, "dport": 2, "class": "elephant", "bytes": count * 1000,
        "fct_ps": part["to"], "ideal_fct_ps": part["to"], "retransmissions": 0, "timeouts": 0, "parts": parts,
        "sums": [{"cause": "transmission", "ps": part["to"]} | plain], "packets": packets,
        "windows": [[at * 10**6, at] for at in range(count)],
    }  # fmt: skip
    return Course("ecmp", 1, data)


def test_many_packets_are_thinned_out_but_no_loss_is_left_out(tmp_path):
    course = made_up(100_000)
    shown = course.shown()
    kinds = shown["packets"]["kind"]
    assert len(kinds) == MOST_PACKETS and shown["all"] == 100_000
    assert kinds.count("lost") == 1000
    assert shown["packets"]["sent"] == sorted(shown["packets"]["sent"])
    assert len(shown["window"][0]) <= 6000 and max(shown["window"][1]) == 99_999
    assert len(shown["parts"]) <= 4000
    assert (shown["parts"][0][0], shown["parts"][-1][1]) == (0, course.end)
    out = write([course], tmp_path / "page.html", name="made up")
    assert out.stat().st_size < 2_000_000
    assert "it shows 20,000 packets of each run" in out.read_text()
