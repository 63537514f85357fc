"""A small real run of the benchmark of commands that read results."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benches.results.__main__ import QUICK
from benches.results.synthetic import make
from quick_bench import ROOT, quick_run
from weft import report


def test_the_peak_memory_of_a_command_is_that_of_the_command():
    # From a small process: Linux counts the memory of the process that starts a command as the command's.
    program = (
        "import json, sys; from benches.command import timed; "
        "print(json.dumps(timed([sys.executable, '-c', \"bytearray(b'x') * 200_000_000\"])))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    status, figures = json.loads(done.stdout)
    assert status == 0
    assert 200 < figures["peak_mb"] < 260


def test_the_benchmark_measures_every_command_without_and_with_aggregates(tmp_path):
    figures, shown = quick_run(tmp_path, "results")
    assert figures["runs"] == 16
    # A sweep as that of a quick run.
    make(tmp_path / "sweep", *QUICK, print)
    assert figures["page_mb"] == pytest.approx(report(tmp_path / "sweep").stat().st_size / 1e6, rel=0.01)
    for name in ("summary", "report", "query"):
        assert f"weft {name}" in shown
        for state in ("first", "again"):
            assert figures["commands"][name][state]["peak_mb"][0] > 50
