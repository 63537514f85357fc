"""A small real run of the benchmark of commands that read results."""

from __future__ import annotations

from quick_bench import quick_run


def test_the_benchmark_measures_every_command_without_and_with_aggregates(tmp_path):
    figures, shown = quick_run(tmp_path, "results", limit_s=300)
    assert figures["runs"] == 16
    assert 0.5 < figures["page_mb"] < 6
    for name in ("summary", "report", "query"):
        assert f"weft {name}" in shown
        for state in ("first", "again"):
            assert figures["commands"][name][state]["peak_mb"][0] > 50
