"""Cells without an interval in tables: their differences stand on the line of the others'."""

from __future__ import annotations

import re

import polars as pl
import pytest

import sample
from weft import report
from weft.results import Results

SWEEP = {"scheme.name": ["ecmp", "spray"]}


@pytest.fixture(scope="module")
def uneven(tmp_path_factory) -> Results:
    """The share of packets out of order is the same under every seed of a scheme; completion times differ."""
    directory = sample.write_results(tmp_path_factory.mktemp("uneven") / "r", SWEEP, flows=100, baseline="ecmp")
    for run in Results(directory).finished:
        path = run.path / "flows.parquet"
        share = {"out_of_order": 2 if run.scheme == "spray" else 1, "first_transmissions_received": 10}
        values = (pl.lit(value, pl.Int64).alias(name) for name, value in share.items())
        pl.read_parquet(path).with_columns(values).write_parquet(path)
    return Results(directory)


def test_a_difference_is_on_the_line_of_the_others_in_the_terminal(weft, uneven, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    lines = weft("summary", uneven.path).stdout.splitlines()
    (at,) = [place for place, line in enumerate(lines) if re.search(r"^mouse.*ecmp", line)]
    row = next(place for place in range(at, len(lines)) if "spray" in lines[place])
    assert "±" in lines[row + 1] and not re.search(r"[+−]|n\.s\.", lines[row + 1]), lines[row : row + 3]
    assert "±" not in lines[row + 2] and "+10.0 points" in lines[row + 2]


def test_a_difference_is_on_the_line_of_the_others_on_pages(uneven, tmp_path):
    page = report(uneven, tmp_path / "page.html").read_text()
    notebook = uneven.compare()._repr_html_()
    assert len(re.findall(r'<small>&nbsp;</small><small class="diff[^>]*>\+10\.0 points', page)) == 3, "of each class"
    assert not re.search(r'</b><small class="diff', page)
    assert len(re.findall(r"></span><br><span [^>]*>\+10\.0 points", notebook)) == 3
