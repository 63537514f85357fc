"""Gate plans as Python sees them: the paper's example, wiring errors, foreign gates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paper_tree import fat_tree
from weft import ScenarioError
from weft._weft import GatePlan, tag_forward_state

QUICKSTART = Path(__file__).parents[2] / "scenarios" / "quickstart.toml"


def test_the_papers_packet_takes_the_papers_way():
    plan = GatePlan.fat_tree(4, routers=2)
    assert plan.choices("h0", "h14") == 4
    assert plan.steering("h0", "h14", 1) == ("e0", 48, 48, 30)
    way = plan.route("h0", "h14", 1)
    assert [(switch, gate) for switch, _, gate in way] == [("e0", 48), ("a0", 48), ("c1", 32), ("a6", 32), ("e7", 30)]
    assert plan.steering("h0", "h14", 4) is None
    assert plan.route("h0", "h0", 0) is None


def test_a_plan_is_json_and_is_taken_back():
    text = fat_tree(4)
    plan = GatePlan.of_file("discovered.json", text)
    data = json.loads(plan.json())
    assert (data["k"], data["width"], len(data["switches"])) == (4, "narrow", 20)
    again = GatePlan.of_file("discovered.json", text).given(json.dumps(data["switches"]))
    assert again.json() == plan.json()
    next(switch for switch in data["switches"] if switch["switch"] == "as1")["gates"][0]["gate"] = 12
    with pytest.raises(
        ValueError, match=r"P3 .* broken at as1-eth0: the gate to es1 is 12, but the greatest gate there is 4"
    ):
        GatePlan.of_file("discovered.json", text).given(json.dumps(data["switches"]))
    with pytest.raises(ValueError, match="this is not a valid list of switch gates: "):
        GatePlan.of_file("discovered.json", text).given('[{"switch": 1}]')


def test_cables_that_are_elsewhere_are_named():
    swapped = fat_tree(4, cores={(3, 0): 4, (4, 1): 1})
    with pytest.raises(ValueError, match="as3-eth2 goes to cs4, expected cs1; as4-eth3 goes to cs1, expected cs4"):
        GatePlan.of_file("discovered.json", swapped)


def test_what_is_too_large_or_unknown_is_refused_with_what_to_do():
    with pytest.raises(ValueError, match="enough for k up to 24: use the wide tag"):
        GatePlan.fat_tree(26)
    assert GatePlan.fat_tree(26, width="wide").choices("h0", "h4000") == 169
    with pytest.raises(ValueError, match="expected `narrow` or `wide`, not `broad`"):
        GatePlan.fat_tree(4, width="broad")
    with pytest.raises(ValueError, match="did you mean `h9`"):
        GatePlan.fat_tree(4).choices("h0", "h99")
    with pytest.raises(ValueError, match="`e1` is a switch"):
        GatePlan.fat_tree(4).steering("h0", "e1", 0)
    with pytest.raises(ScenarioError):
        GatePlan.of_file("discovered.json", "{")


def test_a_scenario_s_fabric_has_gates():
    text = QUICKSTART.read_text()
    plan = GatePlan.of_scenario(text, QUICKSTART.name, ".", [])
    assert plan.json() == GatePlan.fat_tree(4).json()
    ring = "fabric={ kind = 'ring', switches = 5, hosts_per_switch = 1, rate = '10 Gbps', delay = '5 us' }"
    with pytest.raises(ValueError, match="this is not a fat-tree: for k = 2, "):
        GatePlan.of_scenario(text, QUICKSTART.name, ".", [ring])


def test_state_is_at_the_source_alone_for_every_size_of_the_paper():
    for k in range(4, 25, 2):
        state = json.loads(tag_forward_state(k, k // 2))
        edge, aggregation, core = state["layers"]
        assert [layer["layer"] for layer in state["layers"]] == ["edge", "aggregation", "core"]
        assert (aggregation["tagged"], core["tagged"]) == (0, 0)
        assert state["tagged"] == state["flows"] == edge["switches"] * edge["tagged"]
        assert 4 < state["openflow"] / state["tagged"] < 5
    with pytest.raises(ValueError, match="no fat-tree of k = 5"):
        tag_forward_state(5)
