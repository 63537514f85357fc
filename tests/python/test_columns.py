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
    texts = {column["name"] for column in TABLES[name] if column["kind"] == "text"} - {"path"}
    shown = {column: pl.String if column in texts else kind for column, kind in kinds.items()}
    assert {column: kind for column, kind in frame.schema.items() if column in kinds} == shown


def test_samples_have_the_declared_metrics(engine_results):
    assert set(engine_results.series()["metric"]) <= {metric["name"] for metric in TABLES["metrics"]}


def test_a_class_in_a_summary_has_the_declared_keys(engine_results):
    for summary in engine_results.summaries():
        for entries in summary["classes"].values():
            assert sorted(entries) == TABLES["classes"]
