"""The study of collectives: its scenarios, and its rules on data that fits them, breaks them, or is missing."""

from __future__ import annotations

import polars as pl
import pytest

from weft.studies.base import RunOptions
from weft.studies.collectives import Collectives, claims, figures, parts, setups
from weft.studies.collectives.table import SCHEMA
from weft.studies.outcome import Size, Verdict

WARMING = 9.0
"""The ratio of the rounds of the warm-up, which count for nothing."""


def world(seeds=3, **changes):
    """Data in which every claim holds: 1.2 times the bound for UEC and 2 for others, a tenth less with paths."""
    rows = [
        {
            "way": name,
            "state": state,
            "collective": collective,
            "seed": seed,
            "round": number,
            "ms": 1.0,
            "ratio": ratio,
            "timeouts": int(name == "linux-one" and seed == 1),
        }
        for name, way in setups.WAYS.items()
        for state in setups.STATES
        for collective in setups.COLLECTIVES
        for seed in range(1, seeds + 1)
        for number in range(1, setups.ROUNDS + 1)
        for base in [changes.get(name.replace("-", "_"), 1.2 if way.kind == "uec" else 2.0)]
        for reached in [base if name == setups.one_path(way.kind) or name.replace("-", "_") in changes else base * 0.9]
        for ratio in [
            WARMING if number <= setups.WARM_UP else reached * (1 + 0.01 * seed) + 0.001 * (number - setups.WARM_UP)
        ]
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def test_each_collective_has_rows_for_paths_and_for_hosts_on_each_fabric():
    rows = claims.judge(world())
    assert [row.id for row in rows] == [
        f"{row}-{collective}-{state}"
        for collective in setups.COLLECTIVES
        for state in setups.STATES
        for row in ("P-linux", "P-dctcp", "P-uec", "H-uec")
    ]
    assert {row.verdict for row in rows} == {Verdict.held}
    assert [round(row.measured, 1) for row in rows[:4]] == [-10.0, -10.0, -10.0, -40.0]
    assert "UEC, spraying 1.10 and UEC, one path 1.23 times the bound" in rows[2].note


def test_the_parts_of_paths_and_hosts_make_up_the_whole_difference_from_dctcp_on_one_path():
    table = parts.split(world(uec_spray=0.6))
    assert len(table) == len(setups.WAYS) * len(setups.COLLECTIVES) * len(setups.STATES)
    both = {row["way"]: row for row in table.filter(pl.col("collective") == "all-to-all").iter_rows(named=True)}
    sprayed, alone, reference = (both[way] for way in ("uec-spray", "uec-one", "dctcp-one"))
    assert sprayed["paths_percent"] == pytest.approx(-50, abs=0.2)
    assert sprayed["hosts_percent"] == alone["hosts_percent"] == pytest.approx(-40, abs=0.2)
    whole = (1 + sprayed["paths_percent"] / 100) * (1 + sprayed["hosts_percent"] / 100)
    assert whole == pytest.approx(sprayed["ratio"] / reference["ratio"], rel=1e-3)
    assert (alone["paths_percent"], reference["hosts_percent"]) == (None, None)


def test_hosts_that_gain_nothing_from_paths_break_only_their_own_rows():
    rows = claims.judge(world(dctcp_spray=2.1, uec_one=1.2))
    assert {row.verdict for row in rows if row.id.startswith("P-dctcp")} == {Verdict.did_not_hold}
    assert {row.verdict for row in rows if not row.id.startswith("P-dctcp")} == {Verdict.held}


def test_a_difference_whose_interval_reaches_zero_does_not_hold_and_one_seed_is_no_measurement():
    noisy = world().with_columns(
        pl.when((pl.col("way") == "uec-spray") & (pl.col("seed") == 1)).then(1.3).otherwise("ratio").alias("ratio")
    )
    assert {row.verdict for row in claims.judge(noisy) if row.id.startswith("P-uec")} == {Verdict.did_not_hold}
    assert {row.verdict for row in claims.judge(world(seeds=1))} == {Verdict.not_measured}


def test_a_way_with_a_round_that_did_not_finish_is_named_and_has_no_value():
    lost = (pl.col("way") == "uec-spray") & (pl.col("seed") == 3) & (pl.col("round") == setups.ROUNDS)
    table = world().with_columns(pl.when(~lost).then("ratio").alias("ratio"))
    rows = {row.id: row for row in claims.judge(table)}
    missing = rows["P-uec-all-to-all-whole"]
    assert missing.verdict is Verdict.not_measured and missing.note == "not finished: UEC, spraying"
    assert rows["H-uec-all-to-all-whole"].verdict is Verdict.held
    assert "all-to-all, whole fabric, not finished: UEC, spraying" in claims.remarks(table)
    none = world().with_columns(pl.lit(None, dtype=pl.Float64).alias("ratio"))
    assert {row.verdict for row in claims.judge(none)} == {Verdict.not_measured}


def test_ways_with_timeouts_are_named():
    remarks = claims.remarks(world(seeds=4))
    assert "all-to-all, whole fabric, share of runs with timeouts: Linux TCP, one path 0.25" in remarks


def test_every_kind_of_hosts_is_there_on_one_path_with_the_same_payload_and_open_connections():
    for kind in setups.KINDS:
        assert setups.WAYS[setups.one_path(kind)].kind == kind
    for _, scenario in setups.scenarios(Size.quick):
        text = scenario.text
        assert "4096" in text and 'connections = "persistent"' in text and f"repeats = {setups.ROUNDS}" in text


def test_the_figure_has_all_panels(tmp_path):
    files = figures.draw(world(), tmp_path, ("svg",))
    assert [file.name for file in files] == ["collectives.svg"]
    assert all(title in files[0].read_text() for title in claims.TITLES.values())


@pytest.mark.parametrize("seeds", [1, pytest.param(2, marks=pytest.mark.long)])
def test_every_way_runs_and_the_tables_have_all_of_them(tmp_path, monkeypatch, seeds):
    monkeypatch.setitem(setups.EXTENTS, Size.quick, setups.Extent(4, 1, seeds))
    if seeds == 1:
        # One fabric of two, that with fewer paths, and few rounds.
        monkeypatch.delitem(setups.STATES, "whole")
        monkeypatch.setattr(setups, "ROUNDS", 4)
        monkeypatch.setattr(parts, "WARM_UP", 1)
    study = Collectives()
    outcome = study.run(tmp_path / "study", Size.quick, RunOptions())
    cases = len(setups.WAYS) * len(setups.STATES) * len(setups.COLLECTIVES)
    table = pl.read_csv(tmp_path / "study" / "collectives.csv")
    assert len(table) == cases * seeds * setups.ROUNDS
    assert table["ratio"].min() >= 1
    assert len(pl.read_csv(tmp_path / "study" / "collectives-parts.csv")) == cases
    assert {row.verdict is not Verdict.not_measured for row in outcome.rows} == {seeds > 1}
