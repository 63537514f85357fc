"""What a run asks of the machine is known before, and what the machine did is known after."""

from __future__ import annotations

import pytest

from plans import flow, plan_of
from weft.emulation import capacity
from weft.emulation.errors import EmulationError


def test_work_is_frames_times_links_of_the_busiest_tenth():
    # 1.25 MB asked for in the first tenth of a second are 100 Mbps, of which the source's link carries 10.
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
        EmulationError, match=r"ask for up to 10.0 Gbps.*frames a second.*this machine's 2 cores"
    ) as refused:
        capacity.judge(plan)
    assert "fabric.rate" in str(refused.value.hint)
    near = plan_of(flows=flows, end={"rate_bps": 300 * 10**6})
    assert "cores are thought to carry" in capacity.judge(near)[0]


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
