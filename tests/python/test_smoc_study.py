"""The smoc study: decision rules on data made to fit or break them; results from a jail's output files."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import weft
from chromium import opened
from weft import extracts
from weft.emulation import mptcp, openvswitch
from weft.emulation.errors import EmulationError
from weft.errors import OutputError
from weft.results import Results
from weft.studies.base import RunOptions, settled
from weft.studies.outcome import Size, Verdict
from weft.studies.smoc import claims, emulated, figures, inside, simulated, transfers
from weft.studies.smoc.setup import COUNTS, SCHEMES, SMOC, SPANNING_TREE, SUBFLOWS, Extent, Setup, setups
from weft.studies.smoc.table import Measured, gather
from weft.studies.smoc.topologies import FABRICS, LOCAL, SHAPES, Topology, fabric
from weft.studies.smoc.transfers import Transfers

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "smoc"
RATE = 25_000_000
PACE = 0.1


def run(setup: Setup, share: float, *, slow_s: float = 0.0, took=(0.003,) * 8, use=0.95) -> Measured:
    """A run that gets this share of all paths after `slow_s`, and half of it before."""
    times = [round(PACE * (number + 1), 1) for number in range(round(setup.seconds / PACE))]
    full = share * setup.capacity_bps
    values = [full / 2 if time <= slow_s + 1e-6 else full for time in times]
    paths = len(SHAPES[setup.topology].paths)
    carried = (100,) * setup.subflows
    return Measured(
        setup, tuple(times), tuple(values), (use,) * paths, carried, ("s1 s3 s2",) * setup.subflows, tuple(took), 0.5
    )


def world(seeds=5, **changes) -> list[Measured]:
    """Runs in which every claim holds, unless `changes` breaks it."""
    effect = {"share": 0.94, "link": 0.94, "slow_s": 0.3, "took": (0.003,) * 100, "use": 0.95, "noise": 0.002} | changes
    runs = []
    for topology in LOCAL:
        for setup in setups(topology, seeds, RATE, 6):
            wobble = 1 + effect["noise"] * (setup.seed % 3 - 1)
            if setup.scheme == SPANNING_TREE:
                share = effect["link"] / SHAPES[topology].capacity
            else:
                share = effect["share"] * min(setup.subflows / SHAPES[topology].capacity, 1)
            runs.append(run(setup, share * wobble, slow_s=effect["slow_s"], took=effect["took"], use=effect["use"]))
    return runs


def verdicts(runs) -> dict[str, Verdict]:
    return {row.id: row.verdict for row in claims.judge(runs)}


HELD = dict.fromkeys(("S1", "S2", "S2-start", "S3", "S3-start", "S4"), Verdict.held)


def test_every_claim_holds_where_it_does():
    rows = {row.id: row for row in claims.judge(world())}
    assert {ident: row.verdict for ident, row in rows.items()} == HELD
    assert rows["S2"].measured == pytest.approx(94, abs=0.1)
    assert rows["S2"].low < rows["S2"].measured < rows["S2"].high
    assert "376 of 400 Mbps" in rows["S2"].note
    assert "188 of 200 Mbps" in rows["S3"].note
    assert rows["S4"].measured == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"link": 0.5}, {"S1"}),
        ({"link": 0.99}, {"S1"}),
        ({"share": 0.92}, {"S2", "S2-start", "S3", "S3-start"}),
        ({"share": 0.926, "noise": 0.01}, {"S2", "S3", "S2-start", "S3-start"}),
        ({"use": 0.5}, {"S2"}),
        ({"slow_s": 2.0}, {"S1", "S2", "S3", "S2-start", "S3-start"}),
        ({"took": (0.003,) * 49 + (0.011,) * 51}, {"S4"}),
        ({"took": (0.003,) * 98 + (0.031,) * 2}, {"S4"}),
    ],
)
def test_a_claim_does_not_hold_where_the_data_say_so(changes, broken):
    assert {ident for ident, verdict in verdicts(world(**changes)).items() if verdict != Verdict.held} == broken


BUSY = {"link": 0.5, "share": 0.92, "took": (0.003,) * 49 + (0.011,) * 51}
"""Figures of a busy machine: no claim holds."""


def test_on_a_saturated_machine_no_claim_is_said_not_to_hold():
    busy = [replace(run, saturated=True) for run in world(**BUSY)]
    plain = {row.id: row for row in claims.judge(busy)}
    assert {row.verdict for row in plain.values()} == {Verdict.did_not_hold}
    for row in settled(claims.judge, busy):
        assert row.verdict is Verdict.not_measured
        assert row.note == f"the machine was saturated in {len(busy)} of {len(busy)} runs; {plain[row.id].note}"
        assert (row.measured, row.low, row.high) == (plain[row.id].measured, plain[row.id].low, plain[row.id].high)


UNDER_HOGS = {
    "cores": 2,
    "mean_busy": 0.9990196078431373,
    "max_busy": 1.0,
    "mean_stolen": 0.0008,
    "mean_pressure": 0.9058474006510939,
    "samples": 10,
    "saturated_share": 1.0,
    "saturated": True,
    "own_share": 0.5169475750808988,
}
"""Recorded in a run of topology 1, next to three CPU-bound processes at the highest priority."""


def test_a_run_beside_processes_that_took_all_time_counts_as_saturated(monkeypatch, tmp_path, jail):
    monkeypatch.setitem(globals(), "observed", lambda setup: OBSERVED(setup, processors=UNDER_HOGS))
    runs = gather([part().carry_out(tmp_path / "out", RunOptions())])
    assert all(run.saturated for run in runs)
    assert {run.own_share for run in runs} == {UNDER_HOGS["own_share"]}
    slower = [replace(run, throughput_bps=tuple(0.5 * bps for bps in run.throughput_bps)) for run in runs]
    rows = {row.id: row for row in settled(claims.judge, slower)}
    assert rows["S2"].verdict is Verdict.not_measured
    assert rows["S2"].note.startswith("the machine was saturated in 8 of 8 runs; 47.0 Mbps of 100.0 Mbps")


def test_what_holds_on_a_saturated_machine_holds_and_the_runs_are_counted():
    busy = [replace(run, saturated=True) for run in world()]
    for row in settled(claims.judge, busy):
        assert row.verdict is Verdict.held
        assert row.note.endswith(f"though the machine was saturated in {len(busy)} of {len(busy)} runs")


def test_runs_on_a_quiet_machine_are_judged_alone_where_they_suffice():
    busy = [replace(run, saturated=True) for run in world(**BUSY) if run.setup.seed <= 2]
    quiet = [run for run in world() if run.setup.seed > 2]
    rows = settled(claims.judge, [*busy, *quiet])
    assert {row.verdict for row in rows} == {Verdict.held}
    left_out = f"the machine was saturated in {len(busy)} of {len(busy) + len(quiet)} runs, which are left out"
    assert all(row.note.endswith(left_out) for row in rows)
    # Conversely, claims that fail on an idle machine are not excused.
    quiet = [run for run in world(**BUSY) if run.setup.seed > 2]
    busy = [replace(run, saturated=True) for run in world() if run.setup.seed <= 2]
    assert {row.verdict for row in settled(claims.judge, [*busy, *quiet])} == {Verdict.did_not_hold}


def test_without_runs_nothing_is_measured():
    assert set(verdicts([]).values()) == {Verdict.not_measured}
    assert len(verdicts([])) == 6


def test_one_run_has_no_interval_and_shows_nothing():
    found = verdicts(world(seeds=1))
    assert {ident for ident, verdict in found.items() if verdict == Verdict.not_measured} >= {"S2", "S3", "S2-start"}


def test_all_of_it_is_reached_when_the_first_second_with_that_mean_begins():
    setup = Setup(Topology.isolated, SMOC, 4, 1, RATE, 6)
    assert run(setup, 0.94).reached_s == 0.0
    assert run(setup, 0.94, slow_s=1.2).reached_s == pytest.approx(1.2)
    assert run(setup, 0.90).reached_s is None
    assert replace(run(setup, 0.94), times_s=(), throughput_bps=()).reached_s is None


def wide(scheme: str, seed: int, early: float, opens_s: float, final: float = 0.9) -> Measured:
    """A wide-area run whose throughput grows linearly from one share of all paths to another."""
    setup = Setup(Topology.wide, scheme, 4, seed, RATE, 200, 12)
    found = run(setup, final)
    values = [
        setup.capacity_bps * (early + (final - early) * min(time / opens_s, 1) + 0.001 * seed) for time in found.times_s
    ]
    return replace(found, throughput_bps=tuple(values))


@pytest.mark.parametrize(
    ("smoc", "tree", "above", "growth"),
    [
        ((0.3, 160.0), (0.2, 160.0), Verdict.held, Verdict.held),
        ((0.3, 60.0), (0.2, 60.0), Verdict.held, Verdict.did_not_hold),
        ((0.4, 4.0), (0.2, 160.0), Verdict.held, Verdict.did_not_hold),  # above its first 10 s later, all the same
        ((0.9, 1.0), (0.9, 1.0), Verdict.did_not_hold, Verdict.did_not_hold),
        ((0.1, 160.0), (0.2, 160.0), Verdict.did_not_hold, Verdict.held),
    ],
)
def test_the_wide_area_is_judged_by_the_start_and_by_how_long_it_grows(smoc, tree, above, growth):
    runs = [wide(scheme, seed, *how) for scheme, how in ((SMOC, smoc), (SPANNING_TREE, tree)) for seed in (1, 2, 3)]
    assert [(row.id, row.verdict) for row in claims.wide_area(runs)] == [("S5", above), ("S5-growth", growth)]


def test_the_growth_of_the_wide_area_is_measured_in_seconds():
    grown = [wide(scheme, seed, 0.3, 160.0) for scheme in SCHEMES for seed in (1, 2, 3)]
    row = claims.wide_area(grown)[1]
    # From 150 s on it still grows for 10 s; 0.002 is the mean over seeds.
    final = (10 * (0.3 + 0.6 * 155 / 160) + 40 * 0.9) / 50 + 0.002
    assert row.measured == pytest.approx(160 * (claims.GROWN * final - 0.002 - 0.3) / 0.6, abs=0.1)
    assert f"{50 * final:.1f} Mbps" in row.note
    quick = [wide(scheme, seed, 0.3, 4.0) for scheme in SCHEMES for seed in (1, 2, 3)]
    assert "23 kB in flight for each of 48 subflows" in claims.wide_area(quick)[1].note
    assert {row.verdict for row in claims.wide_area(grown[:1])} == {Verdict.not_measured}


def test_a_burst_is_no_end_of_growth():
    steady = wide(SMOC, 1, 0.3, 160.0)
    values = list(steady.throughput_bps)
    values[50] = 2 * steady.setup.capacity_bps
    burst = replace(steady, throughput_bps=tuple(values))
    final = steady.mean_bps(claims.LATE_S)
    assert burst.grown_s(claims.GROWN, final) == steady.grown_s(claims.GROWN, final)
    assert replace(steady, times_s=(), throughput_bps=()).grown_s(claims.GROWN, final) is None


@pytest.mark.parametrize("topology", list(Topology))
def test_the_studys_fabrics_are_those_of_the_scenarios_at_another_rate(topology, tmp_path):
    name = "topology-wan" if topology is Topology.wide else f"topology{topology:d}"
    by_hand = weft.fabric(SCENARIOS / f"{name}.fabric.toml")
    file = tmp_path / "own.fabric.toml"
    file.write_text(fabric(topology, 100_000_000))
    own = weft.fabric(file)

    def nodes(one):
        return sorted((node.name, node.role) for node in one.nodes)

    def links(one):
        return sorted((link.source, link.target, link.rate_bps) for link in one.links)

    assert own.name == by_hand.name
    assert file.read_text() == (FABRICS / f"{name}.fabric.toml").read_text()
    assert nodes(own) == nodes(by_hand)
    assert links(own) == links(by_hand)
    if topology is Topology.wide:
        between = [link for link in by_hand.links if {link.source, link.target}.isdisjoint("ab")]
        delays = {(link.source, link.target): link.delay_ps for link in own.links}
        assert all(delays[link.source, link.target] == link.delay_ps for link in between)
    ends = {pair for path in SHAPES[topology].paths for pair in pairwise(path)}
    assert ends <= {(source, target) for source, target, _ in links(own)}


def test_the_scenario_to_start_from_shows_what_the_documentation_says(weft, tmp_path):
    made = weft("run", SCENARIOS.parent / "smoc.toml", "-o", tmp_path / "out", "--jobs", 1, "-q")
    assert made.exit_code == 0, made.output
    fct = {row["scheme"]: row["mean_fct_s"] for row in Results(tmp_path / "out").summary().iter_rows(named=True)}
    said = (Path(__file__).parents[2] / "docs" / "schemes.md").read_text()
    assert (
        f"take {fct[SMOC]:.2f} s under `smoc`, {fct['ecmp']:.2f} s (± 0.20, depending on the hash) under `ecmp`"
        f" and {fct[SPANNING_TREE]:.2f} s on one tree" in said
    )


def observed(setup: Setup, **changes) -> dict:
    """The output files of a run in a jail."""
    capacity = setup.capacity_bps
    intervals = [
        {"begin_s": PACE * n, "end_s": PACE * (n + 1), "bytes": round(0.94 * capacity / 8 * PACE)} for n in range(60)
    ]
    shape = SHAPES[setup.topology]
    directed = [pair for a, b in (("a", "s1"), ("b", "s2"), *shape.cables) for pair in ((a, b), (b, a))]
    links = [
        {"from": a, "to": b, "interface": f"{a}-eth0", "packets": 1, "drops": 2, "max_queue_bytes": 3}
        | {"bytes": round(0.95 * setup.rate_bps / 8 * setup.seconds)}
        for a, b in directed
    ]
    subflows = [
        {"connection": connection, "source": f"10.{n}.0.1:{4000 + 10 * k + n}", "destination": "10.0.0.2:5201"}
        | {"congestion": "cubic", "acknowledged_bytes": count + n, "retransmissions": n, "rtt_s": 0.05}
        for k, (connection, count) in enumerate((("00000001", 100), ("00000002", 1_000_000)))
        for n in range(setup.subflows)
    ]
    connections = [
        {"subflows": [{"source": f"10.{n}.0.1:{4010 + n}", "switches": list(shape.paths[n % len(shape.paths)])}]}
        for n in range(setup.subflows)
    ]
    end = {"begin_s": 6.0, "end_s": 6.3, "bytes": 5}
    transfer = {"intervals": [*intervals, end], "received_bytes": 1, "seconds": 6.3, "retransmissions": 4, "streams": 1}
    sample = {"time_ps": 5 * 10**11, "metric": "link_utilisation", "entity": "s1->s3", "value": 0.5}
    return {
        "transfer": transfer,
        "subflows": subflows,
        "links": links,
        "series": [sample],
        "mptcp": {},
        "controller": {"connections": connections, "status": {"path_set_ups_s": [0.001, 0.002]}},
        "stack": {"congestion": "cubic"},
        "processors": {"cores": 2, "own_share": 0.4, "saturated": False},
        "versions": {"openvswitch": "3.1.0", "datapath": "netdev", "kernel": "6.18", "iperf3": "3.12"},
        "warnings": ["a warning"],
    } | changes


OBSERVED = observed


@pytest.fixture
def jail(monkeypatch):
    """Runs that end at once; yields the ids of the executed ones."""
    carried_out = []

    def follow(module, directory, on_event):
        setup = Setup.from_json(json.loads((directory / "options.json").read_text())["setup"])
        carried_out.append(setup.id)
        on_event({"event": "stage", "stage": "building", "fraction": 0.0})
        on_event({"event": "progress", "time_s": 3.0})
        if setup.subflows == 8:
            raise EmulationError("eight is too many")
        (directory / "observed.json").write_text(json.dumps(observed(setup)))

    monkeypatch.setattr(transfers, "follow", follow)
    return carried_out


def part(counts=(1, 2, 4), topology=Topology.isolated, rate=RATE) -> Transfers:
    return Transfers(f"topology-{topology:d}", setups(topology, 2, rate, 6, counts))


def test_a_run_becomes_a_result_that_others_can_read(jail, tmp_path):
    events = []
    results = part().carry_out(tmp_path / "out", RunOptions(progress=events.append))
    assert jail == [
        f"{scheme}-subflows-{count}-seed{seed}"
        for seed in (1, 2)
        for scheme, count in ((SMOC, 4), (SPANNING_TREE, 4), (SMOC, 1), (SMOC, 2))
    ]
    assert [event["event"] for event in events[:3]] == ["progress", "progress", "run_done"]
    assert [round(event["fraction"], 2) for event in events[:3]] == [0.0, 0.65, 1.0]
    flows = results.flows(measured=False).filter(pl.col("run") == f"{SMOC}-subflows-4-seed1")
    # The control connection carried less, and is not part of the transfer.
    assert flows["bytes"].to_list() == [1_000_000, 1_000_001, 1_000_002, 1_000_003]
    assert flows["path"].to_list() == [f"s1 {middle} s2" for middle in ("s3", "s4", "s5", "s6")]
    assert flows["sport"].to_list() == [4010, 4011, 4012, 4013]
    assert flows["hops"].to_list() == [4, 4, 4, 4]
    assert flows["throughput_bps"].is_null().all()
    throughput = results.series("throughput_bps").filter(pl.col("run") == f"{SMOC}-subflows-4-seed1")
    assert len(throughput) == 60  # bytes that arrived after the end do not count for the transfer
    assert throughput["value"].to_list() == pytest.approx([0.94 * 4 * RATE] * 60)
    assert results.series("link_utilisation")["entity"].unique().to_list() == ["s1->s3"]
    between = results.links().filter((pl.col("from") == "s1") & (pl.col("to") == "s3"))
    assert between["utilisation"].to_list() == pytest.approx([0.95] * 8)
    assert results.dimensions == ["transport.subflows"]


def test_results_are_read_as_what_was_measured(jail, tmp_path):
    found = gather([part().carry_out(tmp_path / "out", RunOptions())])
    first = found[0]
    assert first.setup == Setup(Topology.isolated, SMOC, 4, 1, RATE, 6)
    assert first.share == pytest.approx(0.94)
    assert first.path_use == pytest.approx((0.95,) * 4)
    assert first.subflow_bytes == (1_000_000, 1_000_001, 1_000_002, 1_000_003)
    assert first.set_up_s == (0.001, 0.002)
    assert first.own_share == 0.4
    kinds = {(SMOC, 4), (SPANNING_TREE, 4), (SMOC, 1), (SMOC, 2)}
    assert {(run.setup.scheme, run.setup.subflows) for run in found} == kinds
    unseen = replace(first, subflow_bytes=(), subflow_paths=())
    each = "seed 1: 25 % over s1-s6-s2, 25 % over s1-s5-s2, 25 % over s1-s4-s2, 25 % over s1-s3-s2"
    assert emulated.shares([unseen, first]) == each
    assert len(emulated.remarks(found)) == 4
    assert emulated.shares([unseen]) == "subflows not observed"


def subflow(source: str, acknowledged: int) -> mptcp.Subflow:
    return mptcp.Subflow("00000001", source, "10.0.0.2:5201", "cubic", acknowledged, 0, 0.05)


@pytest.mark.parametrize(
    ("looks", "acknowledged"),
    [
        ([[10, 10], [20, 30]], [20, 30]),
        ([[10, 10], [20, 30], []], [20, 30]),  # the transfer was over
        ([[10, 10], [20, 30], [1]], [20, 30]),  # only its control connection was left
        ([[], [5]], [5]),
        ([[], []], []),
    ],
)
def test_the_last_look_at_subflows_that_carried_data_is_kept(monkeypatch, looks, acknowledged):
    there = iter(looks)
    monkeypatch.setattr(inside, "entered", lambda namespace: nullcontext())
    monkeypatch.setattr(inside, "_SAMPLE_S", 0.01)
    monkeypatch.setattr(inside, "_LAST_S", 0.0)
    monkeypatch.setattr(
        inside.mptcp, "subflows", lambda port: [subflow(f"10.{n}.0.1:4", c) for n, c in enumerate(next(there))]
    )
    monkeypatch.setattr(inside.mptcp, "counters", dict)
    monkeypatch.setattr(inside.stack, "versions", dict)
    monkeypatch.setattr(inside.openvswitch, "version", lambda: "3.1.0")
    monkeypatch.setattr(inside.iperf, "version", lambda: "3.12")
    links = SimpleNamespace(begin=lambda: None, sample=lambda now, last: [], totals=list)
    monkeypatch.setattr(inside, "Links", lambda plan, namespaces: links)
    done = inside.iperf.Transfer([], 1, 0.03, 0, 1)
    monkeypatch.setattr(inside.iperf, "transfer", lambda *args, meanwhile, **kwargs: [meanwhile(), done][1])
    network = SimpleNamespace(
        plan=None,
        namespaces={"a": "a", "b": "b"},
        address=lambda host: "10.0.0.2",
        stack=SimpleNamespace(congestion="cubic"),
        route={},
        settings={},
        warnings=["a warning"],
    )
    controller = SimpleNamespace(ask=lambda what: {})
    setup = Setup(Topology.isolated, SMOC, 2, 1, RATE, 0.01 * len(looks))
    one = inside.Transfer(setup, network, controller)
    one.carry_out()
    seen = one.observed()
    assert [row["acknowledged_bytes"] for row in seen["subflows"]] == acknowledged
    assert seen["warnings"] == ["a warning", *([] if acknowledged else [inside.NONE_SEEN])]


def test_a_run_has_the_columns_and_keys_of_any_other(jail, tmp_path, engine_results):
    results = part().carry_out(tmp_path / "out", RunOptions())
    own, other = results.finished[0], engine_results.finished[0]
    for file in ("flows.parquet", "series.parquet"):
        assert pl.read_parquet_schema(own.path / file) == pl.read_parquet_schema(other.path / file), file
    there, wanted = results.summaries()[0], engine_results.summaries()[0]
    # Only simulations know the schemes' choices and costs, and all arrivals; a study's setup replaces the scenario.
    assert set(wanted) - set(there) == {"path_evenness", "steady"}
    assert set(there) - set(wanted) == {"setup", "emulated"}
    assert set(there["classes"]["transfer"]) == set(next(iter(wanted["classes"].values())))
    assert there["classes"]["transfer"]["retransmissions"] == 0 + 1 + 2 + 3
    assert results.flows()["out_of_order"].is_null().all()


def test_what_a_page_shows_over_time_is_what_arrived(jail, tmp_path):
    results = part().carry_out(tmp_path / "out", RunOptions())
    over_time = extracts.throughput_over_time(results).filter(pl.col("class") == transfers.CLASS)
    assert over_time["bps"].to_list() == pytest.approx([0.94 * 4 * RATE] * len(over_time))
    assert over_time["time_s"].max() == pytest.approx(6 - PACE / 2)


def test_links_that_are_sampled_less_often_are_not_shown_idle_between(jail, tmp_path, monkeypatch):
    def often(setup, **changes):
        times = [round((min(0.5 * n, 5.8) + 0.003) * 1e12) for n in range(1, 13)]  # as inside the jail
        sampled = {"link_utilisation": 0.9, "queue_bytes": 1000.0}
        rows = [
            {"time_ps": time, "metric": metric, "entity": "s1->s3", "value": value}
            for time in times
            for metric, value in sampled.items()
        ]
        return OBSERVED(setup, **changes) | {"series": rows}

    monkeypatch.setitem(globals(), "observed", often)
    results = part().carry_out(tmp_path / "out", RunOptions())
    assert set(extracts.largest_queue(results)["bytes"]) == {1000.0}
    share = extracts.queue_exceedance(results)["share"]
    ports = sum(link["from"].startswith("s") for link in results.summaries()[0]["links"])
    assert share.max() == pytest.approx(1 / ports)  # this size or more: in every sample of this one port


def test_the_emulated_study_names_a_report_that_can_be_made(jail, monkeypatch, weft, browser, tmp_path):
    monkeypatch.setattr(Transfers, "check", lambda self: None)
    monkeypatch.setattr(emulated.SmocEmulated, "parts", lambda self, size: [part(topology=one) for one in LOCAL])
    said = weft("reproduce", "smoc", "--emulated", "-o", tmp_path / "study")
    assert said.exit_code == 0, said.output
    assert re.search(r"weft report (\S+)", said.output)[1].endswith("topology-1")
    for topology in LOCAL:
        directory = tmp_path / "study" / f"topology-{topology:d}"
        assert weft("report", directory).exit_code == 0
        page = opened(browser, directory / "report.html")
        assert page.evaluate("document.documentElement.dataset.ready") == "yes"
        assert page.complaints == []
        assert page.locator("#over-time svg .mark-line path").count() >= 1
        assert '"rate_bps": 25000000' in page.locator("#setup pre").inner_text()
        assert "Retrans." in weft("summary", directory).output
        page.close()


def test_runs_that_lack_columns_are_refused_plainly(jail, weft, tmp_path):
    results = part().carry_out(tmp_path / "out", RunOptions())
    file = results.finished[0].path / "flows.parquet"
    pl.read_parquet(file).drop("out_of_order", "drops").write_parquet(file)
    for command in ("summary", "report"):
        refused = weft(command, tmp_path / "out")
        assert refused.exit_code == 2
        assert "has no column `out_of_order`: it was written by an earlier version of Weft" in refused.output
        assert "delete the run" not in refused.output


def test_what_is_there_is_not_run_again(jail, tmp_path):
    part().carry_out(tmp_path / "out", RunOptions())
    jail.clear()
    events = []
    gone = tmp_path / "out" / "runs" / f"{SPANNING_TREE}-subflows-4-seed2"
    for file in gone.iterdir():
        file.unlink()
    gone.rmdir()
    part().carry_out(tmp_path / "out", RunOptions(progress=events.append))
    assert jail == [f"{SPANNING_TREE}-subflows-4-seed2"]
    assert [event["event"] for event in events].count("run_skipped") == 7


def test_a_directory_of_other_runs_is_refused(jail, tmp_path):
    part().carry_out(tmp_path / "out", RunOptions())
    with pytest.raises(OutputError, match="contains other runs, or runs of another version"):
        part(rate=100_000_000).carry_out(tmp_path / "out", RunOptions())


def test_a_run_that_fails_is_said_at_the_end_and_the_others_stay(jail, tmp_path):
    events = []
    with pytest.raises(OutputError, match="2 emulated runs failed; the first: smoc, subflows=8, seed 1: eight"):
        part(COUNTS).carry_out(tmp_path / "out", RunOptions(progress=events.append))
    assert [event["event"] for event in events].count("run_failed") == 2
    assert len(Results(tmp_path / "out").finished) == 8


def test_the_figures_are_drawn(tmp_path):
    files = figures.draw(world(seeds=2), tmp_path, ["pdf", "svg"])
    names = {f"{stem}.{kind}" for stem in ("subflows", "throughput-over-time") for kind in ("pdf", "svg")}
    assert sorted(file.name for file in files) == sorted(names)
    assert all(file.stat().st_size > 5_000 for file in files)
    drawn = (tmp_path / "throughput-over-time.svg").read_text()
    assert len(drawn) > 10_000
    assert figures.draw([], tmp_path, ["pdf"]) == []


@pytest.mark.parametrize(
    ("datapath", "netem", "rate", "parts"),
    [
        (openvswitch.USER_SPACE, False, 25_000_000, ["topology-1", "topology-2"]),
        (openvswitch.KERNEL, True, 100_000_000, ["topology-1", "topology-2", "wide-area"]),
    ],
)
def test_what_is_run_follows_from_the_kernel(monkeypatch, datapath, netem, rate, parts):
    monkeypatch.setattr(openvswitch, "datapath", lambda: datapath)
    monkeypatch.setattr(emulated.shaping, "has_netem", lambda: netem)
    found = emulated.SmocEmulated().parts(Size.standard)
    assert [one.name for one in found] == parts
    assert found[0].runs() == 10 * 5
    assert {setup.rate_bps for one in found for setup in one.setups} == {rate}


def test_without_netem_the_wide_area_is_said_to_be_unmeasured(jail, tmp_path):
    study = emulated.SmocEmulated()
    results = {
        f"topology-{topology:d}": part(topology=topology).carry_out(tmp_path / f"{topology:d}", RunOptions())
        for topology in LOCAL
    }
    outcome = study.judge(results)
    assert [row.id for row in outcome.rows] == [*HELD, "S5", "S5-growth"]
    assert {row.verdict for row in outcome.rows[-2:]} == {Verdict.not_measured}
    assert "no netem" in outcome.rows[-1].note
    assert outcome.remarks[0].startswith("Open vSwitch 3.1.0 forwarding in user space (datapath netdev), Linux 6.18")
    assert f"topology 1, {SMOC}, subflows {SUBFLOWS}: 94.0 ±0.0 Mbps of 100.0 Mbps" in outcome.remarks[4]
    for topology in LOCAL:
        (tmp_path / f"{topology:d}").rename(tmp_path / f"topology-{topology:d}")
    (tmp_path / "study.json").write_text(json.dumps({"study": study.name, "size": "quick", "rows": []}))
    assert [file.name for file in study.plot(tmp_path, None, ["pdf"])] == ["throughput-over-time.pdf", "subflows.pdf"]


SHORT = Extent(2, 3, 2, 6)
LONG = Extent(2, 6, 2, 160)
"""Long enough for all claims: the wide area becomes busy late."""


def shortened(extent: Extent, directory: Path) -> Path:
    """The simulated study with this extent; only command-line arguments may change it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(simulated.EXTENTS, Size.quick, extent)
        simulated.Smoc().run(directory, Size.quick, RunOptions())
    return directory


@pytest.fixture(scope="module")
def study_dir(tmp_path_factory) -> Path:
    """The simulated study, shortened."""
    return shortened(SHORT, tmp_path_factory.mktemp("study") / "smoc")


PARTS = ("topology-1", "topology-2", "wide-area", simulated.SLOW)


def test_the_report_that_the_study_names_can_be_made(monkeypatch, weft, study_dir):
    monkeypatch.setitem(simulated.EXTENTS, Size.quick, SHORT)
    said = weft("reproduce", "smoc", "-o", study_dir)
    named = re.search(r"weft report (\S+)", said.output)
    assert named is not None, said.output
    assert weft("report", named[1]).exit_code == 0
    assert sorted(path.name for path in study_dir.iterdir() if path.is_dir()) == sorted(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_study_has_a_page_though_no_flow_ends(weft, browser, study_dir, part):
    made = weft("report", study_dir / part)
    assert made.exit_code == 0, made.output
    page = opened(browser, study_dir / part / "report.html")
    assert page.evaluate("document.documentElement.dataset.ready") == "yes"
    assert page.complaints == []
    assert page.locator("#over-time svg .mark-line path").count() >= 1
    assert page.locator("svg.fabric .links line").count() >= 12
    assert page.locator("#completion-section").inner_text().endswith("No flow finished.")
    assert page.locator("#throughput svg .mark-symbol path, #throughput svg .mark-rect path").count() >= 1
    assert page.locator("#throughput-section .tabs button").all_inner_texts()[0] == "Out of order"
    page.close()


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_study_has_a_table_and_figures_of_what_there_is(weft, study_dir, part, tmp_path):
    assert weft("summary", study_dir / part).exit_code == 0
    drawn = weft("plot", study_dir / part, "-o", tmp_path, "--format", "svg")
    assert drawn.exit_code == 0, drawn.output
    names = {file.stem for file in tmp_path.iterdir()}
    assert "out-of-order" in names
    assert any(name.startswith("throughput-time") for name in names)
    assert not any(name.startswith(("fct", "slowdown")) for name in names)


@pytest.mark.long
def test_the_simulated_study_measures_every_claim_that_is_no_setting(tmp_path):
    study = simulated.Smoc()
    results = study.results(shortened(LONG, tmp_path / "smoc"), Size.quick)
    outcome = study.judge(results)
    found = {row.id: row for row in outcome.rows}
    others = {"S4": Verdict.not_measured, "S5": Verdict.held, "S5-growth": Verdict.did_not_hold}
    assert {ident: row.verdict for ident, row in found.items()} == HELD | others
    assert found["S5-growth"].measured == pytest.approx(2.0)
    assert "the median is 0.6" in found["S4"].note
    spoken = "\n".join(outcome.remarks)
    assert "topology 1, ecmp, subflows 1, 2, 4, 8:" in spoken
    assert "0.0 Mbps in the first 2.5 s, all paths from 5.0 s on" in spoken
    flows = results["topology-1"].flows(measured=False).filter(pl.col("scheme") == SMOC)
    assert set(flows["subflows"]) == set(COUNTS)
    drawn = study.draw(results, tmp_path / "figures", ["svg"])
    assert [file.name for file in drawn] == ["throughput-over-time.svg", "subflows.svg"]
