"""Failures of links over a run, from its events."""

from __future__ import annotations

import math

import pytest

from weft.reporting import failures

LINKS = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]


AB, BC = [["a", "b"]], [["b", "c"]]


def event(seconds, up, links):
    return {"at_ps": round(seconds * 1e12), "up": up, "links": links}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], {}),
        ([(1, False, AB)], {0: [(1, math.inf)], 1: [(1, math.inf)]}),
        ([(1, False, [["b", "a"]]), (2, True, AB)], {0: [(1, 2)], 1: [(1, 2)]}),
        ([(1, True, AB)], {}),
        (
            [(1, False, AB + BC), (2, True, BC)],
            {0: [(1, math.inf)], 1: [(1, math.inf)], 2: [(1, 2)], 3: [(1, 2)]},
        ),
        (
            [(1, False, BC), (2, False, BC), (3, True, []), (4, True, BC)],
            {2: [(1, 4)], 3: [(1, 4)]},
        ),
        ([(1, None, AB), (2, False, None)], {}),
    ],
)
def test_events_tell_when_links_are_down(events, expected):
    found = failures.intervals([event(*one) for one in events], LINKS)
    assert {at: [(begin / 1e12, end / 1e12) for begin, end in times] for at, times in found.items()} == expected


def test_a_link_is_down_in_each_step_that_has_a_moment_of_its_failure():
    down = {0: [(25, 30), (35, 50)], 1: [(57, 58)], 3: [(90, math.inf)], 4: [(150, math.inf)]}
    assert failures.steps(down, 10, 10) == [[0, 2, 4], [1, 5, 5], [3, 9, 9]]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], []),
        ([(1, False, AB)], [0, 1]),
        ([(1, False, AB), (2, False, BC), (3, True, AB)], [2, 3]),
        ([(1, False, AB), (2, True, AB), (3, False, AB)], [0, 1]),
        ([(1, False, None)], []),
    ],
)
def test_links_that_fail_and_do_not_recover_are_down_at_the_end(events, expected):
    assert failures.never_healed([event(*one) for one in events], LINKS) == expected


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], [0, 1]),
        ([(1, False, AB)], []),
        ([(1, False, BC)], [0, 1]),
        ([(1, False, None)], []),
    ],
)
def test_links_that_no_event_takes_down_were_never_up(events, expected):
    assert failures.never_up([event(*one) for one in events], LINKS, [0, 1]) == expected
