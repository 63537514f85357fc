"""The study of collectives: its scenarios, and its rules on data that fits them, breaks them, or is missing."""

from __future__ import annotations

import polars as pl
import pytest

from weft.studies import Size, Verdict
from weft.studies.collectives import Collectives, claims, figures, setups
from weft.studies.collectives.table import SCHEMA


def world(**changes):
    """Data in which every claim holds: 1.2 times the bound for ways that spread a flow, 2 for others; or `changes`."""
    rows = [
        {"way": name, "state": state, "collective": collective, "seed": seed, "ms": ratio * 10, "ratio": ratio}
        for name, way in setups.WAYS.items()
        for state in setups.STATES
        for collective in setups.COLLECTIVES
        for seed in range(1, 4)
        for ratio in [changes.get(name, 1.2 if way.spreads else 2.0) * (1 + 0.01 * seed)]
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def test_every_collective_has_a_row_for_each_fabric_with_all_ways():
    rows = claims.judge(world())
    assert [row.id for row in rows] == [
        "F-ring-all-reduce-whole",
        "F-ring-all-reduce-failed",
        "F-all-to-all-whole",
        "F-all-to-all-failed",
    ]
    for row in rows:
        assert row.verdict is Verdict.held and row.measured == pytest.approx(-40)
        assert all(way.title in row.note for way in setups.WAYS.values())


def test_a_way_with_one_path_per_flow_that_is_first_breaks_the_claims():
    assert {row.verdict for row in claims.judge(world(conweave=1.1))} == {Verdict.did_not_hold}


def test_a_way_that_did_not_finish_is_named_and_is_never_first():
    reps = pl.col("way") == "reps"
    table = world(reps=1.01).with_columns(pl.when(~reps | (pl.col("seed") < 3)).then("ratio").alias("ratio"))
    (row, *_) = claims.judge(table)
    assert "not finished: REPS, UEC" in row.note and row.measured == pytest.approx(-40)
    none = world().with_columns(pl.lit(None, dtype=pl.Float64).alias("ratio"))
    assert {row.verdict for row in claims.judge(none)} == {Verdict.not_measured}


def test_the_figure_has_all_panels(tmp_path):
    files = figures.draw(world(), tmp_path, ("svg",))
    assert [file.name for file in files] == ["collectives.svg"]
    assert all(title in files[0].read_text() for title in claims.TITLES.values())


def test_every_way_runs_and_the_table_has_all_of_them(tmp_path, monkeypatch):
    monkeypatch.setitem(setups.EXTENTS, Size.quick, setups.Extent(4, 1, 1))
    study = Collectives()
    outcome = study.run(tmp_path / "study", Size.quick)
    table = pl.read_csv(tmp_path / "study" / "collectives.csv")
    assert len(table) == len(setups.WAYS) * len(setups.STATES) * len(setups.COLLECTIVES)
    assert table["ratio"].min() >= 1
    assert all(row.verdict is not Verdict.not_measured and "not finished" not in row.note for row in outcome.rows)
