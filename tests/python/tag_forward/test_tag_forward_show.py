"""`weft tag-forward show`: every kind of difference from the plan is named."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def provisioned(weft, fabric, daemons):
    assert weft("tag-forward", "provision", fabric, "--sockets", fabric.parent / "run").exit_code == 0
    return daemons


def show(weft, fabric, *arguments):
    return weft("tag-forward", "show", fabric, "--sockets", fabric.parent / "run", *arguments)


def test_switches_that_are_as_planned_are_said_to_be(weft, fabric, provisioned):
    shown = show(weft, fabric)
    assert shown.exit_code == 0
    rows = [line.split() for line in shown.output.splitlines()[1:]]
    assert ["es1", "edge", "4", "20", "11", "0", "4", "of", "4", "as", "planned"] in rows
    assert ["cs1", "core", "5", "16", "8", "0", "5", "of", "5", "as", "planned"] in rows
    assert len(rows) == 20
    assert json.loads(show(weft, fabric, "--json").stdout)["as_planned"] is True


def test_switches_that_nobody_has_provisioned_differ(weft, fabric, daemons):
    shown = show(weft, fabric)
    assert shown.exit_code == 1
    for said in ("as1: it has no gates", "es1: 20 rules are missing", "es1: 11 groups are wrong"):
        assert said in shown.output


def test_what_differs_is_named(weft, fabric, provisioned):
    edge = provisioned["es1"]
    assert edge.gates is not None
    edge.gates["gates"][2] |= {"gate": 40}
    edge.gates["gates"][3] |= {"flag": "ass"}
    edge.gates["up_divisor"] = 4
    del edge.rules["0.0.0.0/0", "10.0.0.3/32"]
    edge.rules["0.0.0.0/0", "10.0.0.4/32"]["action"]["down"] = 6
    edge.rules["10.9.0.0/16", "10.0.0.0/8"] = edge.rules["0.0.0.0/0", "10.0.0.4/32"] | {
        "priority": 7,
        "matches": {"source": "10.9.0.0/16", "destination": "10.0.0.0/8"},
    }
    edge.groups[7] = []
    provisioned.stop("cs4")
    provisioned["as1"].ports[0] |= {"role": "down", "neighbour": None}
    shown = show(weft, fabric)
    assert shown.exit_code == 1
    for said in (
        "es1: its UP divisor is 4, expected 8",
        "es1: the gate of es1-eth2 is 40 up, expected 48 up",
        "es1: the gate of es1-eth3 is 56 up ass, expected 56 up",
        "es1: 1 rule is missing",
        "es1: 1 rule is wrong",
        # All groups over the failed link: to seven edges and two routers; one of them was corrupted above.
        "es1: 9 groups are wrong",
        "cs4 does not respond on ",
        "as1-eth0 is down, expected es1",
    ):
        assert said in shown.output, said
    assert "19 + 1" in shown.output
    row = next(line for line in shown.output.splitlines() if line.startswith("as1 "))
    assert "3 of 4" in row


def test_rules_made_on_demand_are_as_planned(weft, fabric, provisioned):
    edge = provisioned["es1"]
    template = edge.rules["0.0.0.0/0", "10.0.0.15/32"]
    pair = {"source": "10.0.0.1/32", "destination": "10.0.0.15/32"}
    for daemon in provisioned.by_name.values():
        daemon.rules.clear()
    edge.rules["10.0.0.1/32", "10.0.0.15/32"] = template | {"matches": pair}
    assert show(weft, fabric, "--on-demand").exit_code == 0
    assert "es1: 20 rules are missing" in show(weft, fabric).output
    edge.rules["10.0.0.1/32", "10.0.0.15/32"]["action"] = template["action"] | {"down": 28}
    assert "es1: 1 rule is wrong" in show(weft, fabric, "--on-demand").output
