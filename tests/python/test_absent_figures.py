"""Figures say why they do not exist for some results, and what the labels of their legends mean."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import sample
from test_steadiness import EVERY, REASON, results
from weft import OutputError, figure, plot

SMALL = {"flows": 60, "samples": 4}


def changed(path, **columns):
    for file in path.glob("runs/*/flows.parquet"):
        pl.read_parquet(file).with_columns(**columns).write_parquet(file)
    return path


@pytest.mark.parametrize(
    ("columns", "name", "reason"),
    [
        ({"measured": pl.lit(False)}, "fct-mean", "No flow started in the measurement window"),
        ({"measured": pl.lit(False)}, "fct-cdf", "No flow started in the measurement window"),
        ({"fct_ps": pl.lit(None, pl.Int64)}, "fct-mean", "No flow that counts finished"),
        ({}, "fct-p999", "No class has 1,001 finished flows in every run of a scheme"),
        ({}, "collective-time", "No run has a collective"),
        ({}, "rank-times", "No round of a collective, step or trace was completed"),
    ],
)
def test_a_figure_without_data_says_why(tmp_path, columns, name, reason):
    path = changed(sample.write_results(tmp_path / "r", seeds=2, **SMALL), **columns)
    with pytest.raises(OutputError, match=f"there is no figure `{name}`: {reason}"):
        figure(path, name)
    if name == "fct-mean":
        with pytest.warns(UserWarning, match=reason) as said:
            plot(path, tmp_path / "figures", ("svg",))
        assert said[0].filename == __file__


def test_complete_results_have_all_figures_without_a_warning(tmp_path):
    path = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp", "spray"]}, seeds=2, **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "fct-mean.svg" in {file.name for file in plot(path, tmp_path / "figures", ("svg",))}


def test_the_label_of_a_legend_is_explained_once(tmp_path):
    marks = {run: state for run, state in EVERY.items() if run[0] != "spray" and run[1] == 0.4}
    drawn = figure(results(tmp_path, marks, **SMALL), "fct-cdf", at="load 0.4").svg
    assert "ecmp (unstable)" in drawn and "single_path (unstable)" in drawn
    assert drawn.count(f">(unstable) in 3 of 3 runs: {REASON}<") == 1
    steady = figure(results(tmp_path / "steady", {}, **SMALL), "fct-cdf", at="load 0.4").svg
    assert "unstable" not in steady
