"""However an emulation ends, nothing is left behind: namespaces, interfaces, mounts, processes, pins."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE_S, until

PRISONER = """
import os, signal, subprocess, sys
from weft.emulation import jail
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
jail.furnish()
token = sys.argv[1]
subprocess.run(["ip", "link", "add", "weftjail0", "type", "veth", "peer", "name", "weftjail1"], check=True)
# A namespace of its own that a process holds, as a host of Mininet does, deaf to all signals that can be ignored.
held = ["unshare", "--net", "--", "sh", "-c", "trap '' HUP INT TERM; tail -f /dev/null; :", token]
subprocess.Popen(held, start_new_session=True)
open("/run/weft-jail", "w").close()
os.mkdir("/sys/fs/bpf/" + token)
print("inside", flush=True)
if sys.argv[2] == "crash":
    raise SystemExit(3)
signal.pause()
"""

WARDEN = """
import sys
from weft.emulation.jail import Jail
log = open(sys.argv[3], "wb")
jail = Jail("prisoner", sys.argv[1:3], log)
try:
    for line in jail.process.stdout:
        print(line.decode(), end="", flush=True)
    sys.exit(jail.process.wait())
finally:
    jail.end()
"""


@pytest.fixture
def warden(root, tmp_path):
    """Starts a process with a jail and waits until it is furnished; returns the process and the jail's token."""
    (tmp_path / "prisoner.py").write_text(PRISONER)
    started = []

    def start(manner: str = "wait") -> tuple[subprocess.Popen[str], str]:
        token = f"weftjail-{os.getpid()}-{len(started)}"
        process = subprocess.Popen(
            [sys.executable, "-c", WARDEN, token, manner, str(tmp_path / "log")],
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "inside\n", (tmp_path / "log").read_text()
        return process, token

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def of_jail(token: str) -> list[str]:
    """Processes other than this one with `token` on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            found += [line] if token in line else []
    return found


def assert_nothing_is_left(token: str) -> None:
    until("its processes end", lambda: not of_jail(token), state=lambda: of_jail(token))
    assert not Path("/sys/class/net/weftjail0").exists()
    assert not Path(f"/sys/fs/bpf/{token}").exists()
    assert not Path("/run/weft-jail").exists()


def test_what_is_in_a_jail_is_not_outside(warden):
    _, token = warden()
    assert of_jail(token)
    assert not Path("/sys/class/net/weftjail0").exists()
    assert not Path("/run/weft-jail").exists()


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_signal_to_the_process_outside_leaves_nothing(warden, ending):
    process, token = warden()
    process.send_signal(ending)
    process.wait(PATIENCE_S)
    assert_nothing_is_left(token)


def test_a_crash_inside_leaves_nothing(warden):
    process, token = warden("crash")
    assert process.wait(PATIENCE_S) == 3
    assert_nothing_is_left(token)


def test_a_second_jail_neither_meets_nor_disturbs_the_first(warden):
    first, one = warden()
    second, two = warden()
    second.kill()
    second.wait()
    assert_nothing_is_left(two)
    assert first.poll() is None
    assert of_jail(one)
