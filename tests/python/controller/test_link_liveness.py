"""Links while switches lose their management, in virtual time: only lost LLDP that switches prove counts."""

from __future__ import annotations

import pytest

from managed import RETRY_S, SILENCE_S, Managed

A, B, C, D = (1, 1), (2, 1), (1, 2), (3, 1)
LENGTHS_S = [*range(1, 16), 5.75, 6.25, 6.5, 6.75, 7.25, 7.5]
PHASES_S = [0.0, 0.3, 0.55, 0.8]
"""When a cut begins, within the interval of LLDP frames."""
OUTAGES = {
    "one end": lambda managed, length: outage(managed, length, 1),
    "both ends": lambda managed, length: outage(managed, length, 1, 2),
    "one after the other": lambda managed, length: one_after_the_other(managed, length),
}
PROMPT_S = 5.0
"""Until a link is down that loses all frames: three intervals, the next frame, and the next echo request."""


def found(phase_s=0.0):
    """Two links of switch 1."""
    managed = Managed((A, B), (C, D))
    managed.run(5 + phase_s)
    assert managed.discovery.links == 4
    return managed


def outage(managed, length_s, *dpids):
    managed.cut(*dpids)
    said = managed.run(length_s)
    managed.heal(*dpids)
    return said


def one_after_the_other(managed, length_s):
    managed.cut(1)
    said = managed.run(length_s / 2)
    managed.cut(2)
    said += managed.run(length_s / 2)
    managed.heal(1)
    said += managed.run(length_s / 2)
    managed.heal(2)
    return said


def downs(said):
    return {(link.source, link.target) for _, link in said if not link.up}


@pytest.mark.parametrize("which", OUTAGES)
@pytest.mark.parametrize("length_s", LENGTHS_S)
def test_no_link_is_down_after_an_outage_of_any_length(length_s, which):
    for phase_s in PHASES_S:
        managed = found(phase_s)
        said = OUTAGES[which](managed, length_s) + managed.run(30)
        assert said == [], phase_s
        assert managed.discovery.links == 4


@pytest.mark.parametrize("which", OUTAGES)
@pytest.mark.parametrize("length_s", LENGTHS_S)
def test_a_link_that_fails_during_an_outage_is_down_soon_after_it_and_the_other_link_is_not(length_s, which):
    for phase_s in PHASES_S:
        managed = found(phase_s)
        managed.clock.at(managed.clock.now + length_s / 2, lambda managed=managed: managed.fail(A))
        assert OUTAGES[which](managed, length_s) == [], phase_s
        # TCP doubles its intervals: a direction may resume as late after the outage as that lasted.
        back_s = min(2 * length_s, SILENCE_S + 2 * RETRY_S)
        said = managed.run(back_s + PROMPT_S)
        assert downs(said) == {(A, B), (B, A)}, phase_s
        assert managed.discovery.links == 2


@pytest.mark.parametrize("at_s", [0.5, 2.0, 3.5, 6.0, 9.0])
def test_a_switch_that_connects_again_before_its_old_connection_ends_keeps_its_links(at_s):
    for phase_s in PHASES_S:
        managed = found(phase_s)
        managed.cut(1)
        managed.run(at_s)
        managed.connect(1)
        assert managed.run(30) == [], phase_s
        assert managed.discovery.links == 4


def test_switches_that_connect_again_and_again_keep_their_links():
    managed = found()
    for _ in range(30):
        managed.connect(1)
        assert managed.run(0.7) == []
    assert managed.discovery.links == 4


@pytest.mark.parametrize("stopped_s", [0.5, 3.0, 7.0, 12.0])
def test_a_controller_that_stood_still_declares_no_link_down(stopped_s):
    # At any moment, also between a frame and its arrival.
    for step in range(40):
        managed = found(step * 0.025)
        managed.stop(stopped_s)
        assert managed.run(stopped_s + 10) == [], step
        assert managed.discovery.links == 4


def test_a_switch_that_talks_but_receives_nothing_keeps_its_links():
    managed = found()
    managed.deafen(1)
    assert managed.run(SILENCE_S - 1) == []
    assert managed.discovery.links == 4


def test_a_failed_link_is_down_although_its_switch_has_short_outages_in_a_row():
    managed = found()
    managed.fail(A)
    said = []
    for _ in range(6):
        said += outage(managed, 0.5, 1) + managed.run(2.5)
    assert downs(said) == {(A, B), (B, A)}
