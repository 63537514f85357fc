"""Paths and exploration times are derived from the switches' traces."""

from __future__ import annotations

from plans import flow, plan_of
from weft.emulation import traces

ENDS = frozenset((("02:00:00:00:00:00", 40_000), ("02:00:00:00:00:01", 5_000)))


def event(time_us: int, switch: str, what: str, exploration: int = 1) -> traces.TraceEvent:
    return traces.TraceEvent(time_us * 1000, switch, what, ENDS, exploration)


def confirmed(exploration: int, **times_us: int) -> list[traces.TraceEvent]:
    """Confirmations of an exploration by the named switches."""
    return [event(time_us, switch, "confirmed", exploration) for switch, time_us in times_us.items()]


def seen(*events: traces.TraceEvent) -> list[dict[str, object]]:
    return traces.flows(plan_of(flows=[flow(0, "h0", "h1", 0.0)]), events)


def test_an_exploration_lasts_until_the_reply_is_back_at_the_sources_switch():
    assert seen(event(0, "l0", "explored"), *confirmed(1, l1=30, s1=40, l0=55)) == [
        {"flow": 0, "resolution_ps": None, "exploration_ps": 55_000_000, "moves": 0, "path": ["l0", "s1", "l1"]}
    ]


def test_another_exploration_that_ends_on_another_path_is_a_move():
    first = [event(0, "l0", "explored"), *confirmed(1, l1=1, s1=2, l0=3)]
    again = [event(9, "l0", "recovering", 2), *confirmed(2, l1=11, s0=12, l0=13)]
    (flow_seen,) = seen(*first, *again, *confirmed(3, l1=21, s0=22, l0=23))
    assert flow_seen["moves"] == 1
    assert flow_seen["path"] == ["l0", "s0", "l1"]
    assert flow_seen["exploration_ps"] == 3_000_000


def test_a_reply_that_got_lost_gives_no_path():
    (flow_seen,) = seen(event(0, "l0", "explored"), event(1, "l1", "confirmed"))
    assert flow_seen["path"] == []
    assert flow_seen["exploration_ps"] is None


def test_events_of_other_flows_are_left_out():
    other = traces.TraceEvent(0, "l0", "explored", frozenset((("02:00:00:00:00:05", 1), ("02:00:00:00:00:06", 2))), 1)
    assert seen(other) == []
