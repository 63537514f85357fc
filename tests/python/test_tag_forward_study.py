"""The study tag-and-forward: decision rules on data made to fit or break them, its flows, results and figures."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from itertools import count

import pytest

import weft
from weft import _weft
from weft.emulation import capacity
from weft.results import Results
from weft.studies.base import RunOptions
from weft.studies.outcome import Verdict
from weft.studies.tag_and_forward import (
    claims,
    external,
    fabric,
    figures,
    flows,
    measurements,
    result,
    study,
    watching,
)
from weft.studies.tag_and_forward.measurements import Measurements, Round, carried
from weft.studies.tag_and_forward.setup import (
    ECHO_SIZES,
    FLOW_TABLE,
    LOAD_SIZES,
    OVS,
    PEERS,
    RULES,
    TAG_FORWARD,
    Extent,
    Setup,
    spelled,
)
from weft.studies.tag_and_forward.table import Measured, gather

ADDRESSES = {server: f"10.0.0.{number}" for number, server in enumerate(fabric.SERVERS, 1)}
TAGGED = {name: 30 if name in fabric.EDGES else 0 for name in fabric.SWITCHES}
SEEN = [
    *({"at": at, "queue": 1, "up": 48, "down": 30} for at in ("as1", "cs2", "as7", "es8")),
    {"at": "h15", "queue": None, "up": None, "down": None},
]


def emulated(peer: str, settings_s=0.008, state=TAGGED, seen=SEEN, datapath="system", busy=0.2) -> dict:
    """The `emulated` section of a run's summary."""
    versions = {"openvswitch": "3.1.0", "datapath": datapath, "kernel": "6.1"}
    processors = {"mean_busy": busy, "saturated": busy >= 0.9}
    common = {"versions": versions, "state": state, "loads": {}, "processors": processors}
    if peer != TAG_FORWARD:
        return common
    each = dict.fromkeys(fabric.SWITCHES, settings_s / 20)
    gates = [{"seconds": settings_s * wobble, "switches": each} for wobble in (0.9, 1.0, 1.1)]
    return common | {"gates_at_once": gates, "gates_in_turn": gates, "example": seen, "gates_processors": processors}


def world(rounds=6, **changes) -> list[Measured]:
    """Runs in which every claim holds, unless `changes` breaks it."""
    effect = {"ovs": 900e-6, "table": 40e-6, "tags": 36e-6, "ovs_pps": 50e3, "table_pps": 190e3, "tags_pps": 220e3}
    effect |= changes
    runs = []
    for peer, key in zip(PEERS, ("ovs", "table", "tags"), strict=True):
        settings = {
            name: effect[name] for name in ("settings_s", "state", "seen", "datapath", "busy") if name in effect
        }
        for number in range(1, rounds + 1):
            wobble = 1 + 0.02 * (number % 3 - 1)
            echoes = {size: effect[key] * wobble * (1 + size / 1e5) for size in ECHO_SIZES}
            loads = dict.fromkeys(LOAD_SIZES, effect[f"{key}_pps"] * wobble)
            few = effect.get(f"{key}_few", effect[f"{key}_pps"]) * wobble
            transfers = {"packets": 1e9 * wobble}
            runs.append(
                Measured(peer, RULES, number, echoes, 0, loads, loads, few, transfers, emulated(peer, **settings))
            )
    return runs


def verdicts(runs) -> dict[str, Verdict]:
    return {row.id: row.verdict for row in claims.judge(runs)}


HELD = dict.fromkeys(("G1", "G1-fragments", "G1-tags", "G2", "G2-tags", "G2-few", "G3", "G4", "G5"), Verdict.held)


def test_every_claim_holds_where_it_does():
    rows = {row.id: row for row in claims.judge(world())}
    assert {ident: row.verdict for ident, row in rows.items()} == HELD
    assert rows["G1"].measured == pytest.approx(96.0, abs=0.01)
    assert rows["G1-tags"].measured == pytest.approx(10.0)
    assert rows["G2"].measured == pytest.approx(340.0)
    assert rows["G3"].measured == pytest.approx(8.0)
    assert rows["G3"].low < rows["G3"].measured < rows["G3"].high < 20
    assert (rows["G4"].measured, rows["G5"].measured) == (1.0, 5.0)
    assert "already without tags: 64 B 95.6" in rows["G1"].note
    assert "es8 with QID 1, UP 48, DOWN 30, h15 without a tag" in rows["G5"].note


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"tags": 400e-6}, {"G1", "G1-fragments", "G1-tags"}),
        ({"tags": 370e-6, "table": 380e-6}, {"G1"}),
        ({"tags": 40e-6}, {"G1-tags"}),
        ({"tags_pps": 60e3}, {"G2", "G2-tags", "G2-few"}),
        ({"table_pps": 230e3}, {"G2-tags", "G2-few"}),
        ({"table_few": 230e3}, {"G2-few"}),
        ({"settings_s": 0.019}, {"G3"}),
        ({"state": TAGGED | {"cs1": 1}}, {"G4"}),
        ({"seen": SEEN[1:]}, {"G5"}),
        ({"seen": [{**SEEN[0], "up": 44}, *SEEN[1:]]}, {"G5"}),
    ],
)
def test_a_claim_does_not_hold_where_the_data_say_so(changes, broken):
    assert {ident for ident, verdict in verdicts(world(**changes)).items() if verdict != Verdict.held} == broken


def test_open_vswitch_in_user_space_is_not_what_the_paper_compared_and_its_figures_stand_beside():
    kernel, user = ({row.id: row for row in claims.judge(world(datapath=one))} for one in ("system", "netdev"))
    assert {ident: row.verdict for ident, row in user.items()} == HELD | dict.fromkeys(
        ("G1", "G1-fragments", "G2"), Verdict.not_measured
    )
    for ident in ("G1", "G1-fragments", "G2"):
        assert user[ident].note == f"{claims.IN_USER_SPACE}; {kernel[ident].note}"
        assert (user[ident].measured, user[ident].low) == (kernel[ident].measured, kernel[ident].low)


SLOW = {"tags": 400e-6, "tags_pps": 60e3, "settings_s": 0.030}
"""Changes that break every claim about speed."""
TIMED = {"G1", "G1-fragments", "G1-tags", "G2", "G2-tags", "G2-few", "G3"}


def test_on_a_saturated_machine_no_claim_is_said_not_to_hold_but_what_is_counted():
    rows = {row.id: row for row in claims.judge(world(**SLOW, busy=0.97, seen=SEEN[1:]))}
    assert {ident for ident, row in rows.items() if row.verdict is Verdict.not_measured} == TIMED
    assert rows["G5"].verdict is Verdict.did_not_hold
    assert rows["G1-tags"].measured is not None
    assert rows["G1-tags"].note.startswith("the machine was saturated in 18 of 18 runs; 64 B -")
    assert rows["G3"].note.startswith("the machine was saturated in 1 of 1 run; ")
    assert verdicts(world(**SLOW)) == HELD | dict.fromkeys(TIMED, Verdict.did_not_hold)


def test_rounds_without_others_are_judged_alone():
    busy, quiet = world(**SLOW, busy=0.97), world()
    runs = [slow if slow.round <= 2 else fast for slow, fast in zip(busy, quiet, strict=True)]
    rows = {row.id: row for row in claims.judge(runs)}
    # Gates are set once; the peer's first run records when.
    assert {ident: row.verdict for ident, row in rows.items()} == HELD | {"G3": Verdict.not_measured}
    assert rows["G2-tags"].note.endswith("the machine was saturated in 6 of 18 runs, which are left out")
    assert rows["G1-tags"].measured == pytest.approx(10.0)


def test_without_runs_nothing_is_measured_and_one_round_has_no_interval():
    assert set(verdicts([]).values()) == {Verdict.not_measured}
    alone = verdicts(world(rounds=1))
    assert {ident for ident, verdict in alone.items() if verdict == Verdict.held} == {"G3", "G4", "G5"}
    assert {alone[ident] for ident in ("G1", "G1-fragments", "G1-tags", "G2", "G2-tags", "G2-few")} == {
        Verdict.not_measured
    }


def test_a_peer_that_carries_nothing_at_a_size_is_not_compared_there():
    runs = [replace(run, carried={64: 1.0}) if run.peer == OVS else run for run in world()]
    assert verdicts(runs)["G2"] == Verdict.not_measured


def test_the_flows_of_servers_are_the_ones_that_are_counted():
    at = flows.at_switches(flows.of_servers(ADDRESSES))
    counted = {layer["layer"]: layer for layer in json.loads(_weft.tag_forward_state(4, 2))["layers"]}
    for layer, names in (("edge", fabric.EDGES), ("aggregation", fabric.AGGREGATIONS), ("core", fabric.CORES)):
        for name in names:
            assert len(at[name]) == counted[layer]["openflow"]
            assert sum(one.is_first for one in at[name]) == counted[layer]["tagged"]


def test_the_load_has_8000_flows_of_their_own_addresses_between_pods_over_all_cores():
    load = flows.of_load()
    assert len({(flow.source, flow.destination) for flow in load}) == len(load) == 8_000
    assert all(len(flow.way.hops) == 5 for flow in load)
    assert all(fabric.pod(flow.from_server) != fabric.pod(flow.to_server) for flow in load)
    cores = Counter(flow.way.hops[2].switch for flow in load)
    assert set(cores.values()) == {2_000}
    senders = Counter(flow.from_server for flow in load)
    assert max(senders.values()) - min(senders.values()) <= 12
    others = {address for pair in flows.filling(40_000) for address in pair}
    assert not others & {address for flow in load for address in (flow.source, flow.destination)}
    assert len(others) == 80_000


def test_the_fabric_has_the_papers_names_and_gates():
    assert fabric.GATES + len(fabric.SERVERS) == 104
    switches = {one["switch"]: one for one in json.loads(fabric.gates().json())["switches"]}
    assert sum(len(one["gates"]) for one in switches.values()) == fabric.GATES
    assert {gate["gate"] for gate in switches["cs4"]["gates"]} == {8, 16, 24, 32, 54, 56}
    way = flows.example().way
    assert [hop.switch for hop in way.hops] == ["es1", "as1", "cs2", "as7", "es8"]
    assert ([hop.gate for hop in way.hops], way.up, way.down) == ([48, 48, 32, 32, 30], 48, 30)


def test_a_tag_is_read_from_a_frame_and_others_are_left():
    whole = bytes(range(12)) + b"\x08\x00" + bytes(60)
    tagged = whole[:12] + bytes.fromhex("ff1f20000006001e") + whole[12:]
    assert watching.read(tagged, whole) == (1, 48, 30)
    assert watching.read(whole, whole) == (None, None, None)
    assert watching.read(tagged[:-1], whole) is None
    assert watching.read(whole + b"\0", whole) is None


class Fake:
    """A fake peer that drops packets above `limit` per second, or none (None)."""

    def __init__(self, name: str, limit: float | None, log: list[tuple]) -> None:
        self.name, self.limit, self.log = name, limit, log

    def fill(self, rules: int) -> None:
        """Record that tables were filled."""
        self.log.append((self.name, "fill", rules))

    def ask(self, what: str, **values):
        """Answer as a jail would."""
        self.log.append((self.name, what, values.get("size")))
        if what == "echo":
            return {"rtt_ns": [20_000 + values["size"]] * (values["count"] - 1), "lost": 1}
        if what == "load":
            rate = values["packets_per_s"] or 300_000.0
            sent = round(rate * values["seconds"])
            got = sent if self.limit is None else min(sent, round(self.limit * values["seconds"]))
            return {"sent": sent, "received": got, "late": 0, "seconds": values["seconds"], "processor_s": 2.0}
        if what == "transfer":
            return {"throughput_bps": 9e9 if values["segments"] else 1e9}
        if what == "gates":
            return {"seconds": 0.01, "switches": dict.fromkeys(fabric.SWITCHES, 0.0005)}
        if what == "example":
            return SEEN
        return {key: value for key, value in emulated(self.name).items() if key in ("versions", "state")}


def test_a_rate_is_looked_for_only_where_the_sender_is_too_fast():
    assert len(carried(Fake(TAG_FORWARD, None, []), 64, 1.0)["trials"]) == 1
    found = carried(Fake(OVS, 50_000.0, []), 64, 1.0)
    assert found["packets_per_s"] == pytest.approx(50_000, rel=0.04)
    assert found["packets_per_processor_s"] == pytest.approx(25_000, rel=0.04)
    nothing = carried(Fake(OVS, 0.0, []), 64, 1.0)
    assert nothing["packets_per_s"] is None


@pytest.fixture(scope="module")
def part_of_fakes():
    """The part with few rounds and fake peers, and the log of their requests."""
    log: list[tuple] = []
    extent = Extent(rounds=3, echoes=4, loads=2, trial_s=0.1, settings=3, tables=(200_000,))
    part = Measurements("fabric", extent)
    limits = {OVS: 50_000.0, FLOW_TABLE: None, TAG_FORWARD: None}
    return part, {name: Fake(name, limit, log) for name, limit in limits.items()}, log


def test_rounds_become_runs_that_claims_and_figures_are_made_of(part_of_fakes, tmp_path, monkeypatch):
    part, peers, log = part_of_fakes
    out = tmp_path / "fabric"

    monkeypatch.setattr(Measurements, "_built", lambda *_: nullcontext(peers))
    ticks = count()
    monkeypatch.setattr(capacity, "_times", lambda: [0, 0, 0, 20 * next(ticks), 0, 0, 0, 0])
    events: list[dict] = []
    results = part.carry_out(out, RunOptions(progress=events.append))
    summaries = [json.loads((run.path / "summary.json").read_text()) for run in results.finished]
    assert {summary["version"] for summary in summaries} == {weft.__version__}
    runs = gather(results)
    assert len(runs) == part.runs() == 3 * 3 + 2 * 2
    assert sum(event["event"] == "run_done" for event in events) == part.runs()
    assert {run.rules for run in runs} == {RULES, 200_000}
    assert [bool(run.carried) for run in runs if run.peer == OVS] == [True, True, False]
    assert [run.emulated["processors"]["samples"] for run in runs if run.peer == OVS] == [3, 3, 2]
    assert not any(run.saturated for run in runs)
    first = runs[0]
    assert first.round_trip_s[64] == pytest.approx(20_064e-9)
    assert first.lost == len(ECHO_SIZES)
    # In a round peers alternate, size by size.
    echoes = [name for name, what, _ in log if what == "echo"][: 3 * len(ECHO_SIZES)]
    assert all(set(echoes[at : at + 3]) == set(PEERS) for at in range(0, len(echoes), 3))
    rows = {row.id: row for row in claims.judge(runs)}
    assert (rows["G3"].verdict, rows["G4"].verdict, rows["G5"].verdict) == (Verdict.held,) * 3
    assert rows["G1-tags"].verdict == Verdict.did_not_hold
    said = " ".join(study.remarks(runs))
    assert "flow table at every hop, segments 9.00 ±0.00 Gbit/s" in said
    assert "gain of tags over a table of 200000 rules at every hop" in said
    assert "packets per second of 64 B, 400 flows +0.0 [0.0, 0.0] %" in said
    written = figures.draw(runs, tmp_path / "figures", ["svg"])
    assert [file.name for file in written] == ["round-trips.svg", "packets.svg", "gates.svg"]
    assert all(file.stat().st_size > 1_000 for file in written)
    # Existing results are not measured again.
    log.clear()
    again = part.carry_out(out, RunOptions())
    assert not log
    assert len(again.finished) == part.runs()


def test_external_traffic_and_queues_are_simulated(tmp_path):
    assert (external.FABRICS / fabric.FILE).read_text() == fabric.fabric()
    results = {part.name: part.carry_out(tmp_path / part.name, RunOptions(jobs=1)) for part in external.parts()}
    gates, queues = external.judge(results)
    assert (gates.verdict, gates.measured) == (Verdict.held, 100.0)
    assert "256 flows, 4 links for each frame, 0 frames lost" in gates.note
    assert queues.verdict == Verdict.held
    assert queues.measured == pytest.approx(25.0, abs=0.5)
    assert [row.verdict for row in external.judge({})] == [Verdict.not_measured] * 2


def test_a_round_draws_servers_of_different_pods_and_the_same_again(part_of_fakes):
    part, peers, _ = part_of_fakes
    for number in range(1, 30):
        setups = [Setup(peer, RULES, number, False) for peer in PEERS]
        one, other = (Round(peers, part.extent, setups, lambda _: None) for _ in range(2))
        assert (one.source, one.destination) == (other.source, other.destination)
        assert fabric.pod(one.source) != fabric.pod(one.destination)


def test_a_run_can_be_reported(part_of_fakes, tmp_path):
    from weft.reporting.page import render

    part, _, _ = part_of_fakes
    measurements.layout.claim(tmp_path, part._index())
    for setup in part.setups:
        echoes = {spelled(size): {"rtt_ns": [30_000, 40_000], "lost": 0} for size in ECHO_SIZES}
        found = {"source": "h1", "destination": "h16", "echoes": echoes, "loads": {}, "transfers": {}}
        found["processors"] = {"saturated": False}
        result.write(setup, found, emulated(setup.peer), tmp_path / "runs" / setup.id)
    text = render(Results(tmp_path))
    assert "8192 B" in text
    assert "tag_forward" in text
