"""What a notebook shows of fabrics, scenarios, results, comparisons and running sweeps."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

import weft
from tiny import TINY
from weft.run_bar import bar


class Balanced(HTMLParser):
    """The elements that are open."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """An element begins."""
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        """An element ends."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """A text."""
        self.texts.append(data)


def seen(value):
    """The texts that a notebook shows of a value."""
    page = Balanced(value._repr_html_())
    assert page.open == []
    return page.texts


def test_a_fabric_is_its_drawing():
    fabric = weft.Scenario.from_text(TINY).fabric()
    assert "<svg " in fabric._repr_html_()
    assert seen(fabric)[-1] == "spine-leaf 2-2-2: 4 hosts, 4 switches, 8 links"


def test_a_large_fabric_is_not_drawn():
    fabric = weft.Scenario.from_text(TINY).set("fabric.hosts_per_leaf", 1100).fabric()
    assert seen(fabric) == ["spine-leaf 2-2-1100: 2,200 hosts, 4 switches, 2,204 links"]


def test_a_scenario_is_its_text_with_the_changes():
    texts = seen(weft.Scenario.from_text("# <b>", "mine.toml").set("traffic.load", 0.5))
    assert texts == ["mine.toml", "# <b>\n# set: traffic.load=0.5"]


def test_results_are_their_runs_schemes_values_and_seeds(results):
    texts = " ".join(seen(results))
    for text in ("18 of 18 finished", "schemes single_path, ecmp, spray", "traffic.load 0.2, 0.4", "seeds 1, 2, 3"):
        assert text in texts
    assert "in memory" in seen(weft.run(TINY, jobs=1, seeds=1))


def test_a_comparison_is_a_table_with_intervals_and_differences(results):
    comparison = results.compare(baseline="ecmp")
    assert repr(comparison) == "Comparison(18 groups by traffic.load, class, scheme, compared with ecmp)"
    texts = seen(comparison)
    assert texts[:3] == ["Load", "Class", "Scheme"]
    assert any(text.startswith("±") for text in texts)
    assert any(text.startswith("−") and text.endswith("%*") for text in texts)
    assert "Signed: difference from ecmp, same flows." in texts[-1]
    assert comparison.frame().equals(results.summary(baseline="ecmp"))
    assert "p99 FCT" in seen(results.compare(by=["class"]))


@pytest.mark.filterwarnings("ignore:ecmp")
def test_a_comparison_without_flows_says_so():
    scenario = weft.Scenario.from_text(TINY).set("measure.window", ["4 ms", "4.000001 ms"])
    assert seen(weft.run(scenario, jobs=1, seeds=1).compare())[0].startswith("No flow started")


def test_names_are_escaped(results):
    fabric = weft.Scenario.from_text(TINY).fabric()
    hostile = type(fabric)("<script>", fabric.nodes, fabric.links)
    assert "<script>" not in hostile._repr_html_()


class Clock:
    """A clock that goes on by hand."""

    now = 0.0

    def __call__(self):
        """The time."""
        return self.now


EVENTS = [
    {"event": "sweep", "total": 2},
    {"event": "progress", "run_id": "a", "label": "ecmp", "fraction": 0.5},
]


def test_a_notebook_shows_a_bar_after_two_seconds(monkeypatch):
    shown, clock = [], Clock()
    output = SimpleNamespace(update=lambda content, raw: shown.append(content["text/plain"]))

    def display(content, raw, display_id):
        shown.append(content["text/html"])
        return output

    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    with bar("<mine>", clock) as feed:
        for clock.now in (0.0, 1.9):
            for event in EVENTS:
                feed(event)
        assert shown == []
        for clock.now in (2.0, 2.1, 2.5):
            feed(EVENTS[1])
    meter = "<progress value='0.250' max='1'></progress>"
    assert shown == [
        f"&lt;mine&gt; {meter} 25% · 0 of 2 runs · 6 s left (from progress within runs)",
        "<mine> 25% · 0 of 2 runs · 8 s left (from progress within runs)",
        "",
    ]


@pytest.mark.parametrize("late", [False, True])
def test_a_terminal_shows_a_bar_after_two_seconds(monkeypatch, capsys, late):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    clock = Clock()
    with bar("mine", clock) as feed:
        clock.now = 2.0 if late else 1.0
        for event in EVENTS:
            feed(event)
    assert ("mine" in capsys.readouterr().err) == late


def test_without_a_screen_there_is_no_bar():
    with bar("mine") as feed:
        assert feed is None
