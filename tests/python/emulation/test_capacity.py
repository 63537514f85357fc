"""A run's demand on the machine is estimated before it, and the machine's load is known afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from jails import in_jail
from plans import flow, plan_of
from weft.emulation import capacity
from weft.emulation.errors import EmulationError
from weft.studies.tag_and_forward.measurements import pause


def test_work_is_frames_times_links_of_the_busiest_tenth():
    # 1.25 MB offered in the first 0.1 s is 100 Mbps, of which the source's link carries 10.
    estimate = capacity.estimate(plan_of(flows=[flow(0, "h0", "h1", 0.0, 1_250_000)]), cores=1)
    assert estimate.goodput_bps == 10e6
    assert estimate.frame_hops == pytest.approx(10e6 / 8 / 1448 * 1.5 * 2)
    assert estimate.share == pytest.approx(estimate.frame_hops / capacity.FRAME_HOPS_PER_CORE)


def test_a_run_that_fits_is_not_warned_of():
    assert capacity.judge(plan_of()) == []


def test_a_run_far_beyond_the_machine_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr(capacity.os, "cpu_count", lambda: 2)
    flows = [flow(0, "h0", "h1", 0.0, 10**10)]
    plan = plan_of(flows=flows, end={"rate_bps": 10**10})
    with pytest.raises(
        EmulationError, match=r"offer up to 10.0 Gbps.*frame-hops per second.*this machine's 2 cores"
    ) as refused:
        capacity.judge(plan)
    assert "fabric.rate" in str(refused.value.hint)
    near = plan_of(flows=flows, end={"rate_bps": 300 * 10**6})
    assert "of the estimated capacity of this machine" in capacity.judge(near)[0]


def test_a_machine_without_time_left_is_found_out(monkeypatch):
    times = iter([[0] * 8, [95, 0, 0, 5, 0, 0, 0, 0], [140, 0, 0, 60, 0, 0, 0, 0], [140, 0, 0, 110, 0, 0, 0, 50]])
    monkeypatch.setattr(capacity, "_times", lambda: next(times))
    processors = capacity.Processors()
    for _ in range(3):
        processors.sample()
    report = processors.report()
    assert report["max_busy"] == 0.95
    assert report["mean_stolen"] == pytest.approx(1 / 6)
    assert report["saturated"]


@contextmanager
def hogs(number: int) -> Iterator[None]:
    """Processes that use all the CPU time they get."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_others_that_take_all_processors_are_seen_in_the_pauses_of_a_round():
    processors = capacity.Processors()
    with hogs(2 * (os.cpu_count() or 1)):
        for _ in range(3):
            pause(processors)
    report = processors.report()
    assert report["saturated"]
    assert report["samples"] == 3
    assert report["mean_busy"] > 0.9
    assert report["mean_pressure"] is None or report["mean_pressure"] > 0.5


def test_what_was_done_before_a_pause_does_not_count(monkeypatch):
    times = iter([[0] * 8, [100, 0, 0, 0, 0, 0, 0, 0], [102, 0, 0, 18, 0, 0, 0, 0]])
    monkeypatch.setattr(capacity, "_times", lambda: next(times))
    processors = capacity.Processors()
    pause(processors)
    assert processors.report()["mean_busy"] == pytest.approx(0.1)
    assert not processors.report()["saturated"]


def test_the_time_of_the_own_processes_is_what_they_used_and_not_what_passed(root):
    seen = in_jail(
        """
        import textwrap
        from weft.emulation.capacity import own_seconds

        burn = '''
        import sys, time
        while time.process_time() < 0.5:
            pass
        print(time.process_time(), flush=True)
        sys.stdin.read()
        '''
        before, own = own_seconds(), time.process_time()
        words = [sys.executable, "-c", textwrap.dedent(burn)]
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        used = float(child.stdout.readline())
        # Nobody computes during this time.
        time.sleep(1)
        grown = own_seconds() - before
        used += time.process_time() - own
        child.communicate()
        tell(used=used, grown=grown)
        """
    )
    assert seen["grown"] == pytest.approx(seen["used"], abs=0.05)
