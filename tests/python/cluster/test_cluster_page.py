"""The examples of docs/cluster.md: commands are accepted, the program for Slurm runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from distributed.cli import dask_scheduler, dask_worker

from dask_processes import LOOPBACK
from tiny import TINY
from waiting import PATIENCE_S
from weft.results import Results

PAGE = (Path(__file__).parents[3] / "docs" / "cluster.md").read_text()

# Like the real one, it keeps a copy: dask-jobqueue deletes the script as soon as `sbatch` has ended.
SBATCH = """\
#!/bin/sh
cp "$1" "$SLURM_JOBS.sh"
setsid sh "$SLURM_JOBS.sh" > "$SLURM_JOBS.log" 2>&1 &
echo $! > "$SLURM_JOBS"
echo "Submitted batch job 1"
"""
SCANCEL = """\
#!/bin/sh
kill -- "-$(cat "$SLURM_JOBS")"
"""


def test_dask_accepts_the_commands_of_the_page():
    lines = re.findall(r"^dask (scheduler|worker) (.*)$", PAGE, re.M)
    assert [name for name, _ in lines] == ["scheduler", "worker"]
    for (_, options), program in zip(lines, (dask_scheduler, dask_worker), strict=True):
        assert program.main.make_context("dask", shlex.split(options))


def test_the_program_for_slurm_runs_where_sbatch_starts_jobs_on_this_machine(tmp_path):
    pytest.importorskip("dask_jobqueue", reason="the Python package dask-jobqueue is not installed")
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.S | re.M)
    for value, small in (("cores=8", "cores=2"), ("processes=8", "processes=2"), ("jobs=4", "jobs=1")):
        assert value in block
        block = block.replace(value, small)
    (tmp_path / "program.py").write_text(block)
    (tmp_path / "mine.toml").write_text(TINY)
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOBS": str(tmp_path / "jobs")}
    options = {"host": "127.0.0.1", "dashboard": False, "dashboard_address": "127.0.0.1:0"}
    environment["DASK_JOBQUEUE__SLURM__SCHEDULER_OPTIONS"] = repr(options)
    environment["DASK_JOBQUEUE__SLURM__WORKER_EXTRA_ARGS"] = repr([*LOOPBACK])
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert "'run_done'" in done.stdout
    assert len(Results(tmp_path / "results" / "mine").finished) == 4
