"""Link discovery without a network: a few links, and a clock that the test advances."""

from __future__ import annotations

import math

import pytest

from test_lldp import foreign
from weft.controller import lldp
from weft.controller.discovery import Discovery, ForeignController, Link

ADDRESS = bytes.fromhex("020000000001")
A, B, C = (1, 1), (2, 1), (3, 1)
BOTH_LOST = {(A, B, False), (B, A, False)}


class Cables:
    """Ports joined by links, each of which delivers frames to the ports at its other end."""

    def __init__(self, *ends, interval_s=1.0, misses=3):
        self.discovery = Discovery(interval_s, misses)
        self.now = 0.0
        self.to = {}
        self.said = []
        self.silent = set()
        for dpid in {dpid for dpid, _ in ends}:
            self.discovery.switch_up(self.now, dpid, {port for other, port in ends if other == dpid})
        for end in ends:
            self.discovery.port_up(self.now, end, ADDRESS)

    def join(self, *ends):
        """Add a link, or a shared medium if there are more than two ends."""
        for end in ends:
            self.to[end] = [other for other in ends if other != end]

    def run(self, seconds):
        """Advance the time; returns discovery's reports."""
        until, before = self.now + seconds, len(self.said)
        while self.discovery.next_due() <= until:
            self.now = max(self.now, self.discovery.next_due())
            frames, lost = self.discovery.due(self.now)
            self.said += lost
            for end, frame in frames:
                for other in self.to.get(end, ()):
                    if not self.silent & {end[0], other[0]}:
                        self.said += self.discovery.received(self.now, other, frame)
            for dpid in self.discovery.asked() - self.silent:
                self.discovery.replied(dpid, self.now)
        self.now = until
        return self.said[before:]


def joined():
    """Two ports with a link that has been found."""
    cables = Cables(A, B)
    cables.join(A, B)
    cables.run(5)
    return cables


def ends(links):
    return {(link.source, link.target, link.up) for link in links}


def up(*pairs):
    return {Link(True, source, target) for source, target in pairs}


def test_both_directions_of_a_cable_are_found_within_a_tenth_of_a_second_of_its_ports():
    cables = Cables(A, B)
    cables.join(A, B)
    assert set(cables.run(0.1)) == up((A, B), (B, A))
    assert cables.run(100) == []
    assert cables.discovery.leads(A) == B and cables.discovery.links == 2


def test_a_port_that_comes_up_later_is_found_both_ways_at_once():
    cables = Cables(A)
    cables.join(A, B)
    cables.run(50)
    cables.discovery.port_up(cables.now, B, ADDRESS)
    assert set(cables.run(0.05)) == up((A, B), (B, A))


def test_a_cut_cable_is_lost_after_the_misses_and_found_again():
    cables = joined()
    cables.to.clear()
    assert cables.run(2.0) == []
    lost = cables.run(2.0)
    assert ends(lost) == BOTH_LOST
    assert "3 LLDP frames in a row" in lost[0].why
    cables.join(A, B)
    assert set(cables.run(1.0)) == up((A, B), (B, A))


def test_a_port_that_goes_down_takes_both_directions_with_it_at_once():
    cables = joined()
    lost = cables.discovery.port_down(A)
    assert ends(lost) == BOTH_LOST
    assert cables.discovery.port_down(A) == []
    assert cables.discovery.links == 0


def test_links_of_a_switch_that_does_not_answer_or_is_not_connected_stay_as_they_are():
    cables = Cables(A, (1, 2), B, C)
    cables.join(A, B)
    cables.join((1, 2), C)
    cables.run(5)
    cables.silent = {1}
    assert cables.run(20) == []
    cables.discovery.switch_down(1)
    assert cables.run(20) == []
    assert cables.discovery.links == 4
    # The switch is back, without one of its links: discovery detects it now.
    cables.silent = set()
    cables.to.pop(A)
    cables.to.pop(B)
    assert cables.discovery.switch_up(cables.now, 1, {1, 2}) == []
    for end in (A, (1, 2)):
        cables.discovery.port_up(cables.now, end, ADDRESS)
    lost = cables.run(5)
    assert ends(lost) == BOTH_LOST
    assert cables.discovery.links == 2
    frames = [end for end, _ in cables.discovery.due(cables.now + 1)[0]]
    assert sorted(frames) == [A, (1, 2), B, C]


def test_a_port_that_went_down_while_its_switch_was_not_connected_takes_its_link_with_it():
    cables = joined()
    cables.discovery.switch_down(1)
    lost = cables.discovery.switch_up(cables.now, 1, set())
    assert ends(lost) == BOTH_LOST


def test_a_cable_that_is_moved_is_lost_where_it_was():
    cables = Cables(A, B, C)
    cables.join(A, B)
    cables.run(5)
    cables.to.clear()
    cables.join(A, C)
    said = cables.run(5)
    assert up((A, C), (C, A)) <= set(said)
    assert (A, B, False) in ends(said)
    assert cables.discovery.leads(A) == C and cables.discovery.leads(B) is None


def test_ports_on_a_shared_medium_do_not_flap():
    cables = Cables(A, B, C)
    cables.join(A, B, C)
    first = cables.run(1)
    assert cables.run(60) == []
    assert len(first) <= 6
    assert cables.discovery.counts["shared"] > 0


def test_a_process_that_was_late_loses_no_link():
    cables = joined()
    cables.now += 3600
    assert cables.run(10) == []


def test_frames_are_spread_over_the_interval():
    ends = [(1, port) for port in range(1, 101)]
    cables = Cables(*ends)
    cables.run(10)
    bursts = [len(cables.discovery.due(10 + 0.05 * step)[0]) for step in range(1, 21)]
    assert sum(bursts) == 100 and max(bursts) <= 10


@pytest.mark.parametrize("kept_s", [2.5, 60])
def test_a_host_that_sends_back_a_frame_it_has_kept_makes_no_link(kept_s):
    cables = Cables(A, B)
    frames, _ = cables.discovery.due(0.1)
    kept = next(frame for end, frame in frames if end == A)
    cables.run(kept_s)
    assert cables.discovery.received(cables.now, B, kept) == []
    assert cables.discovery.counts["stale"] == 1


def test_a_host_that_sends_a_frame_back_to_where_it_came_from_makes_no_link():
    cables = Cables(A, B)
    cables.to[A] = [A]
    assert cables.run(10) == []
    assert cables.discovery.counts["returned"] > 5


def test_a_forged_frame_makes_no_link():
    cables = Cables(A, B)
    forger = lldp.Signer(cables.discovery.signer.controller, b"guessed" * 4)
    assert cables.discovery.received(0, B, forger.frame(*A, ADDRESS, 1, 4)) == []
    assert cables.discovery.counts["forged"] == 1


def test_another_controller_is_said_once():
    cables = Cables(A, B)
    other = lldp.Signer(77, b"k" * 32)
    said = [
        found
        for number in range(50)
        for found in cables.discovery.received(number, A, other.frame(9, 9, ADDRESS, number, 4))
    ]
    assert said == [ForeignController("Weft's, 000000000000004d", A)]
    said = [found for _ in range(9) for found in cables.discovery.received(0, A, foreign(b"dpid:0000000000000009"))]
    assert said == [ForeignController("with chassis id `dpid:0000000000000009`", A)]
    assert [found for _ in range(9) for found in cables.discovery.received(0, A, foreign(b"printer"))] == []


def test_many_other_controllers_do_not_fill_memory():
    cables = Cables(A, B)
    for number in range(1000):
        other = lldp.Signer(number + 1, b"k" * 32)
        for _ in range(3):
            cables.discovery.received(0, A, other.frame(9, 9, ADDRESS, 1, 4))
    assert len(cables.discovery._foreign_frames) <= 64


def test_nothing_is_due_without_ports():
    assert Discovery(1.0, 3).next_due() == math.inf
