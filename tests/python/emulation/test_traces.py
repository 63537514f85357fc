"""Paths and exploration times are derived from the switches' traces."""

from __future__ import annotations

from plans import flow, plan_of
from weft.emulation import traces

ENDS = frozenset((("02:00:00:00:00:00", 40_000), ("02:00:00:00:00:01", 5_000)))


def told(time_us: int, switch: str, what: str, exploration: int = 1) -> traces.Told:
    return traces.Told(time_us * 1000, switch, what, ENDS, exploration)


def seen(*events: traces.Told) -> list[dict[str, object]]:
    return traces.flows(plan_of(flows=[flow(0, "h0", "h1", 0.0)]), events)


def test_an_exploration_lasts_until_the_reply_is_back_at_the_sources_switch():
    assert seen(
        told(0, "l0", "explored"), told(30, "l1", "confirmed"), told(40, "s1", "confirmed"), told(55, "l0", "confirmed")
    ) == [
        {"flow": 0, "resolution_ps": None, "exploration_ps": 55_000_000, "moves": 0, "path": ["l0", "s1", "l1"]}
    ]  # fmt: skip


def test_another_exploration_that_ends_on_another_path_is_a_move():
    first = [
        told(0, "l0", "explored"),
        told(1, "l1", "confirmed"),
        told(2, "s1", "confirmed"),
        told(3, "l0", "confirmed"),
    ]
    again = [
        told(9, "l0", "recovering", 2),
        *(told(t, n, "confirmed", 2) for t, n in ((11, "l1"), (12, "s0"), (13, "l0"))),
    ]
    same = [told(t, n, "confirmed", 3) for t, n in ((21, "l1"), (22, "s0"), (23, "l0"))]
    (flow_seen,) = seen(*first, *again, *same)
    assert flow_seen["moves"] == 1
    assert flow_seen["path"] == ["l0", "s0", "l1"]
    assert flow_seen["exploration_ps"] == 3_000_000


def test_a_reply_that_got_lost_gives_no_path():
    (flow_seen,) = seen(told(0, "l0", "explored"), told(1, "l1", "confirmed"))
    assert flow_seen["path"] == []
    assert flow_seen["exploration_ps"] is None


def test_events_of_other_flows_are_left_out():
    other = traces.Told(0, "l0", "explored", frozenset((("02:00:00:00:00:05", 1), ("02:00:00:00:00:06", 2))), 1)
    assert seen(other) == []
