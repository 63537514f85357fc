"""`weft tag-forward plan` and its input: fabrics, gates, addresses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.tag_forward import TagForwardError, inputs


def test_the_plan_of_the_paper_is_shown(weft, fabric):
    shown = weft("tag-forward", "plan", fabric)
    assert shown.exit_code == 0
    assert "k = 4: 20 switches, 20 hosts, 84 gates; narrow tag: DOWN uses 6 of 13 bits" in shown.output
    rows = {line.split()[0]: line.split()[1:] for line in shown.output.splitlines()[2:]}
    assert rows["es8"] == ["edge", "2", "8", "30", "32", "48", "56"]
    assert rows["as1"] == ["aggregation", "4", "4", "4", "8", "44", "48"]
    assert rows["cs2"] == ["core", "8", "2", "8", "16", "24", "32", "46"]


def test_one_switch_and_the_ways_of_one_pair_are_shown(weft, fabric):
    ports = weft("tag-forward", "plan", fabric, "--switch", "as1").output.splitlines()
    assert [line.split() for line in ports[2:4]] == [
        ["0", "4", "down", "G_ASS", "es1"],
        ["1", "8", "down", "G_ASS", "es2"],
    ]
    routes = weft("tag-forward", "plan", fabric, "--routes", "h0", "h14").output.splitlines()
    assert routes[2].split() == ["1", "48", "30", "es1:48", "as1:48", "cs2:32", "as7:32", "es8:30"]
    found = json.loads(weft("tag-forward", "plan", fabric, "--routes", "h0", "h14", "--json").stdout)
    assert [way["up"] for way in found] == [44, 48, 52, 56]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--switch", "es10"), "`es10` is not a switch of this fabric: did you mean `es1`?"),
        (("--switch", "h1"), "`h1` is a host"),
        (("--routes", "h0", "h99"), "did you mean `h9`"),
        (("--routes", "x0", "x1"), "no tag selects a path from x0 to x1"),
        (("--switch", "es1", "--routes", "h0", "h1"), "--switch and --routes cannot be combined"),
        (("--set", "fabric.k=8"), "--set works only with a scenario, and this is a fabric file"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_what_to_type(weft, fabric, arguments, said):
    refused = weft("tag-forward", "plan", fabric, *arguments)
    assert refused.exit_code == 2
    assert said in refused.output


def test_a_fabric_that_is_no_fat_tree_is_refused(weft, fabric):
    data = json.loads(fabric.read_text())
    for edge in data["edges"]:
        swapped = {("as3", "cs1"): "cs4", ("as4", "cs4"): "cs1"}
        edge["target"] = swapped.get((edge["source"], edge["target"]), edge["target"])
    fabric.write_text(json.dumps(data))
    refused = weft("tag-forward", "plan", fabric)
    assert refused.exit_code == 2
    assert "as3-eth2 goes to cs4, expected cs1; as4-eth3 goes to cs1, expected cs4" in refused.output


def test_gates_of_somebody_else_are_used_if_they_are_right(weft, fabric, tmp_path):
    gates = tmp_path / "gates.json"
    for given in (Path(__file__).parents[3] / "scenarios" / "tag-forward.toml", fabric):
        gates.write_text(weft("tag-forward", "plan", given, "--json").stdout)
        assert weft("tag-forward", "plan", given, "--gates", gates, "--json").stdout == gates.read_text()
    data = json.loads(gates.read_text())
    next(switch for switch in data["switches"] if switch["switch"] == "as1")["gates"][0]["gate"] = 12
    gates.write_text(json.dumps(data))
    refused = weft("tag-forward", "plan", fabric, "--gates", gates)
    assert refused.exit_code == 2
    assert "broken at as1-eth0: the gate to es1 is 12, but the greatest gate there is 4" in refused.output
    gates.write_text("{")
    assert "gates.json: not JSON" in weft("tag-forward", "plan", fabric, "--gates", gates).output


def test_hosts_have_the_addresses_of_a_file_or_those_of_emulations(tmp_path):
    assert inputs.addresses(["a", "b"], None) == {"a": ["10.0.0.1"], "b": ["10.0.0.2"]}
    path = tmp_path / "hosts"
    path.write_text("127.0.0.1 localhost\n10.0.0.9 a # first\nfd00::1 a alias\n\n# none\n10.0.0.8 b\n10.0.0.8 b\n")
    assert inputs.addresses(["a", "b"], path) == {"a": ["10.0.0.9", "fd00::1"], "b": ["10.0.0.8"]}
    for text, said in [
        ("10.0.0.1 a", "has no address for b"),
        ("10.0.0.1 a\n10.0.0.1 b", "hosts:2: 10.0.0.1 is assigned to both a and b"),
        ("10.0.0.256 a", "hosts:1: `10.0.0.256` is not a valid IP address"),
    ]:
        path.write_text(text)
        with pytest.raises(TagForwardError, match=said):
            inputs.addresses(["a", "b"], path)
