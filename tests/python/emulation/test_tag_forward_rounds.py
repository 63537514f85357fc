"""A small run of the study tag-and-forward: all peers on real hosts and switches, with short tables and loads."""

from __future__ import annotations

from statistics import mean

import pytest

import needs
from weft.emulation.capacity import BUSY, Processors
from weft.studies.base import RunOptions
from weft.studies.outcome import Verdict
from weft.studies.tag_and_forward import claims, fabric, measurements
from weft.studies.tag_and_forward.measurements import Measurements
from weft.studies.tag_and_forward.setup import ECHO_SIZES, FLOW_TABLE, LOAD_SIZES, OVS, PEERS, TAG_FORWARD, Extent
from weft.studies.tag_and_forward.table import gather

pytestmark = pytest.mark.long

RULES = 2_500
"""More rules than any switch needs for the study's flows."""


@pytest.fixture(scope="module")
def measured(switches, tmp_path_factory):
    """One round of each peer, with load; and the samples of CPU usage: while gates are set, and in the round."""
    part = Measurements("fabric", Extent(rounds=1, echoes=3, loads=1, trial_s=0.1, settings=3, rules=RULES))
    needs.passed(part.check)
    seen: dict[Processors, list[float]] = {}
    plain = measurements.pause

    def pause(processors):
        plain(processors)
        seen.setdefault(processors, []).append(processors.last["busy"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurements, "pause", pause)
        runs = gather(part.carry_out(tmp_path_factory.mktemp("tags") / "fabric", RunOptions()))
    return runs, list(seen.values())


@pytest.fixture(scope="module")
def runs(measured):
    return measured[0]


def of(runs, peer):
    return next(run for run in runs if run.peer == peer)


def test_every_echo_of_every_size_comes_back_through_every_peer(runs):
    assert len(runs) == len(PEERS)
    for run in runs:
        assert set(run.round_trip_s) == set(ECHO_SIZES)
        assert run.lost == 0


def test_every_peer_carries_packets_of_all_flows(runs):
    for peer in PEERS:
        assert set(of(runs, peer).carried) == set(LOAD_SIZES)
        assert min(of(runs, peer).carried.values()) > 1_000


def test_switches_with_tags_have_rules_for_what_begins_there_only(runs):
    tagged = of(runs, TAG_FORWARD).emulated
    assert tagged["state"] == {name: 30 if name in fabric.EDGES else 0 for name in fabric.SWITCHES}
    assert tagged["rules"] == {name: RULES if name in fabric.EDGES else 0 for name in fabric.SWITCHES}
    for peer in (OVS, FLOW_TABLE):
        assert sum(of(runs, peer).emulated["state"].values()) == 1_072
        assert set(of(runs, peer).emulated["rules"].values()) == {RULES}


def test_the_papers_example_is_seen_on_the_wire(runs):
    rows = {row.id: row for row in claims.judge(runs)}
    assert (rows["G4"].verdict, rows["G5"].verdict) == (Verdict.held, Verdict.held), rows["G5"].note
    table = of(runs, FLOW_TABLE).emulated["example"]
    assert [one["at"] for one in table] == ["as1", "cs2", "as7", "es8", "h15"]
    assert {one["up"] for one in table} == {None}


def test_all_gates_are_set_and_the_time_taken_is_reported(runs):
    tagged = of(runs, TAG_FORWARD).emulated
    assert tagged["versions"]["gates"] == fabric.GATES
    for way in ("gates_at_once", "gates_in_turn"):
        assert [one["seconds"] > 0 for one in tagged[way]] == [True] * 3
        assert all(set(one["switches"]) == set(fabric.SWITCHES) for one in tagged[way])


def test_a_round_says_what_the_processors_did_for_others_meanwhile(measured):
    runs, (while_gates_are_set, in_the_round) = measured
    assert (len(while_gates_are_set), len(in_the_round)) == (2, 3)
    reports = [(run.emulated["processors"], in_the_round) for run in runs]
    reports.append((of(runs, TAG_FORWARD).emulated["gates_processors"], while_gates_are_set))
    for report, busy in reports:
        assert report["samples"] == len(busy)
        assert report["mean_busy"] == pytest.approx(mean(busy))
        assert report["max_busy"] == max(busy)
    for run in runs:
        assert run.saturated is run.emulated["processors"]["saturated"] is (max(in_the_round) >= BUSY)
