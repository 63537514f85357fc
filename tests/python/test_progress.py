"""From engine events to rates and remaining time."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from rich.console import Console

from tiny import TINY
from waiting import until
from weft.cli import live
from weft.cli.live import shown
from weft.progress import Tracker
from weft.scenario import Scenario
from weft.sweep_view import View, status
from weft.topology import fabric as read_fabric


def feed(tracker, *events):
    for event in events:
        tracker.feed(event)


def test_rates_count_what_was_done_since_the_start():
    tracker = Tracker(started=100.0)
    feed(
        tracker,
        {"event": "sweep", "total": 4},
        {"event": "run_skipped"},
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


def test_before_a_run_has_finished_there_is_no_rate_of_runs_and_the_time_left_is_an_estimate():
    tracker = Tracker(started=0.0)
    feed(
        tracker,
        {"event": "sweep", "total": 4},
        {"event": "progress", "run_id": "a", "label": "x", "fraction": 0.5, "packet_hops": 1e6},
    )
    assert status(tracker, 10.0) == (
        "0 of 4 runs · 100,000 packet-hops/s · 1 min 10 s left (from progress within runs)"
    )
    feed(tracker, {"event": "run_done", "run_id": "a", "fraction": 1.0, "packet_hops": 2e6})
    assert status(tracker, 20.0) == "1 of 4 runs · 100,000 packet-hops/s · 180 runs/h · 1 min 00 s left"


def test_nothing_is_said_about_time_before_anything_is_done():
    tracker = Tracker(started=0.0, total=3)
    assert tracker.seconds_left(5.0) is None
    assert status(tracker, 5.0) == "0 of 3 runs"


@pytest.mark.parametrize(
    ("fraction", "seconds", "left"),
    [(0.05, 2.9, None), (0.1, 1.0, 29.0), (0.05, 3.0, 177.0), (0.001, 30.0, 89_970.0), (0.0, 30.0, None)],
)
def test_an_estimate_needs_a_tenth_of_a_run_or_some_seconds_of_work(fraction, seconds, left):
    tracker = Tracker(started=0.0, total=3)
    feed(tracker, {"event": "progress", "run_id": "a", "label": "x", "fraction": fraction})
    assert tracker.seconds_left(seconds) == (None if left is None else pytest.approx(left))


def test_the_number_of_runs_is_not_shown_before_it_is_known():
    tracker = Tracker(started=0.0)
    assert status(tracker, 0.1) == "starting"
    feed(tracker, {"event": "workers", "number": 4})
    assert status(tracker, 0.2) == "starting · 4 workers"
    feed(tracker, {"event": "sweep", "total": 3})
    assert status(tracker, 0.3) == "0 of 3 runs · 4 workers"


def test_a_failed_run_counts_as_over_and_is_named():
    tracker = Tracker(started=0.0)
    feed(
        tracker,
        {"event": "sweep", "total": 2},
        {"event": "progress", "run_id": "a", "label": "x", "fraction": 0.1},
        {"event": "run_failed", "run_id": "a", "label": "x", "error": "no room"},
    )
    assert tracker.active == {}
    assert "1 failed" in status(tracker, 1.0)


def test_a_run_that_finishes_without_progress_events_is_counted():
    tracker = Tracker(started=0.0)
    feed(tracker, {"event": "sweep", "total": 1}, {"event": "run_done", "run_id": "a", "packet_hops": 10.0})
    assert tracker.fraction == 1.0
    assert tracker.seconds_left(1.0) == 0.0


def test_the_live_display_fits_eighty_columns():
    tracker = Tracker(started=0.0, total=60, finished=20)
    for n in range(10):
        label = f"single_path, traffic.load=0.{n}, transport.profile=ns3-3.23, seed {n}"
        event = {"event": "progress", "run_id": str(n), "label": label, "fraction": n / 10, "packet_hops": 1e7}
        tracker.feed(event | {"flows_done": 12_345, "flows_total": 20_000})
    console = Console(width=80, color_system=None)
    with console.capture() as captured:
        console.print(View("a scenario of some name", tracker, lambda: 30.0))
    text = captured.get()
    assert max(map(len, text.splitlines())) <= 80
    assert "20 of 60 runs · 3.33 M packet-hops/s · 2,940 runs/h" in text
    assert "43 s left" in text
    assert "12,345/20,000 flows" in text
    assert "and 2 more" in text


def test_without_a_terminal_a_line_is_printed_at_the_start_and_now_and_then():
    console, now = Console(width=80, force_terminal=False), [0.0]
    with console.capture() as captured, shown("name", console, lambda: now[0]) as (_, feed):
        feed({"event": "workers", "number": 2})
        feed({"event": "sweep", "total": 10})
        for second in range(0, 25, 5):
            now[0] = float(second)
            feed({"event": "run_done", "run_id": str(second)})
    assert captured.get().splitlines() == [
        "name: 10 runs",
        "name: 3 of 10 runs · 2 workers · 1,080 runs/h · 23 s left",
        "name: 5 of 10 runs · 2 workers · 900 runs/h · 20 s left",
    ]


def test_the_events_of_a_sweep_add_up(tmp_path):
    scenario = Scenario.from_text(TINY).set("run.duration", "1 s")
    before: set[str] = set()
    for finished, skipped in ((4, 0), (1, 3)):
        kinds, tracker = set(), Tracker(started=0.0)

        def hear(event, kinds=kinds, tracker=tracker):
            kinds.add(event["event"])
            tracker.feed(event)
            assert all(run.label and run.flows_total for run in tracker.active.values())

        scenario.execute(tmp_path / "r", jobs=1, progress=hear)
        assert (tracker.total, tracker.finished, tracker.skipped, tracker.failed) == (4, finished, skipped, 0)
        assert (tracker.active, tracker.fraction) == ({}, 1.0)
        hops = {
            path.parent.name: json.loads(path.read_text())["counters"]["packet_hops"]
            for path in (tmp_path / "r" / "runs").glob("*/summary.json")
        }
        assert tracker.hops_per_second(1.0) == sum(hops[name] for name in hops.keys() - before)
        assert kinds | {"progress"} == {"sweep", "progress", "run_done", *(["run_skipped"] if skipped else [])}
        again = next((tmp_path / "r" / "runs").iterdir())
        shutil.rmtree(again)
        before = hops.keys() - {again.name}


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_long_check_of_a_scenario_is_announced(weft, tiny, monkeypatch, capfd, tmp_path, command):
    monkeypatch.setattr(live, "PATIENCE", 0.0)
    said, checked = "", Scenario.check

    def announced() -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return "Checking all points of the sweep ...\n" in said

    def check(scenario):
        """Takes until the announcement is there, which another process makes."""
        until("the announcement", announced)
        return checked(scenario)

    monkeypatch.setattr(Scenario, "check", check)
    assert weft(command, tiny, *(["-o", tmp_path / "out"] if command == "run" else [])).exit_code == 0


def test_what_takes_long_is_announced_even_while_the_engine_lets_no_other_thread_run(weft, tiny, monkeypatch, capfd):
    text = "tiny.toml: counting paths and cuts; a large fabric takes a while\n"
    monkeypatch.setattr(live, "PATIENCE", 1e6)
    assert weft("fabric", tiny).exit_code == 0
    assert text not in capfd.readouterr().err
    monkeypatch.setattr(live, "PATIENCE", 0.0)
    monkeypatch.setattr(live, "_AGAIN", 0.1)
    said = ""

    def announced() -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return text in said and re.search(rf"{re.escape(text.strip())} \d+ s\n$", said) is not None

    def read(*arguments, **options):
        """Takes until the announcement is there, which another process makes."""
        until("the announcement", announced)
        return read_fabric(*arguments, **options)

    monkeypatch.setattr("weft.cli.fabric.read_fabric", read)
    assert weft("fabric", tiny).exit_code == 0
