"""Events of the engine to rates and time left."""

from __future__ import annotations

import pytest

from weft.cli.live import status
from weft.progress import Tracker


def feed(tracker, *events):
    for event in events:
        tracker.feed(event)


def test_rates_count_what_was_done_since_the_start():
    tracker = Tracker(started=100.0)
    feed(
        tracker,
        {"event": "run_skipped", "run_id": "a", "total": 4},
        {"event": "start", "run_id": "b", "label": "ecmp", "total": 4},
        {"event": "progress", "run_id": "b", "fraction": 0.5, "packet_hops": 1e6, "flows_done": 5, "flows_total": 10},
        {"event": "run_done", "run_id": "b", "fraction": 1.0, "packet_hops": 2e6},
        {"event": "progress", "run_id": "c", "label": "spray", "fraction": 0.5, "packet_hops": 1e6},
    )
    assert (tracker.over, tracker.total) == (2, 4)
    assert tracker.fraction == pytest.approx((1 + 1.5) / 4)
    assert tracker.hops_per_second(110.0) == pytest.approx(3e5)
    assert tracker.runs_per_hour(110.0) == pytest.approx(1.5 / 10 * 3600)
    assert tracker.seconds_left(110.0) == pytest.approx(10.0)
    assert status(tracker, 110.0) == "2 of 4 runs · 300,000 packet-hops/s · 540 runs/h · 10 s left"


def test_nothing_is_said_about_time_before_anything_is_done():
    tracker = Tracker(started=0.0, total=3)
    assert tracker.seconds_left(5.0) is None
    assert status(tracker, 5.0) == "0 of 3 runs"


def test_a_failed_run_counts_as_over_and_is_named():
    tracker = Tracker(started=0.0)
    feed(
        tracker,
        {"event": "start", "run_id": "a", "label": "x", "total": 2},
        {"event": "run_failed", "run_id": "a", "label": "x"},
    )
    assert tracker.active == {}
    assert "1 failed" in status(tracker, 1.0)


def test_a_run_that_finishes_without_progress_events_is_counted():
    tracker = Tracker(started=0.0)
    feed(tracker, {"event": "run_done", "run_id": "a", "packet_hops": 10.0, "total": 1})
    assert tracker.fraction == 1.0
    assert tracker.seconds_left(1.0) == 0.0
