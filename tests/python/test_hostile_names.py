"""Names that look like markup, contain control characters or are very long: pages show them as plain text."""

from __future__ import annotations

import functools
import itertools
import json
import logging
import os
import subprocess
import sys
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

import hostile
import sample
from chromium import opened
from weft import Scenario, log, report
from weft.exploring import follow, write
from weft.labels import UNSEEN, visible
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


@pytest.fixture(scope="module")
def results_of(tmp_path_factory):
    """Results in which everything has a name, written once for each name; commands only read them."""
    return functools.cache(lambda name: hostile.write_results(tmp_path_factory.mktemp("hostile") / "r", name))


@pytest.fixture(scope="module", params=hostile.NAMES.values(), ids=hostile.NAMES.keys())
def reported(browser, request, results_of):
    """A name, and the page of a report in which everything has this name."""
    page = opened(browser, report(results_of(request.param)))
    yield request.param, page
    page.close()


def test_a_report_shows_any_name_as_text(reported):
    name, page = reported
    shown = visible(name)
    assert page.complaints == []
    assert page.evaluate("document.documentElement.dataset.ready") == "yes"
    assert page.title() == " ".join(f"{shown} – Weft".split())
    assert texts(page, "h1") == [shown]
    assert texts(page, ".bar .legend button") == [f"{shown}1", f"{shown}2"]
    assert page.locator("#key-0 option").evaluate_all("all => all.map(one => one.value)") == [shown, "plain"]
    assert {f"{shown}h0", f"{shown}e0", f"{shown}c0"} <= set(texts(page, "svg.fabric .nodes title"))
    assert any(
        title.startswith(f"{shown}h0 → {shown}e0: 1.00 Gbps") for title in texts(page, "svg.fabric .links title")
    )
    assert shown in texts(page, "#comparison td")
    assert texts(page, "#setup pre") == [f"{visible(hostile.comment(name))}\n"]
    assert texts(page, ".warn p") == [shown]
    marks = page.locator("#completion svg .mark-rect path").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert any(f"scheme: {shown}1" in label for label in marks)
    assert fits(page, 1280)


def test_the_controls_of_a_report_find_any_name(reported):
    _, page = reported
    lines = page.locator("svg.fabric .links")
    before = lines.inner_html()
    page.locator(".tabs[data-sets=scheme] button").nth(1).click()
    second = lines.inner_html()
    assert second != before
    page.locator("#key-0").select_option(index=1)
    page.wait_for_function("document.getElementById('key-0').selectedIndex === 1")
    page.wait_for_function("!document.documentElement.dataset.busy")
    assert lines.inner_html() not in (before, second)
    page.locator(".bar .legend button").first.click()
    page.wait_for_function("!document.documentElement.dataset.busy")
    assert page.locator("#pairs-counts tbody tr").count() > 0
    page.locator('[data-rows="curves"]').click()
    assert page.locator("#slowest tbody tr").count() > 0
    assert (
        page.locator("#slowest-note")
        .text_content()
        .endswith("does not explore paths, so there is no exploration to show.")
    )
    assert page.complaints == []


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


MARKUP = {**hostile.NAMES, "Rich's markup": "[/red] [bold :smile: \\", "two lines": "one\ntwo\tthree"}


ONE_AFTER_ANOTHER = """
import json, sys
from weft.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv[:] = ["weft", *words]
    try:
        code = main() or 0
    except SystemExit as end:
        code = end.code or 0
    for stream in (sys.stdout, sys.stderr):
        print(f"{code}\\0\\0", end="", file=stream, flush=True)
"""


def printed(*commands: list[object]) -> list[tuple[int, str, str]]:
    """The output of `weft` in a separate process, with its own terminal detection."""
    arguments = json.dumps([[str(word) for word in words] for words in commands])
    done = subprocess.run(
        [sys.executable, "-c", ONE_AFTER_ANOTHER, arguments],
        capture_output=True,
        env={**os.environ, "COLUMNS": "2000", "PYTHONIOENCODING": "utf-8"},
        check=True,
    )
    out, err = (stream.decode().split("\0\0")[:-1] for stream in (done.stdout, done.stderr))
    assert len(out) == len(err) == len(commands)
    return [(int(said[-1]), said[:-1], wrong[:-1]) for said, wrong in zip(out, err, strict=True)]


def squeezed(text: str) -> str:
    """The text without whitespace, where tables wrap lines."""
    return "".join(text.split())


def obeyed(text: str) -> list[str]:
    """Characters that a terminal interprets instead of showing."""
    return UNSEEN.findall(text)


def printed_by_name(commands: dict[str, list[list[object]]]) -> dict[str, list[tuple[int, str, str]]]:
    """The output of the commands of each name, all run by one process."""
    outputs = iter(printed(*itertools.chain.from_iterable(commands.values())))
    return {name: list(itertools.islice(outputs, len(own))) for name, own in commands.items()}


@pytest.fixture(scope="module")
def outputs(results_of, tmp_path_factory):
    """What commands print about each name of `MARKUP`."""

    def commands(name):
        yield ["summary", results_of(name)]
        yield ["summary", results_of(name), "--json"]
        if name in OF_NODES.values():
            folder = tmp_path_factory.mktemp("fabric")
            file = hostile.fabric_file(folder, name)
            yield ["fabric", file, "--svg", folder / "f.svg"]
            yield ["fabric", file, "--json"]
            yield ["fabric", file, "--paths", f"{name}h0", f"{name}nobody"]

    return printed_by_name({name: list(commands(name)) for name in MARKUP.values()})


@of_kind(MARKUP)
def test_commands_print_any_name_as_text(outputs, name):
    shown = visible(name)
    (_, table, _), (_, rows, _), *of_fabric = seen = outputs[name]
    assert [obeyed(out + err) for _, out, err in seen] == [[]] * len(seen)
    assert [code for code, _, _ in seen[:2]] == [0, 0]
    # A warning of the runs, which has the name, is one line beside the table, and is not printed with the numbers.
    warning, none = (err for _, _, err in seen[:2])
    assert warning.startswith("warning: ")
    assert squeezed(visible(" ".join(name.splitlines()))) in squeezed(warning)
    assert (warning.count("\n"), none) == (1, "")
    assert squeezed(f"{shown}1") in squeezed(table) or "\n" in name
    assert name in {row["class"] for row in json.loads(rows)["rows"]}
    assert len(of_fabric) == (3 if name in OF_NODES.values() else 0)
    if of_fabric:
        assert [code for code, _, _ in of_fabric] == [0, 0, 2], of_fabric
        (_, drawn, _), (_, shown_json, _), (_, _, refused) = of_fabric
        assert squeezed(shown) in squeezed(drawn)
        assert name in json.loads(shown_json)["name"]
        assert f"{shown}nobody" in refused


DRAWN = ("quotes", "control characters")


@pytest.fixture(scope="module")
def plotted(results_of):
    """What `weft plot` prints for each name of `DRAWN`."""
    return printed_by_name({kind: [["plot", results_of(hostile.NAMES[kind]), "--format", "svg"]] for kind in DRAWN})


@pytest.mark.parametrize("kind", DRAWN)
def test_figures_are_drawn_with_any_name(plotted, kind):
    [(code, out, err)] = plotted[kind]
    assert code == 0, err
    assert obeyed(out + err) == []
    assert "Traceback" not in err
    drawn = [Path(line).read_text(encoding="utf-8") for line in out.splitlines()]
    assert any(f">{visible(hostile.NAMES[kind])}1</text>" in unescape(svg) for svg in drawn)
    for svg in drawn:
        ElementTree.fromstring(svg)


DIRECTORIES = ("<!--<script>", "[red] [bold", "esc\x1b[2J\u202e", "two\nlines")


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A directory with each name of `DIRECTORIES`, and what `weft report` prints for it."""
    folder = tmp_path_factory.mktemp("directories")
    for name in DIRECTORIES:
        directory = sample.write_results(folder / name, {"scheme.name": ["ecmp"]}, seeds=1, flows=40, samples=4)
        index = json.loads((directory / "sweep.json").read_text())
        (directory / "sweep.json").write_text(json.dumps(index | {"name": ""}))
    return folder, printed_by_name({name: [["report", folder / name]] for name in DIRECTORIES})


@pytest.mark.parametrize("name", DIRECTORIES)
def test_a_directory_may_have_any_name_too(browser, named, name):
    folder, said = named
    [(code, out, err)] = said[name]
    assert code == 0, err
    assert obeyed(out + err) == []
    assert visible(name) in err
    page = opened(browser, folder / name / "report.html")
    assert texts(page, "h1") == [visible(name)]
    assert page.complaints == []
    page.close()


def test_half_a_character_in_a_result_is_refused_plainly(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["b\U0001f600"]}, seeds=1, flows=40, samples=4)
    assert printed(["summary", directory])[0][0] == 0
    index = directory / "sweep.json"
    index.write_text(index.read_text().replace("\\ude00", ""))
    [(code, out, err)] = printed(["summary", directory])
    assert (code, out) == (2, "")
    assert "sweep.json: not valid JSON" in err


def test_a_scenario_with_control_characters_is_complained_about_without_them(tmp_path):
    file = tmp_path / "a\x1b[2J\u202e.toml"
    file.write_text('name = "x"\nfabric = 3\n\x9b = 3\n')
    words = (["run", file], ["explore", file], ["fabric", file], ["report", file], ["summary", f"{file}\n"])
    for code, out, err in printed(*words):
        assert code == 2
        assert "error" in err
        assert obeyed(out + err) == []


def test_a_log_line_is_one_line_whatever_is_in_it():
    record = logging.makeLogRecord({"msg": "port %s is down", "args": ("eth\x1b[2J\n12:00:00 error forged",)})
    assert log.Lines(colour=False).format(record).endswith(r"port eth\x1b[2J\n12:00:00 error forged is down")
