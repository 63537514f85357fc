"""Events of runs in figures over time: a line at each, a band while something is down."""

from __future__ import annotations

import re

import pytest

import sample
from weft import figure
from weft.content import Content
from weft.results import Results
from weft.run_events import drawn

S = 10**12


def event(at_s, up, target="e0-a1"):
    change = {True: "heal", False: "fail", None: "rate"}[up]
    return {"at_ps": round(at_s * S), "change": change, "target": target, "up": up, "links": []}


@pytest.mark.parametrize(
    ("events", "bands", "lines"),
    [
        ([], [], []),
        ([(0.2, False)], [(0.2, 1.0)], [0.2]),
        ([(0.2, False), (0.5, True)], [(0.2, 0.5)], [0.2, 0.5]),
        ([(0.2, False), (0.3, False, "x"), (0.5, True), (0.7, True, "x")], [(0.2, 0.7)], [0.2, 0.3, 0.5, 0.7]),
        ([(0.2, None)], [], [0.2]),
        ([(1.2, False)], [], []),
        # Flaps that a figure cannot tell apart.
        ([(0.2 + 0.001 * i, bool(i % 2)) for i in range(100)], [(0.2, 0.299)], None),
    ],
    ids=["none", "no recovery", "recovery", "two at once", "change", "after the end", "flaps"],
)
def test_failures_are_bands_until_the_recovery_and_events_lines(events, bands, lines):
    found = drawn([event(*one) for one in events], 1.0)
    assert [(round(at, 6), round(until, 6)) for at, until, _ in found if until is not None] == bands
    found_lines = [at for at, until, _ in found if until is None]
    assert found_lines == lines if lines is not None else 10 < len(found_lines) < 50


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """Results in which a link is down from 0.3 s on at one of two points."""
    directory = sample.write_results(tmp_path_factory.mktemp("failing") / "r", seeds=1, flows=60)
    sample.add_event(directory, sample.failure(300 * 10**9, "e0", "a1"), "000[024]")
    return Results(directory)


def test_the_events_of_a_point_are_those_of_its_runs(failing):
    assert Content(failing, None).events.rows() == [
        ("load 0.2", 0.3, 1.0, ""),
        ("load 0.2", 0.3, None, "fail e0-a1"),
    ]


@pytest.mark.parametrize("name", ["throughput-time", "queues"])
def test_a_file_over_time_has_the_failure(failing, name):
    shown = {at: figure(failing, name, at=at).svg for at in ("load 0.2", "load 0.4")}
    panels = 4 if name == "throughput-time" else 1
    for mark in (r'stroke-dasharray="2,2"', r'opacity="0\.22"'):
        found = {at: len(re.findall(mark, svg)) for at, svg in shown.items()}
        assert found == {"load 0.2": panels, "load 0.4": 0}, mark
    assert {at: "Events: fail e0-a1 at 300 ms" in svg for at, svg in shown.items()} == {
        "load 0.2": True,
        "load 0.4": False,
    }


def test_without_events_nothing_is_drawn_for_them(results):
    assert Content(results, None).events.is_empty()
    svg = figure(results, "queues", at="load 0.2").svg
    assert 'stroke-dasharray="2,2"' not in svg
