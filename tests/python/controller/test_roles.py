"""Two controllers that agree by generation ids, without switches: a clock that the test moves."""

from __future__ import annotations

from weft.controller.roles import SILENCE_S, UNKNOWN, Generations


def test_while_one_switch_names_new_ids_there_is_a_master():
    ours, now = Generations(), 100.0
    for beat in range(40):
        ours.saw(now + 0.25 * beat, 1, 5)
        ours.saw(now + 0.25 * beat, 2, 5 + beat)
    assert ours.silent_s(now + 9.75) < SILENCE_S


def test_silence_at_every_switch_that_answers_is_that_of_the_master():
    ours = Generations()
    ours.saw(99.0, 3, 9)
    for beat in range(10):
        for dpid in (1, 2):
            ours.saw(101.0 + 0.25 * beat, dpid, 5)
    # Switch 3 has not answered for long: what it said last is no sign of a master.
    assert ours.silent_s(103.3) > SILENCE_S
    ours.forget(1)
    ours.forget(2)
    assert ours.silent_s(103.3) == 0


def test_who_takes_over_is_above_all_that_was_seen_and_above_one_that_wakes_up():
    asleep, ours = Generations(), Generations()
    ours.saw(1.0, 1, asleep.next() + 10**6)
    ours.saw(1.0, 2, UNKNOWN)
    taken = ours.above()
    assert taken > asleep.last + 10**6
    assert taken > asleep.next()
    assert ours.next() == taken + 1
