"""Two controllers that coordinate by generation ids, without switches: a clock that the test advances."""

from __future__ import annotations

import time

import pytest

from weft.controller.roles import SILENCE_S, UNKNOWN, Generations


def test_while_half_of_the_switches_name_new_ids_there_is_a_master():
    ours, now = Generations(), 100.0
    for beat in range(40):
        ours.saw(now + 0.25 * beat, 1, 5)
        ours.saw(now + 0.25 * beat, 2, 5 + beat)
    assert ours.silent_s(now + 9.75) < SILENCE_S


def test_silence_at_the_switches_that_answer_is_that_of_the_master():
    ours = Generations()
    ours.saw(99.0, 3, 9)
    for beat in range(10):
        for dpid in (1, 2):
            ours.saw(101.0 + 0.25 * beat, dpid, 5)
    # Switch 3 has not answered for long: its last report does not prove that there is a master.
    assert ours.silent_s(103.3) > SILENCE_S
    ours.forget(1)
    ours.forget(2)
    assert ours.silent_s(103.3) == 0


def test_who_takes_over_is_above_what_each_switch_has_seen_and_above_one_that_wakes_up():
    asleep, ours = Generations(), Generations()
    asleep.step()
    ours.saw(1.0, 1, asleep.of(1) + 10**6)
    ours.saw(1.0, 2, UNKNOWN)
    ours.rise()
    taken = ours.of(1)
    assert taken > asleep.of(1) + 10**6
    asleep.step()
    assert taken > asleep.of(1)
    ours.step()
    assert ours.of(1) == taken + 1


def test_a_switch_that_comes_after_a_takeover_does_not_lower_the_ids_of_the_others(monkeypatch):
    # The clock is an hour behind that of the controller before.
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    ours, before = Generations(), 1_003_600_000
    ours.saw(1.0, 1, before)
    ours.rise()
    ours.forget(1)
    taken = ours.of(1)
    # Switch 2 has seen the same controller before, and was not connected at the takeover.
    ours.saw(9.0, 2, before)
    ours.rise()
    assert ours.of(1) >= taken and ours.of(2) > before
    # As the clock advances, no id falls behind it.
    monkeypatch.setattr(time, "time", lambda: 1_003_700.0)
    ours.rise()
    assert ours.of(1) == ours.of(2) == 1_003_700_000


def test_who_takes_over_with_a_clock_behind_is_above_one_that_wakes_up_and_renews_its_role(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1_003_600.0)
    asleep = Generations()
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    ours = Generations()
    ours.saw(1.0, 1, asleep.of(1))
    ours.rise()
    for _ in range(100):
        asleep.step()
        assert 0 < ours.of(1) - asleep.of(1) < 10_000


@pytest.mark.parametrize("named", [2**63 - 2, 2**63 - 1, 2**63 + 10**14, UNKNOWN - 1])
def test_a_switch_that_names_an_id_far_ahead_shuts_nobody_out_of_the_others(named):
    ours = Generations()
    ours.saw(1.0, 1, named)
    ours.saw(1.0, 2, ours.of(2) + 3)
    ours.rise()
    # Switch 1 itself follows too: ids are compared modulo 2^64, as switches do.
    assert 0 < (ours.of(1) - named) % 2**64 < 2**63
    # A controller that starts later wins by its clock.
    assert ours.of(2) < int(time.time() * 1000) + 10**6


def test_fewer_than_half_of_the_switches_cannot_keep_a_standby_from_taking_over():
    ours, now = Generations(), 100.0
    for beat in range(40):
        ours.saw(now + 0.25 * beat, 1, 5)
        ours.saw(now + 0.25 * beat, 2, 5)
        ours.saw(now + 0.25 * beat, 3, 5 + beat)
    assert ours.silent_s(now + 9.75) > SILENCE_S
