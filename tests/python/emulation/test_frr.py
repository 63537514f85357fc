"""An exported fabric under FRR's own daemons: routes, weights, pings, and the reaction to failed links."""

from __future__ import annotations

from itertools import groupby

import pytest

import needs
from validation.frr.scenarios import EQUAL, UNEQUAL
from validation.frr.trial import check, observe

HOLD_S = 9.0
"""BGP's hold time, after which a neighbour is considered down without BFD."""


@pytest.fixture(scope="module", params=[EQUAL, UNEQUAL], ids=["ecmp", "wcmp"])
def observed(request):
    """What was seen of a fabric; each link failed once with its carrier and once silently."""
    needs.passed(check)
    return observe(request.param, 1)


def shares(group):
    total = sum(group.values())
    return {interface: weight / total for interface, weight in group.items()}


def test_the_routes_of_every_switch_are_those_of_weft(observed):
    assert observed["found"].keys() == observed["wanted"].keys()
    for switch, routes in observed["wanted"].items():
        found = observed["found"][switch]
        assert found.keys() == routes.keys()
        for host, group in routes.items():
            # FRR rounds down to whole percent.
            assert shares(found[host]) == pytest.approx(shares(group), abs=0.01), (switch, host)


def test_some_switch_has_several_next_hops_with_the_weights_of_its_links(observed):
    groups = [tuple(sorted(group.values())) for routes in observed["wanted"].values() for group in routes.values()]
    weights = {group for group in groups if len(group) > 1}
    assert weights in ({(1, 1)}, {(1, 1), (1, 4)})


def test_all_hosts_reach_each_other(observed):
    assert observed["unreachable"] == []


def test_a_failed_link_is_left_long_before_the_hold_time(observed):
    reactions = sorted(observed["reactions"], key=lambda reaction: reaction["kind"])
    times = {kind: [one["seconds"] for one in ones] for kind, ones in groupby(reactions, lambda one: one["kind"])}
    assert {kind: len(found) for kind, found in times.items()} == {"carrier": 2, "silent": 2}
    assert max(times["carrier"]) < HOLD_S / 2, times
    # Nothing but BFD notices a silent failure, after three intervals of 300 ms of which one may have begun.
    assert min(times["silent"]) > 0.3, times
    assert max(times["silent"]) < HOLD_S / 2, times
