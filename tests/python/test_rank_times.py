"""The figure `rank-times`: the time of each rank of a step."""

from __future__ import annotations

import polars as pl
import pytest

from weft import Results, Scenario, figure, plot
from weft.figures import rank_times

SCENARIO = """
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 2
hosts_per_leaf = 2
rate = "10 Gbps"

[traffic.training]
layers = 2
hidden = 64
heads = 4
kv_heads = 4
ffn = 128
sequence = 64
tensor = 2
data = 2
micro_batches = 2
flops = 100e9
steps = 2

[scheme]
name = "ecmp"

[run]
duration = "1 s"

[sweep]
"scheme.name" = ["ecmp", "spray"]
"fabric.rate" = ["10 Gbps", "1 Gbps"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return Scenario.from_text(SCENARIO).run(tmp_path_factory.mktemp("ranks") / "results", jobs=1)


def test_the_bars_are_the_times_of_the_longest_step_of_each_scheme(results):
    assert len(results.points) == 2
    for point in results.points:
        rows, notes = rank_times.data(results, point, {"ecmp": "ECMP"})
        assert list(dict.fromkeys(row["panel"] for row in rows)) == ["ECMP", "spray"]
        for panel, scheme, note in zip(("ECMP", "spray"), ("ecmp", "spray"), notes, strict=True):
            of_run = (pl.col("point") == point) & (pl.col("scheme") == scheme)
            step = results.steps().filter(of_run).sort("completion_ps").row(-1, named=True)
            times = results.rank_times().filter(of_run, pl.col("job") == step["job"])
            for part, column in rank_times.PARTS.items():
                bars = [row["time"] for row in rows if row["panel"] == panel and row["scheme"] == part]
                assert bars == [value / 1e12 for value in times[column]]
            shown = sum(row["time"] for row in rows if row["panel"] == panel and row["host"] == "h0")
            assert shown == pytest.approx(step["completion_ps"] / 1e12)
            assert note == f"{panel}: training, round {step['round']}, seed 1"


def test_of_many_ranks_an_evenly_spread_part_is_drawn(results, monkeypatch):
    monkeypatch.setattr(rank_times, "_MOST", 2)
    rows, notes = rank_times.data(results, results.points[0], {})
    assert list(dict.fromkeys(row["host"] for row in rows)) == ["h0", "h2"] and notes[0].endswith("one of 2 ranks")


def test_there_is_a_file_for_each_point_with_a_legend_of_the_parts(results, tmp_path):
    files = {file.name for file in plot(results.path, tmp_path, ("svg",), only=["rank-times"])}
    assert files == {"rank-times-rate-10-Gbps.svg", "rank-times-rate-1-Gbps.svg"}
    drawn = figure(results, "rank-times", at=results.points[0], labels={"compute": "Computing"}).svg
    assert all(
        f">{text}<" in drawn for text in ("Computing", "exposed communication", "idle", "ecmp", "spray", "host", "h3")
    )
