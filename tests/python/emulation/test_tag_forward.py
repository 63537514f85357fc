"""`weft tag-forward` with real daemons, real frames and failing links; and emulations of the scheme."""

from __future__ import annotations

import json

import polars as pl
import pytest

from jails import in_jail
from test_emulate import FAT_TREE, emulate, finish
from weft.results import Results

PROLOGUE = """
from tagged import FABRIC, Staying, Stream, begin, build, heard, pings, restart, sent, swapped, tag_forward
from waiting import until
network = build()
"""


@pytest.fixture(scope="module")
def provisioned(switches):
    """The observations of a fat-tree that is provisioned, loses daemons, and is provisioned again."""
    return in_jail(
        PROLOGUE,
        """
        seen = {"before": pings(network, "h0", "h15", "-c 2 -i 0.05", patience_s=0.3)}
        seen["differs"] = tag_forward("show", FABRIC, code=1)[0].count("it has no gates")
        seen["first"] = json.loads(tag_forward("provision", FABRIC, "--json")[0])
        pairs = [("h0", "h1"), ("h0", "h2"), ("h0", "h15"), ("h15", "h0"), ("h5", "h9")]
        seen["pings"] = [pings(network, *pair) for pair in pairs]
        seen["full"] = pings(network, "h0", "h15", "-c 3 -i 0.05 -s 1472 -M do")
        seen["again"] = json.loads(tag_forward("provision", FABRIC, "--json")[0])
        seen["show"] = json.loads(tag_forward("show", FABRIC, "--json")[0])
        for switch in ("e0", "c0"):
            restart(network, switch)
        # Their neighbours give them up after two seconds without a Hello.
        seen["headless"] = pings(network, "h0", "h15")
        seen["without"] = tag_forward("provision", FABRIC, code=1)[1]
        for switch in ("e0", "c0"):
            begin(network, switch)
        heard(network)
        seen["completed"] = json.loads(tag_forward("provision", FABRIC, "--json")[0])
        seen["swapped"] = tag_forward("provision", swapped(), code=2)[1]
        seen["after"] = [pings(network, *pair) for pair in pairs]
        tell(**seen)
        """,
    )


def test_switches_without_provisioning_forward_nothing(provisioned):
    assert provisioned["before"] == 0
    assert provisioned["differs"] == 20


def test_every_switch_is_provisioned_and_hosts_reach_each_other_with_full_frames(provisioned):
    first = provisioned["first"]
    assert (len(first["provisioned"]), first["failed"], first["silent"], first["gates"]) == (20, {}, [], 80)
    assert first["rules"]["added"] == 8 * 16
    assert provisioned["pings"] == [3] * 5
    assert provisioned["full"] == 3


def test_a_second_run_changes_nothing_and_show_finds_all_as_planned(provisioned):
    assert provisioned["again"]["rules"] == {"added": 0, "replaced": 0, "removed": 0, "kept": 8 * 16}
    assert provisioned["show"]["as_planned"] is True
    edge = next(one for one in provisioned["show"]["switches"] if one["switch"] == "e0")
    assert (edge["gates"], edge["rules"], edge["cables"], edge["working"]) == (4, 16, 4, 4)
    assert edge["packets"] > 0


def test_without_two_daemons_the_rest_is_provisioned_frames_go_on_and_a_second_run_completes_it(provisioned):
    assert "2 switches of 20 not provisioned: e0, c0" in provisioned["without"]
    assert provisioned["headless"] == 3
    assert provisioned["completed"]["failed"] == {}
    # They adopted gates and rules from the programs that kept running.
    assert provisioned["completed"]["rules"]["added"] == 0


def test_cables_that_are_elsewhere_are_named_and_nothing_is_changed(provisioned):
    assert "a0-eth2 goes to c0, expected c1" in provisioned["swapped"]
    assert provisioned["after"] == [3] * 5


def test_a_cable_that_is_cut_far_away_is_led_around_and_used_again(switches):
    seen = in_jail(
        PROLOGUE,
        """
        staying = Staying("--watch")
        # By which core pings from h0 to h15 go: seen where they come down to the pod of h15.
        over = {}
        for core in ("c0", "c1", "c2", "c3"):
            over[core] = sent(network, core, 3)
        assert pings(network, "h0", "h15", "-c 50 -i 0.01") == 50
        core = max(over, key=lambda name: sent(network, name, 3) - over[name])
        down = "a6" if core in ("c0", "c1") else "a7"
        stream = Stream(network, "h0", "h15")
        stream.more()
        os.system(f"ip link set dev {core}-eth3 down")
        staying.until("is down (")
        # While the link is still down.
        stream.more()
        row = stream.row()
        shown = json.loads(tag_forward("show", FABRIC, "--json")[0])
        os.system(f"ip link set dev {core}-eth3 up")
        staying.until("is up: ")
        restart(network, "e0")
        staying.until("e0 ")
        begin(network, "e0")
        staying.until("e0 is provisioned: rules 16 kept")
        alive = pings(network, "h0", "h15")
        whole = json.loads(tag_forward("show", FABRIC, "--json")[0])
        staying.stop()
        tell(core=core, down=down, row=row, shown=shown["as_planned"], silent=shown["silent"], alive=alive,
             whole=[whole["as_planned"], whole["silent"]], said=staying.said)
        """,
    )
    print(seen["said"], seen["row"])
    assert seen["row"] >= 1, "the link that failed is the one that the pings took"
    assert (
        f"{seen['core']}-{seen['down']} is down" in seen["said"]
        or f"{seen['down']}-{seen['core']} is down" in seen["said"]
    )
    assert seen["shown"] is True
    assert len(seen["silent"]) == 2
    assert seen["alive"] == 3
    assert seen["whole"] == [True, []]


def test_on_demand_the_first_packet_makes_its_rule(switches):
    seen = in_jail(
        PROLOGUE,
        """
        staying = Staying("--on-demand", "--verbose")
        rules = lambda: {name: network.ask(name, "flows")["total"] for name in network.switches}
        before = rules()
        # A packet waits for a second: on a busy machine the rules may come later.
        answered = until("h15 answers", lambda: pings(network, "h0", "h15", "-c 1", patience_s=1.0))
        after = rules()
        again = pings(network, "h0", "h15")
        # From an address that is no host's: no rule is made.
        network.hosts["h0"].cmd("ip addr add 10.9.9.9/8 dev h0-eth0; ping -n -c 1 -W 1 -I 10.9.9.9 10.0.0.16")
        staying.until("no rule for 10.9.9.9")
        last = rules()
        staying.stop()
        kept = Staying("--on-demand")
        kept.stop()
        tell(before=before, answered=answered, after=after, again=again, last=last, kept=rules(), said=staying.said)
        """,
    )
    print(seen["said"])
    assert set(seen["before"].values()) == {0}
    assert seen["answered"] == 1
    assert {name: number for name, number in seen["after"].items() if number} == {"e0": 1, "e7": 1}
    assert seen["again"] == 3
    assert seen["last"] == seen["after"] == seen["kept"]


def test_switches_tag_and_choose_ways_as_the_scheme_says(switches):
    seen = in_jail(
        PROLOGUE.replace("build()", """build('width = "wide"\\nchoice = "spray"')"""),
        """
        outcome = json.loads(tag_forward("provision", FABRIC, "--width", "wide", "--json")[0])
        answers = pings(network, "h0", "h15", "-c 50 -i 0.01")
        cores = [sent(network, core, 3) for core in ("c0", "c1", "c2", "c3")]
        tell(failed=outcome["failed"], answers=answers, cores=cores)
        """,
    )
    assert (seen["failed"], seen["answers"]) == ({}, 50)
    assert min(seen["cores"]) > 0, "each echo request takes a random way"


EMULATED = (
    'name = "tags"'
    + FAT_TREE
    + """
[traffic]
flow_list = [
    { src = "h0", dst = "h15", bytes = "2 MB", start = "0.1 s" },
    { src = "h4", dst = "h12", bytes = "2 MB", start = "0.1 s" },
    { src = "h1", dst = "h3", bytes = "100 kB", start = "0.2 s" },
]

[scheme]
name = "tag_forward"

[run]
duration = "3 s"
limit = "20 s"

[measure]
interval = "200 ms"

[[event]]
at = "0.8 s"
fail_node = "a6"

[sweep]
"scheme.choice" = ["ecmp", "spray"]
"""
)


def test_a_scenario_is_emulated_and_its_flows_survive_a_switch(switches, tmp_path):
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(EMULATED)
    finish(emulate(scenario, "-o", tmp_path / "results", "--keep"))
    results = Results(tmp_path / "results")
    assert len(results.finished) == 2
    assert results.flows()["end_ps"].null_count() == 0
    for run in results.finished:
        summary = json.loads((run.path / "summary.json").read_text())
        control = summary["emulated"]["control"]
        assert (control["gates"], control["rules"]) == (80, 8 * 16)
        down = [one for one in control["reactions"] if " is down " in one["what"]]
        assert {word for one in down for word in one["what"].split()[1].split("-")} == {"a6", "e6", "e7", "c0", "c1"}
        assert all(one["took_s"] > 0 for one in down)
        # The other aggregation switch now carries this one's traffic.
        links = {(link["from"], link["to"]): link["bytes"] for link in summary["links"]}
        assert links["a7", "e7"] > 500_000
    flows = results.flows().filter(pl.col("bytes") == 2_000_000)
    assert (flows["fct_ps"] > 1.6e12).all()


def test_what_switches_cannot_see_or_have_no_gates_for_is_refused(weft, tmp_path, monkeypatch):
    from weft.emulation import requirements

    monkeypatch.setattr(requirements, "check", lambda: None)
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(EMULATED)
    refused = weft("emulate", scenario, "--set", 'sweep={"scheme.choice"=["least-loaded"]}')
    assert refused.exit_code == 2
    assert "the Linux switch cannot observe its ports' queues" in refused.output
