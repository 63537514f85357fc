"""How tests are spread over the processes of pytest-xdist.

Tests of a file stay together, for the fixtures that they share. Those that each make networks of their own are spread,
as they mostly wait. Those that hold a rate or a time of a real network against a bound run one after another: they take
longest together, and begin first.

Not with xdist's own `loadgroup`: xdist 3.8 groups nothing under pytest 9.2, where names of tests cannot be changed.
"""

from __future__ import annotations

import re

from xdist.scheduler import LoadScopeScheduling

MEASURING = (
    "emulation/test_openflow.py::test_four_subflows_of_the_kernel",
    "emulation/test_shaping.py::test_a_link_carries",
    "emulation/test_smoc.py",
    "emulation/test_tag_forward_rounds.py",
    "emulation/test_validation_mptcp.py",
)
ALONE = (
    "controller/test_flood.py",
    "controller/test_foreign_rules.py",
    "controller/test_healed_link.py",
    "controller/test_known_neighbours.py",
    "controller/test_lost_connection.py",
    "controller/test_network.py",
    "controller/test_poisoning.py",
    "controller/test_restart.py",
    "emulation/test_captures.py",
    "emulation/test_emulate.py",
    "emulation/test_mininet.py",
    "emulation/test_openflow.py",
    "emulation/test_openvswitch.py",
)
EMULATED = re.compile(r"\[(spine-leaf|fat-tree)[-\]]")
"""Tests of one emulation, made by a fixture."""


def group(test: str) -> str:
    """Names what runs in one process, from the name of a test."""
    place = test.removeprefix("tests/python/")
    if place.startswith(MEASURING):
        return "measuring"
    file = place.partition("::")[0]
    if not place.startswith(ALONE):
        return file
    emulated = EMULATED.search(place)
    return f"{file}[{emulated[1]}]" if emulated else place


class Spreading(LoadScopeScheduling):
    """Hands out groups in the order of their first tests."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)
