"""`weft bench --against htsim` where htsim is missing, is another program, fails, or does other work than Weft."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from waiting import PATIENCE_S, until
from weft.against import cases

CASE = "roce-dcqcn-1024"
"""The case that takes Weft least time."""

STAND_IN = f"""#!{sys.executable}
import os, pathlib, sys, time
if sys.argv[1:] == ["-h"]:
    print("Unknown parameter -h\\nUsage htsim [-tm traffic_matrix_file]")
    sys.exit(1)
"""
"""The usage of htsim, before something that is not htsim."""

FAILS = STAND_IN + 'print("Loading\\nMismatch in connection count")\nsys.exit(3)\n'
SAYS_NOTHING = STAND_IN
DIFFERS = (
    STAND_IN
    + """
try:
    for number in range(896):
        print(f"Flow {number} finished at 100 total bytes 60")
    print("New: 0 Rtx: 0", flush=True)
except OSError:
    os._exit(0)  # silenced
"""
)
STARTS_ANOTHER = "sleep 600 &\necho $$ $! > $STARTED\nwait\n"
USAGE_IN_SHELL = '[ "$1" = -h ] && echo "Usage htsim [-tm traffic_matrix_file]" && exit 1\n'
HANGS = f"#!/bin/sh\n{USAGE_IN_SHELL}echo Loading\n{STARTS_ANOTHER}"
HANGS_AT_ITS_USAGE = f"#!/bin/sh\n{STARTS_ANOTHER}"
SLEEPS = STAND_IN + "pathlib.Path(os.environ['STARTED']).write_text(str(os.getpid()))\ntime.sleep(600)\n"


@pytest.fixture
def htsim(tmp_path):
    """Writes a program into a new directory, which it returns."""

    def write(text, name="htsim_roce", mode=0o755):
        program = tmp_path / "htsim" / "build" / "datacenter" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text)
        program.chmod(mode)
        return tmp_path / "htsim"

    return write


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--against", "htsim"], ["--against htsim needs the directory", "--htsim DIR"]),
        (["--htsim", "."], ["--htsim has an effect only with --against htsim"]),
        (["--rounds", "3"], ["--rounds has an effect only with --against htsim"]),
        (["--rounds", "5"], ["--rounds has an effect only with --against htsim"]),
        (["--timeout", "5"], ["--timeout has an effect only with --against htsim"]),
        ([CASE], [f"unknown case `{CASE}`", "others with --against htsim"]),
        (["--against", "htsim", "--htsim", "nowhere"], ["nowhere does not exist", "a checkout of uet-htsim"]),
        (["--against", "htsim", "--htsim", __file__], ["is not a directory"]),
        (["--against", "htsim", "--htsim", ".", "--threads", "2"], ["compares whole runs on one thread"]),
        (["--against", "htsim", "--htsim", ".", "--model"], ["compares whole runs on one thread"]),
        (["--against", "htsim", "--htsim", ".", "nope"], ["unknown case `nope`", "uec-permutation-1024"]),
        (["--against", "htsim", "--htsim", "."], ["has no htsim_uec or htsim_roce", "cmake --build build"]),
        (["--against", "htsim", "--htsim", ".", CASE], ["has no htsim_roce", "--target htsim_roce"]),
    ],
)
def test_wrong_options_are_refused_with_the_right_ones(weft, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    done = weft("bench", *options)
    assert done.exit_code == 2
    assert all(words in done.stderr for words in said), done.stderr


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        (FAILS, 0o644, ["htsim_roce is not executable", "chmod +x"]),
        ("#!/bin/sh\necho hello\n", 0o755, ["does not print the usage of htsim_roce: it is another program"]),
        ("not a program", 0o755, ["cannot be run: Exec format error"]),
    ],
)
def test_another_program_is_refused(weft, htsim, text, mode, said):
    done = weft("bench", CASE, "--against", "htsim", "--htsim", htsim(text, mode=mode))
    assert done.exit_code == 2
    assert all(words in done.stderr for words in said), done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FAILS, "htsim_roce failed with exit code 3\n    Loading\n    Mismatch in connection count"),
        (SAYS_NOTHING, "htsim_roce printed no line `New: … Rtx: …`: it did not reach its end"),
    ],
)
def test_a_program_that_fails_ends_the_comparison_with_its_last_lines(weft, htsim, text, said):
    done = weft("bench", CASE, "--against", "htsim", "--htsim", htsim(text), "--rounds", "1")
    assert (done.exit_code, said in done.stderr) == (1, True), done.stderr


def test_cases_of_a_program_that_is_not_built_are_left_out_with_a_warning(weft, htsim):
    directory = htsim(FAILS, "htsim_uec")
    done = weft("bench", "--against", "htsim", "--htsim", directory, "--rounds", "1")
    assert (done.exit_code, "htsim_uec failed with exit code 3" in done.stderr) == (1, True)
    assert "has no htsim_roce: its cases are left out" in done.stderr


def test_ratios_of_runs_that_differ_are_marked(weft, htsim):
    directory = htsim(DIFFERS)
    done = weft("bench", CASE, "--against", "htsim", "--htsim", directory, "--rounds", "1", "--json")
    (row,) = json.loads(done.stdout)
    reason = "the last completion differs by +"
    assert (done.exit_code, f"not comparable: {CASE}\n" in done.stderr) == (1, True), done.stderr
    assert [found.startswith(reason) for found in row["reasons"]] == [True]
    assert row["comparable"] is False
    assert row["packets_deviation"] == 0
    assert row["last_deviation"] > 0.3
    assert row["htsim"]["finished"] == row["flows"] == 896
    assert row["weft_engine_seconds"] < row["weft_seconds"]
    assert row["ratio_min"] == row["ratio"] == pytest.approx(row["htsim_seconds"] / row["weft_seconds"])
    shown = weft("bench", CASE, "--against", "htsim", "--htsim", directory, "--rounds", "1")
    assert (shown.exit_code, f"not comparable: {CASE}\n" in shown.stderr) == (1, True), shown.stderr
    assert f"†: not comparable:\n  {CASE}: {reason}" in shown.stdout


def test_reasons_of_a_case_are_printed_if_a_later_one_fails(weft, htsim, tmp_path, monkeypatch):
    first = cases.CASES[CASE]
    monkeypatch.setattr(cases, "CASES", {CASE: first, "later": replace(first, name="later")})
    # A round has two runs of htsim, one of them silenced.
    runs = tmp_path / "runs"
    fails_later = f"""
with open({str(runs)!r}, "a") as file:
    file.write(".")
if os.path.getsize({str(runs)!r}) > 2:
    sys.exit(3)
"""
    directory = htsim(STAND_IN + fails_later + DIFFERS.removeprefix(STAND_IN))
    done = weft("bench", "--against", "htsim", "--htsim", directory, "--rounds", "1")
    assert (done.exit_code, "later: " in done.stderr, "failed with exit code 3" in done.stderr) == (1, True, True)
    assert f"†: not comparable:\n  {CASE}: the last completion differs by +" in done.stdout


def has_ended(pid):
    """Whether no process has this id, or only one that its parent has not noticed."""
    try:
        return (pathlib.Path("/proc") / pid / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_program_that_hangs_is_ended_with_what_it_started(weft, htsim, tmp_path, monkeypatch):
    started = tmp_path / "started"
    monkeypatch.setenv("STARTED", str(started))
    options = ["--against", "htsim", "--htsim", htsim(HANGS), "--rounds", "1", "--timeout", "5"]
    done = weft("bench", CASE, *options)
    assert done.exit_code == 1, done.stderr
    assert "htsim_roce was still running after 5 s and was ended\n    Loading" in done.stderr
    assert "--timeout 10, if it does not hang" in done.stderr
    for pid in started.read_text().split():
        until(f"{pid} has ended", lambda pid=pid: has_ended(pid))


def test_a_program_that_hangs_at_its_usage_is_ended_with_what_it_started(weft, htsim, tmp_path, monkeypatch):
    started = tmp_path / "started"
    monkeypatch.setenv("STARTED", str(started))
    monkeypatch.setattr("weft.against.program._SECONDS", 2.0)
    done = weft("bench", CASE, "--against", "htsim", "--htsim", htsim(HANGS_AT_ITS_USAGE))
    assert (done.exit_code, "prints no usage within 2 s" in done.stderr) == (2, True), done.stderr
    for pid in started.read_text().split():
        until(f"{pid} has ended", lambda pid=pid: has_ended(pid))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_both_simulators(htsim, tmp_path, number):
    started = tmp_path / "started"
    options = ["bench", CASE, "--against", "htsim", "--htsim", str(htsim(SLEEPS)), "--rounds", "1"]
    command = [sys.executable, "-m", "weft", *options]
    # Signals that are ignored here, as with nohup, would be ignored there as well.
    before = signal.signal(number, signal.SIG_DFL)
    running = subprocess.Popen(command, env=os.environ | {"STARTED": str(started)}, stderr=subprocess.PIPE, text=True)
    signal.signal(number, before)
    until("htsim runs", lambda: started.exists() and started.read_text())
    running.send_signal(number)
    _, said = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, "Stopped: nothing is kept" in said) == (130, True), said
    until("htsim has ended", lambda: not os.path.exists(f"/proc/{started.read_text()}"))  # noqa: PTH110
