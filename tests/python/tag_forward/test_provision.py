"""`weft tag-forward provision`: provisions all switches at once, even if some fail."""

from __future__ import annotations

import json
import time

import pytest


def provision(weft, fabric, *arguments):
    return weft("tag-forward", "provision", fabric, "--sockets", fabric.parent / "run", *arguments)


def test_all_switches_have_their_gates_and_edges_and_cores_their_rules(weft, fabric, tree, daemons):
    done = provision(weft, fabric)
    assert done.exit_code == 0, done.output
    assert "20 switches: 84 gates in " in done.output
    for switch, gates in tree.gates.items():
        assert daemons[switch].gates == gates | {"width": "narrow"}
        # An edge: a rule for each of 20 hosts, a group for each other edge and router. A core only reaches servers.
        expected = {"edge": (20, 7 + 4), "aggregation": (0, 0), "core": (16, 8)}[gates["layer"]]
        assert (len(daemons[switch].rules), len(daemons[switch].groups)) == expected, switch
    rule = daemons["es1"].rules["0.0.0.0/0", "10.0.0.15/32"]
    assert rule == {
        "priority": 1000,
        "matches": {"source": "0.0.0.0/0", "destination": "10.0.0.15/32"},
        "action": {"queue": 0, "down": 30, "to": {"group": 7}},
    }
    assert daemons["es1"].groups[7] == [
        {"gate": 48, "up": 44},
        {"gate": 48, "up": 48},
        {"gate": 56, "up": 52},
        {"gate": 56, "up": 56},
    ]


def test_a_second_run_changes_nothing(weft, fabric, daemons):
    first = json.loads(provision(weft, fabric, "--json").stdout)
    assert first["rules"] == {"added": 8 * 20 + 4 * 16, "replaced": 0, "removed": 0, "kept": 0}
    again = json.loads(provision(weft, fabric, "--json").stdout)
    assert again["rules"] == {"added": 0, "replaced": 0, "removed": 0, "kept": 8 * 20 + 4 * 16}


def test_without_some_daemons_the_others_are_provisioned_and_a_second_run_completes_it(weft, fabric, daemons):
    daemons.stop("as3")
    daemons.stop("es8")
    done = provision(weft, fabric)
    assert done.exit_code == 1
    assert "2 switches of 20 not provisioned: es8, as3" in done.output
    assert "as3 does not respond on " in done.output
    assert sum(daemon.gates is not None for daemon in daemons.by_name.values()) == 18
    daemons.start("as3")
    daemons.start("es8")
    done = provision(weft, fabric)
    assert done.exit_code == 0, done.output
    assert all(daemon.gates is not None for daemon in daemons.by_name.values())
    assert len(daemons["es8"].rules) == 20


def test_cables_that_are_elsewhere_are_named_and_nothing_is_changed(weft, fabric, tree, daemons):
    # as3-eth2 and as4-eth3 are swapped at the cores.
    ids = {switch: daemon.id for switch, daemon in daemons.by_name.items()}
    for switch, port, core in (("as3", 2, "cs4"), ("as4", 3, "cs1")):
        daemons[switch].ports[port]["neighbour"] = {"switch_id": ids[core], "port": 1}
        daemons[core].ports[1]["neighbour"] = {"switch_id": ids[switch], "port": port}
    refused = provision(weft, fabric)
    assert refused.exit_code == 2
    assert "as3-eth2 goes to cs4, expected cs1; as4-eth3 goes to cs1, expected cs4" in refused.output
    assert "nothing was changed" in refused.output
    assert all(daemon.gates is None for daemon in daemons.by_name.values())


@pytest.mark.parametrize(
    ("port", "change", "said"),
    [
        (0, {"role": "fabric", "neighbour": {"switch_id": "cs2", "port": 9}}, "es1-eth0 goes to cs2, expected h0"),
        (2, {"neighbour": {"switch_id": "as1", "port": 1}}, "es1-eth2 goes to port 1 of as1, expected port 0"),
        (2, {"neighbour": {"switch_id": "f" * 16, "port": 0}}, f"goes to a switch with id {'f' * 16}, expected as1"),
        (2, {"interface": "ens3", "neighbour": {"switch_id": "as2", "port": 0}}, "es1-eth2 (ens3) goes to as2"),
    ],
)
def test_each_way_of_being_wired_wrongly_is_named(weft, fabric, daemons, port, change, said):
    if change.get("neighbour", {}).get("switch_id") in daemons.by_name:
        change = change | {
            "neighbour": change["neighbour"] | {"switch_id": daemons[change["neighbour"]["switch_id"]].id}
        }
    daemons["es1"].ports[port] |= change
    refused = provision(weft, fabric)
    assert refused.exit_code == 2
    assert said in refused.output


def test_what_is_behind_a_daemon_that_does_not_answer_is_believed(weft, fabric, daemons):
    daemons.stop("as1")
    daemons["es1"].ports[2]["neighbour"]["switch_id"] = "f" * 16
    assert provision(weft, fabric).exit_code == 1


def test_ways_over_cables_that_do_not_work_are_left_out(weft, fabric, daemons):
    daemons["es1"].ports[2] |= {"role": "down", "neighbour": None}
    daemons["as7"].ports[3] |= {"role": "silent"}
    daemons["as8"].ports[2] |= {"role": "down", "neighbour": None, "unfit": "its MTU is 1500, 1508 are needed"}
    done = provision(weft, fabric)
    assert done.exit_code == 0
    assert "es1-eth2 is down, expected as1: not on any path" in done.output
    assert "as8-eth2 is down (its MTU is 1500, 1508 are needed), expected cs3: not on any path" in done.output
    assert daemons["es1"].groups[7] == [{"gate": 56, "up": 56}]
    assert daemons["es3"].groups[7] == [{"gate": 48, "up": 44}, {"gate": 56, "up": 56}]


def test_a_switch_that_cannot_be_provisioned_is_named_with_the_reason(weft, fabric, daemons):
    daemons["as1"].mode = "tcp-path"
    daemons["cs3"].ports.pop()
    daemons["es1"].refuses = "gate 2 is wrong"
    done = provision(weft, fabric)
    assert done.exit_code == 1
    for said in (
        "as1 runs in mode tcp-path, not tag-forward",
        "cs3 has 4 ports, but 5 in the fabric",
        "es1 refused PUT /v1/gates (409): gate 2 is wrong",
    ):
        assert said in done.output


def test_switches_of_one_id_are_named(weft, fabric, daemons):
    daemons["cs1"].id = daemons["cs2"].id
    refused = provision(weft, fabric)
    assert refused.exit_code == 2
    assert f"switches have the same id: cs1 and cs2 ({daemons['cs2'].id})" in refused.output


def test_it_waits_until_it_is_known_what_is_behind_ports(weft, fabric, daemons):
    daemons["es1"].listens = 3
    begun = time.monotonic()
    done = provision(weft, fabric)
    assert done.exit_code == 0, done.output
    assert "expected" not in done.output
    assert time.monotonic() - begun > 0.2
    assert daemons["es1"].asked.count("GET ports") == 4


def test_addresses_are_those_of_a_hosts_file(weft, fabric, tree, daemons, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("\n".join(f"fd00::{number:x} {host}" for number, host in enumerate(tree.hosts, 1)))
    assert provision(weft, fabric, "--hosts", hosts).exit_code == 0
    assert ("::/0", "fd00::f/128") in daemons["es1"].rules


def test_a_directory_that_is_not_there_is_refused(weft, fabric):
    refused = provision(weft, fabric)
    assert refused.exit_code == 2
    assert "--sockets: no such directory" in refused.output
