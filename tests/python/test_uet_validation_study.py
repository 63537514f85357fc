"""The uet-validation study: its scenarios, and its rule on data that fits it, breaks it, or is missing."""

from __future__ import annotations

import re
import tomllib

import polars as pl
import pytest

from weft import _weft
from weft.against import networks
from weft.studies.outcome import Size, Verdict
from weft.studies.uet_validation import claims, figures, published, rules, setups, traffic
from weft.studies.uet_validation.table import SCHEMA, gather

LIMITS = {limit.ident: limit for limit in published.LIMITS}


def world(**changes):
    """Data in which every set-up takes 0.9 of its strictest limit, or what `changes` says of the set-up."""
    rows = []
    for setup in setups.SETUPS:
        own = [limit for limit in published.LIMITS if limit.setup == setup.name]
        factor = changes.get(setup.name.replace("-", "_"), 0.9)
        times = {of: [factor * limit.limit for limit in own if limit.of == of] for of in ("last", "watched")}
        rows += [
            {"setup": setup.name, "seed": seed, "unfinished": 0}
            | {of: min(found) + 0.01 * seed if found else None for of, found in times.items()}
            for seed in range(1, 5)
        ]
    return pl.DataFrame(rows, schema=SCHEMA)


def verdicts(table):
    return {row.id: row.verdict for row in claims.judge(table)}


def test_times_below_the_limits_hold():
    found = claims.judge(world())
    assert [row.id for row in found] == list(LIMITS)
    for row in found:
        assert row.verdict is Verdict.held
        assert row.measured == pytest.approx(0.9 * LIMITS[row.id].limit + 0.025)


@pytest.mark.parametrize(
    ("setup", "rows"),
    [("one", {"U1"}), ("outcast_incast", {"U7", "U7-flow"}), ("large_mixed", {"U11", "B10"}), ("bitmap", {"B3"})],
)
def test_a_time_above_its_limit_breaks_the_rows_of_its_set_up(setup, rows):
    found = verdicts(world(**{setup: 1.01}))
    assert {ident for ident, verdict in found.items() if verdict is Verdict.did_not_hold} == rows


def test_a_row_that_does_not_hold_names_the_rule_that_decides_it():
    found = {row.id: row for row in claims.judge(world(incast_1024=1.1))}
    assert found["U5"].verdict is Verdict.did_not_hold and rules.DECIDING["U5"] in found["U5"].note


def test_rows_about_missing_or_unfinished_flows_are_not_measured():
    found = verdicts(world().filter(pl.col("setup") != "reps"))
    assert found["B7"] is Verdict.not_measured and found["B5"] is Verdict.held
    unfinished = verdicts(world().with_columns(pl.lit(1).alias("unfinished").cast(pl.Int64)))
    assert set(unfinished.values()) == {Verdict.not_measured}
    assert set(verdicts(pl.DataFrame(schema=SCHEMA)).values()) == {Verdict.not_measured}


def test_each_row_has_a_set_up_and_each_set_up_a_row():
    assert {limit.setup for limit in published.LIMITS} == {setup.name for setup in setups.SETUPS}
    assert set(rules.DECIDING) <= set(LIMITS)


def test_round_trips_queues_and_timeouts_are_those_that_uet_htsim_prints():
    tree, leaves = networks.fat_tree(16), networks.leaf_spine(8)
    assert (tree.hosts, tree.rtt_ps, tree.queue, tree.thresholds) == (1024, 14_022_720, 43, (9, 35))
    assert (leaves.rtt_ps, leaves.queue, leaves.thresholds) == (9_348_480, 29, (6, 24))
    assert networks.timeout_ps(43) == 100_656_000


def test_scenarios_run_all_set_ups_with_the_seeds_of_their_size():
    for size, (few, large) in setups.SEEDS.items():
        runs = {name: len(scenario.points()) for name, scenario in setups.scenarios(size)}
        assert runs["one"] == few and runs["reps"] == large and len(runs) == len(setups.SETUPS)
    assert set(setups.SEEDS) == set(Size)


def test_all_flows_of_the_small_permutation_leave_their_pods():
    pairs = [(int(a), int(b)) for a, b in re.findall(r'src = "h(\d+)", dst = "h(\d+)"', traffic.shift())]
    assert sorted(a for a, _ in pairs) == sorted(b for _, b in pairs) == list(range(16))
    assert all(a // 4 != b // 4 for a, b in pairs)


def test_packets_have_the_sizes_of_uet_htsim_on_the_wire():
    ethernet, ip_and_udp = _weft.FRAMING["ethernet-frame"], 28
    assert ip_and_udp + networks.HEADER + ethernet == networks.ANSWER == networks.PACKET - networks.PAYLOAD
    for setup in setups.SETUPS:
        scenario = tomllib.loads(setups.text(setup, 1))
        assert scenario["fabric"]["overhead"] == "ethernet-frame"
        assert (scenario["transport"]["mtu"], scenario["transport"]["header"]) == (networks.PAYLOAD, networks.HEADER)


def test_the_two_incasts_of_the_list_with_cwnd_start_with_50_packets():
    first = {
        setup.name: tomllib.loads(setups.text(setup, 1))["transport"].get("initial_window") for setup in setups.SETUPS
    }
    assert {name: packets for name, packets in first.items() if packets} == {"incast-1024": 50, "beside-long": 50}


def test_the_short_flows_beside_a_long_one_start_40_us_later():
    flows = tomllib.loads(traffic.beside_long())["flow_list"]
    assert [(flow["src"], flow["start"]) for flow in flows] == [("h127", "0 s"), ("h95", "40 us"), ("h61", "40 us")]


def test_completion_is_at_the_sender(tmp_path):
    results = setups.SETUPS[0].scenario(1).run(tmp_path / "one", jobs=1)
    table = gather({"one": results})
    received = results.scan_flows(measured=False).collect()["fct_ps"][0] / 1e6
    assert table["last"][0] == pytest.approx(received + 6 * (1 + 64 * 8 / 1e5))
    assert table["last"][0] == pytest.approx(LIMITS["U1"].htsim.mean, rel=0.001)


def test_a_figure_has_a_panel_for_each_list(tmp_path):
    files = figures.draw(world(), tmp_path, ("pdf",))
    assert [file.name for file in files] == ["limits.pdf"] and files[0].stat().st_size > 0
    assert figures.draw(pl.DataFrame(schema=SCHEMA), tmp_path, ("pdf",)) == []
