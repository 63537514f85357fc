"""The scripts of ``make test-kernel``: the program of the tests, and modules that a kernel lacks."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def run(folder, script, *words, **environment):
    """The outcome of a script that finds the programs of a folder first."""
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **environment}
    command = ["sh", str(SCRIPTS / script), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


def program(folder, name, text):
    """A program in this folder that takes the place of the machine's."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_the_program_of_the_tests_is_the_one_that_cargo_names(tmp_path):
    built = [
        "/t/debug/weft-switchd",
        "/t/debug/deps/weft_switchd-0123456789abcdef",
        "/t/debug/deps/switchd-00ff00ff00ff00ff",
    ]
    messages = [{"reason": "compiler-artifact", "executable": path} for path in [None, *built]]
    text = "\n".join(json.dumps(message, separators=(",", ":")) for message in messages)
    program(tmp_path, "cargo", f"cat <<'END'\n{text}\nEND")
    outcome = run(tmp_path, "switch-tests.sh")
    assert (outcome.returncode, outcome.stdout) == (0, "/t/debug/deps/switchd-00ff00ff00ff00ff\n"), outcome.stderr
    program(tmp_path, "cargo", "echo 'error: it does not compile' >&2; exit 101")
    outcome = run(tmp_path, "switch-tests.sh")
    assert outcome.returncode != 0 and "does not compile" in outcome.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the virtual machine needs an x86-64 processor")
def test_a_module_that_the_virtual_machine_lacks_is_named(tmp_path):
    kernel, programs = tmp_path / "kernel", tmp_path / "programs"
    modules = kernel / "lib" / "modules" / "6.1.0-test"
    for folder in (kernel / "boot", modules, programs):
        folder.mkdir(parents=True)
    (kernel / "boot" / "vmlinuz-6.1.0-test").touch()
    (modules / "modules.dep.bin").touch()
    missing = 'for word; do last=$word; done; [ "$last" != 9p ] || { echo "FATAL: Module 9p not found" >&2; exit 1; }'
    program(programs, "modprobe", missing)
    for name in ("busybox", "qemu-system-x86_64"):
        program(programs, name, "exit 0")
    outcome = run(programs, "virtual-machine.sh", "true", KERNEL=str(kernel))
    assert outcome.returncode == 1
    assert "FATAL: Module 9p not found" in outcome.stderr
    assert "error: the kernel 6.1.0-test" in outcome.stderr and "cannot load the module 9p\n" in outcome.stderr
