"""Sweeps on a real Dask cluster: processes on the loopback interface, some of which are killed."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Client
from distributed.client import AllExit

from dask_processes import Run, results
from scripts.install_editable import write_launcher
from waiting import PATIENCE_S, until
from weft import __version__, _weft
from weft.cluster.connection import Cluster
from weft.cluster.sweep import Sweep
from weft.cluster.transfer import UnsoundError, check_sizes
from weft.scenario import Scenario
from weft.studies.base import RunOptions, Simulated

SLOW = '"3 s"'
"""Duration of runs that take about a second."""


def test_a_sweep_on_two_workers_has_the_bytes_of_one_machine_and_resumes(scenario, local, weft, tmp_path):
    file, out = scenario(duration='"1 s"', seeds=3), tmp_path / "out"
    done = weft("run", file, "-o", out, "--dask", "local:2", "--seeds", 2)
    assert done.exit_code == 0, done.output
    assert "4 runs in" in done.output
    events: list[dict[str, Any]] = []
    with Cluster("local:2") as cluster:
        options = RunOptions(1, progress=events.append, cluster=cluster)
        Simulated("part", Scenario.from_file(file)).carry_out(out, options)
    kinds = [event["event"] for event in events if event["event"] not in ("progress", "workers")]
    assert kinds == ["sweep"] + ["run_skipped"] * 4 + ["run_done"] * 2
    assert {"event": "workers", "number": 2} in events
    # One run at a time, as asked for, with progress.
    runs = [event["run_id"] for event in events if event["event"] == "progress"]
    assert len([run for run, _ in groupby(runs)]) == len(set(runs)) == 2
    listed = {"sweep.json": (out / "sweep.json").read_bytes()}
    assert results(out) == results(local(file)) | listed
    costs = json.loads((out / "performance.json").read_text())
    assert sorted(cost["run"] for cost in costs) == sorted(path.name for path in out.glob("runs/*"))
    assert all(cost["packet_hops"] > 0 and cost["cpu_seconds"] > 0 for cost in costs)


def test_files_that_only_some_results_have_are_fetched(local, weft, tmp_path):
    file, out = tmp_path / "rounds.toml", tmp_path / "out"
    file.write_text(
        '[fabric]\nkind = "fat-tree"\nk = 4\n[traffic]\ncollective = "all-to-all"\nbytes = "100 kB"\n'
        '[scheme]\nname = "ecmp"\n[run]\nduration = "10 ms"\n'
    )
    done = weft("run", file, "-o", out, "--dask", "local:1")
    assert done.exit_code == 0, done.output
    assert len(list(out.glob("runs/*/critical_path.parquet"))) == 1
    assert results(out) == results(local(file))
    always, more = (dict.fromkeys(names, 1) for names in _weft.result_files())
    assert check_sizes(always) == always and check_sizes(always | more) == always | more
    for files in (more, always | {"other.parquet": 1}):
        with pytest.raises(UnsoundError, match="the files of a result are"):
            check_sizes(files)


def test_the_launcher_of_this_directory_starts_workers_of_this_machine(scenario, tmp_path):
    launcher, out = tmp_path / "weft", tmp_path / "out"
    write_launcher(launcher)
    run = Run(scenario(seeds=1), out, "local:1", weft=[str(launcher)])
    assert run.wait() == 0, run.text
    assert "2 runs in" in run.text


def test_input_files_travel_once_to_each_worker_by_the_hash_of_their_contents(dask, scenario, local, weft, tmp_path):
    sizes = tmp_path / "sizes.cdf"
    sizes.write_text("1000 0\n60000 1\n" + f"# {'x' * 998}\n" * 5_000)
    file = scenario(sizes=f'{{ cdf = "{sizes.name}" }}', duration='"200 ms"')
    worker = dask.worker("w1")
    run = Run(file, tmp_path / "out", dask.address)
    kept = hashlib.sha256(sizes.read_bytes()).hexdigest()
    run.until("the input file", lambda: worker.files(f"inputs/{kept}"))
    assert run.wait() == 0, run.text
    assert results(tmp_path / "out") == results(local(file))
    with Client(dask.address) as client:
        events = [said for topic in client.get_events().values() for _, said in topic]
    asked = [said for said in events if isinstance(said, dict) and said.get("need") == kept]
    assert len(asked) == 1
    until("the worker to remove its files", lambda: worker.is_clean)


def test_four_workers_of_which_two_are_killed_give_the_bytes_of_one_machine(dask, scenario, local, tmp_path):
    file, out = scenario(duration=SLOW, seeds=3), tmp_path / "out"
    workers = [dask.worker(f"w{number}") for number in range(4)]
    dask.joined(*workers)
    run = Run(file, out, str(dask.file))
    for worker in workers[:2]:
        run.until(f"a run on {worker.name}", lambda worker=worker: worker.is_running)
        worker.kill()
    assert run.wait() == 0, run.text
    assert "has left: others repeat its unfinished runs" in run.text
    assert results(out) == results(local(file))
    until("the workers to remove their files", lambda: all(worker.is_clean for worker in workers[2:]))


def large(file: Path) -> Path:
    """A scenario whose results have tens of megabytes, by samples of every microsecond."""
    file.write_text(file.read_text() + '[measure]\ninterval = "1 us"\n')
    return file


def test_a_run_is_repeated_if_its_worker_dies_before_its_result_is_fetched(dask, scenario, local, tmp_path):
    file, out = scenario(duration=SLOW, seeds=1), tmp_path / "out"
    first, second = dask.worker("first"), dask.worker("second")
    dask.joined(first, second)
    run = Run(file, out, dask.address)
    run.until("runs", lambda: first.is_running and second.is_running)
    run.signal(signal.SIGSTOP)
    until("the end of a run", lambda: not first.is_running)
    first.kill()
    run.signal(signal.SIGCONT)
    assert run.wait() == 0, run.text
    assert results(out) == results(local(file))


def preload(directory: Path, code: str) -> tuple[str, str]:
    """Options with which a worker executes code before it starts."""
    path = directory / "preload.py"
    path.write_text(code)
    return "--preload", str(path)


def test_a_run_is_repeated_if_its_worker_dies_while_its_result_is_fetched(dask, scenario, local, tmp_path):
    file, out = scenario(duration='"100 ms"', seeds=1), tmp_path / "out"
    # Hands out the first file only, of a result that it takes for a large one.
    stuck = "import itertools, threading\nfrom weft.cluster import host\n"
    stuck += "host.INLINE, read, pieces = 0, host.Host.read, itertools.count()\n"
    stuck += "host.Host.read = lambda *given: (next(pieces) and threading.Event().wait()) or read(*given)\n"
    worker = dask.worker("first", *preload(tmp_path, stuck))
    run = Run(file, out, dask.address)
    run.until("the first piece of a result", lambda: list(out.glob("runs/.*.partial/*")))
    worker.kill()
    assert list(out.glob("runs/[!.]*")) == []
    dask.worker("second")
    assert run.wait() == 0, run.text
    assert results(out) == results(local(file))


@pytest.mark.parametrize(("error", "reported"), [(AllExit, 0), (OSError, 1)])
def test_tasks_that_dask_leaves_behind_are_not_reported_and_others_are(caplog, error, reported):
    cluster = Cluster("local:1")

    async def left_behind():
        raise error

    async def leave():
        task = asyncio.ensure_future(left_behind())
        await asyncio.sleep(0)
        assert task.done()

    cluster._loop.run_until_complete(leave())
    gc.collect()
    cluster._loop.close()
    said = [record.getMessage() for record in caplog.records if "never retrieved" in record.getMessage()]
    assert len(said) == reported


def test_after_a_dead_scheduler_the_error_says_so_and_another_run_completes_the_directory(
    own_dask, scenario, local, weft, tmp_path
):
    file, out = scenario(duration=SLOW, seeds=3), tmp_path / "out"
    workers = [own_dask.worker("w1"), own_dask.worker("w2")]
    run = Run(file, out, own_dask.address)
    run.until("two results", lambda: len(list(out.glob("runs/*/summary.json"))) >= 2)
    own_dask.scheduler.kill()
    assert run.wait() == 1
    assert f"lost the connection to the scheduler at {own_dask.address}" in run.text
    assert "of 6 runs finished and readable in" in run.text
    assert "weft run" in run.text
    for worker in workers:
        worker.wait()
        assert worker.is_clean
    there = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/summary.json")}
    assert 2 <= len(there) < 6
    done = weft("run", file, "-o", out)
    assert done.exit_code == 0, done.output
    assert {path: path.stat().st_mtime_ns for path in there} == there
    assert results(out) == results(local(file))


OTHER_VERSION = 'import weft\n\nweft.__version__ = "0.0.9"\n'
"""What makes a worker report another version."""


def test_a_worker_of_another_version_is_refused_by_name_and_does_no_run(dask, scenario, local, weft, tmp_path):
    file, out = scenario(duration=SLOW), tmp_path / "out"
    old = dask.worker("old", *preload(tmp_path, OTHER_VERSION))
    dask.joined(old)
    refused = f"has Weft 0.0.9, this is {__version__}"
    done = weft("run", file, "-o", out, "--dask", dask.address)
    assert done.exit_code == 2
    assert f"no worker of {dask.address} can carry out runs: worker old (tcp://" in done.output
    assert refused in done.output
    assert not out.exists()

    new = dask.worker("new")
    dask.joined(new)
    run = Run(file, out, dask.address)
    run.until("a run", lambda: new.is_running)
    later = dask.worker("later", *preload(tmp_path, OTHER_VERSION))
    run.until("the refusal", lambda: "worker later (tcp://" in run.text)
    assert run.wait() == 0, run.text
    assert "worker old (tcp://" in run.text
    assert run.text.count(refused) == 2
    assert results(out) == results(local(file))
    assert old.is_clean and later.is_clean


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_worker_without_disk_space_is_named_and_its_run_is_tried_elsewhere(dask, scenario, local, tmp_path):
    file, out = scenario(duration='"300 ms"', seeds=1), tmp_path / "out"
    small = tmp_path / "full" / "scratch"
    mount = f'mount -t tmpfs -o size=64k tmpfs {small} && exec "$@"'
    full = dask.worker("full", wrapped=("unshare", "--mount", "sh", "-c", mount, "sh"))
    dask.joined(full)
    alone = Run(file, out, dask.address)
    assert alone.wait() == 1
    assert "can carry out runs: worker full (tcp://" in alone.text
    assert f"has no disk space left in {small}" in alone.text
    assert "0 of 2 runs finished" in alone.text

    roomy = dask.worker("roomy")
    dask.joined(roomy)
    run = Run(file, out, dask.address)
    assert run.wait() == 0, run.text
    assert "worker full (tcp://" in run.text
    assert f"has no disk space left in {small}" in run.text
    assert "it gets no runs" in run.text
    seen = Path(f"/proc/{full.popen.pid}/root{small}")
    assert list(seen.iterdir()) != []
    assert [path for path in seen.rglob("weft-*/**/*") if path.is_file()] == []
    assert results(out) == results(local(file))


def test_ctrl_c_stops_the_workers_runs_and_keeps_finished_ones(dask, scenario, tmp_path):
    file, out = scenario(duration='"30 s"', seeds=1), tmp_path / "out"
    worker = dask.worker("w1")
    dask.joined(worker)
    run = Run(file, out, dask.address)
    run.until("a run", lambda: worker.is_running)
    run.signal(signal.SIGINT)
    assert run.wait() == 130
    assert "Stopped: 0 of 2 runs finished" in run.text
    assert f"--dask {dask.address}" in run.text
    until("the worker to stop", lambda: worker.is_clean)
    assert results(out).keys() == {"scenario.toml", "sweep.json"}


def test_ctrl_c_stops_a_program_that_uses_polars(dask, scenario, tmp_path):
    file, worker = scenario(duration='"30 s"', seeds=1), dask.worker("w1")
    dask.joined(worker)
    program = (
        "import polars, weft\nfrom weft.cluster import Cluster\n"
        f"with Cluster({dask.address!r}) as cluster:\n"
        f"    weft.Scenario.from_file({str(file)!r}).run({str(tmp_path / 'out')!r}, cluster=cluster)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    until("a run", lambda: worker.is_running)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode != 0 and said.endswith("KeyboardInterrupt\n"), said
    until("the worker to stop", lambda: worker.is_clean)


def test_progress_of_a_run_is_dropped_after_its_end():
    events: list[dict[str, Any]] = []
    workers = SimpleNamespace(hears=lambda worker: True, usable={})
    directory = SimpleNamespace(inputs=list)
    sweep = Sweep(None, workers, "session", None, directory, events.append)
    said = (0.0, {"worker": "w", "key": "key", "fraction": 0.5})
    for name, end in (("a", lambda point: sweep._done(point, {})), ("b", lambda point: sweep._failed(point, "full"))):
        sweep._tasks["key"] = point = SimpleNamespace(id=name, label=name)
        asyncio.run(sweep._hear(said))
        end(point)
        asyncio.run(sweep._hear(said))
    sweep._tell()
    heard = [(event["event"], event["run_id"]) for event in events if "run_id" in event]
    assert heard == [("progress", "a"), ("run_done", "a"), ("progress", "b"), ("run_failed", "b")]


def test_ctrl_c_ends_the_workers_of_this_machine(scenario, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    out = tmp_path / "out"
    run = Run(scenario(duration='"30 s"', seeds=1), out, "local:1")
    run.until("a run", lambda: list(tmp_path.glob("weft-*/**/.result.*.partial")))
    run.signal(signal.SIGINT)
    assert run.wait() == 130
    assert "Stopped: 0 of 2 runs finished" in run.text
    until("the scratch directory to be removed", lambda: not list(tmp_path.glob("weft-*")))
    until("the workers to end", lambda: not run.alive)


def test_a_command_that_is_killed_leaves_no_run_and_no_file_on_a_worker(dask, scenario, tmp_path):
    (tmp_path / "sizes.cdf").write_text("60000 1\n")
    file, out = scenario(duration='"30 s"', seeds=1, sizes='{ cdf = "sizes.cdf" }'), tmp_path / "out"
    worker = dask.worker("w1", *preload(tmp_path, "from weft.cluster import host\n\nhost._IDLE_SECONDS = 1\n"))
    dask.joined(worker)
    run = Run(file, out, dask.address)
    run.until("a run", lambda: worker.is_running)
    assert worker.files("inputs/*")
    run.kill()
    until("the worker to stop and to remove its files", lambda: worker.is_clean)


def test_a_run_that_kills_every_worker_fails_with_a_reason(dask, scenario, weft, tmp_path):
    deadly = "import os\nfrom weft.cluster import host\n\nhost._runs = lambda *_: os._exit(1)\n"
    worker = dask.worker("w1", *preload(tmp_path, deadly), nanny=True)
    dask.joined(worker)
    done = weft("run", scenario(seeds=1), "-o", tmp_path / "out", "--dask", dask.address)
    assert done.exit_code == 1
    assert "it was lost 4 times, the last time because its worker died" in done.output
    assert "2 runs failed; 0 of 2 runs finished" in done.output


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1"),
        ("nowhere", "`nowhere` is neither a Dask address nor a scheduler file"),
        ("tcp://host", "`tcp://host` is neither"),
        ("tcp://host:70000", "`tcp://host:70000` is neither"),
        ("local:0", "`local:0`: the number of workers must be 1 to 1024"),
        ("local:many", "`local:many`: the number of workers must be"),
        ("scenario.toml", "scenario.toml is not a scheduler file"),
    ],
)
def test_an_address_without_a_scheduler_is_a_clear_error_and_nothing_is_written(
    address, said, scenario, weft, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = weft("run", scenario(), "-o", "out", "--dask", address)
    assert done.exit_code == 2
    assert f"error: {said}" in done.output
    assert "try: " in done.output
    assert not Path("out").exists()


def test_without_dask_the_error_names_what_to_install(scenario, tmp_path):
    hidden = "import sys; sys.modules['distributed'] = None; from weft.cli import main; main()"
    command = [sys.executable, "-c", hidden, "run", str(scenario()), "-o", str(tmp_path / "out"), "--dask", "local:1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "try: pip install 'weft[cluster]'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_more_threads_than_a_worker_has_are_refused(dask, scenario, weft, tmp_path):
    worker = dask.worker("narrow")
    dask.joined(worker)
    done = weft("run", scenario(), "-o", tmp_path / "out", "--dask", dask.address, "--threads", 2)
    assert done.exit_code == 2
    assert "worker narrow" in done.output
    assert "has 1 thread, a run needs 2 (--threads)" in done.output


def peak(pid: int) -> int:
    """Peak memory of a process in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


@pytest.mark.long
def test_a_large_result_is_never_in_memory_as_a_whole(dask, scenario, tmp_path):
    file, out = large(scenario(duration='"1 s"', seeds=1)), tmp_path / "out"
    worker = dask.worker("w1")
    run = Run(file, out, dask.address)
    run.until("a run", lambda: worker.is_running)
    pids = [worker.popen.pid, run.popen.pid, dask.scheduler.popen.pid]
    before = [peak(pid) for pid in pids]
    # Parquet files are written slowly by libraries that are not optimized.
    run.until("a result", lambda: list(out.glob("runs/[!.]*")), patience_s=4 * PATIENCE_S)
    after = [peak(pid) for pid in pids]
    size = sum(len(content) for name, content in results(out).items() if name.startswith("runs/"))
    run.kill()
    assert size > 32 << 20
    # Dask copies the pieces of 4 MiB several times.
    assert max(now - then for now, then in zip(after, before, strict=True)) < 24 << 20


@pytest.mark.long
def test_a_result_larger_than_the_workers_memory_is_fetched(dask, scenario, local, tmp_path):
    limit = 160 << 20
    file, out = large(scenario(duration='"5 s"', seeds=1)), tmp_path / "out"
    dask.worker("small", "--memory-limit", str(limit), nanny=True)
    run = Run(file, out, dask.address)
    assert run.wait(600) == 0, run.text
    assert next(out.glob("runs/*/series.parquet")).stat().st_size > limit
    assert results(out) == results(local(file))
