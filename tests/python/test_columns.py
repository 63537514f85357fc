"""The files of a run and the frames of Python have the columns that are declared."""

from __future__ import annotations

import json

import polars as pl
import pytest

from weft import _weft
from weft.studies import layout

TABLES = json.loads(_weft.result_tables())


@pytest.mark.parametrize(("name", "kinds"), [("flows", layout.FLOWS), ("series", layout.SERIES)])
def test_a_file_and_its_frame_have_the_declared_columns(name, kinds, engine_results):
    stored = pl.read_parquet(engine_results.finished[0].path / f"{name}.parquet")
    assert list(stored.schema.items()) == list(kinds.items())
    optional = {column["name"] for column in TABLES[name] if column["or_null"]}
    assert {column.name for column in stored if column.null_count()} <= optional
    frame = getattr(engine_results, name)()
    texts = {column["name"] for column in TABLES[name] if column["kind"] == "text"}
    shown = {column: pl.String if column in texts else kind for column, kind in kinds.items()}
    assert {column: kind for column, kind in frame.schema.items() if column in kinds} == shown


def test_samples_have_the_declared_metrics(engine_results):
    assert set(engine_results.series()["metric"]) <= {metric["name"] for metric in TABLES["metrics"]}


def test_a_class_in_a_summary_has_the_declared_keys(engine_results):
    for summary in engine_results.summaries():
        for entries in summary["classes"].values():
            assert sorted(entries) == TABLES["classes"]


UNITS = ("_ps", "_s", "_bps", "bytes", "_share", "_low", "_high", "_diff", "_ratio", "_p")
"""Ends of names: units, and the parts of an estimate, which has the unit of its mean."""
UNITLESS = {
    "numbers": {"flow", "sport", "dport", "dscp", "seed"},
    "counts": {"hops", "subflows", "packets", "packets_sent", "retransmissions", "timeouts", "out_of_order", "drops"}
    | {"first_transmissions_received", "ecn_marks", "moves", "marks", "flows", "finished", "seeds", "compared"}
    | {"baseline_unfinished", "trimmed", "pause_frames", "broadcasts", "explorations"},
    "ratios": {"slowdown", "mean_slowdown", "utilisation"},
    "by its metric": {"value"},
}


def test_every_column_with_a_unit_has_it_at_the_end_of_its_name(engine_results):
    frames = (engine_results.flows(), engine_results.series(), engine_results.links(), engine_results.summary())
    numbers = {name for frame in frames for name, kind in frame.schema.items() if kind.is_numeric()}
    named = {name for name in numbers if name.endswith(UNITS)}
    assert {"fct_s", "start_ps", "bytes", "throughput_bps", "rate_bps", "delay_ps", "mean_fct_s_high"} <= named
    assert numbers - named - set().union(*UNITLESS.values()) == set()
    pandas = pytest.importorskip("pandas")
    for frame in frames:
        converted = frame.to_pandas()
        assert isinstance(converted, pandas.DataFrame)
        assert list(converted.columns) == frame.columns
